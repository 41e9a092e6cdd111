"""The queues of messages that wait, changed by durable splices (loop-and-adapters §1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from tui.loop.messages import Message
from tui.session.writer import SessionWriter

Queue: TypeAlias = Literal["next-turn", "next-step"]

QUEUES: Final[tuple[Queue, ...]] = ("next-step", "next-turn")
"""In the order in which they are claimed and cleared."""


class Claim(NamedTuple):
    """What a boundary took from the queues."""

    steps: tuple[Message, ...] = ()
    """From `next-step`."""
    turns: tuple[Message, ...] = ()
    """From `next-turn`: at most one."""

    @property
    def messages(self) -> list[Message]:
        """The claimed messages in their order."""
        return [*self.steps, *self.turns]


class Inbox:
    """Changes the queues of one session; every change is one event. Append errors pass through."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer

    def waiting(self, queue: Queue) -> Sequence[Message]:
        """Return what waits in a queue, oldest first."""
        inbox = self._writer.inbox
        return inbox.next_turn if queue == "next-turn" else inbox.next_step

    def __len__(self) -> int:
        return len(self._writer.inbox)

    def add(self, queue: Queue, message: Message) -> None:
        """Put a message at the end of a queue."""
        self._splice(queue, len(self.waiting(queue)), 0, [message])

    def claim(self, *, opens_turn: bool) -> Claim:
        """Take everything for the next step, and at the beginning of a turn the first prompt too."""
        steps = tuple(self.waiting("next-step"))
        turns = tuple(self.waiting("next-turn")[:1]) if opens_turn else ()
        if steps:
            self._splice("next-step", 0, len(steps), [])
        if turns:
            self._splice("next-turn", 0, len(turns), [])
        return Claim(steps, turns)

    def give_back(self, claim: Claim) -> None:
        """Put claimed messages back at the head of their queues, those that wait again already aside."""
        for queue, messages in (("next-step", claim.steps), ("next-turn", claim.turns)):
            back = [message for message in messages if message["id"] not in self._writer.inbox]
            if back:
                self._splice(queue, 0, 0, back)

    def clear(self) -> list[Message]:
        """Discard everything that waits; returns it."""
        dropped: list[Message] = []
        for queue in QUEUES:
            waiting = list(self.waiting(queue))
            if waiting:
                self._splice(queue, 0, len(waiting), [], canceled=True)
                dropped.extend(waiting)
        return dropped

    def remove(self, message_id: str) -> Message | None:
        """Discard one message; returns it, or None if it does not wait (any more)."""
        place = self._place(message_id)
        if place is None:
            return None
        queue, at = place
        message = self.waiting(queue)[at]
        self._splice(queue, at, 1, [], canceled=True)
        return message

    def replace(self, message_id: str, message: Message) -> bool:
        """Put another message in the place of one that waits; False if it does not wait (any more)."""
        place = self._place(message_id)
        if place is None:
            return False
        queue, at = place
        self._splice(queue, at, 1, [message], canceled=True)
        return True

    def _place(self, message_id: str) -> tuple[Queue, int] | None:
        for queue in QUEUES:
            for at, message in enumerate(self.waiting(queue)):
                if message["id"] == message_id:
                    return queue, at
        return None

    def _splice(
        self, queue: str, start: int, removed: int, inserted: list[Message], *, canceled: bool = False
    ) -> None:
        data: dict[str, object] = {"target": queue, "start": start}
        if removed:
            data["removedCount"] = removed
        data["inserted"] = inserted
        if canceled:
            data["outcome"] = "canceled"
        self._writer.append("agent/inbox/spliced", data)
