"""One request and its answer, chunk by chunk, into the log (loop-and-adapters §1.9)."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, NamedTuple

from tui.llm.adapter import PreparedCall
from tui.llm.assembly import Answer, StreamAssembler
from tui.llm.failure import LlmFailure, failure_of
from tui.llm.request import GenerateRequest
from tui.loop.messages import Message, call_blocks, new_id
from tui.loop.state import Loop
from tui.session.cancel import CancelSignal
from tui.session.events import Event
from tui.session.rule_error import LogRuleError


class Answered(NamedTuple):
    """The model answered; its message is in the log."""

    message: Message
    is_cut: bool
    """Whether the answer ended at the output cap."""
    usage: dict[str, Any] | None

    @property
    def failure(self) -> None:
        """Never one."""
        return None

    @property
    def began(self) -> bool:
        """Always: an answer came."""
        return True

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The tool calls to be run."""
        return call_blocks(self.message)


class Failed(NamedTuple):
    """The request failed; its attempt is in the log."""

    failure: LlmFailure
    began: bool = False
    """Whether any of an answer came before it failed."""


async def stream_attempt(
    loop: Loop,
    prepared: PreparedCall,
    request: GenerateRequest,
    *,
    turn: int,
    step: int,
    attempt: int,
    signal: CancelSignal,
) -> Answered | Failed:
    """Send a request and log what comes of it. Raises Cancelled, what is visible being logged."""
    running = _Attempt(loop, request, turn, step)
    loop.frames.started(turn, step, attempt)
    try:
        failure = await running.read(prepared, signal)
        if signal.cancelled and not running.is_whole:
            running.commit_interrupted()
            signal.raise_if_cancelled()
        if failure is not None:
            running.commit_attempt()
            return Failed(failure, running.began)
        return running.commit_answer()
    except BaseException:
        # Whatever breaks in between, what came stays in the log, unless it is the log that broke.
        if running.event is None and loop.writer.failure is None:
            running.commit_attempt()
        raise
    finally:
        event = running.event
        loop.frames.ended(*((None, None) if event is None else (event.type, event.seq)))


class _Attempt:
    """A running attempt."""

    def __init__(self, loop: Loop, request: GenerateRequest, turn: int, step: int) -> None:
        self._loop = loop
        self._request = request
        self._at = {"turn": turn, "step": step}
        self._chunks = StreamAssembler()
        self.is_whole = False
        """Whether the model said that it is done."""
        self.began = False
        """Whether anything of an answer came."""
        self.event: Event | None = None
        """What was logged."""

    async def read(self, prepared: PreparedCall, signal: CancelSignal) -> LlmFailure | None:
        """Take every chunk; returns the failure with which the stream ended."""
        now, frames = self._loop.clock.now_ms, self._loop.frames
        index = 0
        failure: LlmFailure | None = None
        async with aclosing(prepared.stream(self._request, signal)) as stream:
            async for chunk in stream:
                if chunk.get("type") == "finish":
                    failure = failure_of(chunk)
                    self.is_whole = failure is None
                    if failure is not None and signal.cancelled:
                        break  # that we stopped is no part of what the model sent
                else:
                    self.began = True
                time = now()
                self._chunks.feed(time, chunk)
                frames.chunk(index, time, chunk)
                index += 1
                if signal.cancelled and not self.is_whole:
                    break
            else:
                # A stream that does not say how it ended was whole, unless we told it to stop.
                self.is_whole = self.is_whole or (failure is None and not signal.cancelled)
        return failure

    def commit_answer(self) -> Answered:
        """Log a whole answer; one that the log cannot hold becomes a failed attempt and LlmFailure."""
        answer = self._chunks.message()
        message = self._message(answer.blocks, answer.replay_state)
        try:
            self._append("assistant/message", self._data(message, answer))
        except LogRuleError as error:
            self.commit_attempt()
            raise LlmFailure(f"the answer cannot be used: {error.sentence}", "MALFORMED_RESPONSE") from error
        return Answered(message, answer.finish.kind == "max-tokens", answer.usage)

    def commit_interrupted(self) -> None:
        """Log what can be seen of a cancelled answer, or else the attempt."""
        visible = self._chunks.visible_blocks()
        if visible:
            message = self._message(visible, None)
            self._append("assistant/message", self._data(message, self._chunks.message(), interrupted=True))
        else:
            self.commit_attempt()

    def commit_attempt(self) -> None:
        """Log the attempt, off the surface."""
        self._append("assistant/attempt", {**self._at, "stream": self._chunks.records()})

    def _message(self, blocks: list[dict[str, Any]], replay: dict[str, Any] | None) -> Message:
        config = self._request.config
        source: dict[str, Any] = {"kind": "model", "provider": config.provider, "model": config.model}
        if replay is not None:
            source["replayState"] = replay
        return {"role": "assistant", "content": blocks, "source": source, "id": new_id()}

    def _data(self, message: Message, answer: Answer, *, interrupted: bool = False) -> dict[str, Any]:
        data: dict[str, Any] = {**self._at, "message": message}
        if answer.usage is not None:
            data["usage"] = answer.usage
        if interrupted:
            data["interrupted"] = True
        data["stream"] = self._chunks.records()
        return data

    def _append(self, kind: str, data: dict[str, Any]) -> None:
        self.event = self._loop.writer.append(kind, data)
