"""How much of the context window is in use (loop-and-adapters §7.1); sizes in tokens, mostly estimated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tui.llm.tokens import message_tokens, tools_tokens
from tui.session.events import Event
from tui.session.json_value import as_count
from tui.session.surface import message_of
from tui.session.writer import SessionWriter

__all__ = ["Gauge", "message_tokens", "tools_tokens"]


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
