"""A program in a pseudo-terminal whose screen can be read: for end-to-end tests and for measuring.

Nothing here sleeps: waiting is `select` on the terminal until a condition on the screen holds.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyte

Condition = Callable[["Terminal"], object]

_KEYS: Final = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "ctrl+c": "\x03",
    "ctrl+q": "\x11",
    "ctrl+p": "\x10",
}
_BURST_GAP: Final = 0.002
"""Seconds without output after which what came is drawn."""
_BURST_BYTES: Final = 1 << 20
"""Bytes after which it is drawn although more comes."""
# The keyboard protocol's private sequences, which the emulator would take for text.
_UNKNOWN_TO_PYTE: Final = re.compile(rb"\x1b\[[<=>][0-9;]*u")


class TerminalTimeout(AssertionError):
    """The condition did not come true in time; the message shows the screen as it was."""


class Terminal:
    """A child process on a terminal of `columns` by `rows`; a context manager that ends the child.

    `environ` is the child's whole environment.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        environ: Mapping[str, str],
        *,
        columns: int = 120,
        rows: int = 40,
        folder: Path | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.output = bytearray()
        """Every byte the child has written."""
        self.status: int | None = None
        """Exit status once the child has ended; negative for a signal."""
        self.usage: Any = None
        """Resource usage of the ended child."""
        argv = [str(part) for part in command]
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                _set_size(0, columns, rows)
                if folder is not None:
                    os.chdir(folder)
                os.execvpe(argv[0], argv, dict(environ))
            finally:
                os._exit(127)
        self._cpu_clock = ~self.pid << 3 | 2
        self.seen_cpu = self.seen_wall = 0.0
        """CPU and wall seconds of the child when its latest output arrived, before it was shown."""
        os.set_blocking(self.fd, False)
        self._at_end = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self._reap(0)
        os.close(self.fd)

    # -- what is on the screen

    @property
    def rows(self) -> list[str]:
        """The screen's rows as text, trailing blanks kept."""
        return list(self.screen.display)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def region(self, left: int, right: int) -> str:
        """The text of a range of columns, all rows."""
        buffer = self.screen.buffer
        return "\n".join(
            "".join(buffer[row][column].data for column in range(left, right))
            for row in range(self.screen.lines)
        )

    @property
    def has_ended(self) -> bool:
        """The child has closed the terminal."""
        return self._at_end

    # -- input

    def press(self, *keys: str) -> None:
        """Press keys, by name (`enter`, `pageup`, `ctrl+c`) or as the character typed."""
        for key in keys:
            self.write(_KEYS.get(key, key).encode())

    def write(self, data: bytes) -> None:
        os.write(self.fd, data)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size; the child is told by SIGWINCH."""
        self.screen.resize(rows, columns)
        _set_size(self.fd, columns, rows)

    # -- waiting

    def wait_until(self, condition: Condition, timeout: float = 20.0, why: str = "") -> None:
        """Show output until `condition(self)` holds.

        Raises:
            TerminalTimeout: it did not in `timeout` seconds, or the child ended before.
        """
        until = time.perf_counter() + timeout
        while not condition(self):
            remaining = until - time.perf_counter()
            if self._at_end or remaining <= 0:
                state = "the child has ended" if self._at_end else f"not within {timeout:g} s"
                raise TerminalTimeout(f"{why or 'condition'}: {state}; the screen:\n{self.text}")
            if select.select([self.fd], [], [], remaining)[0]:
                self._drain()

    def wait_for(self, text: str, timeout: float = 20.0) -> None:
        """Wait until the screen shows a text."""
        self.wait_until(lambda terminal: text in terminal.text, timeout, repr(text))

    def wait_quiet(self, quiet: float = 0.15, timeout: float = 20.0) -> None:
        """Wait until the child has written nothing for `quiet` seconds and has used no CPU time meanwhile."""
        until = time.perf_counter() + timeout
        while time.perf_counter() < until and not self._at_end:
            before = self.cpu()
            if select.select([self.fd], [], [], quiet)[0]:
                self._drain()
            elif self.cpu() - before < quiet / 10:
                return

    def wait_answer(self, timeout: float = 0.5) -> None:
        """Wait until the child writes something, but no longer than this."""
        if not self._at_end and select.select([self.fd], [], [], timeout)[0]:
            self._drain()

    def watch(self, seconds: float) -> None:
        """Show output for this long, whatever comes."""
        until = time.perf_counter() + seconds
        while not self._at_end and (remaining := until - time.perf_counter()) > 0:
            if select.select([self.fd], [], [], remaining)[0]:
                self._drain()

    def wait_end(self, timeout: float = 20.0) -> int:
        """Wait until the child has ended; returns its exit status."""
        until = time.perf_counter() + timeout
        while not self._at_end:
            remaining = until - time.perf_counter()
            if remaining <= 0:
                raise TerminalTimeout(f"still running after {timeout:g} s; the screen:\n{self.text}")
            if select.select([self.fd], [], [], remaining)[0]:
                self._drain()
        if self.status is None:
            self._reap(0)
        assert self.status is not None
        return self.status

    # -- measuring

    def cpu(self) -> float:
        """CPU seconds the child has used so far, all threads."""
        if self.usage is not None:
            return self.usage.ru_utime + self.usage.ru_stime
        return time.clock_gettime(self._cpu_clock)

    def wall(self) -> float:
        """Seconds since the child was started."""
        return time.perf_counter() - self.started

    def attributes(self) -> list[Any]:
        """The terminal's settings (`termios.tcgetattr`), to see whether they were put back."""
        return termios.tcgetattr(self.fd)

    # --

    def _drain(self) -> None:
        """Read a burst of output to its end, then show it.

        What was read is put on the screen only when nothing more comes: drawing takes the emulator longer
        than the child takes to go on, and the times of what was seen would be the emulator's.
        """
        burst = bytearray()
        while len(burst) < _BURST_BYTES and select.select([self.fd], [], [], _BURST_GAP)[0]:
            try:
                data = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self._at_end = True
                break
            self.seen_cpu, self.seen_wall = self.cpu(), self.wall()
            burst += data
        self.output += burst
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", bytes(burst)))

    def _reap(self, options: int) -> None:
        _, status, self.usage = os.wait4(self.pid, options)
        self.status = os.waitstatus_to_exitcode(status)


def _set_size(fd: int, columns: int, rows: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def clean_environ(home: Path, **more: str) -> dict[str, str]:
    """An environment in which a program finds nothing of the user's: its folders lie in `home`."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "DSH_HOME": str(home / "dsh"),
        "DSH_TUI_HOME": str(home / "own"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "TZ": "UTC",
        **more,
    }
