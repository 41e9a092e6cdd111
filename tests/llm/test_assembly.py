"""Chunks gathered for the log (session-format §4.5), against what real sessions hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recorded_events import RECORDINGS, recorded_events
from tui.llm.assembly import StreamAssembler
from tui.session.stream import assemble, expand

LOGS = sorted(RECORDINGS.glob("*/session.v4.jsonl"))


def attempts(log: Path) -> list[dict[str, Any]]:
    return [
        event.data
        for event in recorded_events(log)
        if event.type in ("assistant/message", "assistant/attempt")
    ]


def fed(stream: object) -> StreamAssembler:
    assembler = StreamAssembler()
    for time, chunk in expand(stream):
        assembler.feed(time, chunk)
    return assembler


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_real_streams_come_out_as_dsh_wrote_them(log: Path) -> None:
    found = attempts(log)
    assert found
    for data in found:
        assert json.dumps(fed(data["stream"]).records()) == json.dumps(data["stream"])


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parent.name)
def test_real_streams_add_up_to_the_message_that_dsh_wrote(log: Path) -> None:
    for data in attempts(log):
        assembler, message = fed(data["stream"]), data.get("message")
        if message is None:
            continue
        if data.get("interrupted"):
            assert assembler.visible_blocks() == message["content"]
            continue
        answer = assembler.message()
        assert answer.blocks == message["content"]
        assert answer.usage == data.get("usage")
        assert answer.replay_state == message["source"].get("replayState")


def test_every_recording_comes_out_as_dsh_wrote_it(shared: Path) -> None:
    streams = 0
    for log in sorted((shared / "recordings").glob("*/sessions/*/*/session.v4.jsonl")):
        if "torn" in log.parts or "long" in log.parts:
            continue
        for data in attempts(log):
            assert json.dumps(fed(data["stream"]).records()) == json.dumps(data["stream"])
            streams += 1
    assert streams > 100


def delta(kind: str, index: int, text: str, **fields: Any) -> dict[str, Any]:
    member = "argumentsDelta" if kind == "tool-call" else "text"
    return {"type": f"{kind}-delta", "index": index, **fields, member: text}


chunks = st.one_of(
    st.builds(delta, st.sampled_from(["text", "reasoning"]), st.integers(0, 2), st.text(max_size=3)),
    st.builds(
        lambda index, text, call, name: delta("tool-call", index, text, id=call, **name),
        st.integers(0, 2),
        st.text(max_size=3),
        st.sampled_from(["c1", "c2"]),
        st.sampled_from([{}, {"name": "dial"}, {"name": "fan"}]),
    ),
    st.just({"type": "usage", "usage": {"inputTokens": 1}}),
    st.builds(
        lambda index: {"type": "block-end", "index": index, "block": {"type": "text", "text": "x"}},
        st.integers(0, 2),
    ),
    st.just({"type": "text-delta", "index": 0, "text": "x", "extra": 1}),
)


@given(st.lists(st.tuples(st.integers(-5, 50), chunks), max_size=30))
def test_records_expand_to_the_chunks_that_came(steps: list[tuple[int, dict[str, Any]]]) -> None:
    now, came, assembler = 1000, [], StreamAssembler()
    for step, chunk in steps:
        now += step
        came.append((now, chunk))
        assembler.feed(now, chunk)
    records = assembler.records()
    assert list(expand(records)) == came
    assert assembler.message().blocks == assemble(records).blocks
    for record in records:
        if "dt" in record:
            assert len(record["dt"]) == len(record.get("texts", record.get("args"))) - 1


def test_records_that_were_handed_out_do_not_grow() -> None:
    assembler = StreamAssembler()
    assembler.feed(1, delta("text", 0, "a"))
    records = assembler.records()
    assembler.feed(2, delta("text", 0, "b"))
    assert records == [{"type": "text-chunks", "time0": 1, "index": 0, "dt": [], "texts": ["a"]}]


def finish(kind: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "finish",
        "reason": {"kind": kind},
        "replayState": {"response": {}, "blocks": list(blocks)},
    }


def test_an_answer_cut_at_the_cap_loses_its_calls_and_their_replay_entries() -> None:
    assembler = StreamAssembler()
    call = {"type": "tool-call", "id": "c", "name": "dial", "arguments": '{"a'}
    for index, block in enumerate([{"type": "text", "text": "x"}, call, {"type": "text", "text": "y"}]):
        assembler.feed(1, {"type": "block-end", "index": index, "block": block})
    entries = [{"type": "text"}, {"type": "tool-call"}, {"type": "text"}]
    assembler.feed(2, finish("max-tokens", *entries))
    answer = assembler.message()
    assert [block["type"] for block in answer.blocks] == ["text", "text"]
    assert answer.replay_state == {"response": {}, "blocks": [{"type": "text"}, {"type": "text"}]}


def test_a_stream_without_an_end_counts_as_stop() -> None:
    assert StreamAssembler().message().finish.kind == "stop"


def test_of_an_interrupted_answer_only_what_can_be_seen_stays() -> None:
    assembler = StreamAssembler()
    for chunk in (
        delta("reasoning", 0, " \n"),
        delta("text", 1, "It is"),
        delta("tool-call", 2, "{", id="c", name="dial"),
    ):
        assembler.feed(1, chunk)
    assert assembler.visible_blocks() == [{"type": "text", "text": "It is"}]
