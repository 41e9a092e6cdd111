"""A route that refuses the role of later prompts too: the second rung of loop-and-adapters §8.2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.loop.test_downgrade import LONG, RECORD, busy_with_two_tools, holds_changes
from tests.loop.test_downgrade_in_the_log import told, without_instruction
from tests.support.fake_provider import FakeProvider, Reply, Seen, answer, refusal
from tests.support.loop_driver import Driver, driving, fast_policy, loopback, model, tool
from tui.llm.learned import LASTS_MS, LearnedModes
from tui.loop.prompt import Prompt, Section


def roles(body: Any) -> list[str]:
    return [message["role"] for message in body["messages"]]


class Text:
    """A prompt whose text can be changed between turns."""

    def __init__(self) -> None:
        self.text = "Be brief."
        self.prompt = Prompt()
        self.prompt.add(Section(name="base", text=lambda _: self.text))


async def both_changed(driver: Driver, base: Text) -> None:
    """Say something, change the prompt, add a tool, and say something again."""
    await driver.say("first")
    base.text = "Be kind."
    driver.tools.register(tool("water"))
    await driver.say("second")


def without_role(seen: Seen) -> Reply:
    """A provider that knows no role `system` among messages."""
    if "system" in roles(seen.body):
        return refusal(422, "invalid_request_error", "messages.3.role: unexpected value")
    return answer({"text": "yes"})


async def test_a_route_that_refuses_the_role_gets_one_prompt_in_the_same_step(tmp_path: Path) -> None:
    base, learned = Text(), LearnedModes()
    async with FakeProvider(without_role) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(
            tmp_path, adapter, tools=[tool("peek")], prompt=base.prompt, learned=learned
        ) as driver:
            await driver.say("first")
            base.text = "Be kind."
            driver.tools.register(tool("water"))
            at = driver.writer.next_seq
            await driver.say("second")
            kinds = [kind for kind in driver.kinds(at) if kind.startswith(("assistant", "plugin", "llm"))]
            record = driver.events(RECORD)
            base.text = "Be both."
            await driver.say("third")
            await driver.agent.compact()
            await driver.say("fourth")
            made = await told(driver, adapter)
    assert driver.reasons == [{"kind": "completed"}] * 4
    assert kinds == ["assistant/attempt", "assistant/attempt", "assistant/message", RECORD]
    first, refused, probe, second, *later = provider.bodies
    assert holds_changes(refused)
    assert not holds_changes(probe)
    assert "system" in roles(probe)
    assert (first["system"], second["system"], later[0]["system"]) == ("Be brief.", "Be kind.", "Be both.")
    assert [sorted(entry["name"] for entry in body["tools"]) for body in (probe, second)] == [
        ["peek", "water"]
    ] * 2
    # Nothing was refused from then on, the summary included.
    assert len(later) == 3
    assert not any("system" in roles(body) or holds_changes(body) for body in later)
    assert [event.data.get("systemPromptUpdate") for event in record] == ["none"]
    assert [event.data["from"] for event in record] == ["addition-only"]
    assert [entry.prompts_refused for entry in learned.entries()] == [True]
    # What was sent at every step of the ladder is made again from the log.
    assert made.bodies[:5] == provider.bodies[:5]
    assert made.bodies[-1] == provider.bodies[-1]
    assert made.doubts[:5] == [()] * 5


async def test_a_route_that_was_only_known_to_refuse_tool_changes_learns_the_rest(tmp_path: Path) -> None:
    base = Text()
    async with FakeProvider(without_role) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")], prompt=base.prompt) as driver:
            await driver.say("first")
            driver.tools.register(tool("water"))
            await driver.say("second")
            assert [event.data.get("systemPromptUpdate") for event in driver.events(RECORD)] == [None]
            base.text = "Be kind."
            await driver.say("third")
            made = await told(driver, adapter)
            assert [event.data.get("systemPromptUpdate") for event in driver.events(RECORD)] == [None, "none"]
    assert driver.reasons == [{"kind": "completed"}] * 3
    assert len(provider.requests) == 5
    assert made.bodies == provider.bodies
    assert made.modes == ["addition-only", "addition-only", None, None, None]


async def test_a_route_that_takes_tool_changes_is_not_sent_one_prompt(tmp_path: Path) -> None:
    """Without a refused tool change there is no ladder: a prompt alone is what the configuration says."""
    base = Text()
    async with FakeProvider(without_role) as provider:
        adapter = loopback(provider, model(mode=None))
        async with driving(tmp_path, adapter, tools=[tool("peek")], prompt=base.prompt) as driver:
            await driver.say("first")
            base.text = "Be kind."
            await driver.say("second")
            assert driver.reasons[-1]["kind"] == "error"
    assert len(provider.requests) == 2


@pytest.mark.parametrize("strict", [False, True])
async def test_another_cause_climbs_the_ladder_once_and_teaches_nothing(strict: bool, tmp_path: Path) -> None:
    base, learned, failing = Text(), LearnedModes(), False

    def reply(seen: Seen) -> Reply:
        if failing:
            return refusal(400, "invalid_request_error", f"no to {len(roles(seen.body))} messages")
        return answer({"text": "yes"})

    async with FakeProvider(reply) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(
            tmp_path, adapter, tools=[tool("peek")], prompt=base.prompt, learned=learned, strict=strict
        ) as driver:
            await driver.say("first")
            base.text = "Be kind."
            driver.tools.register(tool("water"))
            failing = True
            await driver.say("second")
            failing = False
            await driver.say("third")
            made = await told(driver, adapter)
            assert driver.events(RECORD) == []
            error = driver.reasons[1]["error"]
            assert error["message"] == f"no to {len(roles(provider.bodies[1]))} messages"
    refused = provider.bodies[1:-1]
    assert ["system" in roles(body) for body in refused] == ([True] if strict else [True, True, False])
    assert learned.entries() == ()
    assert made.bodies == provider.bodies
    doubted = [bool(doubts) for doubts in made.doubts]
    assert doubted == ([False] * 3 if strict else [False, False, True, True, False])


async def test_what_was_learned_of_prompts_holds_elsewhere_until_it_expires(tmp_path: Path) -> None:
    now = 1_800_000_000_000
    path, base = tmp_path / "cache.json", Text()
    async with FakeProvider(without_role) as provider:
        entry = model(mode="addition-only")
        for number in range(2):
            learned = LearnedModes(path, now_ms=lambda: now)
            base.text = "Be brief."
            async with driving(
                tmp_path / str(number),
                loopback(provider, entry),
                tools=[tool("peek")],
                prompt=base.prompt,
                learned=learned,
            ) as driver:
                await driver.say("first")
                base.text = "Be kind."
                driver.tools.register(tool("water"))
                sent = len(provider.requests)
                await driver.say("second")
                assert driver.reasons == [{"kind": "completed"}] * 2
                # The first session pays with two requests, the second one with none.
                assert len(provider.requests) == sent + (1 if number else 3)
        now += LASTS_MS
        assert learned.entries() == ()


async def test_after_a_reset_neither_prompt_nor_record_that_was_refused_is_sent(tmp_path: Path) -> None:
    base = Text()
    async with FakeProvider(without_role) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")], prompt=base.prompt) as driver:
            await both_changed(driver, base)
            driver.agent.learned.reset()
            sent = len(provider.requests)
            await driver.say("third")
            made = await told(driver, adapter)
    assert driver.reasons == [{"kind": "completed"}] * 3
    assert len(provider.requests) == sent + 1
    assert "system" not in roles(provider.bodies[-1])
    assert made.bodies == provider.bodies


async def test_what_another_route_answers_teaches_nothing_of_the_one_that_refused(tmp_path: Path) -> None:
    """A listener may send a retry elsewhere while a try is under way."""
    learned = LearnedModes()
    busy = False

    def reply(seen: Seen) -> Reply:
        if seen.body["model"] == "minnow-3":
            return answer({"text": "from elsewhere"})
        if holds_changes(seen.body):
            return refusal(400, "invalid_request_error", "tool_addition")
        return refusal(529, "overloaded_error", "busy") if busy else answer({"text": "yes"})

    async with FakeProvider(reply) as provider:
        adapter = loopback(
            provider,
            model(mode="addition-only"),
            model("minnow-3", "addition-only"),
            retry_policy=fast_policy(),
        )
        async with driving(tmp_path, adapter, tools=[tool("peek")], learned=learned) as driver:
            await driver.say("first")
            driver.tools.register(tool("water"))
            busy = True

            async def elsewhere(moment: Any, config: Any) -> Any:
                config = await config()
                return type(config).from_json({**config.to_json(), "model": "minnow-3"})

            async def choose(moment: Any, following: Any) -> Any:
                tried = json.dumps([event.type for event in driver.events("assistant/attempt")])
                return await (elsewhere(moment, following) if tried.count("attempt") == 2 else following())

            driver.agent.hooks.request.append(choose)
            await driver.say("second")
            assert driver.reasons[-1] == {"kind": "completed"}
    assert learned.entries() == ()
    assert driver.events(RECORD) == []


async def test_an_overload_on_the_way_changes_no_prompt_in_the_log_before_something_is_learned(
    tmp_path: Path,
) -> None:
    base, others = Text(), busy_with_two_tools()

    def reply(seen: Seen) -> Reply:
        if "system" in roles(seen.body):
            return refusal(400, "invalid_request_error", "unknown role")
        return others(seen)

    async with FakeProvider(reply) as provider:
        adapter = loopback(provider, model(mode="in-history"), retry_policy=fast_policy())
        async with driving(tmp_path, adapter, tools=[tool("peek")], prompt=base.prompt) as driver:
            await both_changed(driver, base)
            prompts = len(driver.events("system/message"))
            headers = len(driver.events("request/header"))
            made = await told(driver, adapter)
            await driver.say("third")
            assert driver.reasons == [{"kind": "completed"}] * 3
            assert len(driver.events(RECORD)) == 1
    # Appended once; gathered only by the step after.
    assert (prompts, headers) == (2, 2)
    assert made.bodies == provider.bodies[:-1]
    assert made.doubts == [()] * 6


async def test_a_summary_right_after_the_finding_is_told_with_one_prompt(tmp_path: Path) -> None:
    """No request since has written how the route takes prompts now."""
    base = Text()

    def reply(seen: Seen) -> Reply:
        if "x-deepseek-harness-compact" in seen.headers:
            return answer({"text": "short"})
        return without_role(seen) if "system" in roles(seen.body) else answer({"text": LONG})

    async with FakeProvider(reply) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")], prompt=base.prompt) as driver:
            await both_changed(driver, base)
            await driver.agent.compact()
            made = await told(driver, adapter)
    made_body, sent = without_instruction(made.bodies[-1]), without_instruction(provider.bodies[-1])
    assert "system" not in roles(sent)
    assert made_body == sent
