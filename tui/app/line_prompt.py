"""What the prompts for one line have in common: a sentence over a field, left by Enter or Escape."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Input

from tui.app.closed_once import ClosedOnce
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.text import Span


class LinePrompt(ModalScreen[ScreenResultType | None], ClosedOnce[ScreenResultType | None]):
    """Asks for one line; dismissed with what it stands for, or with None.

    Args:
        surroundings: language and glyphs.
        question: stands over the field at first.
        field: where the answer is typed.
    """

    CSS_PATH: ClassVar = "line_prompt.tcss"

    def __init__(self, surroundings: Surroundings, question: str, field: Input) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._question = question
        self._field = field
        self._line = StatusBar(ascii_only=surroundings.ascii_only)

    @abstractmethod
    def _answered(self, text: str) -> None:
        """Dismiss with what a text stands for, or tell what is wrong with it."""

    def compose(self) -> ComposeResult:
        """The question and the field."""
        with Vertical():
            yield self._line
            yield self._field

    def on_mount(self) -> None:
        """Ask."""
        self._tell(self._question, "text")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self._answered(event.value)
        else:
            self.dismiss(None)

    def on_key(self, event: events.Key) -> None:
        """Escape leaves without an answer."""
        if event.key == "escape":
            event.stop()
            self.dismiss(None)

    def _tell(self, sentence: str, role: str = "warning") -> None:
        self._line.show([Piece((Span(sentence, role),), least=1)])
