"""Stream records (session-format §4.5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recorded_events import RECORDINGS, PlainEvent, recorded_events, recording
from tui.session.stream import assemble, block_spans, expand, finish, first_delta_ms

# The example of the specification.
TEXT: list[dict[str, Any]] = [
    {"type": "chunk", "time": 1000, "chunk": {"type": "block-start", "index": 0, "blockType": "text"}},
    {"type": "text-chunks", "time0": 1001, "index": 0, "dt": [4, 0], "texts": ["It i", "s 37", "%."]},
    {
        "type": "chunk",
        "time": 1010,
        "chunk": {"type": "block-end", "index": 0, "block": {"type": "text", "text": "It is 37%."}},
    },
    {"type": "chunk", "time": 1011, "chunk": {"type": "finish", "reason": {"kind": "stop"}}},
]


def answers(path: Path) -> list[PlainEvent]:
    return [event for event in recorded_events(path) if event.type == "assistant/message"]


def chunk(time: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "chunk", "time": time, "chunk": {"type": kind, **fields}}


def texts(time: int, index: int, *parts: str, kind: str = "text-chunks") -> dict[str, Any]:
    return {"type": kind, "time0": time, "index": index, "dt": [1] * (len(parts) - 1), "texts": list(parts)}


def call(time: int, index: int, *parts: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "tool-call-chunks",
        "time0": time,
        "index": index,
        "dt": [1] * (len(parts) - 1),
        "id": "call_1",
        "args": list(parts),
        **fields,
    }


def test_records_expand_to_their_chunks_and_times() -> None:
    assert list(expand(TEXT)) == [
        (1000, {"type": "block-start", "index": 0, "blockType": "text"}),
        (1001, {"type": "text-delta", "index": 0, "text": "It i"}),
        (1005, {"type": "text-delta", "index": 0, "text": "s 37"}),
        (1005, {"type": "text-delta", "index": 0, "text": "%."}),
        (1010, {"type": "block-end", "index": 0, "block": {"type": "text", "text": "It is 37%."}}),
        (1011, {"type": "finish", "reason": {"kind": "stop"}}),
    ]


def test_tool_call_records_keep_id_and_presence_of_the_name() -> None:
    assert list(expand([call(5, 1, "", name="peek"), call(6, 1, '{"a"', ": 1}")])) == [
        (5, {"type": "tool-call-delta", "index": 1, "id": "call_1", "name": "peek", "argumentsDelta": ""}),
        (6, {"type": "tool-call-delta", "index": 1, "id": "call_1", "argumentsDelta": '{"a"'}),
        (7, {"type": "tool-call-delta", "index": 1, "id": "call_1", "argumentsDelta": ": 1}"}),
    ]


def test_time_may_run_backwards() -> None:
    record = {"type": "reasoning-chunks", "time0": 100, "index": 0, "dt": [-30, 5], "texts": ["a", "b", "c"]}
    assert [time for time, _ in expand([record])] == [100, 70, 75]


def test_unknown_chunks_and_records_come_as_they_are() -> None:
    strange = {"type": "audio-chunks", "time": 9, "data": 1}
    assert list(expand([chunk(7, "ping", x=1), strange])) == [(7, {"type": "ping", "x": 1}), (9, strange)]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (TEXT, 1001),
        ([], None),
        (
            [chunk(5, "block-start", index=0, blockType="text"), chunk(6, "finish", reason={"kind": "stop"})],
            None,
        ),
        ([chunk(5, "usage", usage={}), chunk(6, "text-delta", index=0, text="a")], 6),
        ([call(4, 0, "", name="peek"), texts(9, 1, "a")], 4),
        ([texts(3, 0), texts(8, 0, "a")], 8),
        (
            [
                {"type": "text-chunks", "time0": "soon", "index": 0, "dt": [], "texts": ["a"]},
                texts(8, 0, "b"),
            ],
            8,
        ),
    ],
)
def test_the_first_delta_tells_when_the_first_token_came(stream: Any, expected: int | None) -> None:
    assert first_delta_ms(stream) == expected


@pytest.mark.parametrize("path", sorted(RECORDINGS.rglob("session.v4.*")), ids=lambda path: str(path)[-45:])
def test_streams_of_recordings_add_up_to_their_messages(path: Path) -> None:
    for event in answers(path):
        assembly = assemble(event.data["stream"])
        content = event.data["message"]["content"]
        assert assembly.usage == event.data.get("usage")
        if event.data.get("interrupted"):
            # dsh keeps the parts of text and reasoning that are not blank.
            kept = [
                block for block in assembly.blocks if block["type"] != "tool-call" and block["text"].strip()
            ]
            assert kept == content
        elif assembly.finish is not None and assembly.finish.kind == "max-tokens":
            assert [block for block in assembly.blocks if block["type"] != "tool-call"] == content
        else:
            assert assembly.blocks == content


def test_a_broken_off_attempt_holds_what_came_so_far() -> None:
    stream = [
        chunk(1, "block-start", index=0, blockType="reasoning"),
        texts(2, 0, "thin", "king", kind="reasoning-chunks"),
        chunk(5, "block-start", index=1, blockType="tool-call"),
        call(6, 1, "", name="peek"),
        call(7, 1, '{"pot": ', '"no'),
        chunk(9, "block-start", index=2, blockType="text"),
        chunk(10, "finish", reason={"kind": "error", "failure": {"message": "cut", "code": "STREAM"}}),
    ]
    assembly = assemble(stream)
    assert assembly.blocks == [
        {"type": "reasoning", "text": "thinking"},
        {"type": "tool-call", "id": "call_1", "name": "peek", "arguments": '{"pot": "no'},
    ]
    assert assembly.finish == ("error", {"message": "cut", "code": "STREAM"})


def test_a_block_end_wins_over_deltas_and_later_deltas_are_ignored() -> None:
    end = chunk(3, "block-end", index=0, block={"type": "text", "text": "said"})
    assert assemble([texts(1, 0, "sai"), end, texts(4, 0, "more")]).blocks == [
        {"type": "text", "text": "said"}
    ]


def test_blocks_stand_in_the_order_of_their_first_appearance() -> None:
    assert [
        block["text"] for block in assemble([texts(1, 4, "b"), texts(2, 0, "a"), texts(3, 4, "c")]).blocks
    ] == ["bc", "a"]


def test_the_last_usage_and_the_last_finish_count() -> None:
    stream = [
        chunk(1, "usage", usage={"inputTokens": 1}),
        chunk(2, "finish", reason={"kind": "error", "failure": {"code": "A"}}),
        chunk(3, "usage", usage={"inputTokens": 2}),
        chunk(4, "finish", reason={"kind": "stop"}),
    ]
    assembly = assemble(stream)
    assert assembly.usage == {"inputTokens": 2}
    assert assembly.finish == ("stop", None)
    assert finish(stream) == ("stop", None)


def test_a_stream_without_end_has_no_finish() -> None:
    assert finish(TEXT[:-1]) is None
    assert assemble(TEXT[:-1]).finish is None


def test_failed_attempts_of_a_recording_tell_their_failure() -> None:
    attempts = [event for event in recording("retries") if event.type == "assistant/attempt"]
    retries = [event for event in recording("retries") if event.type == "llm/retry"]
    failures = [end.failure for event in attempts if (end := finish(event.data["stream"])) and end.failure]
    assert {retry.data["failure"]["code"] for retry in retries} <= {failure["code"] for failure in failures}


def test_spans_tell_how_long_each_block_took() -> None:
    stream = [
        chunk(10, "block-start", index=0, blockType="reasoning"),
        texts(12, 0, "a", "b", kind="reasoning-chunks"),
        chunk(40, "block-end", index=0, block={"type": "reasoning", "text": "ab"}),
        texts(41, 1, "c", "d", "e"),
        texts(90, 0, "late", kind="reasoning-chunks"),
    ]
    assert [(span.index, span.type, span.first_ms, span.last_ms) for span in block_spans(stream)] == [
        (0, "reasoning", 10, 40),
        (1, "text", 41, 43),
    ]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "time", "time0", "index", "dt", "texts", "args", "chunk", "id", "name", "block"]
            ),
            inner
            | st.sampled_from(
                [
                    "chunk",
                    "text-chunks",
                    "tool-call-chunks",
                    "block-start",
                    "block-end",
                    "text-delta",
                    "finish",
                    "usage",
                ]
            ),
            max_size=8,
        )
    ),
    max_leaves=20,
)


@given(JUNK | st.lists(JUNK))
def test_no_stream_makes_the_readers_raise(stream: Any) -> None:
    for time, piece in expand(stream):
        assert isinstance(time, int)
        assert isinstance(piece, dict)
    assemble(stream)
    block_spans(stream)
    finish(stream)
    first_delta_ms(stream)
