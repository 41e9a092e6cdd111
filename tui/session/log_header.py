"""The first line of a log (spec §2.3): who the session is, and what is wrong with that line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from tui.session.damage import Damage
from tui.session.errors import SessionUnreadable
from tui.session.json_text import well_formed
from tui.session.json_value import as_count
from tui.session.naming import FORMAT_VERSION, parse_log_name, session_id_of
from tui.session.source import TextSource

_BOM: Final = b"\xef\xbb\xbf"
_ABSOLUTE: Final = re.compile(r"/|\\\\|[A-Za-z]:[\\/]")
_SHOWN: Final = 80
_LINE_MAX: Final = 1024 * 1024


class LogHeader(msgspec.Struct, frozen=True):
    """Header of a V4 log; `created_ms` is Unix milliseconds, 0 where the line has no usable time."""

    id: str
    version: int
    created_ms: int
    is_seeded: bool
    delegation_depth: int
    cwd: str | None = None
    parent_session: str | None = None
    origin: str | None = None
    agent_preset: str | None = None


def parse_header(line: bytes, path: Path) -> tuple[LogHeader, list[Damage]]:
    """Read a log's first line, its LF included; what dsh would refuse but can be read is damage.

    Raises `SessionUnreadable` (codes `empty-file`, `no-header`, `not-a-session`, `bad-header`,
    `newer-format`, `old-format`) when the line does not tell which V4 session this is.
    """
    damage: list[Damage] = []
    if line.startswith(_BOM):
        line = line[len(_BOM) :]
        damage.append(_damage("the file begins with a byte order mark"))
    named = parse_log_name(path.name)
    try:
        fields = _parse_line(line, path)
    except SessionUnreadable as error:
        if named is None or named.version <= FORMAT_VERSION or error.code in ("empty-file", "no-header"):
            raise
        # A later format may begin in another way; its file name still tells what it is.
        raise SessionUnreadable(path, "newer-format", error.detail, version=named.version) from None
    version = _version(fields, path, named.version if named else None)
    if named is not None and named.version != version:
        damage.append(
            Damage(
                code="version-mismatch",
                line=1,
                offset=0,
                reason=f"the file name says format {named.version}, the header says {version}",
                fields={"named": named.version, "version": version},
            )
        )
    reading = _Reading(fields, damage)
    header = LogHeader(
        id=reading.session_id(path),
        version=version,
        created_ms=reading.count("createdAt"),
        is_seeded=reading.flag("isSeeded"),
        delegation_depth=reading.count("delegationDepth"),
        cwd=reading.text("cwd"),
        parent_session=reading.text("parentSession"),
        origin=reading.text("origin"),
        agent_preset=reading.text("agentPreset"),
    )
    reading.check(header)
    return header, damage


def read_header(source: TextSource) -> tuple[LogHeader, list[Damage], bool]:
    """The header of a source just opened, its faults, and whether the file holds nothing else.

    Takes from `source.chunks()` what it needs; raises as `parse_header` does.
    """
    pieces: list[bytes] = []
    length = 0
    whole = True
    for chunk in source.chunks():
        head, newline, rest = chunk.data.partition(b"\n")
        pieces.append(head + newline)
        length += len(head)
        if newline or length > _LINE_MAX:
            whole = not rest and source.consumed >= source.file_size
            break
    header, damage = parse_header(b"".join(pieces), source.path)
    return header, damage, whole


def _parse_line(line: bytes, path: Path) -> dict[str, Any]:
    if not line.strip(b"\n"):
        raise SessionUnreadable(path, "no-header" if line or _has_bytes(path) else "empty-file")
    if not line.endswith(b"\n"):
        if _begins_header(line):
            raise SessionUnreadable(path, "no-header", f"the header line is cut after {len(line)} bytes")
        raise SessionUnreadable(path, "not-a-session", "the file has no JSON line at its beginning")
    try:
        value: object = json.loads(line.decode("utf-8", "replace"))
    except RecursionError:
        raise SessionUnreadable(path, "not-a-session", "the first line is nested too deeply") from None
    except ValueError as error:
        code = "bad-header" if _begins_header(line) else "not-a-session"
        raise SessionUnreadable(path, code, f"the first line is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise SessionUnreadable(path, "not-a-session", "the first line is not a JSON object")
    fields = cast("dict[str, Any]", value)
    kind = fields.get("type")
    if kind != "session":
        if isinstance(kind, str) and "seq" in fields:
            detail = f"the first line that can be read is an event ({well_formed(kind)[:_SHOWN]})"
            raise SessionUnreadable(path, "no-header", detail)
        raise SessionUnreadable(path, "not-a-session", 'the first line has no "type": "session"')
    return fields


def _version(fields: dict[str, Any], path: Path, named: int | None) -> int:
    version = as_count(fields.get("version"))
    if version is None:
        raise SessionUnreadable(path, "bad-header", "the header has no format version")
    if version == FORMAT_VERSION:
        return version
    known: dict[str, int | str] = {"version": version}
    for key, name in (("id", "id"), ("cwd", "cwd"), ("parentSession", "parent"), ("origin", "origin")):
        value = fields.get(key)
        if isinstance(value, str):
            known[name] = well_formed(value)
    created = as_count(fields.get("createdAt"))
    if created is not None:
        known["created_ms"] = created
    if named is not None and named != version:
        known["named"] = named
    code = "newer-format" if version > FORMAT_VERSION else "old-format"
    raise SessionUnreadable(path, code, f"log format {version}", **known)


class _Reading:
    """Takes typed values out of a header object and notes what a V4 header must not have."""

    def __init__(self, fields: dict[str, Any], damage: list[Damage]) -> None:
        self._fields = fields
        self._damage = damage

    def session_id(self, path: Path) -> str:
        value = self._fields.get("id")
        if isinstance(value, str) and value:
            return well_formed(value)
        self._damage.append(_damage("the header has no session id"))
        return session_id_of(path.parent.name) or path.name

    def count(self, key: str) -> int:
        value = as_count(self._fields.get(key))
        if value is None:
            self._wrong(key, "a count")
            return 0
        return value

    def flag(self, key: str) -> bool:
        value = self._fields.get(key)
        if not isinstance(value, bool):
            self._wrong(key, "true or false")
            return False
        return value

    def text(self, key: str) -> str | None:
        if key not in self._fields:
            return None
        value = self._fields[key]
        if not isinstance(value, str):
            self._wrong(key, "a string")
            return None
        return well_formed(value)

    def check(self, header: LogHeader) -> None:
        for key in self._fields:
            if key not in _KEYS:
                self._damage.append(_damage(f'the header has an unknown key "{well_formed(key)[:_SHOWN]}"'))
        if header.cwd is not None and not _ABSOLUTE.match(header.cwd):
            self._damage.append(_damage('"cwd" in the header is not an absolute path'))
        if header.origin is not None and header.origin != "subagent":
            self._damage.append(_damage('"origin" in the header is not "subagent"'))

    def _wrong(self, key: str, wanted: str) -> None:
        problem = f"is not {wanted}" if key in self._fields else "is missing"
        self._damage.append(_damage(f'"{key}" in the header {problem}'))


_KEYS: Final = frozenset(
    (
        "type",
        "version",
        "id",
        "createdAt",
        "isSeeded",
        "delegationDepth",
        "cwd",
        "parentSession",
        "origin",
        "agentPreset",
    )
)


def _damage(reason: str) -> Damage:
    return Damage(code="bad-header", line=1, offset=0, reason=reason)


def _begins_header(line: bytes) -> bool:
    return re.match(rb'\s*\{\s*"', line) is not None or line.strip() == b"{"


def _has_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return True
