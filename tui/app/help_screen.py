"""The screen that lists every key, made from the registry; two columns where there is room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import ClassVar, NamedTuple, TypeAlias

from textual.app import ComposeResult
from textual.containers import Vertical

from tui.app.actions import ACTIONS, TALKING, grouped, key_names
from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.keymap import bind
from tui.app.page_over import PageOver
from tui.app.surroundings import Surroundings
from tui.blocks.cells import cell_len, fit
from tui.blocks.text import EMPTY, Line, Span, line, pad
from tui.i18n import N_

HELP_ACTIONS = frozenset({"back", "quit", "help", "switch-language", "switch-theme"})
TWO_COLUMNS_CELLS = 96
COLUMN_GAP_CELLS = 4


FILTERS = (
    ('"…"', N_("words in this order")),
    ("is:tool-change", N_("tool changes only")),
    ("is:error", N_("errors only")),
    ("tool:NAME", N_("calls and changes of a tool")),
    ("kind:assistant", N_("one kind of entry")),
    ("turn:3", N_("one turn")),
)
"""What the search of a session understands beside words (`nodes.search_query`)."""


class Entry(NamedTuple):
    """A line of the help: what to press or type, and what it does, in the reader's language."""

    keys: str
    label: str


Section: TypeAlias = tuple[str, list[Entry]]
"""A heading and what stands under it."""


def help_lines(
    surroundings: Surroundings, width: int, present: Mapping[str, str] | None = None
) -> list[Line]:
    """All keys under their headings, and what a search understands, at a width in cells.

    Args:
        surroundings: the language and the keys in force.
        width: cells of a line; from 96 on there are two columns.
        present: the ids that a screen has, each with the label it has there ("" for the registry's own);
            None for the screen of a session, which has all of reading.
    """
    sections = _sections(surroundings, present)
    if width < TWO_COLUMNS_CELLS:
        return _column(sections, width)
    column = (width - COLUMN_GAP_CELLS) // 2
    half = _middle([len(entries) + 2 for _, entries in sections])
    left = _column(sections[:half], column)
    right = _column(sections[half:], column)
    return [
        line(*pad(a, column + COLUMN_GAP_CELLS).spans, *b.spans)
        for a, b in zip_longest(left, right, fillvalue=EMPTY)
    ]


def _middle(heights: list[int]) -> int:
    """After how many sections the second column begins, so that the taller one is as short as can be."""
    return min(range(len(heights) + 1), key=lambda at: max(sum(heights[:at]), sum(heights[at:])))


def _sections(surroundings: Surroundings, present: Mapping[str, str] | None) -> list[Section]:
    tr, ascii_only = surroundings.tr, surroundings.ascii_only
    sections: list[Section] = []
    for group, actions in grouped(ACTIONS):
        entries = [
            Entry(
                key_names(surroundings.keys[action.id], tr, ascii_only=ascii_only),
                (present or {}).get(action.id) or tr.t(action.label),
            )
            for action in actions
            if (action.scope not in TALKING if present is None else action.id in present)
        ]
        if entries:
            sections.append((tr.t(group), entries))
    if present is None:
        shown = [
            Entry(words.replace("…", "..." if ascii_only else "…"), tr.t(said)) for words, said in FILTERS
        ]
        sections.append((tr.t("In a search"), shown))
    return sections


def _column(sections: list[Section], width: int) -> list[Line]:
    """Sections below each other; words to type are longer than keys and have a column of their own."""
    widths = [max((cell_len(entry.keys) for entry in entries), default=0) for _, entries in sections]
    most = max(8, width // 3)
    keys = max((cells for cells in widths if cells <= most // 2), default=most)
    lines: list[Line] = []
    for (heading, entries), cells in zip(sections, widths, strict=True):
        key_cells = min(max(cells, keys), most)
        if lines:
            lines.append(EMPTY)
        lines.append(line(Span(heading, "heading")))
        for entry in entries:
            room = max(1, width - key_cells - 4)
            lines.append(
                line(
                    "  ",
                    Span(fit(entry.keys, key_cells), "key"),
                    "  ",
                    Span(entry.label if cell_len(entry.label) <= room else fit(entry.label, room), "text"),
                )
            )
    return lines


class HelpScreen(PageOver):
    """Every key, scrollable; closed by what opened it, by escape or by q.

    Args:
        surroundings: language, keys and glyphs.
        present: see `help_lines`; asked again when the language changes.
    """

    CSS_PATH: ClassVar = "help.tcss"

    def __init__(
        self, surroundings: Surroundings, present: Callable[[], Mapping[str, str]] | None = None
    ) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._present = present
        self._view = BlockView(OneBlock(self._lines), following=False, ascii_only=surroundings.ascii_only)
        self._frame = Vertical()

    def _lines(self, width: int) -> list[Line]:
        present = self._present() if self._present is not None else None
        return help_lines(self._surroundings, width, present)

    def compose(self) -> ComposeResult:
        """The page, framed."""
        with self._frame:
            yield self._view

    def on_mount(self) -> None:
        """Bind what moves and what closes."""
        self.renew(self._surroundings)
        self._view.focus()

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self._surroundings = surroundings
        keys, tr = surroundings.keys, surroundings.tr
        self._frame.border_title = tr.t("Keys")
        bind(self._view, keys, tr, "view")
        bind(self, keys, tr, "session", "app", only=HELP_ACTIONS)
        self._view.model_changed()

    def action_help(self) -> None:
        """Close."""
        self.dismiss(None)
