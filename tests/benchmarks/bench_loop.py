"""What a step of the loop costs, early and late in a session, the surface being equally long."""

from __future__ import annotations

import asyncio
import gc
import tempfile
from pathlib import Path
from time import process_time

from tests.benchmarks.bench_append import condense, turns, without_waiting
from tests.benchmarks.measure import Figure
from tests.support.loop_driver import PROVIDER, instantly, model, scripted, simple_prompt, tool
from tests.support.session_logs import converse, user
from tui.llm.clock import InstantClock
from tui.llm.providers import Providers
from tui.llm.script import Call, ScriptedAnswer, Sent, Think
from tui.loop.agent import Agent
from tui.loop.header import Selection
from tui.loop.state import AgentOptions
from tui.session.writer import SessionWriter
from tui.tools.registry import ToolRegistry

_EARLY, _LATE = 100, 100_000
_SURFACE = 60
_STEPS = 12
_CONVERSED = 6
_TOOLS = 20
_ROUNDS = 8


class Looking:
    """Answers the first question at once, and after each eleven calls of a tool."""

    def __init__(self) -> None:
        self._calls = 0

    def answer(self, sent: Sent) -> ScriptedAnswer:
        self._calls += 1
        if self._calls % _STEPS == 1:
            return instantly("Both beds are damp enough; nothing has to be done today.")
        call = Call("peek-3", {"pot": "north"}, id=f"c-{sent.request.session_id}-{self._calls}")
        return instantly(Think("Look at the next pot."), call)


def agent_of(writer: SessionWriter) -> Agent:
    """An agent with 20 tools before the scripted provider."""
    tools = ToolRegistry()
    for number in range(_TOOLS):
        tools.register(
            tool(f"peek-{number}", lambda arguments: "damp " * 40, properties={"pot": {"type": "string"}})
        )
    options = AgentOptions(selection=Selection(provider=PROVIDER, model="minnow-2"), clock=InstantClock())
    adapter = scripted(Looking(), model(mode="in-history"))
    return Agent(writer, Providers([adapter]), tools, options, prompt=simple_prompt("You keep moss."))


async def begin(writer: SessionWriter) -> Agent:
    """An agent that has answered once, over a surface of 60 messages."""
    agent = agent_of(writer)
    agent.followup("Which bed is dry?")
    await agent.when_idle()
    condensed(writer)
    return agent


def condensed(writer: SessionWriter) -> None:
    """Leave the system message, a checkpoint and what came after it: 60 messages."""
    condense(writer, writer.surface.nodes()[1:])
    converse(writer, writer.last_turn + 1, steps=_CONVERSED)
    writer.append("turn/start", {"turn": writer.last_turn + 1})
    at = {"turn": writer.last_turn, "step": 1}
    writer.append("step/start", at)
    while len(writer.surface.nodes()) < _SURFACE:
        writer.append("user/message", user(f"u{writer.next_seq}"))
    writer.append("step/end", at)
    writer.append("turn/end", {"turn": at["turn"], "reason": {"kind": "completed"}})
    writer.flush_now()


async def cost(agent: Agent) -> float:
    """Seconds of CPU a step over a turn."""
    assert len(agent.writer.surface.nodes()) == _SURFACE
    gc.collect()
    started = process_time()
    agent.followup("And the others?")
    await agent.when_idle()
    spent = process_time() - started
    assert agent.writer.last_step == _STEPS, agent.writer.last_step
    return spent / _STEPS


async def measure(home: Path, *, resumed: bool) -> list[Figure]:
    """The cost early and late, in turns, of the best rounds."""
    late = SessionWriter.create(home, "/srv/moss", encoding="none")
    while late.next_seq < _LATE:
        turns(late, 100)
    if resumed:
        late.close_now()
        late = SessionWriter.resume(late.path)
    late_agent = await begin(late)
    early_cost, late_cost = float("inf"), float("inf")
    for _ in range(_ROUNDS):
        early = SessionWriter.create(home, "/srv/moss", encoding="none")
        early_agent = await begin(early)
        assert _EARLY / 2 < early.next_seq < _EARLY * 1.2, early.next_seq
        early_cost = min(early_cost, await cost(early_agent))
        await early.close()
        late_cost = min(late_cost, await cost(late_agent))
        condensed(late)
    await late.close()
    name = "resumed" if resumed else "live"
    return [
        Figure(f"a step at event 100, {name}", early_cost * 1e6, "µs", note=f"{_SURFACE} messages on"),
        Figure(f"a step at event 100,000, {name}", late_cost * 1e6, "µs"),
        Figure(f"late / early, {name}", late_cost / early_cost, "x", limit=1.2),
    ]


def run() -> list[Figure]:
    figures: list[Figure] = []
    for resumed in (False, True):
        with without_waiting(), tempfile.TemporaryDirectory() as folder:
            figures += asyncio.run(measure(Path(folder), resumed=resumed))
    return figures
