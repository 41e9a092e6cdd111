"""The clock that adapters wait by, so that tests and demo scenes can run faster than life."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Wall time and waiting."""

    def now_ms(self) -> int:
        """Return the time in milliseconds since the epoch."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; other tasks run meanwhile, also for 0 seconds."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class InstantClock:
    """A clock on which waiting takes no time and time passes only by waiting."""

    def __init__(self, start_ms: int = 1_700_000_000_000) -> None:
        self._now = float(start_ms)
        self.waits: list[float] = []
        """Every wait so far, in seconds."""

    def now_ms(self) -> int:
        return int(self._now)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self._now += seconds * 1000
        await asyncio.sleep(0)
