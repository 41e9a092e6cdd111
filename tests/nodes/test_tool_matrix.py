"""The matrix of tools over time says of every tool in every request what the request itself says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.log_builder import LogBuilder, call, log, tool
from tui.llm.projection import project_request
from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import KnownRoute, RouteBook
from tui.nodes.reading import Reading
from tui.nodes.tool_matrix import Mark, RouteChoice, ToolMatrix
from tui.nodes.tool_offer import ToolState
from tui.session.request_header import parse_request_header
from tui.session.surface import Surface, derive_messages
from tui.session.tool_history import ToolHistoryFold

MODES: dict[RouteChoice, ToolUpdateMode] = {
    "none": None,
    "addition-only": "addition-only",
    "in-history": "in-history",
}
SIGNS = {
    ToolState.ABSENT: ".",
    ToolState.DECLARED: "D",
    ToolState.OFFERED: "o",
    ToolState.REOFFERED: "r",
    ToolState.DEFERRED: "d",
    ToolState.INACTIVE: "i",
}


def states(matrix: ToolMatrix, name: str) -> str:
    return "".join(SIGNS[matrix.cell(name, at).state] for at in range(len(matrix)))


def marks(matrix: ToolMatrix, name: str) -> list[Mark]:
    return [matrix.cell(name, at).mark for at in range(len(matrix))]


# -- recomputed the simple way


def naive(reading: Reading, mode: ToolUpdateMode) -> Iterator[dict[str, ToolState]]:
    """The states of every request, from whole messages and the whole history each time."""
    surface, history, header = Surface(), ToolHistoryFold(), None
    by_seq: dict[int, Any] = {}
    for event in reading.log.events():
        if event.type in ("assistant/message", "assistant/attempt", "compaction/start"):
            active = header.tools if header is not None else ()
            messages = derive_messages(surface, by_seq.__getitem__)
            sent = project_request(messages, active, mode, history.snapshot())
            yield read_by_provider(sent.messages, sent.tools or (), {tool.name for tool in active})
        by_seq[event.seq] = event
        surface.apply(event)
        history.apply(event)
        if event.type == "request/header":
            header = parse_request_header(event.seq, event.data, history.pool)


def read_by_provider(messages: list[Any], tools: Any, active: set[str]) -> dict[str, ToolState]:
    """What a provider makes of declarations and blocks, one after the other."""
    found = {t.name: ToolState.DEFERRED if t.defer_loading else ToolState.DECLARED for t in tools}
    given_up: set[str] = set()
    for message in messages:
        for block in message["content"] if message["role"] == "developer" else ():
            name = block["toolName"]
            if block["type"] == "tool-removal":
                given_up.add(name)
                continue
            given_up.discard(name)
            was = found[name]
            in_head = was in (ToolState.DECLARED, ToolState.REOFFERED)
            found[name] = ToolState.REOFFERED if in_head else ToolState.OFFERED
    for name in found:
        if name in given_up or name not in active:
            found[name] = ToolState.INACTIVE
    return found


VERSIONS = ("a", "a'", "b", "b'", "c", "c*")


def definition(version: str) -> dict[str, Any]:
    made = tool(version[0], f"Does {version}.")
    return {**made, "deferLoading": True} if version.endswith("*") else made


@st.composite
def logs(draw: st.DrawFn) -> LogBuilder:
    """Steps with any set of tools; some start a series, some call, now and then all is condensed."""
    made = log().turn()
    first = made.last
    for _ in range(draw(st.integers(1, 9))):
        chosen = {v[0]: v for v in draw(st.lists(st.sampled_from(VERSIONS), max_size=4))}
        extra = {"startsSeries": True} if draw(st.integers(0, 9)) == 0 else {}
        surface = draw(st.integers(0, 9))
        if draw(st.booleans()):
            made.turn()
        else:
            made.step()
        made.user("Go on.")
        made.tools(*(definition(chosen[name]) for name in sorted(chosen)), **extra)
        name = draw(st.sampled_from("abcx"))
        made.answer("Yes.", call("k", name)).ran("k", name, error="E" if name == "x" else "")
        if surface == 0:
            seqs = [json.loads(line)["seq"] for line in made.lines if b'"surfaceOp":"append"' in line]
            seqs = [seq for seq in seqs if seq > first]
            made.compact(seqs[0], seqs[-1], seqs)
            first = made.last
    return made.end()


@given(logs())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_cell_is_what_the_request_says(
    tmp_path_factory: pytest.TempPathFactory, made: LogBuilder
) -> None:
    reading = made.read(tmp_path_factory.mktemp("log"))
    for route, mode in MODES.items():
        matrix = ToolMatrix(reading, route=route)
        expected = list(naive(reading, mode))
        assert len(matrix) == len(expected)
        for at, states_of_request in enumerate(expected):
            for name in matrix.tools:
                assert matrix.cell(name, at).state == states_of_request.get(name, ToolState.ABSENT), (
                    route,
                    at,
                    name,
                )
            assert set(states_of_request) <= set(matrix.tools)


@given(logs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_turns_hold_what_their_requests_hold(
    tmp_path_factory: pytest.TempPathFactory, made: LogBuilder
) -> None:
    reading = made.read(tmp_path_factory.mktemp("log"))
    fine, coarse = ToolMatrix(reading), ToolMatrix(reading, zoom="turn")
    for at in range(len(coarse)):
        column = coarse.column(at)
        inner = [each for each in range(len(fine)) if column.first <= fine.column(each).first <= column.last]
        assert {fine.turn(each) for each in inner} == {coarse.turn(at)}
        for name in fine.tools:
            cell, cells = coarse.cell(name, at), [fine.cell(name, each) for each in inner]
            assert cell.state == cells[-1].state
            assert (cell.calls, cell.failed) == (sum(c.calls for c in cells), sum(c.failed for c in cells))
    for name in fine.tools:
        total = sum(fine.cell(name, at).calls for at in range(len(fine)))
        assert total == fine.call_counts.get(name, 0)
        active = sum(fine.cell(name, at).state.is_active for at in range(len(fine)))
        routed = ToolMatrix(reading, route="none")
        assert routed.active_requests(name) == sum(
            routed.cell(name, at).state.is_active for at in range(len(routed))
        )
        assert active <= routed.active_requests(name)


# -- against what providers were really sent

RECORDED: dict[str, RouteChoice] = {
    "many-tools-changed": "recorded",
    "many-tools-changed-inhistory": "in-history",
    "many-tools-changed-no-updates": "none",
    "remove-and-restore": "recorded",
    "single-tool-added": "recorded",
    "rejected-update": "recorded",
    "compaction": "recorded",
}


@pytest.mark.parametrize("name", RECORDED)
def test_declarations_are_those_of_the_recorded_bodies(shared: Path, name: str) -> None:
    folder = shared / "recordings" / name
    path = next(folder.glob("sessions/*/*/session.v4.jsonl"))
    reading = Reading.open(path).read_all()
    matrix = ToolMatrix(reading, route=RECORDED[name])
    bodies = [json.loads(line)["body"] for line in (folder / "requests.jsonl").open(encoding="utf-8")]
    # The request for a title is told by what it does not declare, and is not numbered.
    bodies = [body for body in bodies if body.get("tools")]
    assert len(bodies) == len(matrix)
    for at, body in enumerate(bodies):
        plain = {t["name"] for t in body["tools"] if not t.get("defer_loading")}
        deferred = {t["name"] for t in body["tools"] if t.get("defer_loading")}
        found = {each: matrix.cell(each, at).state for each in matrix.tools}
        assert {n for n, s in found.items() if s != ToolState.ABSENT} == plain | deferred
        in_head = (ToolState.DECLARED, ToolState.REOFFERED)
        assert {n for n, s in found.items() if s in in_head} <= plain
        assert {n for n, s in found.items() if s in (ToolState.OFFERED, ToolState.DEFERRED)} <= deferred


# -- one thing at a time


def changing(tmp_path: Path) -> Reading:
    made = log().turn().tools("a", "b").user("1").answer("x")
    made.turn().tools("a").user("2").answer("x")
    made.turn().tools("a", "b", "c").user("3").answer("x")
    made.turn().tools("a", tool("b", "Now another."), "c").user("4").answer("x").end()
    return made.read(tmp_path)


def test_added_removed_restored_and_redefined_are_told_apart(tmp_path: Path) -> None:
    matrix = ToolMatrix(changing(tmp_path))
    assert matrix.tools == ("a", "b", "c")
    assert marks(matrix, "a") == [Mark.NONE] * 4
    assert marks(matrix, "b") == [Mark.NONE, Mark.REMOVED, Mark.RESTORED, Mark.REDEFINED]
    assert marks(matrix, "c") == [Mark.NONE, Mark.NONE, Mark.ADDED, Mark.NONE]
    assert matrix.changing == {"b", "c"}
    assert matrix.changed_columns() == [1, 2, 3]
    assert matrix.changed_columns(["c"]) == [2]


def test_a_withdrawn_tool_stays_declared_in_the_history_only(tmp_path: Path) -> None:
    reading = changing(tmp_path)
    assert states(ToolMatrix(reading, route="in-history"), "b") == "DirD"
    assert states(ToolMatrix(reading, route="addition-only"), "b") == "D.DD"
    assert states(ToolMatrix(reading, route="none"), "b") == "D.DD"
    assert states(ToolMatrix(reading, route="in-history"), "c") == "..oD"


def test_a_series_stands_before_the_first_request_it_shapes(tmp_path: Path) -> None:
    boundaries = ToolMatrix(changing(tmp_path)).boundaries
    assert {at: (series.number, series.cause) for at, series in boundaries.items()} == {
        0: (1, "initial"),
        3: (2, "redefined"),
    }


def test_a_cell_knows_the_definition_in_force_and_the_one_before(tmp_path: Path) -> None:
    matrix = ToolMatrix(changing(tmp_path))
    now, before = matrix.definition("b", 3), matrix.definition_before("b", 3)
    assert now is not None and now[1].description == "Now another."
    assert before is not None and before[1].description == "What b does."
    assert matrix.definition_before("b", 2) is None
    withdrawn = matrix.definition("b", 1)
    assert withdrawn is not None and withdrawn[0] == 0
    assert matrix.definition("c", 1) is None


def test_a_call_of_a_tool_that_was_never_there_has_a_row_and_is_a_failure(tmp_path: Path) -> None:
    made = log().turn().tools("a").user("1").answer(call("k", "ghost"))
    matrix = ToolMatrix(made.ran("k", "ghost", error="UNKNOWN_TOOL").answer("no").end().read(tmp_path))
    assert matrix.tools == ("a", "ghost")
    cell = matrix.cell("ghost", 0)
    assert (cell.state, cell.calls, cell.failed) == (ToolState.ABSENT, 1, 1)
    assert matrix.failed_places() == [(0, "ghost")]
    assert matrix.failed_counts == {"ghost": 1}
    assert [matrix.reading.log.type_name(each.row) for each in matrix.calls("ghost", 0)] == ["tool/call"]


def test_a_session_without_requests_has_no_columns(tmp_path: Path) -> None:
    matrix = ToolMatrix(log().turn().tools("a").read(tmp_path))
    assert len(matrix) == 0 == matrix.requests
    assert matrix.tools == ("a",)
    assert matrix.column_of_item(3) == 0


def test_a_record_leads_to_the_request_that_saw_it(tmp_path: Path) -> None:
    made = log().turn().tools("a").user("1").answer(call("k", "a")).ran("k", "a").user("more").answer("x")
    reading = made.end().read(tmp_path)
    matrix, index = ToolMatrix(reading), reading.trajectory.index
    kinds = {reading.log.type_name(index.rows[item]): item for item in range(len(index))}
    assert matrix.column_of_item(kinds["request/header"]) == 0
    assert matrix.column_of_item(kinds["tool/call"]) == 0
    assert matrix.column_of_item(kinds["user/message"]) == 1
    assert matrix.column_of_item(kinds["turn/end"]) == 1


def test_a_route_that_refused_is_told_by_its_record(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().user("two").tools("peek", "poke").attempt(code="INVALID_REQUEST")
    builder.fell_back(endpoint="http://127.0.0.1:9/v1", strong=True).answer("b").end()
    matrix = ToolMatrix(Reading.open(builder.write(tmp_path)).read_all())
    assert [matrix.column(at).mode for at in range(len(matrix))] == ["in-history", "in-history", None]
    assert states(matrix, "poke") == ".oD"


def test_a_reported_session_shows_the_addition_and_the_requests_that_failed_after_it(shared: Path) -> None:
    """Bug B01, viewer."""
    (path,) = (shared / "bugs" / "cases" / "B01-addition-rejected" / "home").rglob("session.v4.jsonl")
    matrix = ToolMatrix(Reading.open(path).read_all())
    (happened,) = matrix.happened("mcp__kiln__cool")
    at = matrix.column_of(happened)
    assert at is not None
    assert (happened.mark, matrix.turn(at)) == (Mark.ADDED, 2)
    assert [matrix.turn(column) for column in matrix.failed_columns] == [2, 3, 4]
    assert matrix.failed_columns[0] == at


def refused_twice(tmp_path: Path) -> Reading:
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().user("two").tools("peek", "poke")
    for _ in range(2):
        builder.attempt(code="INVALID_REQUEST", status=400)
    return builder.end().read(tmp_path)


class InHistory(RouteBook):
    """Knows every route as one that takes all tool changes."""

    def route(self, provider: str, model: str) -> KnownRoute:
        known = super().route(provider, model)
        return KnownRoute(route=known.route.with_tool_update("in-history"), source="catalog")


def test_another_try_is_told_as_it_was_most_likely_sent(tmp_path: Path) -> None:
    matrix = ToolMatrix(refused_twice(tmp_path), book=InHistory())
    columns = [matrix.column(at) for at in range(3)]
    assert [column.mode for column in columns] == ["in-history", "in-history", None]
    assert [column.mode_from for column in columns] == ["catalog", "catalog", "assumed"]
    assert states(matrix, "poke") == ".oD"


def test_as_a_chosen_route_nothing_is_guessed(tmp_path: Path) -> None:
    matrix = ToolMatrix(refused_twice(tmp_path), route="in-history")
    assert [matrix.column(at).mode for at in range(3)] == ["in-history"] * 3
    assert states(matrix, "poke") == ".oo"
