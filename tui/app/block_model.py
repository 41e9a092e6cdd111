"""What a `BlockView` asks of what it shows, and the model of a single text.

A model is a list of blocks that can be laid out one by one at a width. The view asks for exact rows only of
what is on screen; of the rest it wants cheap estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tui.blocks.text import EMPTY, Line, Span, line

if TYPE_CHECKING:
    from array import array


class BlockModel(Protocol):
    """What a `BlockView` shows. The model may cache what it likes; the view asks only for what is visible."""

    def count(self) -> int:
        """Blocks in all, hidden ones included."""
        ...

    def key(self, index: int) -> Hashable:
        """The identity of a block, the same after a swap of the model."""
        ...

    def index_of(self, key: Hashable) -> int | None:
        """Where a block is now, or None when it is gone."""
        ...

    def estimate(self, index: int, width: int) -> int:
        """Rows at this width, cheap and roughly; 0 exactly for a hidden block."""
        ...

    def layout(self, index: int, width: int) -> Sequence[Line]:
        """The exact rows of a block at `width` cells."""
        ...

    def selectable(self, index: int) -> bool:
        """Whether the cursor may stand on the block."""
        ...


@runtime_checkable
class BulkEstimates(Protocol):
    """A model that can estimate all its blocks at once; wanted above some ten thousand blocks."""

    def estimates(self, width: int) -> array[int]:
        """An array of unsigned numbers with the estimate of every block."""
        ...


@runtime_checkable
class WithPlaceholder(Protocol):
    """A model that has something to say while it has no blocks."""

    def placeholder(self, width: int) -> Sequence[Line]:
        """The rows that stand in the place of blocks."""
        ...


class OneBlock:
    """A model of one block without a cursor: a page to scroll through.

    Args:
        layout: the rows of the page at a width in cells.
    """

    def __init__(self, layout: Callable[[int], Sequence[Line]]) -> None:
        self._layout = layout

    def count(self) -> int:
        """One."""
        return 1

    def key(self, index: int) -> Hashable:
        """The page itself."""
        return "page"

    def index_of(self, key: Hashable) -> int | None:
        """Zero for the page."""
        return 0 if key == "page" else None

    def estimate(self, index: int, width: int) -> int:
        """The exact rows: a page is short."""
        return len(self._layout(width))

    def layout(self, index: int, width: int) -> Sequence[Line]:
        """The rows of the page."""
        return self._layout(width)

    def selectable(self, index: int) -> bool:
        """Never: a page is scrolled by rows."""
        return False


def placeholder_row(model: BlockModel, y: int, cells: int, gutter: int) -> Line:
    """The screen row `y` of a model without blocks, one row of air above its placeholder."""
    if y < 1 or not isinstance(model, WithPlaceholder):
        return EMPTY
    rows = model.placeholder(max(1, cells - gutter))
    return line(Span(" " * gutter), *rows[y - 1].spans) if y <= len(rows) else EMPTY
