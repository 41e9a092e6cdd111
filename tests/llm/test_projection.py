"""What a route is sent of tools and their updates (loop-and-adapters §3.2)."""

from __future__ import annotations

import copy
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recorded_events import vector
from tests.support.tool_sessions import ToolSession, definitions, refuse, usable
from tui.llm.projection import declares_only_deferred, project_request, project_tool_updates
from tui.llm.route import ToolUpdateMode
from tui.session.tool_definition import DefinitionPool, ToolDefinition
from tui.session.tool_history import ToolHistory, ToolUpdate

CASES = vector("projector-vectors.json")
MODES: tuple[ToolUpdateMode, ...] = (None, "addition-only", "in-history")


def tools_of(values: list[dict[str, Any]] | None) -> tuple[ToolDefinition, ...] | None:
    return None if values is None else DefinitionPool().tools({"tools": values}, refuse)


def history_of(value: dict[str, Any] | None) -> ToolHistory | None:
    if value is None:
        return None
    updates = tuple(
        ToolUpdate(update["messageId"], tools_of(update["additions"]) or ()) for update in value["updates"]
    )
    return ToolHistory(tools_of(value["tools"]) or (), updates, 0, trusted=True)


def project_case(case: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]] | None]:
    projected = project_tool_updates(
        case["messages"], tools_of(case["tools"]), case["mode"], history_of(case["history"])
    )
    tools = projected.tools
    return projected.messages, None if tools is None else [tool.to_json() for tool in tools]


def test_there_are_50_vectors_and_every_mode_is_among_them() -> None:
    assert len(CASES) == 50
    assert {case["mode"] for case in CASES} == {None, *get_args(get_args(ToolUpdateMode)[0])}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_vectors_give_what_dsh_sends(case: dict[str, Any]) -> None:
    messages, tools = project_case(case)
    assert messages == case["expected"]["messages"]
    assert tools == case["expected"]["tools"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_is_given_is_not_touched_and_what_stays_is_the_same_object(case: dict[str, Any]) -> None:
    given_case = copy.deepcopy(case)
    messages, _ = project_case(given_case)
    assert given_case == case
    if messages == case["messages"]:
        assert messages is given_case["messages"]
    by_id = {id(message) for message in given_case["messages"]}
    unchanged = [message for message in messages if message in case["messages"]]
    assert all(id(message) in by_id for message in unchanged)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_text_of_a_projected_definition_is_its_json(case: dict[str, Any]) -> None:
    projected = project_tool_updates(
        case["messages"], tools_of(case["tools"]), case["mode"], history_of(case["history"])
    )
    for tool in projected.tools or ():
        assert tool.defer_loading is (tool.to_json().get("deferLoading") is True)


NAMES = "abcd"
tool_names = st.lists(
    st.sampled_from([f"{name}{form}" for name in NAMES for form in ("", "", "'", "*")]), max_size=5
).map(lambda names: " ".join({name[0]: name for name in names}.values()))
steps = st.lists(st.tuples(tool_names, st.integers(0, 9).map(lambda n: n == 0)), min_size=1, max_size=8)


def session_of(changes: list[tuple[str, bool]]) -> ToolSession:
    session = ToolSession()
    for names, series in changes:
        session.answer()
        session.step(names, series=series)
    return session


@given(steps, st.sampled_from(MODES))
def test_no_tool_is_offered_that_is_not_declared(
    changes: list[tuple[str, bool]], mode: ToolUpdateMode
) -> None:
    session = session_of(changes)
    projected = project_tool_updates(session.messages, session.tools, mode, session.history)
    declared = {tool.name for tool in projected.tools or ()}
    named = {
        block["toolName"]
        for message in projected.messages
        for block in message["content"]
        if "toolName" in block
    }
    assert named <= declared


@given(steps, st.sampled_from(MODES))
def test_the_usable_tools_are_the_active_ones(changes: list[tuple[str, bool]], mode: ToolUpdateMode) -> None:
    session = session_of(changes)
    projected = project_tool_updates(session.messages, session.tools, mode, session.history)
    active = {tool.name for tool in session.tools or ()}
    explicit = {tool.name for tool in session.tools or () if tool.defer_loading}
    found = usable(projected.messages, projected.tools)
    assert found - explicit == active - explicit
    assert found <= active


@given(steps)
def test_addition_only_never_sends_a_removal_and_declares_active_tools_alone(
    changes: list[tuple[str, bool]],
) -> None:
    session = session_of(changes)
    projected = project_tool_updates(session.messages, session.tools, "addition-only", session.history)
    kinds = {block["type"] for message in projected.messages for block in message["content"]}
    assert "tool-removal" not in kinds
    assert {tool.name for tool in projected.tools or ()} == {tool.name for tool in session.tools or ()}


@given(steps)
def test_without_a_mode_the_active_tools_are_sent_plain_and_no_developer_message(
    changes: list[tuple[str, bool]],
) -> None:
    session = session_of(changes)
    projected = project_tool_updates(session.messages, session.tools, None, session.history)
    assert all(message["role"] != "developer" for message in projected.messages)
    assert [tool.name for tool in projected.tools or ()] == [tool.name for tool in session.tools or ()]
    assert not any(tool.defer_loading for tool in projected.tools or ())


@given(tool_names, st.sampled_from(MODES))
def test_the_same_list_comes_back_while_no_tool_changes(names: str, mode: ToolUpdateMode) -> None:
    session = session_of([(names, False)] * 3)
    projected = project_tool_updates(session.messages, session.tools, mode, session.history)
    assert projected.messages is session.messages
    if mode is not None and session.tools:
        assert projected.tools == session.tools


@given(steps)
def test_what_is_declared_of_one_history_is_worked_out_once(changes: list[tuple[str, bool]]) -> None:
    session = session_of(changes)
    first = project_tool_updates(session.messages, session.tools, "in-history", session.history)
    second = project_tool_updates(session.messages, session.tools, "in-history", session.history)
    assert first == second
    if declared := first.tools:
        assert second.tools is declared
    series = session.history.baseline
    session.answer()
    session.step("a b c d")
    later = project_tool_updates(session.messages, session.tools, "in-history", session.history)
    if session.history.baseline == series:
        kept = {id(tool) for tool in later.tools or ()}
        assert all(id(tool) in kept for tool in first.tools or ())


@given(steps, st.sampled_from(NAMES))
def test_an_unchanged_restoration_keeps_the_prefix_on_an_in_history_route(
    changes: list[tuple[str, bool]], name: str
) -> None:
    session = session_of(changes)
    kept = " ".join(tool.description[5:-1] for tool in session.tools or ())
    before = project_tool_updates(session.messages, session.tools, "in-history", session.history)
    trusted = session.history.trusted
    for names in (" ".join(tool for tool in kept.split() if tool[0] != name), kept):
        session.answer()
        session.step(names)
        after = project_tool_updates(session.messages, session.tools, "in-history", session.history)
        assert trusted
        assert after.messages[: len(before.messages)] == before.messages
        assert (after.tools or ())[: len(before.tools or ())] == before.tools
        before = after
    active = {tool.name for tool in session.tools or ()}
    explicit = {tool.name for tool in session.tools or () if tool.defer_loading}
    assert usable(before.messages, before.tools) - explicit == active - explicit


@given(steps, st.sampled_from(MODES))
def test_a_request_never_declares_deferred_tools_alone(
    changes: list[tuple[str, bool]], mode: ToolUpdateMode
) -> None:
    session = session_of(changes)
    projected = project_request(session.messages, session.tools, mode, session.history)
    plain = project_tool_updates(session.messages, session.tools, mode, session.history)
    assert not declares_only_deferred(projected.tools)
    if not declares_only_deferred(plain.tools):
        assert projected == plain
        return
    assert usable(projected.messages, projected.tools) == {tool.name for tool in session.tools or ()} - {
        tool.name for tool in projected.tools or () if tool.defer_loading
    }


@pytest.mark.parametrize(
    ("mode", "changes"),
    [
        ("addition-only", ["a b", "a b c", "c"]),
        ("addition-only", ["", "c"]),
        ("in-history", ["", "c"]),
    ],
)
def test_tools_that_all_came_later_are_declared_plainly_without_additions(
    mode: ToolUpdateMode, changes: list[str]
) -> None:
    session = session_of([(names, False) for names in changes])
    projected = project_tool_updates(session.messages, session.tools, mode, session.history)
    assert declares_only_deferred(projected.tools)
    projected = project_request(session.messages, session.tools, mode, session.history)
    assert projected.tools == definitions("c")
    assert all(message["role"] != "developer" for message in projected.messages)


def test_a_single_explicitly_deferred_tool_is_declared_plainly() -> None:
    session = session_of([("c*", False)])
    projected = project_request(session.messages, session.tools, "in-history", session.history)
    assert [tool.defer_loading for tool in projected.tools or ()] == [False]


def test_a_definition_that_says_it_is_not_deferred_is_deferred_once() -> None:
    added = {"name": "a", "deferLoading": False, "description": "A.", "parameters": {}}
    history = ToolHistory((), (ToolUpdate("d1", tools_of([added]) or ()),), 0, trusted=True)
    messages = [{"id": "d1", "role": "developer", "content": [{"type": "tool-addition", "toolName": "a"}]}]
    projected = project_tool_updates(messages, None, "in-history", history)
    assert [tool.text for tool in projected.tools or ()] == [
        '{"name":"a","deferLoading":true,"description":"A.","parameters":{}}'
    ]
