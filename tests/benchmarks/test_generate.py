"""Generated logs keep the order rules of the format, so that what is measured is a healthy session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.benchmarks.generate import LAST_ANSWER, session_id_of, write_log
from tui.nodes.reading import Reading
from tui.session.frames import MAGIC
from tui.session.reader import read_log

COUNT = 12_000


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("generated") / "session.v4.jsonl", COUNT)


@pytest.fixture(scope="module")
def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()[1:]]


def test_a_log_has_as_many_events_as_asked_and_no_damage(log: Path) -> None:
    read = read_log(log)
    assert (len(read), read.damage) == (COUNT, [])
    assert read.header.id == session_id_of(COUNT, 1)


@pytest.mark.parametrize("count", [200, 997, 998, 999, 1000, 1001, 1002, 1003, 1004, 1005])
def test_every_count_is_met_exactly(tmp_path: Path, count: int) -> None:
    assert len(read_log(write_log(tmp_path / "session.v4.jsonl", count))) == count


def test_the_folds_find_no_fault(log: Path) -> None:
    reading = Reading.open(log).read_all()
    assert reading.surface.faults == []
    assert reading.tools.faults == []


def test_an_event_has_about_600_bytes(log: Path) -> None:
    assert 540 <= log.stat().st_size / COUNT <= 660


def test_equal_arguments_give_equal_bytes_and_another_seed_others(tmp_path: Path) -> None:
    texts = [
        write_log(tmp_path / f"{name}.jsonl", 500, seed=seed).read_bytes()
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    ]
    assert texts[0] == texts[1] != texts[2]


def test_everything_that_slows_readers_down_occurs(events: list[dict[str, Any]]) -> None:
    kinds = {event["type"] for event in events}
    assert kinds >= {
        "compaction/summary",
        "developer/message",
        "llm/retry-started",
        "assistant/attempt",
        "todo/write",
        "session/title",
        "session-log-deepseek/delivery-accepted",
    }
    reasons = {event["data"]["reason"] for event in events if event["type"] == "request/header"}
    assert reasons == {"initial", "change", "series"}


def test_the_last_turn_ends_with_the_known_answer(events: list[dict[str, Any]]) -> None:
    assert events[-1]["type"] == "turn/end"
    answers = [event["data"]["message"] for event in events if event["type"] == "assistant/message"]
    assert answers[-1]["content"][-1]["text"] == LAST_ANSWER


def test_turns_steps_and_calls_open_and_close_in_order(events: list[dict[str, Any]]) -> None:
    """Rules 1 to 4 and 7 of spec session-format §3."""
    turn = step = turns = steps = 0
    pending: dict[str, tuple[str, str]] = {}
    started: dict[str, int] = {}
    for event in events:
        kind, data, seq = event["type"], event["data"], event["seq"]
        if kind == "turn/start":
            assert (turn, data["turn"]) == (0, turns + 1), seq
            turn = turns = data["turn"]
            step = steps = 0
        elif kind == "turn/end":
            assert (data["turn"], step, pending) == (turn, 0, {}), seq
            turn = 0
        elif kind == "step/start":
            assert (step, data) == (0, {"turn": turn, "step": steps + 1}), seq
            step = steps = data["step"]
        elif kind == "step/end":
            assert (data, pending) == ({"turn": turn, "step": step}, {}), seq
            step = 0
        elif "step" in data:
            assert step and (data["turn"], data["step"]) == (turn, step), seq
        if kind == "assistant/message":
            for block in data["message"]["content"]:
                if block["type"] == "tool-call":
                    assert block["id"] not in pending, seq
                    pending[block["id"]] = (block["name"], block["arguments"])
        elif kind == "tool/call":
            assert pending[data["callId"]] == (data["name"], data["arguments"]), seq
            assert data["callId"] not in started, seq
            started[data["callId"]] = seq
        elif kind == "tool/result":
            call = data["message"]["toolCallId"]
            assert event["sourceEventSeqs"] == [started[call]], seq
            assert ("error" in data) == data["message"]["isError"], seq
            del pending[call]


def test_the_surface_begins_with_the_system_message_and_replacements_name_what_they_cover(
    events: list[dict[str, Any]],
) -> None:
    """Rules 8 to 10 and 13 of spec session-format §3."""
    nodes: list[int] = []
    for event in events:
        seq = event["seq"]
        if event.get("surfaceOp") == "append":
            assert (event["type"] == "system/message") == (not nodes), seq
            nodes.append(seq)
        elif event["type"] == "compaction/summary":
            span = event["data"]["shadowedRange"]
            covered = nodes[nodes.index(span["start"]) : nodes.index(span["end"]) + 1]
            assert event["data"]["shadowedSeqs"] == covered, seq
        elif "surfaceOp" in event:
            first, last = (nodes.index(event["surfaceOp"][key]) for key in ("startSeq", "endSeq"))
            assert first > 0, seq
            assert set(nodes[first : last + 1]) <= set(event["sourceEventSeqs"]), seq
            nodes[first : last + 1] = [seq]


def test_streams_hold_the_text_of_their_message(events: list[dict[str, Any]]) -> None:
    """Spec session-format §4.5: one gap less than pieces, and the pieces make the block."""
    for event in events:
        if event["type"] != "assistant/message":
            continue
        content = event["data"]["message"]["content"]
        for record in event["data"]["stream"]:
            if record["type"] in ("text-chunks", "reasoning-chunks"):
                assert len(record["dt"]) == len(record["texts"]) - 1, event["seq"]
                assert "".join(record["texts"]) == content[record["index"]]["text"], event["seq"]
        assert event["time"] >= event["data"]["stream"][-1]["time"]


def test_zstd_logs_hold_the_same_text_in_frames_as_dsh_writes_them(tmp_path: Path, log: Path) -> None:
    """Spec session-format §2.2: the header alone in frame 1, checksum, no content size."""
    path = write_log(tmp_path / "session.v4.jsonl.zstd", COUNT)
    data = path.read_bytes()
    assert (data[:4], data[4]) == (MAGIC, 0x04)
    frames: list[bytes] = []
    while data:
        decompress = zstandard.ZstdDecompressor().decompressobj()
        frames.append(decompress.decompress(data))
        data = decompress.unused_data
    assert b"".join(frames) == log.read_bytes()
    assert frames[0].count(b"\n") == 1
    assert all(5 <= frame.count(b"\n") <= 40 for frame in frames[1:-1])
    assert read_log(path).damage == []
