"""Opening a session without making anyone wait: the tail first, the rest behind it.

The end of the log is read before the first paint; then the whole of it is folded in slices between which
keys are answered. Slices are short: a slice holds the event loop for about 8 ms.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from tui.nodes.reading import Reading

WHOLE_AT_ONCE = 192 << 10
"""Files up to this size are read whole before the first paint (about 3 ms)."""
_TAIL_BYTES = 96 << 10
_TAIL_LIMIT = 8 << 20
_ENOUGH_NODES = 60
_ENOUGH_ROWS = 120
_SLICE_SECONDS = 0.008
_TOLD_EVERY_SECONDS = 0.1


def open_reading(path: Path) -> tuple[Reading, Reading | None]:
    """Open a session; the whole reading, and a complete reading of its tail if the whole is long.

    Raises:
        SessionUnreadable: see `session.reader.open_log`.
    """
    whole = Reading.open(path)
    if whole.log.source.file_size <= WHOLE_AT_ONCE:
        whole.step(0.25)
        if whole.complete:
            return whole, None
    return whole, _tail_of(whole)


def _tail_of(whole: Reading) -> Reading | None:
    """A tail long enough to fill both panes of a big screen."""
    want = _TAIL_BYTES
    while want <= _TAIL_LIMIT:
        tail = whole.tail(want)
        if tail is None:
            return None
        tail.read_all()
        enough = len(tail.chat.index) >= _ENOUGH_NODES and len(tail.trajectory.index) >= _ENOUGH_ROWS
        if enough or want >= _TAIL_LIMIT:
            return tail
        tail.log.close()
        want *= 4
    return None


async def read_rest(reading: Reading, told: Callable[[float], None]) -> None:
    """Fold the whole log in slices; `told` gets the share that is done, at most ten times a second."""
    last = perf_counter()
    while not reading.step(_SLICE_SECONDS):
        now = perf_counter()
        if now - last >= _TOLD_EVERY_SECONDS:
            last = now
            told(reading.progress)
        await asyncio.sleep(0)
    told(1.0)
