"""What our own ignorable records tell, whichever it is: one fact that the panes show as a notice."""

from __future__ import annotations

from typing import TypeAlias

from tui.session.hold_record import Hold, hold_of
from tui.session.own_records import Downgrade, Recovery, downgrade_of, recovery_of

OwnNotice: TypeAlias = Downgrade | Recovery | Hold


def own_notice_of(event_type: str, data: object, *, ignorable: bool) -> OwnNotice | None:
    """Return what an event tells if it is a record of ours, else None."""
    return (
        downgrade_of(event_type, data, ignorable=ignorable)
        or recovery_of(event_type, data, ignorable=ignorable)
        or hold_of(event_type, data, ignorable=ignorable)
    )
