"""Tool changes as a reader is told them (session-format §4.3 and §6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recorded_events import PlainEvent, recording
from tui.session.tool_changes import ToolChange, ToolChanges

PREFIX = "mcp__saltmarsh__"


def fold(events: list[PlainEvent]) -> ToolChanges:
    changes = ToolChanges()
    for event in events:
        changes.apply(event)
    return changes


def header(seq: int, tools: str, reason: str = "change", **config: Any) -> PlainEvent:
    definitions = [
        {"name": name.rstrip("'"), "description": f"Tool {name}.", "parameters": {}} for name in tools.split()
    ]
    head = {"config": {"provider": "p", "model": "m", **config}, "tools": definitions}
    return PlainEvent("request/header", seq, {"header": head, "reason": reason})


def told(seq: int, blocks: str, header_seq: int | None = None) -> PlainEvent:
    content = [
        {"type": "tool-addition" if block[0] == "+" else "tool-removal", "toolName": block[1:]}
        for block in blocks.split()
    ]
    data: dict[str, Any] = {"turn": 7, "step": 2, "message": {"id": "d", "content": content}}
    if header_seq is not None:
        data["headerSeq"] = header_seq
    return PlainEvent("developer/message", seq, data, "append")


def facts(change: ToolChange) -> tuple[int, str, str, str, str]:
    return (
        change.seq,
        " ".join(change.added),
        " ".join(change.removed),
        " ".join(change.restored),
        " ".join(change.redefined),
    )


def described(change: ToolChange) -> dict[str, str | None]:
    return {name: tool and tool.description for name, tool in change.definitions.items()}


def test_a_tool_that_appears_is_added_and_defined_by_the_header_before_its_message() -> None:
    changes = fold(recording("single-tool-added"))
    (change,) = changes.changes
    assert facts(change) == (26, f"{PREFIX}mist_bed", "", "", "")
    assert (change.header_seq, change.turn, change.step) == (25, 2, 1)
    assert described(change) == {f"{PREFIX}mist_bed": "Mist one bed for a number of seconds."}
    assert changes.change_at(26) is change
    assert changes.change_at(25) is None


def test_removed_tools_are_defined_by_the_header_before() -> None:
    (change,) = fold(recording("many-tools-changed")).changes
    assert (len(change.added), change.restored, change.redefined) == (12, (), ())
    assert change.removed == (f"{PREFIX}close_vent", f"{PREFIX}mist_bed", f"{PREFIX}open_vent")
    assert described(change)[f"{PREFIX}close_vent"] == "Close a roof vent."
    assert described(change)[f"{PREFIX}weigh_crate"] == "Weigh a harvest crate."


def test_restored_and_redefined_tools_are_told_apart() -> None:
    # The recording's own account: vent and mist removed, mist back unchanged, vent back with another schema,
    # bell added, removed, back with a changed schema.
    changes = fold(recording("remove-and-restore"))
    mist, vent, bell = f"{PREFIX}mist_bed", f"{PREFIX}open_vent", f"{PREFIX}ring_bell"
    assert [facts(change) for change in changes.changes] == [
        (28, "", f"{mist} {vent}", "", ""),
        (39, mist, "", mist, ""),
        (56, vent, "", vent, vent),
        (73, bell, "", "", ""),
        (90, "", bell, "", ""),
        (101, bell, "", bell, bell),
    ]
    assert [(start.start_seq, start.cause) for start in changes.series] == [
        (7, "initial"),
        (55, "redefined"),
        (100, "redefined"),
    ]
    assert changes.faults == []


def test_every_header_is_listed_with_its_route_place_and_active_tools() -> None:
    changes = fold(recording("rejected-update"))
    mist, gauge, bell = f"{PREFIX}mist_bed", f"{PREFIX}read_gauge", f"{PREFIX}ring_bell"
    assert [(entry.seq, entry.reason, entry.turn, entry.step, entry.active) for entry in changes.headers] == [
        (7, "initial", 1, 1, (gauge,)),
        (34, "change", 3, 1, (mist, gauge)),
        (68, "change", 7, 1, (mist, gauge, bell)),
        (78, "change", 8, 1, (gauge,)),
    ]
    assert {(entry.provider, entry.model) for entry in changes.headers} == {
        ("deepseek-official", "deepseek-flash")
    }
    assert changes.active_names() == {gauge}


def test_the_first_header_is_no_change() -> None:
    changes = fold([header(0, "a b", "initial")])
    assert changes.header_changes == []
    assert changes.header_change_at(0) is None
    assert len(changes.headers) == 1


def test_a_header_that_only_changes_a_definition_says_so() -> None:
    changes = fold([header(0, "a b", "initial"), header(1, "a b'")])
    (change,) = changes.header_changes
    assert (change.added, change.removed, change.redefined) == ((), (), ("b",))
    assert (change.cause, change.series_start, change.redefinition_only) == ("redefined", True, True)
    assert changes.changes == []


def test_a_header_that_changes_names_and_a_definition_is_no_redefinition_alone() -> None:
    change = fold([header(0, "a b", "initial"), header(1, "b' c")]).header_changes[0]
    assert (change.added, change.removed, change.redefined) == (("c",), ("a",), ("b",))
    assert not change.redefinition_only


def test_order_alone_is_noted_and_starts_no_series() -> None:
    change = fold([header(0, "a b c", "initial"), header(1, "c a b")]).header_changes[0]
    assert (change.reordered, change.series_start) == (True, False)
    change = fold([header(0, "a b c", "initial"), header(1, "x a c y")]).header_changes[0]
    assert not change.reordered


def test_changed_settings_are_named() -> None:
    events = [
        header(0, "a", "initial", temperature=1.0, stop=["x"], maxTokens=5),
        header(1, "a", temperature=1, stop=["y"], reasoningEffort="high"),
    ]
    assert fold(events).header_changes[0].config_changed == ("stop", "maxTokens", "reasoningEffort")


def test_changed_adapter_defaults_count_as_settings() -> None:
    later = header(1, "a")
    later.data["header"]["adapterDefaults"] = {"maxTokens": True}
    assert fold([header(0, "a", "initial"), later]).header_changes[0].config_changed == ("adapterDefaults",)


def test_a_header_stands_in_the_open_turn_and_step() -> None:
    events = [
        PlainEvent("turn/start", 0, {"turn": 3}),
        header(1, "a", "initial"),
        PlainEvent("step/start", 2, {"turn": 3, "step": 1}),
        header(3, "a b"),
        PlainEvent("step/end", 4, {"turn": 3, "step": 1}),
        header(5, "a"),
        PlainEvent("turn/end", 6, {"turn": 3}),
        header(7, "a b"),
    ]
    assert [(entry.turn, entry.step) for entry in fold(events).headers] == [
        (3, None),
        (3, 1),
        (3, None),
        (None, None),
    ]


def test_a_developer_message_stands_where_it_says() -> None:
    change = fold([header(0, "a", "initial"), header(1, "a b"), told(2, "+b", 1)]).changes[0]
    assert (change.turn, change.step) == (7, 2)


def test_a_developer_message_without_tool_blocks_is_no_change() -> None:
    event = told(1, "")
    event.data["message"]["content"] = [{"type": "text", "text": "hello"}, 3, None]
    assert fold([header(0, "a", "initial"), event]).changes == []


def test_a_tool_that_a_series_header_dropped_in_silence_is_restored_later() -> None:
    events = [header(0, "a b", "initial"), header(1, "a", "series"), header(2, "a b"), told(3, "+b", 2)]
    assert facts(fold(events).changes[0]) == (3, "b", "", "b", "")


def test_a_tool_that_left_and_came_back_twice_is_compared_with_its_last_definition() -> None:
    events = [header(0, "a b", "initial")]
    for seq, tools, blocks in [
        (1, "a", "-b"),
        (3, "a b'", "+b"),
        (5, "a", "-b"),
        (7, "a b'", "+b"),
        (9, "a", "-b"),
    ]:
        events += [header(seq, tools), told(seq + 1, blocks, seq if "+" in blocks else None)]
    events += [header(11, "a b"), told(12, "+b", 11)]
    assert [change.redefined for change in fold(events).changes if change.added] == [("b",), (), ("b",)]


def test_a_missing_header_leaves_the_definition_open() -> None:
    changes = fold([header(0, "a", "initial"), told(5, "+b -a", 4)])
    (change,) = changes.changes
    assert described(change) == {"b": None, "a": "Tool a."}
    assert (change.header_seq, change.restored, change.redefined) == (4, (), ())
    assert [fault.code for fault in changes.faults] == ["missing-definition"]


def test_names_are_listed_once() -> None:
    change = fold([header(0, "", "initial"), header(1, "a a b"), told(2, "+a +b +a -c -c", 1)]).changes[0]
    assert (change.added, change.removed) == (("a", "b"), ("c",))


def test_a_call_is_linked_to_whether_its_tool_was_there() -> None:
    changes = fold(
        [
            header(0, "a b", "initial"),
            header(10, "a"),
            told(11, "-b"),
            header(20, "a b c"),
            told(21, "+b +c", 20),
        ]
    )
    assert changes.availability("b", 5) == ("active", 0)
    assert changes.availability("b", 15) == ("removed", 11)
    assert changes.availability("b", 25) == ("active", 21)
    assert changes.availability("c", 15) == ("not-yet", 21)
    assert changes.availability("ghost", 15) == ("unknown", None)
    assert (changes.first_added("b"), changes.first_added("c"), changes.first_added("ghost")) == (0, 21, None)
    assert (changes.last_removed("b"), changes.last_removed("c")) == (11, None)
    assert changes.active_names() == {"a", "b", "c"}


def test_a_removal_that_no_message_told_is_linked_to_its_header() -> None:
    changes = fold([header(0, "a b", "initial"), header(10, "a", "series")])
    assert changes.availability("b", 12) == ("removed", 10)
    assert changes.last_removed("b") == 10


def test_a_header_overrules_messages_where_headers_are_missing() -> None:
    changes = fold([header(0, "a b", "initial"), told(1, "-b"), header(9, "a b", "resume")])
    assert changes.availability("b", 5) == ("removed", 1)
    assert changes.availability("b", 9) == ("active", 9)


def test_the_history_comes_with_the_same_pass() -> None:
    changes = fold([header(0, "a", "initial"), header(1, "a b"), told(2, "+b", 1)])
    snapshot = changes.snapshot()
    assert [tool.name for tool in snapshot.tools] == ["a"]
    assert snapshot.updates[0].additions[0] is changes.changes[0].definitions["b"]


def test_the_hot_entries_return_the_change_they_make() -> None:
    changes = ToolChanges()
    assert changes.apply_header(0, 1, 1, header(0, "a", "initial").data) is None
    made = changes.apply_header(1, 1, 2, header(1, "a b").data)
    assert made is changes.header_changes[0]
    assert changes.apply_developer(2, 1, 2, told(2, "+b", 1).data) is changes.changes[0]


HEADER_KEYS = ["header", "tools", "config", "adapterDefaults", "name", "reason", "startsSeries"]
MESSAGE_KEYS = ["turn", "step", "headerSeq", "message", "content", "type", "toolName"]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 6) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(HEADER_KEYS + MESSAGE_KEYS),
            inner | st.sampled_from(["tool-addition", "tool-removal", "a", "b", "series"]),
            max_size=6,
        )
    ),
    max_leaves=16,
)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["request/header", "developer/message", "turn/start", "step/start", "turn/end", "x"]),
        st.integers(-1, 20),
        JUNK,
    ).map(lambda fields: PlainEvent(*fields))
    | st.tuples(st.integers(0, 20), st.sampled_from(["", "a", "a b", "b a'", "b b'"])).map(
        lambda fields: header(*fields)
    )
    | st.tuples(
        st.integers(0, 20), st.sampled_from(["+a", "-b", "+b -a"]), st.none() | st.integers(0, 20)
    ).map(lambda fields: told(*fields)),
    max_size=20,
)


@given(EVENTS)
def test_no_list_of_events_makes_the_fold_raise(events: list[PlainEvent]) -> None:
    changes = fold(events)
    for name in ("a", "b", "ghost"):
        changes.availability(name, 7)
        changes.first_added(name)
        changes.last_removed(name)
    for change in changes.changes:
        assert set(change.restored) <= set(change.added)
        assert set(change.redefined) <= set(change.added)
        assert set(change.definitions) == set(change.added) | set(change.removed)


@pytest.mark.parametrize(
    "name",
    ["plain-chat", "tool-use", "many-tools-changed-inhistory", "many-tools-changed-no-updates", "retries"],
)
def test_recordings_hold_no_faults(name: str) -> None:
    assert fold(recording(name)).faults == []
