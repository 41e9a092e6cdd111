"""Making one chat node: its events decoded, its facts put together.

Called for the nodes on the screen and by the exports; the fold (`chat_index`) has only noted where they
lie. Payloads are read with tolerance: what has another shape than the format says is left out, never an
error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tui.nodes import chat as c
from tui.nodes.chat_index import Flag, NodeKind
from tui.nodes.content import (
    content_of,
    foreign_chunks_at,
    is_last_block,
    message_of,
    partial_text,
    span_ms,
)
from tui.nodes.node_facts import base_facts, data_of, first_event, flags_of, later_event
from tui.nodes.notices import HeaderNotice, ToolNotice, header_notice, tool_notice
from tui.nodes.reading import Reading
from tui.nodes.tool_nodes import tool_node
from tui.session.events import DAMAGE_TYPE, Event
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.stream import block_spans, finish
from tui.session.tool_definition import by_name

_RAW_SHOWN = 4096


def chat_node(reading: Reading, index: int) -> c.ChatNode:
    """The node at a position, decoded."""
    return _BUILDERS[NodeKind(reading.chat.index.kinds[index])](reading, index)


def _turn(reading: Reading, index: int) -> c.TurnNode:
    at = reading.chat.index.turns[index]
    turn = reading.turns.turns[at]
    running = reading.turns.is_running(at)
    given_up = turn.is_open and (reading.complete or not running)
    return c.TurnNode(
        **base_facts(reading, index),
        number=turn.number,
        is_open=turn.is_open,
        reason="open" if given_up else turn.reason,
        duration_ms=turn.duration_ms,
        steps=turn.steps,
        calls=turn.calls,
        failed_calls=turn.failed_calls,
        tool_changes=turn.tool_changes,
        tokens=turn.tokens,
        input_tokens=turn.input_tokens + turn.cache_read_tokens + turn.cache_write_tokens,
        output_tokens=turn.output_tokens,
        cache_share=turn.cache_share,
    )


def _note(reading: Reading, index: int) -> c.NoteNode:
    forked = bool(flags_of(reading, index) & Flag.MARKED)
    # Markers of ancestors stay inside the inherited part; only the last one is this session's own fork.
    own = reading.chat.fork_row == reading.chat.index.rows[index]
    parent = reading.log.header.parent_session or "" if own else ""
    return c.NoteNode(
        **base_facts(reading, index), what="forked" if forked else "resumed", parent=parent if forked else ""
    )


def _user(reading: Reading, index: int) -> c.UserNode:
    flags = flags_of(reading, index)
    base = base_facts(reading, index)
    if flags & (Flag.CUT | Flag.ABSENT):
        return _waiting_prompt(reading, index, base)
    message = message_of(first_event(reading, index))
    header, source = reading.log.header, as_object(message.get("source"))
    return c.UserNode(
        **base,
        content=content_of(message.get("content")),
        steering=bool(flags & Flag.MARKED),
        task=header.origin == "subagent"
        and base["row"] > reading.chat.fork_row
        and not (reading.log.partial and header.is_seeded and reading.chat.fork_row < 0)
        and not source.get("principal"),
    )


def _waiting_prompt(reading: Reading, index: int, base: dict[str, Any]) -> c.UserNode:
    """A prompt that never left the inbox; its text stands where it was inserted."""
    flags, inserted_row = flags_of(reading, index), reading.chat.index.mids[index]
    inserted = as_array(data_of(later_event(reading, inserted_row)).get("inserted"))
    message = as_object(inserted[base["block"]]) if base["block"] < len(inserted) else {}
    queued = bool(flags & Flag.ABSENT)
    if queued:
        base["seq"], base["time_ms"] = reading.log.seq(inserted_row), reading.log.time(inserted_row) or None
        base["turn"] = base["step"] = None
    return c.UserNode(**base, content=content_of(message.get("content")), discarded=not queued, queued=queued)


def _answer_block(reading: Reading, index: int) -> tuple[Event, dict[str, Any], Any]:
    event = first_event(reading, index)
    message = message_of(event)
    blocks = as_array(message.get("content"))
    position = reading.chat.index.blocks[index]
    return event, message, blocks[position] if position < len(blocks) else None


def _assistant(reading: Reading, index: int) -> c.AssistantNode:
    event, message, entry = _answer_block(reading, index)
    block, source = as_object(entry), as_object(message.get("source"))
    kind = as_text(block.get("type"))
    text = as_text(block.get("text")) if kind == "text" else ""
    interrupted, truncated = _cuts(reading, index, event)
    return c.AssistantNode(
        **base_facts(reading, index),
        text=text,
        provider=as_text(source.get("provider")),
        model=as_text(source.get("model")),
        interrupted=interrupted,
        truncated=truncated,
        empty=entry is None or (kind == "text" and not text.strip()),
        foreign=None if kind == "text" or entry is None else c.ForeignBlock(type=kind, data=entry),
        foreign_chunks=foreign_chunks_at(event, reading.chat.index.blocks[index]),
    )


def _cuts(reading: Reading, index: int, event: Event) -> tuple[bool, bool]:
    """Whether this piece of answer was interrupted, and whether the token limit cut it."""
    data = data_of(event)
    cut = bool(flags_of(reading, index) & Flag.CUT)
    if data.get("interrupted") is True:
        return cut, False
    if not cut and is_last_block(event, reading.chat.index.blocks[index]):
        end = finish(data.get("stream"))
        cut = end is not None and end.kind == "max-tokens"
    return False, cut


def _reasoning(reading: Reading, index: int) -> c.ReasoningNode:
    event, _, entry = _answer_block(reading, index)
    data = as_object(event.data)
    interrupted, truncated = _cuts(reading, index, event)
    position = reading.chat.index.blocks[index]
    thought = [span for span in block_spans(data.get("stream")) if span.type == "reasoning"]
    # Block indexes of a stream are the provider's; the n-th reasoning block of the message is the n-th of
    # the stream.
    earlier = as_array(message_of(event).get("content"))[:position]
    order = sum(1 for block in earlier if as_object(block).get("type") == "reasoning")
    span = thought[order] if order < len(thought) else None
    return c.ReasoningNode(
        **base_facts(reading, index),
        text=as_text(as_object(entry).get("text")),
        duration_ms=span_ms(span.first_ms, span.last_ms) if span is not None else None,
        truncated=truncated,
        interrupted=interrupted,
        foreign_chunks=foreign_chunks_at(event, position),
    )


def _context(reading: Reading, index: int) -> c.ContextNode:
    event = first_event(reading, index)
    message = message_of(event)
    source = as_object(message.get("source"))
    notice = _notice(reading, event.seq) if event.type == "developer/message" else None
    known = {"kind", "form", "summary"}
    return c.ContextNode(
        **base_facts(reading, index),
        source=as_text(source.get("kind")),
        form=as_text(source.get("form")),
        summary=as_text(source.get("summary")),
        content=content_of(message.get("content")),
        details={key: value for key, value in source.items() if key not in known},
        notice=notice,
    )


def _notice(reading: Reading, seq: int) -> ToolNotice | None:
    change = reading.tools.change_at(seq)
    return tool_notice(change) if change is not None else None


def notice_at(reading: Reading, seq: int) -> ToolNotice | None:
    """The tool-change notice of the developer message at this number."""
    return _notice(reading, seq)


def header_notice_at(reading: Reading, seq: int) -> HeaderNotice:
    """What the request header at this number says and changes."""
    position = reading.header_positions.get(seq, -1)
    entry = reading.tools.headers[position] if position >= 0 else None
    change = reading.tools.header_change_at(seq)
    if entry is None or change is None:
        tools = entry.tools if entry is not None else ()
        return HeaderNotice(
            seq=seq,
            reason=entry.reason if entry is not None else "",
            redefined=(),
            added=(),
            removed=(),
            reordered=False,
            config_changed=(),
            series_cause="initial" if entry is not None and not reading.log.partial else None,
            tool_count=len(tools),
            model=entry.model if entry is not None else "",
            provider=entry.provider if entry is not None else "",
            first=not reading.log.partial,
        )
    return header_notice(
        change,
        dict(by_name(entry.tools)),
        tool_count=len(entry.tools),
        provider=entry.provider,
        model=entry.model,
    )


def _header(reading: Reading, index: int) -> c.HeaderNode:
    base = base_facts(reading, index)
    notice = header_notice_at(reading, base["seq"] if base["seq"] is not None else -1)
    return c.HeaderNode(**base, notice=notice, told=_told(reading, index, notice))


def _told(reading: Reading, index: int, notice: HeaderNotice) -> bool:
    """True if the node after a header is a tool change that tells its added and removed names."""
    columns = reading.chat.index
    after = index + 1
    if not (notice.added or notice.removed) or after >= len(columns):
        return False
    return columns.kinds[after] == NodeKind.CONTEXT and bool(columns.flags[after] & Flag.MARKED)


def _system(reading: Reading, index: int) -> c.SystemNode:
    event = first_event(reading, index)
    text = content_of(message_of(event).get("content")).text
    return c.SystemNode(**base_facts(reading, index), change=system_change(reading, event, text), text=text)


def system_change(reading: Reading, event: Event, text: str) -> c.SystemChange:
    """What a system message does to the prompt (spec session-format §4.3)."""
    if isinstance(event.surface_op, dict):
        return "replaced" if text else "cleared"
    # The first one is the head even if it is empty; an empty one that is only appended clears nothing.
    first = event.row == reading.chat.first_system and not reading.log.partial
    return "initial" if first else "appended"


def _compaction(reading: Reading, index: int) -> c.CompactionNode:
    columns, log = reading.chat.index, reading.log
    row, mid, end = columns.rows[index], columns.mids[index], columns.ends[index]
    summary, ended = data_of(later_event(reading, mid)), data_of(later_event(reading, end))
    flags = flags_of(reading, index)
    state = "failed" if flags & Flag.ERROR else "done" if flags & Flag.DONE else None
    return c.CompactionNode(
        **base_facts(reading, index),
        summary=content_of(summary.get("summary")).text,
        shadowed=len(as_array(summary.get("shadowedSeqs"))),
        shadowed_tokens=as_count(summary.get("shadowedTokenCount")) or 0,
        state=state or ("abandoned" if reading.complete or flags & Flag.CUT else "running"),
        error=as_text(ended.get("error")),
        by_command="sourceCommandId" in data_of(log.event(row)),
        duration_ms=span_ms(log.time(row), log.time(end)) if end >= 0 else None,
        provider=as_text(summary.get("provider")),
        model=as_text(summary.get("model")),
    )


def _retry(reading: Reading, index: int) -> c.RetryNode:
    attempts: list[c.RetryAttempt] = []
    partial, started = (
        "",
        {as_count(data_of(e).get("retry")) for e in _retry_events(reading, index, "llm/retry-started")},
    )
    for row in reading.chat.retry_rows.get(index, []):
        event = reading.log.event(row)
        if event.type == "assistant/attempt":
            partial = partial_text(event)
        elif event.type == "llm/retry":
            attempts.append(
                retry_attempt(
                    event, started=as_count(data_of(event).get("retry")) in started, partial=partial
                )
            )
            partial = ""
    return c.RetryNode(**base_facts(reading, index), attempts=tuple(attempts))


def _retry_events(reading: Reading, index: int, kind: str) -> list[Event]:
    rows = reading.chat.retry_rows.get(index, [])
    return [reading.log.event(row) for row in rows if reading.log.type_name(row) == kind]


def retry_attempt(event: Event, *, started: bool, partial: str = "") -> c.RetryAttempt:
    """The facts of one `llm/retry`."""
    data = data_of(event)
    failure = as_object(data.get("failure"))
    delay = data.get("delayMs")
    return c.RetryAttempt(
        seq=event.seq,
        retry=as_count(data.get("retry")) or 0,
        max_retries=as_count(data.get("maxRetries")),
        delay_ms=float(delay) if isinstance(delay, (int, float)) else 0.0,
        code=as_text(failure.get("code")),
        message=as_text(failure.get("message")),
        status=as_count(failure.get("status")),
        request_id=as_text(failure.get("requestId")),
        started=started,
        partial=partial,
    )


def _failure(reading: Reading, index: int) -> c.FailureNode:
    event = first_event(reading, index)
    failure = as_object(as_object(data_of(event).get("reason")).get("error"))
    attempt = later_event(reading, reading.chat.attempts.get(index, -1))
    known = {"code", "message", "status", "requestId"}
    return c.FailureNode(
        **base_facts(reading, index),
        code=as_text(failure.get("code")),
        message=as_text(failure.get("message")),
        status=as_count(failure.get("status")),
        request_id=as_text(failure.get("requestId")),
        partial=partial_text(attempt),
        details={key: value for key, value in failure.items() if key not in known},
    )


def _interrupted(reading: Reading, index: int) -> c.InterruptedNode:
    event = first_event(reading, index)
    attempt = later_event(reading, reading.chat.attempts.get(index, -1))
    if reading.log.type_name(event.row) != "turn/end":
        return _unfinished(reading, index, attempt)
    reason = as_object(data_of(event).get("reason"))
    why = reason.get("reason")
    return c.InterruptedNode(
        **base_facts(reading, index),
        reason=as_text(reason.get("kind")),
        cause=as_text(as_object(why).get("kind")),
        detail=as_text(as_object(why).get("reason")) or as_text(why),
        partial=partial_text(attempt),
    )


def _unfinished(reading: Reading, index: int, attempt: Event | None) -> c.InterruptedNode:
    """A turn without an end: the process was killed, or (not at the end of the log) its end is lost."""
    log, base = reading.log, base_facts(reading, index)
    last = base["row"] - 1 if log.type_name(base["row"]) == "turn/start" else base["row"]
    while last > 0 and log.type_name(last) == DAMAGE_TYPE:
        last -= 1
    seq = log.seq(last)
    base["seq"], base["time_ms"] = seq if seq >= 0 else None, log.time(last) or None
    base["repeated"], base["fault"] = False, None
    return c.InterruptedNode(
        **base, reason="open", last=log.type_name(last), cause="", detail="", partial=partial_text(attempt)
    )


def _command(reading: Reading, index: int) -> c.CommandNode:
    run, end = first_event(reading, index), later_event(reading, reading.chat.index.ends[index])
    flags, done = flags_of(reading, index), data_of(end)
    return c.CommandNode(
        **base_facts(reading, index),
        name=as_text(data_of(run).get("name")),
        arguments=as_text(data_of(run).get("args")),
        state="running" if not flags & Flag.DONE else "error" if flags & Flag.ERROR else "ok",
        text=as_text(done.get("text")),
    )


def _plan(reading: Reading, index: int) -> c.PlanNode:
    return c.PlanNode(
        **base_facts(reading, index), active=data_of(first_event(reading, index)).get("active") is True
    )


def _todo(reading: Reading, index: int) -> c.TodoNode:
    todos = (as_object(todo) for todo in as_array(data_of(first_event(reading, index)).get("todos")))
    items = tuple(
        c.TodoItem(content=as_text(todo.get("content")), status=as_text(todo.get("status"))) for todo in todos
    )
    return c.TodoNode(**base_facts(reading, index), items=items)


def _job(reading: Reading, index: int) -> c.JobNode:
    settled = data_of(later_event(reading, reading.chat.index.ends[index]))
    facts = data_of(first_event(reading, index))
    started, finished = as_count(facts.get("startedAt")), as_count(settled.get("finishedAt"))
    return c.JobNode(
        **base_facts(reading, index),
        job_id=as_text(facts.get("jobId")),
        job_kind=as_text(facts.get("kind")),
        label=as_text(facts.get("label")),
        status=as_text(settled.get("status")),
        detail=as_text(settled.get("detail")),
        duration_ms=span_ms(started, finished) if started is not None and finished is not None else None,
        late=bool(flags_of(reading, index) & Flag.MARKED),
    )


def _approval(reading: Reading, index: int) -> c.ApprovalNode:
    asked, decided = (
        data_of(first_event(reading, index)),
        data_of(later_event(reading, reading.chat.index.ends[index])),
    )
    return c.ApprovalNode(
        **base_facts(reading, index),
        tool=as_text(asked.get("toolName")),
        reason=as_text(asked.get("reason")),
        outcome=as_text(decided.get("outcome")),
        is_open=not decided
        and not reading.complete
        and reading.turns.is_running(reading.chat.index.turns[index]),
    )


def _subagent(reading: Reading, index: int) -> c.SubagentNode:
    data = data_of(first_event(reading, index))
    return c.SubagentNode(
        **base_facts(reading, index),
        child_id=as_text(data.get("childId")),
        mode=as_text(data.get("mode")),
        label=as_text(data.get("label")),
    )


def _title(reading: Reading, index: int) -> c.TitleNode:
    data = data_of(first_event(reading, index))
    by = as_text(as_object(data.get("source")).get("kind"))
    return c.TitleNode(**base_facts(reading, index), title=as_text(data.get("title")), by=by)


def _unknown(reading: Reading, index: int) -> c.UnknownNode:
    record = reading.log.unknown(reading.chat.index.rows[index])
    event = first_event(reading, index)
    return c.UnknownNode(
        **base_facts(reading, index),
        type=record.type_name if record is not None else event.type,
        ignorable=record.ignorable if record is not None else event.ignorable,
        known=record.known if record is not None else False,
        data=event.data,
    )


def _damage(reading: Reading, index: int) -> c.DamageNode:
    row = reading.chat.index.rows[index]
    damage = reading.log.damage_at(row)
    assert damage is not None, "a damage row without its damage"
    raw = reading.log.raw(row)[:_RAW_SHOWN].decode("utf-8", "replace")
    return c.DamageNode(**base_facts(reading, index), damage=damage, raw=raw)


_BUILDERS: dict[NodeKind, Callable[[Reading, int], c.ChatNode]] = {
    NodeKind.TURN: _turn,
    NodeKind.NOTE: _note,
    NodeKind.USER: _user,
    NodeKind.ASSISTANT: _assistant,
    NodeKind.REASONING: _reasoning,
    NodeKind.TOOL: tool_node,
    NodeKind.CONTEXT: _context,
    NodeKind.HEADER: _header,
    NodeKind.SYSTEM: _system,
    NodeKind.COMPACTION: _compaction,
    NodeKind.RETRY: _retry,
    NodeKind.FAILURE: _failure,
    NodeKind.INTERRUPTED: _interrupted,
    NodeKind.COMMAND: _command,
    NodeKind.PLAN: _plan,
    NodeKind.TODO: _todo,
    NodeKind.JOB: _job,
    NodeKind.APPROVAL: _approval,
    NodeKind.SUBAGENT: _subagent,
    NodeKind.TITLE: _title,
    NodeKind.UNKNOWN: _unknown,
    NodeKind.DAMAGE: _damage,
}
