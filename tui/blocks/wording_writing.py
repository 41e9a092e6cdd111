"""Why a session cannot be written or continued, and what to do about it."""

from __future__ import annotations

from tui.blocks.clean import clean_line
from tui.blocks.wording_names import name_text
from tui.i18n import Translator
from tui.session.errors import SessionError


def writing_text(tr: Translator, error: SessionError) -> str:
    """One sentence about an error of writing or picking up a session; "" for any other error."""
    fields = error.fields
    path = clean_line(str(fields.get("path", "")))
    detail = clean_line(str(fields.get("detail", "")))
    match error.code:
        case "disk-full":
            return tr.t("{path}: the disk is full; make room, then go on with --resume.", path=path)
        case "too-big":
            return tr.t("{path}: the file may not grow any further.", path=path)
        case "read-only":
            return tr.t("{path}: lies on a disk that may only be read.", path=path)
        case "write-failed":
            return tr.t("{path}: could not be written ({detail}).", path=path, detail=detail)
        case "closed":
            return tr.t("{path}: the session is closed.", path=path)
        case "locked":
            return tr.t("{path}: another process has this session open; close it there first.", path=path)
        case "damaged":
            return tr.t(
                "{path}: is damaged and is not written to ({detail}); `dsh-tui open` shows what can be read.",
                path=path,
                detail=detail,
            )
        case "unknown-events":
            return tr.t(
                "{path}: holds events of the unknown type {type}; only what wrote them can go on.",
                path=path,
                type=name_text(str(fields.get("type", ""))) or "?",
            )
        case "rule":
            return tr.t(
                "{path}: breaks an order rule of the format at event {seq} ({detail}),"
                " so it is left as it is.",
                path=path,
                seq=fields.get("seq", "?"),
                detail=detail,
            )
        case "older-generation" | "other-encoding" | "mixed-encodings":
            return tr.t(
                "{path}: is not the log that counts in its folder ({detail}).", path=path, detail=detail
            )
        case "exists":
            return tr.t("{path}: there is a session of this id already.", path=path)
        case "foreign-home":
            return tr.t("{path}: belongs to dsh and is never written to.", path=path)
        case _:
            return ""
