"""Rows of the Trajectory pane as values: one record of the session, decoded when it is shown.

Times are the log's own, never invented: a duration exists only where both ends are recorded in order, TTFT
only where a stream is (CONTRACT.md).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, Literal, cast

import msgspec

from tui.nodes.chat import ForeignBlock, SystemChange
from tui.nodes.chat_nodes import header_notice_at, notice_at, system_change
from tui.nodes.content import content_of, foreign_chunks, message_of, partial_text, span_ms
from tui.nodes.notices import HeaderNotice, ToolNotice
from tui.nodes.own_notices import OwnNotice, own_notice_of
from tui.nodes.reading import Reading
from tui.nodes.tool_nodes import cited_call
from tui.nodes.trajectory_index import RowFlag, RowKind
from tui.session.damage import Damage
from tui.session.events import Event
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.stream import finish, first_delta_ms

KIND_NAMES: dict[RowKind, str] = {kind: kind.public_name for kind in RowKind}

RowStatus = Literal[
    "ok", "error", "running", "no-result", "failed", "interrupted", "truncated", "unanswered", ""
]


class RowUsage(msgspec.Struct, frozen=True):
    """Tokens of one request as the provider counted them; `input` is the uncached part."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int | None = None


class TrajectoryRow(msgspec.Struct, frozen=True, kw_only=True):
    """One record."""

    index: int
    kind: str
    row: int
    seq: int | None
    turn: int | None
    step: int | None
    type: str
    """Event type of the record it begins with."""
    title: str
    """What it is about, from the record: a tool's name, a source, a model, an event type. Not localised."""
    gist: str = ""
    """The beginning of what it says: text, arguments, reason. Not localised."""
    cut: bool = False
    """The gist is not all that it says."""
    time_ms: int | None = None
    started_ms: int | None = None
    duration_ms: int | None = None
    ttft_ms: int | None = None
    status: RowStatus = ""
    error_code: str = ""
    usage: RowUsage | None = None
    request: int | None = None
    end_seq: int | None = None
    """The record that completes it."""
    parent_call_id: str | None = None
    call_id: str | None = None
    calls: int = 0
    """Tool calls that an answer asked for."""
    reasoning: bool = False
    replaced: bool = False
    ignorable: bool | None = None
    known: bool | None = None
    tool_notice: ToolNotice | None = None
    header_notice: HeaderNotice | None = None
    system_change: SystemChange | None = None
    own: OwnNotice | None = None
    """What a record of our own tells."""
    damage: Damage | None = None
    """The fault that the row stands for, or that its record has."""
    repeated: bool = False
    """Its number stands on an earlier row already (damage)."""
    shortened: bool = False
    """The model now sees a shortened result."""
    foreign_chunks: tuple[ForeignBlock, ...] = ()
    """Parts of an answer's stream of unknown kinds."""


GIST: Final = 400
"""Characters of what a record says that its row holds."""


def trajectory_row(reading: Reading, index: int, *, whole: bool = False) -> TrajectoryRow:
    """The row at a position, decoded; `whole` gives all that the record says as its gist."""
    build = _BUILDERS[RowKind(reading.trajectory.index.kinds[index])]
    row = build(reading, index)
    if len(row.gist) <= GIST:
        return row
    if not whole:
        return msgspec.structs.replace(row, gist=row.gist[:GIST], cut=True)
    if build in (_event, _unknown):
        return msgspec.structs.replace(row, gist=event_gist(_event_of(reading, index), sys.maxsize))
    return row


def is_bookkeeping(reading: Reading, index: int) -> bool:
    """True for rows that only keep the program's books; a request without an answer is never one."""
    return reading.trajectory.index.kinds[index] in (RowKind.BOOKKEEPING, RowKind.TURN)


def row_times(reading: Reading, index: int) -> tuple[int, int]:
    """When a row's work began and ended, Unix milliseconds; equal for a moment."""
    columns, log = reading.trajectory.index, reading.log
    row, start, end = columns.rows[index], columns.starts[index], columns.ends[index]
    first, last = (start, row) if start >= 0 else (row, end if end >= 0 else row)
    begun, ended = log.time(first), log.time(last)
    # A time that is missing or unreadable is kept as 0.
    return begun or ended, ended or begun


def _base(reading: Reading, index: int) -> dict[str, Any]:
    columns, log = reading.trajectory.index, reading.log
    row, end = columns.rows[index], columns.ends[index]
    seq = log.seq(row)
    return {
        "index": index,
        "kind": KIND_NAMES[RowKind(columns.kinds[index])],
        "row": row,
        "seq": seq if seq >= 0 else None,
        "turn": reading.turn_number(columns.turns[index]),
        "step": columns.steps[index] or None,
        "type": log.type_name(row),
        "time_ms": log.time(row) or None,
        "started_ms": log.time(row) or None,
        "end_seq": log.seq(end) if end >= 0 else None,
        "request": columns.requests[index] or None,
        "replaced": bool(columns.flags[index] & RowFlag.REPLACED),
        "damage": log.damage_at(row, columns.mids[index], end),
        "repeated": log.is_repeat(row),
    }


def _timed(reading: Reading, index: int) -> dict[str, Any]:
    """The members of `_base` with start and duration, where both are recorded in order."""
    columns, log = reading.trajectory.index, reading.log
    row, start, end = columns.rows[index], columns.starts[index], columns.ends[index]
    base = _base(reading, index)
    if columns.kinds[index] == RowKind.ASSISTANT:
        # An answer is logged when it has come: its own time is its end.
        base["started_ms"] = (log.time(start) or None) if start >= 0 else None
        base["duration_ms"] = span_ms(log.time(start), log.time(row)) if start >= 0 else None
    elif end >= 0 and end != row:
        base["duration_ms"] = span_ms(log.time(row), log.time(end))
    return base


def _event_of(reading: Reading, index: int) -> Event:
    return reading.log.event(reading.trajectory.index.rows[index])


def _event(reading: Reading, index: int) -> TrajectoryRow:
    event = _event_of(reading, index)
    unanswered = bool(reading.trajectory.index.flags[index] & RowFlag.UNANSWERED)
    return TrajectoryRow(
        **_base(reading, index),
        title=event.type,
        gist=event_gist(event),
        status="unanswered" if unanswered else "",
    )


def event_gist(event: Event, longest: int = GIST) -> str:
    """The payload of a known event in one line: its plain members, nested ones as JSON.

    It has more than `longest` characters where that is not all.
    """
    data: Any = event.data
    if not isinstance(data, dict):
        return "" if data is None else compact(data)[: longest + 1]
    parts: list[str] = []
    size = 0
    for key, value in cast("dict[str, Any]", data).items():
        text = value if isinstance(value, str) else compact(value)
        parts.append(f"{key}={text[:longest]}")
        size += len(parts[-1]) + (len(parts) > 1)
        if size > longest:
            break
    return " ".join(parts)


def _system(reading: Reading, index: int) -> TrajectoryRow:
    event = _event_of(reading, index)
    text = content_of(message_of(event).get("content")).text
    return TrajectoryRow(
        **_base(reading, index),
        title="system-prompt",
        gist=text,
        system_change=system_change(reading, event, text),
    )


def _user(reading: Reading, index: int) -> TrajectoryRow:
    content = content_of(message_of(_event_of(reading, index)).get("content"))
    return TrajectoryRow(**_base(reading, index), title="user", gist=content.text)


def _context(reading: Reading, index: int) -> TrajectoryRow:
    event = _event_of(reading, index)
    message = message_of(event)
    source = as_object(message.get("source"))
    return TrajectoryRow(
        **_base(reading, index),
        title=as_text(source.get("kind")),
        gist=as_text(source.get("summary")) or content_of(message.get("content")).text,
        tool_notice=notice_at(reading, event.seq) if event.type == "developer/message" else None,
    )


def usage_of(value: Any) -> RowUsage | None:
    """The provider's token counts of an answer."""
    used = as_object(value)
    if not used:
        return None
    return RowUsage(
        input=as_count(used.get("inputTokens")) or 0,
        output=as_count(used.get("outputTokens")) or 0,
        cache_read=as_count(used.get("cacheReadTokens")) or 0,
        cache_write=as_count(used.get("cacheWriteTokens")) or 0,
        reasoning=as_count(used.get("reasoningTokens")),
    )


def _assistant(reading: Reading, index: int) -> TrajectoryRow:
    event = _event_of(reading, index)
    data = as_object(event.data)
    columns = reading.trajectory.index
    flags, start = columns.flags[index], columns.starts[index]
    first = first_delta_ms(data.get("stream"))
    began = reading.log.time(start) if start >= 0 else None
    base = _timed(reading, index)
    if first is not None and began is not None:
        base["ttft_ms"] = span_ms(began, first)
    base["foreign_chunks"] = foreign_chunks(data.get("stream"))
    if flags & RowFlag.ATTEMPT:
        return _attempt_row(base, event)
    message = message_of(event)
    source = as_object(message.get("source"))
    blocks = [as_object(block) for block in as_array(message.get("content"))]
    text = "\n\n".join(as_text(b.get("text")) for b in blocks if b.get("type") == "text")
    thought = "\n\n".join(as_text(b.get("text")) for b in blocks if b.get("type") == "reasoning")
    called = [as_text(b.get("name")) for b in blocks if b.get("type") == "tool-call"]
    status: RowStatus = "ok"
    if flags & RowFlag.CUT:
        status = "interrupted" if data.get("interrupted") is True else "truncated"
    elif (end := finish(data.get("stream"))) is not None and end.kind == "max-tokens":
        status = "truncated"
    return TrajectoryRow(
        **base,
        title=as_text(source.get("model")),
        gist=text or thought or ", ".join(called),
        status=status,
        usage=usage_of(data.get("usage")),
        calls=len(called),
        reasoning=bool(thought) and not text,
    )


def _attempt_row(base: dict[str, Any], event: Event) -> TrajectoryRow:
    end = finish(as_object(event.data).get("stream"))
    failure = as_object(end.failure) if end is not None else {}
    message = as_text(failure.get("message"))
    stopped = end is None or end.kind == "aborted"
    return TrajectoryRow(
        **base,
        title="attempt",
        gist=message or partial_text(event),
        status="interrupted" if stopped else "failed",
        error_code=as_text(failure.get("code")),
    )


def _tool(reading: Reading, index: int) -> TrajectoryRow:
    columns, log = reading.trajectory.index, reading.log
    flags, end = columns.flags[index], columns.ends[index]
    event = _event_of(reading, index)
    data = as_object(event.data)
    result = as_object(log.event(end).data) if end >= 0 else {}
    if event.type == "tool/result":
        # Its call was answered before, or lies in damage.
        result, data = data, cited_call(reading, event)
    error = as_object(result.get("error"))
    nested = bool(flags & RowFlag.NESTED)
    arguments = data.get("arguments")
    call_id = data.get("subCallId") if nested else data.get("callId")
    status: RowStatus = "no-result"
    if flags & RowFlag.DONE:
        status = "error" if flags & RowFlag.ERROR else "ok"
    elif not reading.complete and reading.turns.is_running(columns.turns[index]):
        status = "running"
    return TrajectoryRow(
        **_timed(reading, index),
        title=as_text(data.get("name")),
        gist=arguments if isinstance(arguments, str) else "" if arguments is None else compact(arguments),
        status=status,
        error_code=as_text(error.get("code")),
        call_id=as_text(call_id) or as_text(as_object(result.get("message")).get("toolCallId")) or None,
        parent_call_id=as_text(data.get("parentCallId")) or None if nested else None,
        shortened=bool(flags & RowFlag.CUT),
    )


def _header(reading: Reading, index: int) -> TrajectoryRow:
    base = _base(reading, index)
    notice = header_notice_at(reading, base["seq"] if base["seq"] is not None else -1)
    return TrajectoryRow(**base, title=notice.model, gist=notice.reason, header_notice=notice)


def _compaction(reading: Reading, index: int) -> TrajectoryRow:
    columns, log = reading.trajectory.index, reading.log
    flags, mid, end = columns.flags[index], columns.mids[index], columns.ends[index]
    summary = as_object(log.event(mid).data) if mid >= 0 else {}
    ended = as_object(log.event(end).data) if end >= 0 else {}
    status: RowStatus = "interrupted" if reading.complete or flags & RowFlag.CUT else "running"
    if flags & (RowFlag.DONE | RowFlag.ERROR):
        status = "failed" if flags & RowFlag.ERROR else "ok"
    text = as_text(ended.get("error")) or content_of(summary.get("summary")).text
    return TrajectoryRow(
        **_timed(reading, index),
        title=as_text(summary.get("model")) or "compaction",
        gist=text,
        status=status,
        usage=usage_of(summary.get("usage")),
    )


def _retry(reading: Reading, index: int) -> TrajectoryRow:
    data = as_object(_event_of(reading, index).data)
    failure = as_object(data.get("failure"))
    return TrajectoryRow(
        **_base(reading, index),
        title=as_text(data.get("provider")),
        gist=as_text(failure.get("message")),
        error_code=as_text(failure.get("code")),
    )


def _failure(reading: Reading, index: int) -> TrajectoryRow:
    reason = as_object(as_object(_event_of(reading, index).data).get("reason"))
    failure = as_object(reason.get("error"))
    why = reason.get("reason")
    return TrajectoryRow(
        **_base(reading, index),
        title=as_text(reason.get("kind")),
        gist=as_text(failure.get("message")) or as_text(as_object(why).get("kind")) or as_text(why),
        status="failed" if reason.get("kind") == "error" else "interrupted",
        error_code=as_text(failure.get("code")),
    )


def _unknown(reading: Reading, index: int) -> TrajectoryRow:
    event = _event_of(reading, index)
    record = reading.log.unknown(event.row)
    own = own_notice_of(event.type, event.data, ignorable=event.ignorable)
    return TrajectoryRow(
        **_base(reading, index),
        title=record.type_name if record is not None else event.type,
        gist="" if own is not None else event_gist(event),
        own=own,
        ignorable=record.ignorable if record is not None else event.ignorable,
        known=record.known if record is not None else False,
    )


def _damage(reading: Reading, index: int) -> TrajectoryRow:
    damage = reading.log.damage_at(reading.trajectory.index.rows[index])
    return TrajectoryRow(
        **_base(reading, index),
        title=damage.code if damage is not None else "",
        gist=damage.reason if damage is not None else "",
        status="error",
    )


_BUILDERS: dict[RowKind, Callable[[Reading, int], TrajectoryRow]] = {
    RowKind.EVENT: _event,
    RowKind.BOOKKEEPING: _event,
    RowKind.TURN: _event,
    RowKind.SYSTEM: _system,
    RowKind.USER: _user,
    RowKind.CONTEXT: _context,
    RowKind.ASSISTANT: _assistant,
    RowKind.TOOL: _tool,
    RowKind.HEADER: _header,
    RowKind.COMPACTION: _compaction,
    RowKind.RETRY: _retry,
    RowKind.FAILURE: _failure,
    RowKind.UNKNOWN: _unknown,
    RowKind.DAMAGE: _damage,
}
