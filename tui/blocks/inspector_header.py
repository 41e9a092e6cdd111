"""Diff and Tools tabs: what a request header changed tool by tool, its definitions, and the text of a prompt.

Tools are compared by name, never by their place in the list: a diff shows what happened to each tool.
"""

from __future__ import annotations

from typing import Final

from tui.blocks.clean import clean_line
from tui.blocks.copy_text import pretty
from tui.blocks.glyphs import mark
from tui.blocks.layout import NODE_ROWS, Layout, hidden_row, indented, json_rows, label_row, text_rows
from tui.blocks.text import EMPTY, Line, Span, crop, line
from tui.blocks.wording import tool_title
from tui.blocks.wording_names import name_text, setting_name
from tui.nodes.chat_nodes import content_of, message_of
from tui.nodes.reading import Reading
from tui.nodes.trajectory import TrajectoryRow
from tui.nodes.trajectory_index import RowKind
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_object, as_text
from tui.session.tool_changes import HeaderEntry
from tui.session.tool_definition import ToolDefinition, by_name


def header_at(reading: Reading, seq: int) -> HeaderEntry | None:
    """The request header of a number."""
    return next((entry for entry in reversed(reading.tools.headers) if entry.seq == seq), None)


def header_before(reading: Reading, seq: int) -> HeaderEntry | None:
    """The request header before the one of a number; None at the first."""
    return next((entry for entry in reversed(reading.tools.headers) if entry.seq < seq), None)


def header_diff_rows(reading: Reading, row: TrajectoryRow, layout: Layout) -> list[Line]:
    """What a header changed: tools added, removed and redefined, their order, the settings."""
    tr = layout.tr
    seq = row.seq if row.seq is not None else -1
    now, before = header_at(reading, seq), header_before(reading, seq)
    if now is None or before is None:
        return [label_row(layout, tr.t("There is no header before this one."), indent=0)]
    new, old = by_name(now.tools), by_name(before.tools)
    rows = [label_row(layout, tr.t("compared with header {seq}", seq=before.seq), indent=0)]
    for name, tool in new.items():
        if name not in old:
            rows += [EMPTY, _title(layout, "added", name, tr.t("added")), *_description(layout, tool)]
            rows += _signature(layout, tool)
    for name, tool in old.items():
        if name not in new:
            rows += [EMPTY, _title(layout, "removed", name, tr.t("removed")), *_description(layout, tool)]
    for name, tool in new.items():
        if name in old and old[name] != tool:
            rows += [EMPTY, _title(layout, "redefined", name, tr.t("redefined"))]
            rows += _diff(layout, pretty(old[name].to_json()), pretty(tool.to_json()))
    if row.header_notice is not None and row.header_notice.reordered:
        rows += [EMPTY, label_row(layout, tr.t("The tools that stayed stand in another order."), indent=0)]
    rows += _settings(reading, before.seq, seq, layout)
    if len(rows) == 1:
        rows.append(label_row(layout, tr.t("Nothing differs."), indent=0))
    return rows


def header_tool_rows(reading: Reading, row: TrajectoryRow, layout: Layout) -> list[Line]:
    """Every tool of a header with its definition; what is new or changed is marked."""
    tr = layout.tr
    seq = row.seq if row.seq is not None else -1
    now, before = header_at(reading, seq), header_before(reading, seq)
    if now is None or not now.tools:
        return [label_row(layout, tr.t("This header has no tools."), indent=0)]
    old = by_name(before.tools) if before is not None else None
    rows = [label_row(layout, tr.n("{n} tool", "{n} tools", len(now.tools)), indent=0)]
    for tool in now.tools:
        what, told = "tool", ""
        if old is not None and tool.name not in old:
            what, told = "added", tr.t("added")
        elif old is not None and old[tool.name] != tool:
            what, told = "redefined", tr.t("redefined")
        rows += [EMPTY, _title(layout, what, tool.name, told), *_description(layout, tool)]
        rows += _parameters(layout, tool)
    return rows


def prompt_diff_rows(reading: Reading, row: TrajectoryRow, layout: Layout) -> list[Line]:
    """What a system message changed against the prompt before it."""
    text = _prompt(reading, row.row)
    before = _prompt_before(reading, row.index)
    if before is None:
        label = label_row(layout, layout.tr.t("There is no system prompt before this one."), indent=0)
        return [label, EMPTY, *text_rows(layout, text, "diff-add", indent=[Span("+ ", "diff-add")])]
    if before == text:
        return [label_row(layout, layout.tr.t("Nothing differs."), indent=0)]
    return _diff(layout, before, text, indent=0)


def _prompt(reading: Reading, row: int) -> str:
    return content_of(message_of(reading.log.event(row)).get("content")).text


def _prompt_before(reading: Reading, index: int) -> str | None:
    columns = reading.trajectory.index
    for found in range(index - 1, -1, -1):
        if columns.kinds[found] == RowKind.SYSTEM:
            return _prompt(reading, columns.rows[found])
    return None


def _title(layout: Layout, what: str, name: str, told: str) -> Line:
    sign = mark(what, layout.ascii)
    spans = [Span(f"{sign.text} ", sign.role), Span(tool_title(name), f"{sign.role} bold")]
    if told:
        spans.append(Span(f" · {told}", sign.role))
    whole = name_text(name)
    return crop(line(*spans, Span(f"  {whole}" if whole != tool_title(name) else "", "faint")), layout.width)


def _description(layout: Layout, tool: ToolDefinition) -> list[Line]:
    rows = text_rows(layout, tool.description, "text", rows=40) if tool.description.strip() else []
    if tool.defer_loading:
        rows.append(label_row(layout, layout.tr.t("declared as deferred")))
    return rows


def _signature(layout: Layout, tool: ToolDefinition) -> list[Line]:
    """The parameters of a tool, one a row; a schema of another shape as JSON."""
    schema = as_object(tool.parameters)
    properties = as_object(schema.get("properties"))
    if schema.get("type") != "object" or not properties:
        return _parameters(layout, tool) if properties or set(schema) - _NO_PARAMETERS else []
    tr = layout.tr
    required = set(map(str, as_array(schema.get("required"))))
    rows: list[Line] = []
    for name, value in properties.items():
        parameter = as_object(value)
        kind = parameter.get("type")
        facts = [name_text(kind) if isinstance(kind, str) else name_text(compact(kind)) if kind else ""]
        facts.append(tr.t("required") if name in required else tr.t("optional"))
        spans = [Span("  "), Span(name_text(name), "code-name"), Span("  ")]
        spans.append(Span(tr.join([fact for fact in facts if fact]), "muted"))
        told = clean_line(as_text(parameter.get("description"))[:1000])
        rows.append(crop(line(*spans, Span(f"  {told}" if told else "", "text")), layout.width))
    return rows


_NO_PARAMETERS: Final = frozenset({"type", "properties", "required", "additionalProperties"})


def _parameters(layout: Layout, tool: ToolDefinition) -> list[Line]:
    return json_rows(layout, tool.parameters, rows=80) if tool.parameters else []


def _diff(layout: Layout, old: str, new: str, *, indent: int = 2) -> list[Line]:
    from tui.blocks.diff import diff_lines

    rows = [indented(each, indent) for each in diff_lines(old, new, max(layout.width - indent, 1))]
    if len(rows) <= NODE_ROWS or layout.full:
        return rows
    return [*rows[: NODE_ROWS - 1], hidden_row(layout, len(rows) - NODE_ROWS + 1, indent=indent)]


def _settings(reading: Reading, before: int, seq: int, layout: Layout) -> list[Line]:
    """Settings that differ, old and new value."""
    old, new = _config(reading, before), _config(reading, seq)
    rows: list[Line] = []
    for key in {**old, **new}:
        had, has = (compact(c[key]) if key in c else "–" for c in (old, new))
        if had == has:
            continue
        told = f"{name_text(had)} → {name_text(has)}"
        spans = [Span(f"{setting_name(layout.tr, key)}  ", "header"), Span(told, "text")]
        rows.append(crop(line(*spans), layout.width))
    return [EMPTY, label_row(layout, layout.tr.t("settings"), indent=0), *rows] if rows else []


def _config(reading: Reading, seq: int) -> dict[str, object]:
    row = reading.log.row_of_seq(seq)
    header = as_object(as_object(reading.log.event(row).data).get("header")) if row is not None else {}
    config: dict[str, object] = dict(as_object(header.get("config")))
    if "adapterDefaults" in header:
        config["adapterDefaults"] = header["adapterDefaults"]
    return config
