"""Why a session cannot be read, written or continued, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tui.blocks.clean import clean_line
from tui.blocks.wording_names import name_text
from tui.blocks.wording_reasons import reason_text
from tui.i18n import N_, Translator
from tui.session.errors import SessionError
from tui.session.write_errors import SessionWriteError

_SENTENCES: Final[Mapping[str, str]] = {
    "missing": N_("{path}: there is no such file or folder."),
    "no-permission": N_("{path}: may not be read; check its permissions."),
    "is-a-folder": N_("{path}: is a folder; name a session folder or a log file."),
    "not-a-file": N_("{path}: is not an ordinary file."),
    "no-log": N_("{path}: there is no session log in this folder."),
    "empty-file": N_("{path}: the file is empty, so nothing can be shown."),
    "no-header": N_("{path}: the first line is cut off, so it cannot be told which session this is."),
    "newer-format": N_(
        "{path}: is written in format {version}, which is newer than this program; update dsh-tui."
    ),
    "old-format": N_(
        "{path}: is written in the old format {version}; open it in dsh once, which converts it."
    ),
    "not-found": N_("No session is called {argument}; `dsh-tui sessions` lists them."),
    "disk-full": N_("{path}: the disk is full; make room, then go on with --resume."),
    "too-big": N_("{path}: the file may not grow any further."),
    "read-only": N_("{path}: is on a read-only disk."),
    "closed": N_("{path}: the session is closed."),
    "locked": N_("{path}: another process has this session open; close it there first."),
    "damaged": N_(
        "{path}: is damaged and is not written to ({detail}); with --copy a mended copy of it goes on, "
        "`dsh-tui open` shows what can be read."
    ),
    "unknown-events": N_(
        "{path}: holds events of the unknown type {type}, which may matter; what wrote them can go on, or, "
        "with --copy, a copy that takes them along unread."
    ),
    "rule": N_(
        "{path}: breaks an order rule of the format at event {seq} ({detail}), so it is left as it is; with "
        "--copy a mended copy of it goes on."
    ),
    "older-generation": N_("{path}: is not the log that counts in its folder ({detail})."),
    "other-encoding": N_("{path}: is not the log that counts in its folder ({detail})."),
    "mixed-encodings": N_("{path}: is not the log that counts in its folder ({detail})."),
    "exists": N_("{path}: there is a session of this id already."),
    "foreign-home": N_("{path}: belongs to dsh and is never written to."),
}
_WRITING: Final[Mapping[str, str]] = {
    "no-permission": N_("{path}: may not be written; check its permissions.")
}
"""Sentences of codes that mean something else where a session is written."""
_DETAILED: Final[Mapping[str, str]] = {
    "not-a-session": N_("{path}: is not a session log"),
    "bad-header": N_("{path}: the header of the log cannot be read"),
    "write-failed": N_("{path}: could not be written"),
}
"""Beginnings of sentences that end with a detail, where there is one."""


def error_text(tr: Translator, error: SessionError) -> str:
    """One sentence: which file, what is wrong with it, what to do."""
    fields = error.fields
    detail = reason_text(tr, str(fields.get("detail", "")))
    if error.code == "ambiguous":
        return tr.n(
            "{argument} names {n} session; write more of the id: {candidates}",
            "{argument} names {n} sessions; write more of the id: {candidates}",
            int(fields.get("count", 0)),
            argument=_cleaned(fields, "argument"),
            candidates=_cleaned(fields, "candidates"),
        )
    writing = _WRITING.get(error.code) if isinstance(error, SessionWriteError) else None
    sentence = writing or _SENTENCES.get(error.code)
    if sentence is not None:
        return tr.t(
            sentence,
            path=_cleaned(fields, "path"),
            argument=_cleaned(fields, "argument"),
            detail=detail,
            version=fields.get("version", "?"),
            seq=fields.get("seq", "?"),
            type=name_text(str(fields.get("type", ""))) or "?",
        )
    beginning = tr.t(_DETAILED.get(error.code, N_("{path}: cannot be read")), path=_cleaned(fields, "path"))
    if not detail:
        return tr.t("{sentence}.", sentence=beginning)
    return tr.t("{sentence} ({detail}).", sentence=beginning, detail=detail)


def _cleaned(fields: Mapping[str, int | str], name: str) -> str:
    return clean_line(str(fields.get(name, "")))
