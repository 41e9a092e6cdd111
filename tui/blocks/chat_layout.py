"""Lays chat nodes out: a node and a width go in, all its rows come out, the blank one above it included.

Pure: the same node and layout give the same rows, so heights can be kept. Folded nodes take one row; what a
person said and what the model answered always stand whole, within bounds.
"""

from __future__ import annotations

from typing import Final

from tui.blocks.cells import cell_len
from tui.blocks.chat_bodies import (
    approval_rows,
    command_rows,
    compaction_rows,
    damage_rows,
    failure_rows,
    interrupted_rows,
    job_rows,
    note_rows,
    plan_rows,
    retry_rows,
    subagent_rows,
    title_rows,
    todo_rows,
    unknown_rows,
)
from tui.blocks.glyphs import mark
from tui.blocks.layout import (
    GUTTER,
    NODE_ROWS,
    Layout,
    finished,
    gutter,
    heading,
    markdown_rows,
    plain_signs,
    text_rows,
)
from tui.blocks.notice_body import notice_rows, redefined_rows
from tui.blocks.text import EMPTY, Line, Span, crop, line, with_role
from tui.blocks.tool_body import attachment_row, content_rows, foreign_rows, tool_rows
from tui.blocks.wording import (
    answer_mark,
    context_gist,
    header_title,
    notice_title,
    reasoning_title,
    source_name,
    status_text,
    system_title,
    turn_name,
    words,
)
from tui.blocks.wording_names import name_text
from tui.i18n import Translator
from tui.nodes import chat as c
from tui.nodes.chat_index import Flag, NodeKind
from tui.nodes.notices import ToolNotice

_SPACED: Final = frozenset({"turn", "user", "assistant", "reasoning", "failure", "interrupted"})
"""Kinds with a blank row above them."""
_SPACES: Final = frozenset({"user", "assistant", "failure", "interrupted"})
"""Kinds with a blank row below them, where the caller tells what stands above."""
_ALWAYS_OPEN: Final = frozenset({"todo"})


def chat_lines(node: c.ChatNode, layout: Layout) -> list[Line]:
    """All rows of a node, at most `layout.width` cells each; at least one."""
    rows = finished(layout, _rows(node, layout))
    if node.replaced:
        rows = _replaced(layout, node, rows)
    rows = rows or [EMPTY]
    return [EMPTY, *rows] if _has_gap(node, layout.previous) else rows


def gap_before(kind: str, previous: str | None) -> bool:
    """Whether a blank row stands above a node of a kind; `previous` is None where it is not known."""
    if previous == "turn":
        return kind in ("user", "assistant", "reasoning")
    return kind in _SPACED or previous in _SPACES


def _has_gap(node: c.ChatNode, previous: str | None) -> bool:
    if node.index == 0:
        return False
    return gap_before("notice" if is_notice(node) else node.kind, previous)


def is_notice(node: c.ChatNode) -> bool:
    """Whether a node tells a tool change."""
    return isinstance(node, c.ContextNode) and node.notice is not None


def is_expandable(node: c.ChatNode) -> bool:
    """Whether a node has more to show than its folded rows."""
    match node:
        case c.ToolNode() | c.UnknownNode() | c.TodoNode():
            return True
        case c.ReasoningNode() | c.SystemNode():
            return bool(node.text)
        case c.ContextNode():
            if node.notice is not None:
                return (
                    node.notice.expandable
                    or (node.notice.added or node.notice.removed)[0].definition is not None
                )
            return bool(node.content.text or node.content.attachments or node.content.foreign)
        case c.HeaderNode():
            return bool(node.notice.redefined or node.notice.added or node.notice.removed)
        case c.CompactionNode():
            return bool(node.summary)
        case c.RetryNode():
            return bool(node.attempts)
        case c.FailureNode():
            return bool(node.partial or node.details)
        case c.InterruptedNode():
            return bool(node.partial)
        case c.CommandNode():
            return bool(node.text)
        case c.JobNode():
            return bool(node.detail)
        case c.ApprovalNode():
            return bool(node.reason)
        case c.DamageNode():
            return bool(node.raw)
        case _:
            return False


def starts_expanded(node: c.ChatNode) -> bool:
    """Whether a node is open when it is first shown."""
    return node.kind in _ALWAYS_OPEN


def estimate_rows(  # noqa: PLR0917
    kind: int, size: int, breaks: int, flags: int, width: int, expanded: bool
) -> int:
    """About how many rows a node takes, from the numbers of the chat index alone; never less than one."""
    text = breaks + size // max(width - GUTTER - 1, 8) + 1
    match kind:
        case NodeKind.USER:
            rows = text + 2
        case NodeKind.ASSISTANT:
            rows = text + 1 + (1 if flags & Flag.CUT else 0)
        case NodeKind.REASONING:
            rows = 2 + (text if expanded else 0)
        case NodeKind.TURN | NodeKind.INTERRUPTED:
            rows = 2
        case NodeKind.FAILURE:
            rows = 4
        case NodeKind.TODO:
            rows = 4 if expanded else 1
        case NodeKind.TOOL:
            rows = 8 if expanded else 1
        case NodeKind.CONTEXT | NodeKind.SYSTEM:
            rows = 1 + (text if expanded else 0)
        case _:
            rows = 5 if expanded else 1
    return max(1, min(rows, NODE_ROWS))


def _rows(node: c.ChatNode, layout: Layout) -> list[Line]:
    match node:
        case c.TurnNode():
            return [turn_row(node, layout)]
        case c.NoteNode():
            return note_rows(layout, node)
        case c.UserNode():
            return _user(node, layout)
        case c.AssistantNode():
            return _assistant(node, layout)
        case c.ReasoningNode():
            return _reasoning(node, layout)
        case c.ToolNode():
            return tool_rows(layout, node)
        case c.ContextNode():
            return _notice(node, node.notice, layout) if node.notice is not None else _context(node, layout)
        case c.HeaderNode():
            return _header(node, layout)
        case c.SystemNode():
            return _system(node, layout)
        case c.CompactionNode():
            return compaction_rows(layout, node)
        case c.RetryNode():
            return retry_rows(layout, node)
        case c.FailureNode():
            return failure_rows(layout, node)
        case c.InterruptedNode():
            return interrupted_rows(layout, node)
        case c.CommandNode():
            return command_rows(layout, node)
        case c.PlanNode():
            return plan_rows(layout, node)
        case c.TodoNode():
            return todo_rows(layout, node)
        case c.JobNode():
            return job_rows(layout, node)
        case c.ApprovalNode():
            return approval_rows(layout, node)
        case c.SubagentNode():
            return subagent_rows(layout, node)
        case c.TitleNode():
            return title_rows(layout, node)
        case c.UnknownNode():
            return unknown_rows(layout, node)
        case c.DamageNode():
            return damage_rows(layout, node)
        case _:
            return heading(layout, [gutter(node.kind, layout)], [Span(name_text(node.kind), "muted")])


def turn_row(node: c.TurnNode, layout: Layout) -> Line:
    """The rule that heads a turn, with the facts that exist; the least needed give way first."""
    tr = layout.tr
    facts: list[tuple[int, Span]] = []
    if node.time_ms is not None:
        facts.append((5, Span(tr.clock(node.time_ms), "muted")))
    if node.duration_ms is not None:
        facts.append((3, Span(tr.duration(node.duration_ms), "muted")))
    if node.tokens:
        facts.append((4, Span(tr.t("{n} tok", n=tr.compact(node.tokens)), "muted")))
    if node.cache_share is not None:
        facts.append((2, Span(tr.t("cache {share}", share=tr.percent(node.cache_share)), "muted")))
    if node.calls:
        facts.append((1, Span(tr.n("{n} call", "{n} calls", node.calls), "muted")))
    if node.failed_calls:
        facts.append((7, Span(tr.n("{n} failed", "{n} failed", node.failed_calls), "error")))
    if node.tool_changes:
        told = tr.n("{n} tool change", "{n} tool changes", node.tool_changes)
        facts.append((8, Span(f"{mark('tool-change', layout.ascii).text} {told}", "accent")))
    if node.is_open:
        facts.append((9, open_turn(tr, node.reason)))
    elif node.reason == "error":
        facts.append((9, Span(status_text(tr, "failed"), "error")))
    elif node.reason not in ("completed", ""):
        facts.append((9, Span(status_text(tr, node.reason), "warning")))
    return rule(layout, turn_name(tr, node.number), facts)


def open_turn(tr: Translator, reason: str) -> Span:
    """What is said of a turn without an end: it runs, or it was broken off."""
    if reason == "running":
        return Span(status_text(tr, reason), "accent")
    return Span(tr.t("not finished"), "warning")


def rule(layout: Layout, name: str, facts: list[tuple[int, Span]]) -> Line:
    """A rule over the whole width with a name and the facts that fit, those of the greatest weight first."""
    facts = list(facts)
    while True:
        gap = Span(" ── " if facts else " ", "rule")
        spans: list[Span] = [Span("── ", "rule"), Span(name, "turn bold"), gap]
        for at, (_, fact) in enumerate(facts):
            spans += [Span(" · ", "faint")] if at else []
            spans.append(fact)
        spans += [Span(" ", "rule")] if facts else []
        row = line(*plain_signs(layout, spans))
        if row.cells + 2 <= layout.width or not facts:
            break
        facts.remove(min(facts, key=lambda entry: entry[0]))
    row = crop(row, layout.width)
    return line(*row.spans, Span("─" * (layout.width - row.cells), "rule"))


def _user(node: c.UserNode, layout: Layout) -> list[Line]:
    tr = layout.tr
    title = [Span(tr.t("You"), "user bold")]
    if node.time_ms is not None:
        title.append(Span(f" · {tr.clock(node.time_ms)}", "muted"))
    if node.steering:
        title.append(Span(" · " + tr.t("steering, while the turn ran"), "accent"))
    if node.discarded:
        title.append(Span(" · " + tr.t("taken back, never sent"), "warning"))
    bar = gutter("user", layout)
    rows = heading(layout, [bar], title)
    if node.content.text.strip():
        role = "muted strike" if node.discarded else "text"
        rows += text_rows(layout, node.content.text, role, indent=[bar])
    rows += [attachment_row(layout, entry) for entry in node.content.attachments]
    for block in node.content.foreign:
        rows += foreign_rows(layout, block)
    if len(rows) == 1:
        rows.append(crop(line(bar, Span(tr.t("(empty)"), "muted")), layout.width))
    return rows


def _assistant(node: c.AssistantNode, layout: Layout) -> list[Line]:
    rows: list[Line] = []
    if node.text.strip():
        rows += markdown_rows(layout, node.text)
    told = answer_mark(layout.tr, node)
    if node.foreign is not None:
        return [*rows, *foreign_rows(layout, node.foreign)]
    if told:
        what = "truncated" if node.truncated else "interrupted" if node.interrupted else "context"
        role = "warning" if node.truncated or node.interrupted else "muted italic"
        rows += heading(layout, [gutter(what, layout)], [Span(told, role)], wraps=True)
    return rows


def _reasoning(node: c.ReasoningNode, layout: Layout) -> list[Line]:
    tr = layout.tr
    sign = mark("open" if layout.expanded else "closed", layout.ascii)
    title = [Span(reasoning_title(tr, node), "reasoning")]
    if node.truncated:
        title.append(Span(" · " + tr.t("cut off"), "warning"))
    if node.interrupted:
        title.append(Span(" · " + tr.t("interrupted"), "warning"))
    gist = [] if layout.expanded else [Span(" ".join(node.text[:600].split()), "faint italic")]
    gist = [Span(_safe(span.text), span.role) for span in gist if span.text]
    rows = heading(layout, [Span(f"{sign.text} ", "reasoning")], title, gist=gist)
    if layout.expanded:
        rows += text_rows(layout, node.text, "reasoning")
    return rows


def _safe(text: str) -> str:
    from tui.blocks.clean import clean_line

    return clean_line(text)


def _context(node: c.ContextNode, layout: Layout) -> list[Line]:
    tr = layout.tr
    title = [Span(source_name(tr, node.source), "context")]
    gist = context_gist(tr, node)
    folds = is_expandable(node)
    rows = heading(
        layout,
        [gutter("context", layout)],
        title,
        gist=[Span(gist, "muted")] if gist and not layout.expanded else [],
        folds=folds,
    )
    if node.content.foreign and not layout.expanded:
        for block in node.content.foreign:
            told = tr.t("Unknown content block: {type}", type=name_text(block.type) or "?")
            rows.append(crop(line(Span("  "), Span(told, "unknown")), layout.width))
    if layout.expanded and folds:
        rows += content_rows(layout, node.content, role="muted", rows=NODE_ROWS)
    return rows


def _notice(node: c.ContextNode, notice: ToolNotice, layout: Layout) -> list[Line]:
    tr = layout.tr
    folds = is_expandable(node)
    title = [Span(notice_title(tr, notice), "accent bold")]
    gist: list[Span] = []
    right: list[Span] = []
    if notice.count == 1 and not layout.expanded:
        tool = (notice.added or notice.removed)[0]
        if tool.description:
            gist = [Span(_safe(tool.description), "muted")]
    if layout.expanded:
        right = _origin(node, notice, layout)
    elif notice.expandable:
        right = [Span(f"{mark('closed', layout.ascii).text} {tr.t('open')}", "accent")]
    rows = heading(
        layout,
        [gutter("tool-change", layout)],
        title,
        gist=gist,
        right=right,
        folds=folds and (layout.expanded or not notice.expandable),
        wraps=True,
    )
    if layout.expanded and folds:
        rows += notice_rows(layout, notice)
    if node.content.text.strip():
        rows += text_rows(layout, node.content.text, "text")
    for block in node.content.foreign:
        rows += foreign_rows(layout, block)
    return rows


def _origin(node: c.ContextNode, notice: ToolNotice, layout: Layout) -> list[Span]:
    """Where a change stands and whose tools it is about."""
    tr = layout.tr
    parts: list[str] = []
    if notice.header_seq is not None:
        parts.append(tr.t("header {seq}", seq=notice.header_seq))
    if node.turn is not None:
        parts.append(tr.t("turn {number}", number=node.turn))
    parts += [name_text(server) for server in notice.servers[:4]]
    if len(notice.servers) > 4:
        parts.append(tr.n("{n} more server", "{n} more servers", len(notice.servers) - 4))
    return [Span(" · ".join(parts), "muted")] if parts else []


def _header(node: c.HeaderNode, layout: Layout) -> list[Line]:
    notice = node.notice
    changed = bool(notice.redefined)
    untold = bool(notice.added or notice.removed)
    what = "redefined" if changed else "tool-change" if untold else "header"
    role = "redefined bold" if changed else "warning bold" if untold else "header"
    folds = is_expandable(node)
    right: list[Span] = []
    if layout.expanded:
        right = [Span(layout.tr.t("header {seq}", seq=notice.seq), "muted")]
    rows = heading(
        layout,
        [gutter(what, layout)],
        [Span(header_title(layout.tr, notice), role)],
        right=right,
        folds=folds,
        wraps=True,
    )
    return [*rows, *redefined_rows(layout, notice)] if layout.expanded and folds else rows


def _system(node: c.SystemNode, layout: Layout) -> list[Line]:
    tr = layout.tr
    title = [Span(system_title(tr, node.change), "system")]
    if node.text:
        title.append(Span(f" · {words(tr, node.text)}", "muted"))
    gist = [] if layout.expanded else [Span(_safe(node.text[:600]), "faint")]
    rows = heading(
        layout, [gutter("system", layout)], title, gist=gist if node.text else [], folds=bool(node.text)
    )
    return [*rows, *text_rows(layout, node.text, "muted")] if layout.expanded and node.text else rows


def _replaced(layout: Layout, node: c.ChatNode, rows: list[Line]) -> list[Line]:
    """Rows of a node that the model no longer sees: dimmed, with a quiet word at the end of the first."""
    sign = mark("replaced", layout.ascii)
    dimmed = [
        Line(tuple(Span(s.text, with_role(s.role, "dim")) for s in row.spans), row.cells) for row in rows
    ]
    told = line(Span(layout.tr.t("out of context"), "faint italic"))
    if not dimmed:
        return [told]
    first = dimmed[0]
    if first.cells + told.cells + 2 <= layout.width:
        gap = layout.width - first.cells - told.cells
        dimmed[0] = line(*first.spans, Span(" " * gap), *told.spans)
    elif node.kind in ("assistant", "user"):
        dimmed.append(crop(line(Span("  "), *told.spans), layout.width))
    return [_with_bar(row, sign) for row in dimmed]


def _with_bar(row: Line, sign: Span) -> Line:
    """The row with the sign beside its mark: the second cell of every row's gutter is a space."""
    first = row.spans[0] if row.spans else Span("")
    if len(first.text) < 2 or first.text[1] != " " or cell_len(first.text[0]) != 1:
        return row
    rest = Span(first.text[2:], first.role)
    spans = (Span(first.text[0], first.role), sign, *([rest] if rest.text else []), *row.spans[1:])
    return Line(spans, row.cells)
