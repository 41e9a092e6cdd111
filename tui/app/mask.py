"""Choosing items of a column by their codes, a byte per item: 1 where it is wanted, 0 where not.

A million items take some milliseconds, because every step is one call over the whole column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import TypeAlias

Mask: TypeAlias = bytes | bytearray


def table(wanted: Iterable[int]) -> bytes:
    """A translation table that turns the wanted codes into 1 and all others into 0."""
    made = bytearray(256)
    for code in wanted:
        made[code] = 1
    return bytes(made)


def flag_table(flag: int) -> bytes:
    """A translation table that turns codes with a bit into 1 and all others into 0."""
    return bytes(1 if code & flag else 0 for code in range(256))


def either(first: Mask, second: Mask) -> bytes:
    """Items wanted by one of two masks of the same length."""
    joined = int.from_bytes(first, "little") | int.from_bytes(second, "little")
    return joined.to_bytes(len(first), "little")


def both(first: Mask, second: Mask) -> bytes:
    """Items wanted by both of two masks of the same length."""
    joined = int.from_bytes(first, "little") & int.from_bytes(second, "little")
    return joined.to_bytes(len(first), "little")


def chosen(mask: bytes, start: int) -> Iterator[int]:
    """The positions that a mask wants, counted from `start`."""
    return compress(range(start, start + len(mask)), mask)
