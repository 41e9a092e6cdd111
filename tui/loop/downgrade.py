"""Going on where a route refuses tool changes: once more with full definitions, and so from then on (§8).

The effective mode of a route is the declared one unless the route was found to refuse it. Everything that
reads the mode gets the effective one, because calls are prepared with it; what is recorded in the log of
changes of the tool set does not depend on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from tui.llm.adapter import PreparedCall
from tui.llm.failure import LlmFailure
from tui.llm.learned import (
    LASTS_MS,
    Learned,
    LearnedModes,
    Refusal,
    carries_updates,
    declared_mode,
    refusal_of,
)
from tui.llm.request import GenerateRequest
from tui.llm.retry import RetryPolicy
from tui.llm.route import Route
from tui.session.json_value import as_object
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE, Downgrade, DowngradeReason

if TYPE_CHECKING:
    from tui.session.writer import SessionWriter


class Outcome(Protocol):
    """What came of one request."""

    @property
    def failure(self) -> LlmFailure | None:
        """Why it failed; None if it was answered."""
        ...

    @property
    def began(self) -> bool:
        """Whether any of an answer came."""
        ...


OutcomeT = TypeVar("OutcomeT", bound=Outcome)


class Downgrades:
    """The routes of one session that are sent full definitions, as its log and the cache know them.

    Strict: nothing is probed, learned or limited, for people who test routes.
    """

    def __init__(self, writer: SessionWriter, learned: LearnedModes, *, strict: bool = False) -> None:
        self._writer = writer
        self._learned = learned
        self.strict = strict
        self._records: dict[tuple[str, str, str], Downgrade] = {}
        for event in writer.state.own_records:
            if event.type == TOOL_UPDATE_DOWNGRADE:
                record = Downgrade.from_json(as_object(event.data))
                self._records[record.route] = record

    def effective(self, call: PreparedCall) -> PreparedCall:
        """Return the call with the mode that its route is known to take."""
        if call.route.model.tool_update is None or self.strict or self.known(call.route) is None:
            return call
        return call.with_tool_update(None)

    def known(self, route: Route) -> Learned | None:
        """Return why a route that declares a mode is sent none: from the cache, else from the log."""
        entry = self._learned.entry(route)
        if entry is not None:
            return entry
        record = self._records.get(route.key)
        if record is None or not record.is_on or record.before != route.model.tool_update:
            return None
        since = record.learned_ms
        if since <= self._learned.reset_ms(route) or self._learned.now_ms() >= since + LASTS_MS:
            return None
        return Learned(
            provider=record.provider,
            endpoint=record.endpoint,
            model=record.model,
            declared=record.before,
            at_ms=since,
            status=record.status,
            code=record.code,
            request_id=record.request_id,
            strong=record.strong,
        )

    def lift(self, call: PreparedCall) -> bool:
        """Record that a route is sent tool changes again; True if the request must start a series.

        What was recorded meanwhile, the refused change above all, is then never sent.
        """
        route = call.route
        record = self._records.get(route.key)
        if self.strict or route.model.tool_update is None or record is None or not record.is_on:
            return False
        if record.before != route.model.tool_update:
            reason: DowngradeReason = "changed"
        elif record.learned_ms <= self._learned.reset_ms(route):
            reason = "reset"
        else:
            reason = "expired"
        self._append(
            Downgrade(
                provider=route.provider,
                model=route.model.id,
                endpoint=route.endpoint,
                before="none",
                now=declared_mode(route.model.tool_update),
                reason=reason,
                learned_ms=record.learned_ms,
            )
        )
        return True

    def note(self, declared: Route, request: GenerateRequest) -> None:
        """Record once in this session that a route known from others is sent full definitions."""
        if self.strict or declared.model.tool_update is None:
            return
        record = self._records.get(declared.key)
        known = self.known(declared)
        if known is None or (record is not None and record.is_on):
            return
        if carries_updates(declared, request):
            self._append(_record(declared, known, "known"))

    def learn(self, route: Route, refusal: Refusal) -> None:
        """Take note, here and for other sessions, that a route takes full definitions only."""
        self._append(_record(route, self._learned.learn(route, refusal), "refused"))

    def _append(self, record: Downgrade) -> None:
        self._writer.append(TOOL_UPDATE_DOWNGRADE, record.to_json(), ignorable=True)
        self._records[record.route] = record


def _record(route: Route, entry: Learned, reason: DowngradeReason) -> Downgrade:
    return Downgrade(
        provider=route.provider,
        model=route.model.id,
        endpoint=route.endpoint,
        before=declared_mode(route.model.tool_update),
        now="none",
        reason=reason,
        learned_ms=entry.at_ms,
        status=entry.status,
        code=entry.code,
        request_id=entry.request_id,
        strong=entry.strong,
    )


class Dispatch:
    """Sends the requests of one step, or of one job beside turns: at most one probe for each request."""

    def __init__(self, downgrades: Downgrades) -> None:
        self._downgrades = downgrades
        self._declared: Route | None = None
        self._refused: tuple[Route, Refusal] | None = None

    def prepared(self, call: PreparedCall) -> PreparedCall:
        """Return a call as it is to be sent: as its route takes it, or as the probe that is under way."""
        self._declared = call.route
        if self._refused is not None and self._refused[0].key == call.route.key:
            return call.with_tool_update(None)
        return self._downgrades.effective(call)

    async def send(
        self,
        call: PreparedCall,
        request: GenerateRequest,
        policy: RetryPolicy,
        send: Callable[[PreparedCall], Awaitable[OutcomeT]],
    ) -> OutcomeT:
        """Send a request; if it may have been refused for its tool changes, send it once more without.

        Returns the outcome that counts: of the probe if that was accepted or may be retried, else the first.
        """
        if self._declared is not None and call.route.model.tool_update is None:
            self._downgrades.note(self._declared, request)
        first = await send(call)
        if self._refused is not None:
            self._settle(first)
            return first
        refusal = self._refusal(call.route, request, first)
        if refusal is None:
            return first
        self._refused = call.route, refusal
        probe = await send(call.with_tool_update(None))
        failure = probe.failure
        if failure is None or probe.began:
            self._settle(probe)
            return probe
        if failure.code in policy.retryable_codes:
            # It may still be accepted: the retries are made with full definitions too.
            return probe
        self._refused = None
        return first

    def _refusal(self, route: Route, request: GenerateRequest, outcome: Outcome) -> Refusal | None:
        if self._downgrades.strict or outcome.failure is None or outcome.began:
            return None
        return refusal_of(route, request, outcome.failure)

    def _settle(self, outcome: Outcome) -> None:
        """Learn from what was accepted."""
        if self._refused is not None and (outcome.failure is None or outcome.began):
            self._downgrades.learn(*self._refused)
            self._refused = None
