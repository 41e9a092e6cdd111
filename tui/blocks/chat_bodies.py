"""Layouts of the smaller kinds of chat nodes: markers, failures, retries, compactions, faults."""

from __future__ import annotations

from tui.blocks.clean import clean_line
from tui.blocks.glyphs import GLYPHS, mark
from tui.blocks.layout import (
    GUTTER,
    NODE_ROWS,
    PART_ROWS,
    Layout,
    gutter,
    heading,
    json_rows,
    label_row,
    markdown_rows,
    text_rows,
)
from tui.blocks.text import Line, Span, crop, line
from tui.blocks.wording import (
    approval_title,
    attempt_cause,
    command_title,
    compaction_title,
    damage_text,
    failure_title,
    interruption_title,
    job_title,
    note_title,
    one_row,
    retry_title,
    status_text,
    subagent_title,
    todo_title,
    unknown_title,
)
from tui.blocks.wording_names import cause_text, name_text
from tui.blocks.wording_own import own_facts, own_mark, own_title
from tui.nodes import chat as c
from tui.nodes.own_notices import OwnNotice
from tui.session.json_text import compact


def note_rows(layout: Layout, node: c.NoteNode) -> list[Line]:
    """The session was picked up again, or forked here."""
    return heading(
        layout, [gutter("note", layout)], [Span(note_title(layout.tr, node), "turn italic")], wraps=True
    )


def compaction_rows(layout: Layout, node: c.CompactionNode) -> list[Line]:
    """What was condensed, and when opened the summary."""
    tr = layout.tr
    role = "error" if node.state == "failed" else "compaction"
    title = [Span(compaction_title(tr, node), f"{role} bold")]
    if node.by_command:
        title.append(Span(" · " + tr.t("by command"), "muted"))
    right = [Span(tr.duration(node.duration_ms), "muted")] if node.duration_ms is not None else []
    rows = heading(
        layout, [gutter("compaction", layout)], title, right=right, folds=bool(node.summary), wraps=True
    )
    if layout.expanded and node.summary:
        if node.model:
            rows.append(label_row(layout, tr.t("summary by {model}", model=name_text(node.model))))
        rows += markdown_rows(layout, node.summary, "muted")
    return rows


def retry_rows(layout: Layout, node: c.RetryNode) -> list[Line]:
    """A chain of retries in one row, and when opened each attempt with its cause."""
    title = [Span(retry_title(layout.tr, node), "retry")]
    last = node.attempts[-1].message if node.attempts else ""
    gist = [Span(one_row(last), "muted")] if last and not layout.expanded else []
    rows = heading(layout, [gutter("retry", layout)], title, gist=gist, folds=bool(node.attempts))
    if layout.expanded:
        for attempt in node.attempts:
            rows += _attempt(layout, attempt)
    return rows


def _attempt(layout: Layout, attempt: c.RetryAttempt) -> list[Line]:
    tr = layout.tr
    facts = [Span(attempt_cause(attempt), "error"), Span(clean_line(attempt.message[:20_000]), "text")]
    if cause := cause_text(tr, attempt.code):
        facts.insert(1, Span(cause, "muted"))
    if attempt.delay_ms > 0:
        waited = tr.duration(attempt.delay_ms)
        told = tr.t("{time} waited", time=waited) if attempt.started else tr.t("{time} to wait", time=waited)
        facts.append(Span(told, "muted"))
    if not attempt.started:
        facts.append(Span(tr.t("not tried again"), "warning"))
    if attempt.request_id:
        facts.append(Span(tr.t("request id {id}", id=name_text(attempt.request_id)), "faint"))
    spans: list[Span] = []
    for fact in facts:
        if fact.text:
            spans += [Span(" · ", "faint"), fact] if spans else [fact]
    number = Span(f"  {attempt.retry}  ", "retry")
    rows = heading(layout, [number], spans, wraps=True)
    return rows + _partial(layout, attempt.partial, indent=5)


def _partial(layout: Layout, text: str, *, indent: int = GUTTER) -> list[Line]:
    """Text that an answer had already shown when it broke off."""
    if not text.strip():
        return []
    label = label_row(layout, layout.tr.t("discarded text"), indent=min(indent, layout.width // 3))
    return [
        label,
        *text_rows(
            layout, text, "muted italic", indent=[Span(" " * min(indent, layout.width // 3))], rows=PART_ROWS
        ),
    ]


def failure_rows(layout: Layout, node: c.FailureNode) -> list[Line]:
    """Why a turn failed: plain words and code, the provider's whole message, status and request id."""
    tr = layout.tr
    rows = heading(
        layout,
        [gutter("failure", layout)],
        [Span(failure_title(tr, node.code), "error bold")],
        right=[Span(tr.t("HTTP {status}", status=node.status), "error")] if node.status is not None else [],
        folds=bool(node.partial or node.details),
        wraps=True,
    )
    if node.message:
        rows += text_rows(layout, node.message, "error")
    if node.request_id:
        rows.append(label_row(layout, tr.t("request id {id}", id=name_text(node.request_id))))
    if layout.expanded:
        if node.details:
            rows += json_rows(layout, node.details)
        rows += _partial(layout, node.partial)
    elif node.partial:
        rows.append(label_row(layout, tr.t("discarded text: {text}", text=one_row(node.partial))))
    return rows


def interrupted_rows(layout: Layout, node: c.InterruptedNode) -> list[Line]:
    """How a turn ended that neither completed nor failed."""
    tr = layout.tr
    what = "truncated" if node.reason == "max-tokens" else "interrupted"
    rows = heading(
        layout,
        [gutter(what, layout)],
        [Span(interruption_title(tr, node.reason, node.cause, node.detail), f"{mark(what).role} bold")],
        folds=bool(node.partial),
        wraps=True,
    )
    if layout.expanded:
        rows += _partial(layout, node.partial)
    elif node.partial:
        rows.append(label_row(layout, tr.t("discarded text: {text}", text=one_row(node.partial))))
    return rows


def command_rows(layout: Layout, node: c.CommandNode) -> list[Line]:
    """A slash command and what it answered."""
    tr = layout.tr
    failed = node.state == "error"
    title = [Span(command_title(node), "command")]
    if node.state == "running":
        title.append(Span(" · " + tr.t("not finished"), "warning"))
    gist = (
        [Span(one_row(node.text), "error" if failed else "muted")]
        if node.text and not layout.expanded
        else []
    )
    rows = heading(
        layout, [gutter("error" if failed else "command", layout)], title, gist=gist, folds=bool(node.text)
    )
    if layout.expanded and node.text:
        rows += text_rows(layout, node.text, "error" if failed else "muted")
    return rows


def plan_rows(layout: Layout, node: c.PlanNode) -> list[Line]:
    """Plan mode was switched."""
    told = layout.tr.t("Plan mode on") if node.active else layout.tr.t("Plan mode off")
    return heading(layout, [gutter("plan", layout)], [Span(told, "plan")])


def todo_rows(layout: Layout, node: c.TodoNode) -> list[Line]:
    """The to-do list with a box for each item."""
    rows = heading(
        layout, [gutter("todo", layout)], [Span(todo_title(layout.tr, node), "todo")], folds=bool(node.items)
    )
    if not layout.expanded:
        return rows
    for item in node.items:
        known = item.status in ("pending", "in_progress", "completed")
        box = mark(item.status if known else "unknown", layout.ascii)
        text = clean_line(item.content[:4000])
        role = (
            "muted strike"
            if item.status == "completed"
            else "accent"
            if item.status == "in_progress"
            else "text"
        )
        spans = [Span(text, role)]
        if not known:
            spans.append(Span(f" ({status_text(layout.tr, item.status)})", "muted"))
        rows += heading(layout, [Span("  "), Span(f"{box.text} ", box.role)], spans, wraps=True)
    return rows


def job_rows(layout: Layout, node: c.JobNode) -> list[Line]:
    """A background job."""
    failed = node.status in ("failed", "killed")
    right = [Span(layout.tr.duration(node.duration_ms), "muted")] if node.duration_ms is not None else []
    gist = [Span(one_row(node.detail), "muted")] if node.detail and not layout.expanded else []
    rows = heading(
        layout,
        [gutter("error" if failed else "job", layout)],
        [Span(job_title(layout.tr, node), "error" if failed else "job")],
        gist=gist,
        right=right,
        folds=bool(node.detail),
    )
    if layout.expanded and node.detail:
        rows += text_rows(layout, node.detail, "muted", rows=PART_ROWS)
    return rows


def approval_rows(layout: Layout, node: c.ApprovalNode) -> list[Line]:
    """A question whether a tool may run."""
    refused = node.outcome not in ("", "allowed-once")
    gist = [Span(one_row(node.reason), "muted")] if node.reason and not layout.expanded else []
    rows = heading(
        layout,
        [gutter("approval", layout)],
        [Span(approval_title(layout.tr, node), "warning" if refused else "approval")],
        gist=gist,
        folds=bool(node.reason),
    )
    if layout.expanded and node.reason:
        rows += text_rows(layout, node.reason, "muted", rows=PART_ROWS)
    return rows


def subagent_rows(layout: Layout, node: c.SubagentNode) -> list[Line]:
    """A child session."""
    gist = [Span(name_text(node.child_id), "faint")] if node.label else []
    return heading(
        layout, [gutter("subagent", layout)], [Span(subagent_title(layout.tr, node), "subagent")], gist=gist
    )


def title_rows(layout: Layout, node: c.TitleNode) -> list[Line]:
    """The session got a title."""
    tr = layout.tr
    by = {
        "fallback": tr.t("from the first words"),
        "provider": tr.t("by a model"),
        "user": tr.t("by hand"),
    }.get(node.by, name_text(node.by))
    title = [Span(tr.t("Title: {title}", title=one_row(node.title)), "title")]
    return heading(layout, [gutter("title", layout)], title, gist=[Span(by, "faint")] if by else [])


def unknown_rows(layout: Layout, node: c.UnknownNode) -> list[Line]:
    """An event that is not known: its type, and its data in one row or written out."""
    if node.own is not None:
        return _own_rows(layout, node.own)
    role = "unknown dim" if node.ignorable else "unknown"
    lead = Span(f"{GLYPHS['unknown'].text(layout.ascii)} ", role)
    title = [Span(unknown_title(layout.tr, node), role)]
    if layout.expanded:
        return [
            *heading(layout, [lead], title, folds=True),
            *json_rows(layout, node.data, rows=NODE_ROWS),
        ]
    data = one_row(node.data if isinstance(node.data, str) else compact(node.data))
    if node.ignorable:
        return heading(layout, [lead], title, gist=[Span(data, "muted dim")], folds=True)
    # It may matter: its sentence is not cut, and its data stands below.
    rows = heading(layout, [lead], title, folds=True, wraps=True)
    return [*rows, crop(line(Span("  "), Span(data, "muted")), layout.width)]


def _own_rows(layout: Layout, told: OwnNotice) -> list[Line]:
    """What a record of our own tells; opened, a row for each of its facts, cut off where there is no room."""
    facts = own_facts(layout.tr, told)
    title = [Span(own_title(layout.tr, told), "accent")]
    rows = heading(layout, [gutter(own_mark(told), layout)], title, folds=bool(facts), wraps=True)
    if layout.expanded:
        rows += [
            crop(line(Span("  "), Span(f"{label}  ", "muted"), Span(value, "text")), layout.width)
            for label, value in facts
        ]
    return rows


def damage_rows(layout: Layout, node: c.DamageNode) -> list[Line]:
    """A fault of the file at its place, in a sentence, and when opened the line itself."""
    rows = heading(
        layout,
        [gutter("damage", layout)],
        [Span(damage_text(layout.tr, node.damage), "damage")],
        folds=bool(node.raw),
        wraps=True,
    )
    if layout.expanded and node.raw:
        from tui.blocks.clean import visible

        rows += text_rows(layout, visible(node.raw), "muted", rows=PART_ROWS)
    return rows
