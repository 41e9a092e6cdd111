"""A live session on a screen without a terminal: a scripted provider, a session in a temporary store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.app_driver import Driver, run_app, settings
from tui.app.conversation import Conversation, Guide, Starter
from tui.app.live_screen import LiveScreen
from tui.llm.clock import SystemClock
from tui.llm.providers import Providers
from tui.llm.script import Answers, Script, ScriptedAnswer
from tui.llm.scripted import ScriptedAdapter
from tui.loop.agent import Agent
from tui.loop.header import Selection
from tui.loop.state import AgentOptions, CompactionOptions
from tui.session.writer import SessionWriter
from tui.tools.approval import ApprovalService
from tui.tools.hooks import Ask
from tui.tools.registry import ToolRegistry
from tui.tools.scope import Disposer
from tui.tools.tool import Tool


class Ticking(SystemClock):
    """Times that do not depend on the machine: each look takes 100 ms. Waits are real."""

    def __init__(self) -> None:
        self.ms = 1_800_000_000_000
        self.waits_left: int | None = None
        """After so many waits the provider says nothing more; None: it goes on."""

    async def sleep(self, seconds: float) -> None:
        if self.waits_left is not None:
            self.waits_left -= 1
        stalls = self.waits_left is not None and self.waits_left < 0
        await super().sleep(3_600 if stalls else seconds)

    def now_ms(self) -> int:
        self.ms += 100
        return self.ms


class Talk(Driver):
    """A running app with a live screen."""

    conversation: Conversation
    registry: ToolRegistry
    clock: Ticking
    disposers: dict[str, Disposer]
    """What takes a tool away, by its name."""

    def freeze(self) -> None:
        """Let what is counted on the screen stand at a moment that does not depend on the machine."""
        activity = self.live.feed.activity
        self.clock.ms = activity.begun_ms + 4_200
        activity.retry_at_ms = self.clock.ms + 3_000
        self.live.activity.update()

    @property
    def live(self) -> LiveScreen:
        """The live screen, whatever lies over it."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, LiveScreen))

    async def write(self, text: str) -> None:
        """Put a text into the composer, as typed."""
        self.live.composer.focus()
        self.live.composer.insert(text)
        await self.pilot.pause()

    async def say(self, text: str) -> None:
        """Send a prompt and wait for the end of its turn."""
        await self.write(text)
        await self.press("enter")
        await self.idle()

    async def idle(self) -> None:
        """Wait until nothing runs and everything is shown."""
        await self.until(lambda: self.conversation.agent.status == "idle")
        self.live.feed.beat()
        await self.pilot.pause()


def tool(
    name: str,
    result: str = "done",
    *,
    asks: str = "",
    command: tuple[str, ...] | None = None,
    until: asyncio.Event | None = None,
) -> Tool:
    """A tool that returns a text, after a question if it `asks`, and not before `until` is set."""

    async def execute(arguments: Any, context: Any) -> str:
        if until is not None:
            await until.wait()
        return result

    ask = Ask(reason=asks, command=command, grant=name)
    return Tool(
        name=name,
        description=f"The tool {name}.",
        parameters={"type": "object", "properties": {"bed": {"type": "string"}}},
        execute=execute,
        policy=(lambda arguments: ask) if asks else None,
    )


@asynccontextmanager
async def talking(
    folder: Path,
    script: Script | Iterable[ScriptedAnswer],
    *,
    tools: Iterable[Tool] = (),
    size: tuple[int, int] = (120, 40),
    lang: str = "en",
    guide: Guide | None = None,
    model: str = "scripted-in-history",
    writer: SessionWriter | None = None,
    keys: Mapping[str, tuple[str, ...]] | None = None,
    compaction: CompactionOptions | None = None,
    starter: Starter | None = None,
) -> AsyncIterator[Talk]:
    """The app with a conversation open, as `dsh-tui chat` would show it."""
    clock = Ticking()
    played = script if hasattr(script, "answer") else Answers(script)
    adapter = ScriptedAdapter(played, clock)  # pyright: ignore[reportArgumentType]
    providers = Providers([adapter])
    if writer is None:
        writer = SessionWriter.create(
            folder,
            "/srv/demo",
            session_id="session-00000000-0000-4000-8000-000000000001",
            encoding="none",
            now=clock.now_ms,
        )
    approvals = ApprovalService("ask", None, writer.append)
    registry = ToolRegistry(approval=approvals)
    disposers = {each.name: registry.register(each) for each in tools}
    selection = Selection(provider=adapter.provider, model=model)
    options = AgentOptions(
        selection=selection,
        write_title=False,
        compaction=compaction or CompactionOptions(),
        clock=clock,
        draw=lambda: 0.5,
    )
    agent = Agent(writer, providers, registry, options)
    conversation = Conversation(
        agent=agent,
        writer=writer,
        providers=providers,
        approvals=approvals,
        guide=guide,
        now_ms=lambda: clock.ms,
    )
    try:
        async with run_app(
            replace(settings(lang), keys=keys or {}),
            lambda app: LiveScreen(conversation, app.surroundings),
            size=size,
            starter=starter,
        ) as driver:
            talk = Talk(driver.app, driver.pilot)
            talk.conversation, talk.registry = conversation, registry
            talk.clock, talk.disposers = clock, disposers
            await talk.until(lambda: isinstance(talk.top, LiveScreen) and talk.live.composer.has_focus)
            yield talk
    finally:
        await conversation.close()
