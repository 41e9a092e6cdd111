"""The line at the bottom that takes a search text and tells how many places it has.

The bar finds nothing itself: it posts what is wanted, and whoever owns the text tells it hits and progress.
"""

from __future__ import annotations

from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from tui.app.actions import key_names
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.text import Span
from tui.i18n import N_

SESSION_HINT: Final = N_("words, is:tool-change, is:error, tool:NAME, kind:assistant, turn:3")
"""What the search of a session understands (`nodes.search_query`)."""


def search_keys(surroundings: Surroundings, *, typing: bool, end: str = "") -> list[Piece]:
    """The keys of a search for the footer: those of the field, or those of the view below it.

    `end` says what Escape ends, where that is no search.
    """
    tr, ascii_only = surroundings.tr, surroundings.ascii_only
    if typing:
        shown = (
            (key_names(("up", "down"), tr, ascii_only=ascii_only), tr.t("hit")),
            (key_names(("enter",), tr, ascii_only=ascii_only), tr.t("go there")),
            (key_names(("escape",), tr, ascii_only=ascii_only), end or tr.t("end the search")),
        )
    else:
        pair = f"{surroundings.key('previous-match')} {surroundings.key('next-match')}".strip()
        shown = (
            (pair, tr.t("hit")),
            (surroundings.key("search"), tr.t("another search")),
            (surroundings.key("back"), tr.t("end the search")),
            (surroundings.key("help"), tr.t("keys")),
        )
    return [Piece((Span(keys, "key"), Span(f" {label}", "muted"))) for keys, label in shown if keys]


class SearchBar(Horizontal):
    """A prompt, a field and the count of hits, on one row.

    Args:
        surroundings: language and glyphs.
        hint: what can be typed, a catalogue message; "Search" if not given.
        id: as for every widget.
    """

    class SearchChanged(Message):
        """Another text is wanted; an owner that is still searching for the last one stops."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class SearchStep(Message):
        """The next (1) or previous (-1) hit is wanted; `accepted`: by enter, keys go to the view now."""

        def __init__(self, step: int, accepted: bool) -> None:
            super().__init__()
            self.step = step
            self.accepted = accepted

    class SearchClosed(Message):
        """The search is over; a search that is still running stops."""

    def __init__(
        self, surroundings: Surroundings, *, hint: str = N_("Search"), id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._surroundings = surroundings
        self._hint = hint
        self._input = Input(placeholder=surroundings.tr.t(hint), compact=True, select_on_focus=True)
        self._count = StatusBar(ascii_only=surroundings.ascii_only)
        self._count.display = False

    def compose(self) -> ComposeResult:
        """The prompt, the field and the count."""
        yield StatusBar([Piece((Span("/", "key"),))], classes="prompt")
        yield self._input
        yield self._count

    @property
    def text(self) -> str:
        """The text wanted."""
        return self._input.value

    @property
    def is_typing(self) -> bool:
        """Whether keys go into the field."""
        return self._input.has_focus

    def fill(self, text: str) -> None:
        """Want a text that was not typed here."""
        self._input.value = text

    def type(self) -> None:
        """Let keys go into the field."""
        self._input.focus()

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language; the count comes with the next `show_hits`."""
        self._surroundings = surroundings
        self._input.placeholder = surroundings.tr.t(self._hint)

    def show_hits(self, position: int | None, total: int, *, done: float | None = None) -> None:
        """Tell the hits.

        Args:
            position: the hit one stands on, from 1; None before any.
            total: hits found so far.
            done: the share of the text that is searched, None when all of it is.
        """
        tr = self._surroundings.tr
        # An empty field has the whole row for its hint.
        self._count.display = bool(self.text)
        if not self.text:
            self._count.show()
            return
        pieces: list[Piece] = []
        if done is not None:
            pieces.append(Piece((Span(tr.t("searching… {share}", share=tr.percent(done)), "muted"),), keep=1))
        if total == 0:
            if done is None:
                pieces.append(Piece((Span(tr.t("nothing found"), "warning"),), keep=2))
        elif position is None:
            pieces.append(Piece((Span(tr.n("{n} hit", "{n} hits", total), "text"),), keep=2))
        else:
            told = tr.t("{position} of {total}", position=tr.number(position), total=tr.number(total))
            pieces.append(Piece((Span(told, "text"),), keep=2))
        self._count.show(right=pieces)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.SearchChanged(event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.SearchStep(1, accepted=True))

    def on_key(self, event: events.Key) -> None:
        """Arrows step while typing, escape ends the search."""
        if not self.is_typing:
            return
        match event.key:
            case "down":
                self.post_message(self.SearchStep(1, accepted=False))
            case "up":
                self.post_message(self.SearchStep(-1, accepted=False))
            case "escape":
                self.post_message(self.SearchClosed())
            case _:
                return
        event.stop()
        event.prevent_default()
