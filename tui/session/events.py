"""Events of a V4 session log: names, envelope, and the full decode of one row.

An event is one JSON line after the header (spec session-format §2.4). This module decodes a single line
whole, for the moment somebody looks at it; the partial decode that the folds run over every line is in
`records`.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

import msgspec

SURFACE_TYPES = frozenset(
    {"system/message", "developer/message", "user/message", "assistant/message", "tool/result"}
)

LOG_ONLY_TYPES = frozenset(
    (
        "agent-preset/selected",
        "agent/inbox/spliced",
        "approval/asked",
        "approval/decided",
        "approval/policy",
        "assistant/attempt",
        "command/done",
        "command/run",
        "compaction/end",
        "compaction/prune",
        "compaction/start",
        "compaction/summary",
        "deliverables/presented",
        "feedback/message-delete",
        "feedback/message-put",
        "feedback/record",
        "goal/change",
        "hook/invoked",
        "hook/result",
        "image/offload",
        "job/registered",
        "job/settled",
        "llm/retry",
        "llm/retry-started",
        "model/selection",
        "permission/preset",
        "plan/mode",
        "request/context",
        "request/header",
        "sandbox/mode",
        "schedule/change",
        "session-log-deepseek/delivery-accepted",
        "session/end-seed",
        "session/title",
        "session/title-llm-request",
        "step/end",
        "step/start",
        "subagent/catalog",
        "subagent/descriptor",
        "subagent/model-selection-policy",
        "team/member",
        "team/message/delivered",
        "team/message/queued",
        "team/task",
        "todo/write",
        "tool-workflow/agent-end",
        "tool-workflow/agent-start",
        "tool-workflow/run-end",
        "tool-workflow/run-start",
        "tool/call",
        "tool/ptc-dispatch",
        "tool/ptc-dispatch-start",
        "turn/end",
        "turn/start",
        "web/deepseek-search-llm-request",
        "working-directory/change",
        "workspace/changes",
    )
)

KNOWN_TYPES = SURFACE_TYPES | LOG_ONLY_TYPES
"""Every event type of format V4 (spec §4.11)."""

DAMAGE_TYPE = ""
"""The type of a row that stands for a fault of the file; no event of a log has it."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a log, decoded whole."""

    row: int
    """Position among the rows of the file, from 0; equal to `seq` in a healthy log."""
    type: str
    """Event type, `DAMAGE_TYPE` for a row that could not be read."""
    seq: int
    """Sequence number as recorded; -1 where the row holds none."""
    time: int
    """Unix milliseconds as recorded; not monotonic."""
    data: Any = None
    """The payload as plain JSON values; the payload's own text where it nests too deeply to be decoded."""
    surface_op: str | dict[str, Any] | None = None
    source_event_seqs: list[int] | None = None
    """Cited events, ranges expanded."""
    ignorable: bool = False


_SURROGATE = re.compile("[\ud800-\udfff]")


def _well_formed(value: Any) -> Any:
    """The value with unpaired surrogates replaced by U+FFFD, in keys too."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if _SURROGATE.search(value) else value
    if isinstance(value, list):
        return [_well_formed(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {_well_formed(k): _well_formed(v) for k, v in cast("dict[str, Any]", value).items()}
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def decode_json(line: bytes) -> Any:
    """The JSON value of a line, as tolerant as JavaScript's parser and never less.

    msgspec refuses lone surrogates, invalid UTF-8 and deep nesting that dsh accepts, so those rows go through
    the standard library.

    Raises:
        ValueError: the line is not JSON.
        RecursionError: it nests deeper than the interpreter can follow.
    """
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        text = line.decode("utf-8", "replace")
        return _well_formed(json.loads(text, parse_constant=_refuse_constant))


# Unrolled: an alternation in a loop would keep a mark for every character of a long text.
_QUOTED = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_STRING = re.compile(_QUOTED, re.DOTALL)
_TOKEN = re.compile(_QUOTED + r"|[\[\]{},:]", re.DOTALL)


def top_level_members(line: bytes) -> dict[str, str]:
    """The members of a JSON object as raw texts, found without recursion.

    For rows that nest too deeply for any decoder: the envelope can still be read.

    Raises:
        ValueError: the line is not one JSON object with balanced brackets.
    """
    text = line.decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        raise ValueError("not a JSON object")
    members: dict[str, str] = {}
    depth, key, start = 0, None, 0
    end = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            depth += 1
            if depth == 1:
                start = match.end()
        elif token in "}]":
            depth -= 1
            if depth == 0:
                if key is not None:
                    members[key] = text[start : match.start()].strip()
                end = match.end()
                break
        elif depth == 1 and token == ":" and key is None:
            key = _member_key(text[start : match.start()])
            start = match.end()
        elif depth == 1 and token == ",":
            if key is None:
                raise ValueError("a member without a key")
            members[key] = text[start : match.start()].strip()
            key, start = None, match.end()
    if end != len(text):
        raise ValueError("brackets do not balance")
    return members


def _member_key(text: str) -> str:
    key = text.strip()
    if not _STRING.fullmatch(key):
        raise ValueError("a member without a key")
    return str(json.loads(key))


def envelope(line: bytes) -> dict[str, Any]:
    """The envelope of a line as a dict; `data` stays raw text where it nests too deeply.

    Raises:
        ValueError: the line is not a JSON object.
    """
    try:
        value = decode_json(line)
    except RecursionError:
        members = top_level_members(line)
        result: dict[str, Any] = {}
        for key, raw in members.items():
            try:
                result[key] = _well_formed(json.loads(raw))
            except RecursionError:
                result[key] = raw
        return result
    if not isinstance(value, dict):
        raise ValueError("a row that is not a JSON object")
    return cast("dict[str, Any]", value)


def whole_number(value: Any) -> int | None:
    """The value as an integer where JavaScript would see one (`1e3` is one, `true` is not), else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def expand_seqs(cited: Any) -> list[int] | None:
    """`sourceEventSeqs` with its `[first, last]` pairs expanded (spec §2.4); None where absent or
    malformed."""
    if not isinstance(cited, list):
        return None
    expanded: list[int] = []
    for entry in cast("list[Any]", cited):
        number = whole_number(entry)
        if number is not None:
            expanded.append(number)
            continue
        pair = cast("list[Any]", entry) if isinstance(entry, list) else []
        bounds = [whole_number(bound) for bound in pair]
        first, last = bounds if len(bounds) == 2 else (None, None)
        if first is None or last is None or not 0 <= last - first <= 10_000_000:
            return None
        expanded.extend(range(first, last + 1))
    return expanded


def event_of(line: bytes, row: int) -> Event:
    """Decode one line whole.

    Raises:
        ValueError: the line is not a JSON object.
    """
    members = envelope(line)
    kind = members.get("type")
    seq, time = whole_number(members.get("seq")), whole_number(members.get("time"))
    op = members.get("surfaceOp")
    return Event(
        row=row,
        type=kind if isinstance(kind, str) else "",
        seq=-1 if seq is None else seq,
        time=0 if time is None else time,
        data=members.get("data"),
        surface_op=cast("str | dict[str, Any]", op) if isinstance(op, (str, dict)) else None,
        source_event_seqs=expand_seqs(members.get("sourceEventSeqs")),
        ignorable=members.get("ignorable") is True,
    )
