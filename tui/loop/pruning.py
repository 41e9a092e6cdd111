"""Shortening long tool results before a history is condensed (loop-and-adapters §7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tui.loop.measure import message_tokens
from tui.loop.state import Loop
from tui.session.json_value import as_array, as_object, as_text
from tui.session.surface import message_of

_HEAD_SHARE: Final = 0.6
_KEPT_SHARE: Final = 0.4
"""Of the length from which on a text is shortened; it is not worth less."""


def prune_results(loop: Loop, nodes: Sequence[int]) -> int:
    """Replace the results among these nodes that are too long by their beginning and end; returns how many.

    A turn must be open. Raises SessionWriteError.
    """
    limit = loop.options.compaction.prune_characters
    if limit is None:
        return 0
    writer = loop.writer
    pruned = 0
    for seq in nodes:
        event = writer.events.event(seq)
        if event.type != "tool/result":
            continue
        message = message_of(event)
        content = [_shortened(as_object(block), limit) for block in as_array(message.get("content"))]
        if content == message["content"]:
            continue
        facts = {"shadowedRange": {"start": seq, "end": seq}, "shadowedSeqs": [seq]}
        writer.append("compaction/prune", {**facts, "shadowedTokenCount": message_tokens(message)})
        writer.append(
            "tool/result",
            {**event.data, "message": {**message, "content": content}},
            surface_op={"op": "replace", "startSeq": seq, "endSeq": seq},
            source_event_seqs=[seq],
        )
        pruned += 1
    return pruned


def _shortened(block: dict[str, Any], limit: int) -> dict[str, Any]:
    text = as_text(block.get("text"))
    if block.get("type") != "text" or len(text) <= limit:
        return block
    kept = int(limit * _KEPT_SHARE)
    head = int(kept * _HEAD_SHARE)
    gone = len(text) - kept
    mark = f"\n[… {gone} characters were left out here to save room …]\n"
    return {**block, "text": text[:head] + mark + text[len(text) - (kept - head) :]}
