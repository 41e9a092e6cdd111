"""Turns that end otherwise than well, and what becomes of what waited for them (loop-and-adapters §1.2)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.loop_driver import (
    Recorded,
    check_log,
    driving,
    instantly,
    scripted,
    simple_prompt,
    tool,
)
from tui.llm.request import CallConfig
from tui.llm.script import Fail
from tui.loop.hooks import Enter, Proposal, RejectStep
from tui.loop.prompt import Section
from tui.session.write_errors import SessionWriteError


async def test_a_rejected_step_blocks_the_turn_and_stops_the_driver(tmp_path: Path) -> None:
    script = Recorded([instantly("Yes.")])
    async with driving(tmp_path, scripted(script)) as driver:

        async def reject(proposal: Proposal, following: object) -> RejectStep:
            return RejectStep()

        driver.agent.hooks.pre_step.append(reject)
        driver.agent.followup("first")
        driver.agent.followup("second")
        await driver.idle()
        assert driver.reasons == [{"kind": "blocked"}]
        assert driver.events("step/start") == []
        assert script.sent == []
        assert [texts(message) for message in driver.agent.queued()] == ["second"]


async def test_a_turn_without_messages_completes_without_a_step(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([])) as driver:

        async def drop(proposal: Proposal, following: object) -> Enter:
            return Enter(())

        driver.agent.hooks.pre_step.append(drop)
        await driver.say("Nothing.")
        assert driver.reasons == [{"kind": "completed"}]
        assert driver.events("step/start") == []


async def test_a_prompt_survives_a_call_that_cannot_be_prepared(tmp_path: Path) -> None:
    script = Recorded([instantly("Yes.")])
    async with driving(tmp_path, scripted(script)) as driver:
        driver.select("minnow-2", reasoning_effort="enormous")
        driver.agent.steer("It rains.")
        sent = driver.agent.followup("Wet?")
        later = driver.agent.followup("And tomorrow?")
        await driver.idle()
        kinds = driver.kinds(driver.events("turn/start")[0].seq)
        assert kinds == [
            "turn/start",
            "agent/inbox/spliced",
            "agent/inbox/spliced",
            "step/start",
            "agent/inbox/spliced",
            "agent/inbox/spliced",
            "step/end",
            "turn/end",
        ]
        (reason,) = driver.reasons
        assert reason["error"]["code"] == "UNSUPPORTED_REASONING_EFFORT"
        assert [message["id"] for message in driver.agent.queued()] == [sent, later]
        assert [texts(message) for message in driver.agent.queued("next-step")] == ["It rains."]
        driver.select("minnow-2")
        driver.agent.wake()
        await driver.idle()
        assert driver.reasons[1:] == [{"kind": "completed"}] * 2
        users = [event.data["id"] for event in driver.events("user/message")]
        assert users[1:] == [sent, later]


async def test_a_prompt_for_an_unknown_provider_is_admitted_and_its_failure_comes_as_an_attempt(
    tmp_path: Path,
) -> None:
    async with driving(tmp_path) as driver:
        await driver.say("Anybody?")
        kinds = driver.kinds()
        assert kinds[kinds.index("step/start") :] == [
            "step/start",
            "system/message",
            "user/message",
            "request/header",
            "request/context",
            "session/title",
            "assistant/attempt",
            "step/end",
            "turn/end",
        ]
        assert driver.events("request/context")[0].data == {"provider": "creek", "model": "minnow-2"}
        assert driver.reasons[0]["error"]["code"] == "NO_ADAPTER"


async def test_a_condition_that_raises_ends_the_turn_before_any_step_and_keeps_the_prompt(
    tmp_path: Path,
) -> None:
    def broken(context: object) -> bool:
        raise OSError("no such sensor")

    script = Recorded()
    async with driving(tmp_path, scripted(script)) as driver:
        remove = driver.tools.register(tool("scan"), when=broken)
        sent = driver.agent.followup("Scan.")
        await driver.idle()
        assert driver.kinds(driver.events("turn/start")[0].seq) == [
            "turn/start",
            "agent/inbox/spliced",
            "agent/inbox/spliced",
            "turn/end",
        ]
        assert driver.reasons == [
            {
                "kind": "error",
                "error": {
                    "message": 'tool "scan" activation failed: no such sensor',
                    "code": "TOOL_ACTIVATION_FAILED",
                },
            }
        ]
        assert script.sent == []
        assert [message["id"] for message in driver.agent.queued()] == [sent]
        remove()
        driver.agent.wake()
        await driver.idle()
        assert driver.reasons[1] == {"kind": "completed"}


async def test_a_section_without_its_variable_ends_the_turn_and_keeps_the_prompt(tmp_path: Path) -> None:
    prompt = simple_prompt()
    prompt.add(Section(name="where", text="You are in {{place}}."))
    async with driving(tmp_path, scripted([instantly("Yes.")]), prompt=prompt) as driver:
        await driver.say("There?")
        assert driver.reasons[0]["error"]["code"] == "PROMPT_ASSEMBLY_FAILED"
        assert len(driver.agent.queued()) == 1
        prompt.add_variable("place", "the glasshouse")
        driver.agent.wake()
        await driver.idle()
        assert texts(driver.events("system/message")[0].data["message"]) == "You are in the glasshouse."


async def test_an_exception_of_a_listener_ends_the_turn_alone(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([instantly("one"), instantly("two")])) as driver:
        told: list[str] = []
        driver.agent.hooks.error.append(lambda turn, step, facts, error: told.append(facts["code"]))

        async def broken(moment: object, following: object) -> CallConfig:
            raise ZeroDivisionError("division by zero")

        driver.agent.hooks.request.append(broken)
        await driver.say("first")
        assert driver.reasons == [
            {"kind": "error", "error": {"message": "division by zero", "code": "UNKNOWN"}}
        ]
        assert told == ["UNKNOWN"]
        driver.agent.hooks.request.clear()
        driver.agent.wake()
        await driver.idle()
        assert driver.reasons[1] == {"kind": "completed"}


async def test_a_failed_turn_leaves_what_waits_in_its_queue(tmp_path: Path) -> None:
    script = Recorded([instantly(Fail("bad key", "AUTH", 401)), instantly("two"), instantly("three")])
    async with driving(tmp_path, scripted(script)) as driver:
        driver.agent.followup("first")
        driver.agent.followup("second")
        await driver.idle()
        assert [reason["kind"] for reason in driver.reasons] == ["error"]
        assert len(script.sent) == 1
        await driver.say("third")
        assert [reason["kind"] for reason in driver.reasons] == ["error", "completed", "completed"]


async def test_a_disk_that_is_full_stops_the_turn_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Recorded([instantly("one"), instantly("two")])
    async with driving(tmp_path, scripted(script), check=False) as driver:
        await driver.say("first")
        told: list[object] = []
        driver.agent.on_failure(told.append)
        written = driver.writer.path.read_bytes()

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        driver.agent.followup("second")
        await driver.idle()
        monkeypatch.undo()
        assert len(script.sent) == 1
        assert len(told) == 1
        assert driver.agent.failure is not None
        with pytest.raises(SessionWriteError):
            driver.agent.followup("third")
        assert driver.writer.path.read_bytes() == written
        with contextlib.suppress(SessionWriteError):
            await driver.writer.close()
    check_log(driver.writer.path)


def texts(message: Mapping[str, Any]) -> str:
    return "\n".join(block["text"] for block in message["content"] if block["type"] == "text")
