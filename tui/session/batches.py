"""Batches of lines on their way to the disk: at most 200 ms late, in order, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final

from tui.session.durable import LogFile
from tui.session.write_errors import SessionWriteError

BATCH_SECONDS: Final = 0.2


class Batches:
    """Collects lines and writes them to a log file as durable batches.

    Lines added between two batches form one. Within a running event loop a batch follows by itself, 200 ms
    after its first line at most; without one only `flush` and `flush_now` write. `on_failure` is called once,
    on the event loop, when a batch that nobody waited for could not be written.
    """

    def __init__(self, file: LogFile) -> None:
        self.file: Final = file
        self.on_failure: Callable[[SessionWriteError], None] | None = None
        self._held: list[bytes] = []
        self._lines: list[bytes] = []
        self._added = 0
        self._durable = 0
        self._waiting_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    @property
    def pending(self) -> int:
        """Lines that are not durable yet, those held back aside."""
        return self._added - self._durable

    def hold(self, line: bytes) -> None:
        """Keep a line back until the first `add`, with which it is written in one batch."""
        self._held.append(line)

    def add(self, line: bytes) -> None:
        """Take a line (LF included); raises the SessionWriteError of an earlier batch."""
        if self.file.error is not None:
            raise self.file.error
        if not self._lines:
            self._waiting_since = monotonic()
        if self._held:
            self._lines.extend(self._held)
            self._added += len(self._held)
            self._held.clear()
        self._lines.append(line)
        self._added += 1
        if self._timer is None and self._writing is None:
            self._schedule()

    async def flush(self) -> None:
        """Return when everything added before is durable; raises SessionWriteError if it cannot be."""
        target = self._added
        while self._durable < target:
            if self.file.error is not None:
                raise self.file.error
            # Shielded: a batch goes on where the one who waits for it is cancelled.
            await asyncio.shield(self._write_soon())

    def flush_now(self) -> None:
        """Write everything from this thread; not while a batch of an event loop is on its way."""
        if self._writing is not None and not self._writing.done():
            raise RuntimeError("a batch is being written by the event loop")
        self._cancel_timer()
        self._append(self._take())

    async def settle(self) -> None:
        """Wait for a batch on its way, whatever becomes of it."""
        self._cancel_timer()
        while self._writing is not None:
            await asyncio.shield(self._writing)

    def _schedule(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        waited = monotonic() - self._waiting_since
        self._timer = loop.call_later(max(0.0, BATCH_SECONDS - waited), self._due)

    def _due(self) -> None:
        self._timer = None
        self._write_soon()

    def _write_soon(self) -> asyncio.Task[None]:
        if self._writing is None or self._writing.done():
            self._cancel_timer()
            self._writing = asyncio.get_running_loop().create_task(self._write())
        return self._writing

    async def _write(self) -> None:
        lines = self._take()
        try:
            await asyncio.to_thread(self._append, lines)
        except SessionWriteError as error:
            # It stays in the file object: every later append and flush raises it.
            if self.on_failure is not None:
                self.on_failure(error)
        finally:
            self._writing = None
        if self._lines and self.file.error is None:
            self._schedule()

    def _take(self) -> list[bytes]:
        lines, self._lines = self._lines, []
        return lines

    def _append(self, lines: list[bytes]) -> None:
        if lines:
            self.file.append(lines)
            self._durable += len(lines)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
