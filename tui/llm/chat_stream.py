"""Events of a chat-completions stream to the chunks of the neutral form (loop-and-adapters §5.2)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NoReturn, TypeAlias

import msgspec

from tui.llm.errors import stream_failure
from tui.llm.failure import LlmFailure
from tui.llm.pieces import Pieces
from tui.llm.sse import SseFrame
from tui.session.json_text import well_formed
from tui.session.json_value import as_array, as_count, as_object, as_text

Chunk: TypeAlias = dict[str, Any]

_FINISH: Final = {
    "stop": "stop",
    "end": "stop",
    "length": "max-tokens",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}


class _Block(msgspec.Struct):
    """One block that is being received."""

    index: int
    type: str
    pieces: Pieces = msgspec.field(default_factory=Pieces)
    call_id: str = ""
    name: str = ""

    @property
    def content(self) -> dict[str, Any]:
        text = self.pieces.whole()
        if self.type != "tool-call":
            return {"type": self.type, "text": text}
        return {"type": self.type, "id": self.call_id, "name": self.name, "arguments": text or "{}"}


class ChatStream:
    """Reads the frames of one answer; `done` once its end marker came."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.done = False
        self._secrets = tuple(secrets)
        self._finish_reason: str | None = None
        self._usage: dict[str, int] | None = None
        self._count = 0
        self._running: _Block | None = None
        """The text or reasoning block that grows."""
        self._calls: dict[int, _Block] = {}

    def read(self, frame: SseFrame) -> list[Chunk]:
        """Return the chunks that a frame adds.

        Raises LlmFailure: what the provider reports, MALFORMED_RESPONSE, and as `end` does.
        """
        if frame.data.strip() == "[DONE]":
            return self.end()
        try:
            event = as_object(json.loads(frame.data))
        except (ValueError, RecursionError):
            _malformed("data that is no JSON")
        if event.get("error"):
            raise stream_failure(event["error"], self._secrets)
        self._take_usage(as_object(event.get("usage")))
        choices = as_array(event.get("choices"))
        if not choices:
            return []
        choice = as_object(choices[0])
        chunks = self._delta(as_object(choice.get("delta")))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish_reason = reason
        return chunks

    def end(self) -> list[Chunk]:
        """Return the last chunks, at the end marker or at the end of the bytes.

        Raises LlmFailure STREAM_CLOSED without a finish reason, EMPTY_RESPONSE, MALFORMED_RESPONSE.
        """
        if self._finish_reason is None:
            raise LlmFailure("the stream ended without a finish reason", "STREAM_CLOSED")
        kind = _FINISH.get(self._finish_reason)
        if kind is None:
            raise LlmFailure(
                f"the provider ended the answer: {well_formed(self._finish_reason)}", "PROVIDER_FINISH"
            )
        chunks = self._close_running()
        for block in self._calls.values():
            if not block.name or not block.call_id:
                _malformed("a tool call without id or name")
            chunks.append({"type": "block-end", "index": block.index, "block": block.content})
        if kind == "stop" and self._count == 0:
            raise LlmFailure("the provider returned no content", "EMPTY_RESPONSE")
        # Some hosts say `stop` after calls.
        if kind == "stop" and self._calls:
            kind = "tool-calls"
        self.done = True
        if self._usage is not None:
            chunks.append({"type": "usage", "usage": self._usage})
        chunks.append({"type": "finish", "reason": {"kind": kind}})
        return chunks

    def _delta(self, delta: dict[str, Any]) -> list[Chunk]:
        chunks: list[Chunk] = []
        reasoning = as_text(delta.get("reasoning_content")) or as_text(delta.get("reasoning"))
        if reasoning:
            chunks += self._grow("reasoning", reasoning)
        if text := as_text(delta.get("content")):
            chunks += self._grow("text", text)
        for value in as_array(delta.get("tool_calls")):
            chunks += self._call(as_object(value))
        return chunks

    def _grow(self, kind: str, text: str) -> list[Chunk]:
        chunks: list[Chunk] = []
        block = self._running
        if block is None or block.type != kind:
            chunks += self._close_running()
            block = self._running = self._new(kind)
            chunks.append({"type": "block-start", "index": block.index, "blockType": kind})
        text = block.pieces.take(text)
        chunks.append({"type": f"{kind}-delta", "index": block.index, "text": text})
        return chunks

    def _call(self, value: dict[str, Any]) -> list[Chunk]:
        chunks: list[Chunk] = []
        place = as_count(value.get("index"))
        if place is None:
            place = len(self._calls)
        function = as_object(value.get("function"))
        name = well_formed(as_text(function.get("name")))
        block = self._calls.get(place)
        if block is None:
            chunks += self._close_running()
            block = self._calls[place] = self._new("tool-call")
            # A host without ids gets ones that are unique within the answer.
            block.call_id = well_formed(as_text(value.get("id"))) or f"call_{place}"
            block.name = name
            chunks.append({"type": "block-start", "index": block.index, "blockType": "tool-call"})
            chunks.append(self._call_delta(block, "", named=True))
        elif name and not block.name:
            block.name = name
            chunks.append(self._call_delta(block, "", named=True))
        if arguments := block.pieces.take(as_text(function.get("arguments"))):
            chunks.append(self._call_delta(block, arguments))
        return chunks

    @staticmethod
    def _call_delta(block: _Block, arguments: str, *, named: bool = False) -> Chunk:
        chunk: Chunk = {"type": "tool-call-delta", "index": block.index, "id": block.call_id}
        if named:
            chunk["name"] = block.name
        return {**chunk, "argumentsDelta": arguments}

    def _new(self, kind: str) -> _Block:
        block = _Block(index=self._count, type=kind)
        self._count += 1
        return block

    def _close_running(self) -> list[Chunk]:
        block, self._running = self._running, None
        if block is None:
            return []
        return [{"type": "block-end", "index": block.index, "block": block.content}]

    def _take_usage(self, usage: dict[str, Any]) -> None:
        prompt, output = as_count(usage.get("prompt_tokens")), as_count(usage.get("completion_tokens"))
        if prompt is None and output is None:
            return
        details = as_object(usage.get("prompt_tokens_details"))
        hits = next(
            (
                count
                for value in (
                    details.get("cached_tokens"),
                    usage.get("prompt_cache_hit_tokens"),
                    usage.get("cached_tokens"),
                )
                if (count := as_count(value)) is not None
            ),
            0,
        )
        writes = as_count(details.get("cache_write_tokens")) or 0
        counts = {
            "inputTokens": max((prompt or 0) - hits - writes, 0),
            "outputTokens": output or 0,
            "cacheReadTokens": hits,
            "cacheWriteTokens": writes,
        }
        self._usage = {**counts, "totalTokens": sum(counts.values())}


def _malformed(what: str) -> NoReturn:
    raise LlmFailure(f"the provider sent {what}", "MALFORMED_RESPONSE")
