"""What a search looks at: the words that people see of one node or record.

Values of events count (texts, arguments, results, names, codes), keys and ids do not; the ids only for a
query that is one. The pieces in which an answer was streamed are left out: the answer itself holds them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from tui.nodes.chat_index import Flag, NodeKind
from tui.nodes.chat_nodes import header_notice_at, message_of, notice_at, partial_text
from tui.nodes.reading import Reading
from tui.nodes.trajectory_index import RowFlag, RowKind
from tui.session.events import DAMAGE_TYPE, Event
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_object, as_text


class Place(NamedTuple):
    """Something to be found: a trajectory row, its chat node (-1 for none), and the row of the log."""

    trajectory: int
    chat: int
    row: int


UNSENT: Final = Flag.CUT | Flag.ABSENT
"""Flags of prompts that were taken back or still wait; the model never saw them."""
_ID_KEYS: Final = re.compile(r"(?:^|[a-z])[iI]ds?$|[sS]eqs?$|^sha256$|[hH]ash$")
_DULL_KEYS: Final = frozenset(("type", "role", "stream", "usage", "surfaceOp", "op", "form"))
_SEEN_IDS: Final = frozenset(("requestId",))
_SEEN_NUMBERS: Final = frozenset(("status", "exitCode"))
_ARGUMENTS_PARSED: Final = 4 << 20


def strings(value: Any, *, ids: bool = False) -> Iterator[str]:
    """The texts of a JSON value in no particular order; keys only of arguments and of schemas' properties."""
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            todo.extend(cast("list[Any]", item))
        elif isinstance(item, dict):
            for key, member in cast("dict[str, Any]", item).items():
                yield from _member(key, member, ids, todo)


def _member(key: str, member: Any, ids: bool, todo: list[Any]) -> Iterator[str]:
    """What one member of an object says at once; the rest is put on `todo`."""
    if key == "arguments":
        yield from argument_texts(member)
    elif key in _SEEN_NUMBERS and isinstance(member, (int, float)):
        yield str(member)
    elif key in _DULL_KEYS:
        return
    elif isinstance(member, str):
        if ids or key in _SEEN_IDS or not _ID_KEYS.search(key):
            yield member
    elif isinstance(member, (dict, list)):
        if key == "properties" and isinstance(member, dict):
            yield " ".join(cast("dict[str, Any]", member))
        todo.append(member)


def argument_texts(arguments: Any) -> Iterator[str]:
    """A call's arguments as the model wrote them, and with their escapes undone."""
    if not isinstance(arguments, str):
        if arguments is not None:
            yield compact(arguments)
            yield from strings(arguments, ids=True)
        return
    yield arguments
    if "\\" not in arguments or len(arguments) > _ARGUMENTS_PARSED:
        return
    try:
        yield from strings(json.loads(arguments), ids=True)
    except (ValueError, RecursionError):
        return


def place_texts(reading: Reading, place: Place, *, ids: bool = False) -> Iterator[str]:
    """Every text of a place."""
    if place.chat < 0:
        yield from _row_texts(reading, place, ids)
        return
    columns, log = reading.chat.index, reading.log
    node = place.chat
    row, mid, end = columns.rows[node], columns.mids[node], columns.ends[node]
    match columns.kinds[node]:
        case NodeKind.ASSISTANT | NodeKind.REASONING:
            yield from strings(_block(reading, node), ids=ids)
        case NodeKind.TOOL:
            if log.type_name(row) == "assistant/message":
                yield from strings(_block(reading, node), ids=ids)
            elif mid < 0 and end != row:
                yield from strings(log.event(row).data, ids=ids)
            for later in dict.fromkeys((mid, end)):
                yield from _event_texts(reading, later, ids)
        case NodeKind.USER:
            if columns.flags[node] & UNSENT:
                inserted = as_array(as_object(log.event(mid).data).get("inserted")) if mid >= 0 else []
                yield from strings(inserted[columns.blocks[node] : columns.blocks[node] + 1], ids=ids)
            else:
                yield from strings(message_of(log.event(row)).get("content"), ids=ids)
        case NodeKind.UNKNOWN | NodeKind.DAMAGE:
            yield from _row_texts(reading, place, ids)
        case NodeKind.RETRY | NodeKind.FAILURE | NodeKind.INTERRUPTED:
            # Each attempt of a chain is a place of its own.
            yield from _event_texts(reading, place.row, ids)
        case _:
            yield from _notice_texts(reading, row)
            for part in dict.fromkeys((row, mid, end)):
                yield from _event_texts(reading, part, ids)


def tool_names(reading: Reading, place: Place) -> Iterator[str]:
    """The tools that a place is about: the called one, or those that a change names."""
    columns, rows = reading.chat.index, reading.trajectory.index
    if place.chat >= 0 and columns.kinds[place.chat] == NodeKind.TOOL:
        if reading.log.type_name(columns.rows[place.chat]) == "assistant/message":
            yield as_text(as_object(_block(reading, place.chat)).get("name"))
        for row in (columns.mids[place.chat], columns.ends[place.chat], columns.rows[place.chat]):
            if row >= 0:
                yield as_text(as_object(reading.log.event(row).data).get("name"))
    elif rows.flags[place.trajectory] & RowFlag.TOOL_CHANGE:
        seq = reading.log.seq(place.row)
        notice = notice_at(reading, seq)
        if notice is not None:
            yield from (tool.name for tool in (*notice.added, *notice.removed))
        else:
            yield from (tool.name for tool in header_notice_at(reading, seq).redefined)


def _row_texts(reading: Reading, place: Place, ids: bool) -> Iterator[str]:
    rows = reading.trajectory.index
    damage = reading.log.damage_at(place.row)
    if damage is not None:
        yield f"{damage.code} {damage.reason}"
    if reading.log.type_name(place.row) == DAMAGE_TYPE:
        yield reading.log.raw(place.row).decode("utf-8", "replace")
        return
    at = place.trajectory
    if rows.kinds[at] in (RowKind.EVENT, RowKind.BOOKKEEPING, RowKind.TURN, RowKind.UNKNOWN):
        yield reading.log.type_name(place.row)
    own = rows.rows[at] == place.row
    for row in dict.fromkeys((place.row, *((rows.mids[at], rows.ends[at]) if own else ()))):
        yield from _event_texts(reading, row, ids)


def _event_texts(reading: Reading, row: int, ids: bool) -> Iterator[str]:
    if row < 0:
        return
    event = reading.log.event(row)
    if event.type == "assistant/attempt":
        yield partial_text(event)
        yield from strings([as_object(chunk).get("chunk") for chunk in _stream_end(event)], ids=ids)
        return
    if event.type == "tool/result":
        data = as_object(event.data)
        yield from strings([as_object(data.get("message")).get("content"), data.get("error")], ids=ids)
        if ids:
            yield from strings(data.get("message"), ids=True)
        return
    yield from strings(event.data, ids=ids)


def _stream_end(event: Event) -> list[Any]:
    """The last records of a stream: they say why it ended."""
    return as_array(as_object(event.data).get("stream"))[-2:]


def _notice_texts(reading: Reading, row: int) -> Iterator[str]:
    if reading.log.type_name(row) != "developer/message":
        return
    notice = notice_at(reading, reading.log.seq(row))
    for tool in (*notice.added, *notice.removed) if notice is not None else ():
        yield tool.name
        yield tool.description
        if tool.definition is not None:
            yield tool.definition.description
            yield from strings({"parameters": tool.definition.parameters}, ids=True)


def _block(reading: Reading, node: int) -> Any:
    columns = reading.chat.index
    blocks = as_array(message_of(reading.log.event(columns.rows[node])).get("content"))
    at = columns.blocks[node]
    return blocks[at] if at < len(blocks) else None
