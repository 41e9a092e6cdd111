"""The DeepSeek adapter: the Messages wire format over HTTP (loop-and-adapters §4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tui import __version__
from tui.llm.content import ImageSource, no_images
from tui.llm.credentials import Credential, Secret
from tui.llm.deepseek_body import beta_header, build_body, encode_body
from tui.llm.deepseek_stream import MessagesStream
from tui.llm.failure import LlmFailure, failure_finish
from tui.llm.http_stream import IDLE_TIMEOUT_S, HttpStreams, Race
from tui.llm.projection import project_request
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.retry import RetryPolicy
from tui.llm.route import (
    DEFAULT_MAX_OUTPUT,
    ModelEntry,
    Route,
    SystemPromptUpdate,
    ToolUpdateMode,
    deepseek_model,
    endpoint_root,
)

if TYPE_CHECKING:
    from tui.session.cancel import CancelSignal

API_VERSION: Final = "2023-06-01"
USER_AGENT: Final = f"dsh-tui/{__version__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepSeekConnection:
    """How one provider is reached, and what counts where neither request nor model says otherwise."""

    provider: str
    base_url: str
    credential: Credential
    models: Mapping[str, ModelEntry] = field(default_factory=dict[str, ModelEntry])
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    default_effort: str | None = None
    thinking: bool = True
    """False: the provider takes no thinking; every effort but `off` is refused."""
    max_output: int = DEFAULT_MAX_OUTPUT
    """Of models that are not listed; in tokens."""
    foreign: Collection[str] = ()
    """Providers of other adapters: what they signed is not sent here."""
    images: ImageSource = no_images
    idle_timeout_s: float = IDLE_TIMEOUT_S


class DeepSeekAdapter:
    """Calls of one provider. Raises ValueError for a base address that is none."""

    def __init__(self, connection: DeepSeekConnection) -> None:
        self.connection = connection
        self.endpoint = endpoint_root(connection.base_url)
        self._streams = HttpStreams(idle_timeout_s=connection.idle_timeout_s)

    @property
    def provider(self) -> str:
        return self.connection.provider

    @property
    def retry_policy(self) -> RetryPolicy:
        return self.connection.retry_policy

    def models(self) -> Sequence[ModelEntry]:
        return tuple(self.connection.models.values())

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
        filled = {
            name
            for name, value in (
                ("reasoningEffort", config.reasoning_effort),
                ("maxTokens", config.max_tokens),
            )
            if value is None
        }
        return DeepSeekCall(
            self.connection,
            self._streams,
            Route(provider=known.provider, kind="deepseek", endpoint=self.endpoint, model=entry),
            replace(
                config,
                reasoning_effort=effort,
                max_tokens=entry.max_output if config.max_tokens is None else config.max_tokens,
            ),
            frozenset(filled),
        )

    async def aclose(self) -> None:
        await self._streams.aclose()


class DeepSeekCall:
    """A prepared call; streamed once."""

    def __init__(
        self,
        connection: DeepSeekConnection,
        streams: HttpStreams,
        route: Route,
        config: CallConfig,
        adapter_defaults: frozenset[str],
    ) -> None:
        self.route = route
        self.config = config
        self.adapter_defaults = adapter_defaults
        self._connection = connection
        self._streams = streams
        self._used = False

    def with_tool_update(self, mode: ToolUpdateMode) -> DeepSeekCall:
        return self._on(self.route.with_tool_update(mode))

    def with_system_prompt_update(self, mode: SystemPromptUpdate) -> DeepSeekCall:
        return self._on(self.route.with_system_prompt_update(mode))

    def _on(self, route: Route) -> DeepSeekCall:
        return DeepSeekCall(self._connection, self._streams, route, self.config, self.adapter_defaults)

    def body(self, request: GenerateRequest) -> dict[str, Any]:
        """Return the body that `stream` sends for this request. Raises LlmFailure."""
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

    async def stream(
        self, request: GenerateRequest, signal: CancelSignal
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Send the request and yield chunks; see PreparedCall."""
        try:
            if self._used:
                raise LlmFailure("a prepared call is streamed once", "INVALID_PREPARED_CALL")
            self._used = True
            body = self.body(request)
            async with Race(signal) as race:
                key = await race.run(self._connection.credential.read())
            secrets = () if key is None else (key.reveal(),)
            answer = MessagesStream(self.config.model, secrets)
            frames = self._streams.frames(
                f"{self.route.endpoint}/messages",
                self._headers(request, body, key),
                encode_body(body),
                signal,
                secrets,
            )
            async with aclosing(frames):
                async for frame in frames:
                    for chunk in answer.read(frame):
                        yield chunk
                    if answer.done:
                        return
            answer.end()
        except LlmFailure as failure:
            yield failure_finish(failure)

    def _headers(
        self, request: GenerateRequest, body: Mapping[str, Any], key: Secret | None
    ) -> dict[str, str]:
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": USER_AGENT,
            "anthropic-version": API_VERSION,
        }
        if key is not None:
            headers["x-api-key"] = key.reveal()
        if (beta := beta_header(body)) is not None:
            headers["anthropic-beta"] = beta
        if request.session_id:
            headers["x-deepseek-harness-session-id"] = request.session_id
        if request.purpose == "compaction":
            headers["x-deepseek-harness-compact"] = "1"
        return headers
