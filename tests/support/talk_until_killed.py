"""Processes that talk to the scripted provider with command tools until somebody kills them.

python -m tests.support.talk_until_killed

Each line on stdin, a JSON object (`Order`), has one forked from this process, which has everything loaded. A
process tells on stdout what it does, see `told`; when it is gone, this one says `ended`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.command_shore import Yes, entry
from tests.support.loop_driver import PROVIDER, instantly, model, scripted, simple_prompt
from tui.llm.clock import InstantClock
from tui.llm.providers import Providers
from tui.llm.script import Call, Fail, ScriptedAnswer, Sent, Think
from tui.loop.agent import Agent
from tui.loop.compaction import CompactionFailed
from tui.loop.header import Selection
from tui.loop.state import AgentOptions
from tui.session.durable import Encoding
from tui.session.events import Event
from tui.session.writer import SessionWriter
from tui.tools.approval import ApprovalService
from tui.tools.command_tools import CommandTools
from tui.tools.registry import ToolRegistry


@dataclass(frozen=True)
class Order:
    """What a process is to write: the session of a log, or a new one in a home."""

    target: str
    workspace: str
    encoding: Encoding


def told(*words: object) -> None:
    """Say a line at once and whole: `pid N`, `log PATH`, `event SEQ TYPE`, `durable SEQ`."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Talkative:
    """Thinks, calls every tool it has, is overloaded now and then, and answers."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._calls = 0

    def answer(self, sent: Sent) -> ScriptedAnswer:
        if sent.request.purpose != "loop":
            return instantly("The moss was damp, the fern was not.")
        self._calls += 1
        if self._calls % 7 == 0:
            return instantly("Hm, ", Fail("busy", "SERVER", 529))
        if sent.messages[-1]["role"] == "tool" or not sent.request.tools:
            return instantly(Think("Enough seen."), "The moss is damp. " * 20)
        calls = [
            Call(tool.name, {"far": 3}, id=f"{self._prefix}-{self._calls}-{tool.name}")
            for tool in sent.request.tools
        ]
        return instantly(Think("Look first."), *calls)


def write_tools(file: Path, turn: int) -> None:
    """Declare two commands, and every other time a third one."""
    tools = [entry("weigh", "cat"), entry("count", "wc", "-c")]
    if turn % 2:
        tools.append(entry("smell", "echo", "damp"))
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    draft.replace(file)


def tell_what_is_done(writer: SessionWriter) -> None:
    """Say every event, and after each flush what is acknowledged by it."""
    flush = writer.flush

    async def flush_and_tell() -> None:
        last = writer.next_seq - 1
        await flush()
        told("durable", last)

    def tell(event: Event) -> None:
        told("event", event.seq, event.type)

    writer.flush = flush_and_tell  # type: ignore[method-assign]
    writer.subscribe(tell)


async def talk(order: Order) -> None:
    target, workspace = Path(order.target), Path(order.workspace)
    writer = (
        SessionWriter.resume(target)
        if target.is_file()
        else SessionWriter.create(target, order.workspace, encoding=order.encoding)
    )
    told("log", writer.path)
    tell_what_is_done(writer)
    registry = ToolRegistry(approval=ApprovalService("ask", Yes(), writer.append))
    tools = CommandTools(registry, workspace / "tools.json", workspace)
    adapter = scripted(Talkative(f"n{writer.next_seq}"), model(mode="in-history"))
    options = AgentOptions(selection=Selection(provider=PROVIDER, model="minnow-2"), clock=InstantClock())
    prompt = simple_prompt("You keep moss.", cwd=True)
    agent = Agent(writer, Providers([adapter]), registry, options, prompt=prompt)
    agent.wake()
    turn = 0
    while True:
        turn += 1
        write_tools(tools.path, turn)
        agent.followup("How is the moss?")
        agent.steer("And the fern?")
        await agent.when_idle()
        if turn % 4 == 0:
            try:
                await agent.compact()
            except CompactionFailed as failure:
                told("kept", failure.kind)


def main() -> None:
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        child = os.fork()
        if child == 0:
            told("pid", os.getpid())
            asyncio.run(talk(Order(**order)))
        os.waitpid(child, 0)
        told("ended")


if __name__ == "__main__":
    main()
