"""A second look at lines that the fast decoder refused (`records`), with the tolerance of dsh.

dsh reads with JavaScript's parser and checks little of a payload (spec session-format §2.4, §3): foreign
content blocks, odd usage numbers, lone surrogates, invalid UTF-8 and `1e3` are all fine with it.
"""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

from tui.session.events import SURFACE_TYPES, envelope, whole_number
from tui.session.json_value import MAX_SAFE_INTEGER, as_object
from tui.session.records import (
    CODES,
    RECORDS,
    OtherRecord,
    RareRecord,
    Record,
    RequestHeaderRow,
    UnknownRecord,
)

_ENVELOPE = frozenset({"type", "seq", "time", "data", "ignorable"})
_WITH_OP = _ENVELOPE | {"surfaceOp", "sourceEventSeqs"}
_BLOCK_MEMBERS = ("type", "text", "id", "name", "toolName")
_MENDED_MEMBERS = 32
_PLACE = re.compile(r" - at `\$([^`]*)`$")
_STEP = re.compile(r"\.([A-Za-z]+)|\[(\d+)\]")


class RowFault(ValueError):
    """A line that is no event; the message says why, in one phrase."""


def record_of(line: bytes) -> tuple[Any, str]:
    """Look again at a line that `decode_record` refused.

    Returns:
        The record (a `Record` or an `UnknownRecord`), and what dsh would find wrong with its envelope or
        payload, "" for nothing.

    Raises:
        RowFault: the line holds no event at all.
    """
    try:
        members = envelope(line)
    except ValueError as error:
        raise RowFault(f"not JSON: {str(error)[:200]}") from error
    kind = members.get("type")
    seq, time = whole_number(members.get("seq")), whole_number(members.get("time"))
    if not isinstance(kind, str):
        raise RowFault("no event type")
    if seq is None or not 0 <= seq <= MAX_SAFE_INTEGER:
        raise RowFault(f"{kind[:80]} without a sequence number")
    problem = ""
    if time is None or not -MAX_SAFE_INTEGER <= time <= MAX_SAFE_INTEGER:
        time, problem = 0, "its time is not a whole number"
    elif "data" not in members:
        problem = "it has no data"
    ignorable = members.get("ignorable") is True
    record_type = RECORDS.get(kind)
    if record_type is None and kind not in CODES:
        return UnknownRecord(seq=seq, time=time, type_name=kind, ignorable=ignorable, known=False), problem
    allowed = _allowed_members(kind)
    extra = sorted(set(members) - allowed)
    if extra and not problem:
        problem = f"its envelope has a key that does not belong there: {extra[0][:40]!r}"
    if record_type is None:
        return RareRecord(code=CODES[kind], seq=seq, time=time, ignorable=ignorable), problem
    kept = {key: value for key, value in members.items() if key in allowed and key != "sourceEventSeqs"}
    kept.update(seq=seq, time=time, ignorable=ignorable)
    record, misfit = _fitted(kept, record_type)
    if record is None:
        found = UnknownRecord(seq=seq, time=time, type_name=kind, ignorable=ignorable, known=True)
        return found, problem or f"{kind} has a payload of another shape: {misfit}"
    if misfit and not problem:
        problem = f"{kind} has a payload of another shape: {misfit}"
    return record, problem


def _allowed_members(kind: str) -> frozenset[str]:
    if kind not in SURFACE_TYPES:
        return _ENVELOPE
    return _WITH_OP - {"sourceEventSeqs"} if kind == "assistant/message" else _WITH_OP


def _fitted(members: dict[str, Any], record_type: type[Record]) -> tuple[Record | None, str]:
    """The record that the members make, leaving out members of the payload that do not fit.

    Returns what did not fit too, if it is something that dsh cares about.
    """
    if issubclass(record_type, (OtherRecord, RequestHeaderRow)):
        members["data"] = _raw(members.get("data"))
    else:
        _fit_blocks(members)
    misfit = ""
    for _ in range(_MENDED_MEMBERS):
        try:
            return msgspec.convert(members, record_type, strict=False), misfit
        except RecursionError:
            return None, "it nests too deeply"
        except msgspec.ValidationError as error:
            text = str(error)[:200]
            place = _PLACE.search(text)
            path = [a or int(b) for a, b in _STEP.findall(place.group(1))] if place is not None else []
            if not _drop(members, path):
                return None, text
            if "usage" not in path:
                misfit = misfit or text
    return None, misfit


def _raw(data: Any) -> msgspec.Raw:
    """The payload as text; empty where it cannot be written, the line itself has it then."""
    try:
        return msgspec.Raw(msgspec.json.encode(data))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return msgspec.Raw(b"")


def _fit_blocks(members: dict[str, Any]) -> None:
    """Leave of each content block what a fold looks at, where it is text: foreign blocks are anything."""
    data = as_object(members.get("data"))
    message = as_object(data.get("message")) or data
    content = message.get("content")
    if not isinstance(content, list):
        return
    blocks: list[dict[str, str]] = []
    for entry in cast("list[Any]", content):
        block = as_object(entry)
        blocks.append({key: block[key] for key in _BLOCK_MEMBERS if isinstance(block.get(key), str)})
    fitted = {**message, "content": blocks}
    members["data"] = fitted if message is data else {**data, "message": fitted}


def _drop(members: dict[str, Any], path: list[str | int]) -> bool:
    """Take one optional member out of the payload; False where that is not possible."""
    if len(path) < 2 or path[0] != "data":
        return False
    place: Any = members
    for at, step in enumerate(path):
        if isinstance(place, dict) and isinstance(step, str) and step in place:
            inner = cast("dict[str, Any]", place)
            if at == len(path) - 1:
                # A copy would cost more than it saves: the values were decoded for this record alone.
                del inner[step]
                return True
            place = inner[step]
        elif isinstance(place, list) and isinstance(step, int) and step < len(cast("list[Any]", place)):
            items = cast("list[Any]", place)
            if at == len(path) - 1:
                del items[step]
                return True
            place = items[step]
        else:
            return False
    return False
