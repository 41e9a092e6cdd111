"""Sentences about a session that goes on from a summary of another one."""

from __future__ import annotations

from tui.blocks.wording_names import name_text
from tui.i18n import Translator
from tui.session.own_records import RecoveredFrom, Recovery


def recovery_title(tr: Translator, record: Recovery) -> str:
    """What was begun or confirmed, in one line."""
    if not isinstance(record, RecoveredFrom):
        return tr.t("First check confirmed: from here on tools may write and run")
    address = name_text(record.address)
    if record.checkpoint:
        if not address:
            return tr.t("Goes on from a checkpoint; only reading until its first check is confirmed")
        return tr.t(
            "Goes on from a checkpoint of {address}; only reading until its first check is confirmed",
            address=address,
        )
    if not address:
        return tr.t("Goes on from a summary; only reading until its first check is confirmed")
    return tr.t(
        "Goes on from a summary of {address}; only reading until its first check is confirmed",
        address=address,
    )


def recovery_facts(tr: Translator, record: Recovery) -> list[tuple[str, str]]:
    """Label and value of everything that the record tells, and how to see the original."""
    if not isinstance(record, RecoveredFrom):
        return []
    address = name_text(record.address)
    facts = [
        (tr.t("Original"), address),
        (tr.t("Log"), name_text(record.path)),
        (tr.t("Open it with"), f"dsh-tui open {address}" if address else ""),
    ]
    return [(label, value) for label, value in facts if value]
