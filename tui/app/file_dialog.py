"""The prompt for the file that a text is saved as."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widgets import Input

from tui.app.line_prompt import LinePrompt
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.export.output import OutputRefused, check_place, whole_file
from tui.os_reasons import os_reason

if TYPE_CHECKING:
    from tui.session.store import Homes


class FileDialog(LinePrompt[Path]):
    """Asks where a text goes and writes it; dismissed with the file, or with None.

    A file that is there already is replaced only by a second press.

    Args:
        surroundings: language and glyphs.
        name: what the field begins with; relative to the folder that the program runs in.
        write: writes the text to a place; raises OutputRefused or OSError.
    """

    def __init__(self, surroundings: Surroundings, name: str, write: Callable[[Path], None]) -> None:
        self._write = write
        self._replaces: Path | None = None
        field = Input(name, compact=True, max_length=1_000, select_on_focus=False)
        super().__init__(surroundings, surroundings.tr.t("Save as"), field)

    def _answered(self, text: str) -> None:
        tr = self._surroundings.tr
        try:
            place = Path(text.strip()).expanduser()
            if place.is_file() and place != self._replaces:
                self._replaces = place
                self._tell(tr.t("The file exists already; press it again to replace it."))
                return
            self._write(place)
        except OutputRefused as refused:
            self._tell(clean_line(refused.sentence(tr)))
        except (OSError, RuntimeError, ValueError) as error:
            reason = os_reason(tr, error) if isinstance(error, OSError) else str(error)
            self._tell(clean_line(tr.t("{file}: {reason}", file=text, reason=reason)))
        else:
            self.dismiss(place)


def saver(homes: Homes, log: Path) -> Callable[[Path, str], None]:
    """Return what writes a text to a file, but never to a session's own log or into a home of sessions."""

    def save(place: Path, text: str) -> None:
        check_place(place, homes, log)
        with whole_file(place) as write:
            write(text)

    return save
