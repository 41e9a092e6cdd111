"""Why a session cannot be written or continued; codes and facts, no advice (the app makes the sentence)."""

from __future__ import annotations

import errno
from pathlib import Path

from tui.session.errors import SessionFileError


class SessionWriteError(SessionFileError):
    """Writing failed, and what was half-written has been taken back.

    Codes: `disk-full`, `too-big`, `no-permission`, `read-only`, `write-failed`, `closed`. `fields` has `path`
    and `detail`, and `cut_back` 0 where even cutting the file back to its last whole batch failed.
    """


class SessionRefused(SessionFileError):
    """A session that exists and is not continued in place; a copy may be (`fork`).

    Codes: `locked` (another process holds it), `damaged` (`damage` names the code, `line` the place),
    `unknown-events` (`type`, `seq`; allowed explicitly), `rule` (`rule`, `type`, `seq`, `detail`),
    `older-generation`, `other-encoding`, `mixed-encodings`, `exists`, `foreign-home`. `fields` has `path`.
    """


_CODES = {
    errno.ENOSPC: "disk-full",
    errno.EDQUOT: "disk-full",
    errno.EFBIG: "too-big",
    errno.EACCES: "no-permission",
    errno.EPERM: "no-permission",
    errno.EROFS: "read-only",
}


def write_error(path: Path, error: OSError, **fields: int | str) -> SessionWriteError:
    """Return the typed form of an OSError that writing met."""
    code = _CODES.get(error.errno or 0, "write-failed")
    return SessionWriteError(path, code, error.strerror or str(error), **fields)
