"""The Chat pane's blocks: nodes of a reading, open or folded, whole turns folded away, tool changes alone."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from typing import Unpack

from tui.app.mask import both, either, flag_table, table
from tui.app.reading_model import Looks, ReadingModel
from tui.blocks.chat_layout import Layout, chat_lines, estimate_rows, is_expandable, starts_expanded
from tui.blocks.text import Line
from tui.i18n import Translator
from tui.nodes.chat import ChatNode
from tui.nodes.chat_index import Flag, NodeKind
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading
from tui.session.columns import RunColumn

_CONTEXT = table((NodeKind.CONTEXT,))
_HEADER = table((NodeKind.HEADER,))
_TURN = table((NodeKind.TURN,))
_MARKED = flag_table(Flag.MARKED)

NodeKey = tuple[int, int, int]
"""Sequence number, content block, kind: what a node is called whatever part of the log is read."""


class ChatModel(ReadingModel):
    """A `BlockModel` of chat nodes."""

    def __init__(self, reading: Reading, tr: Translator, **looks: Unpack[Looks]) -> None:
        self.raw = False
        self.all_open: bool | None = None
        """Every node open or folded; None leaves each as its kind starts."""
        self._turned: set[Hashable] = set()
        """Nodes that were opened or folded by hand, against what is the rule."""
        super().__init__(reading, tr, **looks)

    def node(self, block: int) -> ChatNode | None:
        """The decoded node of a block."""
        item = self.item_of(block)
        return None if item is None else chat_node(self.reading, item)

    def is_turn(self, item: int) -> bool:
        """Whether a node is the heading of a turn."""
        return self.reading.chat.index.kinds[item] == NodeKind.TURN

    def is_open(self, item: int, node: ChatNode) -> bool:
        rule = self.all_open if self.all_open is not None else starts_expanded(node)
        return rule != (self.item_key(item) in self._turned)

    def toggle(self, block: int) -> bool:
        """Open or fold a node; False if there is nothing to open."""
        item = self.item_of(block)
        if item is None:
            return False
        if not is_expandable(chat_node(self.reading, item)):
            return False
        self._turned ^= {self.item_key(item)}
        return True

    def set_open(self, block: int, *, is_open: bool) -> bool:
        """Open or fold a node; False if it already is."""
        item = self.item_of(block)
        if item is None:
            return False
        node = chat_node(self.reading, item)
        if not is_expandable(node) or self.is_open(item, node) == is_open:
            return False
        self._turned ^= {self.item_key(item)}
        return True

    def open_all(self, *, is_open: bool) -> None:
        """Open or fold every node."""
        self.all_open = is_open
        self._turned = set()

    # -- ReadingModel

    def items(self) -> int:
        return len(self.reading.chat.index)

    def is_filtered(self) -> bool:
        return self.part.only_tool_changes or self.part.has_folds

    def mask(self, start: int) -> bytes:
        columns = self.reading.chat.index
        kinds = columns.kinds[start:] if start else columns.kinds
        if self.part.only_tool_changes:
            marked = (columns.flags[start:] if start else columns.flags).translate(_MARKED)
            return either(both(kinds.translate(_CONTEXT), marked), kinds.translate(_HEADER))
        everything = b"\1" * len(kinds)
        if not self.part.has_folds:
            return everything
        return either(self.without_folded(everything, start), kinds.translate(_TURN))

    def turn_rows(self) -> tuple[array[int], RunColumn]:
        columns = self.reading.chat.index
        return columns.rows, columns.turns

    def item_key(self, item: int) -> NodeKey:
        columns = self.reading.chat.index
        return self.reading.log.seq(columns.rows[item]), columns.blocks[item], columns.kinds[item]

    def find_item(self, key: Hashable) -> int | None:
        if not isinstance(key, tuple) or len(key) != 3:  # pyright: ignore[reportUnknownArgumentType]
            return None
        seq, block, kind = key  # pyright: ignore[reportUnknownVariableType]
        row = self.reading.log.row_of_seq(seq)  # pyright: ignore[reportUnknownArgumentType]
        if row is None:
            return None
        columns = self.reading.chat.index
        for item in columns.nodes_of_row(row):
            if columns.blocks[item] == block and columns.kinds[item] == kind:
                return item
        return None

    def item_estimate(self, item: int, width: int) -> int:
        columns = self.reading.chat.index
        expanded = (self.item_key(item) in self._turned) if self._turned else bool(self.all_open)
        return estimate_rows(
            columns.kinds[item],
            columns.sizes[item],
            columns.breaks[item],
            columns.flags[item],
            width,
            expanded,
        )

    def item_layout(self, item: int, width: int) -> Sequence[Line]:
        node = chat_node(self.reading, item)
        layout = Layout(
            width=width,
            tr=self.tr,
            expanded=self.is_open(item, node),
            ascii=self.ascii_only,
            raw=self.raw,
            previous=self._kind_before(item),
            pager=self.pager,
        )
        return chat_lines(node, layout)

    def _kind_before(self, item: int) -> str | None:
        """The kind of the node shown above; it decides about the blank row between."""
        block = self.block_of(item)
        above = self.item_of(block - 1) if block else None
        return None if above is None else NodeKind(self.reading.chat.index.kinds[above]).name.lower()

    def estimates(self, width: int) -> array[int]:
        """Heights of all blocks by kind alone; for logs too long to look at each."""
        columns = self.reading.chat.index
        table = bytes(
            min(255, max(1, estimate_rows(kind, 160, 1, 0, width, False))) if kind in _KINDS else 1
            for kind in range(256)
        )
        kinds = columns.kinds[: self._scanned]
        if self._chosen is not None:
            kinds = bytearray(kinds[item] for item in self._chosen)
        return array("B", b"\1" * self._lead + kinds.translate(table))


_KINDS = frozenset(int(kind) for kind in NodeKind)
