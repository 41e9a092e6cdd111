"""The text of a log file, whatever its physical encoding: streamed once, then readable anywhere (spec §2)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol
from weakref import finalize

from tui.session.errors import SessionUnreadable
from tui.session.frames import MAGIC, pread

FIRST_PIECE: Final = 64 * 1024
PIECE: Final = 1024 * 1024
# Lines that are split while their text is still in the processor's cache cost a third less.
_READ: Final = 256 * 1024
_TAIL_MAX: Final = 64 * 1024 * 1024


class Chunk(NamedTuple):
    """A piece of decoded text; `start` is the offset of `data[0]`, contiguous with the piece before it.

    `joins` is False after a skipped bad frame: an unfinished line before it can never be completed.
    """

    start: int
    data: bytes
    joins: bool


class SourceFault(NamedTuple):
    """Something wrong below the level of lines.

    Codes: `torn-tail`, `bad-frame`, `trailing-bytes`, `skippable-frame`, `header-frame` (frame 1 does not
    hold exactly the header line), `encoding-mismatch` (name and content disagree), `truncated` (the file
    shrank while open). `frame_offset` and `frame_length` are file bytes, `text_offset` is in decoded text.
    """

    code: str
    text_offset: int
    frame_offset: int
    frame_length: int
    reason: str


class TextSource(Protocol):
    """Decoded text of one log file as it was when opened; bytes appended later are not seen."""

    @property
    def encoding(self) -> Literal["none", "zstd"]:
        """How the text is stored."""
        ...

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def faults(self) -> list[SourceFault]:
        """Faults in file order; grows while `chunks` is consumed, each before the chunk that follows it."""
        ...

    @property
    def file_size(self) -> int:
        """File bytes at opening."""
        ...

    @property
    def consumed(self) -> int:
        """File bytes consumed by `chunks` so far."""
        ...

    def chunks(self) -> Iterator[Chunk]:
        """The text in order, in non-empty pieces of about a MiB at most; to be called once."""
        ...

    def read(self, start: int, end: int) -> bytes:
        """Text `[start, end)` out of what `chunks` has passed; shorter only if the file shrank since."""
        ...

    def tail(self, want: int) -> TextSource | None:
        """A source of its own over about the last `want` text bytes, beginning at a row; offsets from 0.

        None when that would reach back to the header, or no row start was found near the end of the file.
        """
        ...

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        ...


def open_source(path: Path) -> TextSource:
    """Open a log file for reading, by its content: zstd frames or plain text.

    Raises `SessionUnreadable` when there is no such regular file or it may not be read.
    """
    fd = _open_file(path)
    try:
        size = os.fstat(fd).st_size
        first = pread(fd, min(4, size), 0)
        named_zstd = path.name.endswith(".zstd")
        if _looks_zstd(first, named_zstd):
            from tui.session.zstd_source import ZstdSource

            source: TextSource = ZstdSource(path, fd, size)
            mismatch = "" if named_zstd else "the name says plain text, the content is zstd"
        else:
            source = PlainSource(path, fd, size)
            mismatch = "the name says zstd, the content is plain text" if named_zstd and size else ""
    except OSError as error:
        os.close(fd)
        raise _unreadable(path, error) from None
    if mismatch:
        source.faults.append(SourceFault("encoding-mismatch", 0, 0, 0, mismatch))
    return source


def _looks_zstd(first: bytes, named_zstd: bool) -> bool:
    if first == MAGIC:
        return True
    return named_zstd and first[:1] not in (b"{", b"")


def _open_file(path: Path) -> int:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        folder = stat.S_ISDIR(mode)
        raise SessionUnreadable(path, "is-a-folder" if folder else "not-a-file")
    return fd


def _unreadable(path: Path, error: OSError | ValueError) -> SessionUnreadable:
    if isinstance(error, ValueError):
        return SessionUnreadable(path, "missing", str(error))
    detail = error.strerror or str(error)
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return SessionUnreadable(path, "missing", detail)
    if error.errno in (errno.EACCES, errno.EPERM):
        return SessionUnreadable(path, "no-permission", detail)
    if error.errno == errno.EISDIR:
        return SessionUnreadable(path, "is-a-folder", detail)
    return SessionUnreadable(path, "read-failed", detail)


class PlainSource:
    """Plain text, read with `pread` so that a file cut short while open ends the text and nothing else."""

    encoding: Literal["none", "zstd"] = "none"

    def __init__(self, path: Path, fd: int, size: int, origin: int = 0) -> None:
        self.path = path
        self.faults: list[SourceFault] = []
        self.file_size = size
        self.consumed = origin
        self._fd = fd
        # A source that is let go of without `close` gives its file back too.
        self._release = finalize(self, os.close, fd)
        self._origin = origin
        self._shrunk = False

    def chunks(self) -> Iterator[Chunk]:
        """See `TextSource.chunks`."""
        position = self._origin
        piece = FIRST_PIECE
        while position < self.file_size:
            data = pread(self._fd, min(piece, self.file_size - position), position)
            piece = _READ
            if not data:
                break
            start = position - self._origin
            position += len(data)
            self.consumed = position
            yield Chunk(start, data, True)
        if position < self.file_size:
            self._note_shrunk(position)

    def read(self, start: int, end: int) -> bytes:
        """See `TextSource.read`."""
        start = max(start, 0) + self._origin
        end = min(end + self._origin, self.file_size)
        if end <= start:
            return b""
        data = pread(self._fd, end - start, start)
        if len(data) < end - start:
            self._note_shrunk(start + len(data))
        return data

    def tail(self, want: int) -> PlainSource | None:
        """See `TextSource.tail`."""
        want = max(want, 1)
        while want < self.file_size and want <= _TAIL_MAX:
            start = self.file_size - want - 1
            data = pread(self._fd, want + 1, start)
            newline = data.find(b"\n", 0, len(data) - 1)
            if newline >= 0:
                return PlainSource(self.path, os.dup(self._fd), self.file_size, start + newline + 1)
            want *= 4
        return None

    def close(self) -> None:
        """See `TextSource.close`."""
        self._release()

    def _note_shrunk(self, position: int) -> None:
        if not self._shrunk:
            self._shrunk = True
            reason = (
                f"the file had {self.file_size} bytes when opened and ends before byte {position + 1} now"
            )
            text = position - self._origin
            self.faults.append(SourceFault("truncated", text, position, self.file_size - position, reason))
