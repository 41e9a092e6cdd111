"""The help of a live session: the keys and commands of talking above those of reading."""

from __future__ import annotations

from tui.app.actions import ACTIONS, Group, key_names
from tui.app.help_screen import HelpScreen
from tui.app.live_commands import COMMANDS
from tui.app.surroundings import Surroundings
from tui.blocks.cells import cell_len, fit
from tui.blocks.text import EMPTY, Line, Span, line
from tui.blocks.wrap import wrap


def talk_lines(surroundings: Surroundings, width: int) -> list[Line]:
    """What the keyboard does in the composer and around it, and the slash commands."""
    tr = surroundings.tr
    keys = [
        (key_names(surroundings.keys[action.id], tr, ascii_only=surroundings.ascii_only), action.label)
        for action in ACTIONS
        if action.group is Group.TALK
    ]
    commands = [(f"/{entry.name} {entry.argument}".rstrip(), entry.label) for entry in COMMANDS]
    room = min(max(cell_len(name) for name, _ in (*keys, *commands)), max(8, width * 2 // 5))
    rows: list[Line] = []
    for title, entries in ((tr.t(Group.TALK), keys), (tr.t("Commands"), commands)):
        rows.append(line(Span(title, "heading")))
        for name, label in entries:
            lead = [Span("  "), Span(fit(name, room), "key"), Span("  ")]
            rest = [Span(" " * (room + 4))]
            rows += wrap([Span(tr.t(label), "text")], width, indent=lead, subsequent_indent=rest)
        rows.append(EMPTY)
    return rows


class LiveHelp(HelpScreen):
    """Every key of a live session."""

    def _lines(self, width: int) -> list[Line]:
        return [*talk_lines(self._surroundings, width), *super()._lines(width)]
