"""Condensing the history: when, what of it, and how it is recorded (loop-and-adapters §7)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from math import floor
from typing import Any, Literal, NamedTuple, TypeAlias

from tui.llm.adapter import PreparedCall
from tui.llm.assembly import Answer, StreamAssembler
from tui.llm.failure import LlmFailure, failure_of
from tui.llm.request import CallConfig, GenerateRequest
from tui.loop.checkpoint import checkpoint, instruction
from tui.loop.downgrade import Dispatch
from tui.loop.errors import error_json
from tui.loop.header import last_header, proposed_config
from tui.loop.measure import message_tokens
from tui.loop.messages import Message, call_blocks, new_id
from tui.loop.pruning import prune_results
from tui.loop.state import Loop
from tui.session.cancel import Cancelled, CancelSignal
from tui.session.json_value import as_object
from tui.session.rule_error import LogRuleError
from tui.session.surface import message_of
from tui.session.write_errors import SessionWriteError

FailureKind: TypeAlias = Literal["busy", "cancelled", "changed", "summary", "commit", "nothing"]


class CompactionFailed(Exception):
    """A history that could not be condensed; it is as it was. `kind` is one of §7.5, or `nothing`."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What was condensed; `tokens` is an estimate."""

    items: int
    tokens: int
    saved: int
    """Tokens that the history is shorter now, by the same estimate."""
    summary_seq: int


class Limits(NamedTuple):
    """Sizes of one route, in tokens."""

    threshold: int
    """From which on the history is condensed."""
    retained: int
    """What stays as it is."""


async def relieve_pressure(loop: Loop, turn: int, signal: CancelSignal) -> None:
    """Condense the history if the next request would come too near to the window. Raises Cancelled.

    A failure is told to the hooks and the turn goes on.
    """
    if not loop.options.compaction.automatic or not loop.writer.state.header_seqs:
        return
    limits = _limits(loop)
    if limits is None:
        return
    if loop.gauge.measure() < limits.threshold:
        return
    prune_results(loop, _range(loop, limits.retained))
    for _ in range(loop.options.compaction.retries + 1):
        if loop.gauge.measure() < limits.threshold:
            return
        # What takes no more than the words around a summary cannot become smaller: nobody need be asked.
        if _size(loop, _range(loop, limits.retained)) <= message_tokens(checkpoint((), "", None)):
            return
        try:
            await condense(loop, signal, turn=turn, retained=limits.retained)
        except CompactionFailed as failure:
            if failure.kind != "nothing":
                loop.warn("compaction-failed", {"message": failure.message})
            return


async def relieve_overflow(loop: Loop, turn: int, signal: CancelSignal) -> bool:
    """Condense all but the last message after a provider refused the length; returns whether it helped."""
    if loop.overflow_retries >= loop.options.compaction.max_overflow_retries:
        return False
    loop.overflow_retries += 1
    try:
        await condense(loop, signal, turn=turn, retained=0)
    except CompactionFailed as failure:
        if failure.kind != "nothing":
            loop.warn("compaction-failed", {"message": failure.message})
        return False
    return True


async def compact_now(loop: Loop, signal: CancelSignal, *, command_id: str | None) -> Compacted:
    """Condense all but the last message because somebody asked for it. Raises CompactionFailed."""
    try:
        return await condense(loop, signal, turn=None, retained=0, command_id=command_id)
    except Cancelled as cancelled:
        raise CompactionFailed("cancelled", "the compaction was cancelled") from cancelled


async def condense(
    loop: Loop, signal: CancelSignal, *, turn: int | None, retained: int, command_id: str | None = None
) -> Compacted:
    """Condense everything before the last `retained` tokens, or before the last message.

    Raises CompactionFailed, with the history as it was, Cancelled or SessionWriteError.
    """
    if loop.writer.state.rules.compacting:
        raise CompactionFailed("busy", "another compaction has not ended")
    seqs = _range(loop, retained)
    if not seqs:
        raise CompactionFailed("nothing", "there is nothing to condense yet")
    return await _Compaction(loop, seqs, turn, command_id).run(signal)


def is_long(loop: Loop) -> bool:
    """Whether the history is longer than what would be left of it as it is, were it condensed now.

    Sizes are estimates; of a route that cannot be asked nothing is known.
    """
    options = loop.options.compaction
    config = proposed_config(loop.selection, last_header(loop.writer), is_chosen=loop.is_chosen)
    try:
        prepared = loop.providers.prepare(config)
    except LlmFailure:
        return False
    if options.retain_tokens is not None:
        return loop.gauge.messages > options.retain_tokens
    window, messages = _rooms(prepared)
    return loop.gauge.messages > options.retain_share * (messages if messages > 0 else window)


def _limits(loop: Loop) -> Limits | None:
    """Return the limits of the route of the next request; None where they leave no room, told once."""
    options = loop.options.compaction
    config = proposed_config(loop.selection, last_header(loop.writer), is_chosen=loop.is_chosen)
    try:
        prepared = loop.providers.prepare(config)
    except LlmFailure:
        return None  # the request itself will tell
    window, messages = _rooms(prepared)
    budget = messages - options.headroom
    threshold = floor(min(options.share * window, budget))
    retained = options.retain_tokens
    if retained is None:
        retained = floor(options.retain_share * messages)
    if budget > 0 and retained < threshold:
        return Limits(threshold, retained)
    route = (config.provider, config.model)
    if route not in loop.warned:
        loop.warned.add(route)
        facts = {"provider": config.provider, "model": config.model}
        loop.warn("compaction-limits", {**facts, "window": window, "budget": budget, "retained": retained})
    return None


def _rooms(call: PreparedCall) -> tuple[int, int]:
    """The window of a route, and what of it an answer leaves to the messages."""
    model = call.route.model
    return model.context_window, model.context_window - (call.config.max_tokens or model.max_output)


def _range(loop: Loop, retained: int) -> tuple[int, ...]:
    """Return the nodes to condense: after the head, before the tail, no call parted from its result. §7.2."""
    writer = loop.writer
    nodes = writer.surface.nodes()
    first = 1 if nodes and nodes[0] == writer.state.rules.head else 0
    end = len(nodes) - 1
    kept = 0
    while end > first and kept < retained:
        kept += message_tokens(message_of(writer.events.event(nodes[end])))
        if kept < retained:
            end -= 1
    cut = first
    waiting: set[str] = set()
    for at in range(first, end):
        event = writer.events.event(nodes[at])
        message = message_of(event)
        if event.type == "assistant/message":
            # A call that an earlier process left open is answered where the messages are derived.
            waiting = {block["id"] for block in call_blocks(message)}
        elif event.type == "tool/result":
            waiting.discard(message["toolCallId"])
        if not waiting:
            cut = at + 1
    return tuple(nodes[first:cut])


def _size(loop: Loop, seqs: Sequence[int]) -> int:
    return sum(message_tokens(message_of(loop.writer.events.event(seq))) for seq in seqs)


class _Asked(NamedTuple):
    """What came of the request for a summary."""

    chunks: StreamAssembler
    failure: LlmFailure | None
    began: bool


class _Compaction:
    """One compaction from its start event to its end event."""

    def __init__(self, loop: Loop, seqs: tuple[int, ...], turn: int | None, command_id: str | None) -> None:
        self._loop = loop
        self._writer = loop.writer
        self._seqs = seqs
        self._turn = turn
        self._ids: dict[str, Any] = {"compactionId": new_id()}
        if command_id is not None:
            self._ids["sourceCommandId"] = command_id
        self._command_id = command_id
        self._start = -1
        self._dispatch = Dispatch(loop.downgrades)

    async def run(self, signal: CancelSignal) -> Compacted:
        writer = self._writer
        self._start = writer.append("compaction/start", {**self._ids, "turn": self._turn}).seq
        before = tuple(writer.surface)
        generation = writer.surface.content_generation
        try:
            prepared = self._prepare()
            answer = await self._ask(prepared, signal)
            signal.raise_if_cancelled()
            if writer.surface.content_generation != generation or not self._still(before):
                raise CompactionFailed("changed", "the history changed meanwhile")
            compacted = self._commit(prepared, answer)
        except SessionWriteError:
            raise
        except BaseException as error:
            if writer.failure is None:
                told = "the compaction was cancelled" if isinstance(error, Cancelled) else _told(error)
                writer.append("compaction/end", {**self._ids, "turn": self._turn, "error": told})
            if isinstance(error, LlmFailure):
                raise CompactionFailed("summary", _told(error)) from error
            if isinstance(error, LogRuleError):
                raise CompactionFailed("commit", _told(error)) from error
            raise
        writer.append("compaction/end", {**self._ids, "turn": self._turn})
        return compacted

    def _prepare(self) -> PreparedCall:
        """Return the call for the summary: the route that is set for it, or that of the latest request."""
        loop, header = self._loop, last_header(self._writer)
        route = loop.options.compaction.route
        if route is None and header is not None:
            route = header.config.provider, header.config.model
        if route is None:
            route = loop.selection.provider, loop.selection.model
        config = CallConfig(provider=route[0], model=route[1])
        model = loop.providers.prepare(config).route.model
        tokens = loop.options.compaction.max_tokens
        if tokens >= model.context_window:
            tokens = model.max_output
        return self._dispatch.prepared(loop.providers.prepare(replace(config, max_tokens=tokens)))

    async def _ask(self, prepared: PreparedCall, signal: CancelSignal) -> Answer:
        """Return the whole answer; what is not one raises LlmFailure or CompactionFailed.

        There are no retries but the one without tool changes.
        """
        writer = self._writer
        header = last_header(writer)
        request = GenerateRequest(
            config=prepared.config,
            messages=self._messages(),
            tools=(header.tools or None) if header is not None else None,
            tool_history=writer.tool_history(),
            session_id=writer.id,
            purpose="compaction",
        )
        await writer.flush()

        async def attempt(call: PreparedCall) -> _Asked:
            return await self._streamed(call, request, signal)

        policy = self._loop.providers.retry_policy(prepared.config.provider)
        asked = await self._dispatch.send(prepared, request, policy, attempt)
        if asked.failure is not None:
            raise asked.failure
        answer = asked.chunks.message()
        if answer.finish.kind == "max-tokens":
            raise CompactionFailed("summary", "the summary was cut at its token limit (MAX_TOKENS)")
        if any(block.get("type") == "image" for block in answer.blocks):
            raise CompactionFailed("summary", "the summary holds an image")
        if not _texts(answer):
            raise CompactionFailed("summary", "the summary holds no text")
        return answer

    async def _streamed(self, call: PreparedCall, request: GenerateRequest, signal: CancelSignal) -> _Asked:
        chunks, began = StreamAssembler(), False
        async with aclosing(call.stream(request, signal)) as stream:
            async for chunk in stream:
                chunks.feed(self._loop.clock.now_ms(), chunk)
                signal.raise_if_cancelled()
                failure = failure_of(chunk)
                if failure is not None:
                    return _Asked(chunks, failure, began)
                began = True
        return _Asked(chunks, None, began)

    def _messages(self) -> list[Message]:
        head = self._writer.state.rules.head
        part = (*(() if head is None else (head,)), *self._seqs)
        return [*self._writer.state.messages.derive_part(part), instruction()]

    def _still(self, before: Sequence[int]) -> bool:
        """Tell whether the surface is as it was; where nothing but the range counts, it may have grown."""
        now = tuple(self._writer.surface)
        return now == before or (self._turn is None and now[: len(before)] == tuple(before))

    def _commit(self, prepared: PreparedCall, answer: Answer) -> Compacted:
        writer, seqs = self._writer, self._seqs
        texts = _texts(answer)
        message = checkpoint(texts, self._ids["compactionId"], self._command_id)
        size = _size(self._loop, seqs)
        saved = size - message_tokens(message)
        if saved <= 0:
            raise CompactionFailed("summary", "the summary is not smaller than what it would replace")
        data: dict[str, Any] = {
            **self._ids,
            "summary": texts,
            "rawOutput": answer.blocks,
            "llmStreamCall": True,
            "shadowedRange": {"start": seqs[0], "end": seqs[-1]},
            "shadowedSeqs": list(seqs),
            "shadowedTokenCount": size,
            "provider": prepared.config.provider,
            "model": prepared.config.model,
        }
        if prepared.config.max_tokens is not None:
            data["maxTokens"] = prepared.config.max_tokens
        if answer.usage is not None:
            data["usage"] = answer.usage
        summary = writer.append("compaction/summary", data).seq
        writer.append(
            "user/message",
            message,
            surface_op={"op": "replace", "startSeq": seqs[0], "endSeq": seqs[-1]},
            source_event_seqs=[self._start, summary, *seqs],
        )
        return Compacted(items=len(seqs), tokens=size, saved=saved, summary_seq=summary)


def _texts(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": block["text"]}
        for block in map(as_object, answer.blocks)
        if block.get("type") == "text" and str(block.get("text", "")).strip()
    ]


def _told(error: BaseException) -> str:
    return error_json(error)["message"]
