"""Calls that a log leaves without a result, and results that do not know what was done."""

from __future__ import annotations

import msgspec

from tui.session.events import Event
from tui.session.json_value import as_array, as_object, as_text


class OrphanCalls(msgspec.Struct, frozen=True):
    """Calls of one message that have no result."""

    seq: int
    names: tuple[str, ...]
    started: tuple[str, ...]


class Calls:
    """Calls without a result, by the message that asked for them."""

    def __init__(self) -> None:
        self.orphans: list[OrphanCalls] = []
        self.unknown: list[tuple[int, str]] = []
        """Results that say that the outcome is not known: seq and tool."""
        self._asked: dict[str, str] = {}
        self._started: set[str] = set()
        self._seq = -1

    def apply(self, event: Event) -> None:
        """Fold one event in."""
        data = as_object(event.data)
        match event.type:
            case "assistant/message":
                self.finish()
                blocks = map(as_object, as_array(as_object(data.get("message")).get("content")))
                for block in blocks:
                    if block.get("type") == "tool-call":
                        self._asked[as_text(block.get("id"))] = as_text(block.get("name"))
                self._seq = event.seq
            case "tool/call":
                self._started.add(as_text(data.get("callId")))
            case "tool/result":
                call_id = as_text(as_object(data.get("message")).get("toolCallId"))
                name = self._asked.pop(call_id, "")
                if as_object(data.get("error")).get("code") == "TOOL_OUTCOME_UNKNOWN":
                    self.unknown.append((event.seq, name))
            case "turn/end":
                self.finish()
            case _:
                pass

    def finish(self) -> None:
        """What is still unanswered stays so."""
        if self._asked:
            started = tuple(name for call, name in self._asked.items() if call in self._started)
            self.orphans.append(OrphanCalls(self._seq, tuple(self._asked.values()), started))
        self._asked = {}
        self._started = set()
