"""The screen that lists every key, made from the registry; two columns where there is room."""

from __future__ import annotations

from collections.abc import Collection
from itertools import zip_longest

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.app.actions import ACTIONS, Action, Group, grouped, key_names
from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.keymap import bind
from tui.app.surroundings import Surroundings
from tui.blocks.cells import cell_len, fit
from tui.blocks.text import EMPTY, Line, Span, line, pad

TWO_COLUMNS_CELLS = 96
COLUMN_GAP_CELLS = 4


def help_lines(surroundings: Surroundings, width: int, present: Collection[str] | None = None) -> list[Line]:
    """All keys under their headings at a width in cells.

    Args:
        surroundings: the language and the keys in force.
        width: cells of a line; from 96 on there are two columns.
        present: the ids to list, where not everything is there yet; all when None.
    """
    sections = [
        (group, [action for action in actions if present is None or action.id in present])
        for group, actions in grouped(ACTIONS)
    ]
    sections = [(group, actions) for group, actions in sections if actions]
    if width < TWO_COLUMNS_CELLS:
        return _column(surroundings, sections, width)
    column = (width - COLUMN_GAP_CELLS) // 2
    half = _middle([len(actions) + 2 for _, actions in sections])
    left = _column(surroundings, sections[:half], column)
    right = _column(surroundings, sections[half:], column)
    return [
        line(*pad(a, column + COLUMN_GAP_CELLS).spans, *b.spans)
        for a, b in zip_longest(left, right, fillvalue=EMPTY)
    ]


def _middle(heights: list[int]) -> int:
    """After how many sections the second column begins, so that the taller one is as short as can be."""
    return min(range(len(heights) + 1), key=lambda at: max(sum(heights[:at]), sum(heights[at:])))


def _column(surroundings: Surroundings, sections: list[tuple[Group, list[Action]]], width: int) -> list[Line]:
    tr = surroundings.tr
    names = {
        action.id: key_names(surroundings.keys[action.id], tr, ascii_only=surroundings.ascii_only)
        for _, actions in sections
        for action in actions
    }
    key_cells = min(max(map(cell_len, names.values()), default=0), max(8, width // 3))
    lines: list[Line] = []
    for group, actions in sections:
        if lines:
            lines.append(EMPTY)
        lines.append(line(Span(tr.t(group), "heading")))
        for action in actions:
            label = tr.t(action.label)
            room = max(1, width - key_cells - 4)
            lines.append(
                line(
                    "  ",
                    Span(fit(names[action.id], key_cells), "key"),
                    "  ",
                    Span(label if cell_len(label) <= room else fit(label, room), "text"),
                )
            )
    return lines


class HelpScreen(ModalScreen[None]):
    """Every key, scrollable; closed by what opened it, by escape or by q.

    Args:
        surroundings: language, keys and glyphs.
        present: the ids to list; all when None.
    """

    def __init__(self, surroundings: Surroundings, present: Collection[str] | None = None) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._view = BlockView(
            OneBlock(lambda width: help_lines(surroundings, width, present)),
            following=False,
            ascii_only=surroundings.ascii_only,
        )

    def compose(self) -> ComposeResult:
        """The page, framed."""
        with Vertical() as frame:
            frame.border_title = self._surroundings.tr.t("Keys")
            yield self._view

    def on_mount(self) -> None:
        """Bind what moves and what closes."""
        keys, tr = self._surroundings.keys, self._surroundings.tr
        bind(self._view, keys, tr, "view")
        bind(self, keys, tr, "session", "app", only={"back", "quit", "help"})
        self._view.focus()

    def action_back(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_quit(self) -> None:
        """Close; leaving the program takes a second press."""
        self.dismiss(None)

    def action_help(self) -> None:
        """Close."""
        self.dismiss(None)
