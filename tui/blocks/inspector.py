"""The inspector: everything about one trajectory row, under tabs that exist where they say something.

Summary gives the facts, Preview what the record says, Raw the events as they stand in the log, Diff what a
header or prompt changed, Tools the definitions of a header.
"""

from __future__ import annotations

from typing import Final

from tui.blocks.copy_text import pretty
from tui.blocks.inspector_facts import summary_rows
from tui.blocks.inspector_header import header_before, header_diff_rows, header_tool_rows, prompt_diff_rows
from tui.blocks.layout import NODE_ROWS, Layout, finished, json_rows, label_row, markdown_rows, text_rows
from tui.blocks.notice_body import notice_rows
from tui.blocks.text import EMPTY, Line, Span, line
from tui.blocks.tool_body import attachment_row, content_rows, foreign_rows, value_rows
from tui.blocks.wording import notice_title
from tui.blocks.wording_names import name_text, tool_title
from tui.nodes.chat_nodes import content_of, message_of, partial_text
from tui.nodes.reading import Reading
from tui.nodes.trajectory import TrajectoryRow, trajectory_row
from tui.nodes.trajectory_index import RowKind
from tui.session.events import DAMAGE_TYPE, decode_json
from tui.session.json_value import as_array, as_object, as_text

TABS: Final = ("summary", "preview", "raw", "diff", "tools")
_PREVIEWED: Final = frozenset(
    {
        RowKind.SYSTEM,
        RowKind.USER,
        RowKind.CONTEXT,
        RowKind.ASSISTANT,
        RowKind.TOOL,
        RowKind.COMPACTION,
        RowKind.RETRY,
        RowKind.FAILURE,
    }
)


def tabs_of(reading: Reading, index: int) -> tuple[str, ...]:
    """The tabs that a row has, in order."""
    kind = RowKind(reading.trajectory.index.kinds[index])
    tabs = ["summary"]
    if kind in _PREVIEWED:
        tabs.append("preview")
    if kind == RowKind.HEADER:
        if header_before(reading, reading.log.seq(reading.trajectory.index.rows[index])) is not None:
            tabs.append("diff")
        tabs.append("tools")
    if kind == RowKind.SYSTEM:
        tabs.append("diff")
    return tuple(tab for tab in TABS if tab in tabs or tab == "raw")


def inspect(reading: Reading, index: int, tab: str, layout: Layout) -> list[Line]:
    """The rows of one tab of a row; an unknown tab gives the summary."""
    row = trajectory_row(reading, index)
    match tab:
        case "preview":
            rows = _preview(reading, row, layout)
        case "raw":
            rows = _raw(reading, index, layout)
        case "diff":
            rows = (
                prompt_diff_rows(reading, row, layout)
                if row.kind == "system"
                else header_diff_rows(reading, row, layout)
            )
        case "tools":
            rows = header_tool_rows(reading, row, layout)
        case _:
            rows = summary_rows(reading, row, layout)
    return finished(layout, rows, limit=20 * NODE_ROWS) or [EMPTY]


def _preview(reading: Reading, row: TrajectoryRow, layout: Layout) -> list[Line]:
    event = reading.log.event(row.row)
    match row.kind:
        case "assistant" if row.title == "attempt":
            return text_rows(layout, row.gist, "error", indent=()) + _partial(layout, partial_text(event))
        case "assistant":
            return _answer(layout, as_array(message_of(event).get("content")))
        case "tool":
            return _call(reading, row, layout)
        case "compaction":
            mid = reading.trajectory.index.mids[row.index]
            summary = as_object(reading.log.event(mid).data) if mid >= 0 else {}
            text = content_of(summary.get("summary")).text or row.gist
            return markdown_rows(layout, text, indent=0)
        case "retry" | "failure":
            return _failure(reading, row, layout)
        case _:
            content = content_of(message_of(event).get("content"))
            rows: list[Line] = []
            if row.tool_notice is not None:
                rows = [line(Span(notice_title(layout.tr, row.tool_notice), "accent bold"))]
                rows += notice_rows(layout, row.tool_notice)
                if not (content.text or content.foreign or content.attachments):
                    return rows
            return rows + content_rows(layout, content, indent=0, rows=NODE_ROWS)


def _answer(layout: Layout, blocks: list[object]) -> list[Line]:
    tr = layout.tr
    rows: list[Line] = []
    for entry in blocks:
        block = as_object(entry)
        kind, text = as_text(block.get("type")), as_text(block.get("text"))
        rows += [EMPTY] if rows else []
        if kind == "reasoning":
            rows.append(label_row(layout, tr.t("reasoning"), indent=0))
            rows += text_rows(layout, text, "reasoning", indent=())
        elif kind == "text":
            rows += markdown_rows(layout, text, indent=0)
        elif kind == "tool-call":
            rows.append(line(Span(tool_title(as_text(block.get("name"))), "tool bold")))
            rows += value_rows(layout, as_text(block.get("arguments")), "text", indent=2)
        else:
            content = content_of([entry])
            rows += [attachment_row(layout, each, indent=0) for each in content.attachments]
            for foreign in content.foreign:
                rows += foreign_rows(layout, foreign, indent=0)
    return rows or [label_row(layout, tr.t("The answer has no content"), indent=0)]


def _call(reading: Reading, row: TrajectoryRow, layout: Layout) -> list[Line]:
    tr = layout.tr
    end = reading.trajectory.index.ends[row.index]
    called = as_object(reading.log.event(row.row).data).get("arguments")
    result = as_object(reading.log.event(end).data) if end >= 0 else {}
    arguments = called if isinstance(called, str) else "" if called is None else pretty(called)
    rows = [label_row(layout, tr.t("arguments"), indent=0)]
    rows += value_rows(layout, arguments or "{}", "text", indent=2, rows=NODE_ROWS)
    rows += [EMPTY, label_row(layout, tr.t("result"), indent=0)]
    if end < 0:
        return [*rows, label_row(layout, tr.t("no result recorded"))]
    content = content_of(as_object(result.get("message")).get("content") or result.get("content"))
    role = "error" if row.status == "error" else "text"
    return rows + content_rows(layout, content, indent=2, role=role, rows=NODE_ROWS)


def _failure(reading: Reading, row: TrajectoryRow, layout: Layout) -> list[Line]:
    data = as_object(reading.log.event(row.row).data)
    reason = as_object(data.get("reason"))
    failure = as_object(data.get("failure")) or as_object(reason.get("error"))
    rows = text_rows(layout, as_text(failure.get("message")) or row.gist, "error", indent=())
    attempt = _attempt_before(reading, row)
    if attempt >= 0:
        rows += _partial(layout, partial_text(reading.log.event(attempt)))
    return rows


def _attempt_before(reading: Reading, row: TrajectoryRow) -> int:
    """The row of the attempt that a failure or retry ended, -1 if none is near."""
    for found in range(row.row - 1, max(-1, row.row - 4), -1):
        if reading.log.type_name(found) == "assistant/attempt":
            return found
    return -1


def _partial(layout: Layout, text: str) -> list[Line]:
    if not text:
        return []
    label = label_row(layout, layout.tr.t("discarded text"), indent=0)
    return [EMPTY, label, *text_rows(layout, text, "muted italic", indent=())]


def _raw(reading: Reading, index: int, layout: Layout) -> list[Line]:
    """The events of a row as the log has them, what cannot be seen written as escapes."""
    columns, log = reading.trajectory.index, reading.log
    found = dict.fromkeys(
        row for row in (columns.rows[index], columns.mids[index], columns.ends[index]) if row >= 0
    )
    rows: list[Line] = []
    for row in found:
        name = name_text(log.type_name(row)) or layout.tr.t("damage")
        seq = log.seq(row)
        told = f"{name} · {layout.tr.t('seq {seq}', seq=seq)}" if seq >= 0 else name
        rows += [EMPTY] if rows else []
        rows.append(line(Span(f"{told} · {layout.tr.size(log.length(row))}", "muted bold")))
        rows += _raw_event(reading, row, layout)
    return rows


def _raw_event(reading: Reading, row: int, layout: Layout) -> list[Line]:
    raw = reading.log.raw(row)
    if reading.log.type_name(row) != DAMAGE_TYPE:
        try:
            return json_rows(layout, decode_json(raw), indent=0, rows=4 * NODE_ROWS)
        except (ValueError, RecursionError):
            pass
    text = raw.decode("utf-8", "replace")
    return text_rows(layout._replace(raw=True), text, "text", indent=(), rows=4 * NODE_ROWS)
