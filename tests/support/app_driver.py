"""The app on a log without a terminal: open it at a size, press keys, wait, read the screen."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from tests.conftest import ROOT
from tui.app.application import DshApp
from tui.app.conversation import Starter
from tui.app.linked_panes import Pane
from tui.app.loader import open_reading
from tui.app.session_screen import SessionScreen
from tui.app.view_jump import SessionView
from tui.blocks.text import plain
from tui.nodes.reading import Reading
from tui.session.store import find_homes
from tui.settings import Settings

RECORDINGS = ROOT / "tests" / "recordings"
WIDE = (120, 40)
NARROW = (80, 24)
_PATIENCE_SECONDS = 20.0


def recording(name: str) -> Path:
    """One of the recordings in the repository."""
    return RECORDINGS / name / "session.v4.jsonl"


def log_under(folder: Path) -> Path:
    """The one session log somewhere under a folder."""
    found = sorted(path for path in folder.rglob("session*.jsonl*") if path.is_file())
    assert len(found) == 1, found
    return found[0]


def settings(
    lang: str = "en",
    *,
    theme: Literal["dark", "light"] = "dark",
    ascii_only: bool = False,
    no_color: bool = False,
) -> Settings:
    """What a run of the program would be told."""
    return Settings(
        lang=lang,
        theme=theme,
        ascii=ascii_only,
        no_color=no_color,
        keys={},
        homes=find_homes(os.environ),
    )


@dataclass
class Driver:
    """A running app and its pilot."""

    app: DshApp
    pilot: Pilot[int]

    @property
    def session(self) -> SessionScreen:
        """The screen of the session, whatever lies over it."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, SessionScreen))

    @property
    def top(self) -> Screen[object]:
        """The screen in front."""
        return self.app.screen

    @property
    def reading(self) -> Reading:
        """The reading shown."""
        return self.session.reading

    # -- doing

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other; each has had its effect when this returns."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; fails with what the screen shows if it does not come true."""
        deadline = monotonic() + _PATIENCE_SECONDS
        while not condition():
            assert self.app._exception is None, repr(self.app._exception)
            assert monotonic() < deadline, "never came true:\n" + "\n".join(self.rows())
            await self.pilot.pause()

    async def search(self, text: str) -> None:
        """Search for a text and wait until all of the session is searched."""
        await self.press("/")
        await self.until(lambda: bool(self.session.query("#search Input")))
        await self.until(lambda: self.session.focused is self.session.query_one("#search Input"))
        await self.press(*("space" if character == " " else character for character in text))
        await self.until(lambda: "searching" not in self.search_row() and f"/ {text}" in self.search_row())
        await self.until(lambda: any(word in self.search_row() for word in (" of ", "nothing", "hit")))

    async def resize(self, width: int, height: int) -> None:
        """Give the terminal another size."""
        await self.pilot.resize_terminal(width, height)
        await self.pilot.pause()

    # -- reading the screen

    def strips(self) -> list[Strip]:
        """The rows of the whole screen as the compositor puts them together."""
        return self.top._compositor.render_strips()

    def rows(self) -> list[str]:
        """The text of every screen row; fails if one is not as wide as the terminal."""
        width, height = self.app.size
        strips = self.strips()
        assert len(strips) == height
        for number, strip in enumerate(strips):
            assert strip.cell_length == width, (number, strip.cell_length, width, strip.text)
        return [strip.text for strip in strips]

    def text(self) -> str:
        """The whole screen."""
        return "\n".join(self.rows())

    def foot(self) -> str:
        """The line at the bottom: keys, or what there is to say."""
        return self.rows()[-1].strip()

    def head(self) -> str:
        """The line at the top."""
        return self.rows()[0].strip()

    def search_row(self) -> str:
        """The line of the search bar."""
        return self.rows()[-2]

    def chat_selected(self) -> str:
        """The text of the selected block of the Chat pane."""
        view = self.session.chat
        assert view.cursor is not None
        return "\n".join(plain(line) for line in view.model.layout(view.cursor, view.content_width)).strip()

    def trajectory_selected(self) -> str:
        """The text of the selected row of the Trajectory pane."""
        view = self.session.trajectory
        assert view.cursor is not None
        return "\n".join(plain(line) for line in view.model.layout(view.cursor, view.content_width)).strip()

    def selected_seq(self) -> int:
        """The sequence number of the selected record."""
        return self.reading.log.seq(self.session.selected_row)


@asynccontextmanager
async def session_app(
    path: Path,
    *,
    size: tuple[int, int] = WIDE,
    lang: str = "en",
    theme: Literal["dark", "light"] = "dark",
    ascii_only: bool = False,
    no_color: bool = False,
    view: Pane = "chat",
    at: int | None = None,
    over: SessionView | None = None,
) -> AsyncIterator[Driver]:
    """The app with a session open, as `dsh-tui open` would show it."""
    whole, tail = open_reading(path)
    chosen = settings(lang, theme=theme, ascii_only=ascii_only, no_color=no_color)
    async with run_app(
        chosen,
        lambda app: SessionScreen(whole, tail, app.surroundings, pane=view, at=at, over=over),
        size=size,
    ) as driver:
        await driver.until(lambda: isinstance(driver.top, SessionScreen) or over is not None)
        await driver.pilot.pause()
        yield driver


@asynccontextmanager
async def run_app(
    chosen: Settings,
    first: Callable[[DshApp], Screen[None]],
    *,
    size: tuple[int, int] = WIDE,
    starter: Starter | None = None,
) -> AsyncIterator[Driver]:
    """The app with a first screen; what it does to the process is undone afterwards."""
    no_color = os.environ.get("NO_COLOR")
    app = DshApp(chosen, first, starter=starter)
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            yield Driver(app, pilot)
    finally:
        gc.unfreeze()
        if no_color is None:
            os.environ.pop("NO_COLOR", None)
