"""Chat nodes as sections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

from tui.blocks import wording as w
from tui.blocks.clean import clean_line
from tui.export.sections import HEADING, Code, Item, Items, Markup, Part, Prose, Section, turn_facts
from tui.i18n import Translator
from tui.nodes import chat as c
from tui.nodes.chat_nodes import chat_node
from tui.nodes.notices import ToolLine, ToolNotice
from tui.nodes.reading import Reading
from tui.session.json_text import compact

_PRETTY = 1_000_000
"""Characters of JSON up to which it is set over several lines."""


class _Said(NamedTuple):
    """What a kind of node adds to its section."""

    title: str
    parts: Sequence[Part] = ()
    facts: Sequence[str] = ()
    glyph: str = ""


def chat_sections(reading: Reading, tr: Translator, first: int = 0) -> Iterator[Section]:
    """Yield the nodes of the Chat from the node at `first` on, headings of turns among them."""
    for index in range(first, len(reading.chat.index)):
        node = chat_node(reading, index)
        if isinstance(node, c.TurnNode):
            turn = reading.turns.turns[reading.chat.index.turns[index]]
            title = w.turn_name(tr, node.number)
            yield Section(glyph="turn", title=title, level=HEADING, facts=turn_facts(tr, turn))
        else:
            yield chat_section(node, tr)


def chat_section(node: c.ChatNode, tr: Translator) -> Section:
    """Return the section of one node that is no heading of a turn."""
    said = _said(node, tr)
    facts = list(said.facts)
    title = clean_line(said.title)
    if node.time_ms is not None:
        facts.insert(0, tr.clock(node.time_ms))
    if node.replaced:
        facts.append(tr.t("out of context"))
    if node.repeated:
        facts.append(tr.t("its number is used twice"))
    parts = list(said.parts)
    if node.fault is not None and not isinstance(node, c.DamageNode):
        parts.append(Prose(w.damage_text(tr, node.fault)))
    return Section(
        glyph=said.glyph or node.kind,
        title=title[:1].upper() + title[1:] if isinstance(node, c.ContextNode) else title,
        seq=node.seq,
        facts=tuple(clean_line(fact) for fact in facts if fact),
        parts=tuple(part for part in parts if not _is_empty(part)),
        nested=isinstance(node, c.ToolNode) and node.nested,
        faint=node.replaced or (isinstance(node, c.UserNode) and node.discarded),
    )


@singledispatch
def _said(node: c.ChatNode, tr: Translator) -> _Said:
    """Return what a kind of node says."""
    raise TypeError(f"a node of kind {node.kind} has no section")


def pretty(text: str) -> str:
    """Return JSON over several lines; a text that is none, or too long or deep for it, as it stands."""
    if len(text) > _PRETTY:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def pretty_value(value: Any) -> str:
    """Return a recorded JSON value over several lines."""
    return pretty(compact(value))


def change_lists(tr: Translator, notice: ToolNotice) -> tuple[Items, ...]:
    """Return the tools of a notice, added and removed apart."""
    return (
        Items(_tools(tr, notice.added, "added"), tr.t("added")),
        Items(_tools(tr, notice.removed, "removed"), tr.t("removed")),
    )


def _tools(tr: Translator, lines: Sequence[ToolLine], mark: str) -> tuple[Item, ...]:
    return tuple(
        Item(
            "restored" if line.restored else "redefined" if line.redefined else mark,
            line.name,
            "  ".join(part for part in (w.tool_marks(tr, line), line.description) if part),
        )
        for line in lines
    )


def _content(tr: Translator, content: c.Content, *, is_code: bool = False) -> list[Part]:
    parts: list[Part] = [Code(content.text, tr.t("result")) if is_code else Prose(content.text)]
    parts += [Prose(_attachment(tr, item)) for item in content.attachments]
    parts += [_foreign(tr, block) for block in content.foreign]
    return parts


def _attachment(tr: Translator, item: c.Attachment) -> str:
    name = clean_line(item.name or item.attachment_id)
    head = tr.t("Image: {name}", name=name) if item.kind == "image" else tr.t("File: {name}", name=name)
    size = f"{item.width}×{item.height}" if item.width and item.height else ""
    bytes_ = tr.size(item.bytes) if item.bytes is not None else ""
    return " · ".join(part for part in (head, item.media_type, size, bytes_) if part)


def _foreign(tr: Translator, block: c.ForeignBlock) -> Code:
    label = tr.t("Unknown content block: {type}", type=clean_line(block.type) or "?")
    return Code(pretty_value(block.data), label, "json")


def _chunks(tr: Translator, node: c.AssistantNode | c.ReasoningNode | c.ToolNode) -> list[Part]:
    """Parts of the answer's stream of unknown kinds."""
    return [
        Code(
            pretty_value(chunk.data),
            tr.t("Unknown part of the stream: {type}", type=clean_line(chunk.type)),
            "json",
        )
        for chunk in node.foreign_chunks
    ]


@_said.register
def _note(node: c.NoteNode, tr: Translator) -> _Said:
    return _Said(w.note_title(tr, node))


@_said.register
def _user(node: c.UserNode, tr: Translator) -> _Said:
    facts = [tr.t("steering, while the turn ran")] if node.steering else []
    if node.discarded:
        facts.append(tr.t("taken back, never sent"))
    if node.queued:
        facts.append(tr.t("still waiting in the queue"))
    title = tr.t("Task of the parent session") if node.task else tr.t("You")
    return _Said(title, _content(tr, node.content), facts)


@_said.register
def _assistant(node: c.AssistantNode, tr: Translator) -> _Said:
    parts: list[Part] = [Markup(node.text)]
    mark = w.answer_mark(tr, node)
    if node.foreign is not None:
        parts.append(_foreign(tr, node.foreign))
    elif mark:
        parts.append(Prose(mark))
    return _Said(tr.t("Answer"), [*parts, *_chunks(tr, node)], [node.model])


@_said.register
def _reasoning(node: c.ReasoningNode, tr: Translator) -> _Said:
    facts = [tr.t("cut off")] if node.truncated else [tr.t("interrupted")] if node.interrupted else []
    return _Said(w.reasoning_title(tr, node), [Prose(node.text), *_chunks(tr, node)], facts)


@_said.register
def _tool(node: c.ToolNode, tr: Translator) -> _Said:
    facts = [w.status_text(tr, node.state)]
    if node.state == "error":
        facts.append(node.error_code or node.error_name)
    if node.duration_ms is not None:
        facts.append(tr.duration(node.duration_ms))
    facts.append(w.availability_text(tr, node))
    if node.shortened:
        facts.append(tr.t("shortened for the model"))
    arguments = "" if node.arguments.strip() in ("", "{}") else pretty(node.arguments)
    parts: list[Part] = [
        Code(arguments, tr.t("arguments"), "json"),
        *_content(tr, node.result, is_code=True),
        *_chunks(tr, node),
    ]
    return _Said(w.tool_title(node.name), parts, facts)


@_said.register
def _context(node: c.ContextNode, tr: Translator) -> _Said:
    content = _content(tr, node.content)
    if node.notice is None:
        return _Said(w.source_name(tr, node.source), content, [node.summary])
    facts = [tr.t("header {seq}", seq=node.notice.header_seq)] if node.notice.header_seq is not None else []
    parts = [*change_lists(tr, node.notice), *content]
    return _Said(w.notice_title(tr, node.notice), parts, facts, "tool-change")


@_said.register
def _header(node: c.HeaderNode, tr: Translator) -> _Said:
    notice = node.notice
    parts = [
        Items(_tools(tr, notice.redefined, "redefined"), tr.t("redefined")),
    ]
    if not node.told:
        parts.append(Items(tuple(Item("added", name) for name in notice.added), tr.t("added")))
        parts.append(Items(tuple(Item("removed", name) for name in notice.removed), tr.t("removed")))
    return _Said(w.header_title(tr, notice), parts)


@_said.register
def _system(node: c.SystemNode, tr: Translator) -> _Said:
    return _Said(w.system_title(tr, node.change), [Prose(node.text)])


@_said.register
def _compaction(node: c.CompactionNode, tr: Translator) -> _Said:
    facts = [node.model, tr.duration(node.duration_ms) if node.duration_ms is not None else ""]
    error = Prose(node.error) if node.state == "failed" else Prose("")
    return _Said(w.compaction_title(tr, node), [error, Markup(node.summary)], facts)


@_said.register
def _retry(node: c.RetryNode, tr: Translator) -> _Said:
    items: list[Item] = []
    partial: list[Part] = []
    for attempt in node.attempts:
        wait = tr.t("{time} waited", time=tr.duration(attempt.delay_ms)) if attempt.started else ""
        request = tr.t("request id {id}", id=attempt.request_id) if attempt.request_id else ""
        note = " · ".join(part for part in (attempt.message, wait, request) if part)
        items.append(Item("retry", w.attempt_cause(attempt) or tr.t("unknown cause"), note))
        partial.append(Prose(attempt.partial, tr.t("discarded text")))
    return _Said(w.retry_title(tr, node), [Items(tuple(items)), *partial])


@_said.register
def _failure(node: c.FailureNode, tr: Translator) -> _Said:
    facts = [
        tr.t("HTTP {status}", status=node.status) if node.status is not None else "",
        tr.t("request id {id}", id=node.request_id) if node.request_id else "",
    ]
    details = Code(pretty_value(dict(node.details)), tr.t("details"), "json") if node.details else Prose("")
    parts = [Prose(node.message), Prose(node.partial, tr.t("discarded text")), details]
    return _Said(w.failure_title(tr, node.code), parts, facts)


@_said.register
def _interrupted(node: c.InterruptedNode, tr: Translator) -> _Said:
    title = w.interruption_title(tr, node.reason, node.cause, node.detail)
    return _Said(title, [Prose(node.partial, tr.t("discarded text"))])


@_said.register
def _command(node: c.CommandNode, tr: Translator) -> _Said:
    return _Said(w.command_title(node), [Prose(node.text)], [w.status_text(tr, node.state)])


@_said.register
def _todo(node: c.TodoNode, tr: Translator) -> _Said:
    items = tuple(Item(item.status, item.content, w.status_text(tr, item.status)) for item in node.items)
    return _Said(w.todo_title(tr, node), [Items(items)])


@_said.register
def _job(node: c.JobNode, tr: Translator) -> _Said:
    facts = [node.job_id, tr.duration(node.duration_ms) if node.duration_ms is not None else ""]
    return _Said(w.job_title(tr, node), [Prose(node.detail)], facts)


@_said.register
def _approval(node: c.ApprovalNode, tr: Translator) -> _Said:
    return _Said(w.approval_title(tr, node), [Prose(node.reason)])


@_said.register
def _unknown(node: c.UnknownNode, tr: Translator) -> _Said:
    return _Said(w.unknown_title(tr, node), [Code(pretty_value(node.data), language="json")])


@_said.register
def _damage(node: c.DamageNode, tr: Translator) -> _Said:
    return _Said(w.damage_text(tr, node.damage), [Code(node.raw, tr.t("The line as it stands"))])


@_said.register(c.PlanNode)
@_said.register(c.TitleNode)
def _titled(node: c.ChatNode, tr: Translator) -> _Said:
    return _Said(w.node_title(tr, node))


@_said.register
def _subagent(node: c.SubagentNode, tr: Translator) -> _Said:
    return _Said(w.subagent_title(tr, node), facts=[node.child_id])


def _is_empty(part: Part) -> bool:
    return not part.items if isinstance(part, Items) else not part.text.strip()
