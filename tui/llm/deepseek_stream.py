"""Events of a Messages stream to the chunks of the neutral form (loop-and-adapters §4.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NoReturn, TypeAlias

import msgspec

from tui.llm.content import unsupported
from tui.llm.deepseek_body import REPLAY_KIND, REPLAY_VERSION, parse_arguments
from tui.llm.errors import stream_failure
from tui.llm.failure import LlmFailure
from tui.llm.pieces import Pieces
from tui.llm.sse import SseFrame
from tui.session.json_text import clean_json, compact, well_formed
from tui.session.json_value import as_count, as_object, as_text

Chunk: TypeAlias = dict[str, Any]

_FINISH: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "max-tokens",
}
_BLOCK_TYPES: Final = {"text": "text", "thinking": "reasoning", "tool_use": "tool-call"}
_USAGE: Final = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_input_tokens": "cacheReadTokens",
    "cache_creation_input_tokens": "cacheWriteTokens",
}
_EVENTS: Final = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)


class _Block(msgspec.Struct):
    """One block that is being received."""

    index: int
    """Its place in the message: order of arrival."""
    type: str
    pieces: Pieces = msgspec.field(default_factory=Pieces)
    call_id: str = ""
    name: str = ""
    input: Any = None
    signature: str | None = None
    open: bool = True

    @property
    def content(self) -> dict[str, Any]:
        text = self.pieces.whole()
        if self.type != "tool-call":
            return {"type": self.type, "text": text}
        arguments = text or compact(as_object(self.input))
        return {"type": self.type, "id": self.call_id, "name": self.name, "arguments": arguments}


class MessagesStream:
    """Reads the frames of one answer; `done` once it is complete.

    `model` is the one asked for: it is what the replay state names. Every string given out is well-formed.
    """

    def __init__(self, model: str, secrets: Iterable[str] = ()) -> None:
        self.done = False
        self._model = model
        self._secrets = tuple(secrets)
        self._started = False
        self._stop_reason: str | None = None
        self._usage: dict[str, int] = {}
        self._blocks: dict[int, _Block] = {}

    def read(self, frame: SseFrame) -> list[Chunk]:
        """Return the chunks that a frame adds.

        Raises LlmFailure: what the provider reports, MALFORMED_RESPONSE, UNSUPPORTED_CONTENT, EMPTY_RESPONSE.
        """
        event = self._event(frame)
        kind = event["type"]
        if kind == "error":
            raise stream_failure(event.get("error"), self._secrets)
        if kind not in _EVENTS:
            return []
        if not self._started and kind != "message_start":
            _malformed(f"{kind} before message_start")
        match kind:
            case "message_start":
                if self._started:
                    _malformed("message_start twice")
                self._started = True
                self._take_usage(as_object(event.get("message")).get("usage"))
                return []
            case "content_block_start":
                return self._start_block(event)
            case "content_block_delta":
                return self._delta(event)
            case "content_block_stop":
                block = self._open_block(event)
                block.open = False
                return [{"type": "block-end", "index": block.index, "block": block.content}]
            case "message_delta":
                reason = as_object(event.get("delta")).get("stop_reason")
                if isinstance(reason, str):
                    self._stop_reason = reason
                self._take_usage(event.get("usage"))
                return []
            case _:
                return self._finish()

    def end(self) -> NoReturn:
        """Raise the failure of a stream that ends before it is done."""
        raise LlmFailure("DeepSeek Messages stream ended before message_stop", "STREAM_CLOSED")

    def _event(self, frame: SseFrame) -> dict[str, Any]:
        try:
            event = as_object(json.loads(frame.data))
        except (ValueError, RecursionError):
            _malformed("data that is no JSON")
        kind = event.get("type")
        if not isinstance(kind, str):
            _malformed("an event without a type")
        if frame.event and frame.event != kind:
            _malformed("an event under another name")
        return event

    def _start_block(self, event: dict[str, Any]) -> list[Chunk]:
        if self._stop_reason is not None:
            _malformed("a block after the stop reason")
        wire_index = as_count(event.get("index"))
        if wire_index is None or wire_index in self._blocks:
            _malformed("a block without an index of its own")
        start = as_object(event.get("content_block"))
        wire_type = as_text(start.get("type"))
        block_type = _BLOCK_TYPES.get(wire_type)
        if block_type is None:
            unsupported(f"content block type {wire_type or '(none)'}")
        block = _Block(index=len(self._blocks), type=block_type)
        self._blocks[wire_index] = block
        chunks: list[Chunk] = [{"type": "block-start", "index": block.index, "blockType": block_type}]
        if block_type == "tool-call":
            block.call_id = well_formed(as_text(start.get("id")))
            block.name = well_formed(as_text(start.get("name")))
            block.input = clean_json(start.get("input"))
            if not block.call_id or not block.name:
                _malformed("a tool call without id or name")
            chunks.append(
                {
                    "type": "tool-call-delta",
                    "index": block.index,
                    "id": block.call_id,
                    "name": block.name,
                    "argumentsDelta": "",
                }
            )
            return chunks
        if signature := as_text(start.get("signature")):
            block.signature = well_formed(signature)
        if text := block.pieces.take(as_text(start.get(wire_type))):
            chunks.append({"type": f"{block_type}-delta", "index": block.index, "text": text})
        return chunks

    def _delta(self, event: dict[str, Any]) -> list[Chunk]:
        block = self._open_block(event)
        delta = as_object(event.get("delta"))
        kind = delta.get("type")
        match block.type, kind:
            case ("text", "text_delta"):
                text = delta.get("text")
            case ("reasoning", "thinking_delta"):
                text = delta.get("thinking")
            case ("reasoning", "signature_delta"):
                block.signature = (block.signature or "") + well_formed(as_text(delta.get("signature")))
                return []
            case ("tool-call", "input_json_delta"):
                text = delta.get("partial_json")
            case _:
                _malformed(f"a delta {kind} for a {block.type} block")
        if not isinstance(text, str):
            _malformed("a delta without text")
        text = block.pieces.take(text)
        if block.type == "tool-call":
            return [
                {
                    "type": "tool-call-delta",
                    "index": block.index,
                    "id": block.call_id,
                    "argumentsDelta": text,
                }
            ]
        return [{"type": f"{block.type}-delta", "index": block.index, "text": text}]

    def _open_block(self, event: dict[str, Any]) -> _Block:
        index = as_count(event.get("index"))
        block = None if index is None else self._blocks.get(index)
        if block is None or not block.open:
            _malformed(f"{event['type']} for a block that is not open")
        return block

    def _take_usage(self, value: object) -> None:
        for wire_name, name in _USAGE.items():
            count = as_count(as_object(value).get(wire_name))
            if count is not None:
                self._usage[name] = count

    def _finish(self) -> list[Chunk]:
        blocks = list(self._blocks.values())
        if self._stop_reason is None:
            _malformed("message_stop without a stop reason")
        if any(block.open for block in blocks):
            _malformed("message_stop with an open block")
        kind = _FINISH.get(self._stop_reason)
        if kind is None:
            _malformed(f"stop reason {self._stop_reason}")
        if kind == "stop" and not blocks:
            raise LlmFailure("DeepSeek Messages returned no content", "EMPTY_RESPONSE")
        if kind != "max-tokens":
            for block in blocks:
                if block.type == "tool-call" and parse_arguments(block.content["arguments"]) is None:
                    _malformed(f"arguments of the call of {block.name} that are no JSON object")
        self.done = True
        usage = {name: self._usage.get(name, 0) for name in _USAGE.values()}
        usage["totalTokens"] = sum(usage.values())
        replay = {
            "response": {"kind": REPLAY_KIND, "version": REPLAY_VERSION, "model": self._model},
            "blocks": [
                {"type": block.type, **({} if block.signature is None else {"signature": block.signature})}
                for block in blocks
            ],
        }
        return [
            {"type": "usage", "usage": usage},
            {"type": "finish", "reason": {"kind": kind}, "replayState": replay},
        ]


def _malformed(what: str) -> NoReturn:
    raise LlmFailure(f"DeepSeek Messages sent {what}"[:300], "MALFORMED_RESPONSE")
