"""Asking the user before a call runs (loop-and-adapters §6.3, session-format `approval/*`).

The service knows the policy and what the user allowed for the rest of the session; an answerer puts the
question. Every decision is logged as one pair of events, in dsh's own outcomes.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

from tui.session.cancel import Cancelled, CancelSignal

Policy: TypeAlias = Literal["ask", "never"]
Outcome: TypeAlias = Literal["allowed-once", "rejected", "cancelled", "unavailable"]
OnEvent: TypeAlias = Callable[[str, dict[str, Any]], object]

NOBODY_THERE: Final = "nobody is there to approve it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question to the user: may this call run?"""

    id: str
    tool_name: str
    call_id: str
    arguments: Any
    """Parsed JSON; text from a model."""
    reason: str | None = None
    command: tuple[str, ...] | None = None
    """The external command that would run, whole."""
    grant: str | None = None
    """None if "always in this session" cannot be offered."""


@dataclass(frozen=True, slots=True)
class AllowOnce:
    """This call may run."""


@dataclass(frozen=True, slots=True)
class AllowAlways:
    """This call may run, and every later one of this session with the same grant."""


@dataclass(frozen=True, slots=True)
class Reject:
    """The call does not run; the reason, if there is one, is told to the model."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Dismiss:
    """The question was closed without an answer."""


Answer: TypeAlias = AllowOnce | AllowAlways | Reject | Dismiss


class Answerer(Protocol):
    """Whoever can put a question to the user; a failure counts as nobody being there."""

    async def answer(self, request: ApprovalRequest) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a question; `reason` is the user's own."""

    outcome: Outcome
    reason: str = ""


class HeadlessAnswerer:
    """Answers without a user: everything is allowed, or rejected and said so to `on_rejected`."""

    def __init__(
        self, *, approve_all: bool = False, on_rejected: Callable[[ApprovalRequest], object] | None = None
    ) -> None:
        self._approve_all = approve_all
        self._on_rejected = on_rejected

    async def answer(self, request: ApprovalRequest) -> Answer:
        """Allow once if everything is approved, else reject with a reason."""
        if self._approve_all:
            return AllowOnce()
        if self._on_rejected is not None:
            self._on_rejected(request)
        return Reject(NOBODY_THERE)


class ApprovalService:
    """Decides on calls that need the user's word; one question is open at a time.

    `on_event` is given the type and payload of each event and appends it; what it raises goes through.
    """

    def __init__(self, policy: Policy, answerer: Answerer | None, on_event: OnEvent) -> None:
        self.answerer = answerer
        self._policy: Policy = policy
        self._on_event = on_event
        self._granted: set[str] = set()
        self._one_at_a_time = asyncio.Lock()

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._policy

    def set_policy(self, policy: Policy) -> None:
        """Change the policy and log it."""
        self._policy = policy
        self._on_event("approval/policy", {"policy": policy})

    def revoke(self) -> None:
        """Forget everything that was allowed for the rest of the session."""
        self._granted.clear()

    async def decide(
        self,
        *,
        tool_name: str,
        call_id: str,
        arguments: Any,
        signal: CancelSignal,
        reason: str | None = None,
        command: tuple[str, ...] | None = None,
        grant: str | None = None,
    ) -> Verdict:
        """Return whether a call may run, having logged the question and the decision."""
        request = ApprovalRequest(
            id=str(uuid.uuid4()),
            tool_name=tool_name,
            call_id=call_id,
            arguments=arguments,
            reason=reason,
            command=command,
            grant=grant,
        )
        asked: dict[str, Any] = {"id": request.id, "toolName": tool_name, "callId": call_id}
        if reason is not None:
            asked["reason"] = reason
        self._on_event("approval/asked", asked)
        verdict = Verdict("cancelled")
        try:
            verdict = await self._verdict(request, signal)
        finally:
            # Also for a question that is broken off: a pair is always whole.
            self._on_event("approval/decided", {"id": request.id, "outcome": verdict.outcome})
        return verdict

    async def _verdict(self, request: ApprovalRequest, signal: CancelSignal) -> Verdict:
        if self._policy == "never":
            return Verdict("rejected")
        try:
            return await signal.guard(self._ask(request))
        except Cancelled:
            return Verdict("cancelled")

    async def _ask(self, request: ApprovalRequest) -> Verdict:
        async with self._one_at_a_time:
            if request.grant is not None and request.grant in self._granted:
                return Verdict("allowed-once")
            if self.answerer is None:
                return Verdict("unavailable")
            try:
                answer = await self.answerer.answer(request)
            except Exception as error:
                return Verdict("unavailable", str(error))
        match answer:
            case AllowOnce():
                return Verdict("allowed-once")
            case AllowAlways():
                if request.grant is not None:
                    self._granted.add(request.grant)
                return Verdict("allowed-once")
            case Reject(reason):
                return Verdict("rejected", reason)
            case Dismiss():
                return Verdict("cancelled")
