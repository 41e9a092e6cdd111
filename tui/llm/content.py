"""Blocks that a wire cannot carry as they are: images, files and the text that stands for them (§4.5)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

from tui.llm.failure import LlmFailure
from tui.session.json_value import as_count, as_object, as_text

ImageSource: TypeAlias = Callable[[Mapping[str, Any]], bytes | None]
"""Gives the bytes of an image's attachment, or None if they are not at hand."""


def no_images(attachment: Mapping[str, Any]) -> None:
    """Give no bytes: every image is told of in text alone."""
    del attachment


def unsupported(what: str) -> NoReturn:
    """Raise the failure for content that the Messages wire format has no form for."""
    raise LlmFailure(f"DeepSeek Messages cannot represent {what}", "UNSUPPORTED_CONTENT")


def image_text(block: Mapping[str, Any], *, note: str = "") -> str:
    """Return the text that names an image: full digest, media type, size in pixels and bytes."""
    attachment = as_object(block.get("attachment"))
    facts = [as_text(attachment.get("name")), as_text(attachment.get("attachmentId"))]
    facts.append(as_text(attachment.get("mediaType")))
    width, height = as_count(attachment.get("width")), as_count(attachment.get("height"))
    if width and height:
        facts.append(f"{width}x{height}")
    if (size := as_count(attachment.get("bytes"))) is not None:
        facts.append(f"{size} bytes")
    if note:
        facts.append(note)
    return f"[image: {', '.join(fact for fact in facts if fact)}]"


def file_text(block: Mapping[str, Any]) -> str:
    """Return the text that stands for a file; files never go natively."""
    attachment = as_object(block.get("attachment"))
    facts = [as_text(attachment.get("name")), as_text(attachment.get("attachmentId"))[:19]]
    if (size := as_count(attachment.get("bytes"))) is not None:
        facts.append(f"{size} bytes")
    facts.append("its content is not at hand")
    return f"[file: {', '.join(fact for fact in facts if fact)}]"


def image_bytes(block: Mapping[str, Any], images: ImageSource) -> tuple[str, str] | None:
    """Return the media type and the base64 text of an image, None where only its text can be sent."""
    if block.get("offloaded") is True:
        return None
    attachment = as_object(block.get("attachment"))
    content = images(attachment)
    if content is None:
        return None
    return as_text(attachment.get("mediaType")) or "image/png", base64.b64encode(content).decode("ascii")
