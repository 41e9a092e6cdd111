"""The prompt for the file that a text is saved as."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from tui.app.closed_once import ClosedOnce
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.text import Span
from tui.export.output import OutputRefused, check_place, whole_file

if TYPE_CHECKING:
    from tui.session.store import Homes


class FileDialog(ModalScreen[Path | None], ClosedOnce[Path | None]):
    """Asks where a text goes and writes it; dismissed with the file, or with None.

    A file that is there already is replaced only by a second press.

    Args:
        surroundings: language and glyphs.
        name: what the field begins with; relative to the folder that the program runs in.
        write: writes the text to a place; raises OutputRefused or OSError.
    """

    def __init__(self, surroundings: Surroundings, name: str, write: Callable[[Path], None]) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._write = write
        self._replaces: Path | None = None
        self._input = Input(name, compact=True, max_length=1_000, select_on_focus=False)
        self._line = StatusBar(ascii_only=surroundings.ascii_only)

    def compose(self) -> ComposeResult:
        """The question and the field."""
        with Vertical():
            yield self._line
            yield self._input

    def on_mount(self) -> None:
        """Ask."""
        self._ask(self._surroundings.tr.t("Save as"), "text")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip():
            self.dismiss(None)
            return
        tr = self._surroundings.tr
        try:
            place = Path(event.value.strip()).expanduser()
            if place.is_file() and place != self._replaces:
                self._replaces = place
                self._ask(tr.t("The file exists already; press it again to replace it."), "warning")
                return
            self._write(place)
        except OutputRefused as refused:
            self._ask(clean_line(refused.sentence(tr)), "warning")
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self._ask(clean_line(tr.t("{file}: {reason}", file=event.value, reason=reason)), "warning")
        else:
            self.dismiss(place)

    def on_key(self, event: events.Key) -> None:
        """Escape leaves without an answer."""
        if event.key == "escape":
            event.stop()
            self.dismiss(None)

    def _ask(self, sentence: str, role: str) -> None:
        self._line.show([Piece((Span(sentence, role),), least=1)])


def saver(homes: Homes, log: Path) -> Callable[[Path, str], None]:
    """Return what writes a text to a file, but never to a session's own log or into a home of sessions."""

    def save(place: Path, text: str) -> None:
        check_place(place, homes, log)
        with whole_file(place) as write:
            write(text)

    return save
