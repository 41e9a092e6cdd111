"""The structure of a zstd log: where frames begin and end, without decompressing them (spec §2.2)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final, NamedTuple

MAGIC: Final = b"\x28\xb5\x2f\xfd"
_SKIPPABLE_TAIL: Final = b"\x2a\x4d\x18"
_HEADER_MAX: Final = 18
_BLOCK_MAX: Final = 128 * 1024
_WINDOW_FIRST: Final = 64 * 1024
_WINDOW: Final = 1024 * 1024
_DICTIONARY_BYTES: Final = (0, 1, 2, 4)
# A search for the next sound frame follows every magic number it meets; this bounds the block headers looked
# at over a whole file, so that a file made of nothing but magic numbers ends as damage and not as a wait.
SEARCH_BUDGET: Final = 500_000


class Shape(Enum):
    """What stands at an offset of a zstd log."""

    FRAME = 1
    SKIPPABLE = 2
    TORN = 3
    CORRUPT = 4


class Frame(NamedTuple):
    """One structural step: `start` and `end` are byte offsets in the file, `bound` the most text it can hold.

    For `TORN` the end is the end of the file; for `CORRUPT` it is where the structure stops making sense.
    """

    shape: Shape
    start: int
    end: int
    bound: int
    blocks: int
    reason: str


class FileWindow:
    """A view of a file that is read in blocks, a small one first, and never grows beyond `size`."""

    def __init__(self, fd: int, size: int, block: int = _WINDOW) -> None:
        self.fd = fd
        self.size = size
        self.shrunk = False
        self.base = 0
        self.data = b""
        self._block = block
        self._next = min(block, _WINDOW_FIRST)

    def load(self, position: int, need: int) -> bool:
        """Make `need` bytes at `position` available in `data`; False when the file ends before them."""
        if position + need > self.size:
            return False
        if position < self.base or position + need > self.base + len(self.data):
            self.data = pread(self.fd, min(max(self._next, need), self.size - position), position)
            self._next = self._block
            self.base = position
            if len(self.data) < need:
                self.shrunk = True
                self.size = position + len(self.data)
                return False
        return True

    def peek(self, position: int, count: int) -> bytes:
        """Up to `count` bytes at `position`, fewer at the end of the file."""
        count = min(count, self.size - position)
        if count <= 0 or not self.load(position, count):
            return b""
        at = position - self.base
        return self.data[at : at + count]


def pread(fd: int, count: int, position: int) -> bytes:
    """`os.pread` that goes on until `count` bytes are there or the file ends."""
    data = os.pread(fd, count, position)
    if len(data) == count or not data:
        return data
    parts = [data]
    got = len(data)
    while got < count:
        more = os.pread(fd, count - got, position + got)
        if not more:
            break
        parts.append(more)
        got += len(more)
    return b"".join(parts)


def measure(window: FileWindow, start: int) -> Frame:
    """Find the end of the frame at `start` from its block headers alone; never raises on content."""
    load = window.load
    if not load(start, min(_HEADER_MAX, max(window.size - start, 1))):
        return _too_short(window, start)
    data = window.data
    at = start - window.base
    magic = data[at : at + 4]
    if magic != MAGIC:
        if len(magic) < 4 and MAGIC.startswith(magic):
            return Frame(Shape.TORN, start, window.size, 0, 0, "the file ends inside a frame's first bytes")
        if magic[1:] == _SKIPPABLE_TAIL and magic[0] & 0xF0 == 0x50:
            return _skippable(window, start, data, at)
        return Frame(Shape.CORRUPT, start, start, 0, 0, "no frame begins here")
    left = window.size - start
    if left < 5:
        return Frame(Shape.TORN, start, window.size, 0, 0, "the file ends inside a frame's header")
    descriptor = data[at + 4]
    if descriptor & 0x18:
        return Frame(Shape.CORRUPT, start, start + 5, 0, 0, f"refused frame descriptor 0x{descriptor:02x}")
    single = descriptor >> 5 & 1
    position = (
        start + 5 + (1 - single) + _DICTIONARY_BYTES[descriptor & 3] + ((single, 2, 4, 8)[descriptor >> 6])
    )
    base = window.base
    limit = base + len(data)
    bound = blocks = 0
    while True:
        if position + 3 > limit:
            if not load(position, 3):
                return Frame(Shape.TORN, start, window.size, bound, blocks, "the file ends inside a frame")
            data = window.data
            base = window.base
            limit = base + len(data)
        at = position - base
        head = data[at] | data[at + 1] << 8 | data[at + 2] << 16
        size = head >> 3
        kind = head & 6
        blocks += 1
        if kind == 4:
            bound += _BLOCK_MAX
            position += 3 + size
        elif kind == 0:
            bound += size
            position += 3 + size
        elif kind == 2:
            bound += size
            position += 4
        else:
            return Frame(Shape.CORRUPT, start, position, bound, blocks, "a block of the reserved kind")
        if head & 1:
            break
    if descriptor & 4:
        position += 4
    if position > window.size:
        return Frame(Shape.TORN, start, window.size, bound, blocks, "the file ends inside a frame")
    return Frame(Shape.FRAME, start, position, bound, blocks, "")


def _too_short(window: FileWindow, start: int) -> Frame:
    return Frame(Shape.TORN, start, max(window.size, start), 0, 0, "the file ends inside a frame")


def _skippable(window: FileWindow, start: int, data: bytes, at: int) -> Frame:
    if window.size - start < 8:
        return Frame(Shape.TORN, start, window.size, 0, 0, "the file ends inside a skippable frame")
    end = start + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
    if end > window.size:
        return Frame(Shape.TORN, start, window.size, 0, 0, "the file ends inside a skippable frame")
    return Frame(Shape.SKIPPABLE, start, end, 0, 0, "a skippable frame")


class FrameSearch:
    """Looks for the next place where sound frames begin, with one budget for the whole file."""

    def __init__(
        self, window: FileWindow, decodes: Callable[[Frame], bool], budget: int = SEARCH_BUDGET
    ) -> None:
        self._window = window
        self._decodes = decodes
        self._probe = FileWindow(window.fd, window.size, 64 * 1024)
        self._budget = budget

    def next_chain(self, start: int) -> int | None:
        """The next frame from `start` on that ends at another frame or the file's end, or that decodes."""
        for position in magic_positions(self._window.fd, start, self._window.size):
            if self._budget <= 0:
                return None
            frame = measure(self._probe, position)
            self._budget -= frame.blocks + 1
            if frame.shape is Shape.FRAME and (self._begins_frame(frame.end) or self._decodes(frame)):
                return position
        return None

    def _begins_frame(self, position: int) -> bool:
        """Whether a frame, or the end of the file, is at `position`."""
        if position == self._probe.size:
            return True
        magic = self._probe.peek(position, 4)
        if magic == MAGIC or (len(magic) < 4 and MAGIC.startswith(magic)):
            return True
        return magic[1:] == _SKIPPABLE_TAIL and magic[0] & 0xF0 == 0x50


def magic_positions(fd: int, start: int, end: int) -> Iterator[int]:
    """Offsets in `[start, end)` at which the frame magic number stands, ascending."""
    position = start
    block = 4096
    while position < end:
        data = pread(fd, min(block, end - position), position)
        block = min(block * 4, _WINDOW)
        found = data.find(MAGIC)
        while found >= 0:
            yield position + found
            found = data.find(MAGIC, found + 1)
        if position + len(data) >= end or len(data) < 4:
            return
        position += len(data) - 3
