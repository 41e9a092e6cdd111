"""Nodes of the Chat pane as values: what one node says, decoded from its events.

A node knows facts, not sentences: the wording of each language is made above (`blocks.wording`). Kinds are
those of CONTRACT.md; `TurnNode` and `NoteNode` are headings of the pane.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from tui.nodes.notices import HeaderNotice, ToolNotice
from tui.nodes.own_notices import OwnNotice, own_notice_of
from tui.session.damage import Damage


class ChatNode(msgspec.Struct, frozen=True, kw_only=True):
    """What all nodes have."""

    kind: ClassVar[str] = ""

    index: int
    """Position among the chat nodes."""
    row: int
    """Row of the log it begins with."""
    block: int = 0
    """Content block within that row's message."""
    seq: int | None
    turn: int | None
    step: int | None
    time_ms: int | None
    replaced: bool = False
    """The model no longer sees it."""
    repeated: bool = False
    """Its number stands on an earlier row already (damage)."""
    fault: Damage | None = None
    """What is wrong with the row it begins with; the row is shown all the same."""


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """An image or file of a message."""

    kind: Literal["image", "file"]
    name: str
    bytes: int | None
    media_type: str = ""
    width: int | None = None
    height: int | None = None
    attachment_id: str = ""


class ForeignBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A content block of a type this program does not know."""

    type: str
    data: Any


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """The blocks of a message, sorted by what can be done with them."""

    text: str = ""
    """All text blocks, joined by blank lines."""
    attachments: tuple[Attachment, ...] = ()
    foreign: tuple[ForeignBlock, ...] = ()


class TurnNode(ChatNode, frozen=True, kw_only=True):
    """Heading of a turn."""

    kind: ClassVar[str] = "turn"
    number: int
    is_open: bool
    reason: str
    """Kind of its end; `open` for one that has none and is not being read any further."""
    duration_ms: int | None
    steps: int
    calls: int
    failed_calls: int
    tool_changes: int
    tokens: int
    input_tokens: int
    output_tokens: int
    cache_share: float | None


class NoteNode(ChatNode, frozen=True, kw_only=True):
    """The session was picked up again, or was forked here."""

    kind: ClassVar[str] = "note"
    what: Literal["resumed", "forked", "unfinished"]
    parent: str = ""


class UserNode(ChatNode, frozen=True, kw_only=True):
    """A prompt of the human (or the task that a parent gave)."""

    kind: ClassVar[str] = "user"
    content: Content
    steering: bool = False
    """It came while the turn was running."""
    discarded: bool = False
    """It waited in the queue and was taken back; the model never saw it."""
    queued: bool = False
    """It still waits in the queue at the end of the log."""
    task: bool = False
    """A parent session's task for this subagent, not typed by a human here."""


class AssistantNode(ChatNode, frozen=True, kw_only=True):
    """A piece of answer text."""

    kind: ClassVar[str] = "assistant"
    text: str
    provider: str
    model: str
    interrupted: bool = False
    truncated: bool = False
    """Cut by the token limit."""
    empty: bool = False
    """There is no text: an answer without content, or a blank block of one."""
    foreign: ForeignBlock | None = None
    foreign_chunks: tuple[ForeignBlock, ...] = ()
    """Parts of the answer's stream of unknown kinds; told by the last node of the answer."""


class ReasoningNode(ChatNode, frozen=True, kw_only=True):
    """What the model thought."""

    kind: ClassVar[str] = "reasoning"
    text: str
    duration_ms: int | None
    """From its first to its last piece; None without a stream."""
    truncated: bool = False
    interrupted: bool = False
    foreign_chunks: tuple[ForeignBlock, ...] = ()


ToolState = Literal["ok", "error", "running", "no-result", "not-started"]


class ToolNode(ChatNode, frozen=True, kw_only=True):
    """A tool call and its result."""

    kind: ClassVar[str] = "tool"
    name: str
    """Whole, as on the wire."""
    call_id: str
    arguments: str
    """JSON text as the model wrote it; may be invalid."""
    state: ToolState
    result: Content
    error_code: str
    error_name: str
    duration_ms: int | None
    parent_call_id: str | None = None
    nested: bool = False
    availability: Literal["active", "fresh", "restored", "removed", "not-yet", "unknown"] = "active"
    availability_seq: int | None = None
    """The event that says so."""
    shortened: bool = False
    """The model now sees a shortened result."""
    foreign_chunks: tuple[ForeignBlock, ...] = ()


class ContextNode(ChatNode, frozen=True, kw_only=True):
    """Context that was put in front of the model by the program, not the human."""

    kind: ClassVar[str] = "context"
    source: str
    form: str
    summary: str
    content: Content
    details: dict[str, Any]
    """Further fields of the source."""
    notice: ToolNotice | None = None


class HeaderNode(ChatNode, frozen=True, kw_only=True):
    """A request header that changed without a developer message telling it."""

    kind: ClassVar[str] = "header"
    notice: HeaderNotice
    told: bool = False
    """A developer message right after it tells what was added and removed."""


SystemChange = Literal["initial", "appended", "replaced", "cleared"]


class SystemNode(ChatNode, frozen=True, kw_only=True):
    """The system prompt, or a change of it."""

    kind: ClassVar[str] = "system"
    change: SystemChange
    text: str


class CompactionNode(ChatNode, frozen=True, kw_only=True):
    """A compaction with its summary."""

    kind: ClassVar[str] = "compaction"
    summary: str
    shadowed: int
    """How many surface nodes it replaced."""
    shadowed_tokens: int
    state: Literal["done", "failed", "running", "abandoned"]
    error: str
    by_command: bool
    duration_ms: int | None
    provider: str = ""
    model: str = ""


class RetryAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One scheduled retry: why, and how long the wait was to be."""

    seq: int
    retry: int
    max_retries: int | None
    delay_ms: float
    code: str
    message: str
    status: int | None
    request_id: str
    started: bool
    partial: str = ""
    """Text that the failed attempt had already shown."""


class RetryNode(ChatNode, frozen=True, kw_only=True):
    """A chain of retries of one request."""

    kind: ClassVar[str] = "retry"
    attempts: tuple[RetryAttempt, ...]


class FailureNode(ChatNode, frozen=True, kw_only=True):
    """A turn that failed."""

    kind: ClassVar[str] = "failure"
    code: str
    message: str
    status: int | None
    request_id: str
    partial: str = ""
    details: dict[str, Any]


class InterruptedNode(ChatNode, frozen=True, kw_only=True):
    """A turn that ended without completing: stopped, killed, forked, at the token limit."""

    kind: ClassVar[str] = "interrupted"
    reason: str
    """Kind of the turn's end as recorded; `open` where the log has none, the process was killed."""
    last: str = ""
    """For `open`: event type of the last thing that happened in the turn."""
    cause: str
    """For `aborted`: user, parent, disposed, legacy, hook."""
    detail: str
    partial: str = ""


class CommandNode(ChatNode, frozen=True, kw_only=True):
    """A slash command."""

    kind: ClassVar[str] = "command"
    name: str
    arguments: str
    state: Literal["ok", "error", "running"]
    text: str


class PlanNode(ChatNode, frozen=True, kw_only=True):
    """Plan mode was switched."""

    kind: ClassVar[str] = "plan"
    active: bool


class TodoItem(msgspec.Struct, frozen=True, kw_only=True):
    content: str
    status: str


class TodoNode(ChatNode, frozen=True, kw_only=True):
    """The whole to-do list as written."""

    kind: ClassVar[str] = "todo"
    items: tuple[TodoItem, ...]


class JobNode(ChatNode, frozen=True, kw_only=True):
    """A background job, at its start or (if that is in another turn) at its end."""

    kind: ClassVar[str] = "job"
    job_id: str
    job_kind: str
    label: str
    status: str
    """Empty while it has not settled."""
    detail: str
    duration_ms: int | None
    late: bool


class ApprovalNode(ChatNode, frozen=True, kw_only=True):
    """A question whether a tool may run, and its answer."""

    kind: ClassVar[str] = "approval"
    tool: str
    reason: str
    outcome: str
    """Empty while undecided."""
    is_open: bool = False
    """It is being asked right now."""


class SubagentNode(ChatNode, frozen=True, kw_only=True):
    """A child session was made."""

    kind: ClassVar[str] = "subagent"
    child_id: str
    mode: str
    label: str


class TitleNode(ChatNode, frozen=True, kw_only=True):
    """The session got a title."""

    kind: ClassVar[str] = "title"
    title: str
    by: str
    """fallback, provider or user."""


class UnknownNode(ChatNode, frozen=True, kw_only=True):
    """An event this program does not know."""

    kind: ClassVar[str] = "unknown"
    type: str
    ignorable: bool
    known: bool
    """A known type whose payload has another shape."""
    data: Any

    @property
    def own(self) -> OwnNotice | None:
        """What it tells if it is a record of our own."""
        return own_notice_of(self.type, self.data, ignorable=self.ignorable)


class DamageNode(ChatNode, frozen=True, kw_only=True):
    """A fault of the file at its place."""

    kind: ClassVar[str] = "damage"
    damage: Damage
    raw: str
    """The line that could not be read, its beginning."""
