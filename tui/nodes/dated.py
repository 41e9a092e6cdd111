"""Facts of a log by the row that states them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Generic, TypeVar

_Fact = TypeVar("_Fact")


class Dated(Generic[_Fact]):
    """Facts by the row that states them; the last one before a row is in force there."""

    __slots__ = ("facts", "rows")

    def __init__(self) -> None:
        self.rows = array("L")
        self.facts: list[_Fact] = []

    def add(self, row: int, fact: _Fact) -> None:
        """Add a fact; rows come in ascending order."""
        self.rows.append(row)
        self.facts.append(fact)

    def before(self, row: int) -> _Fact | None:
        """Return the fact in force at a row, which does not count itself."""
        at = bisect_left(self.rows, row)
        return self.facts[at - 1] if at else None

    def between(self, after: int, row: int) -> list[_Fact]:
        """Return the facts from a row to another one, which does not count itself."""
        return self.facts[bisect_left(self.rows, after) : bisect_left(self.rows, row)]
