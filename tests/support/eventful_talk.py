"""A conversation in which everything happens that the loop can write."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.support.loop_driver import PROVIDER, instantly, model, scripted, simple_prompt, tool
from tui.llm.clock import InstantClock
from tui.llm.providers import Providers
from tui.llm.retry import RetryPolicy
from tui.llm.script import Answers, Call, CutOff, Fail, Pause, Think
from tui.loop.agent import Agent
from tui.loop.compaction import CompactionFailed
from tui.loop.header import Selection
from tui.loop.prompt import Section
from tui.loop.state import AgentOptions, CompactionOptions
from tui.session.durable import Encoding
from tui.session.writer import SessionWriter
from tui.tools.registry import ToolRegistry

BUSY = Fail("busy", "SERVER", 529, request_id="req-1")
LONG = "moss and fern " * 900


async def talk(home: Path, cwd: str, encoding: Encoding) -> Path:
    """Write the conversation and return its log."""
    talk = _Talk(home, cwd, encoding)
    await talk.tools_come_and_go()
    await talk.requests_fail()
    await talk.somebody_stops_it()
    await talk.history_is_condensed()
    await talk.agent.dispose()
    await talk.writer.close()
    return talk.writer.path


class _Talk:
    def __init__(self, home: Path, cwd: str, encoding: Encoding) -> None:
        self.writer = SessionWriter.create(home, cwd, encoding=encoding)
        self.tools = ToolRegistry()
        self.tools.register(tool("peek", lambda arguments: LONG, is_concurrency_safe=lambda arguments: True))
        self.prompt = simple_prompt("You keep the moss garden.", cwd=True)
        self.adapter = scripted(
            Answers(ANSWERS, auxiliary=NOTES),
            model(mode="in-history", context_window=40_000, max_output=1_000),
            model("gnat-1", prompt_in_history=False),
            retry_policy=RetryPolicy(max_retries=2, initial_ms=1),
        )
        options = AgentOptions(
            selection=Selection(provider=PROVIDER, model="minnow-2", reasoning_effort="high"),
            compaction=CompactionOptions(share=0.075, headroom=1_000, retain_tokens=100),
            clock=InstantClock(),
        )
        providers = Providers([self.adapter])
        self.agent = Agent(self.writer, providers, self.tools, options, prompt=self.prompt)

    async def say(self, text: str) -> None:
        self.agent.followup(text)
        await self.agent.when_idle()

    async def tools_come_and_go(self) -> None:
        await self.say("How wet is the north bed?")
        drop = self.tools.register(tool("water", description="Waters."))
        await self.say("Water it.")
        drop()
        self.prompt.add(Section(name="base", text="You keep the moss garden, and the fern.", literal=True))
        self.agent.steer("While you are at it: the fern too.")
        await self.agent.when_idle()
        self.tools.register(tool("water", description="Waters slowly."))
        self.agent.select(Selection(provider=PROVIDER, model="gnat-1"))
        await self.say("And on another model?")
        self.agent.select(Selection(provider=PROVIDER, model="minnow-2", reasoning_effort="low"))
        await self.say("Back again.")

    async def requests_fail(self) -> None:
        await self.say("Busy?")
        await self.say("Too busy?")
        await self.say("Cut off?")
        self.agent.select(Selection(provider=PROVIDER, model="minnow-2", reasoning_effort="enormous"))
        await self.say("Impossible.")
        self.agent.select(Selection(provider="nobody", model="none"))
        self.agent.wake()
        await self.agent.when_idle()
        self.agent.select(Selection(provider=PROVIDER, model="minnow-2"))

    async def somebody_stops_it(self) -> None:
        def stop_at(kind: str) -> Any:
            def listen(event: Any) -> None:
                if event.type == kind:
                    undo()
                    self.agent.cancel()

            undo = self.writer.subscribe(listen)

        self.agent.followup("A long story.")
        waiting = self.agent.followup("Not this one.")
        self.agent.edit_queued(waiting, "Nor this one.")
        stopped = asyncio.Event()

        def at_text(frame: Any) -> None:
            if getattr(frame, "chunk", {}).get("type") == "text-delta":
                undo()
                self.agent.cancel()
                stopped.set()

        undo = self.agent.subscribe(at_text)
        await self.agent.when_idle()
        assert stopped.is_set()
        stop_at("tool/call")
        await self.say("Two calls, please.")
        stop_at("step/start")
        await self.say("Nothing at all.")
        stop_at("llm/retry")
        await self.say("Never mind.")

    async def history_is_condensed(self) -> None:
        await self.agent.compact()
        await self.say("Where were we?")
        await self.say("Look twice.")
        await self.say("Still there?")
        try:
            await self.agent.compact()
        except CompactionFailed:
            self.agent.rename("The moss garden")
        await self.say("Good night.")
        self.agent.inject("The lights are out.")


ANSWERS = [
    instantly(Think("Look."), "Looking.", Call("peek", {"pot": "north"}, id="c1"), Call("gone", {}, id="c2")),
    instantly("Wet."),
    instantly(Call("water", {}, id="c3")),
    instantly("Watered."),
    instantly("The fern is fine."),
    instantly("On another one."),
    instantly("Back."),
    instantly("Half", BUSY),
    instantly("Not any more."),
    *([instantly(BUSY)] * 3),
    instantly("Cut", Call("peek", {}, id="c4"), CutOff()),
    instantly("Once upon a time there was a moss.", Pause(1.0), "And a fern."),
    instantly(Call("peek", {}, id="c5"), Call("peek", {}, id="c6")),
    instantly(BUSY),
    instantly("In the garden."),
    instantly(Call("peek", {}, id="c7"), Call("peek", {}, id="c8")),
    instantly("Looked."),
    instantly("Still."),
    instantly("Good night."),
]
NOTES = [
    instantly(Think("Hm."), "The moss is wet."),
    instantly("The moss is still wet."),
    instantly(Fail("no notes", "AUTH", 401)),
]
