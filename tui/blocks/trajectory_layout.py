"""Lays out the Trajectory pane: one line a record, its columns aligned over all rows of a width.

From left to right: number, kind, what it is about; at the right how it ended, how long it took, its tokens.
Columns give way in a fixed order as the pane narrows: tokens, the name of the kind, duration, error codes.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tui.blocks.cells import cell_len, fit
from tui.blocks.chat_layout import open_turn
from tui.blocks.glyphs import GLYPHS, mark
from tui.blocks.layout import Layout, plain_signs
from tui.blocks.text import Line, Span, crop, line, pad, to_ascii, with_role
from tui.blocks.wording import (
    cause_text,
    kind_name,
    notice_title,
    row_gist,
    row_outcome,
    row_title,
    status_text,
    tool_title,
    turn_name,
)
from tui.blocks.wording_names import name_text
from tui.blocks.wording_own import own_mark
from tui.i18n import Translator
from tui.nodes.notices import tool_name
from tui.nodes.trajectory import TrajectoryRow
from tui.nodes.turns import Turn

_QUIET: Final = frozenset({"", "ok"})
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_TOKENS: Final = 7
"""Cells of a number of tokens and the gap before it."""
_STUMP: Final = 6
"""Cells below which the beginning of what a row says tells nothing."""
_WORDS: Final = 56
"""Cells from which an end that was not well is told in words."""


class Columns(NamedTuple):
    """Widths of the columns of a pane, in cells; 0 for one that is not shown."""

    seq: int
    kind: int
    """Without the glyph, which is always there."""
    outcome: int
    duration: int
    tokens: int


def columns_of(width: int, tr: Translator) -> Columns:
    """The columns that a pane of a width has room for, the unit of tokens being as long as its word."""
    return Columns(
        seq=5 if width >= 40 else 4 if width >= 30 else 0,
        kind=10 if width >= 50 else 0,
        outcome=1,
        duration=9 if width >= 44 else 0,
        tokens=_TOKENS + cell_len(tr.t("{n} tok", n="")) if width >= 72 else 0,
    )


def row_line(row: TrajectoryRow, layout: Layout, *, columns: Columns | None = None) -> Line:
    """One record in one line of at most `layout.width` cells."""
    shown = columns or columns_of(layout.width, layout.tr)
    right = _right(row, layout, shown)
    left = _cropped(row, _left(row, layout, shown), max(layout.width - right.cells, 1))
    made = line(*pad(left, layout.width - right.cells).spans, *right.spans)
    if row.replaced:
        made = Line(tuple(Span(span.text, with_role(span.role, "dim")) for span in made.spans), made.cells)
    made = crop(made, layout.width)
    return to_ascii(line(*plain_signs(layout, made.spans))) if layout.ascii else made


def _cropped(row: TrajectoryRow, left: Line, room: int) -> Line:
    """A row in its room: no stump of what it says, and of a tool its own name rather than its server."""
    says = len(left.spans) > 2 and left.spans[-2].text == "  "
    about = line(*left.spans[:-2]) if says else left
    if left.cells > room and room < about.cells + 2 + _STUMP:
        left = about
    if row.kind == "tool" and about.cells > room:
        left = line(*(span for span in left.spans if not span.text.endswith(" · ")))
    return crop(left, room)


def row_mark(row: TrajectoryRow) -> str:
    """The entry of the glyph table that marks a row."""
    if row.own is not None:
        return own_mark(row.own)
    if row.tool_notice is not None:
        return "tool-change"
    if row.header_notice is not None and row.header_notice.redefined:
        return "redefined"
    if row.kind == "failure" and row.status != "failed":
        return "interrupted"
    return row.kind


def row_kind_name(tr: Translator, row: TrajectoryRow) -> str:
    """What a row is called in the ledger and in the inspector."""
    what = row_mark(row)
    return kind_name(tr, what if what in ("tool-change", "interrupted", "note") else row.kind)


def turn_rule(turn: Turn, layout: Layout) -> Line:
    """The rule that heads a turn, its facts at the right; the least needed give way first."""
    tr = layout.tr
    facts: list[tuple[int, Span]] = []
    if turn.duration_ms is not None:
        facts.append((3, Span(tr.duration(turn.duration_ms), "muted")))
    if turn.tokens:
        facts.append((2, Span(tr.t("{n} tok", n=tr.compact(turn.tokens)), "muted")))
    if turn.cache_share is not None:
        facts.append((1, Span(tr.t("cache {share}", share=tr.percent(turn.cache_share)), "muted")))
    if turn.tool_changes:
        sign = mark("tool-change", layout.ascii)
        facts.append((5, Span(f"{sign.text} {tr.number(turn.tool_changes)}", sign.role)))
    if turn.is_open:
        facts.append((6, open_turn(tr, turn.reason)))
    elif turn.reason not in ("completed", ""):
        failed = turn.reason == "error"
        told = status_text(tr, "failed" if failed else turn.reason)
        facts.append((6, Span(told, "error" if failed else "warning")))
    head = line(Span("─ ", "rule"), Span(turn_name(tr, turn.number), "turn bold"), Span(" ", "rule"))
    while True:
        spans: list[Span] = []
        for at, (_, fact) in enumerate(facts):
            spans += [Span(" · ", "faint"), fact] if at else [Span(" "), fact]
        tail = line(*spans)
        if not facts or head.cells + tail.cells + 1 <= layout.width:
            break
        facts.remove(min(facts, key=lambda entry: entry[0]))
    head = crop(head, layout.width)
    made = line(*head.spans, Span("─" * (layout.width - head.cells - tail.cells), "rule"), *tail.spans)
    return to_ascii(line(*plain_signs(layout, made.spans))) if layout.ascii else made


def _left(row: TrajectoryRow, layout: Layout, columns: Columns) -> Line:
    tr = layout.tr
    spans: list[Span] = []
    if columns.seq:
        seq = str(row.seq) if row.seq is not None else ""
        spans.append(Span(seq.rjust(columns.seq) + " ", "faint"))
    what = row_mark(row)
    sign = mark(what, layout.ascii)
    role = _role(row, sign.role)
    spans.append(Span(f"{sign.text} ", role))
    if columns.kind:
        spans.append(Span(fit(row_kind_name(tr, row), columns.kind), role))
    bar = mark("replaced", layout.ascii).text if row.replaced else " "
    spans.append(Span(bar, "faint"))
    if row.parent_call_id is not None:
        spans.append(Span(f"{mark('nested', layout.ascii).text} ", "faint"))
    return line(*spans, *_about(row, layout, role))


def _about(row: TrajectoryRow, layout: Layout, role: str) -> list[Span]:
    """What a row is about and the beginning of what it says."""
    tr = layout.tr
    gist = row_gist(tr, row)
    match row.kind:
        case "user":
            return [Span(gist or tr.t("(empty)"), "text")]
        case "assistant" if row.title == "attempt":
            title = Span(tr.t("no answer"), role)
            return [title, Span("  "), Span(gist, "muted")] if gist else [title]
        case "assistant" if called := _called(row):
            arrow = mark("arrow", layout.ascii)
            return [Span(f"{arrow.text} ", "faint"), Span(tr.join([tool_title(n) for n in called]), "muted")]
        case "assistant" if gist:
            return [Span(gist, "reasoning" if row.reasoning else "text")]
        case "tool":
            server, own = tool_name(row.title)
            bad = row.status == "error"
            spans = [Span(f"{name_text(server)} · ", "muted")] if server else []
            spans.append(Span(name_text(own) or "?", "error" if bad else "tool"))
            return [*spans, Span("  "), Span(gist, "muted")] if gist else spans
        case "context" if row.tool_notice is not None:
            spans = [Span(notice_title(tr, row.tool_notice), "accent")]
            if row.tool_notice.count == 1:
                told = name_text((row.tool_notice.added or row.tool_notice.removed)[0].description)
                spans += [Span("  "), Span(told, "muted")] if told else []
            return spans
        case "failure" if row.status == "failed":
            title = cause_text(tr, row.error_code) or name_text(row.error_code) or tr.t("This turn failed")
            return [Span(title, "error"), Span("  "), Span(gist, "muted")] if gist else [Span(title, "error")]
        case "retry":
            return [Span(name_text(row.error_code), "retry"), Span("  "), Span(gist, "muted")]
        case _:
            title = Span(row_title(tr, row), role if row.kind != "event" else "muted")
            dim = "muted dim" if row.ignorable else "faint" if row.kind == "event" else "muted"
            return [title, Span("  "), Span(gist, dim)] if gist else [title]


def _called(row: TrajectoryRow) -> list[str]:
    """The tools that an answer without text asked for."""
    names = row.gist.split(", ") if row.calls and not row.reasoning else []
    # A text could be mistaken for names only if it were nothing but such names.
    return names if len(names) == row.calls and all(_NAME.fullmatch(name) for name in names) else []


def _role(row: TrajectoryRow, role: str) -> str:
    if row.kind in ("failure", "damage"):
        return role
    if row.status in ("error", "failed"):
        return "error"
    if row.kind == "unknown" and row.ignorable and row.own is None:
        return with_role(role, "dim")
    return role


def _right(row: TrajectoryRow, layout: Layout, columns: Columns) -> Line:
    """Outcome, duration and tokens, each in its column."""
    tr = layout.tr
    words, sign = _outcome(row, layout)
    spans: list[Span] = [*words, Span(" "), sign] if columns.outcome else [Span(" ")]
    if row.duration_ms is None and not row.usage and not words and sign.text == " ":
        # What has no end, no duration and no tokens has the room of those columns for its words.
        return line()
    if columns.duration:
        told = tr.duration(row.duration_ms) if row.duration_ms is not None else ""
        spans.append(Span(fit(told, columns.duration, "right"), "muted"))
    if columns.tokens:
        used = row.usage
        total = used.input + used.output + used.cache_read + used.cache_write if used is not None else 0
        told = tr.t("{n} tok", n=tr.compact(total)) if total else ""
        spans.append(Span(fit(told, columns.tokens, "right"), "muted"))
    return line(*spans)


def _outcome(row: TrajectoryRow, layout: Layout) -> tuple[list[Span], Span]:
    """Words for an end that was not well, and the mark in the column that all rows have."""
    if row.kind in ("damage", "retry") or (
        row.status in _QUIET and row.kind != "tool" and not row.error_code
    ):
        return [], Span(" ")
    status = row.status or "error"
    sign = GLYPHS.get(status, GLYPHS["event"])
    words: list[Span] = []
    if status != "ok" and layout.width >= _WORDS and row.kind != "failure":
        words = [Span(f"  {row_outcome(layout.tr, row)}", sign.role)]
    return words, Span(sign.text(layout.ascii), sign.role)
