"""The index of a log: rows by number, rows decoded when looked at."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.support.log_builder import log
from tui.session.events import DAMAGE_TYPE
from tui.session.log import RowIndex, SessionLog
from tui.session.reader import read_log


def _numbered(folder: Path, *seqs: int) -> SessionLog:
    built = log()
    for seq in seqs:
        built.event("plan/mode", {"active": True}, seq=seq)
    return read_log(built.write(folder))


def test_a_healthy_log_finds_each_number_at_its_row(tmp_path: Path) -> None:
    opened = _numbered(tmp_path, 0, 1, 2)
    assert [opened.rows_of_seq(seq) for seq in (0, 2, 3, -1)] == [[0], [2], [], []]
    assert not any(opened.is_repeat(row) for row in range(3))


def test_a_number_that_stands_twice_gives_both_rows_and_the_later_one_is_a_repeat(tmp_path: Path) -> None:
    opened = _numbered(tmp_path, 0, 1, 2, 3, 1, 2)
    # Row 4 is the fault between the two writers.
    assert opened.rows_of_seq(1) == [1, 5]
    assert opened.rows_of_seq(2) == [2, 6]
    assert [opened.is_repeat(row) for row in range(7)] == [False] * 5 + [True, True]
    assert opened.event(5).seq == 1


def test_a_number_that_stands_twice_in_a_row_is_a_repeat(tmp_path: Path) -> None:
    opened = _numbered(tmp_path, 0, 1, 1)
    assert [damage.code for damage in opened.damage] == ["seq-repeat"]
    assert opened.rows_of_seq(1) == [1, 3]
    assert opened.is_repeat(3)


def test_a_missing_number_leads_to_the_row_before_its_place(tmp_path: Path) -> None:
    opened = _numbered(tmp_path, 0, 1, 7, 8)
    assert opened.rows_of_seq(4) == []
    assert opened.seq(opened.nearest_row(7)) == 7
    assert opened.nearest_row(4) in (1, 2)
    assert opened.nearest_row(99) == len(opened) - 1


def test_numbers_that_run_back_all_the_time_are_found_too(tmp_path: Path) -> None:
    seqs = [n for back in range(100) for n in (back + 1, back)]
    opened = _numbered(tmp_path, *seqs)
    for seq in range(101):
        rows = opened.rows_of_seq(seq)
        assert len(rows) == seqs.count(seq)
        assert all(opened.seq(row) == seq for row in rows)


def test_a_fault_has_no_number(tmp_path: Path) -> None:
    opened = _numbered(tmp_path, 0, 5)
    assert opened.seq(1) == -1
    assert opened.rows_of_seq(-1) == []


def test_a_file_that_shrank_since_gives_a_row_that_cannot_be_read(tmp_path: Path) -> None:
    path = log().turn().user("hello").end().write(tmp_path)
    opened = read_log(path)
    path.write_bytes(path.read_bytes()[:200])
    event = opened.event(len(opened) - 1)
    assert event.type == DAMAGE_TYPE
    assert event.data is None


def test_a_file_that_was_written_anew_since_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    path = log().turn().user("hello").end().write(tmp_path)
    opened = read_log(path)
    size = path.stat().st_size
    path.write_bytes(b'{"type":"plan/mode","seq":0}'.ljust(size, b" "))
    assert opened.event(2).type == DAMAGE_TYPE


@given(st.lists(st.tuples(st.sampled_from([0, 0, 0, -3, 5, 2**33]), st.integers(0, 70_000)), max_size=200))
def test_each_row_has_its_own_length_wherever_lines_lie(rows: list[tuple[int, int]]) -> None:
    index, offset = RowIndex(), 150
    expected: list[tuple[int, int]] = []
    for number, (gap, length) in enumerate(rows):
        offset = max(0, offset + gap)
        expected.append((offset, length))
        if number % 3:
            index.append(0, number, number, offset, length)
        else:
            index.extend([0], [number], offset, [length])
        offset += length + 1
        if number % 70 == 0:
            index.settle()
    assert [(index.offsets[row], index.length(row)) for row in range(len(index))] == expected
    assert list(index.times) == list(range(len(rows)))
