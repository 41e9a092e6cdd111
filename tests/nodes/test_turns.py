"""Turns: their times, their tokens, how they ended."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.log_builder import START_MS, call, log
from tests.support.recorded_events import RECORDINGS, recorded_events
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading
from tui.nodes.turn_list import Turn, TurnList


def test_a_turn_sums_its_answers_and_counts_what_was_in_it(tmp_path: Path) -> None:
    built = log().turn().user("go").tools("a").answer(call("1", "a"), call("2", "b"), usage=(10, 2, 30, 4))
    built.ran("1", "a").ran("2", "b", error="UNKNOWN_TOOL").step().tools("a", "c").answer(
        "ok", usage=(1, 1, 0, 0)
    )
    (turn,) = built.end().read(tmp_path).turns.turns
    assert (turn.steps, turn.calls, turn.failed_calls, turn.tool_changes) == (2, 2, 1, 1)
    assert (turn.input_tokens, turn.output_tokens, turn.cache_read_tokens, turn.cache_write_tokens) == (
        11,
        3,
        30,
        4,
    )
    assert turn.cache_share == 30 / 45
    assert turn.reason == "completed"


def test_failed_attempts_count_as_retries_and_not_as_tokens(tmp_path: Path) -> None:
    used = {"type": "chunk", "time": START_MS, "chunk": {"type": "usage", "usage": {"inputTokens": 999}}}
    built = (
        log().turn().user("go").attempt(used, code="SERVER").retry(1).attempt(used, code="SERVER").retry(2)
    )
    reading = built.answer("ok", usage=(5, 1, 0, 0)).end().read(tmp_path)
    assert reading.turns.turns[0].retries == 2
    assert reading.totals().input_tokens == 5


@pytest.mark.parametrize("end", [START_MS - 5_000, 0, -1])
def test_a_clock_that_ran_back_gives_no_duration(tmp_path: Path, end: int) -> None:
    built = log().turn().user("go").end_step().at(end)
    built.in_step = False
    (turn,) = built.end().read(tmp_path).turns.turns
    assert turn.duration_ms is None


def test_a_start_without_a_time_gives_no_duration(tmp_path: Path) -> None:
    built = log().event("turn/start", {"turn": 1}, time=None)
    built.turns, built.in_turn = 1, True
    (turn,) = built.end().read(tmp_path).turns.turns
    assert turn.duration_ms is None


def test_a_fork_counts_its_own_tokens_only(tmp_path: Path) -> None:
    # Spec §9.1: usage is summed over the own part only for forks.
    built = log(parentSession="session-of-before").turn().answer("a", usage=(100, 10, 0, 0)).end()
    built.picked_up(inherited=True).turn().answer("b", usage=(7, 3, 0, 0)).end()
    totals = built.read(tmp_path).totals()
    assert (totals.turns, totals.input_tokens, totals.output_tokens) == (2, 7, 3)


def test_a_step_whose_turn_has_no_start_belongs_to_the_turn_it_names(tmp_path: Path) -> None:
    built = log().event("step/start", {"turn": 7, "step": 2})
    built.turns, built.steps, built.in_turn, built.in_step = 7, 2, True, True
    reading = built.answer("ok", usage=(5, 1, 0, 0)).end().read(tmp_path)
    (turn,) = reading.turns.turns
    assert (turn.number, turn.implied, turn.duration_ms) == (7, True, None)
    assert chat_node(reading, 0).turn == 7


@pytest.mark.parametrize("folder", sorted(p.name for p in RECORDINGS.iterdir() if p.is_dir()))
def test_totals_are_the_sums_over_the_raw_answers_of_a_recording(folder: str) -> None:
    path = RECORDINGS / folder / "session.v4.jsonl"
    used = [
        event.data["usage"]
        for event in recorded_events(path)
        if event.type in ("assistant/message", "compaction/summary") and "usage" in event.data
    ]
    totals = Reading.open(path).read_all().totals()
    assert totals.input_tokens == sum(u["inputTokens"] for u in used)
    assert totals.output_tokens == sum(u["outputTokens"] for u in used)
    assert totals.cache_read_tokens == sum(u.get("cacheReadTokens", 0) for u in used)
    assert totals.cache_write_tokens == sum(u.get("cacheWriteTokens", 0) for u in used)
    parts = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    # The adapter of dsh writes the sum itself.
    assert totals.tokens == sum(u.get("totalTokens", sum(u.get(part, 0) for part in parts)) for u in used)


def test_a_forked_recording_counts_what_came_after_the_fork(shared: Path) -> None:
    forked = 0
    for path in (shared / "recordings" / "subagent-plan-todo" / "sessions").glob("*/*/session.v4.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        if not rows[0]["isSeeded"]:
            continue
        markers = [
            r["seq"] for r in rows[1:] if r["type"] == "session/end-seed" and r["data"].get("inherited")
        ]
        own = [r for r in rows[1:] if r["seq"] > markers[-1] and r["type"] == "assistant/message"]
        totals = Reading.open(path).read_all().totals()
        assert totals.output_tokens == sum(r["data"]["usage"]["outputTokens"] for r in own)
        forked += 1
    assert forked == 1


_NUMBERS = st.one_of(st.integers(-3, 300), st.integers(-(2**70), 2**70))


@given(
    st.lists(
        st.builds(
            Turn,
            number=_NUMBERS,
            start_row=_NUMBERS,
            start_ms=_NUMBERS,
            end_row=_NUMBERS,
            reason=st.text(),
            input_tokens=_NUMBERS,
            implied=st.booleans(),
        )
    )
)
def test_a_list_of_turns_gives_back_every_turn(turns: list[Turn]) -> None:
    held = TurnList()
    for turn in turns:
        held.append(turn)
        assert held[-1] is turn
    assert list(held) == turns
    assert held[1:] == turns[1:]
    assert [held[at] for at in range(-len(turns), 0)] == turns
    wanted = {turn.number for turn in turns[::2]}
    assert list(held.numbered(wanted)) == [turn for turn in turns if turn.number in wanted]
    for outside in (len(turns), -len(turns) - 1):
        with pytest.raises(IndexError):
            held[outside]
