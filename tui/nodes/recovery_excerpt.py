"""What was said and found last in a session, as text of a bounded length, for a model that rewords a draft.

No reasoning, no pictures, no definitions of tools; what looks like a secret is masked.
"""

from __future__ import annotations

from typing import Any, Final

from tui.nodes.masking import masked
from tui.nodes.reading import Reading
from tui.session.events import Event
from tui.session.json_value import as_array, as_object, as_text
from tui.session.surface import message_of

EXCERPT: Final = 24_000
"""Characters of the whole."""
_SAID: Final = 1_600
_FOUND: Final = 500
_MORE: Final = 200
_FIRST: Final = 2_000
"""Characters kept for the first prompt, which says what the work is for."""
_LOOKED_AT: Final = 4_000
"""Events looked at, so that a session of nothing but results costs no more than another."""


def excerpt(reading: Reading) -> str:
    """Return the newest prompts, answers and results of a session that was read to its end, oldest first."""
    log, kept, room = reading.log, list[str](), EXCERPT - _FIRST
    oldest = row = len(log)
    for row in range(len(log) - 1, max(-1, len(log) - 1 - _LOOKED_AT), -1):
        said = _said(log.event(row))
        if not said:
            continue
        if len(said) > room:
            break
        room -= len(said) + 1
        kept.append(said)
        oldest = row
    first = _first_prompt(reading, oldest)
    return "\n".join([*first, *reversed(kept)])


def _first_prompt(reading: Reading, before: int) -> list[str]:
    for row in range(min(before, _LOOKED_AT)):
        event = reading.log.event(row)
        if event.type == "user/message" and (said := _said(event)):
            return [said, "…"]
    return []


def _said(event: Event) -> str:
    match event.type:
        case "user/message":
            data = as_object(event.data)
            if as_object(data.get("source")).get("kind") != "user":
                return ""
            who, text = "user", _text(data)
        case "assistant/message":
            who, text = "assistant", _text(message_of(event))
        case "tool/call":
            data = as_object(event.data)
            who, text = "call", f"{as_text(data.get('name'))} {as_text(data.get('arguments'))}"
        case "tool/result":
            who, text = "result", _text(as_object(as_object(event.data).get("message")))
        case _:
            return ""
    text = _bounded(text.strip(), _SAID if who in ("user", "assistant") else _FOUND)
    return f"[event {event.seq}, {who}] {text}" if text else ""


def _bounded(text: str, most: int) -> str:
    """The beginning and the end of a text; a secret at the cut is masked whole before it is cut."""
    if len(text) <= most:
        return masked(text)
    half = most // 2
    head = masked(text[: half + _MORE])[:half]
    tail = masked(text[-half - _MORE :])[-half:]
    return f"{head} … {tail}"


def _text(message: dict[str, Any]) -> str:
    blocks = map(as_object, as_array(message.get("content")))
    return "\n".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")
