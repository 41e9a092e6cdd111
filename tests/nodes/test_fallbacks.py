"""Which requests followed a refusal in the same step, by the order of the events alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.log_builder import LogBuilder, log
from tests.support.nodes import RECORDINGS, reading_of
from tui.nodes.live import LiveReading
from tui.nodes.requests import Requests


def begun() -> LogBuilder:
    return log().turn().user("one").tools("peek").answer("a").end().turn().user("two").tools("peek", "poke")


def refused(builder: LogBuilder, code: str = "INVALID_REQUEST", status: int | None = 400) -> LogBuilder:
    return builder.attempt(code=code, status=status)


def refusals(builder: LogBuilder, folder: Path) -> list[int]:
    return [request.told.refusals for request in Requests(builder.read(folder)).walk()]


def test_what_follows_a_refusal_at_once_is_another_try(tmp_path: Path) -> None:
    assert refusals(refused(refused(begun())).answer("b").end(), tmp_path) == [0, 0, 1, 2]


@pytest.mark.parametrize(("code", "status"), [("INVALID_REQUEST", 422), ("HTTP_422", 422), ("HTTP_415", 415)])
def test_every_shape_of_a_refusal_counts(code: str, status: int, tmp_path: Path) -> None:
    assert refusals(refused(begun(), code, status).answer("b").end(), tmp_path) == [0, 0, 1]


@pytest.mark.parametrize(
    ("code", "status"),
    [("AUTH", 401), ("QUOTA", 402), ("RATE_LIMIT", 429), ("CONTEXT_WINDOW_EXCEEDED", 400), ("SERVER", 500)],
)
def test_look_alikes_do_not(code: str, status: int, tmp_path: Path) -> None:
    assert refusals(refused(begun(), code, status).answer("b").end(), tmp_path) == [0, 0, 0]


def offload(builder: LogBuilder) -> LogBuilder:
    return builder.event("image/offload", {"targets": []})


def condense(builder: LogBuilder) -> LogBuilder:
    builder.event("compaction/start", {"compactionId": "c", "turn": 2})
    return builder.event("compaction/end", {"compactionId": "c", "turn": 2, "error": "refused"})


@pytest.mark.parametrize("between", [offload, condense, lambda each: each.retry(1), lambda each: each.step()])
def test_what_else_explains_one_more_request_is_no_other_try(
    between: Callable[[LogBuilder], LogBuilder], tmp_path: Path
) -> None:
    builder = between(refused(begun())).answer("b").end()
    assert set(refusals(builder, tmp_path)) == {0}


def test_retries_of_a_try_go_on_with_what_it_held(tmp_path: Path) -> None:
    builder = refused(begun()).attempt(code="RATE_LIMIT", message="slow down", status=429)
    assert refusals(builder.retry(1).answer("b").end(), tmp_path) == [0, 0, 1, 1]


def test_a_retry_of_the_refusal_itself_begins_again(tmp_path: Path) -> None:
    builder = refused(begun()).attempt(code="SERVER", message="other", status=500)
    # The failure that is retried is not the last one.
    assert refusals(builder.retry(1).answer("b").end(), tmp_path) == [0, 0, 1, 0]


def test_a_record_tells_what_came_of_the_tries_of_its_step_alone(tmp_path: Path) -> None:
    builder = refused(refused(begun())).end().turn().user("three")
    refused(builder).answer("b").fell_back()
    requests = Requests(builder.step().answer("c").end().read(tmp_path))
    told = [request.told for request in requests.walk()]
    assert [each.refusals for each in told] == [0, 0, 1, 0, 1, 0]
    assert [each.is_recorded for each in told] == [False, False, False, False, True, False]
    assert [each.mode for each in told] == [*["in-history"] * 5, "none"]


def test_a_log_that_grows_is_read_as_one_that_was_there(tmp_path: Path) -> None:
    builder = refused(refused(begun()))
    builder.answer("b").fell_back().end()
    whole = builder.read(tmp_path)
    growing = LiveReading(whole.log.header, tmp_path / "log")
    requests = Requests(growing)
    seen: list[list[tuple[int, bool]]] = []
    for event in whole.log.events():
        growing.take(event)
        growing.catch_up()
        told = [(request.told.refusals, request.told.is_recorded) for request in requests.walk()]
        if not seen or told != seen[-1]:
            seen.append(told)
    # Until the record comes, what the last request was is only likely.
    assert seen[-2:] == [
        [(0, False), (0, False), (1, False), (2, False)],
        [(0, False), (0, False), (1, True), (2, True)],
    ]
    expected = [request.told for request in Requests(whole).walk()]
    assert [request.told for request in requests.walk()] == expected


@pytest.mark.parametrize("name", sorted(path.parent.name for path in RECORDINGS.glob("*/session.v4.jsonl")))
def test_no_request_of_real_dsh_is_taken_for_another_try(name: str) -> None:
    assert {request.told.refusals for request in Requests(reading_of(name)).walk()} == {0}
