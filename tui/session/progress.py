"""Telling how far a long reading is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias, TypeVar

Told: TypeAlias = Callable[[float], None]
"""Takes the share that is done, 0 to 1; may raise to give up."""
_Item = TypeVar("_Item")
_EVERY: Final = 1024
"""Items between two words."""


def part(told: Told | None, start: float, end: float) -> Told | None:
    """Return what takes the shares of a part of the whole."""
    if told is None:
        return None
    return lambda share: told(start + share * (end - start))


def counted(items: Sequence[_Item], told: Told | None) -> Iterator[_Item]:
    """Yield the items, and tell how many of them are done."""
    if told is None:
        yield from items
        return
    total = len(items)
    for at, item in enumerate(items):
        if not at % _EVERY:
            told(at / total)
        yield item
