"""Columns of whole numbers that take little memory: one entry a row of a log, and a log may have millions.

Each type has one kind of number in mind and takes every other one too, only less tightly.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Sized
from struct import Struct
from sys import byteorder
from typing import Final, overload

_BLOCK: Final = 64
_WORDS: Final = Struct(f"<{_BLOCK}Q")
_ONES: Final = int.from_bytes(_WORDS.pack(*[1] * _BLOCK), "little")
"""A long number with a 1 in each of 64 words."""
_ABOVE: Final = tuple(_ONES * ((1 << 64) - (1 << 8 * width)) for width in range(8))
"""By number of bytes: all bits of the 64 words which do not fit in so many."""
_ELSEWHERE: Final = 255


class _Column(Sequence[int]):
    """What all columns share: slices are lists."""

    __slots__ = ()

    @abstractmethod
    def at(self, index: int) -> int:
        """The number at a position that is not negative; IndexError behind the last one."""

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return list(map(self.at, range(*index.indices(len(self)))))
        if index < 0:
            index += len(self)
            if index < 0:
                raise IndexError("there is no such row")
        return self.at(index)


class PackedColumn(_Column):
    """Numbers of 64 bits, near to their neighbours, that are appended and then only read.

    New numbers stand in an array; `settle` packs them in blocks of 64: the least number of the block, and of
    each number what it has more, in as few bytes as the greatest of these needs. Of a block of width 2 the
    low bytes of all 64 come first, then the high ones.
    """

    __slots__ = ("_bases", "_fresh", "_packed", "_starts", "append", "extend")

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._fresh = array("q", values)
        self._bases = array("q")
        self._starts = array("Q", (0,))
        """Where the bytes of each block begin, and behind the last one where the next will."""
        self._packed = bytearray()
        self.append = self._fresh.append
        self.extend = self._fresh.fromlist

    def __len__(self) -> int:
        return len(self._bases) * _BLOCK + len(self._fresh)

    @property
    def nbytes(self) -> int:
        """Bytes held, without what a growing array has in reserve."""
        return len(self._packed) + 16 * len(self._bases) + 8 * len(self._fresh)

    def at(self, index: int) -> int:
        block, bases, starts = index // _BLOCK, self._bases, self._starts
        if block >= len(bases):
            return self._fresh[index - len(bases) * _BLOCK]
        more = self._packed[starts[block] + index % _BLOCK : starts[block + 1] : _BLOCK]
        return bases[block] + int.from_bytes(more, "little")

    def settle(self) -> None:
        """Pack all whole blocks."""
        fresh, packed = self._fresh, self._packed
        whole = len(fresh) - len(fresh) % _BLOCK
        for start in range(0, whole, _BLOCK):
            base, width, words = _block(fresh[start : start + _BLOCK])
            for byte in range(width):
                packed += words[byte::8]
            self._bases.append(base)
            self._starts.append(len(packed))
        del fresh[:whole]


def _block(numbers: array[int]) -> tuple[int, int, bytes]:
    """What to take off from 64 numbers, how many bytes the greatest rest needs, the rests as 64-bit words."""
    base = numbers[0]
    if base >= 0 and byteorder == "little":
        # All 64 at once, as one long number. One below the first leaves bits in the high bytes of its word.
        rests = int.from_bytes(numbers.tobytes(), "little") - base * _ONES
        for width, above in enumerate(_ABOVE):
            if not rests & above:
                return base, width, rests.to_bytes(_BLOCK * 8, "little")
    base = min(numbers)
    width = ((max(numbers) - base).bit_length() + 7) // 8
    return base, width, _WORDS.pack(*[number - base for number in numbers])


class SmallColumn(_Column):
    """Numbers that are hardly ever below 0 or above 254: a byte each, the others in a table beside."""

    __slots__ = ("_bytes", "_others", "put")

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._bytes = bytearray()
        self._others: dict[int, int] = {}
        self.put = self._bytes.append
        """Append a number of which it is known that it is from 0 to 254."""
        for value in values:
            self.append(value)

    def __len__(self) -> int:
        return len(self._bytes)

    def at(self, index: int) -> int:
        value = self._bytes[index]
        return value if value != _ELSEWHERE else self._others[index]

    def append(self, value: int) -> None:
        if not 0 <= value < _ELSEWHERE:
            self._others[len(self._bytes)] = value
            value = _ELSEWHERE
        self._bytes.append(value)

    def __setitem__(self, index: int, value: int) -> None:
        """Change a number; its position is not negative."""
        if 0 <= value < _ELSEWHERE:
            self._bytes[index] = value
            if self._others:
                self._others.pop(index, None)
        else:
            self._bytes[index] = _ELSEWHERE
            self._others[index] = value

    def drop_last(self) -> None:
        """Take the last number back."""
        del self._bytes[-1]
        self._others.pop(len(self._bytes), None)


class LaterColumn(SmallColumn):
    """For each entry of a column of rows another row, mostly one soon after it, or -1 for none.

    Held is the step to it: 0 for none, 1 for the entry's own row and so on; negative for a row before it.
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__()
        self._rows = rows

    def at(self, index: int) -> int:
        step = super().at(index)
        if not step:
            return -1
        return self._rows[index] + (step - 1 if step > 0 else step)

    def append(self, value: int) -> None:
        """Append a row, -1 for none; the entry's own row is entered already."""
        super().append(self._step(len(self._bytes), value))

    def __setitem__(self, index: int, value: int) -> None:
        """Change a row; its position is not negative."""
        step = value - self._rows[index] + 1
        if 0 < step < _ELSEWHERE and not self._others:
            # The ordinary case, without the calls that the others need.
            self._bytes[index] = step
        else:
            super().__setitem__(index, self._step(index, value))

    def last_with(self, row: int, start: int, stop: int) -> int:
        """The last entry of a stretch that has this row, -1 if there is none; its rows are to ascend."""
        near = bisect_left(self._rows, row - _ELSEWHERE, start, stop)
        for index in range(stop - 1, near - 1, -1):
            if self.at(index) == row:
                return index
        others = self._others
        far = (
            range(start, near) if len(others) > near - start else [at for at in others if start <= at < near]
        )
        return max((index for index in far if self.at(index) == row), default=-1)

    def _step(self, index: int, row: int) -> int:
        if row < 0:
            return 0
        distance = row - self._rows[index]
        return distance + 1 if distance >= 0 else distance


class RunColumn(_Column):
    """Numbers of 32 bits that stay the same for many entries; it has as many as the column beside it."""

    __slots__ = ("_beside", "_starts", "_values", "newest")

    def __init__(self, beside: Sized, first: int) -> None:
        self._beside = beside
        self._starts = array("I", (0,))
        self._values = array("i", (first,))
        self.newest = first
        """The number of entries to come, until it changes."""

    def __len__(self) -> int:
        return len(self._beside)

    def at(self, index: int) -> int:
        if index >= len(self._beside):
            raise IndexError("there is no such row")
        return self._values[bisect_right(self._starts, index) - 1]

    def runs(self, start: int) -> Iterator[tuple[int, int]]:
        """The entries from a position on, by runs: how many entries, and their number."""
        count = len(self)
        run = max(bisect_right(self._starts, start) - 1, 0)
        for after in range(run + 1, len(self._starts) + 1):
            end = min(self._starts[after], count) if after < len(self._starts) else count
            if end > start:
                yield end - start, self._values[after - 1]
                start = end

    def change(self, value: int) -> None:
        """From the next entry on the number is another one."""
        self._begin(len(self._beside), value)

    def correct_last(self, value: int) -> None:
        """Change the number of the last entry, and of those to come."""
        self._begin(len(self._beside) - 1, value)

    def drop_last(self) -> None:
        """Take the last number back, when the entry beside has been taken back."""
        while len(self._starts) > 1 and self._starts[-1] >= len(self._beside):
            del self._starts[-1], self._values[-1]
        self.newest = self._values[-1]

    def _begin(self, start: int, value: int) -> None:
        while self._starts and self._starts[-1] >= start:
            del self._starts[-1], self._values[-1]
        self._starts.append(start)
        self._values.append(value)
        self.newest = value


class SparseColumn(_Column):
    """Numbers of 32 bits that few entries have; it has as many entries as the column beside it."""

    __slots__ = ("_absent", "_beside", "_places", "_values")

    def __init__(self, beside: Sized, absent: int) -> None:
        self._beside = beside
        self._absent = absent
        self._places = array("I")
        self._values = array("i")

    def __len__(self) -> int:
        return len(self._beside)

    def at(self, index: int) -> int:
        if index >= len(self._beside):
            raise IndexError("there is no such row")
        found = bisect_left(self._places, index)
        there = found < len(self._places) and self._places[found] == index
        return self._values[found] if there else self._absent

    def __setitem__(self, index: int, value: int) -> None:
        """Give an entry a number, which is quick for one near the end; its position is not negative."""
        places, values = self._places, self._values
        found = bisect_left(places, index) if places and places[-1] >= index else len(places)
        if found < len(places) and places[found] == index:
            del places[found], values[found]
        if value != self._absent:
            places.insert(found, index)
            values.insert(found, value)

    def set_last(self, value: int) -> None:
        """Give the last entry a number; it has none yet."""
        self._places.append(len(self._beside) - 1)
        self._values.append(value)

    def last_with(self, value: int, start: int, stop: int) -> int:
        """The last entry of a stretch that has this number, -1 if there is none."""
        low, high = bisect_left(self._places, start), bisect_left(self._places, stop)
        for found in range(high - 1, low - 1, -1):
            if self._values[found] == value:
                return self._places[found]
        return -1

    def items(self) -> Iterator[tuple[int, int]]:
        """The entries that have a number: position and number, in order."""
        return zip(self._places, self._values, strict=True)
