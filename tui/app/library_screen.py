"""The screen of bare `dsh-tui`: every session of the homes in a list, with a preview and a filter.

Rows come at once from first lines; what needs a whole log is filled in behind, what is on screen first, in
slices between which keys are answered. Nothing is written, and nothing is read while another screen is above.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.timer import Timer

from tui.app.actions import ACTIONS, key_names
from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.keymap import bind
from tui.app.library_model import LibraryModel
from tui.app.library_preview import Preview, preview_lines, read_preview
from tui.app.search_bar import SearchBar, search_keys
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.text import Line, Span
from tui.blocks.wording_errors import error_text
from tui.blocks.wrap import wrap
from tui.i18n import N_
from tui.session.errors import SessionUnreadable
from tui.session.library import LibraryRow, scan
from tui.session.library_cache import LibraryCache
from tui.session.store import Homes

if TYPE_CHECKING:
    from textual.app import App

    from tui.app.conversation import DemoStarter

WIDE_CELLS = 140
"""From this width on the preview stands beside the list, below it otherwise."""
_SCAN_SECONDS = 0.012
_PREVIEW_AFTER_SECONDS = 0.06
_KEPT_PREVIEWS = 64
_OWN_ACTIONS = frozenset(("search", "back"))


class LibraryScreen(Screen[None]):
    """The session library.

    Args:
        homes: where sessions are looked for.
        surroundings: language, keys, glyphs.
        open_path: shows the log at a path; by default the session's screen is put over this one. May raise
            `SessionUnreadable`, which is told in one sentence.
        demo: starts the demo, offered where there is no session.
        cache: what earlier runs read of whole logs.
    """

    CSS_PATH = "library.tcss"

    def __init__(
        self,
        homes: Homes,
        surroundings: Surroundings,
        open_path: Callable[[Path], None] | None = None,
        *,
        demo: DemoStarter | None = None,
        cache: LibraryCache | None = None,
    ) -> None:
        super().__init__()
        self._homes = homes
        self._cache = cache or LibraryCache()
        self.surroundings = surroundings
        self._open_path = open_path or self._open_over
        self._demo = demo
        self.model = LibraryModel(surroundings, _now())
        ascii_only = surroundings.ascii_only
        self._head = StatusBar(ascii_only=ascii_only, id="library-head")
        self._columns = BlockView(
            OneBlock(lambda width: [self.model.heading(width)]),
            following=False,
            ascii_only=ascii_only,
            id="library-columns",
        )
        self._list = BlockView(self.model, following=False, ascii_only=ascii_only, id="library-list")
        self._preview = BlockView(
            OneBlock(self._preview_lines), following=False, ascii_only=ascii_only, id="library-preview"
        )
        self._nothing = BlockView(
            _Offer(self._nothing_lines), following=False, ascii_only=ascii_only, id="library-nothing"
        )
        for view in (self._columns, self._preview, self._nothing):
            view.can_focus = False
        self._panes = Container(id="library-panes")
        self._foot = StatusBar(ascii_only=ascii_only, id="library-foot")
        self._bar: SearchBar | None = None
        self._previews: dict[tuple[str, int | None], Preview] = {}
        self._preview_timer: Timer | None = None
        self._is_scanned = False
        self._left = 0
        self._said = ""
        self._is_touched = False
        self._starts_demo = False
        self._current = asyncio.Event()

    def compose(self) -> ComposeResult:
        """List and preview between two status lines."""
        yield self._head
        with self._panes:
            with Vertical(id="library-side"):
                yield self._columns
                yield self._list
                yield self._nothing
            yield self._preview
        yield self._foot

    def on_mount(self) -> None:
        """Bind the keys and begin to look for sessions."""
        keys, tr = self.surroundings.keys, self.surroundings.tr
        bind(self, keys, tr, "session", only=_OWN_ACTIONS)
        bind(self._list, keys, tr, "view")
        self._nothing.display = False
        self._arrange()
        self._list.focus()
        self._current.set()
        self.run_worker(self._load(), group="library", exclusive=True)

    def on_screen_suspend(self) -> None:
        """Rest while another screen lies over this one."""
        self._current.clear()

    def on_screen_resume(self) -> None:
        """Go on where the reading rested."""
        self.model.now_ms = _now()
        self._current.set()
        self._list.model_changed()

    def on_resize(self) -> None:
        """Put the preview where there is room for it."""
        self._arrange()

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self.surroundings = self.model.surroundings = surroundings
        bind(self, surroundings.keys, surroundings.tr, "session", only=_OWN_ACTIONS)
        bind(self._list, surroundings.keys, surroundings.tr, "view")
        for view in (self._columns, self._list, self._preview, self._nothing):
            view.model_changed()
        if self._bar is not None:
            self._bar.renew(surroundings)
        self._show_status()

    def present_actions(self) -> dict[str, str]:
        """The actions there are here, each with what it does here where that is not the registry's word."""
        tr = self.surroundings.tr
        present = {action.id: "" for action in ACTIONS if action.scope in ("view", "app")}
        return present | {
            "cursor-up": tr.t("Previous session"),
            "cursor-down": tr.t("Next session"),
            "first": tr.t("First session"),
            "last": tr.t("Last session"),
            "search": tr.t("Filter the list"),
            "activate": tr.t("Open the session"),
            "back": tr.t("End the filter"),
        }

    @property
    def selected(self) -> LibraryRow | None:
        """The session under the cursor."""
        cursor = self._list.cursor
        return self.model.entry(cursor).row if cursor is not None and cursor < self.model.count() else None

    @property
    def is_idle(self) -> bool:
        """Whether every session is listed and filled in."""
        return self._is_scanned and not self._left

    def say(self, sentence: str) -> None:
        """Say one sentence in the status line until the cursor moves."""
        self._said = sentence
        self._show_status()

    # -- loading --

    async def _load(self) -> None:
        rows: list[LibraryRow] = []
        until = perf_counter() + _SCAN_SECONDS
        for row in scan(self._homes):
            rows.append(self._cache.filled(row))
            if perf_counter() >= until:
                self._take(rows)
                await asyncio.sleep(0)
                until = perf_counter() + _SCAN_SECONDS
        self._is_scanned = True
        self._take(rows)
        await self._fill({str(row.path): row for row in rows if not row.filled})

    def _take(self, rows: list[LibraryRow]) -> None:
        """Show the sessions found so far; the cursor stays on the newest until the reader moves it."""
        self.model.set_rows(rows)
        self._left = sum(1 for row in rows if not row.filled)
        self._list.model_changed()
        if self.model.count() and not self._is_touched:
            self._list.select(0, notify=False)
            self._want_preview()
        empty = self._is_scanned and not rows
        if empty != self._nothing.display:
            self._nothing.display = empty
            self._list.display = self._columns.display = not empty
            self._arrange()
            if empty:
                self._nothing.can_focus = True
                bind(self._nothing, self.surroundings.keys, self.surroundings.tr, "view")
                if self._demo is not None:
                    self._nothing.select(0, notify=False)
                self._nothing.focus()
        self._show_status()

    async def _fill(self, waiting: dict[str, LibraryRow]) -> None:
        while waiting:
            row = waiting.pop(self._next_of(waiting))
            steps = self._cache.fill_steps(row)
            try:
                while True:
                    await self._current.wait()
                    try:
                        next(steps)
                    except StopIteration as stop:
                        self._filled(stop.value)
                        break
                    await asyncio.sleep(0)
            finally:
                steps.close()
            await asyncio.sleep(0)
        self._cache.save()

    def on_unmount(self) -> None:
        """Keep what was read for the next run, also of a reading that was left."""
        self._cache.save()

    def _next_of(self, waiting: dict[str, LibraryRow]) -> str:
        """What to read next: the selected session, then those on screen, then the rest."""
        selected = self.selected
        if selected is not None and str(selected.path) in waiting:
            return str(selected.path)
        for position in self._list.visible_rows:
            if position.block < self.model.count():
                key = str(self.model.key(position.block))
                if key in waiting:
                    return key
        return next(iter(waiting))

    def _filled(self, row: LibraryRow) -> None:
        self._left -= 1
        place = self.model.update(row)
        if place is not None:
            self._list.refresh_block(place)
        elif self.model.is_filtered:
            self._list.model_changed()
        selected = self.selected
        if selected is not None and selected.path == row.path:
            self._preview.model_changed()
        self._show_status()

    # -- preview --

    def _want_preview(self) -> None:
        """Show the preview of the selected session, read a moment after the cursor has come to rest."""
        self._show_preview()
        if self._preview_timer is not None:
            self._preview_timer.stop()
        self._preview_timer = self.set_timer(_PREVIEW_AFTER_SECONDS, self._read_preview)

    def _read_preview(self) -> None:
        self._preview_timer = None
        row = self.selected
        if row is None or row.log is None or self._preview_key(row) in self._previews:
            return
        if len(self._previews) >= _KEPT_PREVIEWS:
            self._previews.pop(next(iter(self._previews)))
        self._previews[self._preview_key(row)] = read_preview(row.log)
        self._show_preview()

    def _show_preview(self) -> None:
        self._preview.model_changed()
        self._preview.action_first()

    def _preview_key(self, row: LibraryRow) -> tuple[str, int | None]:
        return str(row.log), row.updated_ms

    def _preview_lines(self, width: int) -> list[Line]:
        row = self.selected
        if row is None:
            return []
        found = self._previews.get(self._preview_key(row))
        return preview_lines(self.surroundings, row, found, width, self.model.now_ms)

    def _nothing_lines(self, width: int) -> list[Line]:
        tr = self.surroundings.tr
        key = self.surroundings.key_word("activate") if self._demo is not None else ""
        if key:
            sentence = tr.t(
                "There are no sessions yet. {key} starts the demo, as `dsh-tui demo` does: a built-in model "
                "to talk to while tools come and go; it needs no API key and no network.",
                key=key,
            )
        else:
            sentence = tr.t(
                "There are no sessions yet. `dsh-tui demo` starts the demo: a built-in model to talk to "
                "while tools come and go; it needs no API key and no network."
            )
        folders = [clean_line(str(path)) for _, path in self._homes.stores()]
        looked = tr.t("Looked in {folders}.", folders=tr.join(folders))
        return [*wrap([Span(sentence, "text")], width), *wrap([Span(looked, "faint")], width)]

    # -- messages --

    @on(BlockView.Selected, "#library-list")
    def _moved(self, event: BlockView.Selected) -> None:
        self._is_touched, self._said = True, ""
        self._want_preview()
        self._show_status()

    @on(BlockView.Activated, "#library-list")
    def _activated(self, event: BlockView.Activated) -> None:
        row = self.model.entry(event.index).row
        if row.log is None:
            self.say(self.surroundings.tr.t("There is no log in this folder to open."))
        else:
            self._open(row.log)

    def _open(self, path: Path) -> None:
        try:
            self._open_path(path)
        except SessionUnreadable as error:
            self.say(error_text(self.surroundings.tr, error))

    def _open_over(self, path: Path) -> None:
        from tui.app.loader import open_reading
        from tui.app.session_screen import SessionScreen

        whole, tail = open_reading(path)
        _app(self).push_screen(SessionScreen(whole, tail, self.surroundings))

    @on(SearchBar.SearchChanged)
    def _filter_changed(self, event: SearchBar.SearchChanged) -> None:
        event.stop()
        self._filter(event.text)

    @on(SearchBar.SearchStep)
    def _filter_stepped(self, event: SearchBar.SearchStep) -> None:
        event.stop()
        if event.accepted:
            self._list.focus()
        elif event.step > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    @on(events.DescendantFocus)
    def _typing_began_or_ended(self, event: events.DescendantFocus) -> None:
        if self._bar is not None:
            self._show_status()

    @on(SearchBar.SearchClosed)
    def _filter_closed(self, event: SearchBar.SearchClosed) -> None:
        event.stop()
        self.action_back()

    def _filter(self, text: str) -> None:
        self.model.filter(text)
        self._list.model_changed()
        if self.model.count() and self.selected is None:
            self._list.select(0, notify=False)
        self._want_preview()
        self._show_hits()

    def _show_hits(self) -> None:
        if self._bar is not None:
            self._bar.show_hits(None, self.model.count())

    # -- actions --

    def action_search(self) -> None:
        """Filter the list as one types."""
        if self._bar is None:
            self._bar = SearchBar(
                self.surroundings, hint=N_("title, workspace, model or id"), id="library-filter"
            )
            self.mount(self._bar, before=self._foot)
            self.call_after_refresh(self._bar.type)
            self._show_status()
        else:
            self._bar.type()

    def action_back(self) -> None:
        """End the filter."""
        if self._bar is not None:
            self._bar.remove()
            self._bar = None
            self._filter("")
            self._list.focus()
            self._show_status()

    @on(BlockView.Activated, "#library-nothing")
    def _demo_wanted(self, event: BlockView.Activated) -> None:
        if self._demo is not None and not self._starts_demo:
            self._starts_demo = True
            self.run_worker(self._play(self._demo))

    async def _play(self, demo: DemoStarter) -> None:
        from tui.app.live_screen import LiveScreen

        started = await demo(self.surroundings.tr)
        self._starts_demo = False
        if isinstance(started, str):
            self.say(started)
        else:
            _app(self).push_screen(LiveScreen(started, self.surroundings))

    # -- around --

    def _arrange(self) -> None:
        """Put the preview beside the list, below it, or away on a screen too low for both."""
        width, height = _app(self).size
        self._panes.set_class(width >= WIDE_CELLS, "-wide")
        self._preview.display = self._list.display and (width >= WIDE_CELLS or height >= 16)
        self._show_status()

    def _show_status(self) -> None:
        surroundings = self.surroundings
        tr = surroundings.tr
        count = tr.n("{n} session", "{n} sessions", self.model.total) if self.model.total else ""
        right = [Piece((Span(count, "text"),), keep=3)]
        if not self._is_scanned or self._left:
            done = self.model.total - self._left
            told = tr.t("reading {done} of {total}", done=tr.number(done), total=tr.number(self.model.total))
            right.insert(0, Piece((Span(told if self._is_scanned else "…", "muted"),), keep=1))
        self._head.show([Piece((Span(tr.t("Sessions"), "title"),), keep=5)], right)
        if self._said:
            self._foot.show([Piece((Span(self._said, "warning"),))])
        else:
            self._foot.show(self._keys())
        self._show_hits()

    def _keys(self) -> list[Piece]:
        """The keys of this screen; what the registry calls opening and searching is more special here."""
        surroundings = self.surroundings
        tr = surroundings.tr
        if self._bar is not None and self._bar.is_typing:
            return search_keys(surroundings, typing=True, end=tr.t("end the filter"))
        filtering = self._bar is not None
        shown = (
            (("cursor-up", "cursor-down"), tr.t("move"), 4),
            (("activate",), tr.p("key of the library", "open"), 3),
            (("search",), tr.p("key of the library", "filter"), 2),
            (("back",), tr.t("end the filter") if filtering else "", 3),
            (("help",), tr.t("keys"), 5),
            (("quit",), tr.t("quit"), 1),
        )
        pieces: list[Piece] = []
        for actions, label, keep in shown:
            first = [surroundings.keys[action][0] for action in actions if surroundings.keys[action]]
            if first and label:
                names = key_names(first, tr, ascii_only=surroundings.ascii_only)
                pieces.append(Piece((Span(names, "key"), Span(f" {label}", "muted")), keep=keep))
        return pieces


class _Offer(OneBlock):
    """A page that Enter accepts."""

    def selectable(self, index: int) -> bool:
        """Always: there is nothing else to select."""
        return True


def _app(screen: Screen[None]) -> App[object]:
    return cast("App[object]", screen.app)  # pyright: ignore[reportUnknownMemberType]


def _now() -> int:
    return time.time_ns() // 1_000_000
