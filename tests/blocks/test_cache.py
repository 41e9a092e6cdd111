"""The cache of laid out lines is bounded by lines and forgets what was unused longest."""

from __future__ import annotations

from tui.blocks.cache import LineCache
from tui.blocks.text import Line, line


def rows(count: int) -> list[Line]:
    return [line("row")] * count


def test_the_block_unused_longest_is_dropped_first() -> None:
    cache = LineCache(max_lines=10)
    cache.put("a", rows(4))
    cache.put("b", rows(4))
    cache.get("a")
    cache.put("c", rows(4))
    assert ("a" in cache, "b" in cache, "c" in cache) == (True, False, True)
    assert cache.lines == 8


def test_a_block_larger_than_the_bound_stays_while_it_is_the_last() -> None:
    cache = LineCache(max_lines=10)
    cache.put("a", rows(4))
    cache.put("big", rows(50))
    assert ("a" in cache, "big" in cache) == (False, True)
    cache.put("b", rows(1))
    assert ("big" in cache, cache.lines) == (False, 1)


def test_a_block_is_laid_out_once() -> None:
    cache = LineCache()
    calls: list[int] = []

    def lay_out() -> list[Line]:
        calls.append(1)
        return rows(2)

    assert cache.get_or_lay_out("a", lay_out) == cache.get_or_lay_out("a", lay_out) == rows(2)
    assert len(calls) == 1


def test_a_block_put_again_is_counted_once() -> None:
    cache = LineCache()
    cache.put("a", rows(5))
    cache.put("a", rows(2))
    assert (len(cache), cache.lines) == (1, 2)


def test_empty_blocks_are_bounded_too() -> None:
    cache = LineCache(max_lines=3)
    for key in range(10):
        cache.put(key, [])
    assert len(cache) == 3


def test_what_is_dropped_or_cleared_is_not_counted() -> None:
    cache = LineCache()
    cache.put("a", rows(5))
    cache.drop("a")
    cache.drop("never there")
    assert cache.lines == 0
    cache.put("b", rows(5))
    cache.clear()
    assert (cache.get("b"), cache.lines) == (None, 0)
