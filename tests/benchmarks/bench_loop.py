"""The loop's own cost of a step, early and late in a log, the surface being equally long."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from pathlib import Path
from time import process_time

from tests.benchmarks.bench_append import condense, turns, without_waiting
from tests.benchmarks.measure import Figure
from tests.support.loop_driver import PROVIDER, instantly, model, scripted, simple_prompt, tool
from tui.llm.clock import InstantClock
from tui.llm.providers import Providers
from tui.llm.script import Call, ScriptedAnswer, Sent
from tui.loop.agent import Agent
from tui.loop.header import Selection
from tui.loop.state import AgentOptions, CompactionOptions
from tui.session.writer import SessionWriter
from tui.tools.registry import ToolRegistry

_EARLY, _LATE = 100, 100_000
_SURFACE = 60
_TURNS = 12
_ROUNDS = 6
_TOOLS = 20


class _Caller:
    """Calls a tool, then answers."""

    def __init__(self) -> None:
        self._calls = 0

    def answer(self, sent: Sent) -> ScriptedAnswer:
        self._calls += 1
        if sent.messages[-1]["role"] == "tool":
            return instantly("The moss is damp. " * 8)
        return instantly(Call("tool_03", {"pot": "north"}, id=f"bench-{self._calls}"))


class _Bench:
    """An agent over a session of a given length."""

    def __init__(self, home: Path, events: int) -> None:
        self.writer = SessionWriter.create(home, "/srv/moss", encoding="none")
        while self.writer.next_seq < events:
            turns(self.writer, 5)
        registry = ToolRegistry()
        for number in range(_TOOLS):
            words = {"pot": {"type": "string", "description": "Which of the pots, by its name."}}
            registry.register(tool(f"tool_{number:02}", properties=words))
        adapter = scripted(_Caller(), model(mode="in-history"))
        options = AgentOptions(
            selection=Selection(provider=PROVIDER, model="minnow-2"),
            compaction=CompactionOptions(automatic=False),
            clock=InstantClock(),
        )
        prompt = simple_prompt("You keep the moss garden. " * 40, cwd=True)
        self.agent = Agent(self.writer, Providers([adapter]), registry, options, prompt=prompt)

    async def talk(self, count: int) -> None:
        for _ in range(count):
            self.agent.followup("How wet is the north bed?")
            await self.agent.when_idle()

    async def cost(self) -> float:
        """Seconds of CPU a step, from a surface of 60 messages on."""
        while len(self.writer.surface.nodes()) > _SURFACE // 2:
            condense(self.writer)
        while len(self.writer.surface.nodes()) < _SURFACE:
            await self.talk(1)
        gc.collect()
        before, started = len(self.writer.events), process_time()
        await self.talk(_TURNS)
        spent = process_time() - started
        steps = sum(event.type == "step/start" for event in self.writer.events[before:])
        return spent / steps


async def _measured() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        early, late = _Bench(Path(folder), _EARLY), _Bench(Path(folder), _LATE)
        early_cost, late_cost = float("inf"), float("inf")
        for _ in range(_ROUNDS):
            early_cost = min(early_cost, await early.cost())
            late_cost = min(late_cost, await late.cost())
        await early.writer.close()
        await late.writer.close()
    return [
        Figure("a step at event 100", early_cost * 1e3, "ms"),
        Figure("a step at event 100,000", late_cost * 1e3, "ms"),
        Figure("late / early", late_cost / early_cost, "x", limit=1.2),
    ]


def run() -> list[Figure]:
    with without_waiting():
        return asyncio.run(_measured())
