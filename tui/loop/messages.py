"""Neutral messages that the loop itself makes (loop-and-adapters §0.3, session-format §4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from uuid import uuid4

from tui.session.json_value import as_array, as_object, as_text

Message: TypeAlias = dict[str, Any]


def new_id() -> str:
    """Return an id for a message, a retry or a compaction."""
    return str(uuid4())


def text_block(text: str) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": text}


def user_message(
    content: str | Iterable[Mapping[str, Any]],
    *,
    source: Mapping[str, Any] | None = None,
    message_id: str | None = None,
) -> Message:
    """Return a user message; without a source it is a prompt of the person."""
    blocks = [text_block(content)] if isinstance(content, str) else [dict(block) for block in content]
    return {
        "content": blocks,
        "source": dict(source) if source is not None else {"kind": "user"},
        "role": "user",
        "id": message_id or new_id(),
    }


def system_message(text: str) -> Message:
    """Return a system message; an empty text gives one without content."""
    return {
        "role": "system",
        "content": [text_block(text)] if text else [],
        "source": {"kind": "system-prompt"},
        "id": new_id(),
    }


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text blocks of a message, joined by newlines."""
    blocks = map(as_object, as_array(message.get("content")))
    return "\n".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")


def is_prompt(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is what a person wrote."""
    return message.get("role") == "user" and as_object(message.get("source")).get("kind") == "user"


def call_blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tool calls that an assistant message asks for, in order."""
    blocks = map(as_object, as_array(message.get("content")))
    return [block for block in blocks if block.get("type") == "tool-call"]
