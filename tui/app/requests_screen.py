"""The model requests of a session: a list, and of the selected one lens, difference and body."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.keymap import bind
from tui.app.over_panes import OverPanes
from tui.app.requests_model import RequestsModel
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.json_view import json_lines
from tui.blocks.layout import Layout, hidden_row
from tui.blocks.lens_layout import doubt_lines, lens_lines
from tui.blocks.request_difference import difference_lines
from tui.blocks.requests_layout import heading_line
from tui.blocks.text import EMPTY, Line, Span, line, plain
from tui.blocks.wording_requests import mode_name, mode_text, place_text
from tui.blocks.wrap import wrap
from tui.export.request_wire import body_of, route_of
from tui.i18n import N_
from tui.llm.failure import LlmFailure
from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import RouteBook
from tui.llm.wire import beta_header
from tui.nodes.reading import Reading
from tui.nodes.request_diff import changes_tools, lens_of
from tui.nodes.request_projection import MODES, Doubt, ProjectedRequest, doubts, project
from tui.nodes.request_table import RequestTable
from tui.nodes.requests import Requests

Tab: TypeAlias = Literal["lens", "difference", "body"]

REQUEST_ACTIONS: Final = frozenset(
    (
        *("previous-turn", "next-turn", "previous-tool-change", "next-tool-change"),
        *("previous-error", "next-error", "previous-inspector-tab", "next-inspector-tab", "switch-route"),
        *("show-chat", "show-trajectory", "show-tools", "next-pane", "raw", "pager"),
        "compare-from",
        *("copy", "copy-address", "back"),
    )
)
SIDE_CELLS: Final = 168
"""From this width on list and details stand beside each other."""
LIST_ROWS: Final = 8
"""Rows of the list and its heading, on however low a screen."""
BODY_ROWS: Final = 1_200
"""Rows of a body that are laid out; the pager has them all."""
_TABS: Final[dict[Tab, str]] = {
    "lens": N_("Three routes"),
    "difference": N_("Compared with the one before"),
    "body": N_("Body"),
}


class RequestsScreen(OverPanes):
    """The requests of a session over its panes; closes with where to go.

    Args:
        reading: the session, read to its end.
        surroundings: language, keys, glyphs.
        item: trajectory row to begin at; the last request for -1.
        book: what is known of routes.
    """

    AUTO_FOCUS = "#requests"
    HERE = REQUEST_ACTIONS
    WORDS: ClassVar[Mapping[str, str]] = {
        "cursor-up": N_("Previous request"),
        "cursor-down": N_("Next request"),
        "first": N_("First request"),
        "last": N_("Last request"),
        "activate": N_("To the details of the request"),
        "previous-error": N_("Previous failed request"),
        "next-error": N_("Next failed request"),
        "previous-inspector-tab": N_("Previous of the three tabs"),
        "next-inspector-tab": N_("Next of the three tabs"),
        "next-pane": N_("The list, or the details"),
        "raw": N_("The body, or the three routes"),
        "pager": N_("The whole tab in the pager"),
        "copy": N_("Copy the whole tab"),
        "copy-address": N_("Copy the address of the request"),
        "back": N_("Back to the list, then to the panes"),
    }
    FOOT = (
        ("next-inspector-tab", N_("tab")),
        ("next-tool-change", N_("tool change")),
        ("next-error", N_("error")),
        ("switch-route", N_("route")),
        ("pager", N_("whole")),
        ("show-trajectory", N_("trajectory")),
        ("show-tools", N_("tools")),
        ("back", N_("back")),
        ("help", N_("keys")),
    )
    CSS_PATH: ClassVar = "requests.tcss"

    def __init__(
        self, reading: Reading, surroundings: Surroundings, *, item: int = -1, book: RouteBook | None = None
    ) -> None:
        super().__init__(reading, surroundings)
        self.table = RequestTable(Requests(reading), book)
        self.tab: Tab = "lens"
        self._mode: ToolUpdateMode | Literal["recorded"] = "recorded"
        self._base: int | None = None
        ascii_only = surroundings.ascii_only
        first = self.table.requests.number_at(item) if item >= 0 else None
        self._first = first or len(self.table)
        self.model = RequestsModel(self.table, surroundings)
        self._columns = StatusBar(ascii_only=ascii_only, id="requests-columns")
        self.list = BlockView(self.model, following=False, ascii_only=ascii_only, id="requests")
        self._tabs = StatusBar(ascii_only=ascii_only, classes="inspector-tabs")
        self.detail = BlockView(
            OneBlock(self._lines), following=False, ascii_only=ascii_only, id="request-detail"
        )
        self._panes = Container(id="requests-panes")
        self._list_pane = Vertical(id="requests-list")

    def compose(self) -> ComposeResult:
        self._bind()
        yield self._head
        with self._panes:
            with self._list_pane:
                yield self._columns
                yield self.list
            with Vertical(id="requests-side"):
                yield self._tabs
                yield self.detail
        yield self._foot

    def on_mount(self) -> None:
        self._arrange()
        if self._first:
            self.select(self._first)
        self._tell()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()
        self._tell()

    def _arrange(self) -> None:
        width = self.size.width or self._dsh_app.size.width
        beside = width >= SIDE_CELLS
        self._panes.set_class(beside, "-beside")
        height = self.size.height or self._dsh_app.size.height
        # A short list leaves its room to the details.
        rows = min(len(self.table) + 1, max(LIST_ROWS, height * 2 // 5))
        self._list_pane.styles.height = "1fr" if beside else rows

    def _bind(self) -> None:
        keys, tr = self.surroundings.keys, self.surroundings.tr
        bind(self, keys, tr, "session", "matrix", "requests", only=REQUEST_ACTIONS)
        bind(self.list, keys, tr, "view")
        bind(self.detail, keys, tr, "view")

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self.surroundings = surroundings
        self._bind()
        self.model = RequestsModel(self.table, surroundings)
        self.list.set_model(self.model)
        self._renew_detail(stay=True)
        self._tell()

    # -- the selected request

    @property
    def number(self) -> int:
        """The number of the selected request; 0 if there is none."""
        cursor = self.list.cursor
        return 0 if cursor is None or not len(self.table) else cursor + 1

    @property
    def mode(self) -> ToolUpdateMode:
        """The kind of route that difference and body are told for."""
        return self.table.row(self.number).mode if self._mode == "recorded" else self._mode

    def select(self, number: int) -> None:
        """Select a request."""
        self.list.select(number - 1, place="third")
        self._renew_detail()

    @on(BlockView.Selected, "#requests")
    def _selected(self, event: BlockView.Selected) -> None:
        event.stop()
        self._renew_detail()
        self._tell()

    @on(BlockView.Activated, "#requests")
    def _activated(self, event: BlockView.Activated) -> None:
        event.stop()
        self.detail.focus()

    # -- details

    def _renew_detail(self, *, stay: bool = False) -> None:
        self.detail.set_model(OneBlock(self._lines))
        if not stay:
            self.detail.scroll_to_line(0)
        self._tell_tabs()

    def _lines(self, width: int) -> Sequence[Line]:
        around = self.surroundings
        pager = around.key_word("pager")
        layout = Layout(width, around.tr, expanded=True, ascii=around.ascii_only, pager=pager)
        if not self.number:
            text = around.tr.t("No model request was made in this session.")
            return wrap([Span(text, "muted")], width)
        match self.tab:
            case "lens":
                return self._lens(layout)
            case "difference":
                return self._difference(layout)
            case "body":
                return self._body(layout)

    def _lens(self, layout: Layout) -> list[Line]:
        table, n = self.table, self.number
        row = table.row(n)
        # The column of its own route tells what was sent, which a fall-back may have changed in between.
        found = dict(table.lenses(n))
        found[row.mode] = table.compared(n)[1]
        before, now = table.pair(n)
        doubted: dict[ToolUpdateMode, Sequence[Doubt]] = {
            mode: doubts(table.requests, found[mode].projected, row.sent) for mode in MODES
        }
        return lens_lines(
            row, found, doubted, layout, chosen=self.mode, changes_tools=changes_tools(before, now)
        )

    def _difference(self, layout: Layout) -> list[Line]:
        table, n = self.table, self.number
        base = self._base if self._base != n else None
        if self._mode == "recorded":
            earlier, lens = table.compared(n, base)
        else:
            before, now = table.pair(n, base)
            earlier = project(before, self._mode) if before is not None else None
            lens = lens_of(table.requests, earlier, project(now, self._mode))
        rows = difference_lines(table.row(n), earlier, lens, layout)
        return [*rows, *self._doubts(lens.projected, layout)]

    @property
    def _shown(self) -> ProjectedRequest:
        """The selected request as the kind of route in force is sent it."""
        request = self.table.requests.request(self.number)
        return self.table.as_sent(request) if self._mode == "recorded" else project(request, self._mode)

    def _doubts(self, shown: ProjectedRequest, layout: Layout) -> list[Line]:
        row = self.table.row(self.number)
        return doubt_lines(doubts(self.table.requests, shown, row.sent), layout)

    def _body(self, layout: Layout) -> list[Line]:
        tr, shown = layout.tr, self._shown
        try:
            body = body_of(self.table.book, shown, self.reading.log.path)
        except LlmFailure as failure:
            text = tr.t(
                "This request cannot be put in the form of this route: {reason}.",
                reason=clean_line(failure.message),
            )
            return wrap([Span(text, "warning")], layout.width)
        known = self.table.book.route(shown.request.provider, shown.request.model)
        beta = beta_header(body, route_of(known, shown))
        rows = self._doubts(shown, layout)
        rows = [*rows[1:], EMPTY] if rows else []
        if beta is not None:
            rows += [line(Span("anthropic-beta: ", "muted"), Span(beta, "text")), EMPTY]
        rows += json_lines(body, layout.width, BODY_ROWS)
        return rows if len(rows) < BODY_ROWS else [*rows[: BODY_ROWS - 1], hidden_row(layout, 0, indent=0)]

    def _text(self) -> str:
        """The details as text, nothing left out."""
        if not self.number:
            return ""
        if self.tab == "body":
            try:
                body = body_of(self.table.book, self._shown, self.reading.log.path)
            except LlmFailure:
                return ""
            return json.dumps(body, ensure_ascii=False, indent=2)
        return "\n".join(plain(row).rstrip() for row in self._lines(110))

    # -- what is told

    def grow(self) -> None:
        """Take in requests that came since; the list follows, the selection stays."""
        self.list.model_changed(appended=self.model.extend())
        if self.number == len(self.table):
            # It may have been under way, and is answered now.
            self._renew_detail(stay=True)
        self._tell()

    def _tell(self) -> None:
        tr = self.surroundings.tr
        left = [
            Piece((Span(tr.t("Requests"), "accent"),), keep=100),
            Piece((Span(self._title, "title"),), keep=80),
        ]
        right: list[Piece] = []
        if self.number:
            row = self.table.row(self.number)
            right = [
                Piece((self._own(place_text(tr, row.place), "text"),), keep=70),
                Piece((Span(mode_text(tr, row.mode, row.source), "muted"),), keep=40),
            ]
        right.append(Piece((Span(tr.n("{n} request", "{n} requests", len(self.table)), "muted"),), keep=50))
        self._head.show(left, right)
        width = self.list.content_width
        heading = heading_line(tr, self.model.columns(width), width)
        self._columns.show([Piece((Span(" ", "muted"), *heading.spans), keep=1)])
        self._tell_tabs()
        self._tell_foot()

    def _tell_tabs(self) -> None:
        tr = self.surroundings.tr
        pieces = [
            Piece(
                (Span(tr.t(label), "accent bold underline" if tab == self.tab else "muted"),),
                keep=20 if tab == self.tab else 10,
            )
            for tab, label in _TABS.items()
        ]
        right: list[Piece] = []
        if self.number and self.tab != "lens":
            right = [Piece((Span(tr.t("as {mode}", mode=mode_name(self.mode)), "accent"),), keep=15)]
        if self._base is not None and self.tab == "difference":
            told = tr.t("from request {n}", n=tr.number(self._base))
            right.insert(0, Piece((Span(told, "warning"),), keep=16))
        self._tabs.show(pieces, right)

    # -- actions

    def _choose(self, tab: Tab) -> None:
        self.tab = tab
        self._renew_detail()

    def action_next_inspector_tab(self) -> None:
        tabs = list(_TABS)
        self._choose(tabs[(tabs.index(self.tab) + 1) % len(tabs)])

    def action_previous_inspector_tab(self) -> None:
        tabs = list(_TABS)
        self._choose(tabs[(tabs.index(self.tab) - 1) % len(tabs)])

    def action_raw(self) -> None:
        """The body, or the lens again."""
        self._choose("lens" if self.tab == "body" else "body")

    def action_switch_route(self) -> None:
        """Tell difference and body for the next kind of route; after the last one each for its own."""
        if not self.number:
            return
        choices: list[ToolUpdateMode | Literal["recorded"]] = ["recorded", *MODES]
        self._mode = choices[(choices.index(self._mode) + 1) % len(choices)]
        self._renew_detail(stay=True)
        tr = self.surroundings.tr
        if self._mode == "recorded":
            self.say(tr.t("Each request is shown for its own route."))
        else:
            self.say(tr.t("Requests are shown as on a route of the kind {mode}.", mode=mode_name(self._mode)))

    def action_compare_from(self) -> None:
        """Compare with the selected request from now on; once more: each with the one before it."""
        tr, n = self.surroundings.tr, self.number
        if not n:
            return
        self._base = None if self._base == n else n
        self.tab = "difference"
        self._renew_detail()
        if self._base is None:
            self.say(tr.t("Each request is compared with the one before it."))
        else:
            self.say(tr.t("Requests are compared with request {n}.", n=tr.number(n)))

    def action_next_pane(self) -> None:
        (self.detail if self.list.has_focus else self.list).focus()

    def action_pager(self) -> None:
        if self.number:
            self._page(place_text(self.surroundings.tr, self.table.row(self.number).place), self._text())

    async def action_copy(self) -> None:
        await self._copy(self._text())

    async def action_copy_address(self) -> None:
        if self.number:
            await self._copy(f"{self.reading.log.header.id}@{self.table.row(self.number).place.seq}")

    def _seek(self, step: Literal[1, -1], numbers: Sequence[int], nothing: str) -> None:
        found = self._nearest(step, numbers, self.number, nothing)
        if found is not None:
            self.select(found)
            self._tell()

    def action_next_tool_change(self) -> None:
        self._seek(1, self.table.with_tool_change(), self.surroundings.tr.t("No later tool change."))

    def action_previous_tool_change(self) -> None:
        self._seek(-1, self.table.with_tool_change(), self.surroundings.tr.t("No earlier tool change."))

    def action_next_error(self) -> None:
        self._seek(1, self.table.failed(), self.surroundings.tr.t("No later error."))

    def action_previous_error(self) -> None:
        self._seek(-1, self.table.failed(), self.surroundings.tr.t("No earlier error."))

    def action_next_turn(self) -> None:
        self._seek(1, self.table.first_of_turns(), self.surroundings.tr.t("No later turn."))

    def action_previous_turn(self) -> None:
        self._seek(-1, self.table.first_of_turns(), self.surroundings.tr.t("No earlier turn."))

    # -- leaving

    def action_show_tools(self) -> None:
        self.leave("tools")

    @property
    def item(self) -> int:
        return self.table.row(self.number).place.index if self.number else -1

    def action_back(self) -> None:
        """Back to the list, then to the panes, which stayed where they were."""
        if self.detail.has_focus:
            self.list.focus()
        else:
            self.dismiss(None)
