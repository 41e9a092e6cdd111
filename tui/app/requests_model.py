"""The list of requests as blocks of a view: one line each, made when it comes on screen."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence

from tui.app.surroundings import Surroundings
from tui.blocks.cells import cell_len
from tui.blocks.layout import Layout
from tui.blocks.requests_layout import Columns, columns_for, request_line
from tui.blocks.text import Line
from tui.blocks.wording_names import name_text
from tui.nodes.request_table import RequestTable


class RequestsModel:
    """A block model over a `RequestTable`; block 0 is request 1."""

    def __init__(self, table: RequestTable, surroundings: Surroundings) -> None:
        self._table = table
        self._surroundings = surroundings
        self._count = len(table)
        self._longest = max(
            (cell_len(name_text(model)) for model in table.requests.reading.models), default=0
        )

    def columns(self, width: int) -> Columns:
        """The columns at a width."""
        return columns_for(width, self._count, self._longest)

    def extend(self) -> int:
        """Take note of requests that came since; returns how many."""
        before, self._count = self._count, len(self._table)
        return self._count - before

    def count(self) -> int:
        """Requests in all."""
        return self._count

    def key(self, index: int) -> Hashable:
        """The number of the request."""
        return index + 1

    def index_of(self, key: Hashable) -> int | None:
        """Where a request is."""
        return key - 1 if isinstance(key, int) and 1 <= key <= self._count else None

    def estimate(self, index: int, width: int) -> int:
        """One."""
        return 1

    def estimates(self, width: int) -> array[int]:
        """Every request is one line."""
        return array("I", [1]) * self._count

    def layout(self, index: int, width: int) -> Sequence[Line]:
        """The line of a request."""
        around = self._surroundings
        layout = Layout(width, around.tr, expanded=False, ascii=around.ascii_only)
        return [request_line(self._table.row(index + 1), layout, self.columns(width))]

    def selectable(self, index: int) -> bool:
        """Every request can be chosen."""
        return True
