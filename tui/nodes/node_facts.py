"""What all chat nodes are made from: their place, their flags, their events.

The common ground of the node builders (`chat_nodes`, `tool_nodes`).
"""

from __future__ import annotations

from typing import Any

from tui.nodes.chat_index import Flag
from tui.nodes.reading import Reading
from tui.session.events import Event
from tui.session.json_value import as_object


def base_facts(reading: Reading, index: int) -> dict[str, Any]:
    """The members that every node has."""
    columns, log = reading.chat.index, reading.log
    row = columns.rows[index]
    seq, time = log.seq(row), log.time(row)
    return {
        "index": index,
        "row": row,
        "block": columns.blocks[index],
        "seq": seq if seq >= 0 else None,
        "turn": reading.turn_number(columns.turns[index]),
        "step": columns.steps[index] or None,
        "time_ms": time or None,
        "replaced": bool(columns.flags[index] & Flag.REPLACED),
        "repeated": log.is_repeat(row),
        "fault": log.damage_at(row, columns.mids[index], columns.ends[index]),
    }


def flags_of(reading: Reading, index: int) -> int:
    """The bits of `chat_index.Flag`."""
    return reading.chat.index.flags[index]


def first_event(reading: Reading, index: int) -> Event:
    """The event that a node begins with."""
    return reading.log.event(reading.chat.index.rows[index])


def later_event(reading: Reading, row: int) -> Event | None:
    """The event of a row; None for -1."""
    return reading.log.event(row) if row >= 0 else None


def data_of(event: Event | None) -> dict[str, Any]:
    """The payload of an event as an object; empty for none."""
    return as_object(event.data) if event is not None else {}
