"""Every localised sentence about a node or a row, in one place to ask.

Names, notices and faults have modules of their own; their public functions are given out here too.
"""

from __future__ import annotations

from typing import Final, assert_never

from tui.blocks.clean import clean_line
from tui.blocks.wording_faults import (
    damage_place,
    damage_text,
    failure_title,
    interruption_title,
)
from tui.blocks.wording_names import (
    cause_text,
    kind_name,
    name_text,
    source_name,
    status_text,
    tool_text,
    tool_title,
    words,
)
from tui.blocks.wording_notices import header_summary, header_title, notice_parts, notice_title, tool_marks
from tui.blocks.wording_own import own_title
from tui.i18n import Translator
from tui.nodes import chat as c
from tui.nodes.trajectory import TrajectoryRow
from tui.session.json_value import as_array, as_object, as_text

ROW_TEXT: Final = 400
"""Characters of a record's own text that go into one row."""


def one_row(text: str, longest: int = ROW_TEXT) -> str:
    """The beginning of a text of any length, safe and in one row."""
    return clean_line(text[: longest * 4])[:longest]


def node_text(tr: Translator, node: c.ChatNode) -> str:
    """A node as text: what a prompt, an answer or reasoning says, whole; of all others their folded row."""
    match node:
        case c.UserNode():
            return node.content.text
        case c.AssistantNode():
            return node.text if node.text else answer_mark(tr, node)
        case c.ReasoningNode():
            return node.text
        case _:
            return node_title(tr, node)


def node_title(tr: Translator, node: c.ChatNode) -> str:
    """The folded row of a node without its columns."""
    match node:
        case c.TurnNode():
            return turn_name(tr, node.number)
        case c.NoteNode():
            return note_title(tr, node)
        case c.UserNode():
            return one_row(node.content.text)
        case c.AssistantNode():
            return one_row(node.text) or answer_mark(tr, node)
        case c.ReasoningNode():
            return reasoning_title(tr, node)
        case c.ToolNode():
            return _joined(tool_title(node.name), arguments_gist(node.arguments), tool_outcome(tr, node))
        case c.ContextNode():
            if node.notice is not None:
                return notice_title(tr, node.notice)
            return _joined(source_name(tr, node.source), context_gist(tr, node))
        case c.HeaderNode():
            return header_title(tr, node.notice)
        case c.SystemNode():
            return system_title(tr, node.change)
        case c.CompactionNode():
            return compaction_title(tr, node)
        case c.RetryNode():
            return retry_title(tr, node)
        case c.FailureNode():
            return failure_title(tr, node.code)
        case c.InterruptedNode():
            return interruption_title(tr, node.reason, node.cause, node.detail)
        case c.CommandNode():
            return _joined(command_title(node), one_row(node.text))
        case c.PlanNode():
            return tr.t("Plan mode on") if node.active else tr.t("Plan mode off")
        case c.TodoNode():
            return todo_title(tr, node)
        case c.JobNode():
            return job_title(tr, node)
        case c.ApprovalNode():
            return approval_title(tr, node)
        case c.SubagentNode():
            return subagent_title(tr, node)
        case c.TitleNode():
            return tr.t("Title: {title}", title=one_row(node.title))
        case c.UnknownNode():
            return unknown_title(tr, node)
        case c.DamageNode():
            return damage_text(tr, node.damage)
        case _:
            return kind_name(tr, node.kind)


def _joined(*parts: str) -> str:
    return "  ".join(part for part in parts if part)


def turn_name(tr: Translator, number: int | None) -> str:
    """The name of a turn: "Turn 2"."""
    return tr.t("Turn {number}", number=number) if number is not None else tr.t("Between turns")


def note_title(tr: Translator, node: c.NoteNode) -> str:
    """A session picked up again, forked or not finished."""
    if node.what == "forked":
        if node.parent:
            return tr.t("Forked here from {session}", session=name_text(node.parent))
        return tr.t("Forked here")
    return tr.t("Session resumed") if node.what == "resumed" else tr.t("Not finished")


def answer_mark(tr: Translator, node: c.AssistantNode) -> str:
    """What must be said about an answer besides its text; empty for a whole one."""
    if node.truncated:
        return tr.t("Cut off: output token limit reached")
    if node.interrupted:
        return tr.t("Interrupted: the answer is not complete")
    if node.foreign is not None:
        return tr.t("Unknown content block: {type}", type=name_text(node.foreign.type) or "?")
    if node.empty or not node.text.strip():
        return tr.t("The answer has no content")
    return ""


def reasoning_title(tr: Translator, node: c.ReasoningNode) -> str:
    """How long and how much the model thought."""
    size = words(tr, node.text)
    if not node.duration_ms:
        # One piece of a stream has no duration.
        return tr.t("Thought · {size}", size=size)
    return tr.t("Thought for {time} · {size}", time=tr.duration(node.duration_ms), size=size)


def arguments_gist(arguments: str, longest: int = ROW_TEXT) -> str:
    """A call's arguments in one row: `lamp=north bed=fern`, or the text as it stands if it is no object."""
    import json

    from tui.blocks.json_view import one_line

    if arguments.strip() in ("", "{}"):
        return ""
    if len(arguments) <= _PARSED:
        try:
            return one_line(json.loads(arguments), longest)
        except (ValueError, RecursionError):
            pass
    return one_row(arguments, longest)


_PARSED: Final = 65_536


def tool_outcome(tr: Translator, node: c.ToolNode) -> str:
    """How a call ended, where that is not simply well."""
    if node.state == "ok":
        return ""
    code = name_text(node.error_code or node.error_name)
    if node.state == "error" and code:
        return code
    return status_text(tr, node.state)


def availability_text(tr: Translator, node: c.ToolNode) -> str:
    """Whether the called tool was there, where that is worth saying."""
    seq = node.availability_seq
    match node.availability:
        case "active":
            return ""
        case "fresh":
            return tr.t("new")
        case "restored":
            return tr.t("restored")
        case "removed":
            if seq is None:
                return tr.t("tool was removed")
            return tr.t("tool was removed at {seq}", seq=seq)
        case "not-yet":
            return tr.t("tool came only at {seq}", seq=seq) if seq is not None else tr.t("not offered yet")
        case "unknown":
            return tr.t("not offered")
        case _:
            assert_never(node.availability)


def context_gist(tr: Translator, node: c.ContextNode) -> str:
    """What a context message is about, in one row."""
    details = node.details
    match node.source:
        case "agent-instructions":
            paths = [as_text(as_object(change).get("path")) for change in as_array(details.get("changes"))]
            if any(paths):
                return tr.join([name_text(path) for path in paths if path])
        case "skill-catalog":
            entries = as_array(details.get("entries"))
            if entries:
                names = [name_text(as_text(as_object(entry).get("name"))) for entry in entries[:8]]
                return tr.n("{n} skill: {names}", "{n} skills: {names}", len(entries), names=tr.join(names))
        case "skill-invocation":
            return _joined(name_text(as_text(details.get("name"))), one_row(node.content.text))
        case "team-message":
            return _joined(name_text(as_text(details.get("senderName"))), one_row(node.content.text))
        case "session-reference":
            labels = [as_text(as_object(entry).get("label")) for entry in as_array(details.get("references"))]
            if any(labels):
                return tr.join([name_text(label) for label in labels if label])
        case "runtime-context" | "time-context" | "tmux-context":
            sections = [as_text(as_object(entry).get("text")) for entry in as_array(details.get("sections"))]
            if any(sections):
                return one_row(" · ".join(sections))
        case _:
            pass
    return one_row(node.summary or node.content.text)


def system_title(tr: Translator, change: c.SystemChange) -> str:
    """What happened to the system prompt."""
    match change:
        case "initial":
            return tr.t("System prompt")
        case "appended":
            return tr.t("System prompt appended")
        case "replaced":
            return tr.t("System prompt replaced")
        case "cleared":
            return tr.t("System prompt cleared")
        case _:
            assert_never(change)


def compaction_title(tr: Translator, node: c.CompactionNode) -> str:
    """What a compaction did."""
    if node.state == "failed":
        if node.error:
            return tr.t("Compaction failed: {error}", error=one_row(node.error))
        return tr.t("Compaction failed")
    if node.state != "done":
        return tr.t("Compacting…") if node.state == "running" else tr.t("Compaction not finished")
    parts = [tr.t("Context compacted")]
    if node.shadowed:
        parts.append(tr.n("{n} item", "{n} items", node.shadowed))
    if node.shadowed_tokens:
        parts.append(tr.t("about {n} tok", n=tr.compact(node.shadowed_tokens)))
    return " · ".join(parts)


def retry_title(tr: Translator, node: c.RetryNode) -> str:
    """A chain of retries in one row."""
    begun = sum(1 for attempt in node.attempts if attempt.started)
    count = begun or len(node.attempts)
    limit = node.attempts[-1].max_retries if node.attempts else None
    if not begun:
        parts = [tr.t("Waiting to retry")]
    elif limit is None:
        parts = [tr.n("Retried {n} time", "Retried {n} times", count)]
    else:
        parts = [tr.t("Retried {n} of {max} times", n=tr.number(count), max=tr.number(limit))]
    waited = sum(attempt.delay_ms for attempt in node.attempts if attempt.started)
    if waited > 0:
        parts.append(tr.t("{time} waited", time=tr.duration(waited)))
    causes = dict.fromkeys(attempt_cause(attempt) for attempt in node.attempts)
    parts.extend(cause for cause in list(causes)[:3] if cause)
    return " · ".join(parts)


def attempt_cause(attempt: c.RetryAttempt) -> str:
    """Code and HTTP status of a failed attempt: "SERVER 529"."""
    status = str(attempt.status) if attempt.status is not None else ""
    return " ".join(part for part in (name_text(attempt.code), status) if part)


def command_title(node: c.CommandNode) -> str:
    """A slash command as it was typed."""
    return f"/{name_text(node.name)} {one_row(node.arguments).strip()}".rstrip()


def todo_title(tr: Translator, node: c.TodoNode) -> str:
    """How much of a to-do list is done."""
    done = sum(1 for item in node.items if item.status == "completed")
    if not node.items:
        return tr.t("To-do list emptied")
    return tr.t("To-do list · {done} of {n} done", done=tr.number(done), n=tr.number(len(node.items)))


def job_title(tr: Translator, node: c.JobNode) -> str:
    """A background job and what became of it."""
    parts = [name_text(node.job_kind), one_row(node.label)]
    if node.status:
        parts.append(status_text(tr, node.status))
    head = tr.t("Background job ended") if node.late else tr.t("Background job")
    return " · ".join([head, *(part for part in parts if part)])


def approval_title(tr: Translator, node: c.ApprovalNode) -> str:
    """A question whether a tool may run, and the answer."""
    open_answer = tr.t("waits for your answer") if node.is_open else tr.t("no answer recorded")
    answer = status_text(tr, node.outcome) if node.outcome else open_answer
    tool = tool_text(tr, node.tool)
    return tr.t("Approval of {tool}: {answer}", tool=tool, answer=answer)


def subagent_title(tr: Translator, node: c.SubagentNode) -> str:
    """A child session that was made."""
    label = one_row(node.label) or name_text(node.child_id)
    mode = {
        "continuable": tr.t("continuable"),
        "one-shot": tr.t("one task"),
        "external": tr.t("external"),
    }.get(node.mode, name_text(node.mode))
    return " · ".join(part for part in (tr.t("Subagent: {label}", label=label), mode) if part)


def unknown_title(tr: Translator, node: c.UnknownNode) -> str:
    """An event that is not known, by its own type."""
    if node.own is not None:
        return own_title(tr, node.own)
    if node.known:
        return tr.t("{type} (not of the known shape)", type=name_text(node.type))
    if node.ignorable:
        return tr.t("{type} (unknown, may be ignored)", type=name_text(node.type))
    return tr.t("{type} (unknown; this program may not show the whole story)", type=name_text(node.type))


def row_title(tr: Translator, row: TrajectoryRow) -> str:
    """What a trajectory row is about, short."""
    match row.kind:
        case "tool":
            return tool_title(row.title)
        case "context":
            return notice_title(tr, row.tool_notice) if row.tool_notice else source_name(tr, row.title)
        case "header" if row.header_notice is not None:
            return header_summary(tr, row.header_notice)
        case "system":
            return system_title(tr, row.system_change) if row.system_change else tr.t("System prompt")
        case "user":
            return tr.t("Prompt")
        case "assistant":
            if row.title == "attempt":
                return tr.t("no answer")
            return tr.t("reasoning") if row.reasoning else name_text(row.title)
        case "compaction":
            return tr.t("Context compacted") if row.status == "ok" else tr.t("Compaction")
        case "retry":
            return tr.t("Retry")
        case "failure":
            if row.status == "failed":
                return failure_title(tr, row.error_code)
            return interruption_title(tr, row.title, row.gist if row.title == "aborted" else "")
        case "damage" if row.damage is not None:
            return damage_text(tr, row.damage)
        case "unknown" if row.own is not None:
            return own_title(tr, row.own)
        case _:
            return name_text(row.title)


def row_gist(tr: Translator, row: TrajectoryRow, longest: int = ROW_TEXT) -> str:
    """The beginning of what a trajectory row says; empty where its title says it all."""
    if row.kind == "tool":
        return arguments_gist(row.gist, longest)
    if row.kind in ("header", "damage") or row.tool_notice is not None:
        return ""
    if row.kind == "failure" and row.status != "failed":
        return ""
    return one_row(row.gist, longest)


def row_text(tr: Translator, row: TrajectoryRow, longest: int = ROW_TEXT) -> str:
    """A trajectory row in one line without its columns; at most `longest` characters of what it says."""
    title = "" if row.kind in ("user", "assistant") and row.gist else row_title(tr, row)
    outcome = "" if row.status in ("ok", "") or row.kind in ("failure", "damage") else row_outcome(tr, row)
    return _joined(title, row_gist(tr, row, longest), outcome)


def row_outcome(tr: Translator, row: TrajectoryRow) -> str:
    """How a row ended: its error code, else the state in words."""
    if row.error_code and row.status in ("error", "failed", ""):
        return name_text(row.error_code)
    return status_text(tr, row.status)


__all__ = [
    "answer_mark",
    "approval_title",
    "arguments_gist",
    "attempt_cause",
    "availability_text",
    "cause_text",
    "command_title",
    "compaction_title",
    "context_gist",
    "damage_place",
    "damage_text",
    "failure_title",
    "header_summary",
    "header_title",
    "interruption_title",
    "job_title",
    "kind_name",
    "node_text",
    "node_title",
    "note_title",
    "notice_parts",
    "notice_title",
    "one_row",
    "reasoning_title",
    "retry_title",
    "row_gist",
    "row_outcome",
    "row_text",
    "row_title",
    "source_name",
    "status_text",
    "subagent_title",
    "system_title",
    "todo_title",
    "tool_marks",
    "tool_outcome",
    "tool_text",
    "tool_title",
    "turn_name",
    "unknown_title",
    "words",
]
