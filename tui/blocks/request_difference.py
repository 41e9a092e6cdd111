"""A request beside the one before it: what was kept, what differs first, why, and what is new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tui.blocks.clean import clean_line
from tui.blocks.copy_text import pretty
from tui.blocks.diff import diff_lines
from tui.blocks.glyphs import mark
from tui.blocks.layout import Layout, hidden_row, indented, plain_signs
from tui.blocks.text import EMPTY, Line, Span, crop, line, to_ascii
from tui.blocks.wording_names import tool_title
from tui.blocks.wording_requests import cause_sentences, kept_text, mode_name, part_name, place_text
from tui.blocks.wording_tokens import estimate_text
from tui.blocks.wrap import wrap
from tui.nodes.request_diff import Lens, common_messages
from tui.nodes.request_projection import ProjectedRequest
from tui.nodes.request_table import RequestRow
from tui.session.json_value import as_array, as_object, as_text
from tui.session.tool_definition import by_name

_LISTED: Final = 60
_DIFF_ROWS: Final = 120


def difference_lines(
    row: RequestRow, before: ProjectedRequest | None, lens: Lens, layout: Layout
) -> list[Line]:
    """The difference of a request and the one before it, both as the same kind of route is sent them."""
    now = lens.projected
    rows = _summary(row, before, lens, layout)
    if before is not None:
        rows += _declarations(before, now, layout)
        rows += _system(before, now, layout)
        rows += _messages(before, lens, layout)
    return [to_ascii(line(*plain_signs(layout, each.spans))) for each in rows] if layout.ascii else rows


def _summary(row: RequestRow, before: ProjectedRequest | None, lens: Lens, layout: Layout) -> list[Line]:
    tr, prefix, tokens = layout.tr, lens.prefix, lens.tokens
    title = place_text(tr, row.place)
    if before is not None:
        title = tr.t(
            "{request} compared with request {n}", request=title, n=tr.number(before.request.place.n)
        )
    heading = [Span(title, "heading bold"), Span(f"  {mode_name(lens.projected.mode)}", "accent")]
    rows = [*wrap(heading, layout.width), EMPTY]
    if before is not None and prefix.broken_at is None:
        kept = tr.t(
            "The request before is kept whole: {kept} messages were there already.",
            kept=kept_text(tr, prefix, len(lens.projected.messages)),
        )
        rows += wrap([Span(kept, "ok")], layout.width)
    elif prefix.broken_at is not None:
        kept = tr.t(
            "{kept} messages are kept; the first difference is in: {where}.",
            kept=kept_text(tr, prefix, len(lens.projected.messages)),
            where=part_name(tr, prefix.broken_at),
        )
        rows += wrap([Span(kept, "warning")], layout.width)
    for sentence in cause_sentences(tr, prefix):
        sign = Span("• ", "warning")
        text = Span(sentence, "text")
        rows += wrap([text], layout.width, indent=[sign], subsequent_indent=[Span("  ")])
    rows += wrap([Span(estimate_text(tr, tokens), "muted")], layout.width)
    if row.usage is not None:
        told = tr.t("Counted by the provider: {n} tok from its cache.", n=tr.number(row.usage.cache_read))
        rows += wrap([Span(told, "muted")], layout.width)
    return rows


def _declarations(before: ProjectedRequest, now: ProjectedRequest, layout: Layout) -> list[Line]:
    tr = layout.tr
    had, has = by_name(before.tools or ()), by_name(now.tools or ())
    rows: list[Line] = []
    for name, tool in has.items():
        if name not in had:
            what = tr.t("declared deferred") if tool.defer_loading else tr.t("declared")
            rows.append(_tool("added", name, what, layout))
        elif had[name].defer_loading != tool.defer_loading:
            what = tr.t("deferred now") if tool.defer_loading else tr.t("declared plainly now")
            rows.append(_tool("redefined", name, what, layout))
        elif had[name] != tool:
            rows.append(_tool("redefined", name, tr.t("redefined"), layout))
            old, new = pretty(had[name].to_json()), pretty(tool.to_json())
            rows += [
                indented(each, 2)
                for each in diff_lines(old, new, max(layout.width - 2, 1), max_rows=_DIFF_ROWS)
            ]
    rows += [_tool("removed", name, tr.t("not declared any more"), layout) for name in had if name not in has]
    kept_order = [name for name in had if name in has] == [name for name in has if name in had]
    if not kept_order:
        told = tr.t("The declarations that stayed stand in another order.")
        rows += wrap([Span(told, "muted")], layout.width)
    return _section(tr.t("Declarations"), rows, layout)


def _system(before: ProjectedRequest, now: ProjectedRequest, layout: Layout) -> list[Line]:
    old, new = before.system_text(), now.system_text()
    if old == new:
        return []
    rows = diff_lines(old, new, layout.width, max_rows=_DIFF_ROWS)
    return _section(layout.tr.t("System prompt"), rows, layout)


def _messages(before: ProjectedRequest, lens: Lens, layout: Layout) -> list[Line]:
    tr, now = layout.tr, lens.projected
    same = common_messages(before.messages, now.messages)
    gone, new = before.messages[same:], now.messages[same:]
    rows = [_message("removed", same + at, message, layout) for at, message in enumerate(gone[:_LISTED])]
    if len(gone) > _LISTED:
        rows.append(hidden_row(layout, len(gone) - _LISTED))
    rows += [_message("added", same + at, message, layout) for at, message in enumerate(new[:_LISTED])]
    if len(new) > _LISTED:
        rows.append(hidden_row(layout, len(new) - _LISTED))
    return _section(tr.t("Messages from number {n} on", n=tr.number(same + 1)), rows, layout)


def _section(title: str, rows: Sequence[Line], layout: Layout) -> list[Line]:
    return [EMPTY, crop(line(Span(title, "heading bold")), layout.width), *rows] if rows else []


def _tool(what: str, name: str, told: str, layout: Layout) -> Line:
    sign = mark(what, layout.ascii)
    spans = [Span(f"{sign.text} ", sign.role), Span(tool_title(name), sign.role), Span(f"  {told}", "muted")]
    return crop(line(*spans), layout.width)


def _message(what: str, at: int, message: dict[str, Any], layout: Layout) -> Line:
    sign = mark(what, layout.ascii)
    role = clean_line(as_text(message.get("role")))
    spans = [
        Span(f"{sign.text} ", sign.role),
        Span(f"{at + 1:>4} ", "faint"),
        Span(f"{role:<10}", sign.role),
        Span(message_gist(message), "text"),
    ]
    return crop(line(*spans), layout.width)


def message_gist(message: dict[str, Any], limit: int = 400) -> str:
    """The beginning of what a message says, in one line; change blocks as `+name` and `−name`."""
    parts: list[str] = []
    size = 0
    for block in map(as_object, as_array(message.get("content"))):
        match block.get("type"):
            case "text" | "reasoning":
                told = clean_line(as_text(block.get("text"))[:limit])
            case "tool-call":
                told = f"→ {tool_title(as_text(block.get('name')))}"
            case "tool-addition":
                told = f"+{tool_title(as_text(block.get('toolName')))}"
            case "tool-removal":
                told = f"−{tool_title(as_text(block.get('toolName')))}"
            case kind:
                told = f"[{clean_line(as_text(kind))}]"
        parts.append(told)
        size += len(told)
        if size > limit:
            break
    return "  ".join(part for part in parts if part)
