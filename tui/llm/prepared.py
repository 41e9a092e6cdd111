"""What prepared calls of all adapters share: they are streamed once, and a failure is their last chunk."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeVar

from tui import __version__
from tui.llm.content import ImageSource, no_images
from tui.llm.deepseek_body import encode_body
from tui.llm.failure import LlmFailure, failure_finish
from tui.llm.http_stream import IDLE_TIMEOUT_S, HttpStreams, Race
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.retry import RetryPolicy
from tui.llm.route import ModelEntry, Route, SystemPromptUpdate, ToolUpdateMode

if TYPE_CHECKING:
    from tui.llm.credentials import Credential, Secret
    from tui.llm.sse import SseFrame
    from tui.session.cancel import CancelSignal

USER_AGENT: Final = f"dsh-tui/{__version__}"


def settled(
    config: CallConfig, *, effort: str | None, max_tokens: int | None
) -> tuple[CallConfig, frozenset[str]]:
    """Return the settings with an adapter's defaults, and the keys of the header's config they fill in."""
    filled = {
        name
        for name, given, used in (
            ("reasoningEffort", config.reasoning_effort, effort),
            ("maxTokens", config.max_tokens, max_tokens),
        )
        if given is None and used is not None
    }
    return replace(config, reasoning_effort=effort, max_tokens=max_tokens), frozenset(filled)


class StreamedOnce(ABC):
    """A prepared call (see PreparedCall); an adapter gives its chunks."""

    def __init__(self, route: Route, config: CallConfig, adapter_defaults: frozenset[str]) -> None:
        self.route = route
        self.config = config
        self.adapter_defaults = adapter_defaults
        self._used = False

    def with_tool_update(self, mode: ToolUpdateMode) -> Self:
        """Return the same call with another tool update mode in force, as not yet streamed."""
        return self._on(self.route.with_tool_update(mode))

    def with_system_prompt_update(self, mode: SystemPromptUpdate) -> Self:
        """Return the same call with another way of sending later prompts in force, as not yet streamed."""
        return self._on(self.route.with_system_prompt_update(mode))

    def _on(self, route: Route) -> Self:
        call = copy.copy(self)
        call.route = route
        call._used = False
        return call

    @abstractmethod
    def body(self, request: GenerateRequest) -> dict[str, Any]:
        """Return the body that `stream` sends for this request. Raises LlmFailure."""

    @abstractmethod
    def _chunks(self, request: GenerateRequest, signal: CancelSignal) -> AsyncGenerator[dict[str, Any], None]:
        """Send the request and yield chunks. Raises LlmFailure."""

    async def stream(
        self, request: GenerateRequest, signal: CancelSignal
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Send the request and yield chunks; see PreparedCall."""
        try:
            if self._used:
                raise LlmFailure("a prepared call is streamed once", "INVALID_PREPARED_CALL")
            self._used = True
            chunks = self._chunks(request, signal)
            async with aclosing(chunks):
                async for chunk in chunks:
                    yield chunk
        except LlmFailure as failure:
            yield failure_finish(failure)


class AnswerReader(Protocol):
    """Reads the frames of one answer."""

    @property
    def done(self) -> bool:
        """The answer is complete."""
        ...

    def read(self, frame: SseFrame) -> list[dict[str, Any]]:
        """Return the chunks that a frame adds. Raises LlmFailure."""
        ...

    def end(self) -> list[dict[str, Any]]:
        """Return the last chunks where the frames end before the answer is done. Raises LlmFailure."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConnection:
    """How one provider is reached."""

    provider: str
    base_url: str
    credential: Credential
    models: Mapping[str, ModelEntry] = field(default_factory=dict[str, ModelEntry])
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    default_effort: str | None = None
    images: ImageSource = no_images
    idle_timeout_s: float = IDLE_TIMEOUT_S


_Connection = TypeVar("_Connection", bound=HttpConnection)


class HttpAdapter(Generic[_Connection]):
    """What the adapters of HTTP providers share (see Adapter)."""

    def __init__(self, connection: _Connection, endpoint: str) -> None:
        self.connection = connection
        self.endpoint = endpoint
        self._streams = HttpStreams(idle_timeout_s=connection.idle_timeout_s)

    @property
    def provider(self) -> str:
        """The provider's id."""
        return self.connection.provider

    @property
    def retry_policy(self) -> RetryPolicy:
        """How the loop retries calls of this provider."""
        return self.connection.retry_policy

    def models(self) -> Sequence[ModelEntry]:
        """Return the models that are listed, in their order."""
        return tuple(self.connection.models.values())

    async def aclose(self) -> None:
        """Close connections that are kept open."""
        await self._streams.aclose()


class HttpCall(StreamedOnce, Generic[_Connection]):
    """A prepared call that is one streamed HTTP request."""

    def __init__(
        self,
        connection: _Connection,
        streams: HttpStreams,
        route: Route,
        config: CallConfig,
        adapter_defaults: frozenset[str],
    ) -> None:
        super().__init__(route, config, adapter_defaults)
        self._connection = connection
        self._streams = streams

    @abstractmethod
    def _url(self) -> str:
        """Return the address that is called."""

    @abstractmethod
    def _headers(
        self, request: GenerateRequest, body: Mapping[str, Any], key: Secret | None
    ) -> dict[str, str]:
        """Return what this format adds to the headers, the key too."""

    @abstractmethod
    def _reader(self, secrets: Iterable[str]) -> AnswerReader:
        """Return what reads the answer; nothing it tells holds a secret."""

    async def _chunks(
        self, request: GenerateRequest, signal: CancelSignal
    ) -> AsyncGenerator[dict[str, Any], None]:
        body = self.body(request)
        async with Race(signal) as race:
            key = await race.run(self._connection.credential.read())
        secrets = () if key is None else (key.reveal(),)
        answer = self._reader(secrets)
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": USER_AGENT,
            **self._headers(request, body, key),
        }
        frames = self._streams.frames(self._url(), headers, encode_body(body), signal, secrets)
        async with aclosing(frames):
            async for frame in frames:
                for chunk in answer.read(frame):
                    yield chunk
                if answer.done:
                    return
        for chunk in answer.end():
            yield chunk
