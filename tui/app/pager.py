"""The pager: one text of any length on the whole screen, searched, copied, and shown raw at a key."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from textual import events, on, work
from textual.app import ComposeResult
from textual.message import Message

from tui.app.actions import key_names
from tui.app.block_view import BlockView
from tui.app.keymap import bind
from tui.app.page_over import PageOver
from tui.app.pager_text import PagerText
from tui.app.search_bar import SearchBar, search_keys
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.text import Span

PAGER_ACTIONS = frozenset(
    (
        *("search", "next-match", "previous-match", "raw", "copy", "back", "quit", "pager"),
        *("switch-language", "switch-theme"),
    )
)


class Pager(PageOver):
    """Shows a text whole.

    Args:
        surroundings: language, keys and glyphs.
        title: what the text is; cleaned here.
        text: the text as it is, uncleaned.
        find: a text to be searched for at once.
    """

    class CopyRequested(Message):
        """The whole text, as it is, shall be copied."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, surroundings: Surroundings, title: str, text: str, *, find: str = "") -> None:
        super().__init__()
        self._surroundings = surroundings
        self._title = clean_line(title)
        self._model = PagerText(text)
        self._size_bytes = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        self._view = BlockView(self._model, following=False, ascii_only=surroundings.ascii_only)
        self._head = StatusBar(ascii_only=surroundings.ascii_only, classes="head")
        self._foot = StatusBar(ascii_only=surroundings.ascii_only, classes="foot")
        self._hits: array[int] = array("Q")
        self._hit: int | None = None
        self._wanted = find

    def compose(self) -> ComposeResult:
        """Title, text, search bar when wanted, keys."""
        yield self._head
        yield self._view
        yield self._foot

    def on_mount(self) -> None:
        """Bind the keys and show the start."""
        keys, tr = self._surroundings.keys, self._surroundings.tr
        bind(self._view, keys, tr, "view")
        bind(self, keys, tr, "session", "app", only=PAGER_ACTIONS)
        self._view.focus()
        self._tell()
        if self._wanted:
            self.call_after_refresh(self._find_wanted)

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language; the text stays as it is."""
        self._surroundings = surroundings
        bind(self._view, surroundings.keys, surroundings.tr, "view")
        bind(self, surroundings.keys, surroundings.tr, "session", "app", only=PAGER_ACTIONS)
        if (bar := self._bar()) is not None:
            bar.renew(surroundings)
        self._tell_hits(None)
        self._tell()

    @on(events.DescendantFocus)
    def _typing_began_or_ended(self, event: events.DescendantFocus) -> None:
        self._tell()

    # -- actions --

    def action_back(self) -> None:
        """End the search, or close."""
        bar = self._bar()
        if bar is not None:
            self._close_search(bar)
        else:
            self.dismiss(None)

    def action_pager(self) -> None:
        """Close: the key that opened it."""
        self.dismiss(None)

    def action_copy(self) -> None:
        """Ask for the whole text to be copied."""
        self.post_message(self.CopyRequested(self._model.text))

    def action_raw(self) -> None:
        """Show control characters as signs, or leave them out again."""
        raw = not self._model.raw
        self._model.raw = raw
        self._view.model_changed()
        self._tell()

    async def action_search(self) -> None:
        """Open the search bar, or let keys go into it again."""
        (await self._opened_bar()).type()

    async def _opened_bar(self) -> SearchBar:
        bar = self._bar()
        if bar is None:
            bar = SearchBar(self._surroundings)
            await self.mount(bar, before=self._foot)
        return bar

    async def _find_wanted(self) -> None:
        (await self._opened_bar()).fill(self._wanted)
        self._tell()

    def action_next_match(self) -> None:
        """The next hit."""
        self._step(1)

    def action_previous_match(self) -> None:
        """The hit before."""
        self._step(-1)

    # -- search --

    @on(SearchBar.SearchChanged)
    def _search_changed(self, event: SearchBar.SearchChanged) -> None:
        event.stop()
        self._hit = None
        self._hits = array("Q")
        self._view.highlight(event.text)
        self._find(event.text)

    @on(SearchBar.SearchStep)
    def _search_step(self, event: SearchBar.SearchStep) -> None:
        event.stop()
        if event.accepted:
            self._view.focus()
            if self._hit is None:
                self._step(1)
        else:
            self._step(event.step)

    @on(SearchBar.SearchClosed)
    def _search_closed(self, event: SearchBar.SearchClosed) -> None:
        event.stop()
        if (bar := self._bar()) is not None:
            self._close_search(bar)

    @on(BlockView.FollowChanged)
    def _follow_changed(self, event: BlockView.FollowChanged) -> None:
        event.stop()

    @work(exclusive=True, group="pager-search")
    async def _find(self, needle: str) -> None:
        """Search step by step; between the steps keys are heard, and another text cancels this one."""
        from asyncio import sleep

        first = not needle
        for done, hits in self._model.find(needle):
            self._hits = hits
            if hits and not first:
                first = True
                self._show_hit(self._nearest())
            self._tell_hits(None if done >= 1 else done)
            await sleep(0)

    def _nearest(self) -> int:
        """The first hit from the top of the window on."""
        rows = self._view.visible_rows
        top = self._model.span(rows[0].block)[0] if rows else 0
        return min(bisect_left(self._hits, top), len(self._hits) - 1)

    def _step(self, step: int) -> None:
        if not self._hits:
            return
        hit = (
            (self._nearest() if step > 0 else self._nearest() - 1) if self._hit is None else self._hit + step
        )
        self._show_hit(hit % len(self._hits))
        self._tell_hits(None)

    def _show_hit(self, hit: int) -> None:
        self._hit = hit
        index, row = self._model.row_of(self._hits[hit], self._view.content_width)
        self._view.reveal_row(index, row)

    def _close_search(self, bar: SearchBar) -> None:
        # An empty search cancels the one that runs.
        self._find("")
        self._hits, self._hit = array("Q"), None
        self._view.highlight("")
        self._view.focus()
        bar.remove()
        self._tell_keys(None)

    # -- telling --

    def _bar(self) -> SearchBar | None:
        return next(iter(self.query(SearchBar)), None)

    def _tell_hits(self, done: float | None) -> None:
        if (bar := self._bar()) is not None:
            position = None if self._hit is None else self._hit + 1
            bar.show_hits(position, len(self._hits), done=done)

    def _tell(self) -> None:
        tr, model = self._surroundings.tr, self._model
        lines = model.line_count()
        count = tr.n("{n} line", "{n} lines", lines)
        size = tr.size(self._size_bytes)
        right = [Piece((Span(count, "muted"),), keep=2), Piece((Span(size, "muted"),), keep=1)]
        if model.raw:
            right.insert(0, Piece((Span(tr.t("control characters shown"), "warning"),), keep=3))
        self._head.show([Piece((Span(self._title, "title"),), keep=9)], right)
        self._tell_keys(self._bar())

    def _tell_keys(self, bar: SearchBar | None) -> None:
        if bar is not None:
            self._foot.show(search_keys(self._surroundings, typing=bar.is_typing))
            return
        tr, keys, ascii_only = self._surroundings.tr, self._surroundings.keys, self._surroundings.ascii_only
        shown = (
            ("back", tr.t("close")),
            ("search", tr.t("search")),
            ("raw", tr.t("raw")),
            ("copy", tr.t("copy")),
        )
        self._foot.show(
            [
                Piece(
                    (
                        Span(key_names(keys[name][:1], tr, ascii_only=ascii_only), "key"),
                        Span(f" {label}", "muted"),
                    )
                )
                for name, label in shown
                if keys[name]
            ],
        )
