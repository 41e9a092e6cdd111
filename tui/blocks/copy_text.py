"""What copying gives: the logical text of a node or record, never the cells of the screen.

Prompts, answers and reasoning as they were written; calls as name, arguments and result; all others as the
sentence they show followed by what they hold.
"""

from __future__ import annotations

import json
from typing import Any

from tui.blocks.wording import node_text, row_text
from tui.i18n import Translator
from tui.nodes import chat as c
from tui.nodes.chat_nodes import content_of, message_of
from tui.nodes.notices import ToolLine, ToolNotice
from tui.nodes.reading import Reading
from tui.nodes.trajectory import trajectory_row
from tui.session.json_text import well_formed
from tui.session.json_value import as_array, as_object, as_text


def node_copy(node: c.ChatNode, tr: Translator) -> str:
    """The whole text of a node; well-formed Unicode, controls and markup as they stand in the log."""
    return well_formed(_node(node, tr))


def _node(node: c.ChatNode, tr: Translator) -> str:
    match node:
        case c.UserNode():
            return _content(node.content)
        case c.AssistantNode():
            return node.text if node.foreign is None else pretty(node.foreign.data)
        case c.ReasoningNode() | c.SystemNode():
            return node.text
        case c.ToolNode():
            return _paragraphs(f"{node.name} {node.arguments}".rstrip(), _content(node.result))
        case c.ContextNode():
            if node.notice is None:
                return _content(node.content) or node.summary
            return _paragraphs(notice_copy(tr, node.notice), _content(node.content))
        case c.CompactionNode():
            return _paragraphs(node_text(tr, node), node.summary or node.error)
        case c.RetryNode():
            tries = [f"{a.retry}. {a.code} {a.status or ''} {a.message}".strip() for a in node.attempts]
            return "\n".join([node_text(tr, node), *tries])
        case c.FailureNode():
            facts = [node.message, f"HTTP {node.status}" if node.status is not None else "", node.request_id]
            return "\n".join([node_text(tr, node), *(fact for fact in facts if fact)])
        case c.InterruptedNode():
            return _paragraphs(node_text(tr, node), node.partial)
        case c.CommandNode():
            return _paragraphs(f"/{node.name} {node.arguments}".strip(), node.text)
        case c.TodoNode():
            boxes = {"completed": "[x]", "in_progress": "[-]"}
            return "\n".join(f"{boxes.get(item.status, '[ ]')} {item.content}" for item in node.items)
        case c.TitleNode():
            return node.title
        case c.JobNode():
            return _paragraphs(node_text(tr, node), node.detail)
        case c.ApprovalNode():
            return _paragraphs(node_text(tr, node), node.reason)
        case c.UnknownNode():
            return _paragraphs(node.type, pretty(node.data))
        case c.DamageNode():
            return _paragraphs(node_text(tr, node), node.raw)
        case _:
            return node_text(tr, node)


def notice_copy(tr: Translator, notice: ToolNotice) -> str:
    """A tool change with every name, one a line."""
    from tui.blocks.wording_notices import notice_title

    def told(sign: str, tool: ToolLine) -> str:
        sign = "↺" if tool.restored else "≠" if tool.redefined else sign
        return f"{sign} {tool.name}" + (f"  {tool.description}" if tool.description else "")

    lines = [told("+", tool) for tool in notice.added] + [told("-", tool) for tool in notice.removed]
    return "\n".join([notice_title(tr, notice), *lines])


def _content(content: c.Content) -> str:
    parts = [content.text] if content.text else []
    parts += [f"[{entry.kind}] {entry.name or entry.attachment_id}" for entry in content.attachments]
    parts += [pretty(block.data) for block in content.foreign]
    return "\n\n".join(parts)


def _answer(blocks: Any) -> str:
    """An answer whole: reasoning, text, and the calls it asked for."""
    parts: list[str] = []
    for entry in as_array(blocks):
        block = as_object(entry)
        if block.get("type") == "tool-call":
            parts.append(f"{as_text(block.get('name'))} {as_text(block.get('arguments'))}")
        else:
            parts.append(_content(content_of([entry])))
    return "\n\n".join(part for part in parts if part)


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def pretty(value: Any) -> str:
    """A JSON value over several lines; a text as it is."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError:
        from tui.session.json_text import compact

        return compact(value)


def row_copy(reading: Reading, index: int, tr: Translator) -> str:
    """The text of a trajectory row: what its record says, whole, or the line that it shows."""
    row = trajectory_row(reading, index)
    event = reading.log.event(row.row)
    if row.tool_notice is not None:
        return well_formed(notice_copy(tr, row.tool_notice))
    if row.kind in ("user", "system", "context"):
        return well_formed(_content(content_of(message_of(event).get("content"))) or row_text(tr, row))
    if row.kind == "assistant" and row.title != "attempt":
        return well_formed(_answer(message_of(event).get("content")) or row_text(tr, row))
    if row.kind == "tool":
        end = reading.trajectory.index.ends[index]
        result = as_object(reading.log.event(end).data) if end >= 0 else {}
        blocks = as_object(result.get("message")).get("content") or result.get("content")
        arguments = as_object(event.data).get("arguments")
        told = arguments if isinstance(arguments, str) else "" if arguments is None else pretty(arguments)
        return well_formed(_paragraphs(f"{row.title} {told}".rstrip(), _content(content_of(blocks))))
    if row.kind in ("event", "unknown"):
        return well_formed(_paragraphs(row_text(tr, row).split("  ")[0], pretty(event.data)))
    if row.kind == "damage":
        raw = reading.log.raw(row.row).decode("utf-8", "replace")
        return _paragraphs(row_text(tr, row), raw)
    return well_formed(row_text(tr, row))
