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
    """A duration from two recorded times; None where the clock ran back."""
    return end - start if end >= start else None


def partial_text(event: Event | None) -> str:
    """The text that an attempt without message had already shown."""
    if event is None:
        return ""
    blocks = assemble(as_object(event.data).get("stream")).blocks
    return "\n\n".join(as_text(block.get("text")) for block in blocks if as_text(block.get("text")).strip())
