"""Starting the app: the entry points that the command line calls."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
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
    from tui.app.conversation import Conversation, DemoStarter, Starter
    from tui.i18n import Translator


def open_session(
    path: Path, *, view: str, at: int | None, settings: Settings, starter: Starter | None = None
) -> int:
    """Show one session until the reader leaves; returns the exit status.

    With a `starter` a fresh session can be begun from a summary of it.

    Raises:
        SessionUnreadable: before anything is drawn.
    """
    whole, tail = open_reading(path)
    pane: Pane = "trajectory" if view == "trajectory" else "chat"
    over: SessionView | None = "tools" if view == "tools" else "requests" if view == "requests" else None
    app = DshApp(
        settings,
        lambda app: SessionScreen(whole, tail, app.surroundings, pane=pane, at=at, over=over),
        starter=starter,
    )
    return asyncio.run(_run(app))


def open_library(
    homes: Homes, *, settings: Settings, demo: DemoStarter | None = None, starter: Starter | None = None
) -> int:
    """Show the library until the reader leaves; returns the exit status.

    An empty library offers to start `demo`.
    """
    return asyncio.run(_run(library_app(homes, settings=settings, demo=demo, starter=starter)))


def library_app(
    homes: Homes, *, settings: Settings, demo: DemoStarter | None = None, starter: Starter | None = None
) -> DshApp:
    """Return the app that begins with the library."""
    from tui.app.library_screen import LibraryScreen
    from tui.session.library_cache import LibraryCache, library_cache_path

    async def play(tr: Translator) -> Conversation | str:
        assert demo is not None
        conversation = await demo(tr)
        if not isinstance(conversation, str):
            app.started.append(conversation)
        return conversation

    offered = play if demo is not None else None
    cache = LibraryCache(library_cache_path())
    app = DshApp(
        settings,
        lambda app: LibraryScreen(homes, app.surroundings, demo=offered, cache=cache),
        starter=starter,
    )
    return app


async def talk(conversation: Conversation, *, settings: Settings, starter: Starter | None = None) -> int:
    """Show a conversation until the user leaves; returns the exit status. It is not closed here."""
    from tui.app.live_screen import LiveScreen

    return await _run(
        DshApp(settings, lambda app: LiveScreen(conversation, app.surroundings), starter=starter)
    )


async def _run(app: DshApp) -> int:
    """Run the app and close the sessions that were begun from it."""
    _leave_in_order(app)
    try:
        return await app.run_async() or app.return_code or 0
    finally:
        for conversation in app.started:
            await conversation.close()


def _leave_in_order(app: DshApp) -> None:
    """Leave at a signal as at the key: terminal, calls and sessions are seen to. A second one kills."""
    loop = asyncio.get_running_loop()

    def leave(number: int) -> None:
        loop.remove_signal_handler(number)
        app.exit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        with suppress(AttributeError, NotImplementedError):
            # Windows has no such signals.
            number = getattr(signal, name)
            loop.add_signal_handler(number, leave, number)
