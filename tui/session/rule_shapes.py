"""Shapes of events: the envelope, messages and payloads, as far as dsh checks them at load.

Pure checks without state. Faults go under rule `SHAPE`, those of a message's identity under rule 21
(session-format §2.4, §2.5, §3.21, §4). Extra fields inside a payload are tolerated, as in dsh.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from tui.session.events import KNOWN_TYPES, SURFACE_TYPES, Event
from tui.session.json_value import MAX_SAFE_INTEGER, as_array, as_object, as_text
from tui.session.rule_error import SHAPE, refuse

IDENTITY: Final = 21
_RETIRED: Final = frozenset(("tool/code-dispatch", "tool/code-dispatch-start"))
_HEADER_REASONS: Final = frozenset(("initial", "resume", "change", "series"))
_CALL_DEFAULTS: Final = frozenset(("reasoningEffort", "maxTokens"))
_TOOL_CHANGES: Final = frozenset(("tool-addition", "tool-removal"))
_ROLES: Final = {
    "system/message": "system",
    "developer/message": "developer",
    "user/message": "user",
    "assistant/message": "assistant",
    "tool/result": "tool",
}


def count(value: object) -> int | None:
    """Return value if it is a count (session-format, notation), else None; −0 is none."""
    if type(value) is int:
        return value if 0 <= value <= MAX_SAFE_INTEGER else None
    if isinstance(value, float) and value.is_integer() and 0 <= value <= MAX_SAFE_INTEGER:
        return None if math.copysign(1.0, value) < 0 else int(value)
    return None


def positive(value: object) -> int | None:
    """Return value if it is a count of at least 1, else None."""
    number = count(value)
    return number or None


def need_text(event: Event, fields: Mapping[str, Any], *keys: str) -> None:
    """Refuse unless every key holds a non-empty string."""
    for key in keys:
        value = fields.get(key)
        if not isinstance(value, str) or not value:
            refuse(event, SHAPE, f'"{key}" is not a non-empty string')


def need_count(event: Event, fields: Mapping[str, Any], key: str) -> int:
    """Return a count that the payload must have."""
    number = count(fields.get(key))
    if number is None:
        refuse(event, SHAPE, f'"{key}" is not a count')
    return number


def need_positive(event: Event, fields: Mapping[str, Any], key: str) -> int:
    """Return a count of at least 1 that the payload must have."""
    number = positive(fields.get(key))
    if number is None:
        refuse(event, SHAPE, f'"{key}" is not a positive integer')
    return number


def seq_list(value: object) -> list[int] | None:
    """Return value if it is a list of distinct counts, else None."""
    items = as_array(value)
    if items is not value:
        return None
    seqs = [count(item) for item in items]
    found = [seq for seq in seqs if seq is not None]
    return found if len(found) == len(seqs) == len(set(found)) else None


def check_envelope(event: Event) -> None:
    """Refuse an envelope that dsh would refuse (session-format §2.4)."""
    kind = event.type
    known = kind in KNOWN_TYPES
    if not kind:
        refuse(event, SHAPE, "the type is empty")
    if kind in _RETIRED and not event.ignorable:
        refuse(event, SHAPE, "this type is retired")
    if not -MAX_SAFE_INTEGER <= event.time <= MAX_SAFE_INTEGER:
        refuse(event, SHAPE, "the time is out of range")
    if not known:
        return
    if not isinstance(event.data, dict):
        refuse(event, SHAPE, "the payload is not an object")
    if kind not in SURFACE_TYPES:
        if event.surface_op is not None:
            refuse(event, SHAPE, "a log-only event has no surfaceOp")
        if event.source_event_seqs is not None:
            refuse(event, SHAPE, "a log-only event cites no other events")
        return
    _check_surface_op(event)
    _check_sources(event)


def _check_surface_op(event: Event) -> None:
    operation = event.surface_op
    if operation is None:
        refuse(event, SHAPE, "surfaceOp is missing")
    if operation == "append":
        return
    fields = as_object(operation)
    start, end = count(fields.get("startSeq")), count(fields.get("endSeq"))
    if len(fields) != 3 or fields.get("op") != "replace" or start is None or end is None:
        refuse(event, SHAPE, "surfaceOp is neither append nor a replacement")
    if start >= event.seq or end >= event.seq:
        refuse(event, SHAPE, "a replacement covers earlier events only")


def _check_sources(event: Event) -> None:
    cited = event.source_event_seqs
    if cited is None:
        return
    if event.type == "assistant/message":
        refuse(event, SHAPE, "an assistant message cites no other events")
    if not cited:
        refuse(event, SHAPE, "sourceEventSeqs is empty")
    if len(set(cited)) != len(cited):
        refuse(event, SHAPE, "sourceEventSeqs names an event twice")
    if min(cited) < 0 or max(cited) >= event.seq:
        refuse(event, SHAPE, "sourceEventSeqs names an event that is not earlier")


def check_message(event: Event, message: Mapping[str, Any], role: str) -> None:
    """Refuse a message without identity or with blocks that its role cannot have (rule 21, §4.1)."""
    identity = message.get("id")
    if not isinstance(identity, str) or not identity:
        refuse(event, IDENTITY, "the message has no id")
    if message.get("role") != role:
        refuse(event, IDENTITY, f"the message's role is not {role}")
    kind = as_object(message.get("source")).get("kind")
    if not isinstance(kind, str) or not kind:
        refuse(event, IDENTITY, "the message's source has no kind")
    if kind == "plugin":
        refuse(event, SHAPE, 'the source kind "plugin" is retired')
    content = as_array(message.get("content"))
    if content is not message.get("content"):
        refuse(event, IDENTITY, "the message's content is not a list")
    for block in content:
        _check_block(event, as_object(block), role)


def _check_block(event: Event, block: Mapping[str, Any], role: str) -> None:
    kind = block.get("type")
    if not isinstance(kind, str) or not kind:
        refuse(event, IDENTITY, "a content block has no type")
    if kind == "tool-result":
        refuse(event, SHAPE, "a tool-result block is retired")
    if kind in _TOOL_CHANGES:
        if role != "developer":
            refuse(event, SHAPE, f"a {kind} block stands outside a developer message")
        need_text(event, block, "toolName")
        if "tool" in block or "definition" in block:
            refuse(event, SHAPE, f"a {kind} block carries a definition")
    elif kind in ("text", "reasoning"):
        if not isinstance(block.get("text"), str):
            refuse(event, SHAPE, f"a {kind} block has no text")
    elif kind == "tool-call":
        need_text(event, block, "id", "name")
        if not isinstance(block.get("arguments"), str):
            refuse(event, SHAPE, "the arguments of a tool-call block are not a string")
    if role == "system" and kind != "text":
        refuse(event, SHAPE, "a system message holds text alone")


def _surface_message(event: Event) -> None:
    data = as_object(event.data)
    message = data if event.type == "user/message" else as_object(data.get("message"))
    check_message(event, message, _ROLES[event.type])


def _assistant_message(event: Event) -> None:
    _surface_message(event)
    if not isinstance(as_object(event.data).get("stream"), list):
        refuse(event, SHAPE, '"stream" is not a list')


def _assistant_attempt(event: Event) -> None:
    if not isinstance(as_object(event.data).get("stream"), list):
        refuse(event, SHAPE, '"stream" is not a list')


def _tool_result(event: Event) -> None:
    _surface_message(event)
    data = as_object(event.data)
    message = as_object(data.get("message"))
    need_text(event, message, "toolCallId")
    source = as_object(message.get("source"))
    if source.get("kind") != "tool" or source.get("callId") != message["toolCallId"]:
        refuse(event, SHAPE, "the source of a tool result does not name its call")
    if not isinstance(message.get("isError", False), bool):
        refuse(event, SHAPE, '"isError" is neither true nor false')
    if "error" in data:
        if message.get("isError") is not True:
            refuse(event, SHAPE, '"error" without isError')
        need_text(event, as_object(data["error"]), "name", "code")


def _tool_call(event: Event) -> None:
    data = as_object(event.data)
    need_text(event, data, "callId", "name")
    if not isinstance(data.get("arguments"), str):
        refuse(event, SHAPE, '"arguments" is not a string')


def _turn_end(event: Event) -> None:
    reason = as_object(as_object(event.data).get("reason"))
    need_text(event, reason, "kind")
    if reason["kind"] == "error":
        need_text(event, as_object(reason.get("error")), "message", "code")


def _request_header(event: Event) -> None:
    data = as_object(event.data)
    header = as_object(data.get("header"))
    if "system" in header:
        refuse(event, SHAPE, "a system prompt in a request header is retired")
    config = as_object(header.get("config"))
    _check_config(event, config)
    if "adapterDefaults" in header:
        flags = as_object(header["adapterDefaults"])
        if not flags or any(
            key not in _CALL_DEFAULTS or flag is not True or key not in config for key, flag in flags.items()
        ):
            refuse(event, SHAPE, '"adapterDefaults" is empty or marks what is no adapter default')
    if "tools" in header:
        tools = as_array(header["tools"])
        if not tools:
            refuse(event, SHAPE, '"tools" is empty or no list')
        for tool in tools:
            _check_tool(event, as_object(tool))
    if as_text(data.get("reason")) not in _HEADER_REASONS:
        refuse(event, SHAPE, "the reason of the header is unknown")
    if "startsSeries" in data and data["startsSeries"] is not True:
        refuse(event, SHAPE, '"startsSeries" is not true')


def _check_config(event: Event, config: Mapping[str, Any]) -> None:
    need_text(event, config, "provider", "model")
    if "reasoningEffort" in config:
        need_text(event, config, "reasoningEffort")
    if "maxTokens" in config:
        need_positive(event, config, "maxTokens")
    temperature = config.get("temperature", 0)
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)):
        refuse(event, SHAPE, '"temperature" is not a number')
    stop = as_array(config.get("stop"))
    if stop is not config.get("stop", stop) or not all(isinstance(item, str) for item in stop):
        refuse(event, SHAPE, '"stop" is not a list of strings')


def _check_tool(event: Event, tool: Mapping[str, Any]) -> None:
    need_text(event, tool, "name")
    if not isinstance(tool.get("description"), str) or not isinstance(tool.get("parameters"), dict):
        refuse(event, SHAPE, f'the tool "{tool["name"]}" has no description or no parameters')
    if "deferLoading" in tool and tool["deferLoading"] is not True:
        refuse(event, SHAPE, f'"deferLoading" of the tool "{tool["name"]}" is not true')


def _request_context(event: Event) -> None:
    data = as_object(event.data)
    need_text(event, data, "provider", "model")
    if "contextWindow" in data:
        need_positive(event, data, "contextWindow")
    if data.get("systemPromptUpdate", "in-history") != "in-history":
        refuse(event, SHAPE, '"systemPromptUpdate" is unknown')


def _image_offload(event: Event) -> None:
    targets = as_array(as_object(event.data).get("targets"))
    if not targets:
        refuse(event, SHAPE, "there are no targets")
    seqs: set[int] = set()
    for target in targets:
        fields = as_object(target)
        seq, indexes = need_count(event, fields, "seq"), seq_list(fields.get("imageIndexes"))
        if seq in seqs:
            refuse(event, SHAPE, f"seq {seq} is a target twice")
        if not indexes or indexes != sorted(indexes):
            refuse(event, SHAPE, "the image indexes of a target do not increase")
        seqs.add(seq)


def _end_seed(event: Event) -> None:
    data = as_object(event.data)
    if "inherited" in data and data["inherited"] is not True:
        refuse(event, SHAPE, '"inherited" is not true')


def _plan_mode(event: Event) -> None:
    if not isinstance(as_object(event.data).get("active"), bool):
        refuse(event, SHAPE, '"active" is neither true nor false')


SHAPES: Final[Mapping[str, Callable[[Event], None]]] = {
    "system/message": _surface_message,
    "developer/message": _surface_message,
    "user/message": _surface_message,
    "assistant/message": _assistant_message,
    "assistant/attempt": _assistant_attempt,
    "tool/result": _tool_result,
    "tool/call": _tool_call,
    "turn/end": _turn_end,
    "request/header": _request_header,
    "request/context": _request_context,
    "image/offload": _image_offload,
    "session/end-seed": _end_seed,
    "plan/mode": _plan_mode,
}
