"""A route that refuses tool changes costs one request, once (loop-and-adapters §8.3, bug B01)."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Reply, Seen, answer, refusal, wirecheck
from tests.support.loop_driver import (
    PROVIDER,
    Driver,
    assert_wire,
    driving,
    fast_policy,
    loopback,
    model,
    simple_prompt,
    tool,
)
from tests.support.session_logs import log_lines
from tui.llm.learned import LASTS_MS, LearnedModes
from tui.loop.header import Selection
from tui.tools.tool import Tool

RECORD = "plugin:dsh-tui/tool-update-downgrade"
CHANGES = ("tool_addition", "tool_removal", "defer_loading")
LONG = "and so on " * 40


def holds_changes(body: Any) -> bool:
    """Whether a body holds a change block or a deferred declaration."""
    text = json.dumps(body)
    return any(f'"{word}"' in text for word in CHANGES)


def refusing(refused: Callable[[], Reply], others: Callable[[Seen], Reply] | None = None) -> FakeProvider:
    """A provider that refuses every body with tool changes."""

    def reply(seen: Seen) -> Reply:
        if holds_changes(seen.body):
            return refused()
        return others(seen) if others else answer({"text": f"answer {LONG[:20]}"})

    return FakeProvider(reply)


def plainly() -> Reply:
    return refusal(
        400,
        "invalid_request_error",
        "messages.3.content.0: tool_addition: unexpected block type",
        request_id="req-7",
    )


def names(body: Any) -> list[str]:
    return [entry["name"] for entry in body.get("tools", [])]


def busy_with_two_tools(times: int = 2) -> Callable[[Seen], Reply]:
    """A provider that is overloaded for the first requests with two tools."""

    def reply(seen: Seen) -> Reply:
        nonlocal times
        if names(seen.body) == ["peek", "water"] and times:
            times -= 1
            return refusal(529, "overloaded_error", "busy")
        return answer({"text": "yes"})

    return reply


async def grown(driver: Driver, *prompts: str) -> None:
    """Say something, add a tool, and say the rest."""
    await driver.say("first")
    driver.tools.register(tool("water"))
    for prompt in prompts or ("second",):
        await driver.say(prompt)


async def test_a_refusal_costs_one_request_in_the_same_turn_and_none_later(
    tmp_path: Path, shared: Path
) -> None:
    async with refusing(plainly) as provider:
        url = provider.url
        async with driving(
            tmp_path, loopback(provider, model(mode="addition-only")), tools=[tool("peek")]
        ) as driver:
            await driver.say("first")
            driver.tools.register(tool("water"))
            at = driver.writer.next_seq
            await driver.say("second")
            kinds = [kind for kind in driver.kinds(at) if not kind.startswith("agent/inbox")]
            await driver.say("third")
            driver.tools.register(tool("zest"))
            await driver.say("fourth")
            record = driver.events(RECORD)
    assert driver.reasons == [{"kind": "completed"}] * 4
    assert [holds_changes(body) for body in provider.bodies] == [False, True, False, False, False]
    assert [names(body) for body in provider.bodies[2:]] == [["peek", "water"]] * 2 + [
        ["peek", "water", "zest"]
    ]
    assert all("anthropic-beta" not in seen.headers for seen in provider.requests[2:])
    assert kinds == [
        "turn/start",
        "step/start",
        "user/message",
        "request/header",
        "developer/message",
        "assistant/attempt",
        "assistant/message",
        RECORD,
        "step/end",
        "turn/end",
    ]
    assert len(record) == 1
    assert record[0].ignorable
    assert record[0].data == {
        "provider": PROVIDER,
        "model": "minnow-2",
        "endpoint": f"{url}/v1",
        "from": "addition-only",
        "to": "none",
        "reason": "refused",
        "learnedAt": record[0].data["learnedAt"],
        "status": 400,
        "code": "INVALID_REQUEST",
        "requestId": "req-7",
        "strong": True,
    }
    # Changes are still recorded, whatever the route takes.
    assert len(driver.events("developer/message")) == 2
    assert_wire(wirecheck(shared), provider.bodies)


async def test_a_new_process_on_the_same_log_is_not_refused_again(tmp_path: Path) -> None:
    async with refusing(plainly) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await grown(driver)
            path = driver.writer.path
        sent = len(provider.requests)
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek"), tool("water")], resume=path) as driver:
            await driver.say("third")
            assert driver.reasons[-1] == {"kind": "completed"}
            assert len(driver.events(RECORD)) == 1
    assert len(provider.requests) == sent + 1
    assert not holds_changes(provider.bodies[-1])


async def test_a_compaction_by_hand_succeeds(tmp_path: Path) -> None:
    def others(seen: Seen) -> Reply:
        return answer({"text": "short" if "x-deepseek-harness-compact" in seen.headers else LONG})

    async with (
        refusing(plainly, others) as provider,
        driving(tmp_path, loopback(provider, model(mode="addition-only")), tools=[tool("peek")]) as driver,
    ):
        await grown(driver, "second", "third")
        sent = len(provider.requests)
        await driver.agent.compact()
    assert len(provider.requests) == sent + 1


async def test_a_compaction_that_is_the_first_to_be_refused_heals_itself(tmp_path: Path) -> None:
    accepting = True

    def reply(seen: Seen) -> Reply:
        if holds_changes(seen.body) and not accepting:
            return plainly()
        return answer({"text": "short" if "x-deepseek-harness-compact" in seen.headers else LONG})

    async with (
        FakeProvider(reply) as provider,
        driving(tmp_path, loopback(provider, model(mode="addition-only")), tools=[tool("peek")]) as driver,
    ):
        await grown(driver, "second", "third")
        accepting = False
        # A summary of the whole history holds the change; a retained tail without it is sent plainly.
        driver.agent.hooks.warning.append(lambda code, facts: pytest.fail(f"{code}: {facts}"))
        await driver.agent.compact()
        await driver.say("fourth")
        assert driver.reasons[-1] == {"kind": "completed"}
    assert not holds_changes(provider.bodies[-1])


@pytest.mark.parametrize(
    ("status", "message"),
    [(400, "messages.1.content.0: bad image"), (422, "temperature is too high"), (400, "no")],
)
async def test_another_cause_costs_one_probe_and_nothing_is_learned(
    status: int, message: str, tmp_path: Path
) -> None:
    learned = LearnedModes()
    failing = False

    def reply(seen: Seen) -> Reply:
        if failing:
            return refusal(status, "invalid_request_error", message if holds_changes(seen.body) else "other")
        return answer({"text": "yes"})

    async with (
        FakeProvider(reply) as provider,
        driving(
            tmp_path, loopback(provider, model(mode="in-history")), tools=[tool("peek")], learned=learned
        ) as driver,
    ):
        await driver.say("first")
        driver.tools.register(tool("water"))
        failing = True
        await driver.say("second")
        assert driver.reasons[-1]["error"]["message"] == message
        assert driver.reasons[-1]["error"]["status"] == status
        assert len(driver.events("assistant/attempt")) == 2
        assert driver.events(RECORD, "llm/retry") == []
    assert [holds_changes(body) for body in provider.bodies] == [False, True, False]
    assert learned.entries() == ()


@pytest.mark.parametrize(
    ("status", "kind", "message", "code"),
    [
        (401, "authentication_error", "invalid x-api-key", "AUTH"),
        (402, "invalid_request_error", "Insufficient Balance", "QUOTA"),
        (429, "rate_limit_error", "slow down", "RATE_LIMIT"),
        (413, "invalid_request_error", "prompt is too long: 9 tokens", "CONTEXT_WINDOW_EXCEEDED"),
        (529, "overloaded_error", "tool_addition overloaded", "SERVER"),
    ],
)
async def test_look_alikes_are_not_probed(
    status: int, kind: str, message: str, code: str, tmp_path: Path
) -> None:
    failing = False

    def reply(seen: Seen) -> Reply:
        return refusal(status, kind, message) if failing else answer({"text": "yes"})

    async with FakeProvider(reply) as provider:
        adapter = loopback(provider, model(mode="in-history"), retry_policy=fast_policy(max_retries=0))
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await driver.say("first")
            driver.tools.register(tool("water"))
            failing = True
            await driver.say("second")
            assert driver.reasons[-1]["error"]["code"] == code
    asked = [seen.body for seen in provider.requests if "x-deepseek-harness-compact" not in seen.headers]
    assert [holds_changes(body) for body in asked[1:]] == [True]
    assert driver.events(RECORD) == []


def poisoned(shared: Path, home: Path) -> Path:
    """The session that dsh left stuck, copied into a store."""
    (log,) = (shared / "bugs" / "cases" / "B01-addition-rejected" / "home").rglob("session.v4.jsonl")
    folder = home / "sessions" / log.parent.parent.name / log.parent.name
    shutil.copytree(log.parent, folder)
    return folder / log.name


def rows_of(path: Path, kind: str) -> list[Any]:
    return [row["data"] for row in log_lines(path) if row["type"] == kind]


def recorded_tools(path: Path) -> list[Tool]:
    """The tools of the latest header of a log, so that no definition changes."""
    return [
        replace(tool(entry["name"], description=entry["description"]), parameters=entry["parameters"])
        for entry in rows_of(path, "request/header")[-1]["header"]["tools"]
    ]


def recorded_prompt(path: Path) -> str:
    return rows_of(path, "system/message")[-1]["message"]["content"][0]["text"]


SHAPES = sorted(["400", "400-plain", "400-role", "422"])


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_session_that_dsh_left_stuck_goes_on_at_its_first_turn(
    shape: str, tmp_path: Path, shared: Path
) -> None:
    path = poisoned(shared, tmp_path)
    before = path.read_bytes()
    told = json.loads((shared / "bugs/cases/B01-addition-rejected/errors" / f"{shape}.json").read_text())
    body = told["body"] if isinstance(told["body"], str) else json.dumps(told["body"])

    def refused() -> Reply:
        return Reply(told["status"], [body.encode()], {"content-type": told["content_type"]})

    async with refusing(refused) as provider:
        adapter = loopback(provider, model("deepseek-flash", "addition-only"), provider="deepseek-official")
        async with driving(
            tmp_path,
            adapter,
            tools=recorded_tools(path),
            resume=path,
            prompt=simple_prompt(recorded_prompt(path)),
            selection=Selection(provider="deepseek-official", model="deepseek-flash"),
        ) as driver:
            await driver.say("Are you there?")
            await driver.say("And now?")
            assert driver.reasons[-2:] == [{"kind": "completed"}] * 2
            assert len(driver.events(RECORD)) == 1
    assert path.read_bytes().startswith(before)
    assert [holds_changes(body) for body in provider.bodies] == [True, False, False]
    assert sorted(names(provider.bodies[1])) == [
        f"mcp__kiln__{name}" for name in ("cool", "fire", "read_dial")
    ]
    assert_wire(wirecheck(shared), provider.bodies)


@pytest.mark.parametrize("shape", SHAPES)
async def test_every_shape_of_the_refusal_falls_back_in_the_same_turn(
    shape: str, tmp_path: Path, shared: Path
) -> None:
    told = json.loads((shared / "bugs/cases/B01-addition-rejected/errors" / f"{shape}.json").read_text())
    body = told["body"] if isinstance(told["body"], str) else json.dumps(told["body"])

    def refused() -> Reply:
        return Reply(told["status"], [body.encode()], {"content-type": told["content_type"]})

    async with (
        refusing(refused) as provider,
        driving(tmp_path, loopback(provider, model(mode="addition-only")), tools=[tool("fire")]) as driver,
    ):
        await grown(driver, "second", "third")
        assert driver.reasons == [{"kind": "completed"}] * 3
        assert len(driver.events(RECORD)) == 1
    assert sum(map(holds_changes, provider.bodies)) == 1
    assert len(provider.requests) == 4


async def test_the_log_before_the_failing_step_stays_byte_for_byte(tmp_path: Path) -> None:
    async with (
        refusing(plainly) as provider,
        driving(tmp_path, loopback(provider, model(mode="addition-only")), tools=[tool("peek")]) as driver,
    ):
        await driver.say("first")
        await driver.writer.flush()
        before = driver.writer.path.read_bytes()
        driver.tools.register(tool("water"))
        await driver.say("second")
        await driver.writer.flush()
        assert driver.writer.path.read_bytes().startswith(before)


async def test_another_route_still_gets_the_blocks(tmp_path: Path) -> None:
    learned = LearnedModes()
    async with refusing(plainly) as poor, FakeProvider(lambda seen: answer({"text": "yes"})) as rich:
        # The same provider and model behind two addresses are two routes.
        for number, (server, wanted) in enumerate(((poor, False), (rich, True), (poor, False))):
            adapter = loopback(server, model(mode="addition-only"))
            async with driving(
                tmp_path / str(number), adapter, tools=[tool("peek")], learned=learned
            ) as driver:
                await grown(driver)
                assert driver.reasons == [{"kind": "completed"}] * 2
            assert holds_changes(server.bodies[-1]) is wanted
        assert sum(map(holds_changes, poor.bodies)) == 1
        assert [entry.endpoint for entry in learned.entries()] == [f"{poor.url}/v1"]
        # The session that never was refused says once why it is sent full definitions.
        assert [event.data["reason"] for event in driver.events(RECORD)] == ["known"]


async def test_cancelling_the_probe_learns_nothing(tmp_path: Path) -> None:
    learned, gate = LearnedModes(), asyncio.Event()
    waits = False

    def others(seen: Seen) -> Reply:
        return Reply(hold=gate) if waits else answer({"text": "yes"})

    async with (
        refusing(plainly, others) as provider,
        driving(
            tmp_path, loopback(provider, model(mode="addition-only")), tools=[tool("peek")], learned=learned
        ) as driver,
    ):
        await driver.say("first")
        driver.tools.register(tool("water"))
        waits = True
        driver.agent.followup("second")
        await provider.until(lambda: len(provider.requests) == 3)
        driver.agent.cancel()
        await driver.idle()
        gate.set()
        assert driver.reasons[-1]["kind"] == "aborted"
        assert driver.events(RECORD) == []
    assert learned.entries() == ()


async def test_a_removal_alone_heals_on_a_route_that_declares_removals(tmp_path: Path, shared: Path) -> None:
    async with (
        refusing(lambda: refusal(400, "invalid_request_error", "tool_removal is not supported")) as provider,
        driving(tmp_path, loopback(provider, model(mode="in-history")), tools=[tool("peek")]) as driver,
    ):
        remove = driver.tools.register(tool("water"))
        await driver.say("first")
        remove()
        await driver.say("second")
        await driver.say("third")
        assert driver.reasons == [{"kind": "completed"}] * 3
    assert [holds_changes(body) for body in provider.bodies] == [False, True, False, False]
    assert names(provider.bodies[-1]) == ["peek"]
    assert_wire(wirecheck(shared), provider.bodies)


async def test_a_probe_that_meets_an_overload_is_retried_plainly_and_then_learned(tmp_path: Path) -> None:
    async with refusing(plainly, busy_with_two_tools()) as provider:
        adapter = loopback(provider, model(mode="addition-only"), retry_policy=fast_policy())
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await grown(driver)
            assert driver.reasons == [{"kind": "completed"}] * 2
            assert len(driver.events("llm/retry")) == 2
            assert len(driver.events(RECORD)) == 1
    assert [holds_changes(body) for body in provider.bodies] == [False, True, False, False, False]


async def test_after_a_reset_a_series_starts_and_the_refused_record_is_never_sent(tmp_path: Path) -> None:
    learned = LearnedModes()
    async with refusing(plainly) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")], learned=learned) as driver:
            await grown(driver)
            assert learned.reset() == 1
            await driver.say("third")
            header = driver.events("request/header")[-1].data
            assert header["reason"] == "series"
            assert [event.data["to"] for event in driver.events(RECORD)] == ["none", "addition-only"]
            assert driver.events(RECORD)[-1].data["reason"] == "reset"
            sent = len(provider.requests)
            # The next change is tried again, and refused again: one more request.
            driver.tools.register(tool("zest"))
            await driver.say("fourth")
            assert driver.reasons == [{"kind": "completed"}] * 4
    assert [holds_changes(body) for body in provider.bodies] == [False, True, False, False, True, False]
    assert len(provider.requests) == sent + 2
    assert '"water"' not in json.dumps(provider.bodies[4]["messages"])


async def test_an_entry_expires_after_a_week_and_a_series_starts(tmp_path: Path) -> None:
    now = 1_800_000_000_000
    learned = LearnedModes(now_ms=lambda: now)
    async with refusing(plainly) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")], learned=learned) as driver:
            await grown(driver)
            now += LASTS_MS - 1
            await driver.say("third")
            assert len(driver.events(RECORD)) == 1
            now += 1
            await driver.say("fourth")
            assert driver.events(RECORD)[-1].data["reason"] == "expired"
            assert driver.events("request/header")[-1].data["reason"] == "series"
    assert sum(map(holds_changes, provider.bodies)) == 1


async def test_another_declared_mode_lifts_what_was_learned(tmp_path: Path) -> None:
    async with refusing(plainly) as provider:
        adapter = loopback(provider, model(mode="in-history"))
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await grown(driver)
            path = driver.writer.path
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek"), tool("water")], resume=path) as driver:
            await driver.say("third")
            assert driver.events(RECORD)[-1].data["reason"] == "changed"
            header = driver.events("request/header")[-1].data
            assert (header["reason"], header.get("startsSeries")) == ("resume", True)
    assert sum(map(holds_changes, provider.bodies)) == 1


async def test_strictly_nothing_is_probed_or_limited(tmp_path: Path) -> None:
    learned = LearnedModes()
    async with (
        refusing(plainly) as provider,
        driving(
            tmp_path,
            loopback(provider, model(mode="addition-only")),
            tools=[tool("peek")],
            learned=learned,
            strict=True,
        ) as driver,
    ):
        await grown(driver, "second", "third")
        assert [reason["kind"] for reason in driver.reasons] == ["completed", "error", "error"]
        assert driver.events(RECORD) == []
    assert [holds_changes(body) for body in provider.bodies] == [False, True, True]
