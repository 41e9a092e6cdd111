"""The content of messages, read with tolerance: blocks of other shapes are kept apart, never an error."""

from __future__ import annotations

from typing import Any

from tui.nodes.chat import Attachment, Content, ForeignBlock
from tui.session.events import Event
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.stream import assemble


def message_of(event: Event) -> dict[str, Any]:
    """The message of a surface event; empty for anything else."""
    data = as_object(event.data)
    return data if event.type == "user/message" else as_object(data.get("message"))


def content_of(blocks: Any) -> Content:
    """A message's blocks: text, attachments and what is foreign."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    foreign: list[ForeignBlock] = []
    for entry in as_array(blocks):
        block = as_object(entry)
        kind = as_text(block.get("type"))
        if kind in ("text", "reasoning"):
            texts.append(as_text(block.get("text")))
        elif kind in ("image", "file"):
            attachments.append(_attachment(kind, as_object(block.get("attachment"))))
        elif kind not in ("tool-addition", "tool-removal"):
            foreign.append(ForeignBlock(type=kind, data=entry))
    return Content(text="\n\n".join(texts), attachments=tuple(attachments), foreign=tuple(foreign))


def _attachment(kind: str, ref: dict[str, Any]) -> Attachment:
    return Attachment(
        kind="image" if kind == "image" else "file",
        name=as_text(ref.get("name")),
        bytes=as_count(ref.get("bytes")),
        media_type=as_text(ref.get("mediaType")),
        width=as_count(ref.get("width")),
        height=as_count(ref.get("height")),
        attachment_id=as_text(ref.get("attachmentId")),
    )


def span_ms(start: int, end: int) -> int | None:
    """A duration from two recorded times; None where one of them is missing or the clock ran back."""
    return end - start if end >= start > 0 else None


def is_last_block(event: Event, position: int) -> bool:
    """True for the last content block of an answer, and for the node of an answer without content."""
    return position >= len(as_array(message_of(event).get("content"))) - 1


def foreign_chunks_at(event: Event, position: int) -> tuple[ForeignBlock, ...]:
    """The unknown parts of an answer's stream, for the node of its last content block."""
    if event.type != "assistant/message" or not is_last_block(event, position):
        return ()
    return foreign_chunks(as_object(event.data).get("stream"))


_CHUNKS = frozenset({"block-start", "block-end", "text-delta", "reasoning-delta", "tool-call-delta", "usage"})
_RUNS = frozenset({"text-chunks", "reasoning-chunks", "tool-call-chunks"})
_FINISHES = frozenset({"stop", "tool-calls", "max-tokens", "error", "aborted"})


def foreign_chunks(stream: Any) -> tuple[ForeignBlock, ...]:
    """The records and chunks of a stream that are of a kind spec session-format §4.5 does not know."""
    found: list[ForeignBlock] = []
    for record in as_array(stream):
        kind = as_text(as_object(record).get("type"))
        if kind in _RUNS:
            continue
        value = as_object(record).get("chunk") if kind == "chunk" else record
        chunk = as_object(value)
        name = as_text(chunk.get("type"))
        if name == "finish" and as_text(as_object(chunk.get("reason")).get("kind")) in _FINISHES:
            continue
        if kind != "chunk" or name not in _CHUNKS:
            found.append(ForeignBlock(type=name, data=value))
    return tuple(found)


def partial_text(event: Event | None) -> str:
    """The text that an attempt without message had already shown."""
    if event is None:
        return ""
    blocks = assemble(as_object(event.data).get("stream")).blocks
    return "\n\n".join(as_text(block.get("text")) for block in blocks if as_text(block.get("text")).strip())
