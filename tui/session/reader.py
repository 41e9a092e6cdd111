"""Reading a log in one pass: lines, index entries, rows for whoever folds them.

Lines are split from the decoded text and partly decoded (`records`); nothing stops the pass. A line that
cannot be read, a number out of order or a broken frame becomes a row at its place and an entry in the log's
damage (spec session-format §2.4, §2.5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import msgspec

from tui.session.damage import Damage
from tui.session.irregular import RowFault, record_of
from tui.session.log import DAMAGE_CODE, UNKNOWN_CODE, SessionLog
from tui.session.log_header import parse_header
from tui.session.progress import Told
from tui.session.records import TYPE_NAMES, UnknownRecord, decode_record
from tui.session.source import Chunk, SourceFault, TextSource, open_source

_BATCH_LINES = 256
_HEADER_LIMIT = 1 << 20
_ANY_GAP = 1 << 60


class RowSink(Protocol):
    """Takes the rows of a log in order, as they are read."""

    @property
    def handlers(self) -> Sequence[Sequence[Callable[[int, Any], None]]]:
        """Who takes a known event, by its type code (`records.CODES`): each is given row and record."""
        ...

    def unknown(self, row: int, record: UnknownRecord) -> None:
        """An event of an unknown type, or a known one with a payload of another shape."""
        ...

    def damage(self, row: int, damage: Damage) -> None:
        """A fault of the file, at its place."""
        ...


class LogReader:
    """Reads a log to its present end, in slices, handing each row to a sink."""

    def __init__(self, log: SessionLog, chunks: Iterator[Chunk], sink: RowSink | None = None) -> None:
        self._log = log
        self._sink = sink
        self._handlers: Sequence[Sequence[Callable[[int, Any], None]]] = (
            sink.handlers if sink is not None else [()] * len(TYPE_NAMES)
        )
        self._chunks = chunks
        self._carry: list[bytes] = []
        self._carry_start = 0
        self._lines: list[bytes] = []
        self._next_line = 0
        self._offset = 0
        self._line_number = 1 if log.partial else 2
        self._expected = -1 if log.partial else 0
        self._slack = 0
        self._faults_seen = 0
        self._begun = False

    @property
    def progress(self) -> float:
        """Share of the file read, 0 to 1."""
        size = self._log.source.file_size
        return min(1.0, self._log.source.consumed / size) if size else 1.0

    def step(self, seconds: float) -> bool:
        """Read for about this long; True when the end has been reached."""
        until = perf_counter() + seconds
        if not self._begun:
            self._begun = True
            self._header_rows()
        while True:
            if self._next_line < len(self._lines):
                self._feed(_BATCH_LINES)
            elif not self._refill():
                self._finish()
                return True
            if perf_counter() >= until:
                return False

    def _header_rows(self) -> None:
        """Give each fault of the header a row before all others."""
        log = self._log
        for position, damage in enumerate(log.damage):
            log.index.number_rows()
            row = log.index.append(DAMAGE_CODE, -1, log.header.created_ms, 0, 0)
            log.index.damaged[row] = position
            if self._sink is not None:
                self._sink.damage(row, damage)

    def _refill(self) -> bool:
        """Split the next chunk into lines; False at the end."""
        self._log.index.settle()
        chunk = next(self._chunks, None)
        self._report_faults()
        if chunk is None:
            return False
        start, data, joins = chunk
        if not joins and self._carry:
            self._torn_line()
        if not self._carry:
            self._carry_start = start
        if b"\n" not in data:
            self._carry.append(data)
            return True
        if self._carry:
            data = b"".join((*self._carry, data))
        lines = data.split(b"\n")
        tail = lines.pop()
        self._lines, self._next_line, self._offset = lines, 0, self._carry_start
        self._carry_start += len(data) - len(tail)
        self._carry = [tail] if tail else []
        return True

    def _feed(self, count: int) -> None:
        lines = self._lines[self._next_line : self._next_line + count]
        self._next_line += len(lines)
        while lines:
            records: list[Any] = []
            refused = False
            try:
                # What was decoded before a line that is refused stays in the list.
                records.extend(map(decode_record, lines))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                refused = True
            self._enter(records, lines)
            if not refused:
                return
            line = lines[len(records)]
            self._irregular(line, self._offset)
            self._pass(line)
            lines = lines[len(records) + 1 :]

    def _enter(self, records: list[Any], lines: list[bytes]) -> None:
        """Enter the records of the first lines, and hand them on."""
        if not records:
            return
        index, handlers, count = self._log.index, self._handlers, len(records)
        first, expected = len(index), self._expected
        seqs = [record.seq for record in records]
        if index.seqs is not None or seqs != list(range(expected, expected + count)):
            for record, line in zip(records, lines, strict=False):
                self._enter_one(record, line)
            return
        codes: list[int] = [record.code for record in records]
        lengths = map(len, lines if count == len(lines) else lines[:count])
        self._offset = index.extend(codes, [record.time for record in records], self._offset, lengths)
        self._expected += count
        self._line_number += count
        takers = map(handlers.__getitem__, codes)
        for row, record, theirs in zip(range(first, first + count), records, takers, strict=True):
            for handler in theirs:
                handler(row, record)

    def _enter_one(self, record: Any, line: bytes) -> None:
        index, offset = self._log.index, self._offset
        if record.seq != self._expected:
            self._out_of_sequence(record.seq, offset)
        self._expected = record.seq + 1
        code: int = record.code
        row = index.append(code, record.seq, record.time, offset, len(line))
        for handler in self._handlers[code]:
            handler(row, record)
        self._pass(line)

    def _pass(self, line: bytes) -> None:
        """A line is done with."""
        self._offset += len(line) + 1
        self._line_number += 1

    def _irregular(self, line: bytes, offset: int) -> None:
        """Enter a line that the fast decoder refused."""
        index, sink = self._log.index, self._sink
        try:
            record, problem = record_of(line)
        except RowFault as fault:
            reason = str(fault) if line.strip() else "a blank line"
            self._fault_row("bad-row", offset, reason, len(line), {})
            # The line may have been an event or not: the next number may be this one's or the one after.
            self._slack = 1
            return
        if record.seq != self._expected:
            self._out_of_sequence(record.seq, offset)
        self._expected = record.seq + 1
        if isinstance(record, UnknownRecord):
            row = index.append(UNKNOWN_CODE, record.seq, record.time, offset, len(line))
            index.unknown[row] = record
            if not record.ignorable and not record.known:
                self._note(
                    row,
                    "unknown-event",
                    offset,
                    f"unknown event type {record.type_name[:80]!r}",
                    {"type": record.type_name[:80]},
                )
        else:
            row = index.append(record.code, record.seq, record.time, offset, len(line))
        if problem:
            self._note(row, "bad-event", offset, problem, {"seq": record.seq})
        if isinstance(record, UnknownRecord):
            if sink is not None:
                sink.unknown(row, record)
        else:
            code: int = record.code
            for handler in self._handlers[code]:
                handler(row, record)

    def _out_of_sequence(self, seq: int, offset: int) -> None:
        """Take note of a number that is not the next one."""
        index, expected = self._log.index, self._expected
        if expected < 0:
            # The first event of a tail: its number is whatever it is.
            index.base_seq = seq - len(index)
            return
        explained = 0 < seq - expected <= self._slack
        self._slack = 0
        index.number_rows()
        if explained:
            return
        previous = expected - 1
        if seq > expected:
            code, reason = "seq-hole", f"event {seq} follows {previous}: {seq - expected} numbers are missing"
        elif seq == previous:
            code, reason = "seq-repeat", f"event {seq} stands twice"
        else:
            code, reason = "seq-rewind", f"event {seq} follows {previous}: the numbers run back"
        self._fault_row(code, offset, reason, 0, {"expected": expected, "found": seq, "previous": previous})

    def _report_faults(self) -> None:
        faults = self._log.source.faults
        while self._faults_seen < len(faults):
            self._source_fault(faults[self._faults_seen])
            self._faults_seen += 1

    def _source_fault(self, fault: SourceFault) -> None:
        offset, length = fault.text_offset, 0
        if self._carry and fault.code == "torn-tail":
            # The cut frame's own last line is the fragment that the fault is about.
            offset, length = self._carry_start, sum(map(len, self._carry))
            self._carry = []
        fields: dict[str, int | str] = {"frame_offset": fault.frame_offset, "bytes": fault.frame_length}
        frame_offset = fault.frame_offset if self._log.source.encoding == "zstd" else None
        self._fault_row(fault.code, offset, fault.reason, length, fields, frame_offset=frame_offset)
        if fault.code == "bad-frame":
            self._slack = _ANY_GAP

    def _fault_row(
        self,
        code: str,
        offset: int,
        reason: str,
        length: int,
        fields: dict[str, int | str],
        *,
        frame_offset: int | None = None,
    ) -> None:
        index = self._log.index
        index.number_rows()
        time = index.times[-1] if index.times else self._log.header.created_ms
        row = index.append(DAMAGE_CODE, -1, time, offset, length)
        damage = self._note(row, code, offset, reason, fields, frame_offset=frame_offset)
        if self._sink is not None:
            self._sink.damage(row, damage)

    def _note(
        self,
        row: int,
        code: str,
        offset: int,
        reason: str,
        fields: dict[str, int | str],
        *,
        frame_offset: int | None = None,
    ) -> Damage:
        log = self._log
        damage = Damage(
            code=code,
            line=self._line_number,
            offset=offset,
            reason=reason,
            frame_offset=frame_offset,
            fields=fields,
        )
        log.index.damaged.setdefault(row, len(log.damage))
        log.damage.append(damage)
        return damage

    def _torn_line(self) -> None:
        length = sum(map(len, self._carry))
        self._fault_row("bad-row", self._carry_start, "the line is broken off by a bad frame", length, {})
        self._carry = []
        self._line_number += 1

    def _finish(self) -> None:
        if self._carry:
            length = sum(map(len, self._carry))
            self._fault_row("torn-tail", self._carry_start, "the last line has no end", length, {})
            self._carry = []
        self._log.complete = True


def open_log(path: Path, sink: RowSink | None = None) -> tuple[SessionLog, LogReader]:
    """Open a log and read its header; rows come with `LogReader.step`.

    Raises:
        SessionUnreadable: there is no such file, it may not be read, or it has no header of a V4 log.
    """
    source = open_source(path)
    try:
        chunks = source.chunks()
        line, rest = _header_line(chunks)
        header, damage = parse_header(line, path)
    except BaseException:
        source.close()
        raise
    log = SessionLog(source, header)
    log.damage.extend(damage)
    return log, LogReader(log, chain(rest, chunks), sink)


def open_tail(
    whole: SessionLog, want: int, sink: RowSink | None = None
) -> tuple[SessionLog, LogReader] | None:
    """A log of about the last `want` bytes of text; None where the whole log is hardly longer."""
    source = whole.source.tail(want)
    if source is None:
        return None
    log = SessionLog(source, whole.header, partial=True)
    return log, LogReader(log, source.chunks(), sink)


def read_log(path: Path, sink: RowSink | None = None, *, told: Told | None = None) -> SessionLog:
    """Open a log and read it to its end.

    Raises:
        SessionUnreadable: see `open_log`.
    """
    log, reader = open_log(path, sink)
    try:
        while not reader.step(60.0 if told is None else 0.1):
            if told is not None:
                told(reader.progress)
    except BaseException:
        log.close()
        raise
    return log


def header_line(source: TextSource) -> bytes:
    """The first line of a source with its LF; without one if the file ends (or a megabyte passes) before
    it."""
    return _header_line(source.chunks())[0]


def _header_line(chunks: Iterator[Chunk]) -> tuple[bytes, list[Chunk]]:
    """The first line, and what the same chunk holds after it."""
    pieces: list[bytes] = []
    for start, data, joins in chunks:
        head, separator, rest = data.partition(b"\n")
        pieces.append(head + separator)
        if separator:
            return b"".join(pieces), [Chunk(start + len(head) + 1, rest, joins)] if rest else []
        if sum(map(len, pieces)) > _HEADER_LIMIT:
            break
    return b"".join(pieces), []
