"""The pending lists of a session: prompts that no step has claimed yet (session-format §4.4, rule 22)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tui.session.events import Event
from tui.session.json_value import as_array, as_object, as_text
from tui.session.rule_error import SHAPE, refuse
from tui.session.rule_shapes import check_message, need_count, positive

INBOX: Final = 22
TARGETS: Final = ("next-step", "next-turn")


class InboxState:
    """Folds splices into the two lists of messages that wait, `next-step` and `next-turn`."""

    def __init__(self) -> None:
        self._lists: dict[str, list[dict[str, Any]]] = {target: [] for target in TARGETS}
        self._ids: set[str] = set()

    @property
    def next_turn(self) -> Sequence[dict[str, Any]]:
        """Prompts of their own turns, oldest first."""
        return tuple(self._lists["next-turn"])

    @property
    def next_step(self) -> Sequence[dict[str, Any]]:
        """Messages for the next step boundary, oldest first."""
        return tuple(self._lists["next-step"])

    def __len__(self) -> int:
        return sum(map(len, self._lists.values()))

    def __contains__(self, message_id: str) -> bool:
        """Whether a message of this id waits."""
        return message_id in self._ids

    def check(self, event: Event) -> None:
        """Refuse a splice that does not fit the lists."""
        data = as_object(event.data)
        waiting = self._lists.get(as_text(data.get("target")))
        if waiting is None:
            refuse(event, SHAPE, "the target is neither next-turn nor next-step")
        start = need_count(event, data, "start")
        removed = 0
        if "removedCount" in data:
            number = positive(data["removedCount"])
            if number is None:
                refuse(event, SHAPE, '"removedCount" is not a positive integer')
            removed = number
        if data.get("outcome", "canceled") != "canceled":
            refuse(event, SHAPE, "the outcome is unknown")
        if not isinstance(data.get("inserted"), list):
            refuse(event, SHAPE, '"inserted" is not a list')
        if start > len(waiting) or start + removed > len(waiting):
            refuse(event, INBOX, f"the splice reaches beyond the {len(waiting)} waiting messages")
        kept = self._ids - {message["id"] for message in waiting[start : start + removed]}
        for message in as_array(data["inserted"]):
            check_message(event, as_object(message), "user")
            if message["id"] in kept:
                refuse(event, INBOX, "a message of this id waits already")
            kept.add(message["id"])

    def advance(self, event: Event) -> None:
        """Fold in a splice that was checked."""
        data = as_object(event.data)
        waiting = self._lists[data["target"]]
        start = int(data["start"])
        end = start + int(data.get("removedCount", 0))
        self._ids.difference_update(message["id"] for message in waiting[start:end])
        waiting[start:end] = data["inserted"]
        self._ids.update(message["id"] for message in data["inserted"])
