"""Search within a session: the bar, the running search, going from hit to hit."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from tui.app.search_bar import SESSION_HINT, SearchBar
from tui.blocks.wording import node_text
from tui.nodes.chat_nodes import chat_node

if TYPE_CHECKING:
    from textual.worker import Worker

    from tui.app.session_screen import SessionScreen
    from tui.nodes.search import Search

_SLICE_SECONDS = 0.008
Place: TypeAlias = tuple[int, int | None]
"""A row of the log and the chat node that tells of it, where there is one."""


class SearchController:
    """Owns the search of a screen; hits are places of the log, in order."""

    def __init__(self, screen: SessionScreen) -> None:
        self._screen = screen
        self._bar: SearchBar | None = None
        self._places: list[Place] = []
        self._at = -1
        self._origin = 0
        self._text = ""
        self._worker: Worker[None] | None = None
        self._is_fresh = False
        """The hit shown is the one that typing went to."""

    @property
    def is_open(self) -> bool:
        return self._bar is not None

    @property
    def is_typing(self) -> bool:
        """Whether keys go into the bar's field."""
        return self._bar is not None and self._bar.is_typing

    def open(self) -> None:
        """Show the bar, or let keys go into it again; hits are looked for from where one is."""
        self._origin = self._screen.selected_row
        if self._bar is None:
            self._bar = SearchBar(self._screen.surroundings, hint=SESSION_HINT, id="search")
            self._screen.mount(self._bar, before="#foot")
            self._screen.call_after_refresh(self._bar.type)
        else:
            self._bar.type()

    def close(self) -> None:
        """Take the bar away, with its marks."""
        self._stop()
        if self._bar is not None:
            self._bar.remove()
            self._bar = None
        self._places, self._at, self._text = [], -1, ""
        self._screen.mark_matches("")
        self._screen.show_pane(self._screen.pane)

    def change(self, text: str) -> None:
        """Search for another text."""
        self._stop()
        self._places, self._at, self._text = [], -1, text
        self._is_fresh = True
        self._screen.mark_matches("")
        if not text.strip():
            self._show(None)
            return
        self._show(0.0)
        # Begun by the worker: one that is put aside before its turn leaves nothing that was never awaited.
        run = partial(self._run, text)
        self._worker = self._screen.run_worker(run, group="search", exclusive=True)

    @property
    def needle(self) -> str:
        """The word or phrase that is marked where it stands; "" without a search."""
        if not self.is_open:
            return ""
        from tui.nodes.search_query import Query

        return Query.parse(self._text).needle

    def accept(self) -> None:
        """Stay at the hit that typing went to; go to the next one where it has been seen already."""
        if self._is_fresh and self._at >= 0:
            self._is_fresh = False
        else:
            self.step(1)

    def renew(self) -> None:
        """Take the screen's language."""
        if self._bar is not None:
            self._bar.renew(self._screen.surroundings)
            self._show(None if self._worker is None else 0.0)

    def step(self, by: int) -> None:
        """Go to the next or the previous hit, around the ends."""
        self._is_fresh = False
        if not self._places:
            return
        if self._at < 0:
            self._at = self._first_from(self._screen.selected_row, by)
        else:
            self._at = (self._at + by) % len(self._places)
        self._go()

    def offer_rows(self, rows: list[int]) -> None:
        """Let `n` and `N` go through these rows."""
        self._stop()
        self._places = [(row, None) for row in rows]
        self._at = 0

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None

    async def _run(self, text: str) -> None:
        screen = self._screen
        while not screen.reading.is_settled or screen.reading.log.partial:
            # The tail alone would hide earlier hits.
            await asyncio.sleep(0.05)
        reading, tr = screen.reading, screen.surroundings.tr
        from tui.nodes.search import Query, Search

        query = Query.parse(text)
        search = Search(reading, query, lambda node: node_text(tr, chat_node(reading, node)))
        shown = 0
        while not search.step(_SLICE_SECONDS):
            if len(search.hits) != shown:
                shown = len(search.hits)
                self._take(_places(search), search.progress)
            else:
                self._show(search.progress)
            await asyncio.sleep(0)
        self._take(_places(search), None)
        if not search.hits:
            # While the text was shorter it may have been found elsewhere.
            screen.select_row(self._origin)
        self._worker = None

    def _take(self, places: list[Place], done: float | None) -> None:
        first = not self._places and bool(places)
        self._places = places
        if first:
            self._screen.mark_matches(self.needle)
            self._at = self._first_from(self._origin, 1)
            self._go()
        self._show(done)

    def _first_from(self, here: int, by: int) -> int:
        """The first hit at or after a row, or at or before it when going back."""
        if by > 0:
            return next((at for at, (row, _) in enumerate(self._places) if row >= here), 0)
        before = [at for at, (row, _) in enumerate(self._places) if row <= here]
        return before[-1] if before else len(self._places) - 1

    def _go(self) -> None:
        self._screen.select_row(*self._places[self._at])
        self._screen.reveal_match()
        self._show(None)

    def _show(self, done: float | None) -> None:
        if self._bar is not None:
            position = self._at + 1 if self._at >= 0 else None
            self._bar.show_hits(position, len(self._places), done=done)


def _places(search: Search) -> list[Place]:
    return [(hit.row, hit.chat_index) for hit in search.hits]
