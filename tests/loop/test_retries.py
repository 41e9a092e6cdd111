"""Failed requests and what follows them (loop-and-adapters §1.10; bug case B14)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Reply, answer, messages_events, refusal, sse, wirecheck
from tests.support.loop_driver import (
    Recorded,
    assert_wire,
    driving,
    fast_policy,
    instantly,
    loopback,
    model,
    scripted,
    simple_prompt,
    tool,
)
from tui.llm.script import Call, Fail, Say
from tui.loop.prompt import Section

RETRIED = '["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"]'
BUSY = Fail("The service is overloaded.", "SERVER", 529, request_id="req-3")


async def test_a_retry_leaves_its_attempt_its_wait_and_its_start(tmp_path: Path) -> None:
    adapter = scripted([instantly(BUSY), instantly(BUSY), instantly("Here.")], retry_policy=fast_policy())
    async with driving(tmp_path, adapter) as driver:
        await driver.say("There?")
        kinds = driver.kinds()
        assert kinds[kinds.index("assistant/attempt") :] == [
            "assistant/attempt",
            "llm/retry",
            "llm/retry-started",
            "assistant/attempt",
            "llm/retry",
            "llm/retry-started",
            "assistant/message",
            "step/end",
            "turn/end",
        ]
        first, second = (event.data for event in driver.events("llm/retry"))
        failure = {"message": "The service is overloaded.", "code": "SERVER", "status": 529}
        assert first == {
            "retryId": first["retryId"],
            "turn": 1,
            "step": 1,
            "provider": "creek",
            "mode": "normal",
            "policyKey": f'["normal",3,{RETRIED},120,3000,0.1]',
            "retry": 1,
            "maxRetries": 3,
            "delayMs": 120,
            "failure": {**failure, "requestId": "req-3"},
        }
        assert second["retryId"] == first["retryId"]
        assert (second["retry"], second["delayMs"]) == (2, 240)
        assert [event.data for event in driver.events("llm/retry-started")] == [
            {"retryId": first["retryId"], "turn": 1, "step": 1, "retry": number} for number in (1, 2)
        ]
        assert driver.clock.waits == [0.12, 0.24]
        assert driver.reasons == [{"kind": "completed"}]


async def test_a_step_of_its_own_begins_a_chain_of_its_own(tmp_path: Path) -> None:
    adapter = scripted(
        [instantly(BUSY), instantly(Call("peek", {}, id="c1")), instantly(BUSY), instantly("Wet.")],
        retry_policy=fast_policy(),
    )
    async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
        await driver.say("Wet?")
        retries = [event.data for event in driver.events("llm/retry")]
        assert [(data["step"], data["retry"]) for data in retries] == [(1, 1), (2, 1)]
        assert retries[0]["retryId"] != retries[1]["retryId"]


async def test_when_the_retries_are_used_up_the_turn_fails_and_the_session_goes_on(tmp_path: Path) -> None:
    adapter = scripted([instantly(BUSY)] * 4 + [instantly("Back.")], retry_policy=fast_policy())
    async with driving(tmp_path, adapter) as driver:
        await driver.say("There?")
        assert len(driver.events("assistant/attempt")) == 4
        assert len(driver.events("llm/retry")) == 3
        assert driver.reasons[0]["error"]["status"] == 529
        await driver.say("Now?")
        assert driver.reasons[1] == {"kind": "completed"}


@pytest.mark.parametrize("code", ["AUTH", "QUOTA", "INVALID_REQUEST", "STREAM_CLOSED", "MALFORMED_RESPONSE"])
async def test_what_waiting_does_not_mend_is_not_tried_again(tmp_path: Path, code: str) -> None:
    script = Recorded([instantly(Fail("no", code))])
    async with driving(tmp_path, scripted(script)) as driver:
        await driver.say("There?")
        assert len(script.sent) == 1
        assert driver.events("llm/retry") == []
        assert driver.reasons == [{"kind": "error", "error": {"message": "no", "code": code}}]


async def test_a_mode_that_never_gives_up_tells_no_limit(tmp_path: Path) -> None:
    adapter = scripted(
        [instantly(BUSY)] * 7 + [instantly("Here.")], retry_policy=fast_policy(mode="always", max_ms=500)
    )
    async with driving(tmp_path, adapter) as driver:
        await driver.say("There?")
        retries = [event.data for event in driver.events("llm/retry")]
        assert [data["delayMs"] for data in retries] == [120, 240, 480, 500, 500, 500, 500]
        assert not any("maxRetries" in data for data in retries)


async def test_a_retry_repeats_neither_messages_nor_header_and_keeps_the_tools_of_the_step(
    tmp_path: Path,
) -> None:
    script = Recorded([instantly(BUSY), instantly("Here."), instantly("There.")])
    async with driving(
        tmp_path,
        scripted(script, model(mode="in-history"), retry_policy=fast_policy()),
        tools=[tool("alpha")],
    ) as driver:

        def register(event: Any) -> None:
            if event.type == "llm/retry":
                driver.tools.register(tool("beta"))

        driver.writer.subscribe(register)
        await driver.say("There?")
        assert len(driver.events("request/header")) == 1
        assert len(driver.events("user/message")) == 1
        first, second = script.sent
        assert first.messages == second.messages
        assert first.tools == second.tools
        await driver.say("And now?")
        assert script.sent[2].changes == [("+", "beta")]


async def test_a_retry_tells_a_context_that_changed_meanwhile(tmp_path: Path) -> None:
    weather = ["north"]
    prompt = simple_prompt()
    prompt.add_context(Section(name="wind", text=lambda context: f"Wind: {weather[0]}."))
    script = Recorded([instantly(BUSY), instantly(BUSY), instantly("Here.")])
    adapter = scripted(script, retry_policy=fast_policy())
    async with driving(tmp_path, adapter, prompt=prompt) as driver:

        def turn(event: Any) -> None:
            if event.type == "llm/retry" and event.data["retry"] == 1:
                weather[0] = "west"

        driver.writer.subscribe(turn)
        await driver.say("There?")
        told = [event.data["source"]["sections"][0]["text"] for event in driver.events("user/message")[1:]]
        assert told == ["Wind: north.", "Wind: west."]
        assert [len(sent.messages) for sent in script.sent] == [2, 3, 3]


async def test_a_listener_may_have_another_model_asked(tmp_path: Path) -> None:
    script = Recorded([instantly(Fail("no such thing", "INVALID_REQUEST")), instantly("Here.")])
    async with driving(tmp_path, scripted(script, model(), model("gnat-1"))) as driver:

        async def switch(moment: Any, following: Any) -> Any:
            config = await following()
            if driver.events("assistant/attempt"):
                return type(config)(provider="creek", model="gnat-1")
            return config

        async def again(failed: Any, following: Any) -> Any:
            return "retry"

        driver.agent.hooks.request.append(switch)
        driver.agent.hooks.request_error.append(again)
        await driver.say("There?")
        assert [sent.request.config.model for sent in script.sent] == ["minnow-2", "gnat-1"]
        headers = [event.data for event in driver.events("request/header")]
        assert [data["reason"] for data in headers] == ["initial", "change"]


async def test_overloads_of_three_kinds_are_waited_out_on_the_wire(tmp_path: Path, shared: Path) -> None:
    """429 with its own wait, 529, an overload as the first thing in a stream, and one after some text."""
    late = messages_events({"text": "The north bed is"})[:4]
    overload = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    async with FakeProvider() as provider:
        provider.queue(
            refusal(429, "rate_limit_error", "slow down", retry_after="2"),
            refusal(529, "overloaded_error", "busy"),
            Reply(pieces=[sse(overload)]),
            Reply(pieces=[sse(*late, overload)]),
            answer({"text": "The north bed is damp."}),
            answer({"text": "Yes."}),
        )
        adapter = loopback(provider, retry_policy=fast_policy(max_retries=5))
        async with driving(tmp_path, adapter) as driver:
            await driver.say("Wet?")
            waits = [event.data["delayMs"] for event in driver.events("llm/retry")]
            assert waits == [2000, 240, 480, 960]
            assert len(driver.events("assistant/attempt")) == 4
            assert driver.reasons == [{"kind": "completed"}]
            await driver.say("Sure?")
        assert_wire(wirecheck(shared), provider.bodies)
        said = [block["text"] for message in provider.bodies[-1]["messages"] for block in message["content"]]
        assert said == ["Wet?", "The north bed is damp.", "Sure?"]
        assert provider.bodies[0] == provider.bodies[4]


async def test_what_was_shown_of_a_failed_attempt_stays_in_its_record_alone(tmp_path: Path) -> None:
    script = Recorded([instantly(Say("Half of it"), BUSY), instantly("All of it.")])
    async with driving(tmp_path, scripted(script, retry_policy=fast_policy())) as driver:
        await driver.say("Tell me.")
        (attempt,) = driver.events("assistant/attempt")
        assert "".join(attempt.data["stream"][1]["texts"]) == "Half of it"
        assert [message["role"] for message in script.sent[1].messages] == ["user"]
