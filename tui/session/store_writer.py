"""Places for new sessions in our own store (session-format §1.2, §1.4, §9.2)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec

from tui.session.durable import Encoding, sync_folder
from tui.session.errors import SessionError
from tui.session.json_text import well_formed
from tui.session.locking import SessionLock
from tui.session.log_header import LogHeader
from tui.session.naming import (
    FORMAT_VERSION,
    SESSIONS,
    log_name,
    parse_log_name,
    project_folder,
    session_folder,
)
from tui.session.store import session_folders
from tui.session.write_errors import SessionRefused, write_error


class Place(NamedTuple):
    """A locked, empty session folder and the log that will stand in it; `made` are folders made for it."""

    log: Path
    encoding: Encoding
    lock: SessionLock
    made: tuple[Path, ...]


def new_session_id() -> str:
    """Return a fresh id for a root session."""
    return f"session-{uuid4()}"


def clean_cwd(cwd: str | None) -> str | None:
    """Return a working directory as a header can hold it: absolute, and well-formed text (§2.3)."""
    # The folder's name follows from this text, so what is no text in a path is replaced here, not later.
    return None if cwd is None else well_formed(os.path.abspath(cwd))


def header_line(header: LogHeader) -> bytes:
    """Return the first line of a log, LF included (session-format §2.3)."""
    fields: dict[str, Any] = {
        "type": "session",
        "version": header.version,
        "id": header.id,
        "createdAt": header.created_ms,
    }
    optional = {
        "cwd": header.cwd,
        "parentSession": header.parent_session,
        "origin": header.origin,
        "agentPreset": header.agent_preset,
    }
    fields.update((key, value) for key, value in optional.items() if value is not None)
    fields["isSeeded"] = header.is_seeded
    fields["delegationDepth"] = header.delegation_depth
    return msgspec.json.encode(fields) + b"\n"


def store_encoding(home: Path, *, encoding: Encoding | None = None, preferred: Encoding = "zstd") -> Encoding:
    """Return the encoding of a home's store: that of its logs, else `encoding`, else `preferred`.

    Raises SessionRefused `other-encoding` if `encoding` is not that of the logs, `mixed-encodings` if the
    logs have both: dsh refuses such a store whole.
    """
    sessions = home / SESSIONS
    found: Encoding | None = None
    for folder, error in session_folders(sessions):
        if error is not None:
            continue
        for name in _names(folder):
            log = parse_log_name(name)
            if log is None:
                continue
            if found is not None and log.encoding != found:
                raise SessionRefused(sessions, "mixed-encodings", "the store holds logs of both encodings")
            found = log.encoding
    if found is not None and encoding is not None and found != encoding:
        raise SessionRefused(sessions, "other-encoding", f"the store holds {found} logs", held=found)
    return found or encoding or preferred


def find_place(home: Path, header: LogHeader, encoding: Encoding) -> Place:
    """Make and lock the folder of a new session; folders have mode 0700.

    Raises SessionRefused `exists` if any project has a session of this id, SessionWriteError if the folder
    cannot be made.
    """
    sessions = home / SESSIONS
    name = session_folder(header.id)
    if any(folder.name == name for folder, _ in session_folders(sessions)):
        raise SessionRefused(sessions, "exists", f"there is a session {header.id}", id=header.id)
    folder = sessions / project_folder(header.cwd) / name
    made: list[Path] = []
    try:
        _make_folders(folder, made)
        lock = SessionLock.acquire(folder)
    except OSError as error:
        _remove_folders(made)
        raise write_error(folder, error) from None
    except SessionError:
        _remove_folders(made)
        raise
    place = Place(folder / log_name(FORMAT_VERSION, encoding), encoding, lock, tuple(made))
    if place.log.exists():
        lock.release()
        raise SessionRefused(folder, "exists", f"there is a session {header.id}", id=header.id)
    return place


def _make_folders(folder: Path, made: list[Path]) -> None:
    for parent in (*reversed(folder.parents), folder):
        if not parent.is_dir():
            parent.mkdir(mode=0o700, exist_ok=True)
            made.append(parent)
    for parent in made:
        sync_folder(parent.parent)


def _remove_folders(made: Sequence[Path]) -> None:
    for folder in reversed(made):
        try:
            folder.rmdir()
        except OSError:
            return  # Somebody else has put something there.


def give_up(place: Place) -> None:
    """Release a place that got no log, and remove the folders made for it as far as they are empty."""
    place.lock.release(remove=place.log.parent in place.made)
    _remove_folders(place.made)


def _names(folder: Path) -> list[str]:
    if parse_log_name(folder.name) is not None:
        return [folder.name]
    try:
        return os.listdir(folder)
    except OSError:
        return []
