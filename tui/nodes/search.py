"""Search over everything of a reading: in slices, to be dropped at any time, the first hits at once.

The log's text is passed through in pieces; a row whose raw text cannot hold the longest word is never
decoded (`search_scan`). What is left is decoded and compared with what people see of it (`search_text`).
Rows that are told in words of their own (tool changes, failures, faults) are always compared, those included.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import Literal, NamedTuple

from tui.nodes.chat_index import Flag, NodeKind
from tui.nodes.reading import Reading
from tui.nodes.search_query import Query
from tui.nodes.search_scan import piece_end, rows_with
from tui.nodes.search_text import UNSENT, Place, place_texts, tool_names
from tui.nodes.trajectory import is_bookkeeping
from tui.nodes.trajectory_index import RowFlag, RowKind
from tui.session.columns import LaterColumn, SparseColumn
from tui.session.log import DAMAGE_CODE, UNKNOWN_CODE
from tui.session.records import CODES

Texts = Callable[[int], str]
"""The localised text of a chat node by its position: what the pane says of it in its own words."""

_WORDED = frozenset(
    (
        *(NodeKind.HEADER, NodeKind.SYSTEM, NodeKind.COMPACTION, NodeKind.RETRY, NodeKind.FAILURE),
        *(NodeKind.INTERRUPTED, NodeKind.NOTE, NodeKind.PLAN, NodeKind.SUBAGENT, NodeKind.TITLE),
        *(NodeKind.UNKNOWN, NodeKind.DAMAGE),
    )
)
_FAILED = frozenset((NodeKind.FAILURE, NodeKind.INTERRUPTED, NodeKind.DAMAGE))
_ROWS_AT_ONCE = 512
_REACH = 65_536
"""How far back the beginning of what a row completes is looked for."""
_ATTEMPT = CODES["assistant/attempt"]
_CHAINED = frozenset((_ATTEMPT, CODES["llm/retry"], CODES["llm/retry-started"]))
_LATER = frozenset(
    CODES[name]
    for name in (
        *("tool/call", "tool/result", "tool/ptc-dispatch", "command/done", "job/settled"),
        *("approval/decided", "compaction/summary", "compaction/end"),
    )
)
"""Rows that belong to something that began before."""
_MIDDLE = frozenset((CODES["tool/call"], CODES["compaction/summary"]))
_RETRY = bytes((NodeKind.RETRY,))


class Hit(NamedTuple):
    """One place that fits."""

    row: int
    """The row of the log to go to."""
    chat_index: int | None
    """The chat node; None for a record that the Chat pane does not show."""
    trajectory_index: int


class Search:
    """A running search.

    Args:
        reading: may still be growing; the search then goes on as far as it is read.
        query: what to look for.
        texts: see `Texts`; None to search the log alone.
    """

    def __init__(self, reading: Reading, query: Query, texts: Texts | None = None) -> None:
        self.reading = reading
        self.query = query
        self.hits: list[Hit] = []
        """In the order of the trajectory; grows at the end, seldom before it (a result follows its call)."""
        self.done = query.is_empty
        self._texts = texts
        # Every place that fits holds each word of each phrase, and the tool's name if only one is asked for.
        certain = (*query.words, *(query.tools if len(query.tools) == 1 else ()))
        self._needle = max((word for text in certain for word in text.split()), key=len, default="")
        self._row = 0
        self._waiting: deque[int] = deque()
        self._seen: set[tuple[int, int]] = set()
        self._open: list[Place] = []

    @property
    def progress(self) -> float:
        """Share of the log that has been searched, 0 to 1."""
        if self.done:
            return 1.0
        rows = len(self.reading.log)
        return self._row / rows * self.reading.progress if rows else 0.0

    def step(self, seconds: float) -> bool:
        """Search for about this long; True when everything has been searched.

        False with nothing left to do means that the reading has to grow first.
        """
        until = perf_counter() + seconds
        while not self.done:
            if self._waiting:
                self._try_row(self._waiting.popleft())
            elif self._row < len(self.reading.log):
                self._next_piece()
            elif not self.reading.is_settled:
                return False
            else:
                self._finish()
            if perf_counter() >= until:
                break
        return self.done

    def position(self, *, chat: int | None = None, trajectory: int | None = None) -> int | None:
        """The position in `hits` of the hit on a chat node or trajectory row."""
        for at, hit in enumerate(self.hits):
            if (chat is not None and hit.chat_index == chat) or (hit.trajectory_index == trajectory):
                return at
        return None

    def beside(
        self, step: Literal[1, -1], *, chat: int | None = None, trajectory: int | None = None
    ) -> int | None:
        """The position in `hits` of the next (1) or previous (-1) hit of a pane, around the ends of the log.

        Args:
            step: the direction.
            chat: the chat node one stands on, -1 for none; only hits with a chat node count then.
            trajectory: the trajectory row one stands on.
        """
        if chat is None:
            at = -1 if trajectory is None else trajectory
            places = [(hit.trajectory_index, n) for n, hit in enumerate(self.hits)]
        else:
            at = chat
            places = [(hit.chat_index, n) for n, hit in enumerate(self.hits) if hit.chat_index is not None]
            places.sort()
        if not places:
            return None
        beyond = [n for place, n in places if (place > at if step > 0 else place < at)]
        return (beyond[0] if beyond else places[0][1]) if step > 0 else (beyond or [places[-1][1]])[-1]

    # -- rows

    def _next_piece(self) -> None:
        """Put the rows of the next piece that may fit on the list."""
        first, log = self._row, self.reading.log
        if self._needle:
            end = piece_end(log, first)
            found = {*rows_with(log, first, end, self._needle), *self._always(first, end)}
            self._waiting.extend(sorted(found))
        else:
            end = min(len(log), first + _ROWS_AT_ONCE)
            rows = self._changes(first, end) if self.query.is_tool_change else range(first, end)
            self._waiting.extend(rows)
        self._row = end

    def _always(self, first: int, end: int) -> Iterator[int]:
        """Rows whose own words may fit where their raw text does not."""
        columns = self.reading.chat.index
        for node in range(bisect_left(columns.rows, first), bisect_left(columns.rows, end)):
            kind = columns.kinds[node]
            flags = columns.flags[node]
            told = kind in _WORDED or (kind == NodeKind.CONTEXT and flags & Flag.MARKED)
            # The text of a prompt that was never sent stands in the row that put it into the inbox.
            if told or (kind == NodeKind.USER and flags & UNSENT):
                yield columns.rows[node]
        types = self.reading.log.index.types[first:end]
        for code in (UNKNOWN_CODE, DAMAGE_CODE):
            at = types.find(code)
            while at >= 0:
                yield first + at
                at = types.find(code, at + 1)

    def _changes(self, first: int, end: int) -> Iterator[int]:
        rows, columns = self.reading.trajectory.index, self.reading.chat.index
        told = {
            columns.rows[node]
            for node in range(bisect_left(columns.rows, first), bisect_left(columns.rows, end))
            if columns.kinds[node] in (NodeKind.CONTEXT, NodeKind.HEADER)
        }
        for at in range(bisect_left(rows.rows, first), bisect_left(rows.rows, end)):
            if rows.flags[at] & RowFlag.TOOL_CHANGE or rows.rows[at] in told:
                yield rows.rows[at]

    def _try_row(self, row: int) -> None:
        for place in self._places(row):
            key = (place.trajectory, place.chat)
            if key in self._seen:
                continue
            self._seen.add(key)
            if not self._passes(place):
                continue
            if self._fits(place):
                self._add(place)
            elif not self.reading.complete and self._may_grow(place):
                self._open.append(place)

    def _finish(self) -> None:
        """What was not complete when it was looked at gets a second look."""
        if len(self.reading.log):
            # The end of the log adds nodes to its last row.
            self._try_row(len(self.reading.log) - 1)
        for place in self._open:
            if self._passes(place) and self._fits(place):
                self._add(place)
        self._open = []
        self.done = True

    def _add(self, place: Place) -> None:
        hit = Hit(place.row, place.chat if place.chat >= 0 else None, place.trajectory)
        if not self.hits or self.hits[-1].trajectory_index < hit.trajectory_index:
            self.hits.append(hit)
        else:
            insort(self.hits, hit, key=_order)

    def _may_grow(self, place: Place) -> bool:
        rows = self.reading.trajectory.index
        return rows.kinds[place.trajectory] in (RowKind.TOOL, RowKind.COMPACTION, RowKind.ASSISTANT)

    # -- places of a row

    def _places(self, row: int) -> list[Place]:
        """What a row belongs to: its own record, and the nodes that begin with it or are completed by it."""
        reading = self.reading
        columns, rows = reading.chat.index, reading.trajectory.index
        at = self._trajectory_of(row)
        if at < 0:
            return []
        nodes: Iterable[int] = columns.nodes_of_row(row)
        if reading.log.code(row) == _ATTEMPT or not nodes:
            found = self._node_of(row)
            nodes = (found,) if found >= 0 else ()
        places: list[Place] = []
        for node in nodes:
            kind = columns.kinds[node]
            if kind == NodeKind.TURN:
                continue
            place = Place(at, node, rows.rows[at] if kind != NodeKind.RETRY else row)
            if kind == NodeKind.TOOL and columns.mids[node] >= 0:
                call = rows.exactly(columns.mids[node])
                place = place if call is None else Place(call, node, columns.mids[node])
            places.append(place)
        if not places:
            places.append(Place(at, -1, row))
        return places

    def _trajectory_of(self, row: int) -> int:
        rows = self.reading.trajectory.index
        before = rows.at_row(row)
        if before < 0 or rows.rows[before] == row or self.reading.log.code(row) not in _LATER:
            return before
        column = rows.mids if self.reading.log.code(row) in _MIDDLE else rows.ends
        found = _last(column, row, before)
        return found if found >= 0 else before

    def _node_of(self, row: int) -> int:
        """The chat node that a row completes or continues; -1 if there is none."""
        columns, code = self.reading.chat.index, self.reading.log.code(row)
        if code in _CHAINED:
            return self._chain_of(row)
        if code not in _LATER:
            return -1
        return _last(columns.mids if code in _MIDDLE else columns.ends, row, columns.node_before(row))

    def _chain_of(self, row: int) -> int:
        """The node of the retries or of the failure that an attempt belongs to."""
        chat = self.reading.chat
        columns = chat.index
        # An attempt comes before the retry that it leads to.
        chain = columns.kinds.find(_RETRY, columns.node_before(row) + 1)
        for _ in range(2):
            if chain >= 0 and row in chat.retry_rows.get(chain, ()):
                return chain
            chain = columns.kinds.rfind(_RETRY, 0, columns.node_before(row) + 1)
        return next((node for node, attempt in chat.attempts.items() if attempt == row), -1)

    # -- what fits

    def _passes(self, place: Place) -> bool:
        """Whether the filters let a place through; nothing is decoded."""
        query, reading = self.query, self.reading
        columns, rows = reading.chat.index, reading.trajectory.index
        at, node = place.trajectory, place.chat
        kind = NodeKind(columns.kinds[node]) if node >= 0 else None
        flags = rows.flags[at]
        if query.turns and reading.turn_number(rows.turns[at]) not in query.turns:
            return False
        if query.kinds:
            names = {RowKind(rows.kinds[at]).public_name}
            if kind is not None:
                names.add(kind.name.lower())
            if not names & query.kinds:
                return False
        elif node < 0 and not query.is_error and not query.is_id and is_bookkeeping(reading, at):
            return False
        if query.is_tool_change:
            marked = kind == NodeKind.CONTEXT and columns.flags[node] & Flag.MARKED
            if not (marked or kind == NodeKind.HEADER or flags & RowFlag.TOOL_CHANGE):
                return False
        if query.is_error:
            failed = node >= 0 and (kind in _FAILED or columns.flags[node] & Flag.ERROR)
            return bool(failed or flags & (RowFlag.ERROR | RowFlag.UNANSWERED))
        return True

    def _fits(self, place: Place) -> bool:
        query, reading = self.query, self.reading
        if query.tools:
            names = " ".join(tool_names(reading, place)).casefold()
            if not any(tool in names for tool in query.tools):
                return False
        if not query.words:
            return True
        text = "\n".join(place_texts(reading, place, ids=query.is_id))
        if self._texts is not None and place.chat >= 0 and self._is_worded(place.chat):
            text = f"{text}\n{self._texts(place.chat)}"
        text = text.casefold()
        if any(" " in word for word in query.words):
            text = " ".join(text.split())
        return all(word in text for word in query.words)

    def _is_worded(self, node: int) -> bool:
        columns = self.reading.chat.index
        return columns.kinds[node] in _WORDED or bool(columns.flags[node] & Flag.MARKED)


def _order(hit: Hit) -> tuple[int, int]:
    return hit.trajectory_index, -1 if hit.chat_index is None else hit.chat_index


def _last(column: LaterColumn | SparseColumn | array[int], row: int, before: int) -> int:
    """The entry at or before a position that holds a row, -1 if there is none near enough."""
    start, stop = max(0, before + 1 - _REACH), before + 1
    if not isinstance(column, array):
        return column.last_with(row, start, stop)
    try:
        return column.index(row, start, stop)
    except ValueError:
        return -1


__all__ = ["Hit", "Query", "Search", "Texts"]
