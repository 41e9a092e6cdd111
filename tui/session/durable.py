"""A log file that grows by whole, durable batches (session-format §2.2, §9.2, §9.3).

After any failure the file ends where its last whole batch ended. Nothing here knows about events.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from tui.session.write_errors import SessionWriteError, write_error

Encoding = Literal["none", "zstd"]

_ZSTD_LEVEL: Final = 3
_NO_LINKS: Final = frozenset((errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK))


class Cut(NamedTuple):
    """How to mend a torn tail: cut the file back to `size` bytes, then write `lines` (with LF) again."""

    size: int
    lines: tuple[bytes, ...]


class LogFile:
    """The file of one log; created by its first batch, or opened at its end.

    Not for two threads at a time. After a SessionWriteError every further call raises it again.
    """

    def __init__(
        self, path: Path, encoding: Encoding, *, header: bytes = b"", cut: Cut | None = None
    ) -> None:
        self.path = path
        self.encoding: Final = encoding
        self.error: SessionWriteError | None = None
        self._header = header
        self._cut = cut
        self._fd = -1
        self._size = 0
        self._compressor: _Compressor | None = None

    def append(self, lines: Sequence[bytes]) -> None:
        """Write lines (LF included) as one batch and make it durable.

        Raises SessionWriteError; the file then holds none of the lines.
        """
        if self.error is not None:
            raise self.error
        try:
            if self._header:
                self._create([lines])
            else:
                self._extend(lines)
        except OSError as error:
            self.error = self._take_back(error)
            raise self.error from None

    def create(self, batches: Iterable[Sequence[bytes]]) -> None:
        """Write the log that is not there yet, out of many batches; raises SessionWriteError, and none is."""
        try:
            self._create(batches)
        except OSError as error:
            self.error = self._take_back(error)
            raise self.error from None

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self.error is None:
            self.error = SessionWriteError(self.path, "closed", "the log is closed")

    @property
    def exists(self) -> bool:
        """Whether the first batch has been written."""
        return not self._header

    def _create(self, batches: Iterable[Sequence[bytes]]) -> None:
        temporary = self.path.with_name(f"{self.path.name}.{secrets.token_hex(6)}.tmp")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            try:
                _write_all(fd, self._encode([self._header]))
                for lines in batches:
                    if lines:
                        _write_all(fd, self._encode(lines))
                os.fsync(fd)
            finally:
                os.close(fd)
            _link(temporary, self.path)
            try:
                sync_folder(self.path.parent)
            except OSError:
                self.path.unlink(missing_ok=True)
                raise
        finally:
            temporary.unlink(missing_ok=True)
        self._header = b""
        self._open()

    def _extend(self, lines: Sequence[bytes]) -> None:
        if self._fd < 0:
            self._open()
        batch = list(lines)
        if self._cut is not None:
            os.ftruncate(self._fd, self._cut.size)
            self._size = self._cut.size
            batch[:0] = self._cut.lines
            self._cut = None
        if not batch:
            return
        data = self._encode(batch)
        _write_all(self._fd, data)
        os.fsync(self._fd)
        self._size += len(data)

    def _open(self) -> None:
        self._fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        self._size = os.fstat(self._fd).st_size

    def _take_back(self, error: OSError) -> SessionWriteError:
        if self._fd < 0:
            return write_error(self.path, error)
        try:
            os.ftruncate(self._fd, self._size)
            os.fsync(self._fd)
        except OSError:
            return write_error(self.path, error, cut_back=0)
        finally:
            os.close(self._fd)
            self._fd = -1
        return write_error(self.path, error)

    def _encode(self, lines: Sequence[bytes]) -> bytes:
        text = b"".join(lines)
        if self.encoding == "none":
            return text
        if self._compressor is None:
            self._compressor = _Compressor()
        return self._compressor.frame(text)


class _Compressor:
    """Frames as dsh writes them: with a checksum, without content size (descriptor 0x04)."""

    def __init__(self) -> None:
        import zstandard

        self._compressor = zstandard.ZstdCompressor(
            level=_ZSTD_LEVEL, write_checksum=True, write_content_size=False
        )

    def frame(self, text: bytes) -> bytes:
        return self._compressor.compress(text)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _link(temporary: Path, final: Path) -> None:
    try:
        os.link(temporary, final)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # No hard links here: the session lock keeps others away from the name meanwhile.
        if final.exists():
            raise FileExistsError(errno.EEXIST, "the log exists already", str(final)) from None
        os.rename(temporary, final)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; raises OSError."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot sync folders
            raise
    finally:
        os.close(fd)
