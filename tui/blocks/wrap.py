"""Word wrap in terminal cells: spans go in, lines no wider than asked for come out, with every role kept.

Rows break at spaces, and between the characters of scripts that are written without spaces, but no row begins
with closing punctuation or ends with opening punctuation (kinsoku). A word longer than a row is cut between
graphemes. Spaces at a break are dropped, spaces at the start of a paragraph stay. Texts are taken to be
clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from tui.blocks.cells import ZWJ, cell_len, grapheme_ranges, graphemes, zero_width
from tui.blocks.text import EMPTY, Line, Span, crop, line

_LEAST_ROOM = 8
"""Cells that an indent leaves for text, where the width has as many."""
_COUNT_EXACTLY = 65_536
"""Characters of hidden text up to which its rows are counted by wrapping it; beyond, they are estimated."""
_LONGEST_PIECE = 4_000
"""Characters of a word that are looked at in one piece."""
_TOO_WIDE = "…"

_SPACES = " \u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u205f\u3000"
_OPEN_WIDE = "（［｛「『【〔〈《〖〘〚“‘＄￥"
_OPEN = rf"(\[{{{_OPEN_WIDE}"
_CLOSE_WIDE = (
    "、。，．・：；？！）］｝」』】〕〉》〗〙〛”’…‥ー々〻ゝゞヽヾ％℃｡､｣･ｰ"
    "ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰ-ㇿ"
)
_CLOSE = rf".,!?:;)\]}}%{_CLOSE_WIDE}"
# Scripts that break between any two characters, fullwidth forms, and emoji.
_IDEOGRAPHS = (
    "\u2e80-\u2fff\u3001-\u312f\u3190-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\ufe30-\ufe4f"
    "\uff01-\uff9f\uffe0-\uffe6\U00016fe0-\U0001b2ff\U0001f300-\U0001faff\U00020000-\U0003fffd"
)


class Row(NamedTuple):
    """One row of a text: from character `start` up to `end`, and the cells they take."""

    start: int
    end: int
    cells: int


class Bounded(NamedTuple):
    """The first rows of a text, and how many rows are hidden behind them (0: none; an estimate unless
    `exact`)."""

    lines: list[Line]
    hidden_rows: int
    exact: bool
    shown_chars: int


@cache
def _atoms() -> re.Pattern[str]:
    """Matches a run of spaces (group 1) or the next piece that no row break may divide.

    The repeats of punctuation are bounded, so that a long run of brackets costs no second look.
    """
    marks = f"(?:{zero_width()}|{ZWJ}.?)*"
    word = rf"[^{_SPACES}{_IDEOGRAPHS}{_OPEN_WIDE}]"
    return re.compile(
        # A mark stands on the space before it: that one opens a piece.
        f"([{_SPACES}]+)(?!{zero_width()}|{ZWJ})"
        f"|[{_OPEN}]{{0,4}}(?![{_OPEN_WIDE}])[{_IDEOGRAPHS}]{marks}(?:[{_CLOSE}]{marks}){{0,4}}"
        rf"|[{_OPEN_WIDE}]{{0,4}}(?:(?![(\[{{][{_IDEOGRAPHS}]){word}){{1,{_LONGEST_PIECE}}}{marks}"
        f"(?:[{_CLOSE_WIDE}]{marks}){{0,4}}"
        f"|.{marks}",
        re.DOTALL,
    )


def row_ranges(text: str, width: int, rest_width: int | None = None) -> Iterator[Row]:
    """The rows of one paragraph (a text without line ends), lazily; at least one, which may be empty.

    `rest_width` is the room of all rows but the first. A row is wider than its room only where the room is
    one cell and a wide character has to stand in it.
    """
    rest = max(width if rest_width is None else rest_width, 1)
    if text.isascii():
        return _ascii_rows(text, max(width, 1), rest)
    if len(text) <= width:
        row = text.rstrip(_SPACES)
        cells = cell_len(row)
        if cells <= width:
            return iter((Row(0, len(row), cells),))
    return _wide_rows(text, max(width, 1), rest)


def _ascii_rows(text: str, room: int, rest: int) -> Iterator[Row]:
    size = len(text.rstrip(" "))
    start = 0
    while size - start > room:
        limit = start + room
        gap = text.rfind(" ", start, limit + 1)
        end = start + len(text[start:gap].rstrip(" ")) if gap >= 0 else start
        if end == start and gap < limit:
            # A word longer than the row, perhaps behind indentation, is cut.
            end = limit
        if end > start:
            yield Row(start, end, end - start)
            room = rest
        start = _skip_spaces(text, max(end, gap), size)
    yield Row(start, size, size - start)


def _skip_spaces(text: str, start: int, size: int) -> int:
    while start < size and text[start] == " ":
        start += 1
    return start


def _wide_rows(text: str, room: int, rest: int) -> Iterator[Row]:
    start = end = used = spaces = 0
    rows = 0
    for atom in _atoms().finditer(text):
        low, high = atom.span()
        piece = atom[0]
        width = cell_len(piece)
        if atom[1] is not None:
            spaces += width
            continue
        if end == start and (rows or spaces >= room):
            # Spaces never open a row, but for the indentation of a paragraph.
            start = end = low
            spaces = 0
        if used + spaces + width <= room:
            used += spaces + width
            end, spaces = high, 0
            continue
        if end > start:
            yield Row(start, end, used)
            rows += 1
            room = rest
            start, end, used, spaces = low, low, 0, 0
            if width <= room:
                used, end = width, high
                continue
        used, spaces, end = spaces, 0, low
        for first, following in grapheme_ranges(text, low, high):
            width = cell_len(text[first:following])
            if used + width > room and end > start:
                yield Row(start, end, used)
                rows += 1
                room = rest
                start, used = first, 0
            used += width
            end = following
    if end > start or not rows:
        yield Row(start, end, used)


def wrap(
    spans: Sequence[Span],
    width: int,
    *,
    indent: Sequence[Span] = (),
    subsequent_indent: Sequence[Span] | None = None,
) -> list[Line]:
    """Spans wrapped to lines of at most `width` cells; a line end inside a span begins a new paragraph.

    `indent` opens the first line and `subsequent_indent` (by default the same) all others; both are cut where
    they would leave less than 8 cells. With one cell of room a wide character shows as an ellipsis.
    """
    first = _fit_indent(indent, width)
    rest = first if subsequent_indent is None else _fit_indent(subsequent_indent, width)
    lines: list[Line] = []
    for paragraph in _paragraphs(spans):
        lead = rest if lines else first
        text = "".join(span.text for span in paragraph)
        source = SpanSource(paragraph)
        for row in row_ranges(text, width - lead.cells, width - rest.cells):
            lines.append(source.line(row, lead, max(width - lead.cells, 1)))
            lead = rest
    return lines


def fold_rows(text: str, width: int, rest_width: int | None = None) -> Iterator[Row]:
    """The rows of a paragraph cut wherever a row is full, as for code; spaces are kept."""
    room = max(width, 1)
    rest = max(width if rest_width is None else rest_width, 1)
    if text.isascii():
        start = 0
        while len(text) - start > room:
            yield Row(start, start + room, room)
            start += room
            room = rest
        yield Row(start, len(text), len(text) - start)
        return
    start = used = at = 0
    for grapheme in graphemes(text):
        width = cell_len(grapheme)
        if used + width > room and at > start:
            yield Row(start, at, used)
            start, used, room = at, 0, rest
        used += width
        at += len(grapheme)
    yield Row(start, at, used)


def fold(
    spans: Sequence[Span], width: int, *, subsequent_indent: Sequence[Span] = (), max_rows: int | None = None
) -> list[Line]:
    """Spans without line ends, cut to lines of at most `width` cells wherever a line is full; spaces stay."""
    cells = sum(cell_len(span.text) for span in spans)
    if cells <= width:
        return [Line(tuple(spans), cells)]
    lead = _fit_indent(subsequent_indent, width)
    source = SpanSource(spans)
    text = "".join(span.text for span in spans)
    lines: list[Line] = []
    for row in islice(fold_rows(text, width, width - lead.cells), max_rows):
        lines.append(source.line(row, lead if lines else EMPTY, max(width - (lead.cells if lines else 0), 1)))
    return lines


def wrap_bounded(
    text: str,
    role: str,
    width: int,
    max_rows: int,
    *,
    indent: Sequence[Span] = (),
) -> Bounded:
    """The first `max_rows` rows of a text of any length, wrapped without touching the rest.

    Line ends at the end of the text do not count. `shown_chars` is where the hidden text begins.
    """
    lead = _fit_indent(indent, width)
    room = max(width - lead.cells, 1)
    size = len(text.rstrip("\n"))
    lines: list[Line] = []
    at = 0
    while at <= size and len(lines) < max_rows:
        stop = text.find("\n", at, size)
        stop = size if stop < 0 else stop
        paragraph = text[at:stop]
        source = SpanSource([Span(paragraph, role)])
        rows = row_ranges(paragraph, room)
        lines.extend(source.line(row, lead, room) for row in islice(rows, max_rows - len(lines)))
        following = next(rows, None)
        if following is not None:
            return _cut_inside(lines, rows, text[:size], stop=stop, at=at + following.start, room=room)
        at = stop + 1
    if at > size:
        return Bounded(lines, 0, True, len(text))
    hidden, exact = count_rows(text[at:size], room)
    return Bounded(lines, hidden, exact, at)


def _cut_inside(
    lines: list[Line], rows: Iterator[Row], text: str, *, stop: int, at: int, room: int
) -> Bounded:
    """The result where the bound is reached before character `at`, in a paragraph that ends at `stop`."""
    if len(text) - at > _COUNT_EXACTLY:
        return Bounded(lines, *count_rows(text[at:], room), at)
    hidden = 1 + sum(1 for _ in rows)
    if stop < len(text):
        hidden += count_rows(text[stop + 1 :], room)[0]
    return Bounded(lines, hidden, True, at)


def count_rows(text: str, width: int) -> tuple[int, bool]:
    """How many rows a text takes, and whether that is exact (long texts are estimated from their lengths)."""
    width = max(width, 1)
    if len(text) <= _COUNT_EXACTLY:
        return sum(sum(1 for _ in row_ranges(part, width)) for part in text.split("\n")), True
    sample = text[:4096]
    cells_per_char = cell_len(sample.replace("\n", "")) / len(sample)
    return max(text.count("\n") + 1, int(len(text) * cells_per_char / width)), False


def _fit_indent(indent: Sequence[Span], width: int) -> Line:
    return crop(line(*indent), max(width - min(_LEAST_ROOM, max(width, 1)), 0), "")


def _paragraphs(spans: Sequence[Span]) -> Iterator[list[Span]]:
    current: list[Span] = []
    for span in spans:
        if "\n" not in span.text:
            current.append(span)
            continue
        head, *others = span.text.split("\n")
        current.append(Span(head, span.role))
        for part in others:
            yield current
            current = [Span(part, span.role)]
    yield current


class SpanSource:
    """Cuts rows, which come in order, out of a paragraph of spans."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = [span for span in spans if span.text]
        self._index = 0
        self._offset = 0

    def line(self, row: Row, lead: Line, room: int) -> Line:
        """The line of a row behind its indent."""
        if row.cells > room:
            return Line((*lead.spans, Span(_TOO_WIDE, self._spans[0].role)), lead.cells + cell_len(_TOO_WIDE))
        return Line((*lead.spans, *self._pieces(row.start, row.end)), lead.cells + row.cells)

    def _pieces(self, start: int, end: int) -> Iterator[Span]:
        while self._index < len(self._spans):
            span = self._spans[self._index]
            low = start - self._offset
            high = end - self._offset
            size = len(span.text)
            if low < size and high > max(low, 0):
                text = span.text[max(low, 0) : high]
                yield span if len(text) == size else Span(text, span.role)
            if high <= size:
                return
            self._index += 1
            self._offset += size
