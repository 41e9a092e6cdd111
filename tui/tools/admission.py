"""Which tools a step may use: conditions, the resolved set, the declared order (loop-and-adapters §6.6).

The set is made once for a proposed step, before its prompt; declarations, calls, nested calls and retries of
the step all go through it. It survives cancelling and ends when the step's last result is committed.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from tui.session.cancel import CancelSignal
from tui.session.tool_definition import ToolDefinition
from tui.tools.scope import ActivationContext, Condition, Registration, ToolNameError
from tui.tools.tool import Tool

UNLISTED: Final = "<unlisted-tools>"


class ToolActivationFailed(Exception):
    """A condition raised; the turn ends with this code and message."""

    code: Final = "TOOL_ACTIVATION_FAILED"

    def __init__(self, name: str, cause: BaseException) -> None:
        super().__init__(f'tool "{name}" activation failed: {cause or type(cause).__name__}')
        self.name = name
        self.message = str(self)


class ResolvedToolSet:
    """The registrations that one step admits, in declared order; nothing but `dispose` changes it."""

    __slots__ = ("_admitted", "_disposed", "declarations", "is_held")

    def __init__(self, admitted: Mapping[str, Registration], *, is_held: bool = False) -> None:
        self._admitted: Mapping[str, Registration] = MappingProxyType(dict(admitted))
        self.is_held = is_held
        """A name that was registered anew runs as it was admitted."""
        self._disposed = False
        self.declarations: tuple[ToolDefinition, ...] = tuple(
            registration.tool.declaration for registration in admitted.values()
        )
        """What `header.tools` of the step holds."""

    @property
    def disposed(self) -> bool:
        """Tell whether the step is over; then nothing runs through the set any more."""
        return self._disposed

    @property
    def names(self) -> tuple[str, ...]:
        """The names in declared order."""
        return tuple(self._admitted)

    @property
    def registrations(self) -> Mapping[str, Registration]:
        """What was admitted, in declared order, whatever became of it."""
        return self._admitted

    def admitted(self, name: str) -> Registration | None:
        """Return the registration that was admitted under a name, whatever became of it."""
        return self._admitted.get(name)

    def tool(self, name: str) -> Tool | None:
        """Return the admitted tool, for sections of the prompt; None after the step."""
        registration = None if self._disposed else self._admitted.get(name)
        return None if registration is None else registration.tool

    def dispose(self) -> None:
        """End the set: after the step's last result is committed, or when the step does not come about."""
        self._disposed = True

    def __contains__(self, name: object) -> bool:
        return name in self._admitted

    def __len__(self) -> int:
        return len(self._admitted)


async def admit(
    visible: Mapping[str, Registration], context: ActivationContext, order: Sequence[str] | None
) -> ResolvedToolSet:
    """Evaluate every condition once, all of them at the same time, and return the set of the step.

    Raises Cancelled as soon as the signal says so, ToolActivationFailed for the first condition by name that
    raised (the rest is cancelled), and ToolNameError for an order that lists an unknown tool.
    """
    context.signal.raise_if_cancelled()
    names = declared_order(visible, order)
    conditional = {
        name: registration.when
        for name in sorted(visible, key=utf16_key)
        if (registration := visible[name]).when is not None
    }
    active = await _evaluate(conditional, context) if conditional else {}
    return ResolvedToolSet({name: visible[name] for name in names if active.get(name, True)})


def declared_order(names: Iterable[str], order: Sequence[str] | None = None) -> list[str]:
    """Return names by their UTF-16 code units, or as `order` lists them.

    The entry `<unlisted-tools>` of an order takes the rest; without one the rest comes last. Raises
    ToolNameError for an entry that names no tool or stands there twice. §6.1.
    """
    rest = sorted(names, key=utf16_key)
    if order is None:
        return rest
    known = set(rest)
    for at, name in enumerate(order):
        if name in order[:at]:
            raise ToolNameError("repeated", name, f'the tool order lists "{name}" twice')
        if name != UNLISTED and name not in known:
            raise ToolNameError("unknown", name, f'the tool order lists unknown tool "{name}"')
    unlisted = [name for name in rest if name not in order]
    listed = list(order) if UNLISTED in order else [*order, UNLISTED]
    at = listed.index(UNLISTED)
    return [*listed[:at], *unlisted, *listed[at + 1 :]]


def utf16_key(name: str) -> bytes:
    """Return a key that sorts as JavaScript compares strings."""
    return name.encode("utf-16-be", "surrogatepass")


async def _evaluate(
    conditional: Mapping[str, Condition | None], context: ActivationContext
) -> dict[str, bool]:
    tasks = {
        name: asyncio.ensure_future(_outcome(when, context))
        for name, when in conditional.items()
        if when is not None
    }
    try:
        return await context.signal.guard(_in_order(tasks, context.signal))
    finally:
        for task in tasks.values():
            task.cancel()
            task.add_done_callback(_ignore)


async def _in_order(tasks: Mapping[str, asyncio.Future[bool]], signal: CancelSignal) -> dict[str, bool]:
    active: dict[str, bool] = {}
    for name, task in tasks.items():
        await asyncio.wait((task,))
        signal.raise_if_cancelled()
        if task.cancelled():
            raise ToolActivationFailed(name, asyncio.CancelledError("the condition was cancelled"))
        if (cause := task.exception()) is not None:
            raise ToolActivationFailed(name, cause) from cause
        active[name] = task.result()
    return active


async def _outcome(when: Condition, context: ActivationContext) -> bool:
    outcome = when(context)
    return bool(await outcome) if inspect.isawaitable(outcome) else bool(outcome)


def _ignore(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()
