"""Continuing a session of any home in a copy: a fork under a new id in our own store (session-format §5).

The source is only read. What the copy begins with is inherited: the source's events under their own numbers,
then the marker that ends them, then closers if they end inside a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from tui.session.closers import closing_drafts
from tui.session.durable import Encoding, LogFile
from tui.session.event_list import EventList
from tui.session.event_text import Draft, event_line, strict_line
from tui.session.events import KNOWN_TYPES, Event, event_of
from tui.session.log import SessionLog
from tui.session.log_header import LogHeader
from tui.session.mending import Mending
from tui.session.naming import FORMAT_VERSION
from tui.session.picking_up import refuse_unknown, refused_by_rule, sound_rows
from tui.session.progress import Told, counted, part
from tui.session.reader import read_log
from tui.session.rule_error import LogRuleError
from tui.session.session_state import SessionState
from tui.session.store_writer import (
    clean_cwd,
    find_place,
    give_up,
    header_line,
    new_session_id,
    store_encoding,
)
from tui.session.write_errors import SessionRefused
from tui.session.writer import SessionWriter, now_ms

_BATCH_BYTES: Final = 1024 * 1024


class Fork(NamedTuple):
    """A copy that is open for writing; the counts are 0 unless it was mended."""

    writer: SessionWriter
    dropped: int
    """Events of the source that fit nowhere."""
    added: int
    """Events put in so that the others fit."""


def fork(
    source: Path,
    home: Path,
    *,
    through: int | None = None,
    mend: bool = False,
    allow_unknown: bool = False,
    session_id: str | None = None,
    cwd: str | None = None,
    encoding: Encoding | None = None,
    preferred: Encoding = "zstd",
    told: Told | None = None,
    now: Callable[[], int] = now_ms,
) -> Fork:
    """Copy a V4 log into a home under a new id and open the copy; it is durable when this returns.

    `through` is the last seq to copy, `cwd` another working directory for the copy. `mend` makes a copy of a
    damaged log too: numbered anew, without what fits nowhere. `allow_unknown` copies events of unknown types
    and marks them ignorable there. `told` hears how far it is. Raises SessionUnreadable, SessionRefused
    (`damaged`, `rule`, `unknown-events` and those of `create`) or SessionWriteError.
    """
    log = read_log(source, told=part(told, 0.0, 0.2))
    fold = part(told, 0.2, 0.7)
    try:
        header = LogHeader(
            id=session_id or new_session_id(),
            version=FORMAT_VERSION,
            created_ms=now(),
            is_seeded=True,
            delegation_depth=0,
            cwd=log.header.cwd if cwd is None else clean_cwd(cwd),
            parent_session=log.header.id,
            agent_preset=log.header.agent_preset,
        )
        if mend:
            copy = _mended(log, header, through, fold)
        else:
            copy = _copied(log, header, _Wanted(through, allow_unknown), fold)
        end = _seal(copy, now)
        place = find_place(home, header, store_encoding(home, encoding=encoding, preferred=preferred))
        try:
            file = LogFile(place.log, place.encoding, header=header_line(header))
            file.create(_batches(copy.lines(part(told, 0.7, 1.0)), end))
        except BaseException:
            give_up(place)
            raise
    except BaseException:
        log.close()
        raise
    writer = SessionWriter(header, file, place.lock, state=copy.state, events=copy.events, now=now)
    return Fork(writer, copy.dropped, copy.added)


_Lines: TypeAlias = Callable[[Told | None], Iterable[bytes]]
"""Gives the lines of a copy, and tells how many are done."""


class _Copy(NamedTuple):
    """The inherited part, folded; its lines come on demand."""

    state: SessionState
    events: EventList
    lines: _Lines
    dropped: int = 0
    added: int = 0


class _Wanted(NamedTuple):
    """What of a source is copied."""

    through: int | None
    unknown: bool


def _copied(log: SessionLog, header: LogHeader, wanted: _Wanted, told: Told | None) -> _Copy:
    rows, _, _ = sound_rows(log)
    if wanted.through is not None:
        rows = min(rows, wanted.through + 1)
    if not wanted.unknown:
        refuse_unknown(log, rows)
    # The numbers are those of the source, so the source's own index serves the copy.
    events = EventList(log, rows)
    state = SessionState(header, events.event)
    try:
        for row in counted(range(rows), told):
            state.apply(event_of(_copied_line(log, row), row))
    except LogRuleError as error:
        raise refused_by_rule(log.path, error) from error

    def lines(told: Told | None) -> Iterator[bytes]:
        return (_copied_line(log, row) + b"\n" for row in counted(range(rows), told))

    return _Copy(state, events, lines)


def _copied_line(log: SessionLog, row: int) -> bytes:
    line = strict_line(log.raw(row))
    record = log.unknown(row)
    if record is None or record.ignorable or record.known:
        return line
    # dsh refuses a log with an unknown event that is not marked; in a copy it can be.
    return line.rstrip()[:-1] + b',"ignorable":true}'


def _mended(log: SessionLog, header: LogHeader, through: int | None, told: Told | None) -> _Copy:
    events = EventList(log)
    state = SessionState(header, events.event)
    written: list[bytes] = []

    def put(event: Event) -> None:
        known = event.type in KNOWN_TYPES
        draft = Draft(
            event.type,
            event.data,
            event.surface_op if known else None,
            event.source_event_seqs if known else None,
            event.ignorable or not known,
            event.time,
        )
        line, copied = event_line(draft, state.rules.next_seq, event.time)
        state.apply(copied)
        events.append(copied)
        written.append(line)

    mending = Mending(state.rules, put)
    for row in counted(range(len(log)), told):
        event = log.event(row)
        if through is not None and event.seq > through:
            break
        mending.feed(event)
    if not events:
        raise SessionRefused(log.path, "damaged", "no event of the log can be kept", damage="empty", line=2)

    def lines(told: Told | None) -> Iterable[bytes]:
        del told  # They are made already.
        return written

    return _Copy(state, events, lines, mending.dropped, mending.added)


def _seal(copy: _Copy, now: Callable[[], int]) -> list[bytes]:
    """Fold in the marker that ends the inherited part, and closers if that ends inside a turn."""
    rules, last = copy.state.rules, copy.state.last_event
    time = now() if last is None else last.time
    lines: list[bytes] = []

    def put(draft: Draft) -> None:
        line, event = event_line(draft, rules.next_seq, time)
        copy.state.apply(event)
        copy.events.append(event)
        lines.append(line)

    put(Draft("session/end-seed", {"inherited": True}))
    rules.finish()
    rules.go_live()
    if rules.turn is not None:
        for draft in closing_drafts(
            rules.open_calls,
            turn=rules.turn,
            step=rules.step,
            next_seq=rules.next_seq,
            time=time,
            cause="forked",
        ):
            put(draft)
    return lines


def _batches(lines: Iterable[bytes], end: Sequence[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
    # Marker and closers stay together: neither means anything without the other.
    yield list(end)
