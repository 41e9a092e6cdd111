"""Closing an interrupted turn, in the form that another writer than dsh may use (session-format §7.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal
from uuid import uuid4

from tui.session.event_text import Draft
from tui.session.rules_turns import OpenCall

Cause = Literal["interrupted", "forked"]

OUTCOME_UNKNOWN: Final = (
    "Error: outcome unknown. The call had started and the session ended before its result was recorded; "
    "part of its work may have been done. Look before you call it again."
)
NEVER_STARTED: Final = (
    "Error: never started. The session ended before this call began; nothing was done. "
    "Call it again if it is still needed."
)

_UNKNOWN: Final = {"name": "ToolOutcomeUnknownError", "code": "TOOL_OUTCOME_UNKNOWN"}
_NOT_STARTED: Final = {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"}


def closing_results(
    calls: Mapping[str, OpenCall], *, turn: int, step: int, next_seq: int, time: int | None = None
) -> list[Draft]:
    """Return a recorded start, where missing, and an error result for every open call, in order.

    `next_seq` is the number that the first of these events will have; `time` defaults to the writer's clock.
    """
    drafts: list[Draft] = []
    for call in calls.values():
        at = {"turn": turn, "step": step}
        started_by, text, error = call.started_by, OUTCOME_UNKNOWN, _UNKNOWN
        if started_by is None:
            # A result needs its call; text and code tell that the call stands here for form only.
            text, error = NEVER_STARTED, _NOT_STARTED
            started_by = next_seq + len(drafts)
            asked = {"callId": call.call_id, "name": call.name, "arguments": call.arguments}
            drafts.append(Draft("tool/call", {**at, **asked}, time=time))
        data = {**at, "message": _error_message(call.call_id, text), "error": error}
        drafts.append(Draft("tool/result", data, source_event_seqs=[started_by], time=time))
    return drafts


def closing_drafts(
    calls: Mapping[str, OpenCall],
    *,
    turn: int,
    step: int | None,
    next_seq: int,
    time: int,
    cause: Cause,
) -> list[Draft]:
    """Return everything that closes an open turn: results, the end of an open step, the end of the turn."""
    drafts: list[Draft] = []
    if step is not None:
        drafts.extend(closing_results(calls, turn=turn, step=step, next_seq=next_seq, time=time))
        drafts.append(Draft("step/end", {"turn": turn, "step": step}, time=time))
    drafts.append(Draft("turn/end", {"turn": turn, "reason": {"kind": cause}}, time=time))
    return drafts


def _error_message(call_id: str, text: str) -> dict[str, Any]:
    return {
        "role": "tool",
        "source": {"kind": "tool", "callId": call_id},
        "toolCallId": call_id,
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "id": str(uuid4()),
    }
