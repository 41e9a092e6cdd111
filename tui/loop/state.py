"""What the parts of one agent's loop share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import random
from typing import Any, Final, Literal, Protocol, TypeAlias

from tui.llm.adapter import PreparedCall
from tui.llm.clock import Clock, SystemClock
from tui.llm.learned import LearnedModes
from tui.llm.request import CallConfig
from tui.llm.retry import RetryPolicy
from tui.loop.downgrade import Downgrades
from tui.loop.frames import Frames
from tui.loop.header import Definitions, Selection
from tui.loop.hooks import LoopHooks
from tui.loop.inbox import Inbox
from tui.loop.measure import Gauge
from tui.loop.prompt import Prompt
from tui.loop.surface_watch import SurfaceWatch
from tui.session.cancel import CancelSignal
from tui.session.tool_definition import ToolDefinition
from tui.session.writer import SessionWriter
from tui.tools.registry import ToolRegistry
from tui.tools.scope import ToolScope

SandboxMode: TypeAlias = Literal["read-only", "workspace-write", "danger-full-access"]
SANDBOX_MODES: Final = ("read-only", "workspace-write", "danger-full-access")


class ProviderSource(Protocol):
    """Where calls come from."""

    def prepare(self, config: CallConfig) -> PreparedCall:
        """Return the call for these settings; raises LlmFailure, NO_ADAPTER for an unknown provider."""
        ...

    def retry_policy(self, provider: str) -> RetryPolicy:
        """Return how calls of a provider are retried; the defaults for an unknown one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOptions:
    """When and how the history is condensed; sizes in tokens. §7.1."""

    automatic: bool = True
    share: float = 0.8
    """Of the window, beyond which the history is condensed."""
    headroom: int = 65_536
    retain_tokens: int | None = None
    """What stays as it is; None: a share of what the messages may take."""
    retain_share: float = 0.16
    prune_characters: int | None = 8_000
    """Length from which on tool results are shortened first; None: never."""
    retries: int = 1
    """Further rounds while the history is still too long."""
    max_overflow_retries: int = 1
    max_tokens: int = 65_536
    """Of a summary."""
    route: tuple[str, str] | None = None
    """Provider and model that summarise; None: those of the latest request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """How an agent works; sessions keep the settings, models and the rest come from the configuration."""

    selection: Selection
    permission_preset: str = "workspace-write"
    approval_policy: Literal["ask", "never"] = "ask"
    max_parallel_tool_calls: int = 10
    write_title: bool = True
    compaction: CompactionOptions = field(default_factory=CompactionOptions)
    learned: LearnedModes = field(default_factory=LearnedModes)
    """Routes that refused tool changes; without a file it is known to this agent alone."""
    strict: bool = False
    """Send every route what it declares, whatever it refuses; for people who test routes."""
    clock: Clock = field(default_factory=SystemClock)
    draw: Callable[[], float] = random
    """Gives the jitter of waits, a number in [0, 1)."""


class Loop:
    """The parts, and the little that is remembered from request to request."""

    def __init__(
        self,
        writer: SessionWriter,
        providers: ProviderSource,
        tools: ToolRegistry,
        options: AgentOptions,
        *,
        prompt: Prompt,
        tool_scope: ToolScope | None,
    ) -> None:
        self.writer: Final = writer
        self.providers: Final = providers
        self.tools: Final = tools
        self.options: Final = options
        self.prompt: Final = prompt
        self.tool_scope: Final = tool_scope
        self.hooks: Final = LoopHooks()
        self.frames: Final = Frames()
        self.inbox: Final = Inbox(writer)
        self.watch: Final = SurfaceWatch(writer)
        self.downgrades: Final = Downgrades(writer, options.learned, strict=options.strict)
        self.selection = options.selection
        self.is_chosen = True
        """Whether the selection counts for the next request, not the last header."""
        self.header_written = False
        """Whether this loop has written a request header."""
        self.generation = writer.surface.content_generation
        """The surface's content generation at the last request, or when the loop was made."""
        self.overflow_retries = 0
        """Compactions after an overflow since the last answer."""
        self.warned: set[tuple[str, str]] = set()
        """Routes whose limits leave no room to condense for, told once."""
        self.gauge: Final = Gauge(writer)
        self._definitions = Definitions(writer.state.tools.pool)

    @property
    def clock(self) -> Clock:
        """The clock of chunks and waits."""
        return self.options.clock

    def warn(self, code: str, facts: dict[str, Any]) -> None:
        """Tell of something that does not stop the turn."""
        for listener in tuple(self.hooks.warning):
            listener(code, facts)

    def recorded(self, tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
        """Return definitions as the log gives them back."""
        return self._definitions.recorded(tools)


class Activity:
    """A turn, or a job beside turns, that can be cancelled."""

    __slots__ = ("ended", "is_closing", "is_maintenance", "keeps_inbox", "signal")

    def __init__(self, *, is_maintenance: bool = False) -> None:
        self.signal = CancelSignal()
        self.ended = asyncio.Event()
        self.is_maintenance = is_maintenance
        self.keeps_inbox = False
        """Whether it was cancelled with the wish to keep what waits."""
        self.is_closing = False
        """Whether no further turn will follow, whatever comes in."""
