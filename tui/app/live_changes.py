"""Which nodes and rows of a growing session look different since the panes last asked.

An event adds nodes or completes some of the running turn; a few reach further back, and then everything may
have changed. The cost depends on the length of the turn, not of the session.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tui.nodes.chat_index import NodeKind
from tui.nodes.live import LiveReading
from tui.session.events import Event

_FAR: Final = frozenset(
    {"job/settled", "command/done", "compaction/end", "image/offload", "session/end-seed"}
)
"""Events that complete or mark what may lie in an earlier turn."""


class Changes(NamedTuple):
    """Positions that were there before and look different now; meaningless if `everything` may."""

    nodes: list[int]
    rows: list[int]
    everything: bool


class ChangeWatch:
    """Compares the columns of the running turn with what they were."""

    def __init__(self, reading: LiveReading) -> None:
        self._reading = reading
        self._everything = False
        self._has_retried = False
        self._nodes = self._rows = 0
        self._low_node = self._low_row = 0
        self._turns = 0
        self._chat: list[Sequence[int]] = []
        self._trajectory: list[Sequence[int]] = []
        self._remember()

    def note(self, event: Event) -> None:
        """Take note of an event that will be folded."""
        if event.type in _FAR or isinstance(event.surface_op, Mapping):
            self._everything = True
        elif event.type in ("llm/retry", "llm/retry-started"):
            self._has_retried = True

    def take(self) -> Changes:
        """What changed since the last call; the reading must have caught up."""
        nodes = _different(self._chat, self._chat_columns(), self._low_node)
        rows = _different(self._trajectory, self._trajectory_columns(), self._low_row)
        nodes |= self._headings() | self._retries()
        reading = self._reading
        for turn in reading.turns.turns[max(0, self._turns - 1) :]:
            row = reading.trajectory.index.exactly(turn.start_row)
            rows |= {row} if row is not None and row < self._rows else set()
        changes = Changes(sorted(nodes), sorted(rows), self._everything)
        self._everything = self._has_retried = False
        self._remember()
        return changes

    def _headings(self) -> set[int]:
        index = self._reading.chat.index
        turns = self._reading.turns.turns[max(0, self._turns - 1) :]
        found = {node for turn in turns for node in index.nodes_of_row(turn.start_row)}
        return {node for node in found if node < self._nodes and index.kinds[node] == NodeKind.TURN}

    def _retries(self) -> set[int]:
        if not self._has_retried:
            return set()
        kinds = self._reading.chat.index.kinds
        found = kinds.rfind(bytes([NodeKind.RETRY]), self._low_node, self._nodes)
        return {found} if found >= 0 else set()

    def _remember(self) -> None:
        reading = self._reading
        turns = reading.turns.turns
        if turns and len(turns) != self._turns:
            start = turns[-1].start_row
            self._low_node = bisect_right(reading.chat.index.rows, max(start - 1, 0))
            self._low_row = bisect_right(reading.trajectory.index.rows, max(start - 1, 0))
        self._turns = len(turns)
        self._nodes, self._rows = len(reading.chat.index), len(reading.trajectory.index)
        self._chat = self._chat_columns(self._nodes)
        self._trajectory = self._trajectory_columns(self._rows)

    def _chat_columns(self, end: int | None = None) -> list[Sequence[int]]:
        index = self._reading.chat.index
        columns: Sequence[Any] = (index.kinds, index.flags, index.mids, index.ends, index.rows)
        return [column[self._low_node : self._nodes if end is None else end] for column in columns]

    def _trajectory_columns(self, end: int | None = None) -> list[Sequence[int]]:
        index = self._reading.trajectory.index
        columns: Sequence[Any] = (index.kinds, index.flags, index.mids, index.ends, index.requests)
        return [column[self._low_row : self._rows if end is None else end] for column in columns]


def _different(before: list[Sequence[int]], now: list[Sequence[int]], low: int) -> set[int]:
    found: set[int] = set()
    for old, new in zip(before, now, strict=True):
        if old != new:
            found.update(
                low + at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other
            )
    return found
