"""The inbox of a session: prompts that wait for their turn (spec session-format §4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tui.session.records import Spliced

_UNKNOWN_MAX = 256


class Waiting(NamedTuple):
    """A waiting message: the row that inserted it and its position there."""

    row: int
    position: int
    human: bool


class Inbox:
    """Folds splices into the two lists of what waits."""

    def __init__(self) -> None:
        self.partial = False
        """Only the end of a log is folded: what waits at its beginning is not known."""
        # Messages for the next step are claimed before those for the next turn.
        self._lists: dict[str, list[Waiting | None]] = {"next-step": [], "next-turn": []}

    def splice(self, row: int, record: Spliced) -> list[Waiting]:
        """Fold a splice; returns the human's messages that it took back."""
        data = record.data
        waiting = self._lists.get(data.target)
        if waiting is None:
            return []
        start, count = max(data.start, 0), max(data.removedCount, 0)
        missing = start + count - len(waiting)
        if self.partial and 0 < missing <= _UNKNOWN_MAX:
            # What came before the part that is folded waits in places of its own.
            waiting.extend([None] * missing)
        removed = waiting[start : start + count]
        waiting[start : start + count] = [
            Waiting(row, position, message.source is not None and message.source.kind == "user")
            for position, message in enumerate(data.inserted)
        ]
        if data.outcome != "canceled":
            return []
        return [item for item in removed if item is not None and item.human]

    def waiting(self) -> Iterator[Waiting]:
        """The human's messages that wait, in the order in which they will be claimed."""
        for waiting in self._lists.values():
            for item in waiting:
                if item is not None and item.human:
                    yield item
