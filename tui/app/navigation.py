"""Finding the next turn, tool change or error in a reading, and what in one pane belongs to what in the
other.

Pure functions over the columns of the two indexes; nothing is decoded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tui.nodes.chat_index import ChatIndex, Flag, NodeKind
from tui.nodes.reading import Reading
from tui.nodes.trajectory_index import RowFlag, RowKind, TrajectoryIndex

Landmark = Literal["turn", "tool-change", "error"]

_CALLS_SEARCHED = 400


def chat_landmark(reading: Reading, start: int, step: Literal[1, -1], what: Landmark) -> int | None:
    """The next chat node after (or before) a position that is a turn heading, a tool change or an error."""
    return _seek(len(reading.chat.index), start, step, _chat_test(reading.chat.index, what))


def trajectory_landmark(reading: Reading, start: int, step: Literal[1, -1], what: Landmark) -> int | None:
    """The next trajectory row after (or before) a position that begins a turn, changes tools or failed."""
    return _seek(len(reading.trajectory.index), start, step, _row_test(reading, what))


def _seek(count: int, start: int, step: int, is_wanted: Callable[[int], bool]) -> int | None:
    at = start + step
    while 0 <= at < count:
        if is_wanted(at):
            return at
        at += step
    return None


def _chat_test(columns: ChatIndex, what: Landmark) -> Callable[[int], bool]:
    kinds, flags = columns.kinds, columns.flags
    if what == "turn":
        return lambda at: kinds[at] == NodeKind.TURN
    if what == "tool-change":
        return lambda at: (
            kinds[at] == NodeKind.HEADER or (kinds[at] == NodeKind.CONTEXT and bool(flags[at] & Flag.MARKED))
        )
    failures = (NodeKind.FAILURE, NodeKind.INTERRUPTED, NodeKind.DAMAGE)
    return lambda at: kinds[at] in failures or bool(flags[at] & Flag.ERROR)


def _row_test(reading: Reading, what: Landmark) -> Callable[[int], bool]:
    columns = reading.trajectory.index
    if what == "turn":
        return lambda at: columns.kinds[at] == RowKind.TURN
    wanted = RowFlag.TOOL_CHANGE if what == "tool-change" else RowFlag.ERROR
    return lambda at: bool(columns.flags[at] & wanted)


def row_of_node(columns: ChatIndex, node: int) -> int:
    """The row of the log that a chat node is about: of a tool call, the recorded call."""
    recorded_call = columns.kinds[node] == NodeKind.TOOL and columns.mids[node] >= 0
    return columns.mids[node] if recorded_call else columns.rows[node]


def trajectory_of_node(reading: Reading, node: int) -> int:
    """The trajectory row that tells of a chat node; -1 if there is none."""
    return reading.trajectory.index.at_row(row_of_node(reading.chat.index, node))


def trajectory_of_row(reading: Reading, row: int) -> int:
    """The trajectory row that a row of the log begins or completes, else the one before it; -1 if none."""
    columns = reading.trajectory.index
    last = columns.at_row(row)
    for at in range(last, max(-1, last - _CALLS_SEARCHED), -1):
        if row in (columns.rows[at], columns.ends[at], columns.mids[at]):
            return at
    return last


def node_of_row(reading: Reading, row: int) -> int:
    """The chat node that begins with a row of the log, its spoken part first; the one before it otherwise."""
    columns = reading.chat.index
    own = columns.nodes_of_row(row)
    return _spoken(columns, own) if own else columns.node_before(row)


def node_of_trajectory(reading: Reading, at: int) -> int:
    """The chat node that tells of a trajectory row, else the one before its place; -1 if there is none."""
    row = reading.trajectory.index.rows[at]
    columns = reading.chat.index
    if _is_call(reading.trajectory.index, at):
        call = _node_of_call(columns, row)
        if call >= 0:
            return call
    return node_of_row(reading, row)


def _is_call(columns: TrajectoryIndex, at: int) -> bool:
    return columns.kinds[at] == RowKind.TOOL


def _node_of_call(columns: ChatIndex, row: int) -> int:
    last = columns.node_before(row)
    for node in range(last, max(-1, last - _CALLS_SEARCHED), -1):
        if columns.kinds[node] == NodeKind.TOOL and columns.mids[node] == row:
            return node
    return -1


def _spoken(columns: ChatIndex, nodes: range) -> int:
    """Of an answer's nodes its text, else the first."""
    return next((node for node in nodes if columns.kinds[node] == NodeKind.ASSISTANT), nodes[0])
