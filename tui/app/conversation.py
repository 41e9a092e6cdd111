"""What a live screen talks to: the agent with everything around it, and a guide through a demo's scene."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from tui.i18n import Translator
from tui.llm.providers import Providers
from tui.llm.request import CallConfig
from tui.llm.route import Route
from tui.loop.agent import Agent
from tui.loop.fresh_start import FirstCheck, FreshStart
from tui.nodes.live import LiveReading
from tui.session.writer import SessionWriter, now_ms
from tui.tools.approval import ApprovalService


class Guide(Protocol):
    """Leads through a scene: offers prompts, and changes the tools when one is sent."""

    def offered(self, tr: Translator) -> str | None:
        """The prompt to send next, None when the scene is over."""
        ...

    def about_to_send(self, text: str) -> None:
        """A prompt is going to be sent."""
        ...

    def farewell(self, tr: Translator, key: str) -> str:
        """What to say when the scene is over; `key` begins the next one."""
        ...


@dataclass(kw_only=True)
class Conversation:
    """An open session of our own with its agent."""

    agent: Agent
    writer: SessionWriter
    providers: Providers
    approvals: ApprovalService | None = None
    guide: Guide | None = None
    following: DemoStarter | None = None
    """Begins the scene after this one."""
    opening: str = ""
    """A prompt that is sent as soon as the session is shown."""
    first_check: FirstCheck | None = None
    """What a session that goes on from a summary owes before anything may write or run."""
    reading: LiveReading | None = None
    """What the log holds, if it was read before the screen; else the screen reads it."""
    now_ms: Callable[[], int] = now_ms
    """The clock of what is counted on the screen."""
    notices: list[str] = field(default_factory=list[str])
    """Sentences to be said at the beginning."""
    closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list[Callable[[], Awaitable[None]]])
    """Run at the end, last first."""

    @property
    def route(self) -> Route:
        """The route of the next request. Raises LlmFailure where there is none."""
        asked = self.agent.selection
        return self.providers.prepare(CallConfig(provider=asked.provider, model=asked.model)).route

    async def close(self) -> None:
        """Stop the agent, make the log durable and let everything go."""
        if self.approvals is not None:
            self.approvals.answerer = None
        try:
            await self.agent.dispose()
            for closer in reversed(self.closers):
                await closer()
            await self.providers.aclose()
        finally:
            await self.writer.close()


Starter: TypeAlias = Callable[[FreshStart], Awaitable[Conversation | str]]
"""Begins a session from a summary; a sentence says why it cannot."""

DemoStarter: TypeAlias = Callable[[Translator], Awaitable[Conversation | str]]
"""Begins the demo in a language; a sentence says why it cannot."""
