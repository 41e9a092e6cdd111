"""Server-sent events in pieces of any size (loop-and-adapters §4.6)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.llm import sse
from tui.llm.failure import LlmFailure
from tui.llm.sse import SseDecoder, SseFrame


def decode(pieces: Iterable[bytes]) -> list[SseFrame]:
    decoder = SseDecoder()
    return [frame for piece in pieces for frame in decoder.feed(piece)]


STREAM = (
    b'\xef\xbb\xbf: hello\n\nevent: one\ndata: {"a":\ndata:  1}\n\n'
    b": again\r\nevent: two\r\nid: 7\r\nretry: 10\r\ndata: \xe6\xb0\xb4\r\n\r\n"
    b"data\rdata: x:y\r\revent: nothing\n\ndata: cut"
)
FRAMES = [SseFrame("one", '{"a":\n 1}'), SseFrame("two", "水"), SseFrame("", "\nx:y")]


def test_comments_names_ends_of_lines_and_the_unfinished_end() -> None:
    assert decode([STREAM]) == FRAMES


def test_every_split_in_two_gives_the_same_frames() -> None:
    for at in range(len(STREAM) + 1):
        assert decode([STREAM[:at], STREAM[at:]]) == FRAMES, at


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_any_split_gives_the_same_frames(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(STREAM)]
    assert decode(STREAM[a:b] for a, b in pairwise(ends)) == FRAMES


def test_one_byte_at_a_time_gives_the_same_frames() -> None:
    assert decode(bytes([byte]) for byte in STREAM) == FRAMES


def test_comments_and_frames_are_signs_of_life_and_half_a_line_is_none() -> None:
    decoder = SseDecoder()
    seen: list[int] = []
    for piece in (b": ping", b"\n", b"\n", b"data: x\n", b"\n", b"event: e\n\n"):
        decoder.feed(piece)
        seen.append(decoder.activity)
    assert seen == [0, 1, 1, 1, 2, 2]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert decode([b"data: \xff\xfe\n\n"]) == [SseFrame("", "\ufffd\ufffd")]


@pytest.mark.parametrize("piece", [b"data: " + b"x" * 90, b"data: " + b"x" * 40 + b"\n"])
def test_an_event_that_never_ends_is_refused(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_FRAME", 1000)
    with pytest.raises(LlmFailure) as raised:
        decode([piece] * 30)
    assert raised.value.code == "MALFORMED_RESPONSE"
    assert len(decode([b"data: " + b"x" * 90 + b"\n\n"] * 30)) == 30
