"""The record that a session's tools are held, or follow their changes again (session-format §2.4).

It is foreign to the format and so ignorable: dsh skips it, and no request holds anything of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from tui.session.events import Event
from tui.session.json_value import as_count, as_object, as_text

HOLD: Final = "plugin:dsh-tui/hold"

HoldCause: TypeAlias = Literal["user", ""]


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """What the record tells; what a log does not say reads as empty."""

    held: bool
    cause: HoldCause = "user"
    """Who asked for it; empty for a cause that this program does not know."""
    header_seq: int | None = None
    """The request header whose tools are kept; None before the first request."""
    tools: int | None = None
    """How many tools are kept."""
    waiting: int | None = None
    """How many changes waited when it was written."""

    def to_json(self) -> dict[str, Any]:
        """Return the payload; absent facts have no key."""
        data: dict[str, Any] = {"held": self.held, "cause": self.cause}
        for key, value in (("headerSeq", self.header_seq), ("tools", self.tools), ("waiting", self.waiting)):
            if value is not None:
                data[key] = value
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Hold:
        """Return what a payload tells; what is misshapen reads as not told."""
        return cls(
            held=data.get("held") is True,
            cause="user" if as_text(data.get("cause")) == "user" else "",
            header_seq=as_count(data.get("headerSeq")),
            tools=as_count(data.get("tools")),
            waiting=as_count(data.get("waiting")),
        )


def hold_of(event_type: str, data: object, *, ignorable: bool) -> Hold | None:
    """Return what an event tells if it is such a record, else None: one that does not say which is none."""
    fields = as_object(data)
    if event_type != HOLD or not ignorable or not isinstance(fields.get("held"), bool):
        return None
    return Hold.from_json(fields)


def held_at_the_end(records: Iterable[Event]) -> bool:
    """Tell whether a session's tools are held, from the records of our own in its log: the last one counts.

    What a fork took over counts too, as with all that a log is folded to.
    """
    held = False
    for event in records:
        hold = hold_of(event.type, event.data, ignorable=event.ignorable)
        if hold is not None:
            held = hold.held
    return held
