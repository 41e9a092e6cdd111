"""The DeepSeek adapter: the Messages wire format over HTTP (loop-and-adapters §4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tui.llm.credentials import Secret
from tui.llm.deepseek_body import beta_header, build_body
from tui.llm.deepseek_stream import MessagesStream
from tui.llm.failure import LlmFailure
from tui.llm.prepared import HttpAdapter, HttpCall, HttpConnection, settled
from tui.llm.projection import project_request
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import DEFAULT_MAX_OUTPUT, Route, deepseek_model, endpoint_root

API_VERSION: Final = "2023-06-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepSeekConnection(HttpConnection):
    """How one provider is reached, and what counts where neither request nor model says otherwise."""

    thinking: bool = True
    """False: the provider takes no thinking; every effort but `off` is refused."""
    max_output: int = DEFAULT_MAX_OUTPUT
    """Of models that are not listed; in tokens."""
    foreign: Collection[str] = ()
    """Providers of other adapters: what they signed is not sent here."""


class DeepSeekAdapter(HttpAdapter[DeepSeekConnection]):
    """Calls of one provider. Raises ValueError for a base address that is none."""

    def __init__(self, connection: DeepSeekConnection) -> None:
        super().__init__(connection, endpoint_root(connection.base_url))

    def prepare(self, config: CallConfig) -> DeepSeekCall:
        """Return the call for these settings. Raises LlmFailure UNSUPPORTED_REASONING_EFFORT."""
        known = self.connection
        entry = known.models.get(config.model) or replace(
            deepseek_model(config.model), max_output=known.max_output
        )
        effort = config.reasoning_effort
        if effort is None:
            effort = known.default_effort or ((entry.default_effort or "off") if known.thinking else "off")
        if effort not in ("off", *entry.efforts) or (effort != "off" and not known.thinking):
            raise LlmFailure(
                f"DeepSeek Messages does not support reasoning effort {effort}",
                "UNSUPPORTED_REASONING_EFFORT",
            )
        limit = entry.max_output if config.max_tokens is None else config.max_tokens
        route = Route(provider=known.provider, kind="deepseek", endpoint=self.endpoint, model=entry)
        return DeepSeekCall(known, self._streams, route, *settled(config, effort=effort, max_tokens=limit))


class DeepSeekCall(HttpCall[DeepSeekConnection]):
    """A prepared call; streamed once."""

    def body(self, request: GenerateRequest) -> dict[str, Any]:
        model = self.route.model
        projected = project_request(request.messages, request.tools, model.tool_update, request.tool_history)
        return build_body(
            self.config,
            projected.messages,
            projected.tools,
            model,
            system=request.system,
            images=self._connection.images,
            foreign=self._connection.foreign,
        )

    def _url(self) -> str:
        return f"{self.route.endpoint}/messages"

    def _reader(self, secrets: Iterable[str]) -> MessagesStream:
        return MessagesStream(self.config.model, secrets)

    def _headers(
        self, request: GenerateRequest, body: Mapping[str, Any], key: Secret | None
    ) -> dict[str, str]:
        headers = {"anthropic-version": API_VERSION}
        if key is not None:
            headers["x-api-key"] = key.reveal()
        if (beta := beta_header(body)) is not None:
            headers["anthropic-beta"] = beta
        if request.session_id:
            headers["x-deepseek-harness-session-id"] = request.session_id
        if request.purpose == "compaction":
            headers["x-deepseek-harness-compact"] = "1"
        return headers
