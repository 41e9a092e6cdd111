"""Names in a dsh home: session folders, project folders, log files (spec §1.2, §1.3)."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

FORMAT_VERSION: Final = 4
SESSIONS: Final = "sessions"
NO_CWD_PROJECT: Final = "_no-cwd"
LOG_SUFFIXES: Final = (".jsonl", ".jsonl.zstd")

_LITERAL: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_SEPARATORS: Final = frozenset(b"/\\:")
_PROJECT_UNITS: Final = 251
_CANONICAL: Final = re.compile(r"session(?:\.v([1-9][0-9]{0,8}))?\.jsonl(\.zstd)?")
_ESCAPE: Final = re.compile(r"~([0-9A-F]{4})")


class LogName(NamedTuple):
    """What a canonical log file name says."""

    version: int
    encoding: Literal["none", "zstd"]


def parse_log_name(name: str) -> LogName | None:
    """The generation and encoding of a canonical log file name, None for every other name."""
    match = _CANONICAL.fullmatch(name)
    if match is None:
        return None
    return LogName(int(match[1] or 0), "zstd" if match[2] else "none")


def log_name(version: int, encoding: Literal["none", "zstd"]) -> str:
    """The canonical file name of a generation."""
    stem = f"session.v{version}.jsonl" if version else "session.jsonl"
    return stem + (".zstd" if encoding == "zstd" else "")


def is_log_name(name: str) -> bool:
    """Whether a file may be a log by its suffix; leftover `.tmp` files never are."""
    return name.endswith(LOG_SUFFIXES)


def session_folder(session_id: str) -> str:
    """The folder name of a session id; raises `ValueError` for the empty id."""
    if not session_id:
        raise ValueError("a session id is never empty")
    if session_id in (".", ".."):
        return "~002E" * len(session_id)
    return "".join(_escape(unit) for unit in _units(session_id))


def session_id_of(folder: str) -> str:
    """The id that a session folder's name stands for; names dsh would not make come back as they are."""
    units = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), folder)
    joined = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    try:
        return joined if joined and session_folder(joined) == folder else folder
    except ValueError:
        return folder


def project_folder(cwd: str | None) -> str:
    """The project folder name of a working directory; many directories may share one."""
    if cwd is None:
        return NO_CWD_PROJECT
    parts: list[str] = []
    separated = False
    for unit in _units(cwd):
        if unit in _SEPARATORS:
            if not separated:
                parts.append("-")
            separated = True
        else:
            parts.append(_escape(unit))
            separated = False
    key = "".join(parts).lstrip("-") or "root"
    return f"--{key[:_PROJECT_UNITS]}--"


def _units(text: str) -> list[int]:
    encoded = text.encode("utf-16-le", "surrogatepass")
    return [encoded[at] | encoded[at + 1] << 8 for at in range(0, len(encoded), 2)]


def _escape(unit: int) -> str:
    return chr(unit) if unit in _LITERAL else f"~{unit:04X}"
