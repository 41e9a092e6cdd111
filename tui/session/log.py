"""One session log: an index of its rows, and decoding of a row when somebody looks at it.

The index costs about 6 bytes a row; payloads are not held. `reader` fills it. What could not be read is a
row of its own and an entry in `damage` (spec session-format §2.5; where dsh refuses we show).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path

from tui.session.columns import PackedColumn
from tui.session.damage import Damage
from tui.session.events import DAMAGE_TYPE, Event, event_of
from tui.session.log_header import LogHeader
from tui.session.records import TYPE_NAMES, UnknownRecord
from tui.session.source import TextSource

UNKNOWN_CODE = 254
DAMAGE_CODE = 255

_CACHED_EVENTS = 256
_CACHED_BYTES = 4 << 20
_SEARCHED_RUNS = 64


class RowIndex:
    """The columns of a log's index: one entry a row, payloads stay in the file."""

    def __init__(self) -> None:
        self.types = bytearray()
        self.times = PackedColumn()
        self.offsets = PackedColumn()
        self.seqs: array[int] | None = None
        """Only for logs whose numbers are not consecutive; else `base_seq` + row. A row without a number
        repeats the one before it, so that numbers ascend within a run."""
        self.runs = array("q")
        """Rows at which the numbers run back, ascending."""
        self.base_seq = 0
        self.unknown: dict[int, UnknownRecord] = {}
        self.damaged: dict[int, int] = {}
        """Row to position in the log's damage list."""
        self._end = 0
        """Where the line after the newest row's begins, if nothing stands between."""
        self._lengths: dict[int, int] = {}
        """Of rows whose line does not end where the next one begins."""

    def __len__(self) -> int:
        return len(self.types)

    def place(self, row: int) -> tuple[int, int]:
        """Where a row's line begins, and its bytes."""
        offsets, start = self.offsets, self.offsets.at(row)
        if self._lengths and row in self._lengths:
            return start, self._lengths[row]
        after = row + 1
        return start, (offsets.at(after) if after < len(self.types) else self._end) - start - 1

    def length(self, row: int) -> int:
        """Bytes of a row's line."""
        return self.place(row)[1]

    def append(self, code: int, seq: int, time: int, offset: int, length: int) -> int:
        """Enter a row; returns its position."""
        row = len(self.types)
        if row and offset != self._end:
            self._lengths[row - 1] = self.length(row - 1)
        self.types.append(code)
        self.times.append(time)
        self.offsets.append(offset)
        self._end = offset + length + 1
        if self.seqs is not None:
            self.number(seq)
        return row

    def extend(self, codes: list[int], times: list[int], offset: int, lengths: Iterable[int]) -> int:
        """Enter rows whose lines and numbers follow each other; returns where the line after them begins."""
        row = len(self.types)
        if row and offset != self._end:
            self._lengths[row - 1] = self.length(row - 1)
        begins = list(accumulate([length + 1 for length in lengths], initial=offset))
        self._end = begins.pop()
        self.types += bytes(codes)
        self.times.extend(times)
        self.offsets.extend(begins)
        return self._end

    def settle(self) -> None:
        """Pack what was entered."""
        self.times.settle()
        self.offsets.settle()

    def number(self, seq: int) -> None:
        """Enter the number of the newest row, -1 for none, in a log that keeps numbers."""
        assert self.seqs is not None
        last = self.seqs[-1] if self.seqs else -1
        if 0 <= seq < last:
            self.runs.append(len(self.seqs))
        self.seqs.append(max(seq, last) if seq < 0 else seq)

    def number_rows(self) -> None:
        """Keep a number for every row from here on."""
        if self.seqs is None:
            self.seqs = array("q", range(self.base_seq, self.base_seq + len(self.types)))


class SessionLog:
    """The index of a log and access to its rows.

    `partial` logs hold only the tail of a file: their rows begin in the middle, and `seq` minus `row` is
    not 0.
    """

    def __init__(self, source: TextSource, header: LogHeader, *, partial: bool = False) -> None:
        self.source = source
        self.header = header
        self.partial = partial
        self.complete = False
        self.damage: list[Damage] = []
        self.index = RowIndex()
        self._cache: OrderedDict[int, Event] = OrderedDict()
        self._cached_bytes = 0
        self._rows_by_seq: dict[int, list[int]] = {}
        self._mapped = 0

    @property
    def path(self) -> Path:
        return self.source.path

    def __len__(self) -> int:
        return len(self.index.types)

    def close(self) -> None:
        self.source.close()

    def code(self, row: int) -> int:
        """Type code of a row (`records.CODES`), `UNKNOWN_CODE` or `DAMAGE_CODE`."""
        return self.index.types[row]

    def type_name(self, row: int) -> str:
        code = self.index.types[row]
        if code < len(TYPE_NAMES):
            return TYPE_NAMES[code]
        return self.index.unknown[row].type_name if code == UNKNOWN_CODE else DAMAGE_TYPE

    def seq(self, row: int) -> int:
        """Sequence number as recorded, -1 for a row without one."""
        if self.index.seqs is None:
            return row + self.index.base_seq
        return -1 if self.index.types[row] == DAMAGE_CODE else self.index.seqs[row]

    def time(self, row: int) -> int:
        """Unix milliseconds as recorded."""
        return self.index.times[row]

    def length(self, row: int) -> int:
        """Bytes of the row's line."""
        return self.index.length(row)

    def unknown(self, row: int) -> UnknownRecord | None:
        return self.index.unknown.get(row)

    def damage_at(self, *rows: int) -> Damage | None:
        """The fault that a row stands for, or that its event has; the first one of several rows."""
        damaged = self.index.damaged
        if not damaged:
            return None
        return next((self.damage[damaged[row]] for row in rows if row in damaged), None)

    def rows_of_seq(self, seq: int) -> list[int]:
        """Every row that carries this number; more than one only in a damaged log."""
        seqs, types = self.index.seqs, self.index.types
        if seq < 0:
            return []
        if seqs is None:
            row = seq - self.index.base_seq
            return [row] if 0 <= row < len(types) else []
        if len(self.index.runs) > _SEARCHED_RUNS:
            return self._numbered().get(seq, [])
        found: list[int] = []
        for start, end in self._runs():
            row = bisect_left(seqs, seq, start, end)
            while row < end and seqs[row] == seq:
                if types[row] != DAMAGE_CODE:
                    found.append(row)
                row += 1
        return found

    def row_of_seq(self, seq: int) -> int | None:
        """The first row that carries this number."""
        rows = self.rows_of_seq(seq)
        return rows[0] if rows else None

    def is_repeat(self, row: int) -> bool:
        """True for a row whose number an earlier row carries already."""
        if self.index.seqs is None or self.index.types[row] == DAMAGE_CODE:
            return False
        rows = self.rows_of_seq(self.index.seqs[row])
        return bool(rows) and rows[0] < row

    def nearest_row(self, seq: int) -> int:
        """The first row of this number, or else the nearest row before its place."""
        seqs, last = self.index.seqs, len(self.index.types) - 1
        if seqs is None:
            return max(0, min(seq - self.index.base_seq, last))
        rows = self.rows_of_seq(seq)
        if rows:
            return rows[0]
        for start, end in self._runs():
            if end > start and seqs[end - 1] >= seq:
                return max(0, bisect_right(seqs, seq, start, end) - 1)
        return max(0, last)

    def _runs(self) -> Iterator[tuple[int, int]]:
        """The stretches of rows whose numbers ascend."""
        start = 0
        for end in self.index.runs:
            yield start, end
            start = end
        yield start, len(self.index.types)

    def _numbered(self) -> dict[int, list[int]]:
        """Rows by number, for a log whose numbers run back so often that runs are no help."""
        seqs, types = self.index.seqs, self.index.types
        assert seqs is not None
        for row in range(self._mapped, len(seqs)):
            if types[row] != DAMAGE_CODE:
                self._rows_by_seq.setdefault(seqs[row], []).append(row)
        self._mapped = len(seqs)
        return self._rows_by_seq

    def raw(self, row: int) -> bytes:
        """The row's own bytes; empty for a fault that has no line, shorter if the file shrank meanwhile."""
        start, length = self.index.place(row)
        return self.source.read(start, start + length) if length else b""

    def event(self, row: int) -> Event:
        """The row decoded whole; type `DAMAGE_TYPE` where it cannot be (any more)."""
        cached = self._cache.get(row)
        if cached is not None:
            self._cache.move_to_end(row)
            return cached
        event = self._decode(row)
        self._cache[row] = event
        self._cached_bytes += self.index.length(row)
        while len(self._cache) > _CACHED_EVENTS or (
            self._cached_bytes > _CACHED_BYTES and len(self._cache) > 1
        ):
            dropped, _ = self._cache.popitem(last=False)
            self._cached_bytes -= self.index.length(dropped)
        return event

    def _decode(self, row: int) -> Event:
        lost = Event(row=row, type=DAMAGE_TYPE, seq=self.seq(row), time=self.index.times[row])
        if self.index.types[row] == DAMAGE_CODE:
            return lost
        try:
            event = event_of(self.raw(row), row)
        except (ValueError, RecursionError):
            return lost
        # Another number: the file was written anew behind our back.
        return event if event.seq == self.seq(row) else lost

    def events(self) -> Iterator[Event]:
        """Every row decoded whole, in order, faults included."""
        for row in range(len(self)):
            yield self._decode(row)
