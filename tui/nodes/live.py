"""A session while it is being written: the same folds as for one on the disk, fed event by event.

What a process appends is put into a text of its own behind the stored one and read from there by the same
reader, so that a session that is watched and one that is opened later show the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from tui.nodes.reading import Reading
from tui.session.event_list import EventList
from tui.session.event_text import line_of
from tui.session.events import Event
from tui.session.log import SessionLog
from tui.session.log_header import LogHeader
from tui.session.progress import Told
from tui.session.reader import LogReader
from tui.session.source import Chunk, SourceFault, TextSource, open_source

RUNNING = "running"
"""`Turn.reason` of a turn that runs."""
_ALL_AT_ONCE = 60.0
_SLICE = 0.1


class LiveText:
    """The first rows of a stored text, and behind them the lines that are appended; a `source.TextSource`."""

    encoding: Literal["none", "zstd"] = "none"

    def __init__(self, path: Path, stored: TextSource | None = None, rows: int = 0) -> None:
        self.path = path
        self.faults: list[SourceFault] = []
        self._stored = stored
        self._boundary = 0
        """Where the appended lines begin."""
        self._lines = bytearray()
        self._read_to = 0
        self._stored_chunks = _first_rows(stored, rows) if stored is not None else iter(())

    @property
    def file_size(self) -> int:
        """Bytes of the whole text, as far as it was read or appended."""
        return self._boundary + len(self._lines)

    @property
    def consumed(self) -> int:
        """Bytes that were read."""
        return self._boundary + self._read_to

    @property
    def stored_share(self) -> float:
        """How much of the stored file was read, 0 to 1."""
        size = self._stored.file_size if self._stored is not None else 0
        return min(1.0, self._stored.consumed / size) if self._stored is not None and size else 1.0

    def append(self, line: bytes) -> None:
        """Add a line, LF included."""
        self._lines += line

    def chunks(self) -> Iterator[Chunk]:
        """The stored rows, then the appended ones; it goes on when more have been appended."""
        return self

    def __iter__(self) -> LiveText:
        return self

    def __next__(self) -> Chunk:
        for chunk in self._stored_chunks:
            self._boundary = chunk.start + len(chunk.data)
            if chunk.data:
                return chunk
        if self._read_to == len(self._lines):
            raise StopIteration
        start, self._read_to = self._read_to, len(self._lines)
        return Chunk(self._boundary + start, bytes(self._lines[start:]), True)

    def read(self, start: int, end: int) -> bytes:
        """See `TextSource.read`."""
        if start >= self._boundary:
            return bytes(self._lines[start - self._boundary : end - self._boundary])
        return self._stored.read(start, end) if self._stored is not None else b""

    def tail(self, want: int) -> None:
        """See `TextSource.tail`: there is no shorter way into a session that is open."""

    def close(self) -> None:
        """Release the stored file."""
        if self._stored is not None:
            self._stored.close()
            self._stored = None


def _first_rows(source: TextSource, rows: int) -> Iterator[Chunk]:
    """The header's end and the first rows of a text, in pieces that end with them."""
    is_header = True
    for chunk in source.chunks():
        skipped = 0
        if is_header:
            skipped = chunk.data.find(b"\n") + 1
            if not skipped:
                continue
            is_header = False
        data = chunk.data[skipped:]
        lines = data.split(b"\n", rows)
        rows -= len(lines) - 1
        kept = data if rows else data[: len(data) - len(lines[-1])]
        yield Chunk(chunk.start + skipped, kept, chunk.joins)
        if not rows:
            return


class LiveReading(Reading):
    """The folds of a session that grows: `take` its events, then `catch_up` before looking.

    A turn that is open at the end is running, not broken off: `complete` is False meanwhile.
    """

    def __init__(
        self, header: LogHeader, path: Path, stored: TextSource | None = None, rows: int = 0
    ) -> None:
        super().__init__()
        self._text = LiveText(path, stored, rows)
        self._taken = 0
        """Events of the process that writes."""
        self.log = SessionLog(self._text, header)
        self._reader = LogReader(self.log, self._text.chunks(), self)

    @classmethod
    def of(cls, header: LogHeader, path: Path, events: EventList, *, told: Told | None = None) -> LiveReading:
        """A reading of all that an open session holds; what is appended from now on is for `take`.

        `told` hears how far it is. Raises SessionUnreadable when the stored log is gone.
        """
        kept = events.stored
        if kept is None:
            reading = cls(header, path)
        else:
            log, rows = kept
            reading = cls(header, path, open_source(log.path), rows)
        while told is not None and not reading._reader.step(_SLICE):
            told(reading._text.stored_share)
        reading.take_new(events)
        reading.catch_up()
        return reading

    @property
    def is_settled(self) -> bool:
        """Everything that was taken is folded, whether or not a turn is running."""
        return True

    @property
    def progress(self) -> float:
        return 1.0

    def take(self, event: Event) -> None:
        """Note an event that was appended; it is folded by `catch_up`."""
        self._text.append(line_of(event))
        self._taken += 1

    def take_new(self, events: EventList) -> None:
        """Note what was appended to an open session and is not yet here."""
        for event in events.own[self._taken :]:
            self.take(event)

    def catch_up(self) -> None:
        """Fold everything that was taken."""
        while not self._reader.step(_ALL_AT_ONCE):
            pass
        turn = self.turns.current
        self.log.complete = turn is None
        if turn is not None:
            turn.reason = RUNNING

    def step(self, seconds: float) -> bool:
        """Fold what was taken; the end is always reached."""
        self.catch_up()
        return True
