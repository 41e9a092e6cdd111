"""Drives an agent over a session in a temporary store, and holds what it wrote to the rules."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.support.fake_provider import FakeProvider, wirecheck
from tests.support.session_logs import log_lines
from tui.llm.adapter import Adapter
from tui.llm.clock import InstantClock
from tui.llm.credentials import Credential
from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
from tui.llm.failure import LlmFailure
from tui.llm.providers import Providers
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.retry import RetryPolicy
from tui.llm.route import ModelEntry, SystemPromptUpdate, ToolUpdateMode, deepseek_model
from tui.llm.script import Answers, Script, ScriptedAnswer, Sent, answer
from tui.llm.scripted import ScriptedAdapter
from tui.loop.agent import Agent
from tui.loop.frames import LiveFrame
from tui.loop.header import Selection
from tui.loop.prompt import Prompt, Section
from tui.loop.state import AgentOptions
from tui.nodes.reading import Reading
from tui.session.cancel import CancelSignal
from tui.session.events import Event
from tui.session.reader import read_log
from tui.session.rules import RuleChecker
from tui.session.writer import SessionWriter
from tui.tools.registry import ToolRegistry
from tui.tools.tool import Tool

PROVIDER = "creek"
SETTINGS = ("permission/preset", "sandbox/mode", "approval/policy")


def model(
    model_id: str = "minnow-2",
    mode: ToolUpdateMode = None,
    *,
    prompt_in_history: bool = True,
    **facts: Any,
) -> ModelEntry:
    """A model of the test provider."""
    return replace(
        deepseek_model(model_id),
        tool_update=mode,
        system_prompt_update="in-history" if prompt_in_history else None,
        **facts,
    )


def scripted(
    script: Script | Iterable[ScriptedAnswer], *models: ModelEntry, **options: Any
) -> ScriptedAdapter:
    """A provider that plays answers without any delay, called as the provider on loopback is."""
    played = script if hasattr(script, "answer") else Answers(script)  # type: ignore[arg-type]
    listed = models or (model(),)
    return ScriptedAdapter(
        played,  # type: ignore[arg-type]
        InstantClock(),
        provider=PROVIDER,
        models={entry.id: entry for entry in listed},
        **options,
    )


def loopback(server: FakeProvider, *models: ModelEntry, **options: Any) -> DeepSeekAdapter:
    """The real adapter in front of a provider on loopback."""
    listed = models or (model(),)
    defaults: dict[str, Any] = {
        "provider": PROVIDER,
        "base_url": server.url,
        "credential": Credential(env="CREEK_KEY", environ={"CREEK_KEY": "key-of-nobody"}),
        "models": {entry.id: entry for entry in listed},
    }
    return DeepSeekAdapter(DeepSeekConnection(**{**defaults, **options}))


def tool(
    name: str,
    run: Callable[[Any], Any] | None = None,
    *,
    description: str | None = None,
    properties: Mapping[str, Any] | None = None,
    **facts: Any,
) -> Tool:
    """A tool that answers `<name> done`, or what `run` gives for its arguments."""

    async def execute(arguments: Any, context: Any) -> Any:
        if run is None:
            return f"{name} done"
        value = run(arguments)
        return await value if asyncio.iscoroutine(value) else value

    return Tool(
        name=name,
        description=description or f"The {name} tool.",
        parameters={"type": "object", "properties": dict(properties or {})},
        execute=execute,
        **facts,
    )


def simple_prompt(text: str = "", cwd: bool = False) -> Prompt:
    """A prompt of one section."""
    prompt = Prompt()
    prompt.add(Section(name="base", text=text, literal=True))
    if cwd:
        prompt.add_context(
            Section(name="working-directory:current", text=lambda context: f"Folder: {context.cwd}.")
        )
    return prompt


class WatchedCall:
    """A prepared call that shows the body of its request before it is streamed."""

    def __init__(self, call: Any, bodies: list[Any]) -> None:
        self._call = call
        self._bodies = bodies

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def with_tool_update(self, mode: ToolUpdateMode) -> WatchedCall:
        return WatchedCall(self._call.with_tool_update(mode), self._bodies)

    def with_system_prompt_update(self, mode: SystemPromptUpdate) -> WatchedCall:
        return WatchedCall(self._call.with_system_prompt_update(mode), self._bodies)

    def stream(self, request: GenerateRequest, signal: CancelSignal) -> Any:
        with contextlib.suppress(LlmFailure):  # a body that cannot be made is never sent
            self._bodies.append(self._call.body(request))
        return self._call.stream(request, signal)


class WatchedProviders(Providers):
    """Providers whose every request body is kept, whatever the adapter does with it."""

    def __init__(self, adapters: Iterable[Adapter]) -> None:
        super().__init__(adapters)
        self.bodies: list[Any] = []

    def prepare(self, config: CallConfig) -> Any:
        return WatchedCall(super().prepare(config), self.bodies)


class Driver:
    """An agent, its session and its tools."""

    def __init__(self, agent: Agent, tools: ToolRegistry, clock: InstantClock) -> None:
        self.agent = agent
        self.tools = tools
        self.clock = clock
        self.frames: list[LiveFrame] = []
        agent.subscribe(self.frames.append)

    @property
    def writer(self) -> SessionWriter:
        return self.agent.writer

    async def say(self, text: str) -> None:
        """Send a prompt and wait until everything it led to is done."""
        self.agent.followup(text)
        await self.idle()

    async def idle(self) -> None:
        async with asyncio.timeout(30):
            await self.agent.when_idle()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let the agent work until a condition holds."""
        async with asyncio.timeout(30):
            while not condition():
                await asyncio.sleep(0)

    def select(self, model_id: str, **facts: Any) -> None:
        self.agent.select(Selection(provider=PROVIDER, model=model_id, **facts))

    def events(self, *types: str) -> list[Event]:
        """Events of these types, or all of them."""
        return [event for event in self.writer.events if not types or event.type in types]

    def kinds(self, since: int = 0, *, settings: bool = False) -> list[str]:
        """Types of the events from a seq on, without those that begin a session."""
        return [
            event.type
            for event in self.writer.events
            if event.seq >= since and (settings or event.type not in SETTINGS)
        ]

    @property
    def reasons(self) -> list[dict[str, Any]]:
        """Why the turns ended."""
        return [event.data["reason"] for event in self.events("turn/end")]


@asynccontextmanager
async def driving(
    home: Path,
    *adapters: Adapter,
    model_id: str = "minnow-2",
    tools: Sequence[Tool] = (),
    prompt: Prompt | None = None,
    resume: Path | None = None,
    registry: ToolRegistry | None = None,
    check: bool = True,
    **options: Any,
) -> Any:
    """An agent over a new session, or one that is resumed; its log is checked at the end."""
    clock = InstantClock()
    writer = (
        SessionWriter.create(home, "/srv/moss", encoding="none")
        if resume is None
        else SessionWriter.resume(resume)
    )
    registry = registry or ToolRegistry()
    for entry in tools:
        registry.register(entry)
    providers = WatchedProviders(adapters)
    settings = {
        "selection": Selection(provider=PROVIDER, model=model_id),
        "clock": clock,
        "draw": lambda: 0.5,
    }
    agent = Agent(
        writer,
        providers,
        registry,
        AgentOptions(**{**settings, **options}),
        prompt=prompt or simple_prompt(),
    )
    driver = Driver(agent, registry, clock)
    try:
        yield driver
    finally:
        await agent.dispose()
        await writer.close()
        for adapter in adapters:
            await adapter.aclose()
    if check and writer.path.exists():
        check_log(writer.path)
    if check and (folder := shared_folder()) is not None:
        assert_wire(wirecheck(folder), providers.bodies)


def check_log(path: Path) -> list[dict[str, Any]]:
    """Hold a log to every rule and open it as the viewer does; returns its events."""
    lines = log_lines(path)
    rows = lines[1:]
    log = read_log(path)
    header = log.header
    log.close()
    taken: list[Event] = []
    rules = RuleChecker(header, taken.__getitem__)
    for number, row in enumerate(rows):
        event = Event(
            row=number,
            type=row["type"],
            seq=row["seq"],
            time=row["time"],
            data=row["data"],
            surface_op=row.get("surfaceOp"),
            source_event_seqs=expanded(row.get("sourceEventSeqs")),
            ignorable=row.get("ignorable", False),
        )
        rules.apply(event)
        taken.append(event)
    reading = Reading.open(path)
    reading.read_all()
    damage = list(reading.log.damage)
    assert not damage, damage
    return rows


def shared_folder() -> Path | None:
    """The folder that the fixture `shared` gives, if there is one."""
    folder = Path(os.environ.get("DSH_TUI_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    return folder if (folder / "bugs").is_dir() else None


def expanded(seqs: list[Any] | None) -> list[int] | None:
    """Cited events one by one."""
    if seqs is None:
        return None
    found: list[int] = []
    for entry in seqs:
        found.extend(range(entry[0], entry[1] + 1) if isinstance(entry, list) else [entry])
    return found


def assert_wire(checker: ModuleType, bodies: Iterable[Any]) -> None:
    """Hold request bodies to the rules that providers taught."""
    for number, body in enumerate(bodies):
        assert checker.check(body) == [], (number, json.dumps(body, ensure_ascii=False)[:2_000])


def instantly(*parts: Any) -> ScriptedAnswer:
    """An answer without pauses."""
    return answer(*parts, pace_s=0)


class Recorded:
    """A script that keeps every request beside its answers."""

    def __init__(
        self, answers: Iterable[ScriptedAnswer] = (), auxiliary: Iterable[ScriptedAnswer] = ()
    ) -> None:
        self.sent: list[Sent] = []
        self._answers = Answers(
            answers, auxiliary=auxiliary, otherwise=lambda sent: instantly("Nothing more.")
        )

    def answer(self, sent: Sent) -> ScriptedAnswer:
        self.sent.append(sent)
        return self._answers.answer(sent)


def fast_policy(**facts: Any) -> RetryPolicy:
    return RetryPolicy(**{"initial_ms": 120, "max_ms": 3_000, "max_retries": 3, **facts})
