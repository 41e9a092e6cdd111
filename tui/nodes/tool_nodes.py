"""Making the node of a tool call: what was asked, what came of it, and whether the tool was there."""

from __future__ import annotations

from typing import Any, Literal

from tui.nodes.chat import ToolNode, ToolState
from tui.nodes.chat_index import Flag
from tui.nodes.content import content_of, foreign_chunks_at, message_of, span_ms
from tui.nodes.node_facts import base_facts, data_of, flags_of, later_event
from tui.nodes.reading import Reading
from tui.session.events import Event
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_object, as_text

Availability = Literal["active", "fresh", "restored", "removed", "not-yet", "unknown"]


def tool_node(reading: Reading, index: int) -> ToolNode:
    """The call at a position among the chat nodes."""
    if flags_of(reading, index) & Flag.MARKED:
        return _nested_tool(reading, index)
    columns, log = reading.chat.index, reading.log
    row, mid, end = columns.rows[index], columns.mids[index], columns.ends[index]
    first = log.event(row)
    call = later_event(reading, mid)
    result = later_event(reading, end)
    position = columns.blocks[index]
    blocks = as_array(message_of(first).get("content")) if first.type == "assistant/message" else []
    block = as_object(blocks[position]) if position < len(blocks) else {}
    called = data_of(call) or cited_call(reading, result)
    message = as_object(data_of(result).get("message"))
    error = as_object(data_of(result).get("error"))
    base = base_facts(reading, index)
    if mid >= 0:
        base["seq"] = log.seq(mid)
    name = as_text(block.get("name")) or as_text(called.get("name"))
    availability, availability_seq = _availability(reading, index, name)
    return ToolNode(
        **base,
        name=name,
        call_id=as_text(block.get("id"))
        or as_text(called.get("callId"))
        or as_text(message.get("toolCallId")),
        arguments=as_text(block.get("arguments")) or as_text(called.get("arguments")),
        state=_tool_state(reading, index),
        result=content_of(message.get("content")),
        error_code=as_text(error.get("code")),
        error_name=as_text(error.get("name")),
        duration_ms=span_ms(log.time(mid), log.time(end)) if mid >= 0 and end >= 0 else None,
        availability=availability,
        availability_seq=availability_seq,
        shortened=bool(flags_of(reading, index) & Flag.SHORTENED),
        foreign_chunks=foreign_chunks_at(first, position),
    )


def cited_call(reading: Reading, result: Event | None) -> dict[str, Any]:
    """The call that a result without one of its own cites: it was answered before, or lies in damage."""
    for seq in (result.source_event_seqs or ())[:1] if result is not None else ():
        for row in reading.log.rows_of_seq(seq):
            if reading.log.type_name(row) == "tool/call":
                return data_of(reading.log.event(row))
    return {}


def _nested_tool(reading: Reading, index: int) -> ToolNode:
    columns, log = reading.chat.index, reading.log
    start, end = columns.mids[index], columns.ends[index]
    begun, ended = data_of(later_event(reading, start)), data_of(later_event(reading, end))
    facts = begun or ended
    error = as_object(ended.get("error"))
    arguments = facts.get("arguments")
    return ToolNode(
        **base_facts(reading, index),
        name=as_text(facts.get("name")),
        call_id=as_text(facts.get("subCallId")),
        arguments="" if arguments is None else compact(arguments),
        state=_tool_state(reading, index),
        result=content_of(ended.get("content")),
        error_code=as_text(error.get("code")),
        error_name=as_text(error.get("name")),
        duration_ms=span_ms(log.time(start), log.time(end)) if start >= 0 and end >= 0 else None,
        parent_call_id=as_text(facts.get("parentCallId")) or None,
        nested=True,
    )


def _tool_state(reading: Reading, index: int) -> ToolState:
    flags, columns = flags_of(reading, index), reading.chat.index
    if flags & Flag.DONE:
        return "error" if flags & Flag.ERROR else "ok"
    if not reading.complete and reading.turns.is_running(columns.turns[index]):
        return "running"
    return "no-result" if columns.mids[index] >= 0 else "not-started"


def _availability(reading: Reading, index: int, name: str) -> tuple[Availability, int | None]:
    """Whether the tool was there when it was called, and the event that says so."""
    flags = flags_of(reading, index)
    if not flags & (Flag.ABSENT | Flag.FRESH):
        return "active", None
    row = reading.chat.index.rows[index]
    told = reading.tools.availability(name, reading.log.seq(row))
    if flags & Flag.FRESH:
        change = reading.tools.change_at(told.seq) if told.seq is not None else None
        is_back = change is not None and name in change.restored
        return "restored" if is_back else "fresh", told.seq
    return (told.state if told.state != "active" else "unknown"), told.seq
