"""The Trajectory pane's blocks: one line a record, bookkeeping hidden unless asked for, turns and calls
foldable."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence

from tui.app.mask import either, flag_table, table
from tui.app.reading_model import ReadingModel
from tui.blocks.chat_layout import Layout
from tui.blocks.text import Line
from tui.blocks.trajectory_layout import row_line, turn_rule
from tui.nodes.trajectory import trajectory_row
from tui.nodes.trajectory_index import RowFlag, RowKind
from tui.session.columns import RunColumn

RowKey = tuple[int, int]
"""Sequence number and kind."""

_ALL = table(RowKind)
_SPOKEN = table(kind for kind in RowKind if kind != RowKind.BOOKKEEPING)
_HEADER = table((RowKind.HEADER,))
_TURN = table((RowKind.TURN,))
_CHANGES_TOOLS = flag_table(RowFlag.TOOL_CHANGE)


def _without_calls(wanted: bytes) -> bytes:
    return wanted[: RowKind.TOOL] + b"\0" + wanted[RowKind.TOOL + 1 :]


class TrajectoryModel(ReadingModel):
    """A `BlockModel` of trajectory rows."""

    def is_turn_rule(self, block: int) -> bool:
        """Whether a block is the heading of a turn."""
        item = self.item_of(block)
        return item is not None and self._is_turn_start(item)

    def _is_turn_start(self, item: int) -> bool:
        columns = self.reading.trajectory.index
        return columns.kinds[item] == RowKind.TURN and columns.turns[item] >= 0

    # -- ReadingModel

    def items(self) -> int:
        return len(self.reading.trajectory.index)

    def is_filtered(self) -> bool:
        return True

    def mask(self, start: int) -> bytes:
        columns, part = self.reading.trajectory.index, self.part
        kinds = columns.kinds[start:] if start else columns.kinds
        if part.only_tool_changes:
            flags = columns.flags[start:] if start else columns.flags
            return either(flags.translate(_CHANGES_TOOLS), kinds.translate(_HEADER))
        wanted = _ALL if part.bookkeeping else _SPOKEN
        mask = bytes(kinds.translate(_without_calls(wanted) if part.calls_folded else wanted))
        if not part.has_folds:
            return mask
        return either(self.without_folded(mask, start), kinds.translate(_TURN))

    def turn_rows(self) -> tuple[array[int], RunColumn]:
        columns = self.reading.trajectory.index
        return columns.rows, columns.turns

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
