"""Where in a request's messages those stand that are asked for: they are few among many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.session.json_value import as_array, as_object


@dataclass(slots=True)
class Shape:
    """Positions among the messages of one request."""

    count: int = 0
    developers: list[int] = field(default_factory=list[int])
    systems: list[int] = field(default_factory=list[int])
    has_images: bool = False

    @classmethod
    def of(cls, messages: Iterable[Mapping[str, Any]]) -> Shape:
        """Return the shape of messages, for the cost of looking at each."""
        shape = cls()
        for message in messages:
            shape.add(message)
        return shape

    def add(self, message: Mapping[str, Any]) -> None:
        """Take in the next message."""
        role = message.get("role")
        if role == "developer":
            self.developers.append(self.count)
        elif role == "system":
            self.systems.append(self.count)
        elif not self.has_images:
            for block in as_array(message.get("content")):
                if as_object(block).get("type") == "image":
                    self.has_images = True
        self.count += 1

    def copy(self) -> Shape:
        """Return what this one is now."""
        return Shape(self.count, list(self.developers), list(self.systems), self.has_images)

    @property
    def head(self) -> int:
        """How many system messages stand before everything else."""
        return next((at for at, place in enumerate(self.systems) if at != place), len(self.systems))

    @property
    def has_later_prompts(self) -> bool:
        """A system message stands behind another message."""
        return self.head < len(self.systems)
