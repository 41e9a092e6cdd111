"""The chat nodes of a session as JSON objects (CONTRACT, "JSON", view `chat`).

Facts stand under the contract's names; only `text` is in the reader's language. For prompts, answers and
thoughts `text` is the whole text, cleaned; `body` is always the text as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any

from tui.blocks.clean import clean, clean_line
from tui.blocks.wording import node_text
from tui.export.json_text import named, present
from tui.export.session_facts import damage_entry
from tui.i18n import Translator
from tui.nodes import chat as c
from tui.nodes.chat_index import NodeKind
from tui.nodes.chat_nodes import chat_node
from tui.nodes.notices import HeaderNotice, ToolNotice
from tui.nodes.reading import Reading

HEADINGS = frozenset((NodeKind.TURN, NodeKind.NOTE))


def chat_entries(reading: Reading, tr: Translator) -> Iterator[dict[str, Any]]:
    """Yield every chat node in order; the pane's headings are none."""
    kinds = reading.chat.index.kinds
    for index in range(len(kinds)):
        if kinds[index] not in HEADINGS:
            yield node_entry(chat_node(reading, index), tr)


def node_entry(node: c.ChatNode, tr: Translator) -> dict[str, Any]:
    """Return one node."""
    return {
        **present(kind=node.kind, seq=node.seq, turn=node.turn, step=node.step, time_ms=node.time_ms),
        "text": _text(node, tr),
        **named(replaced=node.replaced, repeated=node.repeated),
        **present(
            damage=damage_entry(node.fault) if node.fault is not None and node.kind != "damage" else None
        ),
        **_facts(node),
    }


def tool_change(notice: ToolNotice) -> dict[str, Any]:
    """Return the `tool_change` of a notice."""
    return {
        "added": [tool.name for tool in notice.added],
        "removed": [tool.name for tool in notice.removed],
        "restored": list(notice.restored),
        "redefined": list(notice.redefined),
        **present(header_seq=notice.header_seq if notice.added else None),
        "expandable": notice.expandable,
    }


def header_change(notice: HeaderNotice) -> dict[str, Any]:
    """Return what a header changed."""
    return {
        "redefined": [tool.name for tool in notice.redefined],
        **named(
            reason=notice.reason,
            added=list(notice.added),
            removed=list(notice.removed),
            config_changed=list(notice.config_changed),
            series_cause=notice.series_cause,
        ),
    }


def _text(node: c.ChatNode, tr: Translator) -> str:
    match node:
        case (
            c.UserNode(content=c.Content(text=whole))
            | c.AssistantNode(text=whole)
            | c.ReasoningNode(text=whole)
        ):
            if whole.strip():
                return clean(whole)
        case _:
            pass
    return clean_line(node_text(tr, node))


@singledispatch
def _facts(node: c.ChatNode) -> dict[str, Any]:
    """Return what a kind of node has beside what all have."""
    raise TypeError(f"a node of kind {node.kind} has no entry")


def _content(content: c.Content) -> dict[str, Any]:
    return named(
        attachments=[
            {
                "kind": item.kind,
                **named(name=item.name, media_type=item.media_type, attachment_id=item.attachment_id),
                **present(bytes=item.bytes, width=item.width, height=item.height),
            }
            for item in content.attachments
        ],
        blocks=_foreign(content.foreign),
    )


def _foreign(blocks: Sequence[c.ForeignBlock]) -> list[dict[str, Any]]:
    """Content blocks and stream chunks of unknown types, as recorded."""
    return [{"type": block.type, "data": block.data} for block in blocks]


@_facts.register
def _user(node: c.UserNode) -> dict[str, Any]:
    return {
        "body": node.content.text,
        **named(steering=node.steering, discarded=node.discarded, queued=node.queued, task=node.task),
        **_content(node.content),
    }


@_facts.register
def _assistant(node: c.AssistantNode) -> dict[str, Any]:
    foreign = node.foreign
    return {
        "body": node.text,
        **named(
            provider=node.provider,
            model=node.model,
            interrupted=node.interrupted,
            truncated=node.truncated,
            empty=node.empty,
            blocks=_foreign([foreign]) if foreign is not None else None,
            chunks=_foreign(node.foreign_chunks),
        ),
    }


@_facts.register
def _reasoning(node: c.ReasoningNode) -> dict[str, Any]:
    return {
        "body": node.text,
        **present(duration_ms=node.duration_ms),
        **named(
            truncated=node.truncated,
            interrupted=node.interrupted,
            chunks=_foreign(node.foreign_chunks),
        ),
    }


@_facts.register
def _tool(node: c.ToolNode) -> dict[str, Any]:
    has_result = node.state in ("ok", "error")
    return {
        "name": node.name,
        "call_id": node.call_id,
        "arguments": node.arguments,
        "status": node.state,
        **present(
            result=node.result.text if has_result else None,
            is_error=node.state == "error" if has_result else None,
            error_code=node.error_code or None,
            duration_ms=node.duration_ms,
            parent_call_id=node.parent_call_id,
        ),
        **named(
            error_name=node.error_name,
            shortened=node.shortened,
            chunks=_foreign(node.foreign_chunks),
        ),
        **_availability(node),
        **_content(node.result),
    }


def _availability(node: c.ToolNode) -> dict[str, Any]:
    """Whether the tool was there when it was called; nothing where that goes without saying."""
    if node.availability == "active":
        return {}
    return {"availability": node.availability, **present(availability_seq=node.availability_seq)}


@_facts.register
def _context(node: c.ContextNode) -> dict[str, Any]:
    return {
        "source": node.source,
        "body": node.content.text,
        **present(tool_change=tool_change(node.notice) if node.notice is not None else None),
        **named(form=node.form, summary=node.summary, details=dict(node.details)),
        **_content(node.content),
    }


@_facts.register
def _header(node: c.HeaderNode) -> dict[str, Any]:
    change = header_change(node.notice)
    if node.told:
        # The developer message right after it tells these.
        change.pop("added", None)
        change.pop("removed", None)
    return change


@_facts.register
def _system(node: c.SystemNode) -> dict[str, Any]:
    return {"change": node.change, "body": node.text}


@_facts.register
def _compaction(node: c.CompactionNode) -> dict[str, Any]:
    return {
        "body": node.summary,
        "status": node.state,
        "shadowed": node.shadowed,
        **present(duration_ms=node.duration_ms),
        **named(
            shadowed_tokens=node.shadowed_tokens,
            error=node.error,
            by_command=node.by_command,
            provider=node.provider,
            model=node.model,
        ),
    }


@_facts.register
def _retry(node: c.RetryNode) -> dict[str, Any]:
    return {
        "attempts": [
            {
                "seq": attempt.seq,
                "retry": attempt.retry,
                "delay_ms": round(attempt.delay_ms),
                "started": attempt.started,
                **present(max_retries=attempt.max_retries, status=attempt.status),
                **named(
                    code=attempt.code,
                    message=attempt.message,
                    request_id=attempt.request_id,
                    partial=attempt.partial,
                ),
            }
            for attempt in node.attempts
        ]
    }


@_facts.register
def _failure(node: c.FailureNode) -> dict[str, Any]:
    return {
        "code": node.code,
        "message": node.message,
        **present(status=node.status),
        **named(request_id=node.request_id, partial=node.partial, details=dict(node.details)),
    }


@_facts.register
def _interrupted(node: c.InterruptedNode) -> dict[str, Any]:
    return {
        "reason": node.reason,
        **named(cause=node.cause, detail=node.detail, last=node.last, partial=node.partial),
    }


@_facts.register
def _command(node: c.CommandNode) -> dict[str, Any]:
    return {"name": node.name, "arguments": node.arguments, "status": node.state, **named(output=node.text)}


@_facts.register
def _plan(node: c.PlanNode) -> dict[str, Any]:
    return {"active": node.active}


@_facts.register
def _todo(node: c.TodoNode) -> dict[str, Any]:
    return {"items": [{"content": item.content, "status": item.status} for item in node.items]}


@_facts.register
def _job(node: c.JobNode) -> dict[str, Any]:
    return {
        "job_id": node.job_id,
        **present(duration_ms=node.duration_ms),
        **named(
            job_kind=node.job_kind, label=node.label, status=node.status, detail=node.detail, late=node.late
        ),
    }


@_facts.register
def _approval(node: c.ApprovalNode) -> dict[str, Any]:
    return {"tool": node.tool, **named(reason=node.reason, outcome=node.outcome)}


@_facts.register
def _subagent(node: c.SubagentNode) -> dict[str, Any]:
    return {"child_id": node.child_id, "mode": node.mode, "label": node.label}


@_facts.register
def _title(node: c.TitleNode) -> dict[str, Any]:
    return {"title": node.title, **named(by=node.by)}


@_facts.register
def _unknown(node: c.UnknownNode) -> dict[str, Any]:
    return {
        "type": node.type,
        "ignorable": node.ignorable,
        **named(known=node.known),
        **present(data=node.data),
    }


@_facts.register
def _damage(node: c.DamageNode) -> dict[str, Any]:
    return {**damage_entry(node.damage), **named(raw=node.raw)}
