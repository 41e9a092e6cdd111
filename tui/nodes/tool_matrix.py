"""Tools over time: one row a tool, one column a request (or a turn), made from a reading.

Columns are made when they are looked at, because a session may have thousands of them; what is told of a tool
as a whole comes from the headers alone. Requests are numbered as in the trajectory (CONTRACT, `requests`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntFlag
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import ModeSource, RouteBook
from tui.nodes.fallbacks import Fallbacks
from tui.nodes.reading import Reading
from tui.nodes.request_projection import fall_back, known_mode
from tui.nodes.tool_offer import Series, ToolOffers, ToolState
from tui.nodes.trajectory_index import RowFlag, RowKind
from tui.session.tool_definition import ToolDefinition, by_name

Zoom: TypeAlias = Literal["request", "turn"]
RouteChoice: TypeAlias = Literal["recorded", "none", "addition-only", "in-history"]
"""As which route the columns are told; `recorded`: each as the route of its own model."""
ROUTE_CHOICES: Final[tuple[RouteChoice, ...]] = ("recorded", "none", "addition-only", "in-history")


class Mark(IntFlag):
    """What happened to a tool between a column and the one before it."""

    NONE = 0
    ADDED = 1
    REMOVED = 2
    RESTORED = 4
    """It came back; never together with `ADDED`."""
    REDEFINED = 8
    """Its definition is another than the last one known; may stand beside `RESTORED` and `ADDED`."""


class Cell(NamedTuple):
    """One tool in one column."""

    state: ToolState
    mark: Mark = Mark.NONE
    calls: int = 0
    """Calls that the answer of the column asked for and that were begun, nested ones included."""
    failed: int = 0


class Column(NamedTuple):
    """One request, or the requests of one turn."""

    first: int
    """Number of its first request, from 1."""
    last: int
    turn: int | None
    item: int
    """Trajectory row of its last request."""
    row: int
    """Row of the log of that request."""
    provider: str
    model: str
    mode: ToolUpdateMode
    """Tool update mode of the route it is told for."""
    mode_from: ModeSource
    failed: int
    """How many of its requests brought no whole answer."""


class Happening(NamedTuple):
    """One change of one tool."""

    mark: Mark
    seq: int
    """The request header that changed it."""
    row: int
    header: int
    """Position of that header among those of the log."""


class CallPlace(NamedTuple):
    """One call in the answer of a column."""

    item: int
    """Its trajectory row; -1 if it has none."""
    row: int


class ToolMatrix:
    """The matrix of a reading.

    Args:
        reading: what has been folded so far; later growth is not seen.
        zoom: what a column is.
        route: as which route the columns are told.
        book: what is known of routes; the built-in catalogue if None.
    """

    def __init__(
        self,
        reading: Reading,
        *,
        zoom: Zoom = "request",
        route: RouteChoice = "recorded",
        book: RouteBook | None = None,
    ) -> None:
        self.reading = reading
        self.zoom: Zoom = zoom
        self.route: RouteChoice = route
        self.offers = ToolOffers(reading)
        self._book = book or RouteBook()
        self._fallbacks = Fallbacks(reading.log)
        self._fallbacks.extend()
        index = reading.trajectory.index
        numbered = sorted((number, item) for item, number in index.requests.items())
        self._items = array("I", (item for _, item in numbered))
        self._rows = array("I", (index.rows[item] for item in self._items))
        self._ends = self._column_ends(zoom)
        self._marks = self._read_marks()
        self._mark_rows = [row for row, _ in self._marks]
        self._cells: dict[int, Mapping[str, Cell]] = {}
        self.tools = self._names()
        """Every tool that was declared or called, in order of first appearance."""

    def renewed(self) -> ToolMatrix:
        """Return the same matrix of all that has been read since."""
        return self.zoomed(self.zoom)

    def zoomed(self, zoom: Zoom) -> ToolMatrix:
        """Return the same matrix with other columns."""
        return ToolMatrix(self.reading, zoom=zoom, route=self.route, book=self._book)

    def routed(self, route: RouteChoice) -> ToolMatrix:
        """Return the same matrix told as another route."""
        return ToolMatrix(self.reading, zoom=self.zoom, route=route, book=self._book)

    # -- columns

    def __len__(self) -> int:
        """Columns."""
        return len(self._ends)

    @property
    def requests(self) -> int:
        """Requests of the log."""
        return len(self._items)

    def column(self, at: int) -> Column:
        """Return a column by its position from 0."""
        first, last = (self._ends[at - 1] if at else 0), self._ends[at] - 1
        index, item = self.reading.trajectory.index, self._items[last]
        row = self._rows[last]
        header = self.offers.header_before(row)
        entry = self.offers.headers[header] if header >= 0 else None
        provider, model = (entry.provider, entry.model) if entry is not None else ("", "")
        mode, mode_from = self._mode(provider, model, row)
        return Column(
            first=index.requests[self._items[first]],
            last=index.requests[item],
            turn=self.reading.turn_number(index.turns[item]),
            item=item,
            row=row,
            provider=provider,
            model=model,
            mode=mode,
            mode_from=mode_from,
            failed=bisect_left(self._failed, last + 1) - bisect_left(self._failed, first),
        )

    def turn(self, at: int) -> int | None:
        """Return the number of the turn that a column is in."""
        return self.reading.turn_number(self.reading.trajectory.index.turns[self._items[self._ends[at] - 1]])

    def column_of_request(self, number: int) -> int:
        """Return the column of a request by its number, the nearest one for a number that is not there."""
        return max(0, min(bisect_right(self._ends, number - 1), len(self) - 1))

    def column_of_item(self, item: int) -> int:
        """Return the column that a trajectory row belongs to.

        A call belongs to the answer that asked for it; anything else to the request that followed it, or
        to the last one.
        """
        index = self.reading.trajectory.index
        if not self._items or item < 0:
            return 0
        row = index.rows[item]
        if index.kinds[item] == RowKind.TOOL:
            at = bisect_right(self._rows, row) - 1
        else:
            at = bisect_left(self._rows, row)
        return max(0, min(bisect_right(self._ends, max(at, 0)), len(self) - 1))

    @cached_property
    def _failed(self) -> array[int]:
        """The positions of the requests that brought no whole answer."""
        flags, bad = self.reading.trajectory.index.flags, RowFlag.ERROR | RowFlag.UNANSWERED
        return array("I", (at for at, item in enumerate(self._items) if flags[item] & bad))

    @cached_property
    def failed_columns(self) -> Sequence[int]:
        """The columns with a request that brought no whole answer, ascending."""
        return sorted({bisect_right(self._ends, at) for at in self._failed})

    @cached_property
    def boundaries(self) -> Mapping[int, Series]:
        """The series that start with a column; of several the last."""
        found: dict[int, Series] = {}
        for series in self.offers.series:
            request = bisect_right(self._rows, series.row)
            if request < len(self._rows):
                found[bisect_right(self._ends, request)] = series
        return found

    def series_of(self, at: int) -> Series | None:
        """Return the series that a column belongs to."""
        part = self.offers.series_before(self.column(at).row)
        return self.offers.series[part] if part >= 0 else None

    # -- cells

    def cells(self, at: int) -> Mapping[str, Cell]:
        """Return the cells of a column by tool; a tool without one is absent and nothing happened to it."""
        found = self._cells.get(at)
        if found is None:
            found = self._cells[at] = self._made(at)
        return found

    def cell(self, name: str, at: int) -> Cell:
        """Return one cell."""
        return self.cells(at).get(name, ABSENT)

    def calls(self, name: str, at: int) -> list[CallPlace]:
        """Return the calls of a tool in the answers of a column."""
        called, index = self.reading.called, self.reading.trajectory.index
        places: list[CallPlace] = []
        for call in self._call_range(at):
            if called.names[called.tools[call]] == name:
                item = index.exactly(called.rows[call])
                places.append(CallPlace(item if item is not None else -1, called.rows[call]))
        return places

    def changed_columns(self, names: Iterable[str] | None = None) -> list[int]:
        """Return the columns in which something happened to one of these tools (None: to any), ascending."""
        wanted = None if names is None else set(names)
        rows = (row for row, marks in self._marks if wanted is None or not wanted.isdisjoint(marks))
        return sorted({at for at in map(self._column_after, rows) if at is not None})

    def failed_places(self) -> list[tuple[int, str]]:
        """Return column and tool of every failed call, in order."""
        rows, called, places = self._rows, self.reading.called, list[tuple[int, str]]()
        for call, (name, failed) in enumerate(self._call_outcomes(range(len(called.rows)))):
            if failed and rows:
                request = max(bisect_right(rows, called.rows[call]) - 1, 0)
                places.append((bisect_right(self._ends, request), name))
        return places

    # -- tools

    def happened(self, name: str) -> list[Happening]:
        """Return everything that happened to a tool, in order."""
        return self._happened.get(name, [])

    def column_of(self, happening: Happening) -> int | None:
        """Return the column that shows a change; None where no request followed it."""
        return self._column_after(happening.row)

    @property
    def changing(self) -> frozenset[str]:
        """The tools that something happened to."""
        return frozenset(self._happened)

    def active_requests(self, name: str) -> int:
        """Return in how many requests a tool was active."""
        rows, total, since = self._rows, 0, None
        if name in self._initial:
            since = 0
        for each in self.happened(name):
            place = bisect_right(rows, each.row)
            if each.mark & Mark.REMOVED:
                total += place - since if since is not None else 0
                since = None
            elif since is None:
                since = place
        return total + (len(rows) - since if since is not None else 0)

    @cached_property
    def call_counts(self) -> Mapping[str, int]:
        """Calls by tool, over the whole log."""
        return self.reading.called.totals()

    @cached_property
    def failed_counts(self) -> Mapping[str, int]:
        """Failed calls by tool, over the whole log."""
        found: dict[str, int] = {}
        for name, failed in self._call_outcomes(range(len(self.reading.called.rows))):
            if failed:
                found[name] = found.get(name, 0) + 1
        return found

    def definition(self, name: str, at: int) -> tuple[int, ToolDefinition] | None:
        """Return the definition that counts in a column, and the position of the header that it is from.

        The last known one where the tool is not active; None where none was known yet.
        """
        return next(self._definitions(name, self.offers.header_before(self.column(at).row)), None)

    def definition_before(self, name: str, at: int) -> tuple[int, ToolDefinition] | None:
        """Return the last other definition before the one that counts in a column."""
        found = self._definitions(name, self.offers.header_before(self.column(at).row))
        now = next(found, None)
        return next((each for each in found if now is not None and each[1] != now[1]), None)

    # -- inside

    def _mode(self, provider: str, model: str, row: int) -> tuple[ToolUpdateMode, ModeSource]:
        if self.route != "recorded":
            return (None if self.route == "none" else self.route), "option"
        told = self._fallbacks.told(provider, model, row)
        mode, source = known_mode(self._book, provider, model, told)

        def carries(tried: ToolUpdateMode) -> bool:
            """Whether it says of any tool what full definitions would not."""
            states = self.offers.states(row, tried).values()
            return any(state != ToolState.DECLARED for state in states)

        fallen = fall_back(mode, told, carries)
        if fallen.mode != mode and not told.is_recorded:
            source = "assumed"
        return fallen.mode, source

    def _column_ends(self, zoom: Zoom) -> Sequence[int]:
        """For each column the position behind its last request."""
        count = len(self._items)
        if zoom == "request":
            return range(1, count + 1)
        turns = self.reading.trajectory.index.turns
        of_request = [turns[item] for item in self._items]
        ends = [at for at in range(1, count) if of_request[at] != of_request[at - 1]]
        return [*ends, count] if count else []

    def _read_marks(self) -> list[tuple[int, dict[str, Mark]]]:
        """What each header did, by its row; the first one begins the session and marks nothing."""
        headers, rows = self.offers.headers, self.offers.header_rows
        self._happened: dict[str, list[Happening]] = {}
        self._initial = frozenset(headers[0].active) if headers else frozenset[str]()
        known: dict[str, ToolDefinition] = dict(by_name(headers[0].tools)) if headers else {}
        found: list[tuple[int, dict[str, Mark]]] = []
        for at, change in enumerate(self.reading.tools.header_changes, 1):
            if at >= len(rows) or not (change.added or change.removed or change.redefined):
                continue
            now = by_name(headers[at].tools)
            marks = dict.fromkeys(change.removed, Mark.REMOVED)
            marks.update(dict.fromkeys(change.redefined, Mark.REDEFINED))
            for name in change.added:
                before = known.get(name)
                mark = Mark.ADDED if before is None else Mark.RESTORED
                marks[name] = mark | Mark.REDEFINED if before not in (None, now[name]) else mark
            known.update((name, now[name]) for name in (*change.added, *change.redefined))
            found.append((rows[at], marks))
            for name, mark in marks.items():
                self._happened.setdefault(name, []).append(Happening(mark, change.seq, rows[at], at))
        return found

    def _names(self) -> tuple[str, ...]:
        names = dict.fromkeys(self.offers.headers[0].active if self.offers.headers else ())
        for _, marks in self._marks:
            names.update(dict.fromkeys(marks))
        names.update(dict.fromkeys(self.reading.called.names))
        return tuple(names)

    def _column_after(self, row: int) -> int | None:
        request = bisect_right(self._rows, row)
        return bisect_right(self._ends, request) if request < len(self._rows) else None

    def _made(self, at: int) -> Mapping[str, Cell]:
        column = self.column(at)
        cells = {name: Cell(state) for name, state in self.offers.states(column.row, column.mode).items()}
        first = self._ends[at - 1] if at else 0
        begin = self._rows[first - 1] if first else -1
        for _, marks in self._marks[
            bisect_right(self._mark_rows, begin) : bisect_left(self._mark_rows, column.row)
        ]:
            for name, mark in marks.items():
                cells[name] = cells.get(name, ABSENT)._replace(mark=mark)
        for name, failed in self._call_outcomes(self._call_range(at)):
            cell = cells.get(name, ABSENT)
            cells[name] = cell._replace(calls=cell.calls + 1, failed=cell.failed + failed)
        return cells

    def _call_range(self, at: int) -> range:
        """The recorded calls between the first answer of a column and the next column's."""
        first = self._ends[at - 1] if at else 0
        rows, until = self.reading.called.rows, self._ends[at]
        start = bisect_left(rows, self._rows[first]) if at else 0
        return range(start, bisect_left(rows, self._rows[until]) if until < len(self._rows) else len(rows))

    def _call_outcomes(self, calls: range) -> Iterator[tuple[str, bool]]:
        called, index = self.reading.called, self.reading.trajectory.index
        for call in calls:
            item = index.exactly(called.rows[call])
            failed = item is not None and bool(index.flags[item] & RowFlag.ERROR)
            yield called.names[called.tools[call]], failed

    def _definitions(self, name: str, header: int) -> Iterator[tuple[int, ToolDefinition]]:
        """The definitions of a tool up to a header, newest first."""
        places = [each.header for each in self.happened(name) if not each.mark & Mark.REMOVED]
        for at in [*reversed([place for place in places if place <= header]), 0]:
            if header < 0:
                return
            definition = by_name(self.offers.headers[at].tools).get(name)
            if definition is not None:
                yield at, definition


ABSENT: Final = Cell(ToolState.ABSENT)
