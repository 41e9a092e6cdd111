"""Tools over time on a screen: the matrix, one line about the cell under the cursor, and the cell in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal

from textual import events, on
from textual.app import ComposeResult

from tui.app.actions import ACTIONS
from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.keymap import bind
from tui.app.matrix_view import MatrixView
from tui.app.over_panes import OverPanes
from tui.app.search_bar import SearchBar, search_keys
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.app.view_jump import ViewJump
from tui.blocks.layout import Layout
from tui.blocks.matrix_detail import cell_lines
from tui.blocks.matrix_words import (
    LEGEND,
    cell_text,
    column_text,
    failure_text,
    legend,
    route_choice_text,
    route_text,
)
from tui.blocks.text import Line, Span, plain
from tui.blocks.wording_names import tool_title
from tui.i18n import N_
from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import RouteBook
from tui.nodes.reading import Reading
from tui.nodes.tool_matrix import ROUTE_CHOICES, RouteChoice, ToolMatrix, Zoom

MATRIX_ACTIONS: Final = frozenset(
    (
        *("previous-turn", "next-turn", "previous-tool-change", "next-tool-change"),
        *("previous-error", "next-error", "search", "filter-tool-changes", "fold-turns", "fold-calls"),
        *("show-chat", "show-trajectory", "show-requests", "next-pane", "toggle-inspector", "pager"),
        *("switch-route", "copy", "copy-address", "back"),
    )
)
_KEEP: Final = {"tool-declared": 90, "tool-offered": 80, "tool-reoffered": 20, "tool-deferred": 3}
"""Which signs are explained where there is no room for all."""


class MatrixScreen(OverPanes):
    """The matrix of a session over its panes; closes with where to go.

    Args:
        reading: the session.
        surroundings: language, keys, glyphs.
        item: trajectory row to begin at; the last request for -1.
        book: what is known of routes.
    """

    AUTO_FOCUS = "#matrix"
    HERE = MATRIX_ACTIONS | {action.id for action in ACTIONS if action.scope == "matrix"}
    WORDS: ClassVar[Mapping[str, str]] = {
        "cursor-up": N_("Previous tool"),
        "cursor-down": N_("Next tool"),
        "first": N_("First request"),
        "last": N_("Last request"),
        "activate": N_("Open or close the cell"),
        "toggle-inspector": N_("Open or close the cell"),
        "previous-error": N_("Previous failed request or call"),
        "next-error": N_("Next failed request or call"),
        "search": N_("Only tools with this in their name"),
        "filter-tool-changes": N_("Only tools that changed, or all"),
        "fold-turns": N_("A column for each turn, or for each request"),
        "fold-calls": N_("Show call counts in wider columns, or not"),
        "next-pane": N_("The matrix, or the open cell"),
        "pager": N_("The whole cell in the pager"),
        "copy": N_("Copy the cell's text"),
        "copy-address": N_("Copy the address of the request"),
        "back": N_("Close the filter, the cell, then the matrix"),
    }
    FOOT = (
        ("column-right", N_("request")),
        ("activate", N_("open")),
        ("next-tool-change", N_("tool change")),
        ("next-error", N_("error")),
        ("search", N_("filter")),
        ("filter-tool-changes", N_("only changed")),
        ("fold-turns", N_("turns")),
        ("fold-calls", N_("calls")),
        ("switch-route", N_("route")),
        ("back", N_("back")),
        ("help", N_("keys")),
    )
    CSS_PATH: ClassVar = "matrix.tcss"

    def __init__(
        self,
        reading: Reading,
        surroundings: Surroundings,
        *,
        item: int = -1,
        book: RouteBook | None = None,
    ) -> None:
        super().__init__(reading, surroundings)
        self._only_changed = False
        self._needle = ""
        self._detailed: tuple[tuple[str, int] | None, Zoom, RouteChoice] | None = None
        """The cell that is open, and how it is told."""
        matrix = ToolMatrix(reading, book=book)
        ascii_only = surroundings.ascii_only
        self.matrix_view = MatrixView(surroundings, matrix, id="matrix")
        if item >= 0:
            self.matrix_view.column = matrix.column_of_item(item)
            self._begin_at_change(item)
        self._cell = StatusBar(ascii_only=ascii_only, id="matrix-cell")
        self._legend = StatusBar(ascii_only=ascii_only, id="matrix-legend")
        self.detail = BlockView(
            OneBlock(self._lines), following=False, ascii_only=ascii_only, id="matrix-detail"
        )

    def compose(self) -> ComposeResult:
        self.detail.display = False
        self._bind()
        self._tell()
        yield self._head
        yield self.matrix_view
        yield self._cell
        yield self.detail
        yield self._legend
        yield self._foot

    def _bind(self) -> None:
        keys, tr = self.surroundings.keys, self.surroundings.tr
        bind(self, keys, tr, "session", "requests", only=MATRIX_ACTIONS)
        bind(self.matrix_view, keys, tr, "view", "matrix")
        bind(self.detail, keys, tr, "view")

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self.surroundings = surroundings
        self._bind()
        self.matrix_view.renew(surroundings)
        if (bar := self._bar()) is not None:
            bar.renew(surroundings)
        self._tell()

    @property
    def matrix(self) -> ToolMatrix:
        """The matrix shown."""
        return self.matrix_view.matrix

    def _begin_at_change(self, item: int) -> None:
        """Put the cursor on the first tool that the record to begin at changes or calls."""
        if not len(self.matrix):
            return
        cells = self.matrix.cells(self.matrix_view.column)
        row = self.reading.trajectory.index.rows[item]
        called = self.reading.called
        at = called.rows.index(row) if row in called.rows else -1
        name = called.names[called.tools[at]] if at >= 0 else None
        if name is None:
            name = next((each for each in self.matrix.tools if each in cells and cells[each].mark), None)
        if name is not None:
            self.matrix_view.tool = self.matrix.tools.index(name)

    # -- what is told

    def grow(self) -> None:
        """Take in what came since; the cursor stays on its cell, or at the newest request if it was there."""
        matrix, at = self.matrix.renewed(), self.matrix_view.column
        self._show(matrix, column=len(matrix) - 1 if at >= len(self.matrix) - 1 else at)

    @on(MatrixView.Moved)
    def _moved(self) -> None:
        self._tell()
        if self.detail.display:
            self._renew_detail()

    @on(MatrixView.Opened)
    def _opened(self) -> None:
        self.action_toggle_inspector()

    def _tell(self) -> None:
        tr, matrix = self.surroundings.tr, self.matrix
        shown = len(self.matrix_view.names)
        tools = tr.n("{n} tool", "{n} tools", len(matrix.tools))
        if shown != len(matrix.tools):
            tools = tr.t("{n} of {tools}", n=tr.number(shown), tools=tools)
        left = [
            Piece((Span(self._title, "title"),), keep=80),
            Piece((Span(tr.t("Tools over time"), "accent"),), keep=100),
        ]
        right = [
            Piece((Span(tr.t("only changed"), "warning"),), keep=60),
            Piece((Span(route_choice_text(tr, matrix.route), "muted"),), keep=40),
            Piece((Span(tr.n("{n} request", "{n} requests", matrix.requests), "muted"),), keep=50),
            Piece((Span(tools, "muted"),), keep=55),
        ]
        self._head.show(left, right if self._only_changed else right[1:])
        self._tell_cell()
        kept = dict(_KEEP)
        if matrix.route != "in-history" and (not len(matrix) or self._mode != "in-history"):
            # The signs of an in-history route give way to those that can be seen.
            kept |= {"tool-inactive": 5, "tool-reoffered": 4}
        signs = legend(tr, ascii_only=self.surroundings.ascii_only)
        self._legend.show(
            [Piece(pair, keep=kept.get(what, 50)) for (what, _), pair in zip(LEGEND, signs, strict=True)]
        )
        self._tell_foot()

    @property
    def _mode(self) -> ToolUpdateMode:
        return self.matrix.column(self.matrix_view.column).mode

    def _tell_cell(self) -> None:
        tr, found = self.surroundings.tr, self.matrix_view.cell_at_cursor
        if found is None:
            self._cell.show()
            return
        name, at = found
        column = self.matrix.column(at)
        failed = failure_text(tr, self.matrix, at)
        self._cell.show(
            [
                Piece((self._own(tool_title(name), "tool bold"),), keep=100),
                Piece((self._own(cell_text(tr, self.matrix, name, at), "text"),), keep=90),
            ],
            [
                *([Piece((Span(failed, "error"),), keep=75)] if failed else []),
                Piece((self._own(column_text(tr, column), "muted"),), keep=80),
                Piece((self._own(route_text(tr, column), "muted"),), keep=30),
            ],
        )

    # -- the cell in full

    def _lines(self, width: int) -> Sequence[Line]:
        found = self.matrix_view.cell_at_cursor
        if found is None:
            return []
        around = self.surroundings
        pager = around.key_word("pager")
        layout = Layout(width, around.tr, expanded=True, ascii=around.ascii_only, pager=pager)
        return cell_lines(self.matrix, *found, layout)

    def _renew_detail(self) -> None:
        """Show the cell under the cursor, from its top unless it is the one that is shown already."""
        shown = (self.matrix_view.cell_at_cursor, self.matrix.zoom, self.matrix.route)
        self.detail.set_model(OneBlock(self._lines))
        if shown != self._detailed:
            self._detailed = shown
            self.detail.scroll_to_line(0)

    def action_toggle_inspector(self) -> None:
        self.detail.display = not self.detail.display
        self._detailed = None
        if self.detail.display:
            self._renew_detail()
        else:
            self.matrix_view.focus()

    def action_next_pane(self) -> None:
        if self.detail.display and self.matrix_view.has_focus:
            self.detail.focus()
        else:
            self.matrix_view.focus()

    def action_pager(self) -> None:
        if name := self.matrix_view.name_at_cursor:
            self._page(tool_title(name), self._text())

    def _text(self) -> str:
        """The cell in full as text, nothing left out."""
        found = self.matrix_view.cell_at_cursor
        layout = Layout(100, self.surroundings.tr, expanded=True, full=True)
        rows = cell_lines(self.matrix, *found, layout) if found is not None else []
        return "\n".join(plain(row).rstrip() for row in rows)

    async def action_copy(self) -> None:
        await self._copy(self._text())

    async def action_copy_address(self) -> None:
        if len(self.matrix):
            log, row = self.reading.log, self.matrix.column(self.matrix_view.column).row
            await self._copy(f"{log.header.id}@{log.seq(row)}")

    # -- landmarks

    def _seek(self, step: Literal[1, -1], columns: Sequence[int], nothing: str) -> None:
        found = self._nearest(step, columns, self.matrix_view.column, nothing)
        if found is not None:
            self.matrix_view.go(column=found)

    def _seek_change(self, step: Literal[1, -1]) -> None:
        tr = self.surroundings.tr
        nothing = tr.t("No later tool change.") if step > 0 else tr.t("No earlier tool change.")
        before = self.matrix_view.column
        self._seek(step, self.matrix.changed_columns(self.matrix_view.names), nothing)
        if self.matrix_view.column == before:
            return
        cells = self.matrix.cells(self.matrix_view.column)
        marked = [at for at, name in enumerate(self.matrix_view.names) if name in cells and cells[name].mark]
        if marked and self.matrix_view.tool not in marked:
            self.matrix_view.go(tool=marked[0])

    def action_previous_tool_change(self) -> None:
        self._seek_change(-1)

    def action_next_tool_change(self) -> None:
        self._seek_change(1)

    def _seek_error(self, step: Literal[1, -1]) -> None:
        tr, names = self.surroundings.tr, self.matrix_view.names
        calls = [(column, name) for column, name in self.matrix.failed_places() if name in names]
        columns = sorted({*self.matrix.failed_columns, *(column for column, _ in calls)})
        nothing = tr.t("No later error.") if step > 0 else tr.t("No earlier error.")
        before = self.matrix_view.column
        self._seek(step, columns, nothing)
        here = self.matrix_view.column
        name = next((name for column, name in calls if column == here), None)
        if here != before and name is not None:
            self.matrix_view.go(tool=names.index(name))

    def action_previous_error(self) -> None:
        self._seek_error(-1)

    def action_next_error(self) -> None:
        self._seek_error(1)

    def _seek_turn(self, step: Literal[1, -1]) -> None:
        matrix, tr = self.matrix, self.surroundings.tr
        starts = [at for at in range(len(matrix)) if not at or matrix.turn(at) != matrix.turn(at - 1)]
        self._seek(step, starts, tr.t("No later turn.") if step > 0 else tr.t("No earlier turn."))

    def action_previous_turn(self) -> None:
        self._seek_turn(-1)

    def action_next_turn(self) -> None:
        self._seek_turn(1)

    # -- what is shown

    def _show(self, matrix: ToolMatrix | None = None, column: int | None = None) -> None:
        matrix = matrix if matrix is not None else self.matrix
        needle = self._needle.casefold()
        names = [
            name
            for name in matrix.tools
            if (not self._only_changed or name in matrix.changing)
            and (needle in name.casefold() or needle in tool_title(name).casefold())
        ]
        self.matrix_view.show(matrix, names, column=column)
        if (bar := self._bar()) is not None:
            bar.show_hits(None, len(names))

    def action_filter_tool_changes(self) -> None:
        """Show only tools that something happened to, or all."""
        self._only_changed = not self._only_changed
        self._show()
        tr, key = self.surroundings.tr, self.surroundings.key("filter-tool-changes")
        if not self._only_changed:
            self.say(tr.t("All tools are shown again."))
        elif self.matrix_view.names:
            self.say(tr.t("Only tools that changed are shown; {key} shows all of them again.", key=key))
        else:
            self.say(tr.t("No tool of this session has changed; {key} shows all of them again.", key=key))

    def action_fold_turns(self) -> None:
        """A column for each turn, or for each request."""
        zoom: Zoom = "turn" if self.matrix.zoom == "request" else "request"
        matrix = self.matrix.zoomed(zoom)
        last = self.matrix.column(self.matrix_view.column).last if len(self.matrix) else 1
        self._show(matrix, column=matrix.column_of_request(last))
        tr = self.surroundings.tr
        self.say(tr.t("Each column is a turn.") if zoom == "turn" else tr.t("Each column is a request."))

    def action_fold_calls(self) -> None:
        """Count calls in a second cell of each column, or draw narrow columns again."""
        self.matrix_view.show(cells=2 if self.matrix_view.cells == 1 else 1)

    def action_switch_route(self) -> None:
        """Tell the columns as the next kind of route."""
        at = ROUTE_CHOICES.index(self.matrix.route)
        route = ROUTE_CHOICES[(at + 1) % len(ROUTE_CHOICES)]
        self._show(self.matrix.routed(route))
        self.say(route_choice_text(self.surroundings.tr, route))

    # -- filter by name

    def _bar(self) -> SearchBar | None:
        return next(iter(self.query(SearchBar)), None)

    async def action_search(self) -> None:
        bar = self._bar()
        if bar is None:
            bar = SearchBar(self.surroundings, hint=N_("Part of a tool's name"))
            await self.mount(bar, before=self._foot)
        bar.type()

    @on(SearchBar.SearchChanged)
    def _filter_changed(self, event: SearchBar.SearchChanged) -> None:
        self._needle = event.text
        self._show()

    @on(SearchBar.SearchStep)
    def _filter_step(self, event: SearchBar.SearchStep) -> None:
        if event.accepted:
            self.matrix_view.focus()
        else:
            self.matrix_view.move(tools=event.step)

    @on(SearchBar.SearchClosed)
    def _filter_closed(self) -> None:
        self._end_filter()

    def _end_filter(self) -> None:
        if (bar := self._bar()) is not None:
            bar.remove()
        self._needle = ""
        self.matrix_view.focus()
        self._show()

    @on(events.DescendantFocus)
    def _typing_began_or_ended(self, event: events.DescendantFocus) -> None:
        self._tell_foot()

    def _tell_foot(self) -> None:
        bar = self._bar()
        if bar is not None and bar.is_typing and not self._notice:
            end = self.surroundings.tr.t("end the filter")
            self._foot.show(search_keys(self.surroundings, typing=True, end=end))
        else:
            super()._tell_foot()

    # -- leaving

    @property
    def item(self) -> int:
        """The request under the cursor; a call or change of the tool there comes first."""
        found = self.matrix_view.cell_at_cursor
        if found is None:
            return -1
        name, at = found
        calls = [call.item for call in self.matrix.calls(name, at) if call.item >= 0]
        if calls:
            return calls[0]
        if self.matrix.cell(name, at).mark:
            rows = [each.row for each in self.matrix.happened(name) if self.matrix.column_of(each) == at]
            item = self.reading.trajectory.index.exactly(rows[-1]) if rows else None
            if item is not None:
                return item
        return self.matrix.column(at).item

    def action_show_requests(self) -> None:
        at = self.matrix_view.column
        self.dismiss(ViewJump("requests", self.matrix.column(at).item if len(self.matrix) else -1))

    def action_back(self) -> None:
        """Close the filter, the cell, then the screen; the panes stay where they were."""
        if self._bar() is not None:
            self._end_filter()
        elif self.detail.display:
            self.action_toggle_inspector()
        else:
            self.dismiss(None)
