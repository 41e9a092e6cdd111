"""How much of the context window is in use (loop-and-adapters §7.1); sizes in tokens, mostly estimated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tui.session.events import Event
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.surface import message_of
from tui.session.tool_definition import ToolDefinition
from tui.session.writer import SessionWriter

_CHARACTERS: Final = 4
_OVERHEAD: Final = 4


def message_tokens(message: Mapping[str, Any]) -> int:
    """Return what a message takes, as dsh estimates it."""
    return _OVERHEAD + sum(map(_block_tokens, map(as_object, as_array(message.get("content")))))


def tools_tokens(tools: Iterable[ToolDefinition]) -> int:
    """Return what declarations take."""
    texts = [tool.text for tool in tools]
    return _quarter(sum(map(_length, texts)) + len(texts) + 1) + _OVERHEAD if texts else 0


def _block_tokens(block: Mapping[str, Any]) -> int:
    match block.get("type"):
        case "text" | "reasoning":
            return _text_tokens(as_text(block.get("text"))) + _OVERHEAD
        case "tool-call":
            name, arguments = as_text(block.get("name")), as_text(block.get("arguments"))
            return _text_tokens(name) + _text_tokens(arguments) + _OVERHEAD
        case _:
            return _text_tokens(compact(block)) + _OVERHEAD


def _text_tokens(text: str) -> int:
    return _quarter(_length(text))


def _length(text: str) -> int:
    # As JavaScript counts it: characters beyond the first plane are two.
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _quarter(length: int) -> int:
    return -(-length // _CHARACTERS)


class Gauge:
    """Follows the surface of a session; an append costs its own message, a replacement the surface."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._generation: int | None = None
        self._messages = 0
        self._reported: _Reported | None = None
        writer.subscribe(self._observe)

    @property
    def messages(self) -> int:
        """Estimate of all messages on the surface."""
        generation = self._writer.surface.content_generation
        if self._generation != generation:
            self._generation = generation
            self._messages = sum(_tokens(self._writer.events.event(seq)) for seq in self._writer.surface)
        return self._messages

    def report(self, usage: Mapping[str, Any] | None) -> None:
        """Take what a provider counted for the request whose answer has just been logged."""
        counts = [as_count((usage or {}).get(key)) or 0 for key in _COUNTED]
        self._reported = _Reported(sum(counts), self.messages, self._header, self._generation)

    def measure(self) -> int:
        """Return the size of a request made now: what was counted where it still holds, else estimated."""
        event = self._writer.header_event
        tools = self._writer.state.tools.active if event is not None else ()
        estimate = self.messages + tools_tokens(tools)
        known = self._reported
        if known is None or (known.header, known.generation) != (self._header, self._generation):
            return estimate
        return max(estimate, known.counted + self.messages - known.messages)

    @property
    def _header(self) -> int | None:
        event = self._writer.header_event
        return None if event is None else event.seq

    def _observe(self, event: Event) -> None:
        if event.surface_op == "append" and self._generation == self._writer.surface.content_generation:
            self._messages += _tokens(event)


_COUNTED: Final = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")


class _Reported:
    """A provider's count, and what it was taken of."""

    __slots__ = ("counted", "generation", "header", "messages")

    def __init__(self, counted: int, messages: int, header: int | None, generation: int | None) -> None:
        self.counted = counted
        self.messages = messages
        self.header = header
        self.generation = generation


def _tokens(event: Event) -> int:
    message = message_of(event)
    return message_tokens(message) if message.get("content") else 0
