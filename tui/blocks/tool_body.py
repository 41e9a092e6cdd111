"""A tool call: its row, and when opened its arguments and result."""

from __future__ import annotations

from tui.blocks.glyphs import mark
from tui.blocks.layout import (
    GUTTER,
    PART_ROWS,
    Layout,
    gutter,
    heading,
    json_rows,
    label_row,
    parsed,
    plain_signs,
    text_rows,
)
from tui.blocks.text import Line, Span, crop, line
from tui.blocks.wording import arguments_gist, availability_text, tool_outcome
from tui.blocks.wording_names import name_text
from tui.nodes.chat import Attachment, Content, ForeignBlock, ToolNode
from tui.nodes.notices import tool_name

_AVAILABLE = {"fresh": "added", "restored": "restored"}
"""Roles for what is said of a tool that has come or come back; the rest is a warning."""


def tool_rows(layout: Layout, node: ToolNode) -> list[Line]:
    """All rows of a call without the blank one above."""
    rows = _row(layout, node)
    if not layout.expanded:
        return rows
    indent = GUTTER + (GUTTER if node.nested else 0)
    tr = layout.tr
    rows += _identity(layout, node, indent)
    if not node.arguments.strip() or node.arguments.strip() == "{}":
        rows.append(label_row(layout, tr.t("no arguments"), indent=indent))
    else:
        rows.append(label_row(layout, tr.t("arguments"), indent=indent))
        rows += value_rows(layout, node.arguments, "text", indent=indent)
    if node.state in ("ok", "error"):
        rows.append(label_row(layout, tr.t("result"), indent=indent))
        rows += content_rows(
            layout, node.result, indent=indent, role="error" if node.state == "error" else "text"
        )
    return rows


def _row(layout: Layout, node: ToolNode) -> list[Line]:
    tr = layout.tr
    lead = [gutter(node.state, layout)]
    if node.nested:
        nested = mark("nested", layout.ascii)
        lead = [Span("  "), Span(f"{nested.text} ", nested.role), *lead]
    server, own = tool_name(node.name)
    title: list[Span] = []
    if server:
        title.append(Span(f"{name_text(server)} · ", "muted"))
    title.append(Span(name_text(own) or "?", "tool"))
    told = availability_text(tr, node)
    if told:
        title.append(Span(f" · {told}", _AVAILABLE.get(node.availability, "warning")))
    if node.shortened:
        title.append(Span(" · " + tr.t("shortened for the model"), "muted"))
    right: list[Span] = []
    outcome = tool_outcome(tr, node)
    if outcome:
        right.append(Span(outcome, mark(node.state).role))
    if node.duration_ms is not None:
        right.append(Span(("  " if right else "") + tr.duration(node.duration_ms), "muted"))
    gist = [Span(arguments_gist(node.arguments), "muted")]
    return heading(layout, lead, title, gist=gist if gist[0].text else (), right=right, folds=True)


def _identity(layout: Layout, node: ToolNode, indent: int) -> list[Line]:
    """The whole name and numbers that a person may want to search for."""
    parts = [name_text(node.name)]
    if node.call_id:
        parts.append(name_text(node.call_id))
    if node.seq is not None:
        parts.append(layout.tr.t("seq {seq}", seq=node.seq))
    rows = [
        crop(line(Span(" " * indent), *plain_signs(layout, [Span(" · ".join(parts), "faint")])), layout.width)
    ]
    if node.error_name or node.error_code:
        told = " · ".join(name_text(part) for part in (node.error_name, node.error_code) if part)
        rows.append(crop(line(Span(" " * indent), *plain_signs(layout, [Span(told, "error")])), layout.width))
    return rows


def value_rows(
    layout: Layout, text: str, role: str, *, indent: int = GUTTER, rows: int = PART_ROWS
) -> list[Line]:
    """A text that may be JSON: pretty where it is, as it stands where not."""
    value = None if layout.raw else parsed(text)
    if value is not None:
        return json_rows(layout, value, indent=indent, rows=rows)
    return text_rows(layout, text, role, indent=[Span(" " * indent)], rows=rows)


def content_rows(
    layout: Layout, content: Content, *, indent: int = GUTTER, role: str = "text", rows: int = PART_ROWS
) -> list[Line]:
    """What a message holds: text, attachments, and blocks that are not known."""
    shown: list[Line] = []
    if content.text.strip():
        shown += value_rows(layout, content.text, role, indent=indent, rows=rows)
    shown += [attachment_row(layout, entry, indent=indent) for entry in content.attachments]
    for block in content.foreign:
        shown += foreign_rows(layout, block, indent=indent)
    if not shown:
        empty = layout.tr.t("(blank)") if content.text else layout.tr.t("(empty)")
        shown.append(crop(line(Span(" " * indent), Span(empty, "muted")), layout.width))
    return shown


def attachment_row(layout: Layout, entry: Attachment, *, indent: int = GUTTER) -> Line:
    """An image or file, by name and size."""
    tr = layout.tr
    kind = tr.t("image") if entry.kind == "image" else tr.t("file")
    facts = [name_text(entry.name) or name_text(entry.attachment_id)]
    if entry.width is not None and entry.height is not None:
        facts.append(f"{entry.width}{'x' if layout.ascii else '×'}{entry.height}")
    if entry.bytes is not None:
        facts.append(tr.size(entry.bytes))
    facts.append(name_text(entry.media_type))
    told = " · ".join(fact for fact in facts if fact)
    return crop(
        line(Span(" " * indent), Span(f"[{kind}] ", "accent"), *plain_signs(layout, [Span(told, "muted")])),
        layout.width,
    )


def foreign_rows(layout: Layout, block: ForeignBlock, *, indent: int = GUTTER) -> list[Line]:
    """A content block of a type that is not known, as JSON."""
    told = layout.tr.t("Unknown content block: {type}", type=name_text(block.type) or "?")
    row = crop(line(Span(" " * indent), Span(told, "unknown")), layout.width)
    return [row, *json_rows(layout, block.data, indent=indent)]
