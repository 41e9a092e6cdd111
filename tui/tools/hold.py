"""Holding a tool set: what a session was offered stays as it is while the registry goes on changing.

A held registration runs as it was, also when its name was registered anew in the meantime. What is registered
no longer is gone for good: it stays declared, and a call of it meets an unknown tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tui.tools.scope import Layer, Registration


@dataclass(frozen=True, slots=True)
class WaitingChanges:
    """What the registry did since the set that is held; names in order."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    redefined: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.added) + len(self.removed) + len(self.redefined)


@dataclass(frozen=True, slots=True)
class HeldSet:
    """What was there when a set was resolved, and which of it was admitted."""

    visible: Mapping[str, Registration]
    admitted: Mapping[str, Registration] | None = None
    """In declared order; None where no step was resolved yet: conditions are still to be asked, once."""


class ToolHolds:
    """The layers whose set is held, and the last set of every layer that was resolved."""

    def __init__(self) -> None:
        self._last: dict[Layer, HeldSet] = {}
        self._held: dict[Layer, HeldSet] = {}

    def hold(self, layer: Layer) -> None:
        """Keep the last set that was resolved for a layer, or what it sees now if there is none."""
        self._held.setdefault(layer, self._last.get(layer) or HeldSet(layer.visible()))

    def release(self, layer: Layer) -> None:
        """Let the next step see everything again."""
        self._held.pop(layer, None)

    def held(self, layer: Layer) -> HeldSet | None:
        """Return what is held for a layer."""
        return self._held.get(layer)

    def resolved(self, layer: Layer, now: HeldSet) -> None:
        """Remember what a step was given."""
        self._last[layer] = now
        if layer in self._held:
            self._held[layer] = now

    def waiting(self, layer: Layer) -> WaitingChanges:
        """Return what waits for the release; nothing where nothing is held."""
        held = self._held.get(layer)
        if held is None:
            return WaitingChanges()
        now = layer.visible()
        kept = held.visible if held.admitted is None else held.admitted
        return WaitingChanges(
            added=tuple(
                sorted(
                    name
                    for name, registration in now.items()
                    if name not in kept and held.visible.get(name) is not registration
                )
            ),
            removed=tuple(sorted(name for name in kept if name not in now)),
            redefined=tuple(
                sorted(
                    name
                    for name, registration in kept.items()
                    if name in now and now[name].tool.declaration.text != registration.tool.declaration.text
                )
            ),
        )
