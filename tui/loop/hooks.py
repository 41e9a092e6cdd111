"""Where others take part in a turn (loop-and-adapters §1.2, §1.3, §1.4, §1.10)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tui.llm.failure import LlmFailure
from tui.llm.request import CallConfig
from tui.llm.retry import RetryPolicy
from tui.loop.messages import Message
from tui.session.cancel import CancelSignal

if TYPE_CHECKING:
    from tui.tools.admission import ResolvedToolSet


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step that is about to begin."""

    turn: int
    step: int
    messages: tuple[Message, ...]
    """What was claimed for it."""
    tool_set: ResolvedToolSet | None
    signal: CancelSignal


@dataclass(frozen=True, slots=True)
class Enter:
    """The step begins, with these messages."""

    messages: tuple[Message, ...]
    starts_series: bool = False


@dataclass(frozen=True, slots=True)
class RejectStep:
    """The step does not begin and the turn ends as blocked."""


StepDecision: TypeAlias = Enter | RejectStep


@dataclass(frozen=True, slots=True)
class RequestMoment:
    """A request that is about to be prepared."""

    turn: int
    step: int
    signal: CancelSignal
    config: CallConfig


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """A request that failed; its `assistant/attempt` is in the log."""

    turn: int
    step: int
    provider: str
    failure: LlmFailure
    policy: RetryPolicy
    signal: CancelSignal


Recovery: TypeAlias = Literal["retry"] | None
"""`retry` goes round the step again; None lets the failure end the turn."""

PreStep: TypeAlias = Callable[[Proposal, Callable[[], Awaitable[StepDecision]]], Awaitable[StepDecision]]
Request: TypeAlias = Callable[[RequestMoment, Callable[[], Awaitable[CallConfig]]], Awaitable[CallConfig]]
RequestError: TypeAlias = Callable[[RequestFailed, Callable[[], Awaitable[Recovery]]], Awaitable[Recovery]]
TurnStopping: TypeAlias = Callable[[int], Awaitable[None]]
WarningListener: TypeAlias = Callable[[str, dict[str, Any]], None]
ErrorListener: TypeAlias = Callable[[int, int | None, dict[str, Any], BaseException], None]


class LoopHooks:
    """The listeners of every moment, first one outermost."""

    __slots__ = ("error", "pre_step", "request", "request_error", "turn_stopping", "warning")

    def __init__(self) -> None:
        self.pre_step: list[PreStep] = []
        self.request: list[Request] = []
        self.request_error: list[RequestError] = []
        self.turn_stopping: list[TurnStopping] = []
        """Called one after the other with the turn's number; they may inject messages."""
        self.error: list[ErrorListener] = []
        """Told turn, step, the error as the log has it and the exception; never of a cancellation."""
        self.warning: list[WarningListener] = []
        """Told a code and facts: `compaction-failed` (message), `compaction-limits` (provider, model, window,
        budget, retained)."""
