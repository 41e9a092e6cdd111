"""The Trajectory pane's blocks: one line a record, bookkeeping hidden unless asked for, turns and calls
foldable."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence

from tui.app.reading_model import ReadingModel
from tui.blocks.chat_layout import Layout
from tui.blocks.text import Line
from tui.blocks.trajectory_layout import row_line, turn_rule
from tui.nodes.trajectory import is_bookkeeping, trajectory_row
from tui.nodes.trajectory_index import RowFlag, RowKind
from tui.session.records import CODES

RowKey = tuple[int, int]
"""Sequence number and kind."""

_TURN_START = CODES["turn/start"]


class TrajectoryModel(ReadingModel):
    """A `BlockModel` of trajectory rows."""

    def is_turn_rule(self, block: int) -> bool:
        """Whether a block is the heading of a turn."""
        item = self.item_of(block)
        return item is not None and self._is_turn_start(item)

    def _is_turn_start(self, item: int) -> bool:
        columns = self.reading.trajectory.index
        return (
            columns.kinds[item] == RowKind.EVENT
            and self.reading.log.code(columns.rows[item]) == _TURN_START
            and columns.turns[item] >= 0
        )

    # -- ReadingModel

    def items(self) -> int:
        return len(self.reading.trajectory.index)

    def is_filtered(self) -> bool:
        return True

    def shows(self, item: int) -> bool:
        columns = self.reading.trajectory.index
        kind, flags = columns.kinds[item], columns.flags[item]
        if self.part.only_tool_changes:
            return bool(flags & RowFlag.TOOL_CHANGE) or kind == RowKind.HEADER
        if self._is_turn_start(item):
            return True
        turn, part = columns.turns[item], self.part
        if turn >= 0 and part.has_folds and part.folds(self.reading.turn_number(turn)):
            return False
        if part.calls_folded and kind == RowKind.TOOL:
            return False
        return part.bookkeeping or kind != RowKind.EVENT or not is_bookkeeping(self.reading, item)

    def item_key(self, item: int) -> RowKey:
        columns = self.reading.trajectory.index
        return self.reading.log.seq(columns.rows[item]), columns.kinds[item]

    def find_item(self, key: Hashable) -> int | None:
        if not isinstance(key, tuple) or len(key) != 2:  # pyright: ignore[reportUnknownArgumentType]
            return None
        row = self.reading.log.row_of_seq(key[0])  # pyright: ignore[reportUnknownArgumentType]
        return None if row is None else self.reading.trajectory.index.exactly(row)

    def item_estimate(self, item: int, width: int) -> int:
        return 1

    def item_layout(self, item: int, width: int) -> Sequence[Line]:
        layout = Layout(width=width, tr=self.tr, expanded=False, ascii=self.ascii_only)
        if self._is_turn_start(item):
            turn = self.reading.turns.turns[self.reading.trajectory.index.turns[item]]
            return [turn_rule(turn, layout)]
        return [row_line(trajectory_row(self.reading, item), layout)]

    def estimates(self, width: int) -> array[int]:
        """Every row is one line."""
        return array("I", [1]) * self.count()
