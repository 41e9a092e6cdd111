"""A huge text as blocks for a `BlockView`: pieces of its lines, cleaned and wrapped only when they come on
screen.

A line of text is one block as long as it wraps to at most 64 rows; a longer one is cut into pieces of 64
rows, hard at the cell, so that even a single line of 10 MB costs a screenful. Shorter lines break at words.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence

from tui.blocks.cells import cut
from tui.blocks.clean import clean, visible
from tui.blocks.text import EMPTY, Line, Span, line

ROWS_PER_PIECE = 64
SEARCH_CHARACTERS = 1_000_000
MAX_HITS = 1_000_000


class PagerText:
    """The block model of one text.

    Args:
        text: the text as it is, uncleaned.
        raw: show control characters as visible signs instead of leaving them out.
        role: how the text is set.
    """

    def __init__(self, text: str, *, raw: bool = False, role: str = "text") -> None:
        self.text = text
        self.raw = raw
        self.role = role
        self._starts = array("Q", [0])
        self._width = 0
        self._line_starts: array[int] | None = None

    def count(self) -> int:
        """The pieces at the last width."""
        return len(self._starts)

    def key(self, index: int) -> Hashable:
        """The character offset of the piece."""
        return self._starts[index]

    def index_of(self, key: Hashable) -> int | None:
        """The piece that holds a character offset, at whatever width it was asked."""
        return self.piece_at(key) if isinstance(key, int) else None

    def piece_at(self, offset: int) -> int:
        """The piece that holds a character offset."""
        return bisect_right(self._starts, offset) - 1

    def estimates(self, width: int) -> array[int]:
        """Cut the text for this width and estimate the rows of each piece, one cell a character."""
        self._cut(width)
        starts = self._starts
        ends = starts[1:]
        ends.append(len(self.text) + 1)
        return array(
            "I", [max(1, -(-(end - start - 1) // width)) for start, end in zip(starts, ends, strict=True)]
        )

    def estimate(self, index: int, width: int) -> int:
        """Rows of one piece, one cell a character."""
        if width != self._width:
            self._cut(width)
        start, end = self.span(index)
        return max(1, -(-(end - start) // width))

    def span(self, index: int) -> tuple[int, int]:
        """The character offsets of a piece, without its line end."""
        start = self._starts[index]
        end = self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)
        return start, end - 1 if end > start and self.text[end - 1] == "\n" else end

    def layout(self, index: int, width: int) -> Sequence[Line]:
        """The rows of one piece."""
        start, end = self.span(index)
        return self._rows(start, end, width, hard=self._is_part_of_a_long_line(start, end))

    def row_of(self, offset: int, width: int) -> tuple[int, int]:
        """The piece and the row in it where a character stands."""
        index = self.piece_at(offset)
        start, end = self.span(index)
        # Cleaning moves characters and wrapping drops spaces, so letters are counted.
        before = _letters(self._shown(start, min(offset, end)))
        seen = 0
        rows = self.layout(index, width)
        for row, content in enumerate(rows):
            seen += sum(_letters(span.text) for span in content.spans)
            if seen > before:
                return index, row
        return index, len(rows) - 1

    def selectable(self, index: int) -> bool:
        """Never: a text is scrolled by rows."""
        return False

    def line_count(self) -> int:
        """Lines of the text."""
        return len(self._lines())

    def line_at(self, offset: int) -> int:
        """The line, from 1, that holds a character offset."""
        return bisect_right(self._lines(), offset)

    def find(self, needle: str) -> Iterator[tuple[float, array[int]]]:
        """Search for a text, ignoring case, a million characters a step.

        Yields after each step the share that is done and all offsets found so far, at most a million.
        """
        hits: array[int] = array("Q")
        pattern = re.compile(re.escape(needle), re.IGNORECASE)
        length = len(self.text)
        start = 0
        while needle and start < length and len(hits) < MAX_HITS:
            # A hit may begin before the border and end behind it; the next step takes up behind it.
            end = min(start + SEARCH_CHARACTERS, length)
            resume = end
            for match in pattern.finditer(self.text, start, min(end + len(needle) - 1, length)):
                hits.append(match.start())
                resume = max(resume, match.end())
                if len(hits) >= MAX_HITS:
                    break
            start = resume
            yield min(1.0, start / length), hits
        yield 1.0, hits

    def _lines(self) -> array[int]:
        if self._line_starts is None:
            starts = array("Q", [0])
            starts.extend(match.end() for match in re.finditer("\n", self.text))
            if len(starts) > 1 and starts[-1] == len(self.text):
                starts.pop()
            self._line_starts = starts
        return self._line_starts

    def _cut(self, width: int) -> None:
        if width == self._width:
            return
        self._width = width
        piece = width * ROWS_PER_PIECE
        lines = self._lines()
        length = len(self.text)
        ends = lines[1:]
        ends.append(length)
        starts: array[int] = array("Q")
        for start, end in zip(lines, ends, strict=True):
            starts.append(start)
            if end - start > piece + 1:
                starts.extend(range(start + piece, end, piece))
        self._starts = starts

    def _is_part_of_a_long_line(self, start: int, end: int) -> bool:
        text = self.text
        return (start > 0 and text[start - 1] != "\n") or (end < len(text) and text[end] != "\n")

    def _shown(self, start: int, end: int) -> str:
        return (visible if self.raw else clean)(self.text[start:end])

    def _rows(self, start: int, end: int, width: int, *, hard: bool) -> list[Line]:
        rows: list[Line] = []
        for part in self._shown(start, end).split("\n"):
            rows.extend(
                line(Span(row, self.role)) if row else EMPTY for row in wrapped(part, width, hard=hard)
            )
        return rows


def wrapped(text: str, width: int, *, hard: bool) -> Iterator[str]:
    """The rows of one cleaned line at a width in cells, cut at the cell when `hard`, else at a space.

    Joined they give the line again, but for the spaces that stood where rows were broken.
    """
    while True:
        head, rest = cut(text, width)
        if not head and rest:
            # One wide character in a window of one cell: shown too wide rather than never.
            head, rest = rest[0], rest[1:]
        if rest and not hard:
            space = len(head) if rest.startswith(" ") else head.rfind(" ")
            if space > len(head) // 3:
                head, rest = text[:space], text[space + 1 :]
        yield head
        if not rest:
            return
        text = rest


def _letters(text: str) -> int:
    return len("".join(text.split()))
