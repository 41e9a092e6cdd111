"""Where an export goes: whole files, and never into a dsh home."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Final, Literal, TextIO

from tui.i18n import Translator
from tui.session.naming import SESSIONS
from tui.session.store import Homes

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
Refusal = Literal["inside-home", "session-log", "is-a-folder", "no-folder"]


class OutputRefused(Exception):
    """A place that nothing is written to; `code` says why."""

    def __init__(self, path: Path, code: Refusal) -> None:
        super().__init__(f"{path}: {code}")
        self.path = path
        self.code: Refusal = code

    def sentence(self, tr: Translator) -> str:
        """Return what to say of it; the file's name is not cleaned."""
        match self.code:
            case "session-log":
                return tr.t("{file}: this is the session's own log; name another file.", file=self.path)
            case "inside-home":
                return tr.t(
                    "{file}: nothing is written inside a home of sessions; name another place.",
                    file=self.path,
                )
            case "is-a-folder":
                return tr.t("{file}: is a folder; name a file.", file=self.path)
            case "no-folder":
                return tr.t("{file}: there is no folder {folder}.", file=self.path, folder=self.path.parent)


def check_place(path: Path, homes: Homes, log: Path) -> None:
    """Raise OutputRefused for the session's own log, for anything inside a home, for a folder, and for a
    file in a folder that is not there."""
    target = Path(os.path.realpath(path))
    if target == Path(os.path.realpath(log)) or _same_file(target, log):
        raise OutputRefused(path, "session-log")
    for home in (homes.dsh, homes.own):
        if target.is_relative_to(os.path.realpath(home)):
            raise OutputRefused(path, "inside-home")
    home = _home_of(log)
    if home is not None and target.is_relative_to(home):
        raise OutputRefused(path, "inside-home")
    if target.is_dir():
        raise OutputRefused(path, "is-a-folder")
    if not target.parent.is_dir():
        raise OutputRefused(path, "no-folder")


@contextmanager
def whole_file(path: Path) -> Generator[Callable[[str], object]]:
    """Give a function that writes text; the file appears, or replaces an old one, when all is written.

    A device or a pipe is written to; it is never replaced. A full disk is told with the name of the file.
    """
    try:
        with _file_as_it_is(path) if _is_special(path) else _replacement(path) as write:
            yield write
    except OSError as error:
        if error.filename is None and error.errno in _NO_ROOM:
            error.filename = str(path)
        raise


@contextmanager
def _file_as_it_is(path: Path) -> Generator[Callable[[str], object]]:
    # A pipe that nobody reads is refused instead of waited for.
    handle = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(handle, True)
    with open(handle, "w", encoding="utf-8", newline="\n") as stream:
        yield stream.write


@contextmanager
def _replacement(path: Path) -> Generator[Callable[[str], object]]:
    target = Path(os.path.realpath(path))
    # Named before it is made: a signal that comes between the two finds what to take away.
    part = target.with_name(f".{target.name[:100]}.{token_hex(8)}.part")
    try:
        try:
            stream = open(part, "x", encoding="utf-8", newline="\n", opener=_for_nobody_else)  # noqa: SIM115
        except OSError as error:
            # The reader named the file, not the one it is written under first.
            error.filename = str(path)
            raise
        with stream:
            os.chmod(part, _mode_of(target))
            yield stream.write
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _for_nobody_else(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def utf8_writer(stream: TextIO) -> Callable[[str], object]:
    """Return a function that writes text to a standard stream as UTF-8, whatever its encoding."""
    binary = getattr(stream, "buffer", None)
    if binary is None:
        return stream.write
    stream.flush()

    def write(text: str) -> object:
        return binary.write(text.encode("utf-8", "replace"))

    return write


def _home_of(log: Path) -> Path | None:
    """The home that a log lies in (`home/sessions/project/session/log`), whether or not it is one of ours."""
    parents = Path(os.path.realpath(log)).parents
    at = next((at for at in (1, 2) if len(parents) > at + 1 and parents[at].name == SESSIONS), None)
    return parents[at + 1] if at is not None else None


def _is_special(path: Path) -> bool:
    """Whether there is something of this name that holds no bytes of its own."""
    return path.exists() and not path.is_file()


def _same_file(target: Path, log: Path) -> bool:
    try:
        return os.path.samefile(target, log)
    except OSError:
        return False


def _mode_of(target: Path) -> int:
    """The mode of the file that is replaced, else what a new file gets."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
