"""Spans and lines: what layout gives to whoever draws it, and small tools that crop, pad and mark lines.

A span is cleaned text with a role; a line is spans with the sum of their cell widths. Roles name what a text
is (`user`, `error`, `code-string`), modifiers how it is set (`bold`); the mapping to colours lives with the
drawer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tui.blocks.cells import cell_len, cut, grapheme_ranges

# fmt: off
ROLES: tuple[str, ...] = (
    "text", "muted", "faint", "accent", "user", "assistant", "reasoning", "tool", "ok", "error",
    "warning", "context", "system", "header", "compaction", "retry", "added", "removed", "restored",
    "redefined", "turn", "plan", "todo", "job", "subagent", "approval", "command", "title", "unknown",
    "damage", "interrupted", "heading", "link", "quote", "rule", "table-border", "code", "code-keyword",
    "code-string", "code-number", "code-comment", "code-name", "code-operator", "diff-add",
    "diff-remove", "diff-hunk", "match", "cursor", "lane-input", "lane-model", "lane-tool", "lane-ttft",
    "lane-error",
)
# fmt: on
MODIFIERS: tuple[str, ...] = ("bold", "italic", "underline", "strike", "dim", "reverse")


class Span(NamedTuple):
    """A piece of cleaned text without line ends, and its role tokens separated by spaces (usually one role
    first)."""

    text: str
    role: str = ""


class Line(NamedTuple):
    """One row of spans and the cells they take together."""

    spans: tuple[Span, ...]
    cells: int


EMPTY = Line((), 0)


def line(*spans: Span | str) -> Line:
    """A line of the given spans; plain strings become spans without a role, empty ones are left out."""
    kept = tuple(
        span if isinstance(span, Span) else Span(span) for span in spans if span and span != ("", "")
    )
    kept = tuple(span for span in kept if span.text)
    return Line(kept, sum(cell_len(span.text) for span in kept))


def plain(row: Line) -> str:
    """The text of a line without roles."""
    return "".join(span.text for span in row.spans)


def with_role(role: str, *tokens: str) -> str:
    """A role with more tokens after it, each token once."""
    present = role.split()
    return " ".join(present + [token for token in tokens if token and token not in present])


def pad(row: Line, cells: int, role: str = "") -> Line:
    """A line filled with spaces up to `cells`; a line that is as wide or wider is returned as it is."""
    missing = cells - row.cells
    if missing <= 0:
        return row
    return Line((*row.spans, Span(" " * missing, role)), cells)


def crop(row: Line, cells: int, ellipsis: str = "…") -> Line:
    """A line no wider than `cells`, ending in the ellipsis where something was cut.

    No grapheme is split: where a wide character stands on the border its place is filled with a space, so
    that a cropped line is exactly `cells` wide.
    """
    if row.cells <= cells:
        return row
    if cells <= 0:
        return EMPTY
    mark = cut(ellipsis, cells)[0]
    room = cells - cell_len(mark)
    kept: list[Span] = []
    role = ""
    for span in row.spans:
        role = span.role
        width = cell_len(span.text)
        if width <= room:
            kept.append(span)
            room -= width
            continue
        head = cut(span.text, room)[0]
        room -= cell_len(head)
        if head:
            kept.append(Span(head, span.role))
        break
    if mark or room:
        kept.append(Span(mark + " " * room, role))
    return Line(tuple(kept), cells)


def find_ranges(row: Line, needle: str) -> list[tuple[int, int]]:
    """Where a needle occurs in the text of a line, as character ranges; upper and lower case are equal."""
    if not needle:
        return []
    return [match.span() for match in re.finditer(re.escape(needle), plain(row), re.IGNORECASE)]


def highlight(row: Line, needle: str | Iterable[tuple[int, int]], role: str = "match") -> Line:
    """A line with a role token added to each place of a needle (a text, or ranges of `find_ranges`).

    Ranges are widened to whole graphemes, so the width of the line stays what it was.
    """
    ranges = find_ranges(row, needle) if isinstance(needle, str) else sorted(needle)
    if not ranges:
        return row
    text = plain(row)
    ranges = _whole_graphemes(text, ranges)
    spans: list[Span] = []
    start = 0
    for span in row.spans:
        spans.extend(_marked(span, start, ranges, role))
        start += len(span.text)
    return Line(tuple(spans), row.cells)


def _whole_graphemes(text: str, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    if text.isascii():
        return list(ranges)
    borders = list(grapheme_ranges(text))
    widened: list[tuple[int, int]] = []
    at = 0
    for start, end in ranges:
        while at < len(borders) and borders[at][1] <= start:
            at += 1
        last = at
        while last < len(borders) and borders[last][1] < end:
            last += 1
        if at < len(borders):
            widened.append((borders[at][0], borders[min(last, len(borders) - 1)][1]))
    return widened


def _marked(span: Span, offset: int, ranges: Sequence[tuple[int, int]], role: str) -> Iterable[Span]:
    at = 0
    size = len(span.text)
    for start, end in ranges:
        low, high = max(start - offset, at), min(end - offset, size)
        if low >= high:
            continue
        if low > at:
            yield Span(span.text[at:low], span.role)
        yield Span(span.text[low:high], with_role(span.role, role))
        at = high
    if at < size:
        yield Span(span.text[at:], span.role) if at else span


# Each of our own glyphs and what stands for it where only ASCII can be shown; both take one cell.
ASCII_GLYPHS: Mapping[str, str] = {
    **dict.fromkeys("─━╌╍┄┅┈┉═", "-"),
    **dict.fromkeys("│┃╎╏┆┇┊┋║▎▏▍▌▐▕", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬╞╡╪", "+"),
    **dict.fromkeys("▸▶▹▷►❯›»→⇒↪⤷", ">"),
    **dict.fromkeys("◂◀◃‹«←⇐", "<"),
    **dict.fromkeys("▾▼▿▽⌄↓⇓", "v"),
    **dict.fromkeys("▴▲▵△↑⇑", "^"),
    **dict.fromkeys("•◦∙●◆■▪▣", "*"),
    **dict.fromkeys("○◇□▫◌", "o"),
    **dict.fromkeys("✓✔", "v"),
    **dict.fromkeys("✕✗✘×", "x"),
    **dict.fromkeys("⊕⊞", "+"),
    **dict.fromkeys("⊖⊟−–—", "-"),
    **dict.fromkeys("⟳↻↺⟲⊛", "@"),
    **dict.fromkeys("…·", "."),
    **dict.fromkeys("▁▂▃", "_"),
    **dict.fromkeys("▄▅▆▇", "="),
    **dict.fromkeys("█▓", "#"),
    **dict.fromkeys("▒░", ":"),
    **dict.fromkeys("☐", "o"),
    **dict.fromkeys("☑☒", "x"),
    **dict.fromkeys("⚠", "!"),
    **dict.fromkeys("␍⏎↵", "/"),
    **dict.fromkeys("⋯⋮", ":"),
    **dict.fromkeys("≈", "~"),
    **dict.fromkeys("Δ∆", "d"),
    **dict.fromkeys("★☆✦✧✱", "*"),
}
_GLYPHS = "".join(ASCII_GLYPHS)
_TO_ASCII = str.maketrans(ASCII_GLYPHS)
# A span of glyphs alone, or glyphs that open or close a span: those are ours. A glyph amid words is
# somebody's text.
_OURS = re.compile(f"^[ {_GLYPHS}]+|[ {_GLYPHS}]+$")


def to_ascii(row: Line) -> Line:
    """A line whose own glyphs (borders, marks, ellipses) are replaced by ASCII of equal width.

    Words, of whatever script, are left alone: only a span made of glyphs, or glyphs at the ends of a span,
    change.
    """
    spans = tuple(
        span if span.text.isascii() else Span(_OURS.sub(_ascii_glyphs, span.text), span.role)
        for span in row.spans
    )
    return Line(spans, row.cells)


def _ascii_glyphs(match: re.Match[str]) -> str:
    return match[0].translate(_TO_ASCII)
