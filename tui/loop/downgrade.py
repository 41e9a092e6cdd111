"""Going on where a route refuses tool changes: once more with full definitions, and so from then on (§8).

The effective mode of a route is the declared one unless the route was found to refuse it. Everything that
reads the mode gets the effective one, because calls are prepared with it; what is recorded in the log of
changes of the tool set does not depend on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from tui.llm.adapter import PreparedCall
from tui.llm.failure import LlmFailure
from tui.llm.learned import (
    Learned,
    LearnedModes,
    Refusal,
    carries_updates,
    declared_mode,
    is_fresh,
    prompt_refusal_of,
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
        self._told: dict[tuple[str, str], Downgrade] = {}
        """The last record of each provider's model: a log tells them apart by no more than that."""
        for event in writer.state.own_records:
            if event.type == TOOL_UPDATE_DOWNGRADE:
                self._keep(Downgrade.from_json(as_object(event.data)))

    def effective(self, call: PreparedCall) -> PreparedCall:
        """Return the call with the modes that its route is known to take."""
        if call.route.model.tool_update is None or self.strict:
            return call
        known = self.known(call.route)
        return call if known is None else limited(call, prompts_refused=known.prompts_refused)

    def falls_back(self, route: Route) -> bool:
        """Tell whether a route is sent less than it declares."""
        return route.model.tool_update is not None and not self.strict and self.known(route) is not None

    def known(self, route: Route) -> Learned | None:
        """Return why a route that declares a mode is sent none: from the cache, else from the log."""
        entry = self._learned.entry(route)
        if entry is not None:
            return entry
        record = self._records.get(route.key)
        if record is None or not record.is_on or record.before != route.model.tool_update:
            return None
        since = record.learned_ms
        if since <= self._learned.reset_ms(route) or not is_fresh(since, self._learned.now_ms()):
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
            prompts_refused=record.prompts_refused,
        )

    def lift(self, call: PreparedCall) -> bool:
        """Record that a route is sent tool changes again; True if the request must start a series.

        What was recorded meanwhile, the refused change above all, is then never sent. Another endpoint has
        refused nothing, so that it gets its changes and no series.
        """
        route = call.route
        if self.strict or route.model.tool_update is None:
            return False
        record = self._records.get(route.key)
        if record is None or not record.is_on:
            told = self._told.get((route.provider, route.model.id))
            if told is not None and told.is_on:
                self._append(_lifted(route, "changed", told))
            return False
        if record.before != route.model.tool_update:
            reason: DowngradeReason = "changed"
        elif record.learned_ms <= self._learned.reset_ms(route):
            reason = "reset"
        else:
            reason = "expired"
        self._append(_lifted(route, reason, record))
        return True

    def note(self, declared: Route, request: GenerateRequest) -> None:
        """Record once in this session that a route known from others is sent full definitions."""
        if self.strict or declared.model.tool_update is None:
            return
        known = self.known(declared)
        if known is None:
            return
        told = self._told.get((declared.provider, declared.model.id))
        is_told = (
            told is not None
            and told.is_on
            and told.endpoint == declared.endpoint
            and told.prompts_refused >= known.prompts_refused
        )
        if not is_told and carries_updates(declared, request):
            self._append(_record(declared, known, "known"))

    def learn(self, route: Route, refusal: Refusal, *, prompts_refused: bool) -> None:
        """Take note, here and for other sessions, that a route takes full definitions only."""
        entry = self._learned.learn(route, refusal, prompts_refused=prompts_refused)
        self._append(_record(route, entry, "refused"))

    def _append(self, record: Downgrade) -> None:
        self._writer.append(TOOL_UPDATE_DOWNGRADE, record.to_json(), ignorable=True)
        self._keep(record)

    def _keep(self, record: Downgrade) -> None:
        self._records[record.route] = record
        self._told[record.provider, record.model] = record


def limited(call: PreparedCall, *, prompts_refused: bool) -> PreparedCall:
    """Return the call with full definitions in place of tool changes, and with one prompt if need be."""
    call = call.with_tool_update(None)
    return call.with_system_prompt_update(None) if prompts_refused else call


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
        prompts_refused=entry.prompts_refused,
    )


def _lifted(route: Route, reason: DowngradeReason, record: Downgrade) -> Downgrade:
    return Downgrade(
        provider=route.provider,
        model=route.model.id,
        endpoint=route.endpoint,
        before="none",
        now=declared_mode(route.model.tool_update),
        reason=reason,
        learned_ms=record.learned_ms,
    )


class _Try(NamedTuple):
    """A request that was refused, sent once more with less in it."""

    declared: Route
    refusal: Refusal
    """Of the request as it was first sent."""
    prompts_refused: bool
    """The second rung: later prompts are gathered into one too."""

    def of(self, call: PreparedCall) -> PreparedCall:
        return limited(call, prompts_refused=self.prompts_refused)


class Dispatch:
    """Sends the requests of one step, or of one job beside turns.

    A request that may have been refused for its tool changes is sent once more without, at most; and if that
    is refused too and still holds prompts inside the history, once more with one prompt before all messages.
    """

    def __init__(self, downgrades: Downgrades) -> None:
        self._downgrades = downgrades
        self._declared: Route | None = None
        self._try: _Try | None = None

    def prepared(self, call: PreparedCall) -> PreparedCall:
        """Return a call as its route is known to take it; what is only tried leaves no trace in the log."""
        self._declared = call.route
        return self._downgrades.effective(call)

    async def send(
        self,
        call: PreparedCall,
        request: GenerateRequest,
        policy: RetryPolicy,
        send: Callable[[PreparedCall], Awaitable[OutcomeT]],
    ) -> OutcomeT:
        """Send a request; if it may have been refused for what a route declares, send it with less in it.

        Returns the outcome that counts: of a try if that was accepted or may be retried, else the first.
        """
        declared = self._declared or call.route
        if call.route.model.tool_update is None:
            self._downgrades.note(declared, request)
        if self._try is not None and self._try.declared.key != call.route.key:
            self._try = None  # Another route was taken meanwhile: what it answers tells nothing of this one.
        if self._try is not None:
            # A retry of the try that is under way.
            outcome = await send(self._try.of(call))
            self._settle(outcome)
            return outcome
        first = await send(call)
        tried = self._first_try(declared, call.route, request, first)
        while tried is not None:
            self._try = tried
            less = tried.of(call)
            outcome = await send(less)
            failure = outcome.failure
            if failure is None or outcome.began:
                self._settle(outcome)
                return outcome
            if failure.code in policy.retryable_codes:
                # It may still be accepted: the retries are made with as little in them.
                return outcome
            self._try = None
            more = prompt_refusal_of(less.route, request, failure)
            tried = _Try(declared, tried.refusal, True) if more is not None else None
        return first

    def _first_try(
        self, declared: Route, route: Route, request: GenerateRequest, outcome: Outcome
    ) -> _Try | None:
        failure = outcome.failure
        if self._downgrades.strict or failure is None or outcome.began:
            return None
        refusal = refusal_of(route, request, failure)
        if refusal is not None:
            return _Try(declared, refusal, False)
        if declared.model.tool_update is None:
            return None
        # A route that is known to refuse tool changes may refuse the role that later prompts have as well.
        refusal = prompt_refusal_of(route, request, failure)
        return _Try(declared, refusal, True) if refusal is not None else None

    def _settle(self, outcome: Outcome) -> None:
        """Learn from what was accepted."""
        if self._try is not None and (outcome.failure is None or outcome.began):
            declared, refusal, prompts_refused = self._try
            self._downgrades.learn(declared, refusal, prompts_refused=prompts_refused)
            self._try = None
