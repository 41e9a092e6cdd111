"""One cell of the matrix in full: the definition in force, what it changed, the calls, the tool's history."""

from __future__ import annotations

from typing import Final

from tui.blocks.clean import clean_line
from tui.blocks.copy_text import pretty
from tui.blocks.glyphs import mark
from tui.blocks.layout import (
    NODE_ROWS,
    Layout,
    finished,
    hidden_row,
    indented,
    json_rows,
    label_row,
    plain_signs,
    text_rows,
)
from tui.blocks.matrix_layout import mark_name
from tui.blocks.matrix_words import (
    cell_text,
    column_text,
    event_text,
    failure_text,
    mark_text,
    route_text,
    series_cause_text,
)
from tui.blocks.text import EMPTY, Line, Span, crop, line
from tui.blocks.wording_names import name_text, status_text, tool_title
from tui.nodes.tool_matrix import ToolMatrix
from tui.nodes.trajectory import trajectory_row
from tui.session.tool_definition import ToolDefinition

_CALLS: Final = 40
_PARAMETER_ROWS: Final = 80


def cell_lines(matrix: ToolMatrix, name: str, at: int, layout: Layout) -> list[Line]:
    """Everything there is to say of a cell."""
    column, tr = matrix.column(at), layout.tr
    whole, title = name_text(name), tool_title(name)
    rows = [
        _own(layout, Span(title, "tool bold"), Span(f"  {whole}" if whole != title else "", "faint")),
        _own(layout, Span(cell_text(tr, matrix, name, at), "text")),
        _own(layout, Span(f"{column_text(tr, column)}  {route_text(tr, column)}", "muted")),
    ]
    if failed := failure_text(tr, matrix, at):
        sign = mark("failed", layout.ascii)
        gist = clean_line(trajectory_row(matrix.reading, column.item).gist)
        told = [Span(f"{sign.text} {failed}", sign.role), Span(f"  {gist}" if gist else "", "text")]
        rows.append(crop(line(*told), layout.width))
    series = matrix.series_of(at)
    if series is not None:
        rows.append(_own(layout, Span(series_cause_text(tr, series), "muted")))
    rows += _calls(matrix, name, at, layout)
    rows += _difference(matrix, name, at, layout)
    rows += _definition(matrix, name, at, layout)
    rows += _history(matrix, name, layout)
    return finished(layout, rows)


def _own(layout: Layout, *spans: Span) -> Line:
    """A line of our own words."""
    return line(*plain_signs(layout, spans))


def _heading(layout: Layout, text: str, note: str = "") -> list[Line]:
    return [
        EMPTY,
        crop(_own(layout, Span(text, "heading"), Span(f"  {note}" if note else "", "muted")), layout.width),
    ]


def _calls(matrix: ToolMatrix, name: str, at: int, layout: Layout) -> list[Line]:
    calls, tr = matrix.calls(name, at), layout.tr
    if not calls:
        return []
    rows = _heading(layout, tr.n("{n} call", "{n} calls", len(calls)))
    for call in calls[:_CALLS]:
        if call.item < 0:
            continue
        row = trajectory_row(matrix.reading, call.item)
        sign = mark(row.status or "event", layout.ascii)
        facts = [status_text(tr, row.status), row.error_code and clean_line(row.error_code)]
        if row.duration_ms is not None:
            facts.append(tr.duration(row.duration_ms))
        told = " · ".join(fact for fact in facts if fact)
        facts_row = _own(layout, Span(str(row.seq), "faint"), Span(f"  {told}  ", "muted"))
        spans = [Span(f"{sign.text} ", sign.role), *facts_row.spans, Span(clean_line(row.gist), "text")]
        rows.append(crop(line(*spans), layout.width))
    if len(calls) > _CALLS:
        rows.append(hidden_row(layout, len(calls) - _CALLS))
    return rows


def _definition(matrix: ToolMatrix, name: str, at: int, layout: Layout) -> list[Line]:
    found, tr = matrix.definition(name, at), layout.tr
    if found is None:
        return [
            *_heading(layout, tr.t("Definition")),
            label_row(layout, tr.t("The log has no definition yet.")),
        ]
    is_active = matrix.cell(name, at).state.is_active
    label = tr.t("Definition in force") if is_active else tr.t("Last definition")
    rows = _heading(layout, label, tr.t("header {seq}", seq=matrix.offers.headers[found[0]].seq))
    rows += text_rows(layout, found[1].description, "text", rows=40)
    if found[1].defer_loading:
        rows.append(label_row(layout, tr.t("declared as deferred")))
    return [*rows, *json_rows(layout, found[1].parameters, rows=_PARAMETER_ROWS)]


def _difference(matrix: ToolMatrix, name: str, at: int, layout: Layout) -> list[Line]:
    now, before = matrix.definition(name, at), matrix.definition_before(name, at)
    if now is None or before is None:
        return []
    tr, headers = layout.tr, matrix.offers.headers
    note = tr.t("header {before} → {after}", before=headers[before[0]].seq, after=headers[now[0]].seq)
    rows = _heading(layout, tr.t("Difference from the definition before"), note)
    return [*rows, *definition_diff(layout, before[1], now[1])]


def definition_diff(layout: Layout, before: ToolDefinition, after: ToolDefinition) -> list[Line]:
    """Two definitions line by line."""
    from tui.blocks.diff import diff_lines

    width = max(layout.width - 2, 1)
    rows = [indented(row, 2) for row in diff_lines(pretty(before.to_json()), pretty(after.to_json()), width)]
    if len(rows) <= NODE_ROWS // 2 or layout.full:
        return rows
    kept = NODE_ROWS // 2 - 1
    return [*rows[:kept], hidden_row(layout, len(rows) - kept)]


def _history(matrix: ToolMatrix, name: str, layout: Layout) -> list[Line]:
    happened, tr = matrix.happened(name), layout.tr
    if not happened:
        return []
    rows = _heading(layout, tr.t("What happened to this tool"))
    for each in happened:
        sign = mark(mark_name(each.mark), layout.ascii)
        place = event_text(tr, matrix, each) or mark_text(tr, each.mark)
        told = [Span(f"{sign.text} ", sign.role), Span(place, "text")]
        rows.append(_own(layout, *told, Span("  "), Span(tr.t("header {seq}", seq=each.seq), "faint")))
    return rows
