"""The Trajectory pane: one row a record, requests numbered, times as recorded."""

import json
from pathlib import Path

import pytest

from tests.support.log_builder import START_MS, STEP_MS, call, chunk, log, pieces
from tui.nodes.reading import Reading
from tui.nodes.trajectory import TrajectoryRow, is_bookkeeping, trajectory_row
from tui.session.reader import read_log


def _rows(reading: Reading) -> list[TrajectoryRow]:
    return [trajectory_row(reading, at) for at in range(len(reading.trajectory.index))]


def _requests(reading: Reading) -> list[tuple[int, str]]:
    numbered = [row for row in _rows(reading) if row.request is not None]
    return [(row.request or 0, row.type) for row in numbered]


# -- requests (CONTRACT.md)


def test_answers_attempts_and_compactions_are_requests_in_order(tmp_path: Path) -> None:
    built = log().turn().user("go").delivered().attempt(code="SERVER").retry(1).delivered().answer("ok").end()
    built.compact(4, built.last - 2, [4]).turn().user("on").answer("on").end()
    types = [kind for _, kind in _requests(built.read(tmp_path))]
    assert types == ["assistant/attempt", "assistant/message", "compaction/start", "assistant/message"]


def test_titles_and_searches_are_not_numbered(tmp_path: Path) -> None:
    built = log().turn().user("go").event("session/title-llm-request", {}).answer("ok")
    reading = built.event("web/deepseek-search-llm-request", {}).end().read(tmp_path)
    assert _requests(reading) == [(1, "assistant/message")]


def test_a_request_that_was_accepted_and_never_answered_counts_where_it_was_accepted(tmp_path: Path) -> None:
    built = log().turn().user("go").delivered()
    accepted = built.last
    reading = built.read(tmp_path)
    (row,) = [row for row in _rows(reading) if row.request]
    assert (row.request, row.seq, row.status) == (1, accepted, "unanswered")
    assert not is_bookkeeping(reading, row.index)


def test_a_step_that_ends_without_an_answer_counts_too(tmp_path: Path) -> None:
    built = log().turn().user("go").answer("one").step().delivered().end("interrupted").picked_up()
    built.turn().user("again").delivered().answer("two").end()
    kinds = [kind for _, kind in _requests(built.read(tmp_path))]
    assert kinds == ["assistant/message", "session-log-deepseek/delivery-accepted", "assistant/message"]


def test_an_acceptance_inside_a_compaction_is_the_compactions(tmp_path: Path) -> None:
    built = log().turn().user("go").answer("ok").end_step()
    built.in_step = False
    built.event("compaction/start", {"compactionId": "c", "turn": 1}).delivered()
    assert [kind for _, kind in _requests(built.read(tmp_path))] == ["assistant/message", "compaction/start"]


def test_an_unanswered_request_is_taken_back_when_the_answer_is_read_later(tmp_path: Path) -> None:
    reading = log().turn().user("go").delivered().read(tmp_path)
    assert reading.trajectory.request_count == 1
    reading.reopen()
    assert reading.trajectory.request_count == 0
    assert _requests(reading) == []


@pytest.mark.parametrize("store", ["", "zstd"])
def test_the_requests_of_each_recording_are_those_the_provider_counted(shared: Path, store: str) -> None:
    checked = 0
    for requests in sorted(
        (shared / "recordings").glob(f"*/{store}/requests.jsonl" if store else "*/requests.jsonl")
    ):
        counted = max(json.loads(line)["n"] for line in requests.open())
        own = 0
        for path in (requests.parent / "sessions").glob("*/*/session.v4.jsonl*"):
            reading = Reading.open(path).read_all()
            inherited = reading.chat.fork_row
            numbered = [row for row in _rows(reading) if row.request is not None]
            assert [row.request for row in numbered] == list(range(1, len(numbered) + 1))
            own += sum(1 for row in numbered if row.row > inherited)
        assert own == counted, requests.parent
        checked += 1
    assert checked >= 9


# -- times


def test_an_answer_lasts_from_the_latest_thing_that_led_to_it(tmp_path: Path) -> None:
    built = log().turn().wait(500).user("go").wait(100)
    first = built.now + 40
    built.at(first + 60).answer("ok", stream=[pieces(first, "o", "k")])
    (row,) = [row for row in _rows(built.end().read(tmp_path)) if row.kind == "assistant"]
    prompted = first - 40 - 100 - STEP_MS
    assert row.started_ms == prompted
    assert row.ttft_ms == first - prompted
    assert row.duration_ms == first + 60 - prompted


def test_after_a_retry_the_time_runs_from_its_start(tmp_path: Path) -> None:
    built = log().turn().user("go").wait(5_000).attempt(code="SERVER").retry(1)
    started = built.now - STEP_MS
    built.answer("ok", stream=[pieces(started + 7, "ok")])
    row = [row for row in _rows(built.end().read(tmp_path)) if row.kind == "assistant"][-1]
    assert (row.started_ms, row.ttft_ms) == (started, 7)


def test_without_a_stream_there_is_no_time_to_the_first_token(tmp_path: Path) -> None:
    (row,) = [
        row
        for row in _rows(log().turn().user("go").answer("ok").end().read(tmp_path))
        if row.kind == "assistant"
    ]
    assert row.ttft_ms is None
    assert row.duration_ms is not None


def test_a_clock_that_jumps_gives_absence(tmp_path: Path) -> None:
    built = log().turn().user("go").at(START_MS - 90_000)
    built.answer(call("1", "a"), stream=[pieces(START_MS - 91_000, "x")]).at(START_MS)
    built.call("1", "a").at(START_MS - 1).result("1").end()
    rows = _rows(built.read(tmp_path))
    (answer,) = [row for row in rows if row.kind == "assistant"]
    (tool,) = [row for row in rows if row.kind == "tool"]
    assert (answer.ttft_ms, answer.duration_ms, tool.duration_ms) == (None, None, None)
    assert tool.started_ms == START_MS


def test_a_call_without_a_time_has_no_duration_of_fifty_years(tmp_path: Path) -> None:
    built = log().turn().answer(call("1", "a"))
    built.event("tool/call", {**built.place, "callId": "1", "name": "a", "arguments": "{}"}, time=None)
    (tool,) = [row for row in _rows(built.result("1").end().read(tmp_path)) if row.kind == "tool"]
    assert (tool.time_ms, tool.started_ms, tool.duration_ms, tool.status) == (None, None, None, "ok")


def test_an_answer_does_not_start_in_the_turn_before(tmp_path: Path) -> None:
    built = log().turn().user("go").answer("ok").end().wait(9_000)
    built.event("turn/start", {"turn": 2})
    built.turns, built.steps, built.in_turn = 2, 0, True
    built.answer("from nowhere")
    row = [row for row in _rows(built.end().read(tmp_path)) if row.kind == "assistant"][-1]
    assert (row.started_ms, row.duration_ms) == (None, None)


# -- marks


def test_a_compaction_marks_the_rows_it_replaced_calls_by_their_results(tmp_path: Path) -> None:
    built = log().turn().user("go")
    start = built.last
    built.answer(call("1", "a"))
    asked = built.last
    built.ran("1", "a")
    result = built.last
    built.step().answer("kept").end().compact(start, result, [start, asked, result])
    rows = _rows(built.read(tmp_path))
    assert {row.type for row in rows if row.replaced} == {"user/message", "assistant/message", "tool/call"}
    assert [row.gist for row in rows if row.kind == "assistant" and not row.replaced] == ["kept"]


def test_a_pruned_result_marks_its_call_as_shortened_and_a_compaction_after_it_as_replaced(
    tmp_path: Path,
) -> None:
    built = log().turn().user("go").answer(call("1", "a"))
    asked = built.last
    built.ran("1", "a", "long " * 50)
    result = built.last
    reach = {
        "shadowedRange": {"start": result, "end": result},
        "shadowedSeqs": [result],
        "shadowedTokenCount": 9,
    }
    built.event("compaction/prune", reach)
    row = json.loads(built.lines[result])
    built.event("tool/result", row["data"], **built.replace(result, result, [result]))
    pruned = built.last
    (tool,) = [row for row in _rows(built.end().read(tmp_path / "a")) if row.kind == "tool"]
    assert (tool.shortened, tool.replaced) == (True, False)
    built.compact(asked, pruned, [asked, pruned])
    (tool,) = [row for row in _rows(built.read(tmp_path / "b")) if row.kind == "tool"]
    assert (tool.shortened, tool.replaced) == (True, True)


def test_a_compaction_that_a_crash_ended_is_interrupted(tmp_path: Path) -> None:
    built = log().turn().user("go").answer("ok").end()
    built.event("compaction/start", {"compactionId": "c", "turn": None}).picked_up()
    built.turn().user("on").delivered().answer("on").end()
    reading = built.read(tmp_path)
    (row,) = [row for row in _rows(reading) if row.kind == "compaction"]
    assert (row.status, row.duration_ms) == ("interrupted", None)
    assert reading.trajectory.request_count == 3


def test_a_refused_compaction_has_failed_and_says_why(tmp_path: Path) -> None:
    built = log().event("compaction/start", {"compactionId": "c", "turn": None})
    built.event("compaction/end", {"compactionId": "c", "turn": None, "error": "no useful summary"})
    (row,) = [row for row in _rows(built.read(tmp_path)) if row.kind == "compaction"]
    assert (row.status, row.gist) == ("failed", "no useful summary")


def test_an_answer_that_the_limit_cut_says_so_and_so_does_one_without_text(tmp_path: Path) -> None:
    built = log().turn().user("a").answer("half a sen").end("max-tokens").turn().user("b").answer()
    rows = _rows(built.end("max-tokens").read(tmp_path))
    assert [row.status for row in rows if row.kind == "assistant"] == ["truncated", "truncated"]


def test_an_unknown_piece_of_a_stream_is_told_with_its_answer(tmp_path: Path) -> None:
    odd = chunk(START_MS, "sparkle-delta", glow=3)
    reading = log().turn().user("a").answer("x", stream=[pieces(START_MS, "x"), odd]).end().read(tmp_path)
    (row,) = [row for row in _rows(reading) if row.kind == "assistant"]
    assert [(block.type, block.data["glow"]) for block in row.foreign_chunks] == [("sparkle-delta", 3)]


def test_a_call_is_running_only_in_the_open_turn_of_a_log_still_read(tmp_path: Path) -> None:
    built = (
        log().turn().answer(call("1", "a")).call("1", "a").end().turn().answer(call("2", "a")).call("2", "a")
    )
    reading = built.read(tmp_path)
    status = lambda: [row.status for row in _rows(reading) if row.kind == "tool"]  # noqa: E731
    assert status() == ["no-result", "no-result"]
    reading.reopen()
    assert status() == ["no-result", "running"]


def test_failed_turns_of_a_recording_stand_where_they_failed(shared: Path) -> None:
    (path,) = (shared / "recordings" / "rejected-update" / "sessions").glob("*/*/session.v4.jsonl")
    rows = _rows(Reading.open(path).read_all())
    assert [row.turn for row in rows if row.kind == "failure"] == [3, 4, 5, 6, 7]
    failed = [row.turn for row in rows if row.kind == "assistant" and row.status == "failed"]
    assert failed == [3, 4, 5, 6, 7]


def test_two_writers_results_have_names_and_marks(shared: Path) -> None:
    home = shared / "bugs" / "cases" / "B07-seq-trouble" / "home" / "closers-then-live"
    (path,) = home.glob("sessions/*/*/session.v4.jsonl")
    rows = _rows(Reading.open(path).read_all())
    tools = [row for row in rows if row.kind == "tool"]
    assert tools[-1].title == "mcp__kiln__fire"
    seqs = [json.loads(line)["seq"] for line in path.read_text().splitlines()[1:]]
    twice = [seq for n, seq in enumerate(seqs) if seq in seqs[:n]]
    assert [row.seq for row in rows if row.repeated] == twice
    assert any(row.repeated for row in rows)


def test_every_row_of_every_recording_has_one_trajectory_row_or_completes_one(shared: Path) -> None:
    for path in sorted(shared.glob("recordings/*/sessions/*/*/session.v4.jsonl")):
        if "long" in path.parts:
            continue
        reading = Reading.open(path).read_all()
        columns = reading.trajectory.index
        shown = [*columns.rows, *(r for r in columns.mids if r >= 0), *(r for r in columns.ends if r >= 0)]
        assert sorted(shown) == list(range(len(read_log(path)))), path
