"""Typed failures of the session layer; `code` and `fields` carry the facts, the caller makes the sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


class SessionError(Exception):
    """A session cannot be had; `code` names why, `fields` holds what a sentence about it needs."""

    def __init__(self, code: str, fields: Mapping[str, int | str], message: str) -> None:
        super().__init__(message)
        self.code = code
        self.fields: dict[str, int | str] = dict(fields)


class SessionFileError(SessionError):
    """What is wrong with one file or folder; `fields` has `path` and `detail`."""

    def __init__(self, path: Path, code: str, detail: str = "", **fields: int | str) -> None:
        super().__init__(
            code,
            {"path": str(path), "detail": detail, **fields},
            f"{path}: {code}" + (f": {detail}" if detail else ""),
        )
        self.path = path
        self.detail = detail


class SessionUnreadable(SessionFileError):
    """A file that cannot be shown as a session.

    Codes: `missing`, `no-permission`, `is-a-folder`, `not-a-file`, `read-failed`, `no-log`, `empty-file`,
    `no-header`, `not-a-session`, `bad-header`, `newer-format`, `old-format`. `fields` always has `path` and
    `detail`; the two format codes add `version`, and `id`, `cwd`, `created_ms` as far as the header has them.
    """


class SessionNotFound(SessionError):
    """No session answers to the argument; `fields` has `argument`."""

    def __init__(self, argument: str) -> None:
        super().__init__("not-found", {"argument": argument}, f"no session {argument!r}")
        self.argument = argument


class SessionAmbiguous(SessionError):
    """More than one session answers to the argument; `candidates` are their log folders, sorted."""

    def __init__(self, argument: str, candidates: Sequence[Path]) -> None:
        super().__init__(
            "ambiguous",
            {
                "argument": argument,
                "count": len(candidates),
                "candidates": ", ".join(str(path) for path in candidates),
            },
            f"{argument!r} names {len(candidates)} sessions",
        )
        self.argument = argument
        self.candidates = tuple(candidates)
