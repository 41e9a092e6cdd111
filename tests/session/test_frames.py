"""The structural scan of zstd logs (spec §2.2)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui.session.frames import MAGIC, FileWindow, FrameSearch, Shape, magic_positions, measure
from tui.session.source import open_source

SKIPPABLE = b"\x5a\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"


def frame(text: bytes, *, checksum: bool = True, content_size: bool = False, level: int = 3) -> bytes:
    compressor = zstandard.ZstdCompressor(
        level=level, write_checksum=checksum, write_content_size=content_size
    )
    if content_size:
        return compressor.compress(text)
    stream = compressor.compressobj()
    return stream.compress(text) + stream.flush()


@contextmanager
def window_on(path: Path, data: bytes, block: int = 1024 * 1024) -> Iterator[FileWindow]:
    path.write_bytes(data)
    fd = os.open(path, os.O_RDONLY)
    try:
        yield FileWindow(fd, len(data), block)
    finally:
        os.close(fd)


def test_a_frame_written_as_dsh_writes_has_descriptor_four() -> None:
    assert frame(b'{"type":"session"}\n')[:5] == MAGIC + b"\x04"


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("content_size", [True, False])
@pytest.mark.parametrize("size", [0, 1, 300, 70_000, 400_000])
def test_a_frame_of_any_kind_is_measured_to_its_last_byte(
    tmp_path: Path, size: int, content_size: bool, checksum: bool
) -> None:
    data = frame(
        os.urandom(size // 2) + b"a" * (size - size // 2), checksum=checksum, content_size=content_size
    )
    with window_on(tmp_path / "log", data + MAGIC) as window:
        found = measure(window, 0)
    assert (found.shape, found.end) == (Shape.FRAME, len(data))
    assert found.bound >= size


def test_a_frame_longer_than_the_window_is_measured(tmp_path: Path) -> None:
    data = frame(os.urandom(300_000))
    with window_on(tmp_path / "log", frame(b"x") + data, block=32) as window:
        first = measure(window, 0)
        assert measure(window, first.end).end == first.end + len(data)


@pytest.mark.parametrize("bit", [0x08, 0x10])
def test_a_descriptor_with_a_refused_bit_is_corrupt(tmp_path: Path, bit: int) -> None:
    data = bytearray(frame(b"x" * 100))
    data[4] |= bit
    with window_on(tmp_path / "log", bytes(data)) as window:
        assert measure(window, 0).shape is Shape.CORRUPT


def test_a_block_of_the_reserved_kind_is_corrupt(tmp_path: Path) -> None:
    with window_on(tmp_path / "log", MAGIC + b"\x04\x58" + b"\x07\x00\x00" + b"\x00" * 16) as window:
        assert measure(window, 0).shape is Shape.CORRUPT


def test_a_skippable_frame_is_told_apart(tmp_path: Path) -> None:
    with window_on(tmp_path / "log", SKIPPABLE + frame(b"x")) as window:
        assert measure(window, 0)[:3] == (Shape.SKIPPABLE, 0, len(SKIPPABLE))


def test_every_cut_of_a_frame_is_torn(tmp_path: Path) -> None:
    data = frame(b'{"type":"session"}\n' * 30)
    for length in range(1, len(data)):
        with window_on(tmp_path / "log", data[:length]) as window:
            assert measure(window, 0)[:3] == (Shape.TORN, 0, length), length


def test_a_search_takes_no_magic_number_that_begins_no_sound_frame(tmp_path: Path) -> None:
    junk = b"junk" + MAGIC + b"\x04\x58" + b"\x99" * 40 + MAGIC
    data = junk + frame(b"one\n") + frame(b"two\n")
    with window_on(tmp_path / "log", data) as window:
        assert FrameSearch(window, lambda _: False).next_chain(0) == len(junk)


def test_a_search_ends_when_its_budget_is_spent(tmp_path: Path) -> None:
    liar = MAGIC + b"\x00\x58" + b"\x00\x00\x00" * 1000
    with window_on(tmp_path / "log", liar * 20 + frame(b"x")) as window:
        assert FrameSearch(window, lambda _: False, budget=5000).next_chain(1) is None


def test_magic_numbers_across_block_borders_are_found(tmp_path: Path) -> None:
    places = [0, 4094, 20_470, 81_900, 1_000_001]
    data = bytearray(2 * 1024 * 1024)
    for place in places:
        data[place : place + 4] = MAGIC
    with window_on(tmp_path / "log", bytes(data)) as window:
        assert list(magic_positions(window.fd, 0, len(data))) == places


LINES = st.lists(st.text(st.characters(exclude_characters="\n"), max_size=40), min_size=1, max_size=5)


@given(batches=st.lists(LINES, min_size=1, max_size=6), data=st.data())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_at_any_byte_gives_the_text_of_its_whole_frames(
    tmp_path: Path, batches: list[list[str]], data: st.DataObject
) -> None:
    texts = ["".join(f"{line}\n" for line in batch).encode("utf-8", "replace") for batch in batches]
    frames = [frame(text) for text in texts]
    whole = b"".join(frames)
    path = tmp_path / "session.v4.jsonl.zstd"
    for length in {*data.draw(st.sets(st.integers(0, len(whole)), max_size=12)), len(whole)}:
        path.write_bytes(whole[:length])
        complete = b""
        end = 0
        for text, encoded in zip(texts, frames, strict=True):
            end += len(encoded)
            if end <= length:
                complete += text
        source = open_source(path)
        text = b"".join(chunk.data for chunk in source.chunks())
        assert text.startswith(complete)
        assert b"".join(texts).startswith(text)
        assert source.read(0, len(text)) == text
        ends = {0, *(sum(map(len, frames[:count])) for count in range(1, len(frames) + 1))}
        torn = [fault.code for fault in source.faults if fault.code != "header-frame"]
        assert torn == ([] if length in ends else ["torn-tail"])
        source.close()


@given(
    texts=st.lists(st.binary(min_size=1, max_size=200), min_size=1, max_size=5),
    place=st.integers(0, 10_000),
    junk=st.binary(max_size=60),
    drop=st.integers(0, 30),
)
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_put_in_the_place_of_others_never_stop_the_reading(
    tmp_path: Path, texts: list[bytes], place: int, junk: bytes, drop: int
) -> None:
    whole = b"".join(frame(text) for text in texts)
    place %= len(whole)
    path = tmp_path / "session.v4.jsonl.zstd"
    path.write_bytes(whole[:place] + junk + whole[place + drop :])
    source = open_source(path)
    chunks = list(source.chunks())
    text = b"".join(chunk.data for chunk in chunks)
    assert [chunk.start for chunk in chunks] == [
        sum(len(chunk.data) for chunk in chunks[:at]) for at in range(len(chunks))
    ]
    if source.encoding == "zstd":
        assert source.read(0, len(text)) == text
    source.close()
