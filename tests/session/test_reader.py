"""Reading a log in one pass: what is damaged is a row at its place, everything else is read."""

import json
from pathlib import Path

import pytest

from tests.support.log_builder import log
from tui.session.events import DAMAGE_TYPE
from tui.session.log import SessionLog
from tui.session.reader import read_log

GOOD = b'{"type":"plan/mode","seq":%d,"time":5,"data":{"active":true}}'


def _read(folder: Path, *lines: bytes, tail: bytes = b"") -> SessionLog:
    path = log().write(folder)
    path.write_bytes(path.read_bytes() + b"".join(line + b"\n" for line in lines) + tail)
    return read_log(path)


def _types(opened: SessionLog) -> list[str]:
    return [event.type for event in opened.events()]


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"{",
        b"[1]",
        b'{"seq":1}',
        b"\xff\xfe",
        b'{"type":"plan/mode","seq":1,"time":NaN,"data":{}}',
        b"null",
    ],
)
def test_a_bad_line_is_a_row_and_the_next_one_is_read(tmp_path: Path, bad: bytes) -> None:
    for following in (1, 2):
        opened = _read(tmp_path, GOOD % 0, bad, GOOD % following)
        assert _types(opened) == ["plan/mode", DAMAGE_TYPE, "plan/mode"]
        assert [(d.code, d.line) for d in opened.damage] == [("bad-row", 3)]
        assert opened.raw(1) == bad


def test_a_hole_after_a_bad_line_is_more_than_the_line_explains(tmp_path: Path) -> None:
    opened = _read(tmp_path, GOOD % 0, b"{", GOOD % 5)
    assert [d.code for d in opened.damage] == ["bad-row", "seq-hole"]


@pytest.mark.parametrize(
    ("seqs", "code", "expected", "found"),
    [((0, 1, 4), "seq-hole", 2, 4), ((0, 1, 1), "seq-repeat", 2, 1), ((0, 1, 2, 1), "seq-rewind", 3, 1)],
)
def test_numbers_out_of_order_name_the_line_and_both_numbers(
    tmp_path: Path, seqs: tuple[int, ...], code: str, expected: int, found: int
) -> None:
    (damage,) = _read(tmp_path, *(GOOD % seq for seq in seqs)).damage
    assert (damage.code, damage.line) == (code, len(seqs) + 1)
    assert (damage.fields["expected"], damage.fields["found"]) == (expected, found)


def test_a_last_line_without_its_end_is_torn_even_if_it_is_whole(tmp_path: Path) -> None:
    # Spec §2.5: dsh drops that line.
    opened = _read(tmp_path, GOOD % 0, tail=GOOD % 1)
    assert [d.code for d in opened.damage] == ["torn-tail"]
    assert opened.raw(1) == GOOD % 1


def test_numbers_beyond_64_bits_are_shown_and_stop_nothing(tmp_path: Path) -> None:
    huge = b'{"type":"plan/mode","seq":1,"time":99999999999999999999999,"data":{"active":true}}'
    opened = _read(tmp_path, GOOD % 0, huge, (GOOD % 2).replace(b":2,", b":18446744073709551616,"), GOOD % 3)
    assert [d.code for d in opened.damage] == ["bad-event", "bad-row"]
    assert opened.time(1) == 0
    assert _types(opened)[-1] == "plan/mode"


def test_a_payload_of_a_hundred_thousand_levels_is_one_row(tmp_path: Path) -> None:
    deep = b'{"type":"todo/write","seq":0,"time":5,"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    opened = _read(tmp_path, deep, GOOD % 1)
    assert _types(opened) == ["todo/write", "plan/mode"]


def test_a_line_of_ten_megabytes_is_one_row(tmp_path: Path) -> None:
    built = log().turn().user("x" * 10_000_000).end()
    opened = read_log(built.write(tmp_path))
    assert opened.damage == []
    assert len(opened.event(3).data["content"][0]["text"]) == 10_000_000


def test_a_fault_of_the_header_is_a_row_before_all_others(tmp_path: Path) -> None:
    opened = read_log(log(colour="green").turn().end().write(tmp_path))
    assert [(d.code, d.line) for d in opened.damage] == [("bad-header", 1)]
    assert opened.event(0).type == DAMAGE_TYPE
    assert opened.damage_at(0) == opened.damage[0]
    assert (opened.seq(1), opened.event(1).type) == (0, "turn/start")


def test_an_event_with_a_fault_is_read_and_has_it(tmp_path: Path) -> None:
    opened = _read(tmp_path, (GOOD % 0).replace(b"}}", b'},"colour":1}'))
    assert opened.event(0).type == "plan/mode"
    found = opened.damage_at(0)
    assert found is not None
    assert found.code == "bad-event"


def test_the_torn_recordings_name_what_dsh_refuses_or_drops(shared: Path) -> None:
    """Each verdict is dsh's own; what it read without loss has no damage here, what it did not has."""
    harmless = {
        "plain-flip-in-text",
        "plain-flip-invalid-utf8",
        "plain-unknown-field-in-known-event",
        "plain-unknown-ignorable",
        "plain-unknown-ignorable-plugin-name",
        "zstd-unknown-ignorable",
        "zstd-cut-at-frame-boundary",
    }
    without_header = {"plain-cut-inside-header", "plain-empty-file", "plain-header-version-5"}
    checked = 0
    for folder in sorted((shared / "recordings" / "torn").iterdir()):
        if folder.name in without_header or folder.name == "zstd-cut-in-header-frame":
            continue
        verdict = json.loads((folder / "verdict.json").read_text())
        (path,) = (p for p in folder.glob("sessions/*/*/*") if p.name.startswith("session.v"))
        opened = read_log(path)
        assert (opened.damage == []) == (folder.name in harmless), folder.name
        if str(verdict["resume"]).startswith("refused"):
            assert opened.damage, folder.name
        shown = {damage.line for damage in opened.damage}
        rows = [row for row in range(len(opened)) if opened.event(row).type == DAMAGE_TYPE]
        assert len(rows) >= len(shown) or folder.name == "plain-unknown", folder.name
        checked += 1
    assert checked >= 14


@pytest.mark.parametrize(
    ("name", "code", "fields"),
    [
        ("closers-then-live", "seq-rewind", {"expected": 26, "found": 23}),
        ("replayed", "seq-rewind", {"expected": 23, "found": 15}),
        ("hole", "seq-hole", {"expected": 11, "found": 14}),
    ],
)
def test_logs_of_two_writers_and_of_replays_keep_all_events(
    shared: Path, name: str, code: str, fields: dict[str, int]
) -> None:
    home = shared / "bugs" / "cases" / "B07-seq-trouble" / "home" / name
    (path,) = home.glob("sessions/*/*/session.v4.jsonl")
    opened = read_log(path)
    (damage,) = opened.damage
    assert damage.code == code
    assert fields.items() <= damage.fields.items()
    lines = path.read_bytes().splitlines()
    assert json.loads(lines[damage.line - 1])["seq"] == fields["found"]
    seqs = [json.loads(line)["seq"] for line in lines[1:]]
    assert [event.seq for event in opened.events() if event.type != DAMAGE_TYPE] == seqs
    for seq in {seq for seq in seqs if seqs.count(seq) > 1}:
        assert len(opened.rows_of_seq(seq)) == seqs.count(seq)
