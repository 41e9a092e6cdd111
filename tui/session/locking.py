"""The lock of a session folder, taken as dsh takes it: flock(2) on `session.lock` (session-format §1.7)."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from tui.session.write_errors import SessionRefused, SessionWriteError, write_error

LOCK_NAME: Final = "session.lock"
_ATTEMPTS: Final = 100


class SessionLock:
    """The exclusive lock of one session folder, held until `release` or the end of the process."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd

    @classmethod
    def acquire(cls, folder: Path) -> SessionLock:
        """Lock a session folder without waiting.

        Raises SessionRefused `locked` while another writer holds it, SessionWriteError if it cannot be had.
        """
        path = folder / LOCK_NAME
        try:
            import fcntl
        except ImportError:
            raise SessionWriteError(path, "write-failed", "this platform has no flock") from None
        for _ in range(_ATTEMPTS):
            try:
                fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            except OSError as error:
                raise write_error(path, error) from None
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(fd)
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    raise SessionRefused(folder, "locked", "another process writes this session") from None
                raise write_error(path, error) from None
            if _same_file(path, fd):
                return cls(path, fd)
            # Somebody replaced the file between opening and locking: this lock guards nothing.
            os.close(fd)
        raise SessionWriteError(path, "write-failed", "the lock file is replaced again and again")

    @property
    def held(self) -> bool:
        """Whether the lock is still held."""
        return self._fd >= 0

    def release(self, *, remove: bool = False) -> None:
        """Give the lock up; `remove` deletes its file first, for a folder that never held a log."""
        if self._fd < 0:
            return
        if remove:
            self.path.unlink(missing_ok=True)
        os.close(self._fd)
        self._fd = -1


def _same_file(path: Path, fd: int) -> bool:
    try:
        named = os.stat(path)
    except FileNotFoundError:
        return False
    opened = os.fstat(fd)
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)
