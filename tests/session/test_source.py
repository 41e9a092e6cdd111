"""Decoded text of plain and zstd logs: order, faults, random access, tails."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import pytest
import zstandard

from tui.session import zstd_source
from tui.session.errors import SessionUnreadable
from tui.session.frames import MAGIC
from tui.session.source import TextSource, open_source

HEADER = b'{"type":"session","version":4,"id":"session-a"}\n'


def frame(text: bytes, *, checksum: bool = True) -> bytes:
    stream = zstandard.ZstdCompressor(write_checksum=checksum).compressobj()
    return stream.compress(text) + stream.flush()


def rows(start: int, count: int, width: int = 60) -> bytes:
    return b"".join(b'{"seq":%d,"pad":"%s"}\n' % (seq, b"x" * width) for seq in range(start, start + count))


def write(path: Path, *frames: bytes) -> Path:
    path.write_bytes(b"".join(frames))
    return path


def text_of(source: TextSource) -> bytes:
    return b"".join(chunk.data for chunk in source.chunks())


def codes(source: TextSource) -> list[str]:
    return [fault.code for fault in source.faults]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "session.v4.jsonl.zstd"


@pytest.mark.parametrize(
    ("name", "code"), [("none", "missing"), ("folder", "is-a-folder"), ("pipe", "not-a-file")]
)
def test_what_is_no_file_says_what_it_is(tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SessionUnreadable) as caught:
        open_source(tmp_path / name)
    assert caught.value.code == code
    assert caught.value.fields["path"] == str(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "session.v4.jsonl", HEADER)
    path.chmod(0)
    with pytest.raises(SessionUnreadable) as caught:
        open_source(path)
    assert caught.value.code == "no-permission"


def test_plain_text_comes_as_it_stands(tmp_path: Path) -> None:
    text = HEADER + rows(0, 40_000)
    source = open_source(write(tmp_path / "session.v4.jsonl", text))
    chunks = list(source.chunks())
    assert b"".join(chunk.data for chunk in chunks) == text
    assert max(len(chunk.data) for chunk in chunks) <= 1024 * 1024
    assert (source.encoding, source.consumed, source.file_size) == ("none", len(text), len(text))
    assert source.read(100, 300) == text[100:300]
    assert source.read(len(text) - 5, len(text) + 50) == text[-5:]


def test_content_decides_over_the_name_and_the_difference_is_a_fault(tmp_path: Path, log: Path) -> None:
    plain = open_source(write(log, HEADER))
    assert (plain.encoding, text_of(plain), codes(plain)) == ("none", HEADER, ["encoding-mismatch"])
    packed = open_source(write(tmp_path / "session.v4.jsonl", frame(HEADER)))
    assert (packed.encoding, text_of(packed), codes(packed)) == ("zstd", HEADER, ["encoding-mismatch"])


def test_bytes_appended_after_opening_are_not_seen(tmp_path: Path) -> None:
    path = write(tmp_path / "session.v4.jsonl", HEADER)
    source = open_source(path)
    with path.open("ab") as file:
        file.write(rows(0, 5))
    assert text_of(source) == HEADER


def test_a_plain_file_cut_short_while_open_ends_early_with_a_fault(tmp_path: Path) -> None:
    path = write(tmp_path / "session.v4.jsonl", HEADER + rows(0, 60_000))
    source = open_source(path)
    chunks = source.chunks()
    first = next(chunks)
    os.truncate(path, 100_000)
    assert first.data + b"".join(chunk.data for chunk in chunks) == (HEADER + rows(0, 60_000))[:100_000]
    assert codes(source) == ["truncated"]
    assert source.read(99_990, 100_010) == (HEADER + rows(0, 60_000))[99_990:100_000]


def test_a_zstd_file_cut_short_while_open_ends_early_with_a_fault(log: Path) -> None:
    parts = [frame(HEADER), *(frame(os.urandom(2000).hex().encode() + b"\n") for _ in range(600))]
    path = write(log, *parts)
    source = open_source(path)
    chunks = source.chunks()
    text = next(chunks).data
    os.truncate(path, sum(map(len, parts[:300])) + 7)
    text += b"".join(chunk.data for chunk in chunks)
    assert text.count(b"\n") == 300
    assert codes(source) == ["truncated"]
    os.truncate(path, 50)
    assert source.read(0, 10) in (HEADER[:10], b"")
    assert source.read(len(text) - 10, len(text)) == b""


def test_many_small_frames_are_one_text_and_readable_anywhere(log: Path) -> None:
    batches = [HEADER, *(rows(at * 3, 3) for at in range(2000))]
    text = b"".join(batches)
    source = open_source(write(log, *(frame(batch) for batch in batches)))
    assert text_of(source) == text
    assert source.faults == []
    assert source.consumed == source.file_size
    for start in range(0, len(text), 7919):
        assert source.read(start, start + 500) == text[start : start + 500]
    assert source.read(0, len(text)) == text


def test_a_row_may_be_split_over_frames(log: Path) -> None:
    row = rows(0, 1, width=500)
    pieces = [row[at : at + 90] for at in range(0, len(row), 90)]
    source = open_source(write(log, frame(HEADER), *map(frame, pieces)))
    chunks = list(source.chunks())
    assert b"".join(chunk.data for chunk in chunks) == HEADER + row
    assert all(chunk.joins for chunk in chunks)
    assert source.read(len(HEADER), len(HEADER) + len(row)) == row


def test_a_frame_that_fails_its_checksum_gives_no_text_and_its_byte_range(log: Path) -> None:
    good, bad, last = frame(rows(0, 3)), bytearray(frame(rows(3, 3))), frame(rows(6, 3))
    bad[-1] ^= 1
    head = frame(HEADER)
    source = open_source(write(log, head, good, bytes(bad), last))
    chunks = list(source.chunks())
    assert b"".join(chunk.data for chunk in chunks) == HEADER + rows(0, 3) + rows(6, 3)
    assert [chunk.joins for chunk in chunks] == [True, True, False]
    (fault,) = source.faults
    assert fault[:4] == ("bad-frame", len(HEADER + rows(0, 3)), len(head + good), len(bad))
    assert source.read(len(HEADER), len(HEADER) + 10_000) == rows(0, 3) + rows(6, 3)


def test_a_block_length_that_swallows_the_next_frames_costs_only_its_own_frame(log: Path) -> None:
    bad = bytearray(frame(rows(0, 3)))
    bad[6] ^= 0xF8
    source = open_source(write(log, frame(HEADER), bytes(bad), *(frame(rows(n, 1)) for n in range(3, 40))))
    assert text_of(source) == HEADER + rows(3, 37)
    (fault,) = source.faults
    assert fault[:4] == ("bad-frame", len(HEADER), len(frame(HEADER)), len(bad))


def test_bytes_between_frames_are_skipped_and_named(log: Path) -> None:
    head = frame(HEADER)
    source = open_source(write(log, head, b"not a frame at all", frame(rows(0, 2))))
    assert text_of(source) == HEADER + rows(0, 2)
    assert [fault[:4] for fault in source.faults] == [("bad-frame", len(HEADER), len(head), 18)]


def test_bytes_after_the_last_frame_do_not_hide_the_session(log: Path) -> None:
    body = frame(HEADER) + frame(rows(0, 2))
    source = open_source(write(log, body, b"\x00" * 64))
    assert text_of(source) == HEADER + rows(0, 2)
    assert [fault[:4] for fault in source.faults] == [
        ("trailing-bytes", len(HEADER + rows(0, 2)), len(body), 64)
    ]


def test_skippable_frames_are_named_and_join_what_is_around_them(log: Path) -> None:
    skippable = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    row = rows(0, 1)
    head = frame(HEADER)
    source = open_source(write(log, head, frame(row[:20]), skippable, skippable, frame(row[20:])))
    chunks = list(source.chunks())
    assert b"".join(chunk.data for chunk in chunks) == HEADER + row
    assert all(chunk.joins for chunk in chunks)
    assert [(fault.code, fault.frame_length) for fault in source.faults] == [
        ("skippable-frame", 2 * len(skippable))
    ]


@pytest.mark.parametrize(
    "first", [HEADER + rows(0, 1), HEADER[:-1], HEADER[:10], b""], ids=["more", "no-end", "part", "empty"]
)
def test_a_first_frame_that_is_not_the_header_line_is_named(log: Path, first: bytes) -> None:
    rest = (HEADER + rows(0, 3))[len(first) :]
    source = open_source(write(log, frame(first), frame(rest)))
    assert text_of(source) == HEADER + rows(0, 3)
    assert codes(source) == ["header-frame"]


def test_a_torn_last_frame_yields_the_blocks_it_has(log: Path) -> None:
    noise = b"".join(os.urandom(700).hex().encode() + b"\n" for _ in range(400))
    last = frame(noise)
    head = frame(HEADER)
    source = open_source(write(log, head, last[:-20]))
    text = text_of(source)
    assert len(text) > len(HEADER) + 128 * 1024
    assert (HEADER + noise).startswith(text)
    (fault,) = source.faults
    assert (fault.code, fault.frame_offset, fault.frame_length) == ("torn-tail", len(head), len(last) - 20)


def test_a_file_of_nothing_but_magic_numbers_ends_as_damage(log: Path) -> None:
    source = open_source(write(log, MAGIC * 50_000))
    assert text_of(source) == b""
    assert codes(source) == ["bad-frame"]


def test_broken_bytes_between_very_many_frames_cost_no_more_than_a_search_each(log: Path) -> None:
    tiny = frame(b"x\n", checksum=False)
    source = open_source(write(log, frame(HEADER), (tiny + b"broken") * 30_000, tiny))
    assert text_of(source) == HEADER + b"x\n" * 30_001
    assert set(codes(source)) == {"bad-frame"}
    assert len(source.faults) == 10_000


def test_a_small_frame_that_unpacks_to_very_much_comes_in_pieces(log: Path) -> None:
    block = (128 * 1024 << 3 | 2).to_bytes(3, "little") + b"x"
    last = (128 * 1024 << 3 | 3).to_bytes(3, "little") + b"x"
    bomb = MAGIC + b"\x00\x58" + block * 800 + last
    assert len(bomb) < 4000
    source = open_source(write(log, frame(HEADER), bomb))
    sizes = [len(chunk.data) for chunk in source.chunks()]
    assert max(sizes) <= 1024 * 1024
    assert sum(sizes) == len(HEADER) + 801 * 128 * 1024


def big_frame() -> tuple[bytes, bytes]:
    text = b"".join(b'{"seq":%d,"pad":"%s"}\n' % (n, b"%032x" % (n * 2654435761)) for n in range(250_000))
    return text, frame(text)


def test_a_frame_too_big_to_hold_is_streamed_and_read_from_a_spill(log: Path) -> None:
    text, packed = big_frame()
    source = open_source(write(log, frame(HEADER), packed, frame(rows(0, 1))))
    whole = HEADER + text + rows(0, 1)
    chunks = list(source.chunks())
    assert max(len(chunk.data) for chunk in chunks) <= 1024 * 1024
    assert b"".join(chunk.data for chunk in chunks) == whole
    for start in (0, 40, 5_000_000, len(text) - 10, len(whole) - 30):
        assert source.read(start, start + 1000) == whole[start : start + 1000]
    source.close()


def test_a_big_frame_is_read_without_a_spill_when_there_is_no_room_for_one(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*args: object, **kwargs: object) -> None:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(zstd_source.tempfile, "TemporaryFile", no_room)
    text, packed = big_frame()
    source = open_source(write(log, frame(HEADER), packed))
    assert len(text_of(source)) == len(HEADER) + len(text)
    assert source.read(5_000_000, 5_002_000) == (HEADER + text)[5_000_000:5_002_000]


def test_nothing_is_spilled_into_a_dsh_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "home" / "sessions" / "--root--" / "session-a"
    folder.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "home"))
    opened: list[object] = []
    monkeypatch.setattr(zstd_source.tempfile, "TemporaryFile", lambda **kwargs: opened.append(kwargs))
    text, packed = big_frame()
    source = open_source(write(folder / "session.v4.jsonl.zstd", frame(HEADER), packed))
    assert len(text_of(source)) == len(HEADER) + len(text)
    assert source.read(9_000_000, 9_000_100) == (HEADER + text)[9_000_000:9_000_100]
    assert opened == []


def test_an_error_late_in_a_big_frame_keeps_the_text_before_it(log: Path) -> None:
    _, packed = big_frame()
    bad = packed[:-1] + bytes([packed[-1] ^ 1])
    source = open_source(write(log, frame(HEADER), bad, frame(rows(0, 1))))
    got = text_of(source)
    assert got.endswith(rows(0, 1))
    assert len(got) > 8 * 1024 * 1024
    assert codes(source) == ["bad-frame"]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "zstd"])
def test_a_line_of_ten_megabytes_is_read_whole(tmp_path: Path, packed: bool) -> None:
    row = b'{"pad":"' + os.urandom(1000).hex().encode() * 5000 + b'"}\n'
    parts = [HEADER, rows(0, 1), row, rows(1, 1)]
    name = "session.v4.jsonl" + (".zstd" if packed else "")
    source = open_source(write(tmp_path / name, *((frame(part) for part in parts) if packed else parts)))
    assert text_of(source) == b"".join(parts)
    start = len(HEADER) + len(rows(0, 1))
    assert source.read(start, start + len(row)) == row


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "zstd"])
@pytest.mark.parametrize("want", [1, 500, 20_000, 200_000])
def test_a_tail_begins_at_a_row_and_holds_about_what_was_wanted(
    tmp_path: Path, packed: bool, want: int
) -> None:
    batches = [
        b'{"seq":%d,"noise":"%s"}\n' % (n, os.urandom(150).hex().encode()) * (1 + n % 3) for n in range(3000)
    ]
    text = HEADER + b"".join(batches)
    name = "session.v4.jsonl" + (".zstd" if packed else "")
    parts = [HEADER, *batches]
    whole = open_source(write(tmp_path / name, *((frame(part) for part in parts) if packed else parts)))
    tail = whole.tail(want)
    assert tail is not None
    chunks = list(tail.chunks())
    got = b"".join(chunk.data for chunk in chunks)
    assert chunks[0].start == 0
    assert text.endswith(got)
    assert text[: -len(got)].endswith(b"\n")
    assert want // 2 - 2000 <= len(got) <= want + 2000
    assert tail.read(3, 90) == got[3:90]
    whole.close()
    assert tail.read(0, 10) == got[:10]
    tail.close()


def test_the_tail_of_a_short_file_is_none(tmp_path: Path, log: Path) -> None:
    assert open_source(write(tmp_path / "session.v4.jsonl", HEADER, rows(0, 3))).tail(10_000) is None
    assert open_source(write(log, frame(HEADER), frame(rows(0, 3)))).tail(10_000) is None


def test_the_tail_of_a_log_with_a_torn_last_frame_ends_like_the_log(log: Path) -> None:
    batches = [os.urandom(300).hex().encode() + b"\n" for _ in range(1000)]
    parts = [frame(batch) for batch in batches]
    source = open_source(write(log, frame(HEADER), *parts[:-1], parts[-1][:-30]))
    tail = source.tail(3000)
    assert tail is not None
    assert (HEADER + b"".join(batches[:-1])).endswith(text_of(tail))
    assert codes(tail) == ["torn-tail"]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("bad-middle", [("bad-frame", 1082, 753)]),
        ("trailing-garbage", [("trailing-bytes", 4052, 64)]),
        ("zstd-cut", [("torn-tail", 3954, 90)]),
        ("plain-cut", []),
    ],
)
def test_reported_damage_is_found_at_its_place(
    shared: Path, case: str, expected: list[tuple[str, int, int]]
) -> None:
    (path,) = (shared / "bugs" / "cases" / "B08-torn-tail" / "home" / case).rglob("session.v4.jsonl*")
    source = open_source(path)
    text = text_of(source)
    assert text.startswith(b'{"type": "session"') or text.startswith(b'{"type":"session"')
    assert text.count(b"\n") > 10
    assert [(fault.code, fault.frame_offset, fault.frame_length) for fault in source.faults] == expected


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("zstd-cut-at-frame-boundary", []),
        ("zstd-cut-in-header-frame", [("torn-tail", 0)]),
        ("zstd-flip-in-last-frame", [("bad-frame", 11163)]),
        ("zstd-flip-in-middle-frame", [("bad-frame", 9044)]),
        ("zstd-one-big-frame", [("header-frame", 0)]),
        ("zstd-unknown-ignorable", []),
    ],
)
def test_dsh_and_we_find_the_same_frame_broken(
    shared: Path, case: str, expected: list[tuple[str, int]]
) -> None:
    (path,) = (shared / "recordings" / "torn" / case / "sessions").rglob("session.v4.jsonl.zstd")
    source = open_source(path)
    text_of(source)
    assert [(fault.code, fault.frame_offset) for fault in source.faults] == expected


def test_a_frame_that_is_still_being_written_is_complete_when_read_again(
    shared: Path, tmp_path: Path
) -> None:
    grow = shared / "bugs" / "cases" / "B08-torn-tail" / "grow"
    path = write(tmp_path / "session.v4.jsonl.zstd", (grow / "part-1.bin").read_bytes())
    before = open_source(path)
    text = text_of(before)
    assert codes(before) == ["torn-tail"]
    with path.open("ab") as file:
        file.write((grow / "part-2.bin").read_bytes())
    after = open_source(path)
    whole = text_of(after)
    assert codes(after) == []
    assert whole.startswith(text) and len(whole) > len(text)
    assert whole.endswith(b"\n")


@pytest.mark.parametrize("name", ["session.v4.jsonl", "zstd/session.v4.jsonl.zstd"])
def test_a_source_that_is_let_go_of_gives_its_file_back(name: str) -> None:
    recording = Path(__file__).parent.parent / "recordings" / "plain-chat" / name
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else -1
    if before < 0:
        pytest.skip("this system does not list the files of a process")
    for _ in range(20):
        source = open_source(recording)
        next(source.chunks())
        del source
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before + 1
