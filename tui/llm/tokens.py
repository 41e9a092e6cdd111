"""Estimates of how many tokens messages and declarations take (loop-and-adapters §7.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tui.session.json_text import compact
from tui.session.json_value import as_array, as_object, as_text
from tui.session.tool_definition import ToolDefinition

_CHARACTERS: Final = 4
_OVERHEAD: Final = 4


def message_tokens(message: Mapping[str, Any]) -> int:
    """Return what a message takes, as dsh estimates it."""
    return _OVERHEAD + sum(map(_block_tokens, map(as_object, as_array(message.get("content")))))


def tools_tokens(tools: Iterable[ToolDefinition]) -> int:
    """Return what declarations take."""
    texts = [tool.text for tool in tools]
    return _quarter(sum(map(_length, texts)) + len(texts) + 1) + _OVERHEAD if texts else 0


def _block_tokens(block: Mapping[str, Any]) -> int:
    match block.get("type"):
        case "text" | "reasoning":
            return _text_tokens(as_text(block.get("text"))) + _OVERHEAD
        case "tool-call":
            name, arguments = as_text(block.get("name")), as_text(block.get("arguments"))
            return _text_tokens(name) + _text_tokens(arguments) + _OVERHEAD
        case _:
            return _text_tokens(compact(block)) + _OVERHEAD


def _text_tokens(text: str) -> int:
    return _quarter(_length(text))


def _length(text: str) -> int:
    # As JavaScript counts it: characters beyond the first plane are two.
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _quarter(length: int) -> int:
    return -(-length // _CHARACTERS)
