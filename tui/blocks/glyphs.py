"""One table of marks: each kind and state has one glyph and one role everywhere, with its ASCII form.

Chat, Trajectory, timeline, tool lists and exports look here. Every glyph takes one cell.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tui.blocks.text import Span


class Glyph(NamedTuple):
    """How something is marked."""

    glyph: str
    ascii: str
    role: str

    def text(self, ascii_only: bool = False) -> str:
        return self.ascii if ascii_only else self.glyph

    def span(self, ascii_only: bool = False) -> Span:
        return Span(self.text(ascii_only), self.role)


GLYPHS: Final[dict[str, Glyph]] = {
    # Kinds of nodes and rows.
    "turn": Glyph("─", "-", "turn"),
    "note": Glyph("↷", ">", "turn"),
    "user": Glyph("▌", "|", "user"),
    "assistant": Glyph("◆", "*", "assistant"),
    "reasoning": Glyph("∴", ":", "reasoning"),
    "tool": Glyph("▪", "*", "tool"),
    "context": Glyph("·", ".", "context"),
    "tool-change": Glyph("⊕", "+", "accent"),
    "header": Glyph("◇", "o", "header"),
    "system": Glyph("§", "s", "system"),
    "compaction": Glyph("≡", "=", "compaction"),
    "retry": Glyph("⟳", "@", "retry"),
    "failure": Glyph("✕", "x", "error"),
    "interrupted": Glyph("■", "#", "interrupted"),
    "command": Glyph("›", ">", "command"),
    "plan": Glyph("◫", "p", "plan"),
    "todo": Glyph("▤", "#", "todo"),
    "job": Glyph("◔", "j", "job"),
    "approval": Glyph("◉", "a", "approval"),
    "subagent": Glyph("⋔", "Y", "subagent"),
    "title": Glyph("¶", "t", "title"),
    "event": Glyph("∙", ".", "muted"),
    "unknown": Glyph("?", "?", "unknown"),
    "damage": Glyph("▲", "!", "damage"),
    # What happened to a tool.
    "added": Glyph("+", "+", "added"),
    "removed": Glyph("−", "-", "removed"),
    "restored": Glyph("↺", "@", "restored"),
    "redefined": Glyph("≠", "#", "redefined"),
    # What a request says of a tool.
    "tool-declared": Glyph("■", "=", "text"),
    "tool-offered": Glyph("□", "o", "accent"),
    "tool-reoffered": Glyph("▣", "%", "accent"),
    "tool-deferred": Glyph("▫", "d", "muted"),
    "tool-inactive": Glyph("▨", "~", "muted"),
    "tool-absent": Glyph("·", ".", "faint"),
    "tool-called": Glyph("●", "*", "tool"),
    "series": Glyph("┆", "|", "accent"),
    # How something ended.
    "ok": Glyph("✓", "v", "ok"),
    "error": Glyph("✕", "x", "error"),
    "failed": Glyph("✕", "x", "error"),
    "running": Glyph("…", ".", "accent"),
    "no-result": Glyph("○", "o", "warning"),
    "not-started": Glyph("○", "o", "warning"),
    "unanswered": Glyph("○", "o", "warning"),
    "truncated": Glyph("◐", "%", "warning"),
    # To-do items.
    "pending": Glyph("☐", "o", "muted"),
    "in_progress": Glyph("◐", "%", "accent"),
    "completed": Glyph("☑", "x", "ok"),
    # Signs of the layout.
    "closed": Glyph("▸", ">", "faint"),
    "open": Glyph("▾", "v", "faint"),
    "nested": Glyph("↳", "`", "faint"),
    "replaced": Glyph("╎", ":", "faint"),
    "rule": Glyph("─", "-", "rule"),
    "arrow": Glyph("→", ">", "muted"),
}


def mark(what: str, ascii_only: bool = False) -> Span:
    """The glyph of a kind or state with its role; a middle dot for what has none."""
    return GLYPHS.get(what, GLYPHS["event"]).span(ascii_only)
