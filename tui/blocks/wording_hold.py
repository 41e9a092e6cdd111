"""Sentences about tools that a session holds as they were."""

from __future__ import annotations

from tui.i18n import Translator
from tui.session.hold_record import Hold


def hold_title(tr: Translator, record: Hold) -> str:
    """What was done, in one line."""
    if record.held:
        if record.tools is None:
            return tr.t("The tools are held as they are; changes wait")
        return tr.n(
            "{n} tool is held as it is; changes wait",
            "{n} tools are held as they are; changes wait",
            record.tools,
        )
    if record.waiting:
        return tr.n(
            "The tools are no longer held; {n} change that waited comes with the next request",
            "The tools are no longer held; {n} changes that waited come with the next request",
            record.waiting,
        )
    return tr.t("The tools are no longer held; no change waited")


def hold_facts(tr: Translator, record: Hold) -> list[tuple[str, str]]:
    """Label and value of everything that the record tells."""
    facts = [(tr.t("Done by"), tr.t("the user") if record.cause == "user" else "")]
    if record.header_seq is not None:
        facts.append((tr.t("Held as in"), tr.t("event {seq}", seq=record.header_seq)))
    if record.waiting is not None:
        facts.append((tr.t("Changes that waited"), tr.number(record.waiting)))
    return [(label, value) for label, value in facts if value]
