"""Which tools were active at a point of a session, since when, and which had gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tui.export.json_text import named, present
from tui.nodes.notices import first_line
from tui.nodes.reading import Reading
from tui.session.tool_changes import HeaderEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryTool:
    """One tool at a point of the log."""

    name: str
    state: Literal["active", "removed"]
    description: str
    """First line of the definition that counted last."""
    since_seq: int | None
    """The event that made it what it is."""
    initial: bool = False
    """Active since the first header."""
    restored: bool = False
    redefined: bool = False


def inventory(reading: Reading, at: int | None) -> tuple[InventoryTool, ...]:
    """Return the tools at an event number (None: the end): active ones in header order, then removed ones."""
    headers = [header for header in reading.tools.headers if at is None or header.seq <= at]
    if not headers:
        return ()
    limit = at if at is not None else max(headers[-1].seq, *(c.seq for c in reading.tools.changes), 0)
    restored, redefined = _marks(reading, limit)
    first = headers[0]
    active = headers[-1].active
    known: dict[str, str] = {}
    for header in headers:
        known.update({tool.name: tool.description for tool in header.tools})

    def entry(name: str, state: Literal["active", "removed"]) -> InventoryTool:
        since = reading.tools.availability(name, limit).seq
        return InventoryTool(
            name=name,
            state=state,
            description=first_line(known.get(name, "")),
            since_seq=since,
            initial=state == "active" and since == first.seq,
            restored=state == "active" and name in restored,
            redefined=state == "active" and name in redefined,
        )

    gone = [name for name in known if name not in active]
    return (*(entry(name, "active") for name in active), *(entry(name, "removed") for name in gone))


def header_in_force(reading: Reading, at: int | None) -> HeaderEntry | None:
    """Return the last request header at or before an event number (None: the end)."""
    return next((h for h in reversed(reading.tools.headers) if at is None or h.seq <= at), None)


def inventory_entries(tools: tuple[InventoryTool, ...]) -> Iterator[dict[str, Any]]:
    """Yield the tools as JSON objects."""
    for tool in tools:
        yield {
            "name": tool.name,
            "state": tool.state,
            "description": tool.description,
            **present(since_seq=tool.since_seq),
            **named(initial=tool.initial, restored=tool.restored, redefined=tool.redefined),
        }


def _marks(reading: Reading, limit: int) -> tuple[set[str], set[str]]:
    """Names that came back, and names whose definition changed, up to an event number."""
    restored: set[str] = set()
    redefined: set[str] = set()
    for change in reading.tools.changes:
        if change.seq <= limit:
            restored.update(change.restored)
            redefined.update(change.redefined)
    for change in reading.tools.header_changes:
        if change.seq <= limit:
            redefined.update(change.redefined)
    return restored, redefined
