"""What a route is sent of each tool at a point of the log: declared, deferred, offered, withdrawn.

The headers and developer messages of a reading are folded as a tool history is (session-format §6.1), kept
so that the state at any row can be made from them, and projected as the dispatch of a call does it
(loop-and-adapters §3.2).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

from tui.llm.projection import Projection, project_request
from tui.llm.route import ToolUpdateMode
from tui.nodes.reading import Reading
from tui.nodes.trajectory_index import RowKind
from tui.session.tool_changes import HeaderEntry, ToolChange
from tui.session.tool_definition import ToolDefinition, by_name
from tui.session.tool_history import SeriesCause, ToolHistory, ToolUpdate

NEVER: Final = 1 << 62


class ToolState(IntEnum):
    """What a request says of one tool."""

    ABSENT = 0
    """Nothing: the model does not know of it."""
    DECLARED = 1
    """Declared in the head, usable from the start."""
    OFFERED = 2
    """Declared as deferred, offered by an addition in the history."""
    REOFFERED = 3
    """Declared in the head, taken away in the history and given back there."""
    DEFERRED = 4
    """Declared as deferred, and no addition offers it."""
    INACTIVE = 5
    """Declared, but not active: taken away in the history, or not offered there."""

    @property
    def is_active(self) -> bool:
        """The model may call it, or find it."""
        return self not in (ToolState.ABSENT, ToolState.INACTIVE)


class Series(NamedTuple):
    """A request series: from the row of its header on declarations are rebuilt."""

    number: int
    """From 1."""
    row: int
    seq: int
    cause: SeriesCause
    header: int
    """Position of its header among those of the log."""
    first_update: int


class _Update(NamedTuple):
    row: int
    gone: int
    """The row that took the message off the surface; `NEVER` if none did."""
    change: ToolChange
    additions: tuple[ToolDefinition, ...]

    def message(self) -> dict[str, Any]:
        blocks = [{"type": "tool-addition", "toolName": name} for name in self.change.added]
        blocks += [{"type": "tool-removal", "toolName": name} for name in self.change.removed]
        return {"role": "developer", "id": _id(self), "content": blocks}


class ToolOffers:
    """The headers, series and updates of a reading, by row of the log.

    Args:
        reading: what has been folded of the log; later growth is not seen.
    """

    def __init__(self, reading: Reading) -> None:
        self.headers: Sequence[HeaderEntry] = reading.tools.headers
        self.header_rows = _header_rows(reading)
        self.series: list[Series] = []
        self._updates = self._read_updates(reading)
        self._read_series(reading)
        self._states: dict[tuple[int, int, int, int, ToolUpdateMode], Mapping[str, ToolState]] = {}

    def header_before(self, row: int) -> int:
        """Position of the header in force for a request at a row; -1 if there is none."""
        return bisect_left(self.header_rows, row) - 1

    def series_before(self, row: int) -> int:
        """Position of the series that a request at a row belongs to; -1 before the first."""
        return bisect_left(self.series, row, key=lambda series: series.row) - 1

    def states(self, row: int, mode: ToolUpdateMode) -> Mapping[str, ToolState]:
        """What the request at a row says of every tool; a tool that is not in it is absent."""
        at, part = self.header_before(row), self.series_before(row)
        if at < 0 or part < 0:
            return {}
        first = self.series[part].first_update
        last = bisect_left(self._updates, row, first, key=lambda update: update.row)
        updates = self._updates[first:last]
        kept = [update for update in updates if update.gone >= row]
        # Messages only ever leave the surface, so that their number says which of them are left.
        key = (id(self.headers[at].tools), part, last, len(kept), mode)
        states = self._states.get(key)
        if states is None:
            states = self._states[key] = self._made(at, part, updates, kept, mode)
        return states

    def _made(
        self, at: int, part: int, updates: Sequence[_Update], kept: Sequence[_Update], mode: ToolUpdateMode
    ) -> Mapping[str, ToolState]:
        active = self.headers[at].tools
        if mode is None:
            return dict.fromkeys(by_name(active), ToolState.DECLARED)
        history = self._history(active, part, updates)
        sent = project_request([update.message() for update in kept], active, mode, history)
        return _states(sent, {tool.name for tool in active})

    def _history(
        self, active: tuple[ToolDefinition, ...], part: int, updates: Sequence[_Update]
    ) -> ToolHistory:
        baseline = self.headers[self.series[part].header].tools
        available = {tool.name for tool in baseline}
        for update in updates:
            available.update(update.change.added)
            available.difference_update(update.change.removed)
        seq = self.series[part].seq
        if available != {tool.name for tool in active}:
            return ToolHistory(active, (), seq, trusted=False)
        told = tuple(ToolUpdate(_id(update), update.additions) for update in updates)
        return ToolHistory(baseline, told, seq, trusted=True)

    def _read_updates(self, reading: Reading) -> list[_Update]:
        updates: list[_Update] = []
        row = -1
        for change in reading.tools.changes:
            row = _row_after(reading, change.seq, row)
            replaced = reading.surface.replaced_by(change.seq)
            gone = _row_after(reading, replaced, row) if replaced is not None else NEVER
            updates.append(_Update(row, gone, change, self._additions(change, row)))
        return updates

    def _additions(self, change: ToolChange, row: int) -> tuple[ToolDefinition, ...]:
        at = self.header_before(row)
        active = by_name(self.headers[at].tools if at >= 0 and change.added else ())
        found = (change.definitions.get(name) or active.get(name) for name in change.added)
        return tuple(definition for definition in found if definition is not None)

    def _read_series(self, reading: Reading) -> None:
        changes = reading.tools.header_changes
        for at, row in enumerate(self.header_rows):
            cause = changes[at - 1].cause if at else "initial"
            if cause is not None:
                first = bisect_left(self._updates, row, key=lambda update: update.row)
                number = len(self.series) + 1
                self.series.append(Series(number, row, self.headers[at].seq, cause, at, first))


def _header_rows(reading: Reading) -> list[int]:
    """The row of every header; each has a trajectory row of its own."""
    index = reading.trajectory.index
    found: list[int] = []
    at = index.kinds.find(RowKind.HEADER)
    while at >= 0:
        found.append(index.rows[at])
        at = index.kinds.find(RowKind.HEADER, at + 1)
    return found[: len(reading.tools.headers)]


def _row_after(reading: Reading, seq: int, row: int) -> int:
    """The row of a number; of several (a damaged log) the first one after a row."""
    rows = reading.log.rows_of_seq(seq)
    return next((each for each in rows if each > row), rows[-1] if rows else row)


def _states(sent: Projection, active: set[str]) -> Mapping[str, ToolState]:
    declared = {tool.name: tool.defer_loading for tool in sent.tools or ()}
    blocks = [block for message in sent.messages for block in message["content"]]
    given: dict[str, bool] = {}
    for block in blocks:
        given[block["toolName"]] = block["type"] == "tool-addition"
    return {name: _state(deferred, given.get(name), name in active) for name, deferred in declared.items()}


def _state(deferred: bool, given: bool | None, is_active: bool) -> ToolState:
    """The state of a declared tool; `given` is what the last block about it says, None without one."""
    if not is_active or given is False:
        return ToolState.INACTIVE
    if deferred:
        return ToolState.OFFERED if given else ToolState.DEFERRED
    return ToolState.REOFFERED if given else ToolState.DECLARED


def _id(update: _Update) -> str:
    return str(update.change.seq)
