"""Sentences about what is wrong: faults of a log, turns that failed."""

from __future__ import annotations

from collections.abc import Mapping

from tui.blocks.clean import clean_line
from tui.blocks.wording_names import cause_text, name_text
from tui.blocks.wording_reasons import reason_text
from tui.i18n import Translator
from tui.session.damage import Damage


def damage_text(tr: Translator, damage: Damage) -> str:
    """One sentence: what is wrong, where, and what became of it."""
    reason, fields = reason_text(tr, damage.reason), damage.fields
    match damage.code:
        case "torn-tail":
            what = tr.t("The end of the log is cut off; everything before it is shown.")
        case "bad-frame":
            what = tr.t("A compressed frame is broken and its events are lost: {reason}.", reason=reason)
        case "trailing-bytes":
            what = tr.t("After the last frame stand bytes that are no part of the log.")
        case "skippable-frame":
            what = tr.t("A frame that holds no events was skipped.")
        case "header-frame":
            what = tr.t("The first frame does not hold exactly the header line; dsh would refuse this log.")
        case "bad-row":
            what = tr.t("A line is no event: {reason}.", reason=reason)
        case "bad-event":
            what = tr.t("An event has another shape than its type says: {reason}.", reason=reason)
        case "seq-repeat":
            what = tr.t("A number is used twice: event {found} follows {previous}.", **_numbers(fields))
        case "seq-rewind":
            what = tr.t("The numbers run back: event {found} follows {previous}.", **_numbers(fields))
        case "seq-hole":
            what = tr.n(
                "A gap in the numbers: event {found} follows {previous}, {n} is missing.",
                "A gap in the numbers: event {found} follows {previous}, {n} are missing.",
                _count(fields, "found") - _count(fields, "expected"),
                **_numbers(fields),
            )
        case "unknown-event":
            what = tr.t(
                "The event type {type} is not known and not marked as ignorable; "
                "what is shown may not be the whole story.",
                type=name_text(str(fields.get("type", ""))) or "?",
            )
        case "encoding-mismatch":
            what = tr.t("The log is compressed with zstd, although its name does not end in .zstd.")
            if damage.frame_offset is None:
                what = tr.t("The log is plain text, although its name ends in .zstd.")
        case "bad-header":
            what = tr.t("The header of the log is not valid: {reason}.", reason=reason)
        case "version-mismatch":
            what = tr.t(
                "The file name says format {named}, the header says {version}.",
                named=fields.get("named", "?"),
                version=fields.get("version", "?"),
            )
        case "truncated":
            what = tr.t("The file became shorter while it was read.")
        case _:
            what = tr.t("The log is damaged ({code}): {reason}.", code=name_text(damage.code), reason=reason)
    return tr.t("{what} {place}", what=what, place=damage_place(tr, damage))


def damage_place(tr: Translator, damage: Damage) -> str:
    """Where a fault is, in brackets."""
    line = tr.number(damage.line)
    length = _count(damage.fields, "bytes")
    if damage.frame_offset is not None and length > 0:
        first = damage.frame_offset
        return tr.t(
            "(line {line}, bytes {first} to {last} of the file)",
            line=line,
            first=tr.number(first),
            last=tr.number(first + length - 1),
        )
    if damage.frame_offset is not None:
        return tr.t("(line {line}, frame at byte {byte})", line=line, byte=tr.number(damage.frame_offset))
    return tr.t("(line {line}, byte {byte})", line=line, byte=tr.number(damage.offset))


def _numbers(fields: Mapping[str, int | str]) -> dict[str, str]:
    """Sequence numbers as they are shown everywhere: without separators."""
    return {name: str(fields.get(name, "?")) for name in ("found", "previous")}


def _count(fields: Mapping[str, int | str], name: str) -> int:
    value = fields.get(name, 0)
    return value if isinstance(value, int) else 0


def failure_title(tr: Translator, code: str) -> str:
    """Why a turn failed, in plain words with the code."""
    cause = cause_text(tr, code)
    if not code:
        return tr.t("This turn failed")
    if not cause:
        return tr.t("This turn failed ({code})", code=name_text(code))
    return tr.t("This turn failed: {cause} ({code})", cause=cause, code=name_text(code))


def interruption_title(tr: Translator, reason: str, cause: str = "", detail: str = "") -> str:
    """How a turn ended that neither completed nor failed; reasons that are not known as they stand."""
    match (reason, cause):
        case ("aborted", "user"):
            return tr.t("Stopped by the user")
        case ("aborted", "parent"):
            return tr.t("Stopped by the parent session")
        case ("aborted", "disposed"):
            return tr.t("Stopped because the session was closed")
        case ("aborted", "hook"):
            return tr.t("Stopped by a hook: {reason}", reason=clean_line(detail[:2000]))
        case ("aborted", "legacy" | ""):
            return tr.t("Stopped")
        case ("aborted", _):
            return tr.t("Stopped ({cause})", cause=name_text(cause))
        case ("interrupted", _):
            return tr.t("Interrupted: the process ended; what its unfinished calls did is not known")
        case ("forked", _):
            return tr.t("Left open: the session was forked inside this turn")
        case ("open", _):
            return tr.t("Not finished: the log ends inside this turn")
        case ("max-tokens", _):
            return tr.t("The turn ended at the output token limit")
        case ("blocked", _):
            return tr.t("Blocked by a hook before the first step")
        case _:
            return tr.t("Ended: {reason}", reason=name_text(reason) or "?")
