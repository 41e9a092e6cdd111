"""The fold of the tool history (session-format §6.1) against dsh's own results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recorded_events import (
    PlainEvent,
    events_of,
    own_recordings_with_verdicts,
    recorded_events,
    vector,
)
from tui.session.tool_definition import DefinitionPool
from tui.session.tool_history import ToolHistory, ToolHistoryError, ToolHistoryFold

CASES = vector("tool-history-vectors.json")
OWN = own_recordings_with_verdicts()


def fold(events: list[PlainEvent], *, strict: bool = True) -> ToolHistoryFold:
    history = ToolHistoryFold(strict=strict)
    for event in events:
        history.apply(event)
    return history


def as_json(history: ToolHistory) -> dict[str, Any]:
    return {
        "tools": [tool.to_json() for tool in history.tools],
        "updates": [
            {"messageId": update.message_id, "additions": [tool.to_json() for tool in update.additions]}
            for update in history.updates
        ],
    }


def definition(name: str) -> dict[str, Any]:
    """`a` and `a'` are one name with two definitions."""
    return {
        "name": name.rstrip("'"),
        "description": f"Tool {name}.",
        "parameters": {"type": "object", "properties": {}},
    }


def header(seq: int, tools: str, reason: str = "change", **fields: Any) -> PlainEvent:
    head: dict[str, Any] = {"config": {"provider": "p", "model": "m"}}
    if tools:
        head["tools"] = [definition(name) for name in tools.split()]
    return PlainEvent("request/header", seq, {"header": head, "reason": reason, **fields})


def update(seq: int, blocks: str, header_seq: int | None = None) -> PlainEvent:
    """`+a -b` is an addition and a removal."""
    content = [
        {"type": "tool-addition" if block[0] == "+" else "tool-removal", "toolName": block[1:]}
        for block in blocks.split()
    ]
    data: dict[str, Any] = {"turn": 1, "step": 1, "message": {"id": f"d{seq}", "content": content}}
    if header_seq is not None:
        data["headerSeq"] = header_seq
    return PlainEvent("developer/message", seq, data, "append")


def log(*steps: str) -> list[PlainEvent]:
    """`H reason[+] names…` is a header (+ for startsSeries), `D +x -y` a developer message after it."""
    events: list[PlainEvent] = []
    header_seq = 0
    for seq, step in enumerate(steps):
        kind, _, rest = step.partition(" ")
        if kind == "H":
            reason, _, names = rest.partition(" ")
            starts = {"startsSeries": True} if reason.endswith("+") else {}
            events.append(header(seq, names, reason.rstrip("+"), **starts))
            header_seq = seq
        else:
            events.append(update(seq, rest, header_seq if "+" in rest else None))
    return events


def shown(history: ToolHistory) -> tuple[str, list[str]]:
    """Names by description, so that `a` and `a'` stay apart."""

    def names(tools: tuple[Any, ...]) -> str:
        return " ".join(tool.description.removeprefix("Tool ").removesuffix(".") for tool in tools)

    return names(history.tools), [names(update.additions) for update in history.updates]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_vectors_give_the_snapshot_of_dsh(case: dict[str, Any]) -> None:
    events = events_of(case["events"])
    if "expected_error" in case:
        with pytest.raises(ToolHistoryError) as raised:
            fold(events)
        assert str(raised.value) == case["expected_error"]
        assert raised.value.seq == events[-1].seq
        return
    history = fold(events)
    assert as_json(history.snapshot()) == case["expected_snapshot"]
    assert history.faults == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_tolerant_fold_of_a_sound_log_is_the_strict_one(case: dict[str, Any]) -> None:
    history = fold(events_of(case["events"]), strict=False)
    if "expected_error" in case:
        assert [fault.code for fault in history.faults] == ["missing-definition"]
        assert history.faults[0].detail == case["expected_error"]
    else:
        assert as_json(history.snapshot()) == case["expected_snapshot"]


def test_there_are_41_vectors() -> None:
    assert len(CASES) == 41


@pytest.mark.parametrize(("path", "verdict"), OWN, ids=lambda value: str(value)[-60:] if value else "")
def test_own_recordings_give_the_history_of_dsh(path: Path, verdict: dict[str, Any]) -> None:
    assert as_json(fold(recorded_events(path)).snapshot()) == verdict["tool_history"]


@pytest.mark.parametrize("place", sorted(vector("recordings-oracle.json")))
def test_every_recording_gives_the_history_of_dsh(shared: Path, place: str) -> None:
    verdict = vector("recordings-oracle.json")[place]
    assert as_json(fold(recorded_events(shared / "recordings" / place)).snapshot()) == verdict["tool_history"]


# The table of §6.3.
@pytest.mark.parametrize(
    ("steps", "tools", "updates"),
    [
        ([], "", []),
        (["H initial a b"], "a b", []),
        (["H initial a b", "H change a b c", "D +c"], "a b", ["c"]),
        (["H initial a b", "H change a b c"], "a b c", []),
        (["H initial a b", "H change a", "D -b"], "a b", [""]),
        (["H initial a b", "H change a", "D -b", "H change a b", "D +b"], "a b", ["", "b"]),
        (["H initial a b", "H change a", "D -b", "H change a b'", "D +b"], "a b'", ["b'"]),
        (["H initial a b", "H change a b'"], "a b'", []),
        (["H initial a b", "H change b a"], "a b", []),
        (["H initial a b", "H change a b c", "D +c", "H series a b c"], "a b c", []),
        (["H initial a b", "H change+ a b c", "D +c"], "a b c", ["c"]),
        (["H initial a b", "H resume a b"], "a b", []),
        (["H initial a b", "H resume a c", "D +c -b"], "a b", ["c"]),
        (["H initial", "H change a", "D +a"], "", ["a"]),
        (["H initial a", "H change", "D -a"], "a", [""]),
    ],
    ids=lambda value: " · ".join(value) if isinstance(value, list) else None,
)
def test_the_cases_of_the_specification(steps: list[str], tools: str, updates: list[str]) -> None:
    assert shown(fold(log(*steps)).snapshot()) == (tools, updates)


@pytest.mark.parametrize(
    ("steps", "series"),
    [
        (["H initial a", "H change a b", "D +b"], [(0, "initial")]),
        (["H resume a", "H series a"], [(0, "initial"), (1, "series")]),
        (["H initial a", "H change+ a"], [(0, "initial"), (1, "starts-series")]),
        (["H initial a", "H change a'"], [(0, "initial"), (1, "redefined")]),
        (["H initial a", "H change", "D -a", "H change a'", "D +a"], [(0, "initial"), (3, "redefined")]),
        (["H initial a", "H series+ a'"], [(0, "initial"), (1, "series")]),
    ],
)
def test_a_series_starts_with_its_cause(steps: list[str], series: list[tuple[int, str]]) -> None:
    assert [(start.start_seq, start.cause) for start in fold(log(*steps)).series] == series


def test_a_snapshot_says_whether_the_updates_add_up() -> None:
    history = fold(log("H initial a", "H change a b"))
    assert (history.snapshot().trusted, history.snapshot().baseline) == (False, 0)
    history.apply(update(2, "+b", 1))
    assert (history.snapshot().trusted, history.snapshot().baseline) == (True, 0)


def test_the_snapshot_is_the_identical_object_while_nothing_changed() -> None:
    history = fold(log("H initial a b", "H change a b c", "D +c"))
    first = history.snapshot()
    assert history.snapshot() is first
    history.apply(PlainEvent("user/message", 3, {}, "append"))
    history.apply(header(4, "a b c", "resume"))
    history.apply(header(5, "c b a"))
    assert history.snapshot() is first
    history.apply(update(6, "+c", 4))
    assert history.snapshot() is not first
    assert len(first.updates) == 1


def test_a_fallback_snapshot_is_the_identical_object_while_nothing_changed() -> None:
    history = fold(log("H initial a", "H change a b"))
    first = history.snapshot()
    assert not first.trusted
    history.apply(header(2, "a b", "resume"))
    assert history.snapshot() is first


def test_a_history_hidden_by_a_mismatch_comes_back_as_the_identical_object() -> None:
    history = fold(log("H initial a b", "H change a b c", "D +c"))
    first = history.snapshot()
    history.apply(header(3, "a b"))
    assert history.snapshot() is not first
    history.apply(header(4, "a b c"))
    assert history.snapshot() is first


def test_snapshots_taken_at_every_event_equal_fresh_folds() -> None:
    events = log(
        "H initial a b",
        "H change a b c",
        "D +c",
        "H change c",
        "D -a -b",
        "H change a c",
        "D +a",
        "H series a c",
    )
    history = ToolHistoryFold()
    for count, event in enumerate(events, 1):
        history.apply(event)
        assert history.snapshot() == fold(events[:count]).snapshot()


@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from(["a", "b", "c", "c'"])), st.booleans(), st.booleans(), st.booleans()
        ),
        max_size=12,
    )
)
def test_reading_snapshots_in_between_changes_nothing(rows: list[tuple[set[str], bool, bool, bool]]) -> None:
    events: list[PlainEvent] = []
    before: set[str] = set()
    for tools, told, series, _ in rows:
        now = {name.rstrip("'") for name in tools}
        events.append(header(len(events), " ".join(sorted(tools)), "series" if series else "change"))
        blocks = [f"+{name}" for name in sorted(now - before)] + [f"-{name}" for name in sorted(before - now)]
        if told and blocks:
            events.append(update(len(events), " ".join(blocks), len(events) - 1))
        before = now
    watched, quiet = ToolHistoryFold(strict=True), ToolHistoryFold(strict=True)
    for at, event in enumerate(events):
        watched.apply(event)
        quiet.apply(event)
        if rows[at % len(rows)][3]:
            watched.snapshot()
    assert watched.snapshot() == quiet.snapshot()


def test_equal_definitions_of_a_log_are_one_object() -> None:
    history = fold(log("H initial a b", "H change a", "D -b", "H change a b", "D +b"))
    first, last = history.tools_of(0), history.tools_of(3)
    assert first is not None
    assert last is not None
    assert first[1] is last[1]
    assert history.snapshot().updates[1].additions[0] is first[1]


def test_equal_headers_in_a_row_share_their_list_of_tools() -> None:
    history = fold(log("H initial a b", "H resume a b"))
    assert history.tools_of(0) is history.tools_of(1)


def test_a_definition_keeps_every_key_and_compares_by_its_text() -> None:
    raw = {
        "name": "a",
        "parameters": {"minimum": 1.0},
        "deferLoading": True,
        "x-extra": [1],
        "description": "A tool.",
    }
    (tool,) = DefinitionPool().tools({"tools": [raw]}, pytest.fail)
    assert tool.text == (
        '{"name":"a","parameters":{"minimum":1},"deferLoading":true,"x-extra":[1],"description":"A tool."}'
    )
    assert (tool.name, tool.description, tool.parameters, tool.defer_loading) == (
        "a",
        "A tool.",
        {"minimum": 1.0},
        True,
    )
    (other,) = DefinitionPool().tools({"tools": [{**raw, "parameters": {"minimum": 1}}]}, pytest.fail)
    assert tool == other
    assert hash(tool) == hash(other)
    (changed,) = DefinitionPool().tools({"tools": [{**raw, "parameters": {"minimum": 2}}]}, pytest.fail)
    assert tool != changed


def test_a_tolerant_fold_takes_a_missing_definition_from_the_header_in_force() -> None:
    events = [header(0, "a"), header(5, "a b"), update(6, "+b", 4)]
    history = fold(events, strict=False)
    assert shown(history.snapshot()) == ("a", ["b"])
    assert [(fault.seq, fault.code) for fault in history.faults] == [(6, "missing-definition")]


def test_a_tolerant_fold_leaves_out_what_no_header_defines() -> None:
    history = fold([header(0, "a"), update(1, "+ghost -a", 0)], strict=False)
    assert shown(history.snapshot()) == ("a", [])
    assert not history.snapshot().trusted


@pytest.mark.parametrize("tools", ["x", {"name": "a"}, [None], [{"name": 3}], [[]], 0])
def test_misshapen_tools_are_faults_and_never_raise(tools: Any) -> None:
    history = fold([PlainEvent("request/header", 0, {"header": {"tools": tools}})], strict=False)
    assert history.snapshot().tools == ()
    assert {fault.code for fault in history.faults} == {"bad-tools"}


def test_two_tools_of_one_name_do_not_raise_and_the_last_one_counts() -> None:
    history = fold([header(0, "a"), header(1, "a b b'"), update(2, "+b", 1)])
    assert shown(history.snapshot()) == ("a", ["b'"])


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 6) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["header", "tools", "name", "reason", "headerSeq", "message", "content", "type", "toolName"]
            ),
            inner | st.sampled_from(["tool-addition", "tool-removal", "a", "b", "series"]),
            max_size=6,
        )
    ),
    max_leaves=16,
)


@given(
    st.lists(
        st.tuples(st.sampled_from(["request/header", "developer/message"]), st.integers(-1, 6), JUNK).map(
            lambda fields: PlainEvent(*fields)
        )
        | st.tuples(st.integers(0, 6), st.sampled_from(["", "a", "a b", "b a'"])).map(
            lambda fields: header(*fields)
        )
        | st.tuples(
            st.integers(0, 6), st.sampled_from(["+a", "-b", "+b -a"]), st.none() | st.integers(0, 6)
        ).map(lambda fields: update(*fields))
    )
)
def test_no_list_of_events_makes_a_tolerant_fold_raise(events: list[PlainEvent]) -> None:
    history = ToolHistoryFold()
    for event in events:
        history.apply(event)
        assert history.snapshot() is history.snapshot()
