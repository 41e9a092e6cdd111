"""Stopping at every moment of a turn (loop-and-adapters §1.9, §1.11, §1.12)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Reply, answer, messages_events, refusal, sse
from tests.support.loop_driver import (
    Driver,
    Recorded,
    driving,
    fast_policy,
    instantly,
    loopback,
    scripted,
    simple_prompt,
    tool,
)
from tui.llm.script import Call
from tui.loop.frames import Dropped
from tui.loop.prompt import Section
from tui.session.cancel import CancelSignal
from tui.tools.tool import ToolContext, ToolFailure

ABORTED = {"kind": "aborted", "reason": {"kind": "user"}}


def after_start(driver: Driver) -> list[str]:
    """Types of the events from the last turn's start on."""
    return driver.kinds(driver.events("turn/start")[-1].seq)


async def test_during_a_condition(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def slow(context: object) -> bool:
        reached.set()
        await asyncio.Event().wait()
        return True

    script = Recorded()
    async with driving(tmp_path, scripted(script)) as driver:
        driver.tools.register(tool("scan"), when=slow)
        driver.agent.followup("Scan.")
        await reached.wait()
        driver.agent.cancel()
        await driver.idle()
        assert after_start(driver) == ["turn/start", "agent/inbox/spliced", "turn/end"]
        assert driver.reasons == [ABORTED]
        assert script.sent == []
        (dropped,) = [frame for frame in driver.frames if isinstance(frame, Dropped)]
        assert dropped.messages[0]["content"][0]["text"] == "Scan."


async def test_before_the_driver_has_begun(tmp_path: Path) -> None:
    script = Recorded([instantly("yes")])
    async with driving(tmp_path, scripted(script)) as driver:
        driver.agent.followup("Go.")
        dropped = driver.agent.cancel()
        await driver.idle()
        assert [message["content"][0]["text"] for message in dropped] == ["Go."]
        assert driver.events("turn/start") == []
        assert driver.agent.status == "idle"
        await driver.say("There?")
        assert driver.reasons == [{"kind": "completed"}]


async def test_during_the_assembly_of_the_prompt(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def slow(context: object) -> str:
        reached.set()
        await asyncio.Event().wait()
        return ""

    prompt = simple_prompt()
    prompt.add(Section(name="slow", text=slow))
    async with driving(tmp_path, scripted([]), prompt=prompt) as driver:
        driver.agent.followup("Go.")
        await reached.wait()
        driver.agent.cancel()
        await driver.idle()
        assert after_start(driver) == ["turn/start", "agent/inbox/spliced", "turn/end"]
        assert driver.reasons == [ABORTED]


async def test_during_pre_step(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([])) as driver:

        async def cancelling(proposal: Any, following: Any) -> Any:
            driver.agent.cancel()
            return await following()

        driver.agent.hooks.pre_step.append(cancelling)
        await driver.say("Go.")
        assert after_start(driver) == ["turn/start", "agent/inbox/spliced", "turn/end"]
        assert driver.reasons == [ABORTED]


async def test_before_the_step_with_what_waits_kept(tmp_path: Path) -> None:
    script = Recorded([instantly("one"), instantly("two"), instantly("three")])
    async with driving(tmp_path, scripted(script)) as driver:
        seen: list[int] = []

        async def cancelling(proposal: Any, following: Any) -> Any:
            seen.append(proposal.turn)
            if len(seen) == 1:
                driver.agent.cancel(keep_inbox=True)
            return await following()

        driver.agent.hooks.pre_step.append(cancelling)
        driver.agent.followup("first")
        driver.agent.followup("second")
        driver.agent.inject("by the way")
        await driver.idle()
        assert driver.reasons == [ABORTED]
        assert len(driver.agent.queued()) == 2
        await driver.say("third")
        users = [event.data["content"][0]["text"] for event in driver.events("user/message")]
        assert users == ["by the way", "first", "second", "third"]


def partial(*blocks: dict[str, Any], keep: int) -> Reply:
    """The first events of an answer that then never comes to its end."""
    events = messages_events(*blocks)[:keep]
    return Reply(pieces=[*(sse(event) for event in events), asyncio.Event()])


PARTS: list[tuple[str, Reply, Callable[[list[dict[str, Any]]], bool], list[str] | None]] = [
    (
        "text",
        partial({"thinking": "Long.", "signature": "s"}, {"text": "Once upon a time"}, keep=8),
        lambda chunks: any(chunk["type"] == "text-delta" for chunk in chunks),
        ["reasoning", "text"],
    ),
    (
        "thinking",
        partial({"thinking": "Let me see about it"}, keep=4),
        lambda chunks: any(chunk["type"] == "reasoning-delta" for chunk in chunks),
        ["reasoning"],
    ),
    (
        "arguments after text",
        partial({"text": "Calling"}, {"name": "peek", "input": {"pot": "north bed"}, "id": "c1"}, keep=7),
        lambda chunks: any(chunk["type"] == "tool-call-delta" for chunk in chunks),
        ["text"],
    ),
    (
        "arguments alone",
        partial({"name": "peek", "input": {"pot": "north bed"}, "id": "c1"}, keep=4),
        lambda chunks: any(chunk["type"] == "tool-call-delta" for chunk in chunks),
        None,
    ),
    (
        "blank text",
        partial({"text": " \n "}, keep=3),
        lambda chunks: any(chunk["type"] == "text-delta" for chunk in chunks),
        None,
    ),
]


@pytest.mark.parametrize(
    ("reply", "reached", "kept"), [part[1:] for part in PARTS], ids=[p[0] for p in PARTS]
)
async def test_during_the_stream(
    tmp_path: Path,
    reply: Reply,
    reached: Callable[[list[dict[str, Any]]], bool],
    kept: list[str] | None,
) -> None:
    async with FakeProvider() as provider:
        provider.queue(reply, answer({"text": "Here."}))
        async with driving(tmp_path, loopback(provider), tools=[tool("peek")]) as driver:
            driver.agent.followup("Go.")
            async with asyncio.timeout(20):
                while not reached([frame.chunk for frame in driver.frames if hasattr(frame, "chunk")]):
                    await asyncio.sleep(0)
            driver.agent.cancel()
            await driver.idle()
            last = "assistant/attempt" if kept is None else "assistant/message"
            assert after_start(driver)[-3:] == [last, "step/end", "turn/end"]
            assert driver.reasons == [ABORTED]
            event = driver.events(last)[-1]
            assert event.data["stream"]
            assert not any(record.get("chunk", {}).get("type") == "finish" for record in event.data["stream"])
            if kept is not None:
                message = event.data["message"]
                assert event.data["interrupted"] is True
                assert [block["type"] for block in message["content"]] == kept
                assert set(message["source"]) == {"kind", "provider", "model"}
            await driver.say("Still there?")
            assert driver.reasons[-1] == {"kind": "completed"}
            said = provider.bodies[-1]["messages"]
            roles = ["user", "assistant", "user"] if kept else ["user"]
            assert [message["role"] for message in said] == roles


async def test_before_the_first_byte_of_an_answer(tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[asyncio.Event()]))
        async with driving(tmp_path, loopback(provider)) as driver:
            driver.agent.followup("Go.")
            await provider.until(lambda: bool(provider.requests))
            driver.agent.cancel()
            await driver.idle()
            assert after_start(driver)[-3:] == ["assistant/attempt", "step/end", "turn/end"]
            assert driver.events("assistant/attempt")[0].data == {"turn": 1, "step": 1, "stream": []}
            assert driver.reasons == [ABORTED]


def results(driver: Driver) -> list[tuple[str, str, str | None]]:
    """Call id, text and code of every result."""
    found: list[tuple[str, str, str | None]] = []
    for event in driver.events("tool/result"):
        message = event.data["message"]
        code = event.data.get("error", {}).get("code")
        found.append((message["toolCallId"], message["content"][0]["text"], code))
    return found


async def test_while_a_tool_runs_and_another_waits(tmp_path: Path) -> None:
    reached = asyncio.Event()
    ran: list[str] = []

    async def nap(arguments: Any, context: ToolContext) -> str:
        reached.set()
        await context.signal.wait()
        return "slept"

    calls = [Call("peek", {}, id="c1"), Call("nap", {}, id="c2"), Call("peek", {}, id="c3")]
    sleeper = tool("nap")
    object.__setattr__(sleeper, "execute", nap)
    adapter = scripted([instantly("Three calls.", *calls)])
    async with driving(
        tmp_path, adapter, tools=[sleeper, tool("peek", lambda arguments: ran.append("peek") or "wet")]
    ) as driver:
        driver.agent.followup("Go.")
        await reached.wait()
        driver.agent.cancel()
        await driver.idle()
        assert results(driver) == [
            ("c1", "wet", None),
            ("c2", "Error: tool call aborted", "ABORTED"),
            ("c3", "Error: tool call aborted before dispatch", "ABORTED_BEFORE_DISPATCH"),
        ]
        names = {
            event.data["error"]["name"] for event in driver.events("tool/result") if "error" in event.data
        }
        assert names == {"AbortError"}
        assert ran == ["peek"]
        assert after_start(driver)[-2:] == ["step/end", "turn/end"]
        assert len(driver.events("tool/call")) == 3
        assert driver.reasons == [ABORTED]


async def test_a_tools_own_error_survives_a_cancel(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def nap(arguments: Any, context: ToolContext) -> str:
        reached.set()
        await context.signal.wait()
        raise ToolFailure("woken too early", "WOKEN")

    sleeper = tool("nap")
    object.__setattr__(sleeper, "execute", nap)
    async with driving(tmp_path, scripted([instantly(Call("nap", {}, id="c1"))]), tools=[sleeper]) as driver:
        driver.agent.followup("Go.")
        await reached.wait()
        driver.agent.cancel()
        await driver.idle()
        assert results(driver) == [("c1", "Error: woken too early", "WOKEN")]
        assert driver.reasons == [ABORTED]


async def test_when_the_answer_is_whole_but_no_call_has_started(tmp_path: Path) -> None:
    ran: list[str] = []
    adapter = scripted([instantly("A call.", Call("peek", {}, id="c1"))])
    async with driving(
        tmp_path, adapter, tools=[tool("peek", lambda arguments: ran.append("peek") or "wet")]
    ) as driver:

        def cancelling(event: Any) -> None:
            if event.type == "assistant/message":
                driver.agent.cancel()

        driver.writer.subscribe(cancelling)
        await driver.say("Go.")
        assert results(driver) == [
            ("c1", "Error: tool call aborted before dispatch", "ABORTED_BEFORE_DISPATCH")
        ]
        assert ran == []
        assert driver.reasons == [ABORTED]


async def test_during_the_wait_before_a_retry(tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        provider.queue(refusal(529, "overloaded_error", "busy"))
        adapter = loopback(provider, retry_policy=fast_policy())
        async with driving(tmp_path, adapter) as driver:
            waiting = asyncio.Event()

            async def forever(seconds: float) -> None:
                waiting.set()
                await asyncio.Event().wait()

            driver.clock.sleep = forever  # type: ignore[method-assign]
            driver.agent.followup("Go.")
            await waiting.wait()
            driver.agent.cancel()
            await driver.idle()
            assert after_start(driver)[-4:] == ["assistant/attempt", "llm/retry", "step/end", "turn/end"]
            assert driver.events("llm/retry-started") == []
            assert driver.reasons == [ABORTED]
            assert len(provider.requests) == 1


async def test_when_idle_only_the_queues_are_cleared(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([])) as driver:
        driver.agent.inject("one")
        driver.agent.inject("two")
        before = driver.writer.next_seq
        dropped = driver.agent.cancel()
        assert [message["content"][0]["text"] for message in dropped] == ["one", "two"]
        (event,) = driver.events()[before:]
        assert event.data == {
            "target": "next-step",
            "start": 0,
            "removedCount": 2,
            "inserted": [],
            "outcome": "canceled",
        }
        assert driver.agent.cancel() == []
        assert driver.events("turn/start") == []


async def test_what_waits_is_discarded_before_the_interrupted_answer_is_logged(tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        provider.queue(partial({"text": "Once upon a time there was"}, keep=5))
        async with driving(tmp_path, loopback(provider)) as driver:
            driver.agent.followup("Go.")
            await driver.until(lambda: any(hasattr(frame, "chunk") for frame in driver.frames[2:]))
            driver.agent.followup("Later.")
            driver.agent.steer("Sooner.")
            driver.agent.cancel()
            await driver.idle()
            kinds = [
                (event.type, event.data.get("target"), event.data.get("outcome"))
                for event in driver.events()[-5:]
            ]
            assert kinds == [
                ("agent/inbox/spliced", "next-step", "canceled"),
                ("agent/inbox/spliced", "next-turn", "canceled"),
                ("assistant/message", None, None),
                ("step/end", None, None),
                ("turn/end", None, None),
            ]


async def test_steering_after_a_cancel_becomes_the_next_turn(tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        provider.queue(partial({"text": "Once upon a time"}, keep=4), answer({"text": "Right."}))
        async with driving(tmp_path, loopback(provider)) as driver:
            driver.agent.followup("Go.")
            await provider.until(lambda: bool(provider.requests))
            driver.agent.cancel()
            driver.agent.steer("Rather this.")
            await driver.idle()
            assert [reason["kind"] for reason in driver.reasons] == ["aborted", "completed"]
            (spliced,) = [
                event.data
                for event in driver.events("agent/inbox/spliced")
                if event.data["inserted"]
                and event.data["inserted"][0]["content"][0]["text"] == "Rather this."
            ]
            assert spliced["target"] == "next-turn"


async def test_a_maintenance_job_is_cancelled_too(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([])) as driver:

        async def job(signal: CancelSignal) -> dict[str, Any]:
            return await signal.wait()

        running = asyncio.ensure_future(driver.agent.run_maintenance(job))
        await asyncio.sleep(0)
        driver.agent.cancel({"kind": "parent"})
        assert await running == {"kind": "parent"}
