"""The rows of the trajectory as JSON objects (CONTRACT, "JSON", view `trajectory`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tui.blocks.clean import clean_line
from tui.blocks.wording import row_text
from tui.export.chat_json import header_change, tool_change
from tui.export.json_text import named, present
from tui.export.session_facts import damage_entry
from tui.i18n import Translator
from tui.nodes.reading import Reading
from tui.nodes.trajectory import RowUsage, TrajectoryRow, trajectory_row

_WHOLE: Final = 1 << 40
"""More characters than a record has."""


def trajectory_entries(reading: Reading, tr: Translator) -> Iterator[dict[str, Any]]:
    """Yield every row in order, bookkeeping events too, with all that its record says."""
    for index in range(len(reading.trajectory.index)):
        row = trajectory_row(reading, index, whole=True)
        entry = row_entry(row, tr)
        if row.kind == "unknown":
            entry |= present(data=reading.log.event(row.row).data)
        yield entry


def row_entry(row: TrajectoryRow, tr: Translator) -> dict[str, Any]:
    """Return one row."""
    header = row.header_notice
    return {
        "index": row.index,
        "kind": row.kind,
        **present(seq=row.seq, turn=row.turn, step=row.step),
        "title": row.title,
        "text": clean_line(row_text(tr, row, _WHOLE)),
        **present(
            time_ms=row.time_ms,
            started_ms=row.started_ms if row.started_ms is not None else row.time_ms,
            duration_ms=row.duration_ms,
            ttft_ms=row.ttft_ms,
            status=row.status or None,
            usage=usage_entry(row.usage) if row.usage is not None else None,
            request=row.request,
            parent_call_id=row.parent_call_id,
            call_id=row.call_id,
            tool_change=tool_change(row.tool_notice) if row.tool_notice is not None else None,
            header_change=header_change(header) if header is not None and not header.first else None,
            change=row.system_change,
            end_seq=row.end_seq,
            ignorable=row.ignorable,
            damage=damage_entry(row.damage) if row.damage is not None else None,
        ),
        **named(
            type=row.type,
            error_code=row.error_code,
            replaced=row.replaced,
            repeated=row.repeated,
            shortened=row.shortened,
            calls=row.calls,
            chunks=[{"type": chunk.type, "data": chunk.data} for chunk in row.foreign_chunks],
        ),
    }


def usage_entry(usage: RowUsage) -> dict[str, Any]:
    """Return the provider's counts; `input` is the uncached part."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        **present(reasoning=usage.reasoning),
    }
