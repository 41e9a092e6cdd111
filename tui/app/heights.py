"""Heights of very many blocks, with running totals that stay cheap to ask for and to change.

Goes in: one height (rows) per block, first estimated, later measured. Comes out: the first row of a block
and the block at a row. Heights sit in an array of bytes, or of wider numbers once a block needs them, with
one byte of state each; sums of chunks of 512 blocks sit in a Fenwick tree, so a question costs about a dozen
additions and one sum over a chunk, at a million blocks too.
"""

from array import array
from collections.abc import Iterable
from itertools import accumulate

CHUNK = 512
_WIDER = {"B": "H", "H": "I", "I": "Q"}
_ESTIMATED = 0
_MEASURED = 1


class HeightIndex:
    """Rows of each block and their prefix sums.

    Args:
        heights: rows of each block, 0 for a hidden one; taken as estimates.

    Memory is two bytes a block, three or five if one has more than 255 or 65,535 rows, and eight bytes per
    512 blocks.
    """

    def __init__(self, heights: Iterable[int] = ()) -> None:
        if isinstance(heights, array) and heights.typecode in _WIDER:
            self._heights: array[int] = heights[:]
        else:
            self._heights = array("I", heights)
        self._state = bytearray(len(self._heights))
        self._sums: list[int] = []
        self._tree: list[int] = [0]
        self._rebuild()

    @classmethod
    def uniform(cls, count: int, height: int) -> "HeightIndex":
        """An index of `count` blocks that are all estimated at `height` rows."""
        return cls(array("B" if height < 256 else "I", [height]) * count)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        """The height of one block in rows, estimated or measured."""
        return self._heights[index]

    @property
    def total(self) -> int:
        """Rows of all blocks together."""
        return self._chunk_offset(len(self._sums))

    @property
    def nbytes(self) -> int:
        """Bytes held per block data, without Python's list overhead for the chunk sums."""
        return self._heights.itemsize * len(self._heights) + len(self._state) + 16 * len(self._sums)

    def is_measured(self, index: int) -> bool:
        """Whether the height came from a layout and not from an estimate."""
        return self._state[index] == _MEASURED

    def set(self, index: int, height: int, *, measured: bool = True) -> int:
        """Store the height of one block in rows and return by how much it changed."""
        change = height - self._heights[index]
        self._state[index] = _MEASURED if measured else _ESTIMATED
        if change:
            self._make_room(height)
            self._heights[index] = height
            self._add(index // CHUNK, change)
        return change

    def append(self, height: int) -> None:
        """Add one block of estimated height at the end."""
        chunk = len(self._heights) // CHUNK
        self._make_room(height)
        self._heights.append(height)
        self._state.append(_ESTIMATED)
        if chunk == len(self._sums):
            self._sums.append(0)
            node = chunk + 1
            # A new Fenwick node covers chunks back to its lowest set bit; all but itself are summed already.
            self._tree.append(self._chunk_offset(chunk) - self._chunk_offset(node - (node & -node)))
        if height:
            self._add(chunk, height)

    def forget(self) -> None:
        """Mark every height as an estimate again, after a change of width."""
        self._state = bytearray(len(self._heights))

    def offset_of(self, index: int) -> int:
        """The first row of a block; `index == len(self)` gives the total."""
        chunk, rest = divmod(index, CHUNK)
        offset = self._chunk_offset(chunk)
        return offset + sum(self._heights[index - rest : index]) if rest else offset

    def block_at(self, line: int) -> tuple[int, int]:
        """The block that holds a row, and the row within it.

        Rows before the first give the first visible block, rows behind the last give the last visible
        block's last row. Raises IndexError when no block has a row.
        """
        total = self.total
        if total <= 0:
            raise IndexError("no block has a row")
        line = min(max(line, 0), total - 1)
        chunk, rest = self._descend(line)
        start = chunk * CHUNK
        for position, running in enumerate(accumulate(self._heights[start : start + CHUNK])):
            if running > rest:
                index = start + position
                return index, rest - (running - self._heights[index])
        raise IndexError("chunk sums disagree with the heights")

    def next_visible(self, index: int) -> int | None:
        """The nearest block at or after `index` that has a row."""
        heights, count = self._heights, len(self._heights)
        index = max(index, 0)
        while index < count:
            chunk_end = min((index // CHUNK + 1) * CHUNK, count)
            if self._sums[index // CHUNK]:
                for candidate in range(index, chunk_end):
                    if heights[candidate]:
                        return candidate
            index = chunk_end
        return None

    def previous_visible(self, index: int) -> int | None:
        """The nearest block at or before `index` that has a row."""
        heights = self._heights
        index = min(index, len(heights) - 1)
        while index >= 0:
            chunk_start = index // CHUNK * CHUNK
            if self._sums[index // CHUNK]:
                for candidate in range(index, chunk_start - 1, -1):
                    if heights[candidate]:
                        return candidate
            index = chunk_start - 1
        return None

    def _make_room(self, height: int) -> None:
        """Take wider numbers if a height does not fit."""
        while height >> 8 * self._heights.itemsize and self._heights.typecode in _WIDER:
            self._heights = array(_WIDER[self._heights.typecode], self._heights)

    def _rebuild(self) -> None:
        heights = self._heights
        self._sums = [sum(heights[start : start + CHUNK]) for start in range(0, len(heights), CHUNK)]
        tree = [0, *self._sums]
        for node in range(1, len(tree)):
            parent = node + (node & -node)
            if parent < len(tree):
                tree[parent] += tree[node]
        self._tree = tree

    def _add(self, chunk: int, change: int) -> None:
        self._sums[chunk] += change
        node = chunk + 1
        tree = self._tree
        while node < len(tree):
            tree[node] += change
            node += node & -node

    def _chunk_offset(self, chunk: int) -> int:
        tree, total = self._tree, 0
        while chunk:
            total += tree[chunk]
            chunk &= chunk - 1
        return total

    def _descend(self, line: int) -> tuple[int, int]:
        tree = self._tree
        node, step = 0, 1 << (len(tree).bit_length() - 1)
        while step:
            candidate = node + step
            if candidate < len(tree) and tree[candidate] <= line:
                node = candidate
                line -= tree[candidate]
            step >>= 1
        return node, line
