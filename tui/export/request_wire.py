"""A recorded request as the body that its route was, or would be, sent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tui.llm.content import ImageSource
from tui.llm.request import CallConfig
from tui.llm.route import Route
from tui.llm.route_book import KnownRoute, ModeSource, RouteBook
from tui.llm.wire import wire_body
from tui.nodes.request_projection import MODES, ProjectedRequest, Sent, project, project_sent, sent_as
from tui.nodes.requests import RecordedRequest
from tui.session.json_value import as_text
from tui.session.naming import SESSIONS


class Shown(NamedTuple):
    """A request as it is shown: under the mode of its own route, or under a chosen one."""

    projected: ProjectedRequest
    source: ModeSource
    sent: Sent
    """How its own route was sent it."""


def shown_as(book: RouteBook, request: RecordedRequest, chosen: str = "recorded") -> Shown:
    """Return a request under a mode by its name; `recorded` means as its own route was sent it."""
    sent = sent_as(book, request)
    for mode in MODES:
        if chosen == (mode or "none"):
            return Shown(project(request, mode), "option", sent)
    return Shown(project_sent(request, sent), sent.source, sent)


def body_of(book: RouteBook, request: ProjectedRequest, log: Path) -> dict[str, Any]:
    """Return the provider's JSON body; `log` tells where images are kept. Raises LlmFailure.

    The model is sent by its name in the log; in-history prompts follow the log's `request/context`.
    """
    recorded = request.request
    route = route_of(book.route(recorded.provider, recorded.model), request)
    return wire_body(
        CallConfig.from_json(recorded.config), request.messages, request.tools, route, images=images_of(log)
    )


def route_of(known: KnownRoute, request: ProjectedRequest) -> Route:
    """Return the route with the modes that a request is shown under."""
    prompts = "in-history" if request.in_history else None
    route = known.route.with_tool_update(request.mode).with_system_prompt_update(prompts)
    if route.kind == "scripted":
        return replace(route, kind="deepseek")  # a script is sent nothing; this is what it stands for
    return route


def images_of(log: Path) -> ImageSource:
    """Return a source of the images that the home of a log keeps; no bytes for one that is not there."""
    home = next(
        (parent.parent for parent in log.parents if parent.name == SESSIONS),
        None,
    )

    def read(attachment: Mapping[str, Any]) -> bytes:
        digest = as_text(attachment.get("attachmentId")).removeprefix("sha256:")
        if home is None or len(digest) != 64 or not digest.isalnum() or not digest.isascii():
            return b""
        path = home / "attachments" / "v1" / "objects" / digest[:2] / digest
        try:
            content = path.read_bytes()
        except OSError:
            return b""
        return content if hashlib.sha256(content).hexdigest() == digest else b""

    return read
