"""The Chat pane's blocks while a session runs: its recorded nodes, and below them the answer that streams."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence
from typing import Final, NamedTuple, Unpack

from tui.app.chat_model import ChatModel
from tui.app.live_tail import LiveTail
from tui.app.reading_model import Looks
from tui.blocks.chat_layout import Layout, gap_before
from tui.blocks.layout import plain_signs
from tui.blocks.text import EMPTY, Line
from tui.i18n import Translator
from tui.nodes.chat import AssistantNode
from tui.nodes.chat_index import NodeKind
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading

_LONG_ROWS: Final = 200
"""Rows, roughly, from which an answer stands whole as it came instead of being bounded."""
_ROW_CELLS: Final = 40


class TailKey(NamedTuple):
    """The identity of a block of the tail: the place at which its node will stand."""

    place: int


class LiveChatModel(ChatModel):
    """A `BlockModel` of chat nodes with a tail; tail blocks stand where their nodes will."""

    def __init__(
        self,
        reading: Reading,
        tail: LiveTail,
        tr: Translator,
        *,
        placeholder: Callable[[int], Sequence[Line]] | None = None,
        **looks: Unpack[Looks],
    ) -> None:
        self.tail = tail
        self._placeholder = placeholder
        super().__init__(reading, tr, **looks)

    def placeholder(self, width: int) -> Sequence[Line]:
        """What stands there before anything was said."""
        if self._placeholder is None or len(self.reading.chat.index):
            return ()
        rows = self._placeholder(width)
        layout = Layout(width, self.tr, expanded=True, ascii=self.ascii_only)
        return [Line(tuple(plain_signs(layout, row.spans)), row.cells) for row in rows]

    def recorded(self) -> int:
        """Blocks of recorded nodes."""
        return super().count()

    def shows_tail(self) -> bool:
        """The answer belongs to the part that is shown."""
        return not self.part.only_tool_changes and not self.part.has_folds

    def tail_of(self, block: int) -> int | None:
        """The position of a block in the tail, None for a recorded one."""
        at = block - self.recorded()
        return at if 0 <= at < len(self.tail) and self.shows_tail() else None

    # -- BlockModel

    def count(self) -> int:
        return self.recorded() + (len(self.tail) if self.shows_tail() else 0)

    def item_of(self, block: int) -> int | None:
        return None if block >= self.recorded() else super().item_of(block)

    def key(self, index: int) -> Hashable:
        at = self.tail_of(index)
        return super().key(index) if at is None else TailKey(self.recorded() + at)

    def index_of(self, key: Hashable) -> int | None:
        if isinstance(key, TailKey):
            return key.place if key.place < self.count() else None
        return super().index_of(key)

    def estimate(self, index: int, width: int) -> int:
        return super().estimate(index, width) if self.tail_of(index) is None else 2

    def estimates(self, width: int) -> array[int]:
        heights = super().estimates(width)
        heights.extend([2] * (self.count() - self.recorded()))
        return heights

    def selectable(self, index: int) -> bool:
        return self.tail_of(index) is not None or super().selectable(index)

    def layout(self, index: int, width: int) -> Sequence[Line]:
        at = self.tail_of(index)
        if at is None:
            return super().layout(index, width)
        above = super().item_of(self.recorded() - 1) if self.recorded() else None
        kinds = self.reading.chat.index.kinds
        previous = None if above is None else NodeKind(kinds[above]).name.lower()
        layout = Layout(
            width=width, tr=self.tr, expanded=False, ascii=self.ascii_only, full=True, previous=previous
        )
        return self.tail.rows(at, layout)

    def toggle(self, block: int) -> bool:
        at = self.tail_of(block)
        return super().toggle(block) if at is None else self.tail.toggle(at)

    def set_open(self, block: int, *, is_open: bool) -> bool:
        return self.tail_of(block) is None and super().set_open(block, is_open=is_open)

    def item_layout(self, item: int, width: int) -> Sequence[Line]:
        columns = self.reading.chat.index
        if columns.kinds[item] != NodeKind.ASSISTANT or not self._is_long(item):
            return super().item_layout(item, width)
        node = chat_node(self.reading, item)
        if not isinstance(node, AssistantNode) or not _is_plain_answer(node) or node.seq is None or self.raw:
            return super().item_layout(item, width)
        # What was seen while it came is not taken back because it is long.
        layout = Layout(width=width, tr=self.tr, expanded=True, ascii=self.ascii_only, full=True)
        rows = self.tail.finished_rows(node.seq, node.block, node.text, layout)
        previous = self._kind_before(item)
        return [EMPTY, *rows] if item and gap_before("assistant", previous) else rows

    def _is_long(self, item: int) -> bool:
        columns = self.reading.chat.index
        return columns.breaks[item] + columns.sizes[item] // _ROW_CELLS > _LONG_ROWS


def _is_plain_answer(node: AssistantNode) -> bool:
    """Nothing but its text is told of an answer."""
    told = node.interrupted or node.truncated or node.empty or node.replaced or node.foreign_chunks
    return not told and node.foreign is None and node.fault is None and "]:" not in node.text
