"""Builders of chat nodes and notices with everything filled in that a test does not care about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tui.nodes import chat as c
from tui.nodes.notices import HeaderNotice, ToolLine, ToolNotice
from tui.nodes.reading import Reading
from tui.session.damage import Damage

RECORDINGS = Path(__file__).resolve().parent.parent / "recordings"
PLACE: dict[str, Any] = {"index": 3, "row": 3, "seq": 3, "turn": 2, "step": 1, "time_ms": 1_796_049_336_733}


def reading_of(name: str) -> Reading:
    """One of the repository's own recordings, read to its end."""
    return Reading.open(RECORDINGS / name / "session.v4.jsonl").read_all()


def tool_line(
    name: str, description: str = "", *, restored: bool = False, redefined: bool = False
) -> ToolLine:
    return ToolLine(name=name, description=description, restored=restored, redefined=redefined)


def notice(added: tuple[ToolLine, ...] = (), removed: tuple[ToolLine, ...] = ()) -> ToolNotice:
    return ToolNotice(seq=28, header_seq=27 if added else None, added=added, removed=removed)


def header(**facts: Any) -> HeaderNotice:
    known: dict[str, Any] = {
        "seq": 27,
        "reason": "change",
        "redefined": (),
        "added": (),
        "removed": (),
        "reordered": False,
        "config_changed": (),
        "series_cause": None,
        "tool_count": 5,
        "model": "deepseek-flash",
        "provider": "deepseek-official",
    }
    return HeaderNotice(**{**known, **facts})


def tool(**facts: Any) -> c.ToolNode:
    known: dict[str, Any] = {
        **PLACE,
        "name": "mcp__saltmarsh__count_moths",
        "call_id": "call_1",
        "arguments": '{"lamp": "north"}',
        "state": "ok",
        "result": c.Content(text="12 moths"),
        "error_code": "",
        "error_name": "",
        "duration_ms": 12,
    }
    return c.ToolNode(**{**known, **facts})


def turn(**facts: Any) -> c.TurnNode:
    known: dict[str, Any] = {
        **PLACE,
        "number": 2,
        "is_open": False,
        "reason": "completed",
        "duration_ms": 1200,
        "steps": 2,
        "calls": 2,
        "failed_calls": 0,
        "tool_changes": 0,
        "tokens": 1000,
        "input_tokens": 900,
        "output_tokens": 100,
        "cache_share": 0.54,
    }
    return c.TurnNode(**{**known, **facts})


def context(text: str = "", told: ToolNotice | None = None, **facts: Any) -> c.ContextNode:
    known: dict[str, Any] = {
        **PLACE,
        "source": "tool-registry" if told is not None else "runtime-context",
        "form": "",
        "summary": "",
        "content": c.Content(text=text),
        "details": {},
        "notice": told,
    }
    return c.ContextNode(**{**known, **facts})


def every_kind(text: str) -> list[c.ChatNode]:
    """A node of each kind with the same text wherever a log can put one."""
    content = c.Content(
        text=text,
        attachments=(c.Attachment(kind="image", name=text, bytes=12, width=2, height=3, media_type=text),),
        foreign=(c.ForeignBlock(type=text, data={"said": text}),),
    )
    attempt = c.RetryAttempt(
        seq=1,
        retry=1,
        max_retries=3,
        delay_ms=500,
        code=text,
        message=text,
        status=529,
        request_id=text,
        started=True,
        partial=text,
    )
    line = tool_line(text, text, restored=True)
    return [
        turn(reason=text),
        c.NoteNode(**PLACE, what="forked", parent=text),
        c.UserNode(**PLACE, content=content, steering=True),
        c.UserNode(**PLACE, content=content, discarded=True),
        c.AssistantNode(**PLACE, text=text, provider=text, model=text, truncated=True),
        c.AssistantNode(
            **PLACE, text="", provider="", model="", foreign=c.ForeignBlock(type=text, data={text: text})
        ),
        c.ReasoningNode(**PLACE, text=text, duration_ms=300),
        tool(name=text, arguments=text, result=content, state="error", error_code=text, error_name=text),
        tool(nested=True, availability="removed", availability_seq=44, arguments=f'{{"a": {text!r}}}'),
        context(text, source=text, summary=text, content=content),
        context("", notice((line,), (line,)), content=content),
        context("", notice((line,))),
        c.HeaderNode(
            **PLACE, notice=header(redefined=(line,), added=(text,), config_changed=(text, "model"))
        ),
        c.SystemNode(**PLACE, change="replaced", text=text),
        c.CompactionNode(
            **PLACE,
            summary=text,
            shadowed=12,
            shadowed_tokens=3400,
            state="failed",
            error=text,
            by_command=True,
            duration_ms=9,
            model=text,
        ),
        c.RetryNode(**PLACE, attempts=(attempt, attempt)),
        c.FailureNode(
            **PLACE, code=text, message=text, status=500, request_id=text, partial=text, details={"k": text}
        ),
        c.InterruptedNode(**PLACE, reason="aborted", cause="hook", detail=text, partial=text),
        c.InterruptedNode(**PLACE, reason=text, cause=text, detail=text),
        c.CommandNode(**PLACE, name=text, arguments=text, state="error", text=text),
        c.PlanNode(**PLACE, active=True),
        c.TodoNode(
            **PLACE, items=(c.TodoItem(content=text, status="pending"), c.TodoItem(content=text, status=text))
        ),
        c.JobNode(
            **PLACE,
            job_id=text,
            job_kind=text,
            label=text,
            status="failed",
            detail=text,
            duration_ms=4,
            late=False,
        ),
        c.ApprovalNode(**PLACE, tool=text, reason=text, outcome="rejected"),
        c.SubagentNode(**PLACE, child_id=text, mode=text, label=text),
        c.TitleNode(**PLACE, title=text, by=text),
        c.UnknownNode(**PLACE, type=text, ignorable=False, known=False, data={text: [text]}),
        c.UnknownNode(**PLACE, type=text, ignorable=True, known=False, data=text),
        c.DamageNode(**PLACE, damage=Damage(code="bad-row", line=9, offset=812, reason=text), raw=text),
    ]
