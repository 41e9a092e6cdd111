"""Columns give back what was put in, whatever it was."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.session.columns import LaterColumn, PackedColumn, RunColumn, SmallColumn, SparseColumn

WORDS = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.one_of(st.integers(0, 300), st.integers(-(2**70), 2**70))
ROWS = st.one_of(st.integers(-1, 400), st.integers(0, 2**31 - 1))


def _same(column: Sequence[int], expected: list[int]) -> None:
    assert list(column) == expected
    assert len(column) == len(expected)
    assert column[1:-1] == expected[1:-1]
    assert column[:] == expected
    assert [column[at] for at in range(-len(expected), 0)] == expected
    for outside in (len(expected), -len(expected) - 1):
        with pytest.raises(IndexError):
            column[outside]


@given(st.lists(st.one_of(WORDS, st.just(2**63 - 1), st.just(-(2**63)), st.integers(0, 3)), max_size=300))
def test_a_packed_column_gives_back_numbers_however_far_apart(values: list[int]) -> None:
    column = PackedColumn(values)
    _same(column, values)
    column.settle()
    _same(column, values)


@given(st.lists(st.lists(st.integers(-5, 70_000), max_size=150), max_size=6), st.integers(0, 2**40))
def test_a_packed_column_goes_on_after_it_was_packed(parts: list[list[int]], base: int) -> None:
    column, expected = PackedColumn(), list[int]()
    for part in parts:
        numbers = [base + value for value in part]
        column.extend(numbers)
        expected += numbers
        column.settle()
        column.append(base)
        expected.append(base)
    _same(column, expected)


@given(st.lists(NUMBERS), st.lists(st.tuples(st.integers(0, 40), NUMBERS)))
def test_a_small_column_gives_back_small_and_other_numbers(
    values: list[int], changes: list[tuple[int, int]]
) -> None:
    column = SmallColumn(values)
    for at, value in changes:
        if at < len(values):
            column[at] = values[at] = value
    _same(column, values)
    while values:
        values.pop()
        column.drop_last()
        assert list(column) == values
    column.append(7)
    assert list(column) == [7]


@given(st.lists(st.tuples(st.integers(0, 2**31), ROWS)), st.lists(st.tuples(st.integers(0, 40), ROWS)))
def test_a_column_of_later_rows_gives_back_rows_before_at_and_after_each_row(
    entries: list[tuple[int, int]], changes: list[tuple[int, int]]
) -> None:
    rows, expected = list[int](), list[int]()
    column = LaterColumn(rows)
    for row, other in entries:
        rows.append(row)
        column.append(other)
        expected.append(other)
    for at, other in changes:
        if at < len(rows):
            column[at] = expected[at] = other
    _same(column, expected)


@pytest.mark.parametrize("distance", [-300, -255, -2, -1, 0, 1, 252, 253, 254, 255, 256])
def test_a_column_of_later_rows_knows_every_distance(distance: int) -> None:
    column = LaterColumn([1000])
    column.append(1000 + distance)
    assert list(column) == [1000 + distance]


@given(st.lists(st.tuples(st.integers(-2, 2), st.sampled_from(["add", "add", "add", "drop", "correct"]))))
def test_a_column_of_runs_gives_back_each_entry(steps: list[tuple[int, str]]) -> None:
    beside, expected = bytearray(), list[int]()
    column = RunColumn(beside, -1)
    for value, step in steps:
        if step == "add":
            if value != column.newest:
                column.change(value)
            beside.append(0)
            expected.append(value)
        elif expected and step == "drop":
            del beside[-1], expected[-1]
            column.drop_last()
        elif expected:
            column.correct_last(value)
            expected[-1] = value
    _same(column, expected)
    for start in range(len(expected) + 1):
        assert [value for count, value in column.runs(start) for _ in range(count)] == expected[start:]


@given(st.integers(0, 60), st.lists(st.tuples(st.integers(0, 59), st.integers(-3, 2**31 - 1))))
def test_a_sparse_column_gives_back_what_was_set_and_nothing_elsewhere(
    count: int, changes: list[tuple[int, int]]
) -> None:
    expected = [-1] * count
    column = SparseColumn(bytes(count), -1)
    for at, value in changes:
        if at < count:
            column[at] = expected[at] = value
    _same(column, expected)
    assert dict(column.items()) == {at: value for at, value in enumerate(expected) if value != -1}


@given(
    st.lists(st.tuples(st.integers(0, 5), st.one_of(st.integers(0, 3), st.just(-1), st.integers(-300, 700)))),
    st.integers(0, 30),
    st.integers(0, 60),
)
def test_an_entry_is_found_by_its_row(steps: list[tuple[int, int]], start: int, row: int) -> None:
    """As a plain search from the end would find it."""
    rows, others = [1000], [-1]
    later, sparse = LaterColumn(rows), SparseColumn(rows, -1)
    later.append(-1)
    for forward, distance in steps:
        rows.append(rows[-1] + forward)
        others.append(rows[-1] + distance if distance >= 0 else -1)
        later.append(others[-1])
        sparse[len(rows) - 1] = others[-1]
    stop = len(rows)
    start = min(start, stop)
    for wanted in {1000 + row, *others} - {-1}:
        expected = next((at for at in range(stop - 1, start - 1, -1) if others[at] == wanted), -1)
        assert later.last_with(wanted, start, stop) == expected
        assert sparse.last_with(wanted, start, stop) == expected


def test_near_numbers_take_little_room_and_far_ones_no_more_than_they_need() -> None:
    times = PackedColumn(range(1_790_000_000_000, 1_790_000_000_000 + 64_000 * 100, 100))
    times.settle()
    assert times.nbytes < 64_000 * 2.5
    far = PackedColumn([0, 2**62] * 32_000)
    far.settle()
    assert far.nbytes < 64_000 * 8.5
