"""Where history stands on the Messages wire: from an error path of a provider back to a message.

Providers point at what they refuse by its place in the body, `messages.7.content.0`. The places are found by
the rules of loop-and-adapters §4.3 alone, without a body, so that a log is enough to follow such a path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tui.session.json_value import as_array, as_object, as_text

_PATH: Final = re.compile(
    r"\bmessages?\s*(?:\.|\[|/)\s*(\d{1,9})\]?(?:\s*(?:\.|/)?\s*\[?\"?content\"?\]?\s*(?:\.|\[|/)\s*(\d{1,9}))?"
)
_FIRST: Final = {"user": "tool", "assistant": "reasoning"}
_SENT: Final = frozenset(("text", "file", "image", "tool-addition", "tool-removal", "tool-call", "reasoning"))


class WireBlock(NamedTuple):
    """One content block of a wire message: which message it came from, and which of its blocks."""

    message: int
    """Position among the neutral messages."""
    block: int
    """Position in the message's content; -1 for a tool result as a whole."""
    kind: str


class WireMessage(NamedTuple):
    """One entry of the body's `messages`."""

    role: str
    blocks: tuple[WireBlock, ...]


class ErrorPath(NamedTuple):
    """A place in a request body; `content` is None where only the message is named."""

    message: int
    content: int | None


def error_path(text: str) -> ErrorPath | None:
    """Return the place a provider's message points at: `messages.7.content.0`, `messages[7]`."""
    found = _PATH.search(text)
    if found is None:
        return None
    return ErrorPath(int(found[1]), None if found[2] is None else int(found[2]))


def wire_messages(messages: Sequence[Mapping[str, Any]], *, prompts_in_history: bool) -> list[WireMessage]:
    """Return the wire's messages for projected neutral ones; what cannot be sent is passed over."""
    wire: list[tuple[str, list[WireBlock]]] = []
    pending: list[list[WireBlock]] = []

    def append(role: str, blocks: list[WireBlock]) -> None:
        if not blocks:
            return
        if role == "assistant" and pending:
            wire.extend(("system", update) for update in pending)
            pending.clear()
        if wire and wire[-1][0] == role:
            wire[-1][1].extend(blocks)
        else:
            wire.append((role, blocks))

    for at, message in enumerate(messages):
        role = message.get("role")
        if role == "system":
            if prompts_in_history and wire:
                pending.append([WireBlock(at, 0, "text")])
        elif role == "developer":
            if blocks := _blocks(message, at):
                pending.append(blocks)
        elif role == "tool":
            append("user", [WireBlock(at, -1, "tool")])
        elif role == "user":
            append(
                "user", [block for block in _blocks(message, at) if block.kind in ("text", "file", "image")]
            )
        elif role == "assistant":
            append("assistant", _blocks(message, at))
    wire.extend(("system", update) for update in pending)
    return [WireMessage(role, _ordered(role, blocks)) for role, blocks in wire]


def source_of(wire: Sequence[WireMessage], path: ErrorPath) -> WireBlock | None:
    """Return what stands at a place: the block, or the first of the message if the path names none."""
    if path.message >= len(wire):
        return None
    blocks = wire[path.message].blocks
    at = path.content or 0
    return blocks[at] if at < len(blocks) else None


def _blocks(message: Mapping[str, Any], at: int) -> list[WireBlock]:
    found: list[WireBlock] = []
    for number, block in enumerate(map(as_object, as_array(message.get("content")))):
        kind = as_text(block.get("type"))
        if kind not in _SENT or (kind == "text" and not block.get("text")):
            continue
        found.append(WireBlock(at, number, kind))
        if kind == "image":
            found.append(WireBlock(at, number, kind))
    return found


def _ordered(role: str, blocks: list[WireBlock]) -> tuple[WireBlock, ...]:
    first = _FIRST.get(role)
    return (
        *(block for block in blocks if block.kind == first),
        *(block for block in blocks if block.kind != first),
    )
