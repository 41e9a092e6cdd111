"""Where sessions are: the homes, the newest log of a folder, what a SESSION argument names (spec §1)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

from tui.session.errors import SessionAmbiguous, SessionNotFound, SessionUnreadable
from tui.session.log_header import read_header
from tui.session.naming import (
    LOG_SUFFIXES,
    SESSIONS,
    LogName,
    is_log_name,
    parse_log_name,
    session_folder,
    session_id_of,
)
from tui.session.source import open_source

Store = Literal["own", "dsh", "file"]

_SECRETS: Final = frozenset((".credentials.yaml", ".env"))
_ADDRESS: Final = re.compile(r"(.+)@([0-9]{1,16})", re.DOTALL)
_ROOT_PREFIX: Final = "session-"


class Homes(NamedTuple):
    """The folder of our own sessions and the dsh home; neither needs to exist."""

    own: Path
    dsh: Path

    def stores(self) -> Iterator[tuple[Store, Path]]:
        """Each store's name and its `sessions` folder, own first; once if both are one folder."""
        yield "own", self.own / SESSIONS
        if self.dsh != self.own:
            yield "dsh", self.dsh / SESSIONS


class Generation(NamedTuple):
    """One canonical log file of a session folder."""

    path: Path
    name: LogName


class ResolvedSession(NamedTuple):
    """A log to open; `rivals` are logs of the same version in the other encoding, which are not read."""

    path: Path
    store: Store
    rivals: tuple[Path, ...] = ()


def find_homes(environ: Mapping[str, str], dsh_home: str | Path | None = None) -> Homes:
    """The homes: `$DSH_TUI_HOME` or the user data folder; `dsh_home`, `$DSH_HOME` or `~/.dsh` (spec §1.1).

    A blank variable counts as unset; a leading `~` is expanded.
    """
    own = environ.get("DSH_TUI_HOME", "")
    if own.strip():
        own_path = _expanded(own)
    else:
        from platformdirs import user_data_path

        own_path = user_data_path("dsh-tui", appauthor=False)
    dsh = str(dsh_home) if dsh_home is not None else environ.get("DSH_HOME", "")
    return Homes(own_path, _expanded(dsh) if dsh.strip() else _expanded("~/.dsh"))


def split_address(argument: str) -> tuple[str, int | None]:
    """Split `SESSION@SEQ` into its parts; without a number at the end the whole is the session."""
    match = _ADDRESS.fullmatch(argument)
    return (match[1], int(match[2])) if match else (argument, None)


def resolve_address(argument: str, homes: Homes) -> tuple[ResolvedSession, int | None]:
    """`resolve_session` for an argument that may end in `@SEQ`; a path that exists is taken as it stands."""
    session, seq = split_address(argument)
    if seq is not None and _existing(argument) is not None:
        session, seq = argument, None
    return resolve_session(session, homes), seq


def resolve_session(argument: str, homes: Homes) -> ResolvedSession:
    """Find the log that a session folder, log file, id or unique prefix of an id names.

    Raises `SessionNotFound`, `SessionAmbiguous`, or `SessionUnreadable` for a path without a readable log.
    """
    path = _existing(argument)
    if path is not None:
        return _resolve_path(path, homes)
    if "/" in argument or os.sep in argument or is_log_name(argument):
        raise SessionUnreadable(Path(argument), "missing", "no such file or folder")
    found = _find_id(argument, homes) or _find_header(argument, homes)
    if not found:
        raise SessionNotFound(argument)
    if len(found) > 1:
        raise SessionAmbiguous(argument, sorted(folder for folder, _ in found))
    place, store = found[0]
    return _resolve_folder(place, store) if _is_dir(place) else ResolvedSession(place, store)


def generations(folder: Path) -> list[Generation]:
    """The canonical logs of a session folder, newest format first; raises `OSError` if it cannot be listed.

    Of two logs of one version the one written last comes first: dsh refuses such a store, so neither is right
    by rule, and what was written last is what the user saw last.
    """
    found: list[tuple[int, int, str, Generation]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = parse_log_name(entry.name)
            if name is not None and not _is_folder(entry):
                written = _modified_ns(entry)
                found.append((name.version, written, entry.name, Generation(Path(entry.path), name)))
    return [item[-1] for item in sorted(found, key=lambda item: item[:3], reverse=True)]


def session_folders(sessions: Path) -> Iterator[tuple[Path, OSError | None]]:
    """Every session folder below a `sessions` folder, and every log file directly in a project folder.

    A folder that cannot be listed comes with its error in place of what it holds.
    """
    try:
        projects = _sorted_entries(sessions)
    except FileNotFoundError:
        return
    except OSError as error:
        yield sessions, error
        return
    for project in projects:
        if not _is_folder(project):
            continue
        try:
            entries = _sorted_entries(Path(project.path))
        except OSError as error:
            yield Path(project.path), error
            continue
        for entry in entries:
            if _is_folder(entry) or is_log_name(entry.name):
                yield Path(entry.path), None


def _resolve_path(path: Path, homes: Homes) -> ResolvedSession:
    store = _store_of(path, homes)
    if _is_dir(path):
        return _resolve_folder(path, store)
    if path.name in _SECRETS:
        raise SessionUnreadable(path, "not-a-session", "this file is never opened")
    return ResolvedSession(path, store)


def _resolve_folder(folder: Path, store: Store) -> ResolvedSession:
    try:
        found = generations(folder)
    except PermissionError as error:
        raise SessionUnreadable(folder, "no-permission", error.strerror or "") from None
    except OSError as error:
        raise SessionUnreadable(folder, "read-failed", error.strerror or str(error)) from None
    if not found:
        raise SessionUnreadable(folder, "no-log", "the folder has no session log")
    newest = found[0]
    rivals = tuple(other.path for other in found[1:] if other.name.version == newest.name.version)
    return ResolvedSession(newest.path, store, rivals)


def _store_of(path: Path, homes: Homes) -> Store:
    absolute = Path(os.path.abspath(path))
    for store, sessions in homes.stores():
        if absolute.is_relative_to(os.path.abspath(sessions)):
            return store
    return "file"


def _find_id(argument: str, homes: Homes) -> list[tuple[Path, Store]]:
    """Folders whose id is the argument; else those whose id begins with it, `session-` before it or not."""
    exact: list[tuple[Path, Store]] = []
    begins: list[tuple[Path, Store]] = []
    rooted: list[tuple[Path, Store]] = []
    if not argument:
        return []
    try:
        wanted = session_folder(argument)
    except ValueError:
        return []
    for store, sessions in homes.stores():
        for folder, error in session_folders(sessions):
            if error is not None or folder.name.endswith(LOG_SUFFIXES):
                continue
            if folder.name == wanted:
                exact.append((folder, store))
                continue
            session_id = session_id_of(folder.name)
            if session_id.startswith(argument):
                begins.append((folder, store))
            elif session_id.startswith(_ROOT_PREFIX + argument):
                rooted.append((folder, store))
    return exact or begins or rooted


def _find_header(argument: str, homes: Homes) -> list[tuple[Path, Store]]:
    """Logs whose header has this very id: folders somebody renamed, and logs directly in a project folder."""
    found: list[tuple[Path, Store]] = []
    for store, sessions in homes.stores():
        for place, error in session_folders(sessions):
            if error is None and argument and _header_id(place, store) == argument:
                found.append((place, store))
    return found


def _header_id(place: Path, store: Store) -> str | None:
    try:
        log = _resolve_folder(place, store).path if _is_dir(place) else place
        source = open_source(log)
    except SessionUnreadable:
        return None
    try:
        return read_header(source)[0].id
    except SessionUnreadable as error:
        return str(error.fields.get("id", "")) or None
    except OSError:
        return None
    finally:
        source.close()


def _sorted_entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _existing(argument: str) -> Path | None:
    try:
        path = _expanded(argument)
        return path if argument and path.exists() else None
    except PermissionError:
        return Path(argument)
    except (OSError, ValueError):
        return None


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _modified_ns(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except OSError:
        return 0
