"""What the whole logs of a library told, kept from one run to the next.

A log that has the size and the time it had when it was read is not read again. The file lies among the caches
of the platform and can be deleted at any time; it holds titles, so nobody else may read it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

import msgspec

from tui import __version__
from tui.session.cache_file import cache_folder, write_cache
from tui.session.library import LibraryRow, State, fill_steps, run_steps

_CAPACITY: Final = 20_000
"""Logs remembered; beyond, those go first that were not met for the longest time."""
_MAX_BYTES: Final = 64 << 20


class _Known(msgspec.Struct, frozen=True, array_like=True):
    """What a log told, and the log it told it of: its inode, size and time of change."""

    mark: tuple[int, int, int]
    state: State
    reason: str | None
    detail: str
    title: str | None
    models: tuple[str, ...] | None
    tool_changes: int | None
    events: int | None


class _File(msgspec.Struct):
    made_by: str
    """Another version may read logs in another way."""
    logs: dict[str, _Known] = {}


def library_cache_path() -> Path:
    """Return the file among the caches of the platform."""
    return cache_folder() / "library.msgpack"


class LibraryCache:
    """Fills rows from what earlier runs read; without a path it remembers for this run only.

    A file that cannot be read or written costs time, nothing else.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._logs = _read(path) if path is not None else {}
        self._is_changed = False

    def filled(self, row: LibraryRow) -> LibraryRow:
        """Return the row with what is known of its log; the row itself where its log has to be read."""
        if row.filled or row.log is None:
            return row
        key = _key(row)
        known = self._logs.get(key)
        if known is None or known.mark != _mark(row.log):
            return row
        # Put last: met last.
        self._logs[key] = self._logs.pop(key)
        return msgspec.structs.replace(
            row,
            state=known.state,
            reason=known.reason,
            detail=known.detail,
            title=known.title,
            models=known.models,
            tool_changes=known.tool_changes,
            events=known.events,
            filled=True,
        )

    def fill_steps(self, row: LibraryRow) -> Generator[float, None, LibraryRow]:
        """`library.fill_steps`, for a row whose log is known without a step."""
        known = self.filled(row)
        if known.filled:
            return known
        # Taken before reading: what is appended meanwhile makes it another log.
        mark = _mark(row.log) if row.log is not None else None
        read = yield from fill_steps(row)
        if mark is not None and read.state in ("ok", "empty", "damaged"):
            self._logs.pop(_key(row), None)
            self._logs[_key(row)] = _Known(
                mark,
                read.state,
                read.reason,
                read.detail,
                read.title,
                read.models,
                read.tool_changes,
                read.events,
            )
            self._is_changed = True
        return read

    def fill(self, row: LibraryRow) -> LibraryRow:
        """Return the row with everything its log tells, read if it has to be."""
        return run_steps(self.fill_steps(row))

    def save(self) -> None:
        """Write what was learned, whole or not at all."""
        if self._path is None or not self._is_changed:
            return
        kept = dict(list(self._logs.items())[-_CAPACITY:])
        content = msgspec.msgpack.encode(_File(made_by=__version__, logs=kept))
        with contextlib.suppress(OSError):
            write_cache(self._path, content)
            self._is_changed = False


def _key(row: LibraryRow) -> str:
    return os.fsencode(row.log or row.path).decode("utf-8", "backslashreplace")


def _mark(log: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(log)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _read(path: Path) -> dict[str, _Known]:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        found = msgspec.msgpack.decode(content, type=_File) if len(content) <= _MAX_BYTES else None
    except (OSError, msgspec.MsgspecError):
        return {}
    return found.logs if found is not None and found.made_by == __version__ else {}
