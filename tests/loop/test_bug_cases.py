"""The `loop` lines of the public bug reports (shared/bugs B02, B03, B12, B13, B14, B15)."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Reply, answer, wirecheck
from tests.support.loop_driver import (
    assert_wire,
    driving,
    fast_policy,
    loopback,
    model,
    simple_prompt,
    tool,
)
from tui.llm.route import ToolUpdateMode
from tui.loop.header import Selection
from tui.session.forking import fork
from tui.tools.registry import ToolRegistry
from tui.tools.tool import Tool

DEEPSEEK = {"provider": "deepseek-official"}
FLASH = Selection(
    provider="deepseek-official", model="deepseek-flash", reasoning_effort="high", max_tokens=4096
)
WICK = (
    "You are Wick, the clerk of an invented workshop called Lantern Works. "
    "Be brief; use the kiln tools when they fit."
)
MODES: tuple[ToolUpdateMode, ...] = (None, "addition-only", "in-history")


def copied(shared: Path, case: str, tmp_path: Path) -> list[Path]:
    """The session logs of a case, in a store of their own."""
    (source,) = (shared / "bugs" / "cases").glob(f"{case}-*")
    home = tmp_path / case
    shutil.copytree(source / "home", home)
    return sorted(home.rglob("session.v4.jsonl"))


def tools_of(path: Path) -> list[Tool]:
    """Tools that are declared as those of a log's last header."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    headers = [row["data"]["header"] for row in rows if row["type"] == "request/header"]
    return [
        replace(tool(entry["name"], description=entry["description"]), parameters=entry["parameters"])
        for entry in headers[-1].get("tools", [])
    ]


def flash(provider: FakeProvider, mode: ToolUpdateMode = "addition-only", **options: Any) -> Any:
    return loopback(provider, model("deepseek-flash", mode), **{**DEEPSEEK, **options})


def at_wick(path: Path | None = None) -> dict[str, Any]:
    """How the sessions of the cases are driven on."""
    return {"selection": FLASH, "prompt": simple_prompt(WICK), "resume": path}


# B02


async def test_b02_a_change_recorded_between_two_user_messages_follows_both(
    tmp_path: Path, shared: Path
) -> None:
    (path,) = copied(shared, "B02", tmp_path)
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "Yes."}), answer({"text": "Still."}))
        async with driving(tmp_path, flash(provider), tools=tools_of(path), **at_wick(path)) as driver:
            await driver.say("Cooler now?")
            await driver.say("And now?")
        assert_wire(wirecheck(shared), provider.bodies)
        first, second = (body["messages"] for body in provider.bodies)
        roles = [message["role"] for message in first]
        changed = next(at for at, message in enumerate(first) if message["role"] == "system")
        assert roles[changed - 1 : changed + 2] == ["user", "system", "assistant"]
        assert [block["text"][:11] for block in first[changed - 1]["content"]] == [
            "First wish:",
            "Second wish",
        ]
        assert json.dumps(second).startswith(json.dumps(first)[:-1])


@pytest.mark.parametrize("mode", MODES)
async def test_b02_after_tool_results_the_change_follows_the_message_that_holds_them(
    mode: ToolUpdateMode, tmp_path: Path, shared: Path
) -> None:
    registry = ToolRegistry()
    registry.register(tool("peek", lambda arguments: registry.register(tool("cool")) and "412"))
    async with FakeProvider() as provider:
        provider.queue(
            answer({"name": "peek", "input": {}, "id": "c1"}),
            answer({"text": "Cool it is."}),
            answer({"text": "Yes."}),
        )
        async with driving(tmp_path, loopback(provider, model(mode=mode)), registry=registry) as driver:
            driver.writer.subscribe(
                lambda event: driver.agent.steer("And also this.") if event.type == "tool/call" else None
            )
            await driver.say("First.")
            await driver.say("Second.")
        assert_wire(wirecheck(shared), provider.bodies)
        second = provider.bodies[1]["messages"]
        results = next(m for m in second if any(b["type"] == "tool_result" for b in m["content"]))
        assert [block["type"] for block in results["content"]] == ["tool_result", "text"]
        after = [message["role"] for message in second[second.index(results) + 1 :]]
        assert after == ([] if mode is None else ["system"])
        third = provider.bodies[2]["messages"]
        assert third[: len(second)] == second


# B03


@pytest.mark.parametrize("mode", MODES)
async def test_b03_sessions_in_that_state_go_on_at_once_with_a_new_series(
    mode: ToolUpdateMode, tmp_path: Path, shared: Path
) -> None:
    for number, path in enumerate(copied(shared, "B03", tmp_path)):
        before = path.read_bytes()
        async with FakeProvider() as provider:
            provider.queue(answer({"text": "Lowered."}), answer({"text": "Yes."}))
            async with driving(
                tmp_path, flash(provider, mode), tools=tools_of(path), **at_wick(path)
            ) as driver:
                await driver.say("Lower the press.")
                await driver.say("Sure?")
                header = driver.events("request/header")[-1].data
            assert_wire(wirecheck(shared), provider.bodies)
            assert path.read_bytes().startswith(before)
            # Where removals are sent the tools of before stay declared, so that the list is no such list.
            empty = mode == "addition-only" or (mode == "in-history" and number == 0)
            assert header.get("startsSeries") is (True if empty else None)
            if empty:
                names = [entry["name"] for entry in header["header"]["tools"]]
                for body in provider.bodies:
                    assert [(entry["name"], entry.get("defer_loading")) for entry in body["tools"]] == [
                        (name, None) for name in names
                    ]
                    assert not any(message["role"] == "system" for message in body["messages"])


@pytest.mark.parametrize("mode", MODES)
async def test_b03_a_session_without_tools_that_gains_some_declares_them_plainly(
    mode: ToolUpdateMode, tmp_path: Path, shared: Path
) -> None:
    async with FakeProvider() as provider:
        provider.queue(*(answer({"text": "yes"}) for _ in range(3)))
        async with driving(tmp_path, loopback(provider, model(mode=mode))) as driver:
            await driver.say("q1")
            driver.tools.register(tool("press"))
            await driver.say("q2")
            driver.tools.register(tool("lamp"))
            await driver.say("q3")
            headers = [event.data for event in driver.events("request/header")]
            records = [event.data["message"]["content"] for event in driver.events("developer/message")]
        assert_wire(wirecheck(shared), provider.bodies)
        assert records == [
            [{"type": "tool-addition", "toolName": "press"}],
            [{"type": "tool-addition", "toolName": "lamp"}],
        ]
        assert [data.get("startsSeries") for data in headers] == (
            [None, None, None] if mode is None else [None, True, None]
        )
        plain = [
            [entry["name"] for entry in body["tools"] if not entry.get("defer_loading")]
            for body in provider.bodies[1:]
        ]
        assert plain == ([["press"], ["lamp", "press"]] if mode is None else [["press"], ["press"]])


async def test_b03_tools_that_are_all_deferred_by_their_owner_do_not_break_every_prefix(
    tmp_path: Path,
) -> None:
    async with FakeProvider() as provider:
        provider.queue(*(answer({"text": "yes"}) for _ in range(2)))
        registry = ToolRegistry()
        registry.register(tool("press", defer_loading=True))
        async with driving(
            tmp_path, loopback(provider, model(mode="in-history")), registry=registry
        ) as driver:
            await driver.say("q1")
            await driver.say("q2")
            assert len(driver.events("request/header")) == 1
        for body in provider.bodies:
            assert not any(entry.get("defer_loading") for entry in body["tools"])


# B12


async def resumed_or_copied(path: Path, tmp_path: Path) -> Path:
    """A log of ours, or a mended copy of one that no writer of the format could have left."""
    if "B12/killed" in str(path):
        return path
    made = fork(path, tmp_path / "copies", mend=True, encoding="none")
    await made.writer.close()
    return made.writer.path


async def test_b12_calls_without_results_are_answered_where_messages_are_derived(
    tmp_path: Path, shared: Path
) -> None:
    for source in copied(shared, "B12", tmp_path):
        path = await resumed_or_copied(source, tmp_path)
        async with FakeProvider() as provider:
            provider.queue(answer({"text": "Going on."}), answer({"text": "Yes."}))
            async with driving(tmp_path, flash(provider), tools=tools_of(path), **at_wick(path)) as driver:
                await driver.say("Go on.")
                await driver.say("Sure?")
                assert driver.reasons[-1] == {"kind": "completed"}
            assert_wire(wirecheck(shared), provider.bodies)


async def test_b12_a_killed_turn_is_closed_once_and_its_calls_are_told_apart(
    tmp_path: Path, shared: Path
) -> None:
    path = next(path for path in copied(shared, "B12", tmp_path) if "B12/killed" in str(path))
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "Going on."}))
        async with driving(tmp_path, flash(provider), tools=tools_of(path), **at_wick(path)) as driver:
            await driver.say("Go on.")
            assert [reason["kind"] for reason in driver.reasons].count("interrupted") == 1
            texts = [
                event.data["message"]["content"][0]["text"]
                for event in driver.events("tool/result")
                if event.data.get("error")
            ]
            assert any("outcome unknown" in text for text in texts)
            assert any("never started" in text for text in texts)
        async with driving(tmp_path, flash(provider), tools=tools_of(path), **at_wick(path)) as driver:
            provider.queue(answer({"text": "Again."}))
            await driver.say("Once more.")
            assert [reason["kind"] for reason in driver.reasons].count("interrupted") == 1


# B13

HALF = "\ud83d"


async def test_b13_no_body_holds_half_a_character_wherever_it_came_from(tmp_path: Path, shared: Path) -> None:
    registry = ToolRegistry()
    registry.register(tool("peek", lambda arguments: f"a half {HALF} of one", description=f"Looks {HALF}."))
    async with FakeProvider() as provider:
        provider.queue(
            answer({"name": "peek", "input": '{"dial": "lamps \\ud83d"}', "id": "c1"}),
            answer({"text": "Seen."}),
            answer({"text": "Yes."}),
        )
        async with driving(
            tmp_path,
            loopback(provider, model(mode="in-history")),
            registry=registry,
            prompt=simple_prompt(f"Keep {HALF} moss.", cwd=True),
        ) as driver:
            await driver.say(f"How {HALF} wet? {HALF}\ude00 {HALF}")
            await driver.say("Sure?")
            assert driver.reasons == [{"kind": "completed"}] * 2
            assert len(driver.events("request/header")) == 1
            path = driver.writer.path
        assert_wire(wirecheck(shared), provider.bodies)
        for request in provider.requests:
            request.raw.decode("utf-8")
        first = provider.bodies[0]["messages"][0]["content"][0]["text"]
        assert first == "How \ufffd wet? \U0001f600 \ufffd"
        path.read_bytes().decode("utf-8")


async def test_b13_a_log_with_half_characters_is_continued_in_a_copy(tmp_path: Path, shared: Path) -> None:
    (source,) = copied(shared, "B13", tmp_path)
    made = fork(source, tmp_path / "copies", mend=True, encoding="none")
    await made.writer.close()
    path = made.writer.path
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "Going on."}))
        async with driving(tmp_path, flash(provider), tools=tools_of(path), **at_wick(path)) as driver:
            await driver.say("Go on.")
            assert driver.reasons[-1] == {"kind": "completed"}
        assert_wire(wirecheck(shared), provider.bodies)


# B14


async def test_b14_the_recorded_overloads_are_waited_out(tmp_path: Path, shared: Path) -> None:
    net = next((shared / "bugs" / "cases").glob("B14-*")) / "net"
    async with FakeProvider() as provider:
        provider.queue(
            Reply(raw=http(net / "429.http")),
            Reply(raw=http(net / "529.http")),
            Reply(pieces=[(net / "200-error-first.sse").read_bytes()]),
            Reply(pieces=[(net / "200-error-late.sse").read_bytes()]),
            Reply(pieces=[(net / "200-good.sse").read_bytes()]),
            answer({"text": "Yes."}),
        )
        adapter = flash(provider, retry_policy=fast_policy(max_retries=5))
        async with driving(tmp_path, adapter, **at_wick()) as driver:
            await driver.say("There?")
            waits = [event.data["delayMs"] for event in driver.events("llm/retry")]
            assert waits[0] >= 2000
            assert waits[1:] == sorted(waits[1:])
            assert len(driver.events("assistant/message")) == 1
            assert driver.reasons == [{"kind": "completed"}]
            await driver.say("Sure?")
        assert_wire(wirecheck(shared), provider.bodies)
        asked = [message["role"] for message in provider.bodies[-1]["messages"]]
        assert asked == ["user", "assistant", "user"]


def http(path: Path) -> bytes:
    """A recorded answer with the length of its body, as a server sends it."""
    head, _, body = path.read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
    lines = [*head.split(b"\n"), b"content-length: %d" % len(body), b"connection: close"]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


# B15


async def test_b15_thinking_goes_back_from_the_log_as_it_was_signed(tmp_path: Path, shared: Path) -> None:
    (path,) = copied(shared, "B15", tmp_path)
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "Going on."}), answer({"text": "Other."}))
        adapter = loopback(provider, model("deepseek-flash", "addition-only"), model("minnow-2"), **DEEPSEEK)
        async with driving(tmp_path, adapter, tools=tools_of(path), **at_wick(path)) as driver:
            await driver.say("Go on.")
            driver.agent.select(Selection(provider="deepseek-official", model="minnow-2"))
            await driver.say("And you?")
            recorded = [event.data["message"] for event in driver.events("assistant/message")]
        assert_wire(wirecheck(shared), provider.bodies)
        same, other = provider.bodies
        assert thinking(same) == signed(recorded[:-2])
        assert [text for text, _ in thinking(other)] == [text for text, _ in signed(recorded[:-2])]
        assert {signature for _, signature in thinking(other)} == {None}


async def test_b15_a_turn_of_reasoning_alone_is_kept(tmp_path: Path, shared: Path) -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"thinking": "Only this.", "signature": ""}), answer({"text": "Well."}))
        async with driving(tmp_path, loopback(provider)) as driver:
            await driver.say("Think.")
            assert driver.reasons == [{"kind": "completed"}]
            await driver.say("And?")
        assert_wire(wirecheck(shared), provider.bodies)
        assert thinking(provider.bodies[1]) == [("Only this.", "")]


def thinking(body: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [
        (block["thinking"], block.get("signature"))
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "thinking"
    ]


def signed(messages: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """Reasoning of recorded messages with its recorded signature."""
    found: list[tuple[str, str | None]] = []
    for message in messages:
        states = message["source"]["replayState"]["blocks"]
        for block, state in zip(message["content"], states, strict=True):
            if block["type"] == "reasoning":
                found.append((block["text"], state.get("signature")))
    return found
