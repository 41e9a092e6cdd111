"""One step: what it writes, its requests, its calls (loop-and-adapters §1.4 to §1.11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from tui.llm.adapter import FailedCall, PreparedCall
from tui.llm.failure import NO_ADAPTER, LlmFailure
from tui.llm.projection import declares_only_deferred, project_tool_updates
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import ToolUpdateMode
from tui.loop.attempt import Answered, Failed, stream_attempt
from tui.loop.compaction import relieve_overflow
from tui.loop.context import ContextText, context_due, is_context
from tui.loop.downgrade import Dispatch
from tui.loop.header import (
    Header,
    adds_tools,
    header_event,
    last_header,
    proposed_config,
    tool_registry_message,
)
from tui.loop.hooks import RequestFailed, RequestMoment
from tui.loop.inbox import Claim
from tui.loop.messages import Message, is_prompt, system_message, text_of
from tui.loop.prompt import AssembledPrompt, PromptContext, reconcile, render_contexts
from tui.loop.recovery import RetryCount, recover
from tui.loop.state import Loop
from tui.loop.title import first_title
from tui.loop.tool_batch import run_calls
from tui.session.cancel import CancelSignal
from tui.session.tool_definition import ToolDefinition
from tui.session.tool_history import ToolHistory
from tui.tools.admission import ResolvedToolSet
from tui.tools.hooks import waterfall

StepOutcome: TypeAlias = Literal["continue", "completed", "max-tokens"]

OVERFLOW: Final = "CONTEXT_WINDOW_EXCEEDED"


@dataclass(slots=True)
class StepPlan:
    """A step that was proposed and entered."""

    claim: Claim
    messages: tuple[Message, ...]
    starts_series: bool
    tool_set: ResolvedToolSet
    prompt: AssembledPrompt
    context: PromptContext
    is_admitted: bool = False
    """Whether its messages are on the surface."""


class Step:
    """A step that has begun; `run` takes it to its end, the events around it are the turn's."""

    def __init__(self, loop: Loop, plan: StepPlan, turn: int, step: int, signal: CancelSignal) -> None:
        self._loop = loop
        self._writer = loop.writer
        self._plan = plan
        self._turn = turn
        self._step = step
        self._signal = signal
        self._dispatch = Dispatch(loop.downgrades)
        self._attempts = 0

    async def run(self) -> StepOutcome:
        """Make the request, again where that helps, and run the calls.

        Raises Cancelled, LlmFailure, SessionWriteError, and what hooks and sections raise.
        """
        retries = RetryCount()
        is_first = True
        while True:
            prepared = await self._prepare()
            contexts = await render_contexts(self._plan.prompt.contexts, self._plan.context, self._signal)
            self._signal.raise_if_cancelled()
            request = self._write(prepared, contexts, is_first=is_first)
            is_first = False
            await self._writer.flush()
            self._signal.raise_if_cancelled()
            provider = request.config.provider
            outcome = await self._send(prepared, request, provider)
            if not isinstance(outcome, Failed):
                break
            if await self._mended(outcome.failure, prepared, retries, provider) is None:
                raise outcome.failure
        self._loop.overflow_retries = 0
        self._loop.gauge.report(outcome.usage)
        if outcome.is_cut:
            return "max-tokens"
        if not outcome.calls:
            return "completed"
        concluded = await run_calls(
            self._loop,
            outcome.calls,
            self._plan.tool_set,
            signal=self._signal,
            turn=self._turn,
            step=self._step,
        )
        self._signal.raise_if_cancelled()
        return "completed" if concluded else "continue"

    async def _send(
        self, prepared: PreparedCall, request: GenerateRequest, provider: str
    ) -> Answered | Failed:
        async def attempt(call: PreparedCall) -> Answered | Failed:
            self._attempts += 1
            return await stream_attempt(
                self._loop,
                call,
                request,
                turn=self._turn,
                step=self._step,
                attempt=self._attempts,
                signal=self._signal,
            )

        policy = self._loop.providers.retry_policy(provider)
        return await self._dispatch.send(prepared, request, policy, attempt)

    async def _mended(
        self, failure: LlmFailure, prepared: PreparedCall, retries: RetryCount, provider: str
    ) -> Literal["retry"] | None:
        if failure.code == OVERFLOW and await relieve_overflow(self._loop, self._turn, self._signal):
            return "retry"
        failed = RequestFailed(
            turn=self._turn,
            step=self._step,
            provider=provider,
            failure=failure,
            policy=self._loop.providers.retry_policy(provider),
            signal=self._signal,
        )
        return await recover(self._loop, failed, retries)

    async def _prepare(self) -> PreparedCall:
        loop = self._loop
        config = proposed_config(loop.selection, last_header(self._writer), is_chosen=loop.is_chosen)
        moment = RequestMoment(self._turn, self._step, self._signal, config)

        async def unchanged() -> CallConfig:
            return config

        config = await waterfall(loop.hooks.request, moment, unchanged)
        self._signal.raise_if_cancelled()
        try:
            return self._dispatch.prepared(loop.providers.prepare(config))
        except LlmFailure as failure:
            if failure.code != NO_ADAPTER:
                raise
            return FailedCall(config, failure)

    def _write(
        self, prepared: PreparedCall, contexts: tuple[ContextText, ...], *, is_first: bool
    ) -> GenerateRequest:
        """Write everything that stands before the request, in one go, and return the request."""
        loop, writer, plan = self._loop, self._writer, self._plan
        before = last_header(writer)
        now = Header(prepared.config, prepared.adapter_defaults, loop.recorded(plan.tool_set.declarations))
        mode = prepared.route.model.tool_update
        starts_series = (is_first and plan.starts_series) or self._empties_baseline(mode, before, now)
        starts_series = loop.downgrades.lift(prepared) or starts_series
        breaks = (
            starts_series
            or writer.surface.content_generation != loop.generation
            or (mode is None and before is not None and before.tools != now.tools)
        )
        in_history = prepared.route.model.system_prompt_update == "in-history"
        self._write_prompt(in_history=in_history, breaks=breaks)
        prompt_seq = self._write_messages(contexts, is_first=is_first)
        starts_series = starts_series or writer.surface.content_generation != loop.generation
        self._write_header(before, now, starts_series=starts_series)
        loop.generation = writer.surface.content_generation
        loop.is_chosen = False
        self._write_context(prepared)
        self._write_title(prompt_seq)
        return GenerateRequest(
            config=prepared.config,
            messages=writer.derive_messages(),
            tools=now.tools or None,
            tool_history=writer.tool_history(),
            session_id=writer.id,
            system=None if loop.watch.takes_system_messages else (plan.prompt.text or None),
        )

    def _write_prompt(self, *, in_history: bool, breaks: bool) -> None:
        watch = self._loop.watch
        if not watch.takes_system_messages:
            return
        changes = reconcile(watch.system_nodes, self._plan.prompt.text, in_history=in_history, breaks=breaks)
        for change in changes:
            data = {**self._at, "message": system_message(change.text)}
            seq = change.replaces
            if seq is None:
                self._writer.append("system/message", data)
            else:
                replacement = {"op": "replace", "startSeq": seq, "endSeq": seq}
                self._writer.append("system/message", data, surface_op=replacement, source_event_seqs=[seq])

    def _write_messages(self, contexts: tuple[ContextText, ...], *, is_first: bool) -> int | None:
        """Write the messages of the step; returns the seq of its first prompt."""
        watch = self._loop.watch
        due = context_due(contexts, watch.context, existed=bool(contexts) or watch.context_existed)
        messages: list[Message] = []
        if is_first:
            # A context among the messages only held its place for the one that counts now.
            for message in self._plan.messages:
                if not is_context(message):
                    messages.append(message)
                elif due is not None:
                    messages.append(due)
                    due = None
        if due is not None:
            messages.append(due)
        prompt: int | None = None
        for message in messages:
            event = self._writer.append("user/message", message)
            if prompt is None and is_prompt(message):
                prompt = event.seq
        self._plan.is_admitted = True
        return prompt

    def _write_header(self, before: Header | None, now: Header, *, starts_series: bool) -> None:
        loop = self._loop
        event = header_event(before, now, written=loop.header_written, series=starts_series)
        if event is None:
            return
        header_seq = self._writer.append("request/header", event.data(now)).seq
        loop.header_written = True
        if before is None or event.reason not in ("resume", "change"):
            return
        message = tool_registry_message(before.tools, now.tools)
        if message is not None:
            data = {**self._at, "message": message}
            if adds_tools(message):
                data["headerSeq"] = header_seq
            self._writer.append("developer/message", data)

    def _write_context(self, prepared: PreparedCall) -> None:
        model = prepared.route.model
        facts: dict[str, Any] = {"provider": prepared.config.provider, "model": prepared.config.model}
        if not isinstance(prepared, FailedCall):
            facts["contextWindow"] = model.context_window
        if model.system_prompt_update is not None:
            facts["systemPromptUpdate"] = model.system_prompt_update
        last = self._writer.context_event
        if last is None or last.data != facts:
            self._writer.append("request/context", facts)

    def _write_title(self, prompt_seq: int | None) -> None:
        if prompt_seq is None or not self._loop.options.write_title or self._writer.state.title is not None:
            return
        title = first_title(text_of(self._writer.events.event(prompt_seq).data))
        if title:
            data = {"title": title, "messageSeqs": [prompt_seq], "source": {"kind": "fallback"}}
            self._writer.append("session/title", data)

    def _empties_baseline(self, mode: ToolUpdateMode, before: Header | None, now: Header) -> bool:
        """Tell whether the request would declare deferred tools alone unless a series starts with it."""
        if mode is None or before is None or not any(not tool.defer_loading for tool in now.tools):
            return False
        return declares_only_deferred(_declarations(self._expected_history(before, now), now, mode))

    def _expected_history(self, before: Header, now: Header) -> ToolHistory:
        history = self._writer.tool_history()
        if before.tools == now.tools:
            return history
        return self._writer.state.tools.expected(now.tools)

    @property
    def _at(self) -> dict[str, int]:
        return {"turn": self._turn, "step": self._step}


def _declarations(
    history: ToolHistory, now: Header, mode: ToolUpdateMode
) -> tuple[ToolDefinition, ...] | None:
    """Return what would be declared; which messages stand where does not matter for it."""
    records: list[Message] = [
        {"role": "developer", "id": update.message_id, "content": []} for update in history.updates
    ]
    return project_tool_updates(records, now.tools or None, mode, history).tools
