"""How long the event loop is held while a log is folded behind the screen, and how many widgets there are.

The app runs in this process without a terminal; `run_test` only hosts it.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from tests.benchmarks.generate import kept_log
from tests.benchmarks.measure import COLUMNS, ROWS, Figure, warm
from tui.app.application import DshApp
from tui.app.loader import open_reading
from tui.app.session_screen import SessionScreen
from tui.session.store import Homes
from tui.settings import Settings

_TICK = 0.010
_LIMIT_MS = 100
_AFTER_SECONDS = 0.5


def _settings(home: Path) -> Settings:
    homes = Homes(home / "own", home / "dsh")
    return Settings(lang="en", theme="dark", ascii=False, no_color=False, keys={}, homes=homes)


class _Ticker:
    """Ticks every 10 ms and keeps the largest time between two ticks, of the clock and of the CPU."""

    def __init__(self) -> None:
        self.largest = self.largest_cpu = 0.0
        self.ticks = 0

    async def tick_while(self, screen: SessionScreen) -> None:
        """Tick until the whole log is shown and a little longer; page up twice a second meanwhile."""
        last, end, paged = perf_counter(), None, perf_counter()
        last_cpu = process_time()
        while end is None or last < end:
            await asyncio.sleep(_TICK)
            now, cpu = perf_counter(), process_time()
            self.largest = max(self.largest, now - last)
            self.largest_cpu = max(self.largest_cpu, cpu - last_cpu)
            self.ticks += 1
            last, last_cpu = now, cpu
            if now - paged > 0.5:
                paged = now
                screen.chat.action_page_up()
                screen.trajectory.action_page_up()
            if end is None and not screen.is_reading:
                end = now + _AFTER_SECONDS


async def _measure(path: Path) -> tuple[_Ticker, int]:
    """The ticker after the whole log was read, and the number of widgets."""
    with tempfile.TemporaryDirectory(prefix="dsh-tui-bench-home-") as home:
        whole, tail = open_reading(path)
        app = DshApp(
            _settings(Path(home)), lambda app: SessionScreen(whole, tail, app.surroundings, pane="chat")
        )
        ticker = _Ticker()
        async with app.run_test(size=(COLUMNS, ROWS)):
            screen = app.screen
            assert isinstance(screen, SessionScreen)
            assert screen.is_reading, "the log was folded before the ticker started"
            await ticker.tick_while(screen)
            screen.action_toggle_inspector()
            await asyncio.sleep(_TICK)
            widgets = sum(len(list(shown.walk_children())) + 1 for shown in app.screen_stack)
            app.exit(0)
        return ticker, widgets


def run() -> list[Figure]:
    figures: list[Figure] = []
    for zstd in (False, True):
        path = kept_log(1_000_000, zstd=zstd)
        warm(path)
        ticker, widgets = min((asyncio.run(_measure(path)) for _ in range(2)), key=lambda run: run[0].largest)
        name = f"1,000,000 events, {'zstd' if zstd else 'plain'}"
        note = f"{ticker.ticks} ticks, the better of 2"
        figures.append(Figure(f"largest gap, {name}", ticker.largest * 1000, "ms", _LIMIT_MS, note=note))
        figures.append(Figure(f"  its CPU time, {name}", ticker.largest_cpu * 1000, "ms"))
        figures.append(Figure(f"widgets, {name}", widgets, "", 149, note="inspector shown"))
    return figures
