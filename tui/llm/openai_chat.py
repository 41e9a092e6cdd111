"""The chat-completions adapter: any host that speaks that format, local ones too (loop-and-adapters §5.2).

It declares no update mode: every request carries the active tools whole and the prompt at its beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from tui.llm.chat_body import MaxTokensField, build_body
from tui.llm.chat_stream import ChatStream
from tui.llm.credentials import Secret
from tui.llm.failure import LlmFailure
from tui.llm.prepared import HttpAdapter, HttpCall, HttpConnection, settled
from tui.llm.projection import project_request
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import ModelEntry, Route, SystemPromptUpdate, ToolUpdateMode, checked_url

DEFAULT_CONTEXT_WINDOW = 262_144
DEFAULT_MAX_OUTPUT = 32_768


def chat_model(model_id: str) -> ModelEntry:
    """Return the entry of a model that the configuration does not list."""
    return ModelEntry(
        id=model_id,
        display=model_id,
        context_window=DEFAULT_CONTEXT_WINDOW,
        max_output=DEFAULT_MAX_OUTPUT,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatConnection(HttpConnection):
    """How one provider is reached."""

    max_tokens_field: MaxTokensField = "max_tokens"
    capped: frozenset[str] = frozenset()
    """Models whose output cap is configured and therefore sent."""


class ChatAdapter(HttpAdapter[ChatConnection]):
    """Calls of one provider. Raises ValueError for a base address that is none."""

    def __init__(self, connection: ChatConnection) -> None:
        super().__init__(connection, checked_url(connection.base_url))

    def prepare(self, config: CallConfig) -> ChatCall:
        """Return the call for these settings. Raises LlmFailure UNSUPPORTED_REASONING_EFFORT."""
        entry = self.connection.models.get(config.model) or chat_model(config.model)
        entry = replace(entry, tool_update=None, system_prompt_update=None)
        effort = config.reasoning_effort
        if effort is None:
            effort = self.connection.default_effort or entry.default_effort
        if config.reasoning_effort is not None and effort not in entry.efforts:
            raise LlmFailure(
                f"{entry.display} does not support reasoning effort {effort}", "UNSUPPORTED_REASONING_EFFORT"
            )
        limit = config.max_tokens
        if limit is None and entry.id in self.connection.capped:
            limit = entry.max_output
        route = Route(provider=self.provider, kind="chat-completions", endpoint=self.endpoint, model=entry)
        defaults = settled(config, effort=effort, max_tokens=limit)
        return ChatCall(self.connection, self._streams, route, *defaults)


class ChatCall(HttpCall[ChatConnection]):
    """A prepared call; streamed once."""

    def with_tool_update(self, mode: ToolUpdateMode) -> Self:
        """Return the same call: this format has no update modes."""
        del mode
        return self._on(self.route)

    def with_system_prompt_update(self, mode: SystemPromptUpdate) -> Self:
        """Return the same call: this format has no update modes."""
        del mode
        return self._on(self.route)

    def body(self, request: GenerateRequest) -> dict[str, Any]:
        projected = project_request(request.messages, request.tools, None, request.tool_history)
        return build_body(
            self.config,
            projected.messages,
            projected.tools,
            self.route.model,
            system=request.system,
            max_tokens_field=self._connection.max_tokens_field,
            images=self._connection.images,
            own=(self.route.provider,),
        )

    def _url(self) -> str:
        return f"{self.route.endpoint}/chat/completions"

    def _reader(self, secrets: Iterable[str]) -> ChatStream:
        return ChatStream(secrets)

    def _headers(
        self, request: GenerateRequest, body: Mapping[str, Any], key: Secret | None
    ) -> dict[str, str]:
        return {} if key is None else {"authorization": f"Bearer {key.reveal()}"}
