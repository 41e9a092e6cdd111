"""A process that talks to the scripted provider until it is killed; every seq it prints was durable before.

python -m tests.support.talk_until_killed HOME | RESUMED_LOG
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.support.loop_driver import PROVIDER, instantly, model, scripted, simple_prompt, tool
from tui.llm.clock import InstantClock
from tui.llm.providers import Providers
from tui.llm.script import Call, Fail, Say, ScriptedAnswer, Sent, Think
from tui.loop.agent import Agent
from tui.loop.header import Selection
from tui.loop.state import AgentOptions
from tui.session.writer import SessionWriter
from tui.tools.registry import ToolRegistry


class Talkative:
    """Thinks, calls two tools, is overloaded now and then, and answers."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._calls = 0

    def answer(self, sent: Sent) -> ScriptedAnswer:
        self._calls += 1
        if self._calls % 7 == 0:
            return instantly(Say("Hm, "), Fail("busy", "SERVER", 529))
        if sent.messages[-1]["role"] == "tool":
            return instantly(Think("Enough seen."), "The moss is damp. " * 20)
        return instantly(
            Think("Look first."),
            Call("peek", {"pot": "north"}, id=f"{self._prefix}-a{self._calls}"),
            Call("peek", {"pot": "south"}, id=f"{self._prefix}-b{self._calls}"),
        )


async def main(target: Path) -> None:
    writer = SessionWriter.resume(target) if target.is_file() else SessionWriter.create(target, "/srv/moss")
    print("log", writer.path, flush=True)
    tools = ToolRegistry()
    tools.register(tool("peek", lambda arguments: "damp " * 30))
    adapter = scripted(Talkative(f"n{writer.next_seq}"), model(mode="in-history"))
    options = AgentOptions(selection=Selection(provider=PROVIDER, model="minnow-2"), clock=InstantClock())
    agent = Agent(
        writer, Providers([adapter]), tools, options, prompt=simple_prompt("You keep moss.", cwd=True)
    )
    agent.wake()
    while True:
        agent.followup("How is the moss?")
        agent.steer("And the fern?")
        await agent.when_idle()
        print("durable", writer.next_seq - 1, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
