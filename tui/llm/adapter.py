"""What an adapter is: it prepares a call for a route and streams the answer (§1.9, §4.8)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tui.llm.failure import LlmFailure, failure_finish
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.retry import RetryPolicy
from tui.llm.route import ModelEntry, Route, SystemPromptUpdate, ToolUpdateMode

if TYPE_CHECKING:
    from tui.session.cancel import CancelSignal


class PreparedCall(Protocol):
    """A call whose route and settings are settled; it may be streamed once."""

    @property
    def route(self) -> Route:
        """The route with the update modes in force."""
        ...

    @property
    def config(self) -> CallConfig:
        """The settings with the adapter's defaults filled in."""
        ...

    @property
    def adapter_defaults(self) -> frozenset[str]:
        """Keys of the header's config that the adapter filled in: `reasoningEffort`, `maxTokens`."""
        ...

    def with_tool_update(self, mode: ToolUpdateMode) -> PreparedCall:
        """Return the same call on its route with another tool update mode in force, as not yet streamed."""
        ...

    def with_system_prompt_update(self, mode: SystemPromptUpdate) -> PreparedCall:
        """Return the same call with another way of sending later prompts in force, as not yet streamed."""
        ...

    def stream(self, request: GenerateRequest, signal: CancelSignal) -> AsyncGenerator[dict[str, Any], None]:
        """Project the request for the route, send it and yield chunks (§1.9).

        Raises nothing on the provider's account: a failure comes as a last `finish` chunk of kind `error`,
        a cancellation of kind `aborted`. Closing the iterator closes the connection. The settings that
        count are those of the prepared call, not of the request.
        """
        ...


class Adapter(Protocol):
    """One configured provider."""

    @property
    def provider(self) -> str:
        """The provider's id."""
        ...

    @property
    def retry_policy(self) -> RetryPolicy:
        """How the loop retries calls of this provider."""
        ...

    def models(self) -> Sequence[ModelEntry]:
        """Return the models that the configuration or the catalogue lists, in their order."""
        ...

    def prepare(self, config: CallConfig) -> PreparedCall:
        """Return the call for these settings; any model id is accepted.

        Raises LlmFailure, e.g. UNSUPPORTED_REASONING_EFFORT.
        """
        ...

    async def aclose(self) -> None:
        """Close connections that are kept open."""
        ...


class FailedCall:
    """A prepared call that can only fail: lets a prompt be admitted before its failure is told (§1.4)."""

    def __init__(self, config: CallConfig, failure: LlmFailure) -> None:
        self.config = config
        self.adapter_defaults: frozenset[str] = frozenset()
        self.route = Route(
            provider=config.provider,
            kind="scripted",
            endpoint="",
            model=ModelEntry(id=config.model, display=config.model),
        )
        self._failure = failure

    def with_tool_update(self, mode: ToolUpdateMode) -> FailedCall:
        """Return the same call: no mode mends it."""
        del mode
        return self

    def with_system_prompt_update(self, mode: SystemPromptUpdate) -> FailedCall:
        """Return the same call: no mode mends it."""
        del mode
        return self

    async def stream(
        self, request: GenerateRequest, signal: CancelSignal
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the failure."""
        del request, signal
        yield failure_finish(self._failure)
