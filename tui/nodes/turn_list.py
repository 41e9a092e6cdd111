"""The turns of a session, packed: a session of a million events has some ten thousands of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence, Set
from typing import overload

import msgspec


class Turn(msgspec.Struct, gc=False, array_like=True):
    """One turn; rows are positions in the log, times Unix milliseconds."""

    number: int
    start_row: int
    start_ms: int
    end_row: int = -1
    end_ms: int = 0
    reason: str = ""
    """Kind of the turn's end; empty while it is open."""
    steps: int = 0
    calls: int = 0
    failed_calls: int = 0
    tool_changes: int = 0
    retries: int = 0
    input_tokens: int = 0
    """Uncached input tokens."""
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    implied: bool = False
    """Its start is not in the log (or not in the part that was read); `start_row` is its first known row."""

    @property
    def is_open(self) -> bool:
        return self.end_row < 0

    @property
    def duration_ms(self) -> int | None:
        """From the log's own times; None while open or where the clock ran back."""
        if self.end_row < 0 or self.implied:
            return None
        return self.end_ms - self.start_ms if self.end_ms >= self.start_ms > 0 else None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens

    @property
    def cache_share(self) -> float | None:
        """Share of the input that came from the provider's cache; None without input."""
        return cache_share(self.input_tokens, self.cache_read_tokens, self.cache_write_tokens)


def cache_share(uncached: int, read: int, written: int) -> float | None:
    """Cached part of all input tokens, 0 to 1; None without input."""
    whole = uncached + read + written
    return read / whole if whole > 0 else None


class TurnList(Sequence[Turn]):
    """Turns in order. Only the last one can be changed; the ones before it are made anew when asked for."""

    __slots__ = ("_encode", "_kept", "_last", "_numbers", "_packed", "_starts", "_unpacked")

    def __init__(self) -> None:
        self._packed = bytearray()
        self._starts = array("Q")
        """Where each turn before the last begins."""
        self._numbers = array("q")
        """Their numbers, 0 for one that is kept whole."""
        self._last: Turn | None = None
        self._kept: dict[int, Turn] = {}
        """Turns that cannot be packed: a number has more than 64 bits, a text half a character."""
        self._encode = msgspec.msgpack.Encoder().encode
        self._unpacked = msgspec.msgpack.Decoder(Turn).decode

    @property
    def last(self) -> Turn | None:
        """The last turn, None while there is none."""
        return self._last

    def __len__(self) -> int:
        return len(self._starts) + (self._last is not None)

    @overload
    def __getitem__(self, index: int) -> Turn: ...
    @overload
    def __getitem__(self, index: slice) -> list[Turn]: ...
    def __getitem__(self, index: int | slice) -> Turn | list[Turn]:
        count = len(self)
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(count))]
        if index < 0:
            index += count
        if self._last is None or not 0 <= index < count:
            raise IndexError("there is no such turn")
        if index == count - 1:
            return self._last
        if index in self._kept:
            return self._kept[index]
        end = self._starts[index + 1] if index + 2 < count else len(self._packed)
        return self._unpacked(self._packed[self._starts[index] : end])

    def numbered(self, wanted: Set[int]) -> Iterator[Turn]:
        """The turns that have one of these numbers; few are looked at whole."""
        for at, number in enumerate(self._numbers):
            if number in wanted or at in self._kept:
                turn = self[at]
                if turn.number in wanted:
                    yield turn
        if self._last is not None and self._last.number in wanted:
            yield self._last

    def append(self, turn: Turn) -> None:
        """Add a turn; the one that was the last is packed."""
        if self._last is not None:
            self._starts.append(len(self._packed))
            try:
                self._packed += self._encode(self._last)
                self._numbers.append(self._last.number)
            except (OverflowError, UnicodeEncodeError):
                self._kept[len(self._starts) - 1] = self._last
                self._numbers[len(self._starts) - 1 :] = array("q", (0,))
        self._last = turn
