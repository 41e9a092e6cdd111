"""Holding a tool set: what a session was offered stays as it is while the registry goes on changing.

A held registration runs as it was, also when its name was registered anew in the meantime. What is registered
no longer is gone: it stays declared, and a call of it meets an unknown tool. So does what an earlier process
held, until the registry has the very same definition again: what a definition did is not in a log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from tui.session.tool_definition import ToolDefinition
from tui.tools.scope import Layer, Registration
from tui.tools.tool import Tool, ToolContext, ToolFailure


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


@dataclass(frozen=True, slots=True, eq=False)
class Remembered(Registration):
    """A definition that a log tells of; whoever could run it is not known, or not there yet."""


def remembered(definitions: Iterable[ToolDefinition]) -> dict[str, Registration]:
    """Return what stands for the definitions of a request header until their tools are there."""
    return {definition.name: Remembered(_declared(definition)) for definition in definitions}


def _declared(definition: ToolDefinition) -> Tool:
    tool = Tool(
        name=definition.name,
        description=definition.description,
        parameters=definition.parameters,
        execute=_nobody,
        argument_check="none",
    )
    # Byte for byte what the log has: another order of keys would be another definition.
    object.__setattr__(tool, "declaration", definition)
    return tool


async def _nobody(arguments: object, context: ToolContext) -> NoReturn:
    del arguments, context
    raise ToolFailure("nothing runs this tool", "UNKNOWN_TOOL", name="ToolNotFoundError")


class ToolHolds:
    """The layers whose set is held, and the last set of every layer that was resolved."""

    def __init__(self) -> None:
        self._last: dict[Layer, HeldSet] = {}
        self._held: dict[Layer, HeldSet | None] = {}
        """None: what the next step is given."""

    def hold(
        self, layer: Layer, recorded: Iterable[ToolDefinition] | None = None, *, at_first_step: bool = False
    ) -> None:
        """Keep the last set that was resolved for a layer.

        If there is none, what the latest request header of the session declares; without one either, what the
        layer sees now, or `at_first_step`, for a registry that is still being filled.
        """
        if layer in self._held:
            return
        last = self._last.get(layer)
        if last is None and recorded is not None:
            kept = remembered(recorded)
            visible = layer.visible()
            # A condition that was not met then is not a change that waits now.
            aside = {name: found for name, found in visible.items() if found.when is not None}
            last = HeldSet(aside, bound(kept, visible))
        self._held[layer] = last or (None if at_first_step else HeldSet(layer.visible()))

    def release(self, layer: Layer) -> None:
        """Let the next step see everything again."""
        self._held.pop(layer, None)

    def held(self, layer: Layer) -> HeldSet | None:
        """Return what is held for a layer; what is only remembered is bound as soon as it is there."""
        if layer not in self._held:
            return None
        held = self._held[layer]
        if held is None:
            return HeldSet(layer.visible())
        if held.admitted is None:
            return held
        if any(isinstance(kept, Remembered) for kept in held.admitted.values()):
            held = self._held[layer] = HeldSet(held.visible, bound(held.admitted, layer.visible()))
        return held

    def resolved(self, layer: Layer, now: HeldSet) -> None:
        """Remember what a step was given."""
        self._last[layer] = now
        if layer in self._held:
            self._held[layer] = now

    def waiting(self, layer: Layer) -> WaitingChanges:
        """Return what waits for the release; nothing where nothing is held."""
        held = self.held(layer)
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


def bound(
    kept: Mapping[str, Registration] | None, visible: Mapping[str, Registration]
) -> dict[str, Registration]:
    """Return a set with the registrations that are there now for definitions that were only remembered."""
    found: dict[str, Registration] = {}
    for name, registration in (kept or {}).items():
        live = visible.get(name) if isinstance(registration, Remembered) else None
        same = live is not None and live.tool.declaration.text == registration.tool.declaration.text
        found[name] = live if live is not None and same else registration
    return found
