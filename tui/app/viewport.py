"""The window onto a tall column of blocks: which block rows stand on which screen rows.

The truth is a place, not a scroll offset: the block and row at the top of the window (or "the tail", when
following). Heights only size the scrollbar and aim jumps, so a corrected estimate can never move what is on
screen. Goes in: a `BlockModel`, a size and movements. Comes out: one `Position` per screen
row. Knows no widget.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from tui.app.block_model import BlockModel, BulkEstimates
from tui.app.heights import HeightIndex
from tui.blocks.text import Line

if TYPE_CHECKING:
    from textual.strip import Strip

LAID_OUT_BLOCKS = 256
"""Blocks whose rows are kept; a 200-row screen shows fewer."""
ESTIMATE_EACH = 20_000
"""Up to this many blocks are asked for their estimate one by one (10 ms); beyond it a constant is taken."""
ASSUMED_ROWS = 3
LONGEST_RUN = 10_000
"""Blocks without a cursor that are passed over at most, so that a page of nothing else costs nothing."""
Place = Literal["nearest", "top", "third"]


class Position(NamedTuple):
    """A row of a block."""

    block: int
    row: int


class LaidOut:
    """The rows of one block at the present width, and the strips made from them so far."""

    __slots__ = ("generation", "lines", "strips")

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.strips: dict[Hashable, Strip] = {}
        self.generation = 0


class _Mark(NamedTuple):
    """A block remembered by key, with the screen row its `row` stood on."""

    key: Hashable
    row: int
    y: int


class Viewport:
    """Places blocks in a window of `height` rows and moves it by rows, pages and jumps.

    Args:
        model: the blocks.
        following: start at the tail and stay there while blocks arrive.
    """

    def __init__(self, model: BlockModel, *, following: bool = True) -> None:
        self.model = model
        self.width = 0
        self.height = 0
        self.following = following
        self.unseen = 0
        self.cursor: int | None = None
        self._cursor_key: Hashable = None
        self._top = Position(0, 0)
        self._rows: list[Position] | None = None
        self._marks: list[_Mark] = []
        self._laid_out: OrderedDict[int, LaidOut] = OrderedDict()
        self._heights = HeightIndex()
        self._reading_place: tuple[Hashable, int] | None = None

    # -- size and content --

    def resize(self, width: int, height: int) -> None:
        """Take a new size in cells; a cursor on screen stays there, the row at the top keeps its text."""
        if (width, height) == (self.width, self.height):
            return
        cursor = self.cursor if self.width else None
        was_shown = cursor is not None and self.screen_rows(cursor) is not None
        self._take_size(width, height)
        if cursor is not None and was_shown and self.screen_rows(cursor) is None:
            self.reveal(cursor)

    def _take_size(self, width: int, height: int) -> None:
        if width == self.width:
            self.height = height
            self._rows = None
            return
        reading_place = self._reading_place or self._place_in_text()
        first, self.width, self.height = not self.width, width, height
        self._load_heights()
        if first:
            self._rows = None
            return
        self._restore()
        if reading_place is not None and not self.following:
            self._return_to_text(reading_place)
        self._reading_place = reading_place

    def set_model(self, model: BlockModel) -> None:
        """Show other blocks; what was on screen is found again by key."""
        self.model = model
        self.changed()

    def changed(self) -> None:
        """Take note that any block may have changed, come or gone."""
        self._reading_place = None
        self._load_heights()
        if self.cursor is not None:
            self.cursor = self.model.index_of(self._cursor_key)
        self._restore()

    def appended(self, count: int) -> None:
        """Take note of `count` new blocks at the end."""
        model, width = self.model, self.width
        for index in range(len(self._heights), model.count()):
            self._heights.append(model.estimate(index, width) if width else ASSUMED_ROWS)
        if not self.following:
            self.unseen += count
        self._rows = None

    def refresh_block(self, index: int, *, keep_place: bool = True) -> None:
        """Lay one block out anew.

        Args:
            index: the block that was opened, folded or has grown.
            keep_place: leave the block's first row where it is, and stop following if its end is now below
                the window.
        """
        rows = self.rows()
        was_following = self.following
        self._laid_out.pop(index, None)
        if not 0 <= index < len(self._heights):
            return
        self._heights.set(index, self.model.estimate(index, self.width), measured=False)
        if keep_place and was_following and any(position.block == index for position in rows):
            self.following = False
        self._rows = None
        top = self._top
        if top.block == index and top.row >= self.height_of(index):
            self._top = Position(index, 0)
        if was_following and not self.following and self.is_at_end:
            self.following = True

    # -- what is on screen --

    def rows(self) -> list[Position]:
        """The block row on each screen row from the top; shorter than the window when the content is."""
        if self._rows is None:
            self._rows = self._compose()
            self._remember()
        return self._rows

    def laid_out(self, index: int) -> LaidOut:
        """The rows of one block, laid out if they are not at hand."""
        entry = self._laid_out.get(index)
        if entry is None:
            entry = LaidOut(self.model.layout(index, self.width))
            self._laid_out[index] = entry
            if len(self._laid_out) > LAID_OUT_BLOCKS:
                self._laid_out.popitem(last=False)
            self._heights.set(index, len(entry.lines))
        else:
            self._laid_out.move_to_end(index)
        return entry

    def height_of(self, index: int) -> int:
        """The exact height of a block in rows; 0 for a hidden one."""
        heights = self._heights
        if heights.is_measured(index):
            return heights[index]
        estimate = self.model.estimate(index, self.width)
        if not estimate:
            heights.set(index, 0)
            return 0
        return len(self.laid_out(index).lines)

    @property
    def is_at_end(self) -> bool:
        """Whether the last row of the last block is on screen."""
        rows = self.rows()
        last = self._last()
        return not rows or last is None or rows[-1] == last

    @property
    def is_at_start(self) -> bool:
        """Whether the first row of the first block is on screen."""
        rows = self.rows()
        return not rows or (rows[0].row == 0 and self._heights.previous_visible(rows[0].block - 1) is None)

    @property
    def total_rows(self) -> int:
        """Rows of all blocks, estimates included."""
        return self._heights.total

    @property
    def first_line(self) -> int:
        """The row of the whole column at the top of the window, estimates included."""
        rows = self.rows()
        return self._heights.offset_of(rows[0].block) + rows[0].row if rows else 0

    def screen_rows(self, index: int) -> tuple[int, int] | None:
        """The first and last screen row a block stands on, or None when it is off screen."""
        on_screen = [y for y, position in enumerate(self.rows()) if position.block == index]
        return (on_screen[0], on_screen[-1]) if on_screen else None

    # -- movement --

    def scroll(self, rows: int) -> bool:
        """Move the window down by `rows` (up when negative); True when it moved.

        Moving up releases following; arriving at the end by moving down takes it back.
        """
        before = self.rows()[:1]
        if not before:
            return False
        if abs(rows) > 4 * max(self.height, 50):
            return self.jump_to_line(self.first_line + rows)
        if rows < 0:
            self._move_to(self._back(before[0], -rows))
        elif not self.following:
            self._move_to(self._forward(before[0], rows))
        return self._settle(before[0], down=rows > 0)

    def jump_to_line(self, line: int) -> bool:
        """Put a row of the whole column at the top, as a drag of the scrollbar does; True when it moved."""
        before = self.rows()[:1]
        if not before:
            return False
        down = line >= self.first_line
        if line >= self.total_rows - self.height:
            self._rows = None
            self.following = True
        else:
            self._move_to(Position(*self._heights.block_at(line)))
        return self._settle(before[0], down=down)

    def to_start(self) -> bool:
        """Show the first row; True when the window moved."""
        before = self.rows()[:1]
        if not before:
            return False
        self._move_to(Position(0, 0))
        return self._settle(before[0], down=False)

    def to_end(self) -> None:
        """Show the last row and follow from there."""
        self.following = True
        self.unseen = 0
        self._rows = None
        self._reading_place = None

    def reveal(self, index: int, place: Place = "nearest") -> bool:
        """Bring a block on screen with the least movement; True when the window moved.

        A block taller than the window is shown from its first row when it lies below, from its last when it
        lies above. A block more than a window away is put at a third of the height, so that something
        stands before it.
        """
        rows = self.rows()
        if not rows or not 0 <= index < len(self._heights) or not (block_rows := self.height_of(index)):
            return False
        on_screen = self.screen_rows(index)
        if (
            place == "nearest"
            and on_screen
            and on_screen[1] - on_screen[0] + 1 >= min(block_rows, self.height)
        ):
            return False
        before = rows[0]
        above = index < before.block or (index == before.block and before.row > 0)
        if place == "nearest" and not on_screen:
            near = self._back(before, self.height) if above else self._forward(rows[-1], self.height)
            place = "nearest" if (index >= near.block if above else index <= near.block) else "third"
        if place == "top":
            target = Position(index, 0)
        elif place == "third":
            target = self._back(Position(index, 0), self.height // 3)
        elif above:
            target = Position(index, max(0, block_rows - self.height))
        elif block_rows >= self.height:
            target = Position(index, 0)
        else:
            target = self._back(Position(index, block_rows - 1), self.height - 1)
        was_following = self.following
        self._move_to(target)
        moved = self.rows()[0] != before
        self.following = was_following and not moved
        return moved

    def reveal_row(self, index: int, row: int) -> None:
        """Bring one row of a block on screen, at a third of the height if it is not there yet."""
        if not 0 <= index < len(self._heights) or not (block_rows := self.height_of(index)):
            return
        target = Position(index, min(max(row, 0), block_rows - 1))
        if target not in self.rows():
            self._move_to(self._back(target, self.height // 3))

    def settle_at_end(self) -> None:
        """Follow again if the end is on screen; for movements downwards that the reader made."""
        if self.is_at_end:
            self.to_end()

    # -- the cursor --

    def set_cursor(self, index: int | None) -> None:
        """Put the cursor on a block, or nowhere."""
        self.cursor = index
        self._cursor_key = None if index is None else self.model.key(index)

    def next_selectable(self, index: int, step: Literal[1, -1]) -> int | None:
        """The nearest visible selectable block from `index` on (itself included) in one direction."""
        heights, selectable = self._heights, self.model.selectable
        for _ in range(LONGEST_RUN):
            found = heights.next_visible(index) if step > 0 else heights.previous_visible(index)
            if found is None:
                return None
            # Asked before the height, which may cost a layout.
            if selectable(found) and self.height_of(found):
                return found
            index = found + step
        return None

    def selectable_on_screen(self, step: Literal[1, -1]) -> int | None:
        """The first (1) or last (-1) selectable block on screen, preferring one that begins there."""
        rows = self.rows()[::step]
        candidates = [position for position in rows if self.model.selectable(position.block)]
        beginning = (position.block for position in candidates if position.row == 0)
        return next(beginning, candidates[0].block if candidates else None)

    # -- inside --

    def _load_heights(self) -> None:
        model, width = self.model, self.width
        self._laid_out.clear()
        count = model.count()
        if not width:
            self._heights = HeightIndex.uniform(count, ASSUMED_ROWS)
        elif isinstance(model, BulkEstimates):
            self._heights = HeightIndex(model.estimates(width))
        elif count <= ESTIMATE_EACH:
            self._heights = HeightIndex(model.estimate(index, width) for index in range(count))
        else:
            self._heights = HeightIndex.uniform(count, ASSUMED_ROWS)

    def _visible(self, index: int, step: int) -> int | None:
        """The nearest block with a row at or beyond `index`, measured."""
        heights = self._heights
        while True:
            found = heights.next_visible(index) if step > 0 else heights.previous_visible(index)
            if found is None or self.height_of(found):
                return found
            index = found + step

    def _step(self, index: int, step: int) -> int | None:
        return self._visible(index + step, step)

    def _last(self) -> Position | None:
        index = self._visible(len(self._heights) - 1, -1)
        return None if index is None else Position(index, self.height_of(index) - 1)

    def _back(self, position: Position, rows: int) -> Position:
        """The place `rows` further up, or the first row."""
        index, row = position
        while rows > row:
            above = self._step(index, -1)
            if above is None:
                return Position(index, 0)
            rows -= row + 1
            index, row = above, self.height_of(above) - 1
        return Position(index, row - rows)

    def _forward(self, position: Position, rows: int) -> Position:
        """The place `rows` further down, or the last row."""
        index, row = position
        while rows >= (rest := self.height_of(index) - row):
            below = self._step(index, 1)
            if below is None:
                return Position(index, self.height_of(index) - 1)
            rows -= rest
            index, row = below, 0
        return Position(index, row + rows)

    def _move_to(self, top: Position) -> None:
        self._top = top
        self.following = False
        self._rows = None
        self._reading_place = None

    def _settle(self, before: Position, *, down: bool) -> bool:
        moved = self.rows()[0] != before
        at_end = self.is_at_end
        if at_end:
            self.unseen = 0
        # Content that fits the window is at its end whichever way one scrolls.
        self.following = at_end and (down or self.is_at_start)
        return moved

    def _compose(self) -> list[Position]:
        last = self._last() if self.height > 0 and self.width > 0 else None
        if last is None:
            return []
        top = self._back(last, self.height - 1) if self.following else self._normal(self._top)
        rows = self._collect(top)
        if len(rows) < self.height and not self.following:
            rows = self._collect(self._back(last, self.height - 1))
        self._top = rows[0]
        return rows

    def _normal(self, position: Position) -> Position:
        index = self._visible(position.block, 1)
        if index is None:
            index = self._visible(position.block, -1)
        if index is None:
            return position
        row = position.row if index == position.block else 0
        return Position(index, min(row, self.height_of(index) - 1))

    def _collect(self, top: Position) -> list[Position]:
        rows: list[Position] = []
        index: int | None = top.block
        row = top.row
        while index is not None and len(rows) < self.height:
            end = min(self.height_of(index), row + self.height - len(rows))
            rows.extend(Position(index, number) for number in range(row, end))
            index, row = self._step(index, 1), 0
        return rows

    def _remember(self) -> None:
        """Note the keys on screen: after a change the first one still there is the anchor."""
        marks: list[_Mark] = []
        seen: set[int] = set()
        for y, (index, row) in enumerate(self._rows or ()):
            if index not in seen:
                seen.add(index)
                marks.append(_Mark(self.model.key(index), row, y))
        self._marks = marks

    def _restore(self) -> None:
        self._rows = None
        if self.following or not self.width:
            return
        # The reader looks at the cursor, so its row is kept before the top one is.
        for mark in sorted(self._marks, key=lambda mark: mark.key != self._cursor_key):
            index = self.model.index_of(mark.key)
            if index is not None and index < len(self._heights) and (block_rows := self.height_of(index)):
                self._top = self._back(Position(index, min(mark.row, block_rows - 1)), mark.y)
                return

    def _place_in_text(self) -> tuple[Hashable, int] | None:
        """The top block and the characters of it above the window: what survives another width."""
        rows = self.rows() if self.width else []
        cursor_is_anchor = self.cursor is not None and Position(self.cursor, 0) in rows
        if not rows or self.following or rows[0].row == 0 or cursor_is_anchor:
            return None
        entry = self._laid_out.get(rows[0].block)
        if entry is None:
            return None
        return self.model.key(rows[0].block), sum(map(_characters, entry.lines[: rows[0].row]))

    def _return_to_text(self, place: tuple[Hashable, int]) -> None:
        key, characters = place
        index = self.model.index_of(key)
        if index is None or not self.height_of(index):
            return
        seen = 0
        for row, line in enumerate(self.laid_out(index).lines):
            seen += _characters(line)
            if seen > characters:
                self._top = Position(index, row)
                self._rows = None
                return


def _characters(line: Line) -> int:
    """Characters that are not layout: wrapping moves spaces and frames, but never drops a letter."""
    return sum(len("".join(span.text.split())) for span in line.spans)
