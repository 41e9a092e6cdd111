"""What others may say about a call: before it, around its body, after it (loop-and-adapters §6.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from tui.tools.tool import Block, Tool, ToolCall, ToolResult

T = TypeVar("T")
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call does not run; the model is told the reason."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The user decides."""

    reason: str | None = None
    """For the log, and for the model where nothing can ask."""
    command: tuple[str, ...] | None = None
    """The external command that would run, whole, for the question on the screen."""
    grant: str | None = None
    """What "always in this session" would allow: the calls with this key; None if it is not offered."""


@dataclass(frozen=True, slots=True)
class CancelCall:
    """The call does not run because somebody gave it up."""


Decision: TypeAlias = Allow | Deny | Ask | CancelCall


@dataclass(frozen=True, slots=True)
class CallContext:
    """An admitted call before its body runs."""

    call: ToolCall
    tool: Tool
    arguments: Any
    """The snapshot; not to be changed."""


@dataclass(frozen=True, slots=True)
class SuccessContext:
    """An admitted call whose body succeeded."""

    call: ToolCall
    tool: Tool
    value: Any
    content: list[Block]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """The result stands, with other content or another value if one is given."""

    content: list[Block] | None = None
    value: Any = None
    replaces_value: bool = False
    additional_contexts: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class BlockResult:
    """The result becomes an error that tells the feedback."""

    feedback: str


Review: TypeAlias = Accept | BlockResult
PreExecute: TypeAlias = Callable[[CallContext, Callable[[], Awaitable[Decision]]], Awaitable[Decision]]
Guard: TypeAlias = Callable[[CallContext], Awaitable[Deny | None]]
ExecuteWrapper: TypeAlias = Callable[[CallContext, Callable[[], Awaitable[Any]]], Awaitable[Any]]
PostExecute: TypeAlias = Callable[[SuccessContext, Callable[[], Awaitable[Review]]], Awaitable[Review]]
Observer: TypeAlias = Callable[[ToolCall, ToolResult], None]


class ToolHooks:
    """The listeners of every stage, first one outermost. They are part of the program's set-up."""

    __slots__ = ("execute", "guards", "observers", "post_execute", "pre_execute")

    def __init__(self) -> None:
        self.pre_execute: list[PreExecute] = []
        self.guards: list[Guard] = []
        """Asked after the decision to allow; any of them may deny, none may allow."""
        self.execute: list[ExecuteWrapper] = []
        self.post_execute: list[PostExecute] = []
        self.observers: list[Observer] = []
        """Told of every result; they cannot change it."""


async def waterfall(
    listeners: Sequence[Callable[[C, Callable[[], Awaitable[T]]], Awaitable[T]]],
    context: C,
    innermost: Callable[[], Awaitable[T]],
) -> T:
    """Run listeners around one another; each calls the next or answers alone."""
    chain = tuple(listeners)

    async def enter(at: int) -> T:
        if at == len(chain):
            return await innermost()
        return await chain[at](context, lambda: enter(at + 1))

    return await enter(0)
