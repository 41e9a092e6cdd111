"""The tools of a session over time as JSON objects (CONTRACT, "JSON", view `tools`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from tui.export.json_text import present
from tui.nodes.reading import Reading
from tui.session.tool_changes import HeaderChange, HeaderEntry, ToolChange


def header_entries(reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield every request header with the names of its active tools."""
    for header in reading.tools.headers:
        yield _header(header)


def change_entries(reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield every change by seq.

    One for each developer message with tool blocks, and one for each header that changes what no message
    tells: definitions, or names where the log has no message for them.
    """
    told = [change.seq for change in reading.tools.changes]
    entries = [(change.seq, _told(change)) for change in reading.tools.changes]
    headers = reading.tools.header_changes
    for at, header in enumerate(headers):
        until = headers[at + 1].seq if at + 1 < len(headers) else None
        first = bisect_left(told, header.seq)
        has_message = first < len(told) and (until is None or told[first] < until)
        entry = _untold(header, names=not has_message)
        if entry is not None:
            entries.append((header.seq, entry))
    yield from (entry for _, entry in sorted(entries, key=lambda pair: pair[0]))


def series_entries(reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield every start of a request series and its cause."""
    for start in reading.tools.series:
        yield {"start_seq": start.start_seq, "cause": start.cause}


def _header(header: HeaderEntry) -> dict[str, Any]:
    return {
        "seq": header.seq,
        "reason": header.reason,
        **present(turn=header.turn, step=header.step),
        "route": {"provider": header.provider, "model": header.model},
        "active": list(header.active),
    }


def _told(change: ToolChange) -> dict[str, Any]:
    return {
        "seq": change.seq,
        **present(header_seq=change.header_seq if change.added else None, turn=change.turn, step=change.step),
        "added": list(change.added),
        "removed": list(change.removed),
        "restored": list(change.restored),
        "redefined": list(change.redefined),
    }


def _untold(change: HeaderChange, *, names: bool) -> dict[str, Any] | None:
    added, removed = (change.added, change.removed) if names else ((), ())
    if not (added or removed or change.redefined):
        return None
    return {
        "seq": change.seq,
        "header_seq": change.seq,
        **present(turn=change.turn, step=change.step),
        "added": list(added),
        "removed": list(removed),
        "restored": [],
        "redefined": list(change.redefined),
    }
