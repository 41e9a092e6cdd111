"""The registry of tools: layers, announcements, step sets and calls (loop-and-adapters §6.1, §6.6)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from tui.session.cancel import CancelSignal
from tui.session.tool_definition import ToolDefinition
from tui.tools.admission import ResolvedToolSet, admit, declared_order
from tui.tools.approval import ApprovalService
from tui.tools.hold import HeldSet, Remembered, ToolHolds, WaitingChanges
from tui.tools.hooks import ToolHooks
from tui.tools.pipeline import PreparedCall, ToolPipeline
from tui.tools.scope import ActivationContext, Condition, Disposer, Layer, Registration, ToolScope
from tui.tools.tool import ModelSelection, Tool, ToolAgent, ToolCall, ToolResult

T = TypeVar("T")

Listener: TypeAlias = Callable[[tuple[str, ...]], None]
Source: TypeAlias = Callable[[], Awaitable[object] | object]


class ToolRegistry:
    """Everything that is registered, and the only way by which a call reaches a tool."""

    def __init__(
        self, *, tool_order: Sequence[str] | None = None, approval: ApprovalService | None = None
    ) -> None:
        self.hooks = ToolHooks()
        self._order = None if tool_order is None else tuple(tool_order)
        self._listeners: list[Listener] = []
        self._sources: list[Source] = []
        self._unannounced: list[str] | None = None
        self._holds = ToolHolds()
        self._layer = Layer("global layer", None, self._announce)
        self._pipeline = ToolPipeline(self.executable, self.hooks, approval)

    def register(self, definition: Tool, when: Condition | None = None) -> Disposer:
        """Register a tool for everybody; see `Layer.register`."""
        return self._layer.register(definition, when)

    def scope(self, name: str, parent: ToolScope | None = None) -> ToolScope:
        """Return a new layer above the global one or above another scope."""
        return ToolScope(f"scope {name}", parent or self._layer, self._announce)

    def layer(self, scope: ToolScope | None = None) -> Layer:
        """Return the layer of a scope, or the global one."""
        return scope if scope is not None else self._layer

    def subscribe(self, listener: Listener) -> Disposer:
        """Tell a listener the names that were registered, removed or restricted, after the fact."""
        return _added(self._listeners, listener)

    def add_source(self, refresh: Source) -> Disposer:
        """Have `refresh` called before each set is resolved, so that a file or a server can be looked at."""
        return _added(self._sources, refresh)

    @contextmanager
    def announced_together(self) -> Generator[None]:
        """Announce everything that changes inside at once, at the end."""
        if self._unannounced is not None:
            yield
            return
        self._unannounced = []
        try:
            yield
        finally:
            names, self._unannounced = self._unannounced, None
            if names:
                self._tell(tuple(dict.fromkeys(names)))

    def hold(
        self,
        agent: ToolAgent | None = None,
        recorded: Iterable[ToolDefinition] | None = None,
        *,
        at_first_step: bool = False,
    ) -> None:
        """Give the agent's next steps the tools of its last one, until `release`; see `ToolHolds.hold`.

        `recorded` is what the latest request header of its session declares, for an agent without a step yet.
        """
        self._holds.hold(self._of(agent), recorded, at_first_step=at_first_step)

    def release(self, agent: ToolAgent | None = None) -> None:
        """Let what waited reach the agent's next step."""
        self._holds.release(self._of(agent))

    def is_held(self, agent: ToolAgent | None = None) -> bool:
        """Tell whether the agent's set is held."""
        return self._holds.held(self._of(agent)) is not None

    def waiting(self, agent: ToolAgent | None = None) -> WaitingChanges:
        """Return the changes that wait for the release of the agent's set."""
        return self._holds.waiting(self._of(agent))

    async def resolve(
        self,
        *,
        model_selection: ModelSelection,
        signal: CancelSignal,
        agent: ToolAgent | None = None,
    ) -> ResolvedToolSet:
        """Return the tools of a proposed step; the caller disposes the set.

        Raises ToolActivationFailed if a condition raises, Cancelled if the signal comes first, ToolNameError
        if the configured order lists an unknown tool.
        """
        signal.raise_if_cancelled()
        for refresh in tuple(self._sources):
            outcome = refresh()
            if inspect.isawaitable(outcome):
                await signal.guard(outcome)
        context = ActivationContext(agent, model_selection, signal)
        layer = self._of(agent)
        held = self._holds.held(layer)
        if held is not None and held.admitted is not None:
            return ResolvedToolSet(held.admitted, is_held=True)
        visible = layer.visible() if held is None else held.visible
        tool_set = await admit(visible, context, self._order)
        self._holds.resolved(layer, HeldSet(visible, tool_set.registrations))
        return ResolvedToolSet(tool_set.registrations, is_held=True) if held is not None else tool_set

    def get(
        self, name: str, agent: ToolAgent | None = None, tool_set: ResolvedToolSet | None = None
    ) -> Tool | None:
        """Return the tool that a section of the prompt may speak of: the set's, or an unconditional one."""
        if tool_set is not None:
            return tool_set.tool(name)
        return self._unconditional(self._of(agent).lookup(name))

    def schemas(
        self, agent: ToolAgent | None = None, tool_set: ResolvedToolSet | None = None
    ) -> tuple[ToolDefinition, ...]:
        """Return the declarations of the set, or of every unconditional tool, in declared order."""
        if tool_set is not None:
            return () if tool_set.disposed else tool_set.declarations
        visible = self._of(agent).visible()
        tools = (self._unconditional(visible[name]) for name in declared_order(visible, self._order))
        return tuple(tool.declaration for tool in tools if tool is not None)

    def registrations(self, agent: ToolAgent | None = None) -> tuple[Registration, ...]:
        """Return everything an agent could be offered, conditions aside, in declared order."""
        visible = self._of(agent).visible()
        return tuple(visible[name] for name in declared_order(visible, self._order))

    def executable(
        self, name: str, agent: ToolAgent | None = None, tool_set: ResolvedToolSet | None = None
    ) -> Tool | None:
        """Return the tool that a call starting now runs, or None if the call meets an unknown tool. §6.6."""
        live = self._of(agent).lookup(name)
        if tool_set is None:
            return self._unconditional(live)
        admitted = tool_set.admitted(name)
        if live is None or admitted is None or tool_set.disposed or isinstance(admitted, Remembered):
            return None
        return admitted.tool if admitted is live or tool_set.is_held else None

    def prepare(self, call: ToolCall, tool_set: ResolvedToolSet | None = None) -> PreparedCall:
        """Return a call in its stages, for whoever overlaps bodies; see `ToolSchedule`."""
        return self._pipeline.prepare(call, tool_set)

    async def execute(self, call: ToolCall, tool_set: ResolvedToolSet | None = None) -> ToolResult:
        """Run one call to its result; never raises for what the tool, a hook or a condition does."""
        return await self._pipeline.execute(call, tool_set)

    def _of(self, agent: ToolAgent | None) -> Layer:
        return self.layer(None if agent is None else agent.tool_scope)

    @staticmethod
    def _unconditional(registration: Registration | None) -> Tool | None:
        return None if registration is None or registration.when is not None else registration.tool

    def _announce(self, name: str) -> None:
        if self._unannounced is not None:
            self._unannounced.append(name)
        else:
            self._tell((name,))

    def _tell(self, names: tuple[str, ...]) -> None:
        for listener in tuple(self._listeners):
            listener(names)


def _added(entries: list[T], entry: T) -> Disposer:
    entries.append(entry)

    def dispose() -> None:
        if entry in entries:
            entries.remove(entry)

    return dispose
