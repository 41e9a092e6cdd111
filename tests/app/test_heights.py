"""HeightIndex against a plain list."""

from array import array
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.app.heights import CHUNK, HeightIndex

heights = st.lists(st.integers(0, 7), max_size=60)
# Lists longer than two chunks are made by repeating a short pattern, so that examples stay small.
long_heights = st.tuples(st.lists(st.integers(0, 7), min_size=1, max_size=9), st.integers(1, 200)).map(
    lambda pair: (pair[0] * pair[1])[: CHUNK * 3 + 5]
)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.integers(0, 10_000), st.integers(0, 300)),
        st.tuples(st.just("append"), st.integers(0, 300), st.just(0)),
    ),
    max_size=20,
)


def naive_block_at(values: list[int], line: int) -> tuple[int, int]:
    line = min(max(line, 0), sum(values) - 1)
    for index, end in enumerate(accumulate(values)):
        if end > line:
            return index, line - (end - values[index])
    raise AssertionError


def assert_equal(index: HeightIndex, values: list[int]) -> None:
    assert len(index) == len(values)
    assert index.total == sum(values)
    offsets = [0, *accumulate(values)]
    probes = {*range(0, len(values) + 1, max(1, len(values) // 17)), len(values)}
    for probe in probes:
        assert index.offset_of(probe) == offsets[probe]
    if not sum(values):
        with pytest.raises(IndexError):
            index.block_at(0)
        return
    for line in {-1, 0, sum(values) // 3, sum(values) // 2, sum(values) - 1, sum(values) + 4}:
        assert index.block_at(line) == naive_block_at(values, line)


@settings(max_examples=80, deadline=None)
@given(st.one_of(heights, long_heights), changes)
def test_offsets_and_blocks_equal_a_plain_list_after_any_changes(
    start: list[int], edits: list[tuple[str, int, int]]
) -> None:
    values = list(start)
    index = HeightIndex(values)
    for kind, first, second in edits:
        if kind == "append":
            values.append(first)
            index.append(first)
        elif values:
            position = first % len(values)
            assert index.set(position, second) == second - values[position]
            values[position] = second
            assert index.is_measured(position)
    assert_equal(index, values)


def test_appending_across_chunk_borders_keeps_the_sums() -> None:
    index, values = HeightIndex(), []
    for number in range(CHUNK * 5 + 3):
        index.append(number % 4)
        values.append(number % 4)
    assert_equal(index, values)
    index.set(CHUNK * 3, 50)
    values[CHUNK * 3] = 50
    assert_equal(index, values)


@settings(max_examples=60, deadline=None)
@given(st.one_of(heights, long_heights), st.integers(-2, 2000))
def test_the_nearest_visible_block_is_found_in_both_directions(values: list[int], start: int) -> None:
    index = HeightIndex(values)
    after = [i for i, h in enumerate(values) if h and i >= start]
    before = [i for i, h in enumerate(values) if h and i <= start]
    assert index.next_visible(start) == (after[0] if after else None)
    assert index.previous_visible(start) == (before[-1] if before else None)


def test_a_million_blocks_hold_at_most_eight_bytes_each() -> None:
    index = HeightIndex(array("I", [3]) * 1_000_000)
    assert index.nbytes <= 8 * 1_000_000
    assert index.total == 3_000_000
    assert index.block_at(1_500_001) == (500_000, 1)


def test_forgetting_keeps_the_heights_but_calls_them_estimates() -> None:
    index = HeightIndex([1, 2])
    index.set(1, 9)
    index.forget()
    assert index[1] == 9
    assert not index.is_measured(1)


def test_the_index_keeps_its_own_copy_of_the_estimates() -> None:
    estimates = array("I", [1, 1, 1])
    index = HeightIndex(estimates)
    estimates[0] = 40
    assert index.total == 3


@pytest.mark.parametrize("height", [255, 256, 65_535, 65_536, 2**32, 2**40])
def test_a_block_may_be_as_high_as_it_likes(height: int) -> None:
    index = HeightIndex.uniform(CHUNK + 3, 2)
    values = [2] * (CHUNK + 3)
    assert index.set(4, height) == height - 2
    index.append(height)
    values[4] = height
    values.append(height)
    assert_equal(index, values)
    assert index.set(4, 1) == 1 - height
    values[4] = 1
    assert_equal(index, values)
