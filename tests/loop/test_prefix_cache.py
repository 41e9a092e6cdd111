"""What a tool that is added in mid-session costs: the provider's cache of the input before it (source 000).

The same assertions are made of a server on loopback that models such a cache and, where the environment holds
a key, of the real provider. The history of each case is unique, so that a prompt that is cached for everybody
cannot satisfy them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from tests.support.fake_provider import FakeProvider, Reply, Seen, answer, wirecheck
from tests.support.loop_driver import Driver, assert_wire, driving, loopback, model, simple_prompt, tool
from tui.llm.adapter import Adapter
from tui.llm.credentials import Credential
from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
from tui.llm.retry import RetryPolicy
from tui.llm.route import CATALOGUE, DEFAULT_BASE_URL, ToolUpdateMode
from tui.loop.header import Selection
from tui.loop.prompt import Section

# Taken when the module is read: tests themselves see no key.
KEY = os.environ.get("DEEPSEEK_API_KEY", "")
NO_RETRIES = RetryPolicy(max_retries=0)
BLOCK = 64
"""Tokens in which providers keep their cache."""


class Costs(NamedTuple):
    """Tokens of the request before a tool was added, and of the first one after."""

    before: Mapping[str, int]
    after: Mapping[str, int]


async def added_in_mid_session(
    home: Path, adapter: Adapter, selection: Selection, *, instructions: str | None
) -> tuple[Costs, Driver]:
    """Talk, add a tool (and change the instructions), talk on, take the tool away, talk on."""
    mark = uuid4().hex
    prompt = simple_prompt("You keep a list of lamps. Answer with one short sentence and call no tool.")
    tools = [tool("lamp_dim", description="Dims one lamp.", properties={"lamp": {"type": "string"}})]
    async with driving(home, adapter, selection=selection, prompt=prompt, tools=tools) as driver:
        history = " ".join(f"Lamp {mark}-{number} stands on floor {number % 7}." for number in range(120))
        await driver.say(f"Remember: {history}")
        remove = driver.tools.register(
            tool("lamp_find", description="Finds a lamp.", properties={"floor": {"type": "integer"}})
        )
        if instructions is not None:
            prompt.add(Section(name="base", text=instructions, literal=True))
        await driver.say("On which floor is the first one?")
        first, second = (event.data["usage"] for event in driver.events("assistant/message")[:2])
        remove()
        await driver.say("And the second one?")
        assert [reason["kind"] for reason in driver.reasons] == ["completed"] * 3
        assert driver.events("llm/retry") == []
        return Costs(first, second), driver


def input_tokens(usage: Mapping[str, int]) -> int:
    return sum(usage.get(key, 0) for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens"))


def assert_cached(costs: Costs) -> None:
    """Everything that the request before had sent came from the cache, up to a block of it."""
    before = input_tokens(costs.before)
    assert before > 20 * BLOCK
    assert costs.after.get("cacheReadTokens", 0) >= before - 2 * BLOCK


INSTRUCTIONS = [
    None,
    "You keep a list of lamps. Answer with one short sentence, in capitals, and call no tool.",
]


class CachingServer:
    """Reads a body in the order in which providers cache it, and counts what it has read before."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._known: list[list[str]] = []

    def serve(self, seen: Seen) -> Reply:
        parts = self._parts(seen.body)
        best = max((self._common(parts, known) for known in self._known), default=0)
        self._known.append(parts)
        self.bodies.append(seen.body)
        total = sum(map(self._size, parts))
        read = best // BLOCK * BLOCK
        usage = {"input_tokens": total - read, "cache_read_input_tokens": read}
        return answer({"text": "On the ground floor."}, usage=usage)

    def _common(self, parts: list[str], known: list[str]) -> int:
        size = 0
        for part, other in zip(parts, known, strict=False):
            if part != other:
                break
            size += self._size(part)
        return size

    @staticmethod
    def _parts(body: dict[str, Any]) -> list[str]:
        declared = [entry for entry in body.get("tools", []) if not entry.get("defer_loading")]
        blocks = [[message["role"], block] for message in body["messages"] for block in message["content"]]
        return [json.dumps(part) for part in (*declared, body.get("system", ""), *blocks)]

    @staticmethod
    def _size(part: str) -> int:
        return len(part) // 4 + 1


@pytest.mark.parametrize("instructions", INSTRUCTIONS, ids=["same instructions", "other instructions"])
@pytest.mark.parametrize("mode", ["addition-only", "in-history"])
async def test_an_added_tool_keeps_the_input_before_it_cached(
    mode: ToolUpdateMode, instructions: str | None, tmp_path: Path, shared: Path
) -> None:
    server = CachingServer()
    async with FakeProvider(server.serve) as provider:
        adapter = loopback(provider, model(mode=mode), retry_policy=NO_RETRIES)
        selection = Selection(provider="creek", model="minnow-2")
        costs, _ = await added_in_mid_session(tmp_path, adapter, selection, instructions=instructions)
    assert_cached(costs)
    assert_wire(wirecheck(shared), server.bodies)
    assert not usable(server.bodies[2]) & {"lamp_find"}
    assert "lamp_find" in usable(server.bodies[1])


@pytest.mark.parametrize("instructions", INSTRUCTIONS, ids=["same instructions", "other instructions"])
async def test_without_an_update_mode_the_same_change_costs_the_whole_input(
    instructions: str | None, tmp_path: Path
) -> None:
    """What the assertion above would see if the change broke the prefix."""
    server = CachingServer()
    async with FakeProvider(server.serve) as provider:
        adapter = loopback(provider, model(mode=None), retry_policy=NO_RETRIES)
        selection = Selection(provider="creek", model="minnow-2")
        costs, _ = await added_in_mid_session(tmp_path, adapter, selection, instructions=instructions)
    with pytest.raises(AssertionError):
        assert_cached(costs)


@pytest.mark.skipif(not KEY, reason="DEEPSEEK_API_KEY is not set: the real provider is not asked")
@pytest.mark.parametrize("instructions", INSTRUCTIONS, ids=["same instructions", "other instructions"])
async def test_the_real_provider_keeps_the_input_before_an_added_tool_cached(
    instructions: str | None, tmp_path: Path
) -> None:
    adapter = DeepSeekAdapter(
        DeepSeekConnection(
            provider="deepseek-official",
            base_url=DEFAULT_BASE_URL,
            credential=Credential(env="KEY", environ={"KEY": KEY}),
            models=CATALOGUE,
            retry_policy=NO_RETRIES,
        )
    )
    selection = Selection(
        provider="deepseek-official", model="deepseek-flash", reasoning_effort="off", max_tokens=200
    )
    costs, driver = await added_in_mid_session(tmp_path, adapter, selection, instructions=instructions)
    assert_cached(costs)
    removal = driver.events("developer/message")[-1]
    assert removal.data["message"]["content"] == [{"type": "tool-removal", "toolName": "lamp_find"}]
    called = [event.data["name"] for event in driver.events("tool/call") if event.seq > removal.seq]
    assert "lamp_find" not in called


def usable(body: dict[str, Any]) -> set[str]:
    names = {entry["name"] for entry in body["tools"] if not entry.get("defer_loading")}
    for message in body["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_addition":
                names.add(block["tool"]["name"])
            elif block["type"] == "tool_removal":
                names.discard(block["tool"]["name"])
    return names
