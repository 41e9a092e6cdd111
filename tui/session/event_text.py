"""The line of an event, and the event as that line will be read back (session-format §2.1, §2.4).

A line is strict UTF-8 whatever the payload holds: halves of surrogate pairs become U+FFFD, whole pairs one
character, and what is no JSON number becomes `null`, as in JavaScript.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from tui.session.events import SURFACE_TYPES, Event, decode_json
from tui.session.json_text import clean_json, compact
from tui.session.rule_error import SHAPE, LogRuleError

_RUN_MIN: Final = 3


class Draft(NamedTuple):
    """An event before it has a number and a time; surface events are appended unless they say otherwise."""

    type: str
    data: Any
    surface_op: str | Mapping[str, Any] | None = None
    source_event_seqs: Sequence[int] | None = None
    ignorable: bool = False
    time: int | None = None


def event_line(draft: Draft, seq: int, time: int) -> tuple[bytes, Event]:
    """Return the line of an event, LF included, and the event that a reader will make of it.

    Raises LogRuleError for a payload that no JSON text can hold.
    """
    operation = draft.surface_op
    if operation is None and draft.type in SURFACE_TYPES:
        operation = "append"
    members: dict[str, Any] = {"type": draft.type, "seq": seq, "time": time, "data": draft.data}
    if draft.source_event_seqs is not None:
        members["sourceEventSeqs"] = packed_seqs(draft.source_event_seqs)
    if operation is not None:
        members["surfaceOp"] = operation
    if draft.ignorable:
        members["ignorable"] = True
    line = _encode(members, draft.type, seq)
    try:
        data = msgspec.json.decode(line)["data"]
    except (msgspec.MsgspecError, RecursionError):
        data = _read_back(line, draft.data)
    event = Event(
        row=seq,
        type=draft.type,
        seq=seq,
        time=time,
        data=data,
        surface_op=operation if operation is None or isinstance(operation, str) else dict(operation),
        source_event_seqs=None if draft.source_event_seqs is None else list(draft.source_event_seqs),
        ignorable=draft.ignorable,
    )
    return line + b"\n", event


def line_of(event: Event) -> bytes:
    """Return the line of an event that was appended, LF included."""
    draft = Draft(event.type, event.data, event.surface_op, event.source_event_seqs, event.ignorable)
    return event_line(draft, event.seq, event.time)[0]


def packed_seqs(seqs: Sequence[int]) -> list[int | list[int]]:
    """Return cited events with runs of three and more as `[first, last]`, if they increase."""
    if any(after <= before for before, after in pairwise(seqs)):
        return list(seqs)
    packed: list[int | list[int]] = []
    start = 0
    while start < len(seqs):
        end = start
        while end + 1 < len(seqs) and seqs[end + 1] == seqs[end] + 1:
            end += 1
        if end - start + 1 >= _RUN_MIN:
            packed.append([seqs[start], seqs[end]])
        else:
            packed.extend(seqs[start : end + 1])
        start = end + 1
    return packed


def strict_line(line: bytes) -> bytes:
    """Return a line of another log with bytes that are no UTF-8 replaced, else the same bytes."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace").encode("utf-8")
    return line


def _encode(members: dict[str, Any], kind: str, seq: int) -> bytes:
    try:
        return msgspec.json.encode(members)
    except (UnicodeEncodeError, RecursionError):
        pass  # Told apart below: what only msgspec cannot write is written the slow way.
    except (TypeError, OverflowError) as error:
        raise LogRuleError(SHAPE, kind, f"the payload is not JSON: {error}", seq) from None
    try:
        return compact(clean_json(members)).encode("utf-8")
    except TypeError as error:
        raise LogRuleError(SHAPE, kind, f"the payload is not JSON: {error}", seq) from None


def _read_back(line: bytes, data: Any) -> Any:
    try:
        return decode_json(line)["data"]
    except RecursionError:
        return clean_json(data)
