"""The body that a route is sent of a projected request, without any connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tui.llm import chat_body, deepseek_body
from tui.llm.content import ImageSource
from tui.llm.request import CallConfig
from tui.llm.route import Route
from tui.session.tool_definition import ToolDefinition


def wire_body(
    config: CallConfig,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[ToolDefinition] | None,
    route: Route,
    *,
    images: ImageSource,
) -> dict[str, Any]:
    """Return the JSON body; settings that are missing are those of the route's model. Raises LlmFailure."""
    if route.kind == "chat-completions":
        return chat_body.build_body(
            config, messages, tools, route.model, images=images, own=(route.provider,)
        )
    efforts = route.model.efforts
    if config.reasoning_effort is None and route.model.default_effort in efforts:
        config = replace(config, reasoning_effort=route.model.default_effort)
    return deepseek_body.build_body(config, messages, tools, route.model, images=images)


def beta_header(body: Mapping[str, Any], route: Route) -> str | None:
    """Return the `anthropic-beta` header that goes with a body, if any."""
    return None if route.kind == "chat-completions" else deepseek_body.beta_header(body)
