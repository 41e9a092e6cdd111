"""Landmarks in a reading, and what in one pane belongs to what in the other."""

from typing import Literal

import pytest

from tests.support.app_driver import recording
from tui.app.navigation import (
    Landmark,
    chat_landmark,
    node_of_row,
    node_of_trajectory,
    trajectory_landmark,
    trajectory_of_node,
    trajectory_of_row,
)
from tui.nodes.chat_index import NodeKind
from tui.nodes.reading import Reading
from tui.nodes.trajectory_index import RowKind

# What the recordings were made to hold, by sequence number: read from the logs themselves.
TURNS = {
    "single-tool-added": [1, 21, 38],
    "many-tools-changed": [1, 23, 42],
    "remove-and-restore": [1, 23, 34, 51, 68, 85, 96, 113],
    "rejected-update": [1, 21, 30, 40, 48, 56, 64, 74],
}
TOOL_CHANGES = {
    "single-tool-added": [26],
    "many-tools-changed": [28],
    "remove-and-restore": [28, 39, 56, 73, 90, 101],
    "rejected-update": [35, 69, 79],
}
FAILED_TURN_ENDS = {"rejected-update": [38, 46, 54, 62, 72]}


def reading(name: str) -> Reading:
    return Reading.open(recording(name)).read_all()


def chat_walk(told: Reading, what: Landmark, step: Literal[1, -1]) -> list[int]:
    columns = told.chat.index
    at = -1 if step > 0 else len(columns)
    found: list[int] = []
    while (place := chat_landmark(told, at, step, what)) is not None:
        found.append(told.log.seq(columns.rows[place]))
        at = place
    return found


def trajectory_walk(told: Reading, what: Landmark, step: Literal[1, -1]) -> list[int]:
    columns = told.trajectory.index
    at = -1 if step > 0 else len(columns)
    found: list[int] = []
    while (place := trajectory_landmark(told, at, step, what)) is not None:
        found.append(told.log.seq(columns.rows[place]))
        at = place
    return found


@pytest.mark.parametrize("name", TURNS)
def test_turns_are_walked_both_ways_in_both_panes(name: str) -> None:
    told = reading(name)
    for walk in (chat_walk, trajectory_walk):
        assert walk(told, "turn", 1) == TURNS[name]
        assert walk(told, "turn", -1) == TURNS[name][::-1]


@pytest.mark.parametrize("name", TOOL_CHANGES)
def test_tool_changes_are_walked_both_ways_in_both_panes(name: str) -> None:
    told = reading(name)
    for walk in (chat_walk, trajectory_walk):
        assert walk(told, "tool-change", 1) == TOOL_CHANGES[name]
        assert walk(told, "tool-change", -1) == TOOL_CHANGES[name][::-1]


def test_every_failed_turn_is_an_error_in_the_chat() -> None:
    told = reading("rejected-update")
    assert chat_walk(told, "error", 1) == FAILED_TURN_ENDS["rejected-update"]
    assert set(FAILED_TURN_ENDS["rejected-update"]) <= set(trajectory_walk(told, "error", 1))


def test_the_failed_calls_and_the_cut_answers_of_tool_use_are_errors() -> None:
    # A failing tool, an unknown tool and wrong arguments; two answers cut by max_tokens.
    told = reading("tool-use")
    assert {22, 54} <= set(trajectory_walk(told, "error", 1))
    failed = [
        index
        for index in range(len(told.chat.index))
        if told.chat.index.kinds[index] == NodeKind.TOOL
        and told.log.seq(told.chat.index.mids[index]) in (22, 54)
    ]
    found: list[int] = []
    at = -1
    while (place := chat_landmark(told, at, 1, "error")) is not None:
        found.append(place)
        at = place
    assert set(failed) <= set(found)


@pytest.mark.parametrize("name", TURNS)
def test_a_tool_call_is_one_thing_in_both_panes(name: str) -> None:
    told = reading(name)
    calls = [index for index in range(len(told.chat.index)) if told.chat.index.kinds[index] == NodeKind.TOOL]
    assert calls
    for node in calls:
        row = trajectory_of_node(told, node)
        assert told.trajectory.index.kinds[row] == RowKind.TOOL
        assert node_of_trajectory(told, row) == node


@pytest.mark.parametrize("name", TOOL_CHANGES)
def test_a_tool_change_is_one_thing_in_both_panes(name: str) -> None:
    told = reading(name)
    for seq in TOOL_CHANGES[name]:
        row = told.log.row_of_seq(seq)
        assert row is not None
        item = trajectory_of_row(told, row)
        assert told.trajectory.index.rows[item] == row
        assert told.chat.index.rows[node_of_trajectory(told, item)] == row
        assert told.chat.index.rows[node_of_row(told, row)] == row


def test_a_result_belongs_to_its_call() -> None:
    told = reading("single-tool-added")
    call, result = told.log.row_of_seq(29), told.log.row_of_seq(30)
    assert call is not None and result is not None
    assert trajectory_of_row(told, result) == trajectory_of_row(told, call)


def test_every_node_has_a_row_and_every_row_a_node_or_none_before_it() -> None:
    told = reading("remove-and-restore")
    for node in range(len(told.chat.index)):
        assert 0 <= trajectory_of_node(told, node) < len(told.trajectory.index)
    for row in range(len(told.trajectory.index)):
        assert -1 <= node_of_trajectory(told, row) < len(told.chat.index)
