"""Runtime context: what the model is told of its surroundings (loop-and-adapters §2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tui.loop.messages import Message, text_of, user_message
from tui.session.json_value import as_object

SOURCE: Final = "runtime-context"
_LEAD_IN: Final = "The surroundings as they are now; whatever an earlier snapshot said, this one counts."
_NONE_NOW: Final = "Nothing is known of the surroundings now; earlier snapshots no longer count."


class ContextText(NamedTuple):
    """One named section of the context."""

    name: str
    text: str


def context_due(
    sections: Sequence[ContextText], retained: Message | None, *, existed: bool
) -> Message | None:
    """Return the message that tells these sections, or None if the model knows them.

    `retained` is the newest context message on the surface; `existed` says whether the session ever had one.
    """
    if not sections:
        if not existed or (retained is not None and not _is_snapshot(retained)):
            return None
        return user_message(_NONE_NOW, source={"kind": SOURCE})
    text = "\n\n".join([_LEAD_IN, *(section.text for section in sections)])
    if retained is not None and text_of(retained) == text:
        return None
    named = [{"name": section.name, "text": section.text} for section in sections]
    return user_message(text, source={"kind": SOURCE, "form": "snapshot", "sections": named})


def is_context(message: Message) -> bool:
    """Tell whether a message is a runtime context."""
    return message.get("role") == "user" and as_object(message.get("source")).get("kind") == SOURCE


def _is_snapshot(message: Message) -> bool:
    return message["source"].get("form") == "snapshot"
