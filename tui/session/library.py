"""One row for every session of the homes: quick rows from first lines, the rest by reading each log once."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from tui.session.damage import Damage
from tui.session.errors import SessionUnreadable
from tui.session.json_text import well_formed
from tui.session.log_header import LogHeader, read_header
from tui.session.naming import is_log_name, parse_log_name, session_id_of
from tui.session.reader import open_log
from tui.session.records import CODES, TYPE_NAMES, DeveloperMessage, RequestHeaderRow, Title, UnknownRecord
from tui.session.source import TextSource, open_source
from tui.session.store import Homes, Store, generations, session_folders

State = Literal["ok", "empty", "damaged", "unreadable", "old-format", "newer-format"]

_SLICE_SECONDS: Final = 0.02
_CHANGE_BLOCKS: Final = frozenset(("tool-addition", "tool-removal"))


class LibraryRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session as a list shows it; times are Unix milliseconds, `bytes` the size of the log file.

    `path` is the session folder (the log file itself where it lies directly in a project folder), `log` the
    file that is read. `reason` is a code when the state is not `ok`, `detail` a technical fact to go with it.
    What only reading the whole log tells is None until `filled`.
    """

    id: str
    path: Path
    store: Store
    state: State
    log: Path | None = None
    reason: str | None = None
    detail: str = ""
    format_version: int | None = None
    title: str | None = None
    cwd: str | None = None
    created_ms: int | None = None
    updated_ms: int | None = None
    bytes: int = 0
    models: tuple[str, ...] | None = None
    tool_changes: int | None = None
    events: int | None = None
    parent: str | None = None
    origin: str | None = None
    filled: bool = False


class Shelf(NamedTuple):
    """A row, the sessions that came out of it (subagents and forks), and when any of them last changed."""

    row: LibraryRow
    children: tuple[Shelf, ...]
    latest_ms: int


def scan(homes: Homes) -> Iterator[LibraryRow]:
    """A quick row for every session folder of both homes; reads no more than each log's first line."""
    for store, sessions in homes.stores():
        for place, error in session_folders(sessions):
            yield _folder_fault(place, store, error) if error is not None else quick_row(place, store)


def quick_row(place: Path, store: Store) -> LibraryRow:
    """The row of one session folder or lone log file, from its first line; never raises."""
    log: Path | None = place
    if not is_log_name(place.name) or place.is_dir():
        try:
            found = generations(place)
        except OSError as error:
            return _folder_fault(place, store, error)
        log = found[0].path if found else None
    if log is None:
        return _bare_row(place, store, "empty", "no-log")
    named = parse_log_name(log.name)
    row = msgspec.structs.replace(
        _bare_row(place, store, "ok", None, stat_of=log),
        log=log,
        format_version=named.version if named else None,
    )
    try:
        source = open_source(log)
    except SessionUnreadable as error:
        return _unreadable_row(row, error)
    try:
        header, damage, whole = read_header(source)
        return _header_row(row, header, damage, source, whole)
    except SessionUnreadable as error:
        return _unreadable_row(row, error)
    except OSError as error:
        return msgspec.structs.replace(row, state="unreadable", reason="read-failed", detail=_cause(error))
    finally:
        source.close()


def fill(row: LibraryRow) -> LibraryRow:
    """The row with what reading its whole log tells: title, models, tool changes, events, soundness."""
    return run_steps(fill_steps(row))


def run_steps(steps: Generator[float, None, LibraryRow]) -> LibraryRow:
    """Take all steps of a filling and return its row."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value


def fill_steps(row: LibraryRow) -> Generator[float, None, LibraryRow]:
    """`fill` in slices of about 20 ms: yields the share read so far, returns the row; may be closed early."""
    if row.log is None or row.state in ("unreadable", "old-format", "newer-format"):
        return msgspec.structs.replace(row, filled=True)
    summary = _Summary()
    try:
        log, reader = open_log(row.log, summary)
    except SessionUnreadable as error:
        return _unreadable_row(msgspec.structs.replace(row, filled=True), error)
    try:
        while not reader.step(_SLICE_SECONDS):
            yield reader.progress
        return _filled_row(row, summary, log.damage)
    except OSError as error:
        return msgspec.structs.replace(
            row, state="unreadable", reason="read-failed", detail=_cause(error), filled=True
        )
    finally:
        log.close()


def arrange(rows: Iterable[LibraryRow]) -> tuple[Shelf, ...]:
    """Rows as a forest: children under their parents, on each level what changed last comes first.

    A child whose parent is not among the rows stands for itself; so do rows that name each other as parents.
    """
    rows = list(rows)
    by_id: dict[tuple[Store, str], int] = {}
    for at, row in enumerate(rows):
        by_id.setdefault((row.store, row.id), at)
    parent_of = [_parent_index(row, at, by_id) for at, row in enumerate(rows)]
    _break_cycles(parent_of)
    order = _deepest_first(parent_of)
    children: list[list[Shelf]] = [[] for _ in rows]
    roots: list[Shelf] = []
    for at in order:
        below = tuple(sorted(children[at], key=_newest_first))
        latest = max((rows[at].updated_ms or 0, *(child.latest_ms for child in below)))
        shelf = Shelf(rows[at], below, latest)
        parent = parent_of[at]
        (roots if parent is None else children[parent]).append(shelf)
    return tuple(sorted(roots, key=_newest_first))


class _Summary:
    """Takes from each event what a list shows."""

    def __init__(self) -> None:
        self.events = 0
        self.title: str | None = None
        self.models: dict[str, None] = {}
        self.tool_changes = 0

    @property
    def handlers(self) -> Sequence[Sequence[Callable[[int, Any], None]]]:
        """Every event is counted; three types are looked into."""
        table: list[tuple[Callable[[int, Any], None], ...]] = [(self._count,)] * len(TYPE_NAMES)
        for name, handler in (
            ("session/title", self._title),
            ("developer/message", self._developer),
            ("request/header", self._header),
        ):
            table[CODES[name]] = (self._count, handler)
        return table

    def _count(self, row: int, record: Any) -> None:
        self.events += 1

    def _title(self, row: int, record: Title) -> None:
        self.title = well_formed(record.data.title) or None

    def _developer(self, row: int, record: DeveloperMessage) -> None:
        if any(block.type in _CHANGE_BLOCKS for block in record.data.message.content):
            self.tool_changes += 1

    def _header(self, row: int, record: RequestHeaderRow) -> None:
        model = _model_of(record.data)
        if model:
            self.models[model] = None

    def unknown(self, row: int, record: UnknownRecord) -> None:
        self.events += 1

    def damage(self, row: int, damage: Damage) -> None:
        return


class _Config(msgspec.Struct):
    model: str = ""


class _Header(msgspec.Struct):
    config: _Config = msgspec.field(default_factory=_Config)


class _HeaderData(msgspec.Struct):
    header: _Header = msgspec.field(default_factory=_Header)


_decode_header: Final = msgspec.json.Decoder(_HeaderData).decode


def _model_of(data: msgspec.Raw) -> str:
    try:
        return well_formed(_decode_header(data).header.config.model)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""


def _header_row(
    row: LibraryRow, header: LogHeader, damage: list[Damage], source: TextSource, whole: bool
) -> LibraryRow:
    row = msgspec.structs.replace(
        row,
        id=header.id,
        format_version=header.version,
        cwd=header.cwd,
        created_ms=header.created_ms or None,
        parent=header.parent_session,
        origin=header.origin,
    )
    if damage:
        return msgspec.structs.replace(row, state="damaged", reason=damage[0].code, detail=damage[0].reason)
    if source.faults:
        fault = source.faults[0]
        return msgspec.structs.replace(row, state="damaged", reason=fault.code, detail=fault.reason)
    if whole:
        return msgspec.structs.replace(row, state="empty", reason="no-events", events=0)
    return row


def _filled_row(row: LibraryRow, summary: _Summary, damage: list[Damage]) -> LibraryRow:
    state: State = "ok"
    reason, detail = None, ""
    if damage:
        state, reason, detail = "damaged", damage[0].code, damage[0].reason
    elif not summary.events:
        state, reason = "empty", "no-events"
    return msgspec.structs.replace(
        row,
        state=state,
        reason=reason,
        detail=detail,
        title=summary.title,
        models=tuple(summary.models),
        tool_changes=summary.tool_changes,
        events=summary.events,
        filled=True,
    )


def _bare_row(
    place: Path,
    store: Store,
    state: State,
    reason: str | None,
    *,
    detail: str = "",
    stat_of: Path | None = None,
) -> LibraryRow:
    updated: int | None = None
    size = 0
    try:
        status = os.stat(stat_of or place)
        updated = status.st_mtime_ns // 1_000_000
        size = status.st_size if stat_of is not None else 0
    except OSError:
        pass
    return LibraryRow(
        id=well_formed(session_id_of(place.name)),
        path=place,
        store=store,
        state=state,
        reason=reason,
        detail=detail,
        updated_ms=updated,
        bytes=size,
    )


def _folder_fault(place: Path, store: Store, error: OSError) -> LibraryRow:
    code = "no-permission" if isinstance(error, PermissionError) else "read-failed"
    return _bare_row(place, store, "unreadable", code, detail=_cause(error))


def _unreadable_row(row: LibraryRow, error: SessionUnreadable) -> LibraryRow:
    state: State = "unreadable"
    if error.code == "empty-file":
        state = "empty"
    elif error.code == "old-format":
        state = "old-format"
    elif error.code == "newer-format":
        state = "newer-format"
    facts: dict[str, Any] = {
        name: error.fields[key]
        for name, key in (
            ("id", "id"),
            ("cwd", "cwd"),
            ("created_ms", "created_ms"),
            ("parent", "parent"),
            ("origin", "origin"),
            ("format_version", "version"),
        )
        if error.fields.get(key) not in (None, "")
    }
    return msgspec.structs.replace(row, state=state, reason=error.code, detail=error.detail, **facts)


def _cause(error: OSError) -> str:
    return error.strerror or str(error)


def _parent_index(row: LibraryRow, at: int, by_id: dict[tuple[Store, str], int]) -> int | None:
    if row.parent is None:
        return None
    found = by_id.get((row.store, row.parent))
    if found is None:
        found = next((by_id[key] for key in by_id if key[1] == row.parent), None)
    return None if found == at else found


def _break_cycles(parent_of: list[int | None]) -> None:
    settled: set[int] = set()
    for start in range(len(parent_of)):
        path: set[int] = set()
        at: int | None = start
        while at is not None and at not in settled:
            path.add(at)
            above = parent_of[at]
            if above in path:
                parent_of[at] = above = None
            at = above
        settled |= path


def _deepest_first(parent_of: list[int | None]) -> list[int]:
    waiting = [0] * len(parent_of)
    for parent in parent_of:
        if parent is not None:
            waiting[parent] += 1
    ready = [at for at, count in enumerate(waiting) if not count]
    order: list[int] = []
    while ready:
        at = ready.pop()
        order.append(at)
        parent = parent_of[at]
        if parent is not None:
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)
    return order


def _newest_first(shelf: Shelf) -> tuple[int, str]:
    return -shelf.latest_ms, str(shelf.row.path)
