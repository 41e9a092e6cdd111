"""The prompt for a seq number."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from tui.app.closed_once import ClosedOnce
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.text import Span


class GotoDialog(ModalScreen[int | None], ClosedOnce[int | None]):
    """Asks for a seq number and is dismissed with it, or with None.

    Args:
        surroundings: language and glyphs.
        last: the highest seq there is; None while it is not known.
    """

    CSS_PATH: ClassVar = "goto.tcss"

    def __init__(self, surroundings: Surroundings, last: int | None) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._last = last
        tr = surroundings.tr
        self._prompt = (
            tr.t("Go to seq") if last is None else tr.t("Go to seq (0 to {last})", last=tr.number(last))
        )
        self._input = Input(compact=True, max_length=12, restrict=r"[0-9]*")
        self._line = StatusBar(ascii_only=surroundings.ascii_only)

    def compose(self) -> ComposeResult:
        """The question and the field."""
        with Vertical():
            yield self._line
            yield self._input

    def on_mount(self) -> None:
        """Ask."""
        self._ask(self._prompt, "text")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value:
            self.dismiss(None)
            return
        # Only what int() reads is let through by the field, but `²` and its like are digits to some.
        seq = int(event.value)
        if self._last is not None and seq > self._last:
            tr = self._surroundings.tr
            self._ask(tr.t("The last seq is {last}.", last=tr.number(self._last)), "warning")
            return
        self.dismiss(seq)

    def on_key(self, event: events.Key) -> None:
        """Escape leaves without an answer."""
        if event.key == "escape":
            event.stop()
            self.dismiss(None)

    def _ask(self, sentence: str, role: str) -> None:
        self._line.show([Piece((Span(sentence, role),))])
