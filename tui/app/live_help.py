"""The help of a live session: the keys and commands of talking above those of reading."""

from __future__ import annotations

from typing import Final

from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.help_screen import HelpScreen, help_lines
from tui.app.live_commands import COMMANDS
from tui.app.surroundings import Surroundings
from tui.blocks.cells import cell_len, fit
from tui.blocks.text import EMPTY, Line, Span, line
from tui.blocks.wrap import wrap
from tui.i18n import N_, Translator

KEYS: Final = (
    ("Enter", N_("Send; while a turn runs, steer it at its next step")),
    ("Alt+Enter  Shift+Enter  Ctrl+J", N_("New line")),
    ("Tab", N_("While a turn runs, queue what is written for a turn of its own; else the next pane")),
    ("Esc", N_("Stop the turn; without one, to the panes and back")),
    ("Up  Down", N_("Earlier prompts, from the first or last row")),
    ("Alt+Up", N_("The prompts that wait: Enter edits one, Del removes it")),
    ("PgUp  PgDn", N_("Scroll the chat")),
    ("Ctrl+C", N_("Copy what is selected, else clear, else leave")),
    ("Ctrl+D", N_("Leave, from an empty composer")),
)


def talk_lines(tr: Translator, width: int) -> list[Line]:
    """What the keyboard does in the composer, and the slash commands."""
    commands = [(f"/{entry.name} {entry.argument}".rstrip(), entry.label) for entry in COMMANDS]
    room = min(max(cell_len(name) for name, _ in (*KEYS, *commands)), max(8, width // 3))
    rows: list[Line] = []
    for title, entries in ((tr.t("Talking"), KEYS), (tr.t("Commands"), commands)):
        rows.append(line(Span(title, "heading")))
        for name, label in entries:
            lead = [Span("  "), Span(fit(name, room), "key"), Span("  ")]
            rest = [Span(" " * (room + 4))]
            rows += wrap([Span(tr.t(label), "text")], width, indent=lead, subsequent_indent=rest)
        rows.append(EMPTY)
    return rows


class LiveHelp(HelpScreen):
    """Every key of a live session."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self._view = BlockView(
            OneBlock(
                lambda width: [*talk_lines(surroundings.tr, width), *help_lines(surroundings, width, None)]
            ),
            following=False,
            ascii_only=surroundings.ascii_only,
        )
