"""Where a fall-back ends or does not begin: answers that break off, other retries, other routes (§8.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.loop.test_downgrade import LONG, RECORD, grown, holds_changes, names, plainly, refusing
from tests.support.fake_provider import FakeProvider, Reply, Seen, answer, refusal
from tests.support.loop_driver import driving, fast_policy, instantly, loopback, model, scripted, tool
from tui.llm.learned import LearnedModes
from tui.llm.script import Fail


async def test_an_answer_that_broke_off_was_an_answer_and_teaches(tmp_path: Path) -> None:
    learned = LearnedModes()

    def others(seen: Seen) -> Reply:
        if names(seen.body) != ["peek", "water"]:
            return answer({"text": "yes"})
        whole = answer({"text": LONG})
        return Reply(pieces=whole.pieces[:4], reset=True)

    async with refusing(plainly, others) as provider:
        adapter = loopback(provider, model(mode="addition-only"), retry_policy=fast_policy(max_retries=0))
        async with driving(tmp_path, adapter, tools=[tool("peek")], learned=learned) as driver:
            await grown(driver)
            assert driver.reasons[-1]["kind"] == "error"
            assert driver.reasons[-1]["error"].get("status") is None
            assert len(driver.events(RECORD)) == 1
    assert len(learned.entries()) == 1


async def test_a_failure_after_content_is_no_refusal(tmp_path: Path) -> None:
    broken = instantly("half of it ", Fail("tool_addition", "INVALID_REQUEST", status=400))
    adapter = scripted([instantly("yes"), broken, instantly("never")], model(mode="in-history"))
    async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
        await grown(driver)
        assert driver.reasons[-1]["kind"] == "error"
        assert len(driver.events("assistant/attempt")) == 1
        assert driver.events(RECORD) == []


async def test_a_retry_after_both_forms_were_refused_begins_with_the_whole_request(tmp_path: Path) -> None:
    """A listener may ask for one more request: it is one of its own, with a try of its own."""
    left = 2

    def reply(seen: Seen) -> Reply:
        nonlocal left
        if len(names(seen.body)) == 2 and left:
            left -= 1
            return refusal(400, "invalid_request_error", f"no, {left} left")
        return answer({"text": "yes"})

    async def again(failed: Any, following: Any) -> Any:
        told.append(failed.failure.message)
        return "retry"

    learned, told = LearnedModes(), list[str]()
    async with FakeProvider(reply) as provider:
        adapter = loopback(provider, model(mode="in-history"))
        async with driving(tmp_path, adapter, tools=[tool("peek")], learned=learned) as driver:
            driver.agent.hooks.request_error.append(again)
            await grown(driver)
    assert driver.reasons[-1] == {"kind": "completed"}
    assert told == ["no, 1 left"]
    assert [holds_changes(body) for body in provider.bodies] == [False, True, False, True]
    assert learned.entries() == ()


async def test_what_is_known_of_a_route_is_recorded_only_where_it_matters(tmp_path: Path) -> None:
    learned = LearnedModes()
    async with refusing(plainly) as provider:
        for number, changes in enumerate((True, False)):
            adapter = loopback(provider, model(mode="addition-only"))
            async with driving(
                tmp_path / str(number), adapter, tools=[tool("peek")], learned=learned
            ) as driver:
                await driver.say("first")
                if changes:
                    driver.tools.register(tool("water"))
                await driver.say("second")
                assert len(driver.events(RECORD)) == (1 if changes else 0)


async def test_a_second_endpoint_that_is_known_to_refuse_is_told_as_its_own(tmp_path: Path) -> None:
    learned, path, told = LearnedModes(), None, []
    async with refusing(plainly) as one, refusing(plainly) as two:
        for number, server in enumerate((two, one, two)):
            adapter = loopback(server, model(mode="addition-only"))
            folder = tmp_path / ("other" if number == 0 else "own")
            tools = [tool("peek")] if path is None else [tool("peek"), tool("water")]
            async with driving(folder, adapter, tools=tools, learned=learned, resume=path) as driver:
                await driver.say("first")
                driver.tools.register(tool(f"water{number}" if path else "water"))
                await driver.say("second")
                told = [(event.data["reason"], event.data["endpoint"]) for event in driver.events(RECORD)]
                path = driver.writer.path if number else None
        assert told == [("refused", f"{one.url}/v1"), ("known", f"{two.url}/v1")]
