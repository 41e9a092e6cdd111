"""The inspector: one record told in full, under tabs."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.chat_layout import Layout
from tui.blocks.text import Line, Span
from tui.i18n import N_
from tui.nodes.reading import Reading

TAB_LABELS = {
    "summary": N_("Summary"),
    "preview": N_("Preview"),
    "raw": N_("Raw"),
    "diff": N_("Diff"),
    "tools": N_("Tools"),
}


class InspectorPane(Vertical):
    """Tabs and the text under them.

    Args:
        surroundings: language, keys, glyphs.
        id: as for every widget.
    """

    def __init__(self, surroundings: Surroundings, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._surroundings = surroundings
        self._reading: Reading | None = None
        self._item = -1
        self._wanted = "summary"
        self._tabs = StatusBar(ascii_only=surroundings.ascii_only, classes="inspector-tabs")
        self._text = BlockView(
            OneBlock(self._lines), following=False, ascii_only=surroundings.ascii_only, id="inspector-text"
        )

    def compose(self) -> ComposeResult:
        yield self._tabs
        yield self._text

    @property
    def text_view(self) -> BlockView:
        """The scrolling part, for the keyboard."""
        return self._text

    @property
    def tabs(self) -> tuple[str, ...]:
        """Tabs of the record shown."""
        from tui.blocks.inspector import tabs_of

        return tabs_of(self._reading, self._item) if self._reading is not None and self._item >= 0 else ()

    @property
    def tab(self) -> str:
        """The tab shown: the one wanted last, where this record has it."""
        tabs = self.tabs
        return self._wanted if self._wanted in tabs else (tabs[0] if tabs else "")

    def show(self, reading: Reading, item: int) -> None:
        """Tell of a trajectory row; nothing is laid out while the pane is hidden."""
        if reading is self._reading and item == self._item:
            return
        self._reading, self._item = reading, item
        self.renew()

    def renew(self, surroundings: Surroundings | None = None) -> None:
        """Lay out anew, in another language if one is given."""
        if surroundings is not None:
            self._surroundings = surroundings
        if not self.display:
            return
        self._text.set_model(OneBlock(self._lines))
        self._text.scroll_to_line(0)
        self._show_tabs()

    def choose(self, tab: str) -> None:
        """Show a tab if the record has it."""
        self._wanted = tab
        self.renew()

    def step(self, by: int) -> None:
        """The next or the previous tab."""
        tabs = self.tabs
        if tabs:
            self.choose(tabs[(tabs.index(self.tab) + by) % len(tabs)])

    def _show_tabs(self) -> None:
        tr, chosen = self._surroundings.tr, self.tab
        pieces = [
            Piece(
                (Span(tr.t(TAB_LABELS[tab]), "accent bold underline" if tab == chosen else "muted"),), keep=10
            )
            for tab in self.tabs
        ]
        self._tabs.show(pieces)

    def _lines(self, width: int) -> Sequence[Line]:
        if self._reading is None or self._item < 0:
            return []
        around = self._surroundings
        pager = around.key_word("pager")
        layout = Layout(width, around.tr, expanded=True, ascii=around.ascii_only, pager=pager)
        from tui.blocks.inspector import inspect

        return inspect(self._reading, self._item, self.tab, layout)
