"""An external command of a tool: started in the workspace, bounded in memory, ended with its whole group.

The command gets one JSON text on stdin; what it writes is kept as it is, the first and the last part of it if
it is much. Nothing that it started survives it.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal as signals
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui.session.cancel import Cancelled, CancelSignal

KEPT_BYTES: Final = 128 * 1024
"""What is kept of each of stdout and stderr; half of it from the start, half from the end."""
GRACE_SECONDS: Final = 2.0
"""Between asking a group to end and ending it."""
LAST_WORDS_SECONDS: Final = 1.0
"""How long output is waited for after the command itself is gone."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that came to its end; a negative status is the signal that ended it."""

    status: int
    stdout: str
    stderr: str


class CommandNotStarted(Exception):
    """The system does not run the command; the message is the system's reason."""


class CommandStopped(Exception):
    """The command was ended because its signal said so; `cause` is the signal's."""

    def __init__(self, cause: dict[str, object], finished: Finished) -> None:
        super().__init__("the command was stopped")
        self.cause = cause
        self.finished = finished


async def run_command(
    command: Sequence[str],
    *,
    cwd: Path,
    stdin: bytes,
    signal: CancelSignal,
    environ: Mapping[str, str],
    kept_bytes: int = KEPT_BYTES,
) -> Finished:
    """Run a command to its end, in a process group of its own.

    Raises CommandNotStarted, and CommandStopped when the signal comes first: the group is asked to end, and
    ended after GRACE_SECONDS.
    """
    loop = asyncio.get_running_loop()
    starting = asyncio.ensure_future(
        loop.subprocess_exec(
            lambda: _Run(kept_bytes), *command, cwd=cwd, env=dict(environ), start_new_session=True
        )
    )
    try:
        # A start that is cancelled halfway ends only the command, not its group, and may wait for ever.
        transport, run = await asyncio.shield(starting)
    except OSError as error:
        raise CommandNotStarted(error.strerror or type(error).__name__) from error
    except asyncio.CancelledError:
        starting.add_done_callback(_end_started)
        await asyncio.wait([starting])
        raise
    try:
        _feed(transport, stdin)
        stopped: dict[str, object] | None = None
        try:
            await signal.guard(run.exited.wait())
            await signal.guard(_within(run.silent, LAST_WORDS_SECONDS))
        except Cancelled as cancelled:
            stopped = cancelled.cause
            _end_group(transport, signals.SIGTERM)
            await _within(run.exited, GRACE_SECONDS)
        _end_group(transport, signals.SIGKILL)
        await run.exited.wait()
        await _within(run.silent, LAST_WORDS_SECONDS)
    finally:
        if not run.exited.is_set():
            _end_group(transport, signals.SIGKILL)
        transport.close()
    finished = Finished(transport.get_returncode() or 0, run.stdout.text(), run.stderr.text())
    if stopped is not None:
        raise CommandStopped(stopped, finished)
    return finished


class Kept:
    """The beginning and the end of a stream of bytes."""

    __slots__ = ("_half", "_head", "_tail", "_total")

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self._total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # Cut in large steps, so that many small pieces do not each move the whole tail.
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        """Return what was kept, as UTF-8 with replacements; a gap is told in its place."""
        left_out = self._total - len(self._head) - min(len(self._tail), self._half)
        if left_out <= 0:
            return (self._head + self._tail).decode("utf-8", "replace")
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        head = decoder.decode(bytes(self._head))
        tail = bytes(self._tail[-self._half :])
        whole = tail.lstrip(bytes(range(0x80, 0xC0))) if len(tail) > 3 else tail
        return f"{head}\n[… {left_out} bytes left out …]\n{whole.decode('utf-8', 'replace')}"


class _Run(asyncio.SubprocessProtocol):
    """Hears of output, of its end and of the end of the command, each by itself."""

    def __init__(self, kept_bytes: int) -> None:
        self.stdout = Kept(kept_bytes)
        self.stderr = Kept(kept_bytes)
        self.exited = asyncio.Event()
        self.silent = asyncio.Event()
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        (self.stdout if fd == 1 else self.stderr).add(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self.silent.set()

    def process_exited(self) -> None:
        self.exited.set()


def _feed(transport: asyncio.SubprocessTransport, stdin: bytes) -> None:
    pipe = transport.get_pipe_transport(0)
    if isinstance(pipe, asyncio.WriteTransport):
        pipe.write(stdin)
        pipe.close()


def _end_group(transport: asyncio.SubprocessTransport, number: signals.Signals) -> None:
    # The group may be gone already, or hold nothing that may be told.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), number)


def _end_started(starting: asyncio.Future[tuple[asyncio.SubprocessTransport, _Run]]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        transport, _ = starting.result()
        _end_group(transport, signals.SIGKILL)
        transport.close()


async def _within(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
