"""From a session that goes on from a summary to the one that the summary is of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tui.blocks.clean import clean_line
from tui.blocks.wording_errors import error_text
from tui.nodes.reading import Reading
from tui.os_reasons import os_sentence
from tui.session.errors import SessionError
from tui.session.own_records import RECOVERED_FROM, RecoveredFrom, recovery_of
from tui.session.store import Homes, resolve_session

if TYPE_CHECKING:
    from tui.app.session_screen import SessionScreen


def open_original(screen: SessionScreen) -> None:
    """Open the original over a session, at the last event that the summary knows of; or say why not."""
    from tui.app.loader import open_reading
    from tui.app.session_screen import SessionScreen

    tr, app = screen.surroundings.tr, screen.dsh_app
    origin = original_of(screen.reading)
    if origin is None or not (origin.session or origin.path):
        screen.say(tr.t("This session does not go on from another one, as far as its log tells."))
        return
    try:
        whole, tail = open_reading(place_of(origin, app.settings.homes))
    except SessionError as error:
        screen.say(error_text(tr, error))
    except OSError as error:
        screen.say(clean_line(os_sentence(tr, error, origin.path)))
    else:
        app.push_screen(SessionScreen(whole, tail, screen.surroundings, at=origin.seq))


def original_of(reading: Reading) -> RecoveredFrom | None:
    """Return what a log tells of the session that it goes on from; None if nothing."""
    for row, record in reading.log.index.unknown.items():
        if record.type_name == RECOVERED_FROM:
            event = reading.log.event(row)
            found = recovery_of(event.type, event.data, ignorable=event.ignorable)
            if isinstance(found, RecoveredFrom):
                return found
    return None


def place_of(origin: RecoveredFrom, homes: Homes) -> Path:
    """Return the original's log: where it was, else wherever a home has it now. Raises SessionError."""
    place = Path(origin.path)
    if origin.path and place.is_file():
        return place
    return resolve_session(origin.session or origin.path, homes).path
