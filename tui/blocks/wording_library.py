"""The state of a session in the library, with the reason, in a few words."""

from __future__ import annotations

from typing import assert_never

from tui.blocks.clean import clean_line
from tui.blocks.wording_names import name_text
from tui.i18n import Translator
from tui.session.library import LibraryRow


def state_text(tr: Translator, row: LibraryRow) -> str:
    """The state of a session and the reason, in a few words."""
    version = str(row.format_version) if row.format_version is not None else "?"
    match row.state:
        case "ok":
            return tr.p("state of a session", "ok")
        case "empty":
            return tr.t("empty: {reason}", reason=reason_text(tr, row))
        case "damaged":
            return tr.t("damaged: {reason}", reason=reason_text(tr, row))
        case "unreadable":
            return tr.t("unreadable: {reason}", reason=reason_text(tr, row))
        case "old-format":
            return tr.t("old format {version}", version=version)
        case "newer-format":
            return tr.t("newer format {version}", version=version)
        case _:
            assert_never(row.state)


def reason_text(tr: Translator, row: LibraryRow) -> str:
    """Why a session is not sound, in a few words; a code without words stands with its technical fact."""
    match row.reason:
        case None:
            return ""
        case "no-log":
            return tr.t("no log in the folder")
        case "no-events":
            return tr.t("no events yet")
        case "empty-file":
            return tr.t("the file is empty")
        case "missing":
            return tr.t("it is gone")
        case "no-permission":
            return tr.t("may not be read")
        case "is-a-folder":
            return tr.t("a folder where a log should be")
        case "not-a-file":
            return tr.t("not an ordinary file")
        case "read-failed":
            return tr.t("reading failed")
        case "not-a-session":
            return tr.t("no session log")
        case "no-header":
            return tr.t("its header is missing")
        case "bad-header":
            return tr.t("its header is faulty")
        case "version-mismatch":
            return tr.t("name and header tell different formats")
        case "encoding-mismatch":
            return tr.t("name and content are of different encodings")
        case "header-frame":
            return tr.t("dsh refuses it, as its first frame is not just the header")
        case "skippable-frame":
            return tr.t("a frame without events")
        case "bad-frame":
            return tr.t("a frame is broken")
        case "trailing-bytes":
            return tr.t("foreign bytes behind its end")
        case "torn-tail":
            return tr.t("its end is cut off")
        case "truncated":
            return tr.t("it became shorter while it was read")
        case "bad-row":
            return tr.t("a line is no event")
        case "bad-event":
            return tr.t("an event has an unexpected shape")
        case "unknown-event":
            return tr.t("an event type is unknown")
        case "seq-hole":
            return tr.t("numbers are missing")
        case "seq-repeat":
            return tr.t("a number is used twice")
        case "seq-rewind":
            return tr.t("its numbers run back")
        case _:
            detail = clean_line(row.detail)
            code = name_text(row.reason)
            return f"{code} ({detail})" if detail else code
