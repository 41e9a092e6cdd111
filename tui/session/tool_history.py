"""Tool history: what was declared to the provider when the series began, and every update since.

The capability-independent fold of request headers and developer messages (session-format §6.1); a request
is rebuilt from its snapshot with an unchanged prefix.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import msgspec

from tui.session.fold import EventLike, Fault
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.tool_definition import DefinitionPool, ToolDefinition, by_name

SeriesCause = Literal["initial", "series", "starts-series", "redefined"]


class ToolHistoryError(Exception):
    """A log whose tool updates cannot be resolved; dsh refuses it with the same message."""

    def __init__(self, seq: int, message: str) -> None:
        super().__init__(message)
        self.seq = seq
        """The event that cannot be folded."""


class ToolUpdate(msgspec.Struct, frozen=True):
    """One developer message of the series; removals are in the message itself, not here."""

    message_id: str
    additions: tuple[ToolDefinition, ...]


class Declared(NamedTuple):
    """What a series declares, for routes that take tool updates (loop-and-adapters §3.2)."""

    tools: tuple[ToolDefinition, ...]
    """Those that it began with, then those that came in updates, deferred, each name once."""
    names: frozenset[str]
    offered: frozenset[str]
    """Names of those that could be used before the first update."""
    message_ids: frozenset[str]
    """The messages that the updates stand in."""


class ToolHistory(msgspec.Struct, frozen=True, dict=True):
    """An immutable snapshot; the declarations of the series and its updates in order. Spec §6.1."""

    tools: tuple[ToolDefinition, ...]
    updates: tuple[ToolUpdate, ...]
    baseline: int | None
    """Seq of the header that began the series; None before the first header."""
    trusted: bool
    """False where the updates do not add up to the active tools and these are declared instead."""

    @cached_property
    def declared(self) -> Declared:
        """What the series declares by now, in full; worked out once."""
        offered = frozenset([tool.name for tool in self.tools if not tool.defer_loading])
        names = {tool.name for tool in self.tools}
        added: list[ToolDefinition] = []
        for update in self.updates:
            for tool in update.additions:
                if tool.name not in names:
                    names.add(tool.name)
                    added.append(tool.deferred)
        return Declared(
            (*self.tools, *added) if added else self.tools,
            frozenset(names),
            offered,
            frozenset([update.message_id for update in self.updates]),
        )


class SeriesStart(msgspec.Struct, frozen=True):
    """A request header from which on declarations are rebuilt, and why."""

    start_seq: int
    cause: SeriesCause


class ToolHistoryFold:
    """Incremental fold of tool headers and updates; cost per event is that of its own tools.

    A strict fold raises ToolHistoryError where dsh refuses the log. A tolerant one keeps a `Fault` instead
    (codes `bad-tools`, `missing-definition`, `bad-tool-block`) and reads on: a definition that the named
    header lacks is taken from the header in force, if that has it. Spec §6.1.
    """

    __slots__ = (
        "_active",
        "_available",
        "_baseline",
        "_complete",
        "_declared",
        "_fallback",
        "_headers",
        "_initial",
        "_snapshot",
        "_strict",
        "_updates",
        "faults",
        "pool",
        "series",
    )

    def __init__(self, *, strict: bool = False, pool: DefinitionPool | None = None) -> None:
        self.faults: list[Fault] = []
        self.pool: Final = pool or DefinitionPool()
        self.series: list[SeriesStart] = []
        """Every start of a series so far, in order."""
        self._strict = strict
        self._headers: dict[int, tuple[ToolDefinition, ...]] = {}
        self._declared: dict[str, ToolDefinition] = {}
        self._active: tuple[ToolDefinition, ...] = ()
        self._available: set[str] = set()
        self._baseline: int | None = None
        self._initial: tuple[ToolDefinition, ...] = ()
        self._updates: list[ToolUpdate] = []
        # The last one handed out of either kind; `_snapshot` is None where either may be due.
        self._complete: ToolHistory | None = None
        self._fallback: ToolHistory | None = None
        self._snapshot: ToolHistory | None = None

    def apply(self, event: EventLike) -> None:
        """Fold one event in; only request headers and developer messages matter."""
        if event.type == "request/header":
            self.apply_header(event.seq, event.data)
        elif event.type == "developer/message":
            self.apply_developer(event.seq, event.data)

    def apply_header(self, seq: int, data: object) -> SeriesCause | None:
        """Fold a request header in; returns the cause if a series starts with it, else None."""
        fields = as_object(data)

        def refuse(detail: str) -> None:
            self._refuse(seq, "bad-tools", detail)

        tools = self.pool.tools(fields.get("header"), refuse)
        self._headers[seq] = tools
        cause = self._series_cause(fields, tools)
        if cause is not None:
            self._baseline, self._initial = seq, tools
            self._declared = dict(by_name(tools))
            self._available = set(self._declared)
            self._updates = []
            self._complete = None
            self.series.append(SeriesStart(seq, cause))
        self._active = tools
        self._snapshot = None
        return cause

    def apply_developer(self, seq: int, data: object) -> None:
        """Fold a developer message in; in a strict fold raises ToolHistoryError for a missing definition."""
        fields = as_object(data)
        message = as_object(fields.get("message"))
        header_seq = as_count(fields.get("headerSeq"))
        named = by_name(() if header_seq is None else self._headers.get(header_seq, ()))
        additions: list[ToolDefinition] = []
        shown: list[tuple[str, bool]] = []
        for block in as_array(message.get("content")):
            kind, name = as_object(block).get("type"), as_object(block).get("toolName")
            if kind not in ("tool-addition", "tool-removal"):
                continue
            if not isinstance(name, str):
                self._refuse(seq, "bad-tool-block", f"a {kind} block names no tool")
                continue
            shown.append((name, kind == "tool-addition"))
            if kind == "tool-addition":
                definition = self._definition(seq, name, named)
                if definition is not None:
                    additions.append(definition)
        self._declared.update((definition.name, definition) for definition in additions)
        for name, added in shown:
            if added:
                self._available.add(name)
            else:
                self._available.discard(name)
        self._updates.append(ToolUpdate(as_text(message.get("id")), tuple(additions)))
        self._complete = None
        self._snapshot = None

    def snapshot(self) -> ToolHistory:
        """Return the history as a request now would use it; the identical object while nothing changed."""
        if self._snapshot is None:
            self._snapshot = self._take()
        return self._snapshot

    def expected(self, tools: tuple[ToolDefinition, ...]) -> ToolHistory:
        """Return the history as it will be once a header with these tools and its update are recorded.

        The update, if there will be one, stands under an empty message id. Nothing is folded in.
        """
        if self._baseline is None or any(self._declared.get(tool.name, tool) != tool for tool in tools):
            return ToolHistory(tools, (), self._baseline, trusted=True)
        before, now = {tool.name for tool in self._active}, {tool.name for tool in tools}
        if self._available - (before - now) | (now - before) != now:
            return ToolHistory(tools, (), self._baseline, trusted=False)
        if before == now:
            return ToolHistory(self._initial, tuple(self._updates), self._baseline, trusted=True)
        update = ToolUpdate("", tuple(tool for tool in tools if tool.name not in before))
        return ToolHistory(self._initial, (*self._updates, update), self._baseline, trusted=True)

    def tools_of(self, header_seq: int) -> tuple[ToolDefinition, ...] | None:
        """Return the tools of the request header at a seq, or None if there is no header at it."""
        return self._headers.get(header_seq)

    @property
    def active(self) -> tuple[ToolDefinition, ...]:
        """The tools of the latest header, in its order."""
        return self._active

    def _take(self) -> ToolHistory:
        if {tool.name for tool in self._active} != self._available:
            known = self._fallback
            if known is None or known.tools != self._active or known.baseline != self._baseline:
                self._fallback = known = ToolHistory(self._active, (), self._baseline, trusted=False)
            return known
        if self._complete is None:
            self._complete = ToolHistory(self._initial, tuple(self._updates), self._baseline, trusted=True)
        return self._complete

    def _series_cause(self, data: Mapping[str, Any], tools: tuple[ToolDefinition, ...]) -> SeriesCause | None:
        if self._baseline is None:
            return "initial"
        if data.get("reason") == "series":
            return "series"
        if data.get("startsSeries"):
            return "starts-series"
        if any(self._declared.get(tool.name, tool) != tool for tool in tools):
            return "redefined"
        return None

    def _definition(self, seq: int, name: str, named: Mapping[str, ToolDefinition]) -> ToolDefinition | None:
        definition = named.get(name)
        if definition is None:
            self._refuse(seq, "missing-definition", f"tool history: missing definition for {name}")
            definition = by_name(self._active).get(name)
        return definition

    def _refuse(self, seq: int, code: str, detail: str) -> None:
        if self._strict:
            raise ToolHistoryError(seq, detail)
        self.faults.append(Fault(seq, code, detail))
