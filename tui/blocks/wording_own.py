"""Title, facts and mark of what our own records tell."""

from __future__ import annotations

from tui.blocks.wording_downgrade import downgrade_facts, downgrade_title
from tui.blocks.wording_hold import hold_facts, hold_title
from tui.blocks.wording_recovery import recovery_facts, recovery_title
from tui.i18n import Translator
from tui.nodes.own_notices import OwnNotice
from tui.session.hold_record import Hold
from tui.session.own_records import Downgrade


def own_title(tr: Translator, told: OwnNotice) -> str:
    """What it tells, in one line."""
    if isinstance(told, Downgrade):
        return downgrade_title(tr, told)
    return hold_title(tr, told) if isinstance(told, Hold) else recovery_title(tr, told)


def own_facts(tr: Translator, told: OwnNotice) -> list[tuple[str, str]]:
    """Label and value of everything that it tells."""
    if isinstance(told, Downgrade):
        return downgrade_facts(tr, told)
    return hold_facts(tr, told) if isinstance(told, Hold) else recovery_facts(tr, told)


def own_mark(told: OwnNotice) -> str:
    """The entry of the glyph table that marks it."""
    return "tool-change" if isinstance(told, Downgrade | Hold) else "note"
