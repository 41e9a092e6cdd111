"""Layers of registrations and what is seen through them (loop-and-adapters §6.1).

One layer is global, one belongs to each scope (an agent, a preset). The nearest registration of a name is the
one that counts; a scope may restrict what it inherits, its own registrations are exempt.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from tui.session.cancel import CancelSignal
from tui.tools.schema import require_supported
from tui.tools.tool import ModelSelection, OutputContract, Tool, ToolAgent

RESERVED: Final = "run_code"
NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

Disposer: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class ActivationContext:
    """What a condition may look at."""

    agent: ToolAgent | None
    model_selection: ModelSelection
    signal: CancelSignal


Condition: TypeAlias = Callable[[ActivationContext], bool | Awaitable[bool]]


class ToolNameError(ValueError):
    """A name that cannot be registered or listed; `code` says why, `name` which.

    Codes: `bad-name`, `reserved`, `taken`, `unknown`, `repeated`, `empty-filter`.
    """

    def __init__(
        self,
        code: Literal["bad-name", "reserved", "taken", "unknown", "repeated", "empty-filter"],
        name: str,
        message: str,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """One act of registering. Its identity is what a step admits, not the equality of the tool."""

    tool: Tool
    when: Condition | None = None


class Layer:
    """Registrations of one place and the filters on what it inherits."""

    __slots__ = ("_announce", "_filters", "_name", "_own", "parent")

    def __init__(self, name: str, parent: Layer | None, announce: Callable[[str], None]) -> None:
        self.parent = parent
        self._name = name
        self._announce = announce
        self._own: dict[str, Registration] = {}
        self._filters: list[_Filter] = []

    def register(self, tool: Tool, when: Condition | None = None) -> Disposer:
        """Register a tool, with a condition if it is to exist in some steps only.

        Returns the disposer of exactly this registration. Raises ToolNameError for the name, TypeError for a
        missing output contract or a timeout that is not positive, UnsupportedSchema for a schema.
        """
        _require_sound(tool)
        name = tool.name
        if name in self._own:
            raise ToolNameError("taken", name, f'tool "{name}" is already registered in the {self._name}')
        registration = Registration(tool, when)
        self._own[name] = registration
        self._announce(name)

        def dispose() -> None:
            if self._own.get(name) is registration:
                del self._own[name]
                self._announce(name)

        return dispose

    def own(self, name: str) -> Registration | None:
        """Return what this very layer registers under a name."""
        return self._own.get(name)

    def restrict(self, *, allow: Collection[str] | None = None, deny: Collection[str] = ()) -> Disposer:
        """Narrow what is inherited to `allow` without `deny`; several restrictions hold together.

        Raises ToolNameError for an empty filter, the reserved name or one that is not inherited.
        """
        if not allow and not deny:
            raise ToolNameError("empty-filter", "", "a restriction names no tool")
        inherited = self.parent.visible() if self.parent is not None else {}
        names = (*(allow or ()), *deny)
        for name in names:
            if name == RESERVED:
                raise ToolNameError("reserved", name, f'"{name}" is reserved and cannot be restricted')
            if name not in inherited:
                raise ToolNameError("unknown", name, f'cannot restrict unknown tool "{name}"')
        narrowed = _Filter(None if allow is None else frozenset(allow), frozenset(deny))
        self._filters.append(narrowed)
        for name in inherited:
            if not narrowed.passes(name):
                self._announce(name)

        def dispose() -> None:
            if any(entry is narrowed for entry in self._filters):
                self._filters = [entry for entry in self._filters if entry is not narrowed]
                for name in inherited:
                    if not narrowed.passes(name):
                        self._announce(name)

        return dispose

    def lookup(self, name: str) -> Registration | None:
        """Return the live registration that counts here."""
        layer: Layer | None = self
        while layer is not None:
            found = layer._own.get(name)
            if found is not None:
                return found
            if not all(entry.passes(name) for entry in layer._filters):
                return None
            layer = layer.parent
        return None

    def visible(self) -> dict[str, Registration]:
        """Return every live registration that counts here, by name."""
        inherited: Mapping[str, Registration] = {} if self.parent is None else self.parent.visible()
        seen = {
            name: registration
            for name, registration in inherited.items()
            if all(entry.passes(name) for entry in self._filters)
        }
        seen.update(self._own)
        return seen

    def __iter__(self) -> Iterator[Registration]:
        return iter(tuple(self._own.values()))


class ToolScope(Layer):
    """The layer of an agent or a preset."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Filter:
    allow: frozenset[str] | None
    deny: frozenset[str]

    def passes(self, name: str) -> bool:
        return name not in self.deny and (self.allow is None or name in self.allow)


def require_name(name: str) -> None:
    """Raise ToolNameError unless a provider takes the name and dsh has not reserved it."""
    if NAME_PATTERN.fullmatch(name) is None:
        raise ToolNameError(
            "bad-name", name, f'tool name "{name}" must be 1 to 64 of the characters A-Z a-z 0-9 _ -'
        )
    if name == RESERVED:
        raise ToolNameError("reserved", name, f'tool name "{name}" is reserved')


def _require_sound(tool: Tool) -> None:
    require_name(tool.name)
    output: Any = tool.output
    if not isinstance(output, OutputContract):
        raise TypeError(f'tool "{tool.name}" has no output contract')
    timeout: Any = tool.timeout_ms
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int) or timeout <= 0):
        raise TypeError(f'tool "{tool.name}" has a timeout that is not a positive number of milliseconds')
    require_supported(output.schema)
    if tool.argument_check == "schema":
        require_supported(tool.parameters)
