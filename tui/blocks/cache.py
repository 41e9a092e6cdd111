"""Lines that were laid out once and may be drawn again, bounded by how many lines they are together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from tui.blocks.text import Line


class LineCache:
    """Keeps the lines of the blocks used last; `max_lines` bounds the sum of their lines.

    A block of no lines counts as one. The block stored last stays even if it is larger than the bound by
    itself, so that what is on the screen is not laid out again for each frame.
    """

    def __init__(self, max_lines: int = 20_000) -> None:
        self.max_lines = max_lines
        self._blocks: OrderedDict[Hashable, list[Line]] = OrderedDict()
        self._held = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._blocks

    @property
    def lines(self) -> int:
        """The lines held now (each empty block counts as one)."""
        return self._held

    def get(self, key: Hashable) -> list[Line] | None:
        """The lines of a block, or None; what is asked for is the last to be dropped."""
        lines = self._blocks.get(key)
        if lines is not None:
            self._blocks.move_to_end(key)
        return lines

    def put(self, key: Hashable, lines: list[Line]) -> None:
        """Keeps the lines of a block and drops those unused longest until the bound holds."""
        self.drop(key)
        self._blocks[key] = lines
        self._held += max(len(lines), 1)
        while self._held > self.max_lines and len(self._blocks) > 1:
            self._held -= max(len(self._blocks.popitem(last=False)[1]), 1)

    def get_or_lay_out(self, key: Hashable, lay_out: Callable[[], list[Line]]) -> list[Line]:
        """The lines of a block, laid out now if they are not held."""
        lines = self.get(key)
        if lines is None:
            lines = lay_out()
            self.put(key, lines)
        return lines

    def drop(self, key: Hashable) -> None:
        """Forgets one block, if it is held."""
        lines = self._blocks.pop(key, None)
        if lines is not None:
            self._held -= max(len(lines), 1)

    def clear(self) -> None:
        """Forgets all blocks."""
        self._blocks.clear()
        self._held = 0
