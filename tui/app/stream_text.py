"""Text that is still arriving, piece by piece: cleaned line by line, and laid out plain row by row.

Each character is looked at a bounded number of times, however long a line grows: what can no longer change is
put aside. Pieces may end anywhere, inside an escape sequence or a line end too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tui.blocks.cells import cell_len
from tui.blocks.clean import clean
from tui.blocks.code import CONTINUATION
from tui.blocks.text import EMPTY, Line, Span, line
from tui.blocks.wrap import Row, fold_rows, row_ranges

_HELD = 2_048
"""Characters of an unfinished line that are kept as they came, because the next piece may change them."""
_LEFT = 256
"""Characters of it that stay so when the others are put aside."""
_OPEN_ROWS = 4
_SETTLE = 2_000
"""Characters of an unfinished row run from which its first rows are put aside."""


class CleanLines:
    """The gate for a text that comes in pieces: complete lines at once, the unfinished one at any time."""

    def __init__(self) -> None:
        self._settled = ""
        self._raw = ""

    def feed(self, text: str) -> list[str]:
        """Take a piece; returns the lines that it completed, cleaned and without line ends."""
        raw = self._raw + text
        lines: list[str] = []
        if "\n" in raw:
            head, _, raw = raw.rpartition("\n")
            lines = (self._settled + clean(head)).split("\n")
            self._settled = ""
        if len(raw) > _HELD:
            cut = len(raw) - _LEFT
            self._settled += clean(raw[:cut])
            raw = raw[cut:]
        self._raw = raw
        return lines

    @property
    def partial(self) -> str:
        """The line that has no end yet, cleaned."""
        return self._settled + clean(self._raw) if self._raw else self._settled

    def take(self, characters: int) -> int:
        """Drop characters that can no longer change from the front of the unfinished line; how many."""
        taken = min(characters, len(self._settled))
        self._settled = self._settled[taken:]
        return taken


class PlainRows:
    """Rows of plain text that grows: words wrapped, or cut where a row is full as for code.

    Args:
        width: cells of a row, the indent included.
        role: the role of the text.
        indent: stands left of every row.
        folds: cut wherever a row is full and mark what goes on, as code is shown.
    """

    def __init__(self, width: int, role: str, *, indent: Sequence[Span] = (), folds: bool = False) -> None:
        self._lead = line(*indent)
        self._room = max(width - self._lead.cells, 1)
        self._role = role
        self._folds = folds
        self._rows: list[Line] = []
        self._partial_rows: list[Line] = []
        """Rows of the unfinished line that can no longer change."""
        self._dropped = 0
        """Characters of the unfinished line that those rows took."""

    def add(self, lines: Sequence[str]) -> None:
        """Take complete lines; the first one completes the line that was unfinished."""
        for text in lines:
            rest = text[self._dropped :]
            self._rows += [*self._partial_rows, *self._laid(rest, first=not self._dropped)]
            self._partial_rows, self._dropped = [], 0

    def rows(self, partial: str = "") -> list[Line]:
        """All rows, with the line that is unfinished at their end."""
        if not partial:
            return self._rows
        if len(partial) - self._dropped > _SETTLE:
            self._settle(partial)
        rest = self._laid(partial[self._dropped :], first=not self._dropped)
        return [*self._rows, *self._partial_rows, *rest]

    def _settle(self, partial: str) -> None:
        text = partial[self._dropped :]
        rows = list(self._ranges(text, first=not self._dropped))
        settled = rows[:-_OPEN_ROWS]
        for row in settled:
            self._partial_rows.append(self._line(text, row, first=not self._dropped and row.start == 0))
        if settled:
            self._dropped += rows[len(settled)].start

    def _ranges(self, text: str, *, first: bool) -> Iterator[Row]:
        if not self._folds:
            return row_ranges(text, self._room)
        rest = self._room - cell_len(CONTINUATION[0].text)
        return fold_rows(text, self._room if first else rest, rest)

    def _laid(self, text: str, *, first: bool) -> list[Line]:
        if self._folds:
            text = text.rstrip(" ")
        if not text.strip(" "):
            return [EMPTY] if first else []
        return [
            self._line(text, row, first=first and row.start == 0) for row in self._ranges(text, first=first)
        ]

    def _line(self, text: str, row: Row, *, first: bool) -> Line:
        lead = [*self._lead.spans]
        cells = self._lead.cells + row.cells
        if self._folds and not first:
            lead += CONTINUATION
            cells += cell_len(CONTINUATION[0].text)
        return Line((*lead, Span(text[row.start : row.end], self._role)), cells)
