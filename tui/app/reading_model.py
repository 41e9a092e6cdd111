"""Block models over a `Reading`: which of its nodes or rows a pane shows, and where.

A pane shows all positions of an index or a chosen part of them (a filter, folded turns, hidden
bookkeeping). Positions grow while the log is being read; `extend` takes note of the new ones only.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from typing import Self, TypedDict, Unpack

from tui.app.mask import both, chosen
from tui.app.part import Part
from tui.blocks.text import Line, Span, line
from tui.i18n import Translator
from tui.nodes.reading import Reading
from tui.session.columns import RunColumn

EARLIER = "earlier"
"""Key of the block that says that the beginning is still being read."""


class Looks(TypedDict, total=False):
    """What a model may be told besides the reading and the language."""

    part: Part | None
    """The part that is shown; None: all."""
    ascii_only: bool
    pager: str
    """Name of the key that opens the whole text."""


class ReadingModel(ABC):
    """Common part of the two panes' models.

    A block is a position in the pane; an item is a chat node or trajectory row of the reading. While the
    reading holds only the tail of a log, block 0 says so.
    """

    def __init__(self, reading: Reading, tr: Translator, **looks: Unpack[Looks]) -> None:
        self.reading = reading
        self.tr = tr
        self.ascii_only = looks.get("ascii_only", False)
        self.pager = looks.get("pager", "")
        self.progress = 0.0
        """How much of the whole log is read while only its tail is shown."""
        self._lead = 1 if reading.log.partial else 0
        self.part = looks.get("part") or Part()
        self._chosen: array[int] | None = None
        self._scanned = 0
        self._choose()

    # -- variants: a model that is shown never changes what it shows, so that the view finds its place again

    def with_part(self, part: Part) -> Self:
        """The same, with another part shown."""
        return self._variant(part=part)

    def with_reading(self, reading: Reading) -> Self:
        """The same of another reading of the log."""
        return self._variant(reading=reading)

    def with_language(self, tr: Translator, *, pager: str = "") -> Self:
        """The same in another language, in which the key of the pager may have another name."""
        return self._variant(tr=tr, pager=pager)

    def _variant(self, **changed: object) -> Self:
        model = copy.copy(self)
        for name, value in changed.items():
            setattr(model, name, value)
        model._lead = 1 if model.reading.log.partial else 0
        model._choose()
        return model

    # -- to be given by each pane

    @abstractmethod
    def items(self) -> int:
        """Items of the reading, shown or not."""

    @abstractmethod
    def mask(self, start: int) -> bytes:
        """A byte for each item from `start` on: not 0 where it is in the chosen part."""

    @abstractmethod
    def turn_rows(self) -> tuple[array[int], RunColumn]:
        """The first row of each item, ascending, and the position of its turn, -1 for none."""

    @abstractmethod
    def is_filtered(self) -> bool:
        """Whether only a part is shown."""

    @abstractmethod
    def item_key(self, item: int) -> Hashable:
        """What an item is called whatever part of the log is read."""

    @abstractmethod
    def find_item(self, key: Hashable) -> int | None:
        """The item of a key, None where this reading does not have it."""

    @abstractmethod
    def item_estimate(self, item: int, width: int) -> int:
        """Rows of an item, roughly."""

    @abstractmethod
    def item_layout(self, item: int, width: int) -> Sequence[Line]:
        """Rows of an item."""

    # -- items and blocks

    def extend(self) -> int:
        """Take note of items that came since; returns how many blocks that makes."""
        before, known = self._scanned, self.items()
        self._scanned = known
        if self._chosen is None:
            return known - before
        shown = len(self._chosen)
        self._chosen.extend(chosen(self.mask(before), before))
        return len(self._chosen) - shown

    def _choose(self) -> None:
        self._chosen = array("I") if self.is_filtered() else None
        self._scanned = 0
        self.extend()

    def item_of(self, block: int) -> int | None:
        """The item of a block, None for the block that says what is missing and for one that is gone."""
        place = block - self._lead
        if not 0 <= place < self.count() - self._lead:
            return None
        return place if self._chosen is None else self._chosen[place]

    def block_of(self, item: int) -> int | None:
        """The block of an item, or None if it is not shown."""
        if self._chosen is None:
            return item + self._lead if 0 <= item < self._scanned else None
        place = bisect_left(self._chosen, item)
        found = place < len(self._chosen) and self._chosen[place] == item
        return place + self._lead if found else None

    def nearest_block(self, item: int) -> int | None:
        """The block of an item or of the nearest shown one before it, else after it."""
        if self._chosen is None:
            return self.block_of(item)
        if not self._chosen:
            return None
        place = bisect_left(self._chosen, item)
        if place < len(self._chosen) and self._chosen[place] == item:
            return place + self._lead
        return max(0, place - 1) + self._lead

    def without_folded(self, mask: bytes, start: int) -> bytes:
        """The mask with all items of folded turns taken out; headings are put back by the pane."""
        part = self.part
        if not part.has_folds:
            return mask
        rows, turns = self.turn_rows()
        if part.all_turns_folded:
            outside = b"".join((b"\1" if turn < 0 else b"\0") * count for count, turn in turns.runs(start))
            return both(mask, outside)
        left = bytearray(mask)
        for turn in self.reading.turns.turns.numbered(part.folded_turns):
            first = bisect_left(rows, turn.start_row)
            end = bisect_right(rows, turn.end_row) if turn.end_row >= 0 else len(rows)
            first, end = max(first, start), max(end, start)
            left[first - start : end - start] = bytes(end - first)
        return bytes(left)

    # -- BlockModel

    def count(self) -> int:
        shown = self._scanned if self._chosen is None else len(self._chosen)
        return shown + self._lead

    def key(self, index: int) -> Hashable:
        item = self.item_of(index)
        return EARLIER if item is None else self.item_key(item)

    def index_of(self, key: Hashable) -> int | None:
        if key == EARLIER:
            return 0 if self._lead else None
        item = self.find_item(key)
        return None if item is None else self.block_of(item)

    def estimate(self, index: int, width: int) -> int:
        item = self.item_of(index)
        return 1 if item is None else self.item_estimate(item, width)

    def layout(self, index: int, width: int) -> Sequence[Line]:
        item = self.item_of(index)
        return [self._earlier(width)] if item is None else self.item_layout(item, width)

    def selectable(self, index: int) -> bool:
        return self.item_of(index) is not None

    def _earlier(self, width: int) -> Line:
        share = self.tr.percent(self.progress)
        return line(Span(self.tr.t("… earlier records are being read ({share})", share=share), "muted"))
