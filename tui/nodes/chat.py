"""Nodes of the Chat pane as values: what one node says, decoded from its events.

A node knows facts, not sentences: the wording of each language is made above (`blocks.wording`). Kinds are
those of CONTRACT.md; `TurnNode` and `NoteNode` are headings of the pane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from tui.nodes.notices import HeaderNotice, ToolNotice
from tui.session.damage import Damage


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatNode:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An image or file of a message."""

    kind: Literal["image", "file"]
    name: str
    bytes: int | None
    media_type: str = ""
    width: int | None = None
    height: int | None = None
    attachment_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignBlock:
    """A content block of a type this program does not know."""

    type: str
    data: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The blocks of a message, sorted by what can be done with them."""

    text: str = ""
    """All text blocks, joined by blank lines."""
    attachments: tuple[Attachment, ...] = ()
    foreign: tuple[ForeignBlock, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnNode(ChatNode):
    """Heading of a turn."""

    kind: ClassVar[str] = "turn"
    number: int
    is_open: bool
    reason: str
    duration_ms: int | None
    steps: int
    calls: int
    failed_calls: int
    tool_changes: int
    tokens: int
    input_tokens: int
    output_tokens: int
    cache_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteNode(ChatNode):
    """The session was picked up again, or was forked here."""

    kind: ClassVar[str] = "note"
    what: Literal["resumed", "forked", "unfinished"]
    parent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserNode(ChatNode):
    """A prompt of the human (or the task that a parent gave)."""

    kind: ClassVar[str] = "user"
    content: Content
    steering: bool = False
    """It came while the turn was running."""
    discarded: bool = False
    """It waited in the queue and was taken back; the model never saw it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantNode(ChatNode):
    """A piece of answer text."""

    kind: ClassVar[str] = "assistant"
    text: str
    provider: str
    model: str
    interrupted: bool = False
    truncated: bool = False
    """Cut by the token limit."""
    empty: bool = False
    """The whole answer had no content."""
    foreign: ForeignBlock | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningNode(ChatNode):
    """What the model thought."""

    kind: ClassVar[str] = "reasoning"
    text: str
    duration_ms: int | None
    """From its first to its last piece; None without a stream."""
    truncated: bool = False
    interrupted: bool = False


ToolState = Literal["ok", "error", "running", "no-result", "not-started"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNode(ChatNode):
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
    availability: Literal["active", "fresh", "removed", "not-yet", "unknown"] = "active"
    availability_seq: int | None = None
    """The event that says so."""
    shortened: bool = False
    """The model now sees a shortened result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextNode(ChatNode):
    """Context that was put in front of the model by the program, not the human."""

    kind: ClassVar[str] = "context"
    source: str
    form: str
    summary: str
    content: Content
    details: dict[str, Any]
    """Further fields of the source."""
    notice: ToolNotice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderNode(ChatNode):
    """A request header that changed without a developer message telling it."""

    kind: ClassVar[str] = "header"
    notice: HeaderNotice


SystemChange = Literal["initial", "appended", "replaced", "cleared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemNode(ChatNode):
    """The system prompt, or a change of it."""

    kind: ClassVar[str] = "system"
    change: SystemChange
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionNode(ChatNode):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAttempt:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryNode(ChatNode):
    """A chain of retries of one request."""

    kind: ClassVar[str] = "retry"
    attempts: tuple[RetryAttempt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureNode(ChatNode):
    """A turn that failed."""

    kind: ClassVar[str] = "failure"
    code: str
    message: str
    status: int | None
    request_id: str
    partial: str = ""
    details: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedNode(ChatNode):
    """A turn that ended without completing: stopped, killed, forked, at the token limit."""

    kind: ClassVar[str] = "interrupted"
    reason: str
    """Kind of the turn's end as recorded."""
    cause: str
    """For `aborted`: user, parent, disposed, legacy, hook."""
    detail: str
    partial: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNode(ChatNode):
    """A slash command."""

    kind: ClassVar[str] = "command"
    name: str
    arguments: str
    state: Literal["ok", "error", "running"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNode(ChatNode):
    """Plan mode was switched."""

    kind: ClassVar[str] = "plan"
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoItem:
    content: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoNode(ChatNode):
    """The whole to-do list as written."""

    kind: ClassVar[str] = "todo"
    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNode(ChatNode):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalNode(ChatNode):
    """A question whether a tool may run, and its answer."""

    kind: ClassVar[str] = "approval"
    tool: str
    reason: str
    outcome: str
    """Empty while undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentNode(ChatNode):
    """A child session was made."""

    kind: ClassVar[str] = "subagent"
    child_id: str
    mode: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleNode(ChatNode):
    """The session got a title."""

    kind: ClassVar[str] = "title"
    title: str
    by: str
    """fallback, provider or user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownNode(ChatNode):
    """An event this program does not know."""

    kind: ClassVar[str] = "unknown"
    type: str
    ignorable: bool
    known: bool
    """A known type whose payload has another shape."""
    data: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class DamageNode(ChatNode):
    """A fault of the file at its place."""

    kind: ClassVar[str] = "damage"
    damage: Damage
    raw: str
    """The line that could not be read, its beginning."""
