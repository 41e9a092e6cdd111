"""Tools that come and go while one talks: what every route is sent (loop-and-adapters §1.6, §2.1, §3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Seen, answer, wirecheck
from tests.support.loop_driver import Driver, assert_wire, driving, loopback, model, tool
from tui.llm.route import ToolUpdateMode
from tui.loop.prompt import Prompt, Section
from tui.tools.registry import ToolRegistry

BETA = "mid-conversation-tool-changes-2026-07-01"
MODES: tuple[ToolUpdateMode, ...] = (None, "addition-only", "in-history")

POT = {"pot": {"type": "string", "description": "Which pot."}}
CAN = {"litres": {"type": "number"}}


SCHEMAS: dict[str, dict[str, Any]] = {
    "peek": {"type": "object", "properties": POT},
    "water": {"type": "object", "properties": CAN},
    "vent": {"type": "object", "properties": {}},
}
REDEFINED: dict[str, Any] = {"type": "object", "properties": {**CAN, "slowly": {"type": "boolean"}}}


class Greenhouse:
    """One life of tools, shared by every scenario here: what is there, and what its schema is."""

    def __init__(self) -> None:
        self.tools = ToolRegistry()
        self._there: dict[str, Callable[[], None]] = {}

    def add(self, name: str) -> None:
        self._there[name] = self.tools.register(tool(name, properties=SCHEMAS[name]["properties"]))

    def remove(self, name: str) -> None:
        self._there.pop(name)()

    def redefine(self, name: str) -> None:
        self.remove(name)
        self._there[name] = self.tools.register(tool(name, properties=REDEFINED["properties"]))

    def declared(self, name: str, *, deferred: bool = False, redefined: bool = False) -> dict[str, Any]:
        """What a body has to declare."""
        schema = REDEFINED if redefined else SCHEMAS[name]
        entry = {"name": name, "description": f"The {name} tool.", "input_schema": schema}
        return {**entry, "defer_loading": True} if deferred else entry


def addition(*names: str) -> dict[str, Any]:
    return change("tool_addition", *names)


def removal(*names: str) -> dict[str, Any]:
    return change("tool_removal", *names)


def change(kind: str, *names: str) -> dict[str, Any]:
    blocks = [{"type": kind, "tool": {"type": "tool_reference", "name": name}} for name in names]
    return {"role": "system", "content": blocks}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def prompt_of(text: str) -> Prompt:
    prompt = Prompt()
    prompt.add(Section(name="base", text=text, literal=True))
    return prompt


@pytest.mark.parametrize("mode", MODES)
async def test_a_stable_prompt_keeps_the_first_messages_whatever_tools_come(
    mode: ToolUpdateMode, tmp_path: Path, shared: Path
) -> None:
    house = Greenhouse()
    house.add("peek")
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "one"}), answer({"text": "two"}), answer({"text": "three"}))
        async with driving(
            tmp_path,
            loopback(provider, model(mode=mode)),
            registry=house.tools,
            prompt=prompt_of("Keep moss."),
        ) as driver:
            await driver.say("q1")
            house.add("water")
            await driver.say("q2")
            house.remove("peek")
            await driver.say("q3")
        first, second, third = provider.bodies
    assert_wire(wirecheck(shared), provider.bodies)
    assert first["system"] == second["system"] == third["system"] == "Keep moss."
    assert second["messages"][:1] == first["messages"]
    peek, water = house.declared("peek"), house.declared("water")
    late = house.declared("water", deferred=True)
    assert first["tools"] == [peek]
    update = [] if mode is None else [addition("water")]
    assert second["tools"] == [peek, water if mode is None else late]
    assert second["messages"] == [said("user", "q1"), said("assistant", "one"), said("user", "q2"), *update]
    if mode == "in-history":
        assert third["tools"] == [peek, late]
        assert third["messages"][:4] == second["messages"]
        assert third["messages"][-1] == removal("peek")
    else:
        # With the baseline gone, addition-only would declare nothing but deferred tools: a new series.
        assert third["tools"] == [water]
        assert third["messages"] == [
            said("user", "q1"),
            said("assistant", "one"),
            said("user", "q2"),
            said("assistant", "two"),
            said("user", "q3"),
        ]


@pytest.mark.parametrize("mode", MODES)
async def test_an_appended_prompt_beside_an_addition_leaves_the_first_messages_as_they_were(
    mode: ToolUpdateMode, tmp_path: Path, shared: Path
) -> None:
    house = Greenhouse()
    house.add("peek")
    prompt = prompt_of("Keep moss.")
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "one"}), answer({"text": "two"}))
        async with driving(
            tmp_path, loopback(provider, model(mode=mode)), registry=house.tools, prompt=prompt
        ) as driver:
            await driver.say("q1")
            house.add("water")
            prompt.add(Section(name="base", text="Keep moss, and water it.", literal=True))
            await driver.say("q2")
            reasons = [event.data["reason"] for event in driver.events("request/header")]
            series = [event.data.get("startsSeries") for event in driver.events("request/header")]
        first, second = provider.requests
    assert_wire(wirecheck(shared), provider.bodies)
    head = len(json.dumps(first.body["messages"])) - 1
    assert json.dumps(second.body["messages"])[:head] == json.dumps(first.body["messages"])[:-1]
    assert reasons == ["initial", "change"]
    if mode is None:
        assert second.body["system"] == "Keep moss, and water it."
        assert second.body["tools"] == [house.declared("peek"), house.declared("water")]
        assert series == [None, True]
        assert "anthropic-beta" not in second.headers
    else:
        assert second.body["system"] == first.body["system"] == "Keep moss."
        assert second.body["tools"] == [house.declared("peek"), house.declared("water", deferred=True)]
        assert second.body["messages"][-2:] == [
            said("system", "Keep moss, and water it."),
            addition("water"),
        ]
        assert series == [None, None]
        assert second.headers["anthropic-beta"] == BETA


CHANGES: list[Callable[[Greenhouse], None]] = [
    lambda house: (house.add("peek"), house.add("water"), None)[-1],
    lambda house: house.add("vent"),
    lambda house: house.remove("water"),
    lambda house: house.add("water"),
    lambda house: house.redefine("water"),
    lambda house: house.remove("vent"),
]
ACTIVE = [
    {"peek", "water"},
    {"peek", "water", "vent"},
    {"peek", "vent"},
    {"peek", "water", "vent"},
    {"peek", "water", "vent"},
    {"peek", "water"},
]
# What each request declares (`*` deferred, `'` redefined), the changes in its messages in order.
EXPECTED: dict[str | None, list[tuple[str, list[str]]]] = {
    None: [
        ("peek water", []),
        ("peek vent water", []),
        ("peek vent", []),
        ("peek vent water", []),
        ("peek vent water'", []),
        ("peek water'", []),
    ],
    "addition-only": [
        ("peek water", []),
        ("peek water vent*", ["+vent"]),
        ("peek vent*", ["+vent"]),
        ("peek water vent*", ["+vent"]),
        ("peek vent water'", []),
        ("peek water'", []),
    ],
    "in-history": [
        ("peek water", []),
        ("peek water vent*", ["+vent"]),
        ("peek water vent*", ["+vent", "-water"]),
        ("peek water vent*", ["+vent", "-water", "+water"]),
        ("peek vent water'", []),
        ("peek vent water'", ["-vent"]),
    ],
}


@pytest.mark.parametrize("mode", MODES)
async def test_six_turns_of_tools_that_come_go_come_back_and_change(
    mode: ToolUpdateMode, tmp_path: Path, shared: Path
) -> None:
    house = Greenhouse()
    checker = wirecheck(shared)
    seen: list[Seen] = []

    def serve(request: Seen) -> Any:
        assert checker.check(request.body) == []
        number = len(seen)
        seen.append(request)
        declared, changes = EXPECTED[mode][number]
        assert request.body["tools"] == [
            house.declared(name.rstrip("*'"), deferred=name.endswith("*"), redefined=name.endswith("'"))
            for name in declared.split()
        ]
        assert changes_of(request.body) == changes
        assert request.headers.get("anthropic-beta") == (BETA if changes else None)
        assert usable(request.body) == ACTIVE[number]
        users = [message for message in request.body["messages"] if message["role"] == "user"]
        assert [message["content"][0]["text"] for message in users] == [f"q{n}" for n in range(1, number + 2)]
        return answer({"text": f"a{number + 1}"})

    async with (
        FakeProvider(serve) as provider,
        driving(
            tmp_path,
            loopback(provider, model(mode=mode)),
            registry=house.tools,
            prompt=prompt_of("Keep moss."),
        ) as driver,
    ):
        for number, happens in enumerate(CHANGES, 1):
            happens(house)
            await driver.say(f"q{number}")
        assert [reason["kind"] for reason in driver.reasons] == ["completed"] * 6
        assert recorded_changes(driver) == ["+vent", "-water", "+water", "-vent"]
        reasons = [event.data["reason"] for event in driver.events("request/header")]
        assert reasons == ["initial"] + ["change"] * 5
        assert not any("startsSeries" in event.data for event in driver.events("request/header"))
    assert len(seen) == 6


@pytest.mark.parametrize("mode", MODES)
async def test_an_unchanged_tool_list_leaves_no_record_and_an_untouched_prefix(
    mode: ToolUpdateMode, tmp_path: Path
) -> None:
    house = Greenhouse()
    house.add("peek")
    async with FakeProvider() as provider:
        provider.queue(*(answer({"text": "yes"}) for _ in range(3)))
        async with driving(tmp_path, loopback(provider, model(mode=mode)), registry=house.tools) as driver:
            await driver.say("q1")
            house.remove("peek")
            house.add("peek")  # another registration of the same tool is no change for the model
            await driver.say("q2")
            await driver.say("q3")
            assert len(driver.events("request/header")) == 1
            assert driver.events("developer/message") == []
        for before, after in zip(provider.bodies, provider.bodies[1:], strict=False):
            assert after["messages"][: len(before["messages"])] == before["messages"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_condition_that_follows_the_model_adds_and_removes_its_tool(
    mode: ToolUpdateMode, tmp_path: Path
) -> None:
    house = Greenhouse()
    house.add("peek")
    house.tools.register(
        tool("water", properties=CAN), when=lambda moment: moment.model_selection.model == "minnow-2"
    )
    async with FakeProvider() as provider:
        provider.queue(*(answer({"text": "yes"}) for _ in range(3)))
        adapter = loopback(provider, model(mode=mode), model("gnat-1", mode))
        async with driving(tmp_path, adapter, registry=house.tools) as driver:
            await driver.say("q1")
            driver.select("gnat-1")
            await driver.say("q2")
            driver.select("minnow-2")
            await driver.say("q3")
            names = [
                [entry["name"] for entry in event.data["header"]["tools"]]
                for event in driver.events("request/header")
            ]
            assert names == [["peek", "water"], ["peek"], ["peek", "water"]]
            assert recorded_changes(driver) == ["-water", "+water"]


async def test_a_section_of_the_prompt_follows_the_tools_of_the_step(tmp_path: Path) -> None:
    house = Greenhouse()
    prompt = Prompt()
    prompt.add(Section(name="guide", text=lambda moment: f"Tools: {', '.join(moment.tool_set.names)}."))
    house.add("peek")
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "one"}), answer({"text": "two"}))
        async with driving(
            tmp_path, loopback(provider, model(mode="in-history")), registry=house.tools, prompt=prompt
        ) as driver:
            await driver.say("q1")
            house.add("water")
            await driver.say("q2")
        assert provider.bodies[0]["system"] == "Tools: peek."
        assert provider.bodies[1]["messages"][-2] == said("system", "Tools: peek, water.")


async def test_a_tool_that_appears_in_mid_step_is_not_callable_in_it(tmp_path: Path) -> None:
    house = Greenhouse()
    ran: list[str] = []

    def grow(arguments: Any) -> str:
        house.tools.register(tool("late", lambda _: ran.append("late") or "ran"))
        return "grown"

    house.tools.register(tool("grow", grow))
    calls = [{"name": "grow", "input": {}, "id": "c1"}, {"name": "late", "input": {}, "id": "c2"}]
    async with FakeProvider() as provider:
        provider.queue(
            answer(*calls), answer({"name": "late", "input": {}, "id": "c3"}), answer({"text": "Done."})
        )
        async with driving(
            tmp_path, loopback(provider, model(mode="in-history")), registry=house.tools
        ) as driver:
            await driver.say("Go.")
            codes = [event.data.get("error", {}).get("code") for event in driver.events("tool/result")]
            assert codes == [None, "UNKNOWN_TOOL", None]
            assert ran == ["late"]


async def test_a_removed_tool_that_is_still_declared_is_unknown(tmp_path: Path) -> None:
    house = Greenhouse()
    house.add("peek")
    house.add("water")
    async with FakeProvider() as provider:
        provider.queue(
            answer({"text": "one"}),
            answer({"name": "water", "input": {}, "id": "c1"}),
            answer({"text": "Oh."}),
        )
        async with driving(
            tmp_path, loopback(provider, model(mode="in-history")), registry=house.tools
        ) as driver:
            await driver.say("q1")
            house.remove("water")
            await driver.say("q2")
            assert [entry["name"] for entry in provider.bodies[1]["tools"]] == ["peek", "water"]
            (result,) = driver.events("tool/result")
            assert result.data["error"] == {"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"}


def changes_of(body: dict[str, Any]) -> list[str]:
    signs = {"tool_addition": "+", "tool_removal": "-"}
    return [
        signs[block["type"]] + block["tool"]["name"]
        for message in body["messages"]
        for block in message["content"]
        if block["type"] in signs
    ]


def usable(body: dict[str, Any]) -> set[str]:
    """What a provider lets the model call at the end of a body."""
    names = {entry["name"] for entry in body["tools"] if not entry.get("defer_loading")}
    for entry in changes_of(body):
        if entry[0] == "+":
            names.add(entry[1:])
        else:
            names.discard(entry[1:])
    return names


def recorded_changes(driver: Driver) -> list[str]:
    signs = {"tool-addition": "+", "tool-removal": "-"}
    return [
        signs[block["type"]] + block["toolName"]
        for event in driver.events("developer/message")
        for block in event.data["message"]["content"]
    ]
