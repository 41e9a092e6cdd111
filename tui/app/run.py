"""Starting the app: the entry points that the command line calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tui.app.application import DshApp
from tui.app.linked_panes import Pane
from tui.app.loader import open_reading
from tui.app.session_screen import SessionScreen
from tui.app.view_jump import SessionView
from tui.session.store import Homes
from tui.settings import Settings

if TYPE_CHECKING:
    from tui.app.conversation import Conversation


def open_session(path: Path, *, view: str, at: int | None, settings: Settings) -> int:
    """Show one session until the reader leaves; returns the exit status.

    Raises:
        SessionUnreadable: before anything is drawn.
    """
    whole, tail = open_reading(path)
    pane: Pane = "trajectory" if view == "trajectory" else "chat"
    over: SessionView | None = "tools" if view == "tools" else "requests" if view == "requests" else None
    app = DshApp(
        settings, lambda app: SessionScreen(whole, tail, app.surroundings, pane=pane, at=at, over=over)
    )
    return app.run() or app.return_code or 0


def open_library(homes: Homes, *, settings: Settings, demo: Path | None = None) -> int:
    """Show the library until the reader leaves; returns the exit status.

    An empty library offers to open `demo`.
    """
    from tui.app.library_screen import LibraryScreen

    app = DshApp(settings, lambda app: LibraryScreen(homes, app.surroundings, demo=demo))
    return app.run() or app.return_code or 0


async def talk(conversation: Conversation, *, settings: Settings) -> int:
    """Show a conversation until the user leaves; returns the exit status. It is not closed here."""
    from tui.app.live_screen import LiveScreen

    app = DshApp(settings, lambda app: LiveScreen(conversation, app.surroundings))
    return await app.run_async() or app.return_code or 0
