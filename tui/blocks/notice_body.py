"""The inside of a tool-change notice: which tools came and went, one a row, apart and by server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final

from tui.blocks.cells import cell_len, fit
from tui.blocks.clean import clean_line
from tui.blocks.glyphs import mark
from tui.blocks.layout import GUTTER, Layout, json_rows, plain_signs, text_rows
from tui.blocks.text import Line, Span, crop, line, pad
from tui.blocks.wording_names import name_text
from tui.blocks.wording_notices import tool_marks
from tui.nodes.notices import HeaderNotice, ToolLine, ToolNotice, tool_name

SIDE_BY_SIDE: Final = 90
"""Cells from which added and removed tools stand beside each other."""
_NAME: Final = 32
_LEAST_DESCRIPTION: Final = 16


def notice_rows(layout: Layout, notice: ToolNotice) -> list[Line]:
    """The lists of a notice: side by side where there is room, else below each other."""
    if notice.count == 1:
        return _definition_rows(layout, (notice.added or notice.removed)[0])
    room = layout.width - GUTTER
    tr = layout.tr
    if not (notice.added and notice.removed):
        if notice.added:
            return _behind_gutter(_list(layout, tr.t("added"), "added", notice.added, room))
        return _behind_gutter(_list(layout, tr.t("removed"), "removed", notice.removed, room))
    if layout.width < SIDE_BY_SIDE:
        rows = _list(layout, tr.t("added"), "added", notice.added, room)
        rows += _list(layout, tr.t("removed"), "removed", notice.removed, room)
        return _behind_gutter(rows)
    half = (room - 3) // 2
    left = _list(layout, tr.t("added"), "added", notice.added, half)
    right = _list(layout, tr.t("removed"), "removed", notice.removed, room - 3 - half)
    return _behind_gutter(
        line(*pad(a, half + 3).spans, *b.spans) if b.spans else a
        for a, b in zip_longest(left, right, fillvalue=line())
    )


def redefined_rows(layout: Layout, notice: HeaderNotice) -> list[Line]:
    """The tools that a header defines anew, and those it brings or drops without telling."""
    room = layout.width - GUTTER
    tr = layout.tr
    rows: list[Line] = []
    if notice.redefined:
        rows += _list(layout, tr.t("redefined"), "redefined", notice.redefined, room)
    for kind, title, names in (
        ("added", tr.t("added"), notice.added),
        ("removed", tr.t("removed"), notice.removed),
    ):
        if names:
            rows += _list(layout, title, kind, [ToolLine(name=name, description="") for name in names], room)
    return _behind_gutter(rows)


def _behind_gutter(rows: Iterable[Line]) -> list[Line]:
    return [line(Span("  "), *row.spans) for row in rows]


def _list(layout: Layout, title: str, kind: str, tools: Sequence[ToolLine], width: int) -> list[Line]:
    """A titled list of tools, grouped by server where there are several."""
    rows = [line(Span(fit(title, min(width, cell_len(title))), f"{kind} bold"))]
    groups: dict[str, list[ToolLine]] = {}
    for tool in tools:
        groups.setdefault(tool_name(tool.name).server, []).append(tool)
    column = min(_NAME, max(2, width // 2), max(cell_len(_shown_name(layout, tool)) for tool in tools))
    for server, members in groups.items():
        if len(groups) > 1:
            name = name_text(server) or layout.tr.t("without a server")
            rows.append(crop(line(Span(name, "muted")), width))
        for tool in members:
            rows += _tool_rows(layout, kind, tool, column, width)
    return rows


def _shown_name(layout: Layout, tool: ToolLine) -> str:
    own = name_text(tool_name(tool.name).own)
    marks = tool_marks(layout.tr, tool)
    return f"{own} · {marks}" if marks else own


def _tool_rows(layout: Layout, kind: str, tool: ToolLine, column: int, width: int) -> list[Line]:
    kind = "restored" if tool.restored else "redefined" if tool.redefined else kind
    sign = mark(kind, layout.ascii)
    own = name_text(tool_name(tool.name).own)
    marks = tool_marks(layout.tr, tool)
    name = [Span(own, sign.role), *([Span(f" · {marks}", f"{sign.role} italic")] if marks else [])]
    head = line(Span(f"{sign.text} ", sign.role), *plain_signs(layout, name))
    description = clean_line(tool.description[:1000])
    if not description:
        return [crop(head, width)]
    beside = width - column - 4
    if head.cells <= column + 2 and beside >= _LEAST_DESCRIPTION:
        return [crop(line(*pad(head, column + 4).spans, Span(description, "muted")), width)]
    if width - head.cells - 2 >= _LEAST_DESCRIPTION:
        return [crop(line(*head.spans, Span("  "), Span(description, "muted")), width)]
    return [crop(head, width), crop(line(Span("    "), Span(description, "muted")), width)]


def _definition_rows(layout: Layout, tool: ToolLine) -> list[Line]:
    """A single tool's description and parameters."""
    rows: list[Line] = []
    definition = tool.definition
    text = definition.description if definition is not None else tool.description
    if text.strip():
        rows += text_rows(layout, text, "muted")
    if definition is not None and definition.parameters:
        rows.append(line(Span("  "), Span(layout.tr.t("parameters"), "muted")))
        rows += json_rows(layout, definition.parameters, indent=GUTTER)
    return rows or [line(Span("  "), Span(layout.tr.t("The log holds no definition of it."), "muted"))]
