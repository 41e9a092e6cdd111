"""Turns and steps as the log keeps them (loop-and-adapters §1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.loop_driver import (
    SETTINGS,
    Driver,
    Recorded,
    check_log,
    driving,
    instantly,
    model,
    scripted,
    simple_prompt,
    tool,
)
from tui.llm.script import Call, CutOff, Fail, Think
from tui.loop.agent import AgentBusy
from tui.loop.frames import AttemptEnded, AttemptStarted
from tui.loop.header import Selection
from tui.session.cancel import CancelSignal
from tui.tools.tool import ToolSuccess


async def test_a_text_answer_leaves_the_events_of_a_recorded_turn(tmp_path: Path) -> None:
    adapter = scripted([instantly(Think("Easy."), "Damp."), instantly("Still damp.")])
    async with driving(
        tmp_path, adapter, prompt=simple_prompt("You keep the moss garden.", cwd=True)
    ) as driver:
        await driver.say("How wet is the north bed today?")
        assert driver.kinds() == [
            "agent/inbox/spliced",
            "turn/start",
            "agent/inbox/spliced",
            "step/start",
            "system/message",
            "user/message",
            "user/message",
            "request/header",
            "request/context",
            "session/title",
            "assistant/message",
            "step/end",
            "turn/end",
        ]
        before = driver.writer.next_seq
        await driver.say("And now?")
        assert driver.kinds(before) == [
            "agent/inbox/spliced",
            "turn/start",
            "agent/inbox/spliced",
            "step/start",
            "user/message",
            "assistant/message",
            "step/end",
            "turn/end",
        ]
        assert driver.reasons == [{"kind": "completed"}] * 2
        (title,) = driver.events("session/title")
        assert title.data["title"] == "How wet is the north"


async def test_calls_are_run_and_the_turn_goes_on_until_an_answer_has_none(tmp_path: Path) -> None:
    adapter = scripted([instantly("Looking.", Call("peek", {"pot": "north"}, id="c1")), instantly("37 %.")])
    async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
        await driver.say("How wet?")
        kinds = driver.kinds()
        assert kinds[kinds.index("assistant/message") :] == [
            "assistant/message",
            "tool/call",
            "tool/result",
            "step/end",
            "step/start",
            "assistant/message",
            "step/end",
            "turn/end",
        ]
        (call,) = driver.events("tool/call")
        (result,) = driver.events("tool/result")
        assert call.data == {
            "turn": 1,
            "step": 1,
            "callId": "c1",
            "name": "peek",
            "arguments": '{"pot": "north"}',
        }
        assert result.source_event_seqs == [call.seq]
        assert result.data["message"]["content"] == [{"type": "text", "text": "peek done"}]


async def test_a_new_session_begins_with_the_permissions_it_runs_under(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([instantly("Yes.")])) as driver:
        await driver.say("There?")
        begin = [(event.type, event.data) for event in driver.events()[:3]]
        assert begin == [
            ("permission/preset", {"preset": "workspace-write"}),
            ("sandbox/mode", {"mode": "workspace-write"}),
            ("approval/policy", {"policy": "ask"}),
        ]
        await driver.say("Still?")
        assert len(driver.events("permission/preset")) == 1


async def test_the_payloads_have_the_keys_of_recorded_events(tmp_path: Path, shared: Path) -> None:
    recorded = recorded_keys(shared)
    adapter = scripted(
        [
            instantly(Think("Hm."), "Looking.", Call("peek", {}, id="c1"), Call("gone", {}, id="c2")),
            instantly("Fine."),
        ]
    )
    async with driving(
        tmp_path,
        adapter,
        tools=[tool("peek")],
        prompt=simple_prompt("You keep moss.", cwd=True),
        selection=Selection(provider="creek", model="minnow-2", reasoning_effort="high", max_tokens=4096),
    ) as driver:
        await driver.say("How wet?")
        rows = check_after_flush(driver)
    written = {row["type"] for row in rows if row["type"] not in SETTINGS}
    assert {"developer/message", "llm/retry"} - written  # those have tests of their own
    for row in rows:
        if row["type"] in SETTINGS:
            continue
        assert keys_of(row) in recorded[row["type"]], row


async def test_prompts_take_their_turns_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    script = Recorded([instantly("one"), instantly("two"), instantly("three")])
    async with driving(tmp_path, scripted(script)) as driver:
        for text in ("first", "second", "third"):
            driver.agent.followup(text)
        assert [texts(message) for message in driver.agent.queued()] == ["first", "second", "third"]
        assert driver.agent.status == "running"
        await driver.idle()
        assert driver.agent.status == "idle"
        assert [sent.last_text for sent in script.sent] == ["first", "second", "third"]
        assert [event.data["turn"] for event in driver.events("turn/end")] == [1, 2, 3]


async def test_steering_joins_the_running_turn_at_its_next_step(tmp_path: Path) -> None:
    script = Recorded([instantly(Call("peek", {}, id="c1")), instantly("Seen.")])

    def look(arguments: object) -> str:
        agent.steer("Mind the moss.")
        agent.inject("By the way.")
        return "wet"

    async with driving(tmp_path, scripted(script), tools=[tool("peek", look)]) as driver:
        agent = driver.agent
        await driver.say("How wet?")
        assert len(driver.events("turn/start")) == 1
        second = [message for message in script.sent[1].messages if message["role"] == "user"]
        assert [texts(message) for message in second[-2:]] == ["Mind the moss.", "By the way."]
        start = driver.events("step/start")[1].seq
        assert [event.type for event in driver.events()[start : start + 3]] == [
            "step/start",
            "user/message",
            "user/message",
        ]


async def test_steering_that_comes_when_the_turn_is_about_to_end_prolongs_it(tmp_path: Path) -> None:
    script = Recorded([instantly("Done."), instantly("Done twice.")])
    async with driving(tmp_path, scripted(script)) as driver:
        asked: list[int] = []

        async def stopping(turn: int) -> None:
            asked.append(turn)
            if len(asked) == 1:
                driver.agent.inject("One more thing.")

        driver.agent.hooks.turn_stopping.append(stopping)
        await driver.say("Go.")
        assert asked == [1, 1]
        assert [event.data["step"] for event in driver.events("step/start")] == [1, 2]
        assert len(driver.events("turn/start")) == 1


async def test_an_injected_message_waits_until_something_else_wakes_the_driver(tmp_path: Path) -> None:
    script = Recorded([instantly("Yes.")])
    async with driving(tmp_path, scripted(script)) as driver:
        driver.agent.inject("It rains.")
        await driver.idle()
        assert driver.events("turn/start") == []
        await driver.say("Wet?")
        users = [texts(message) for message in script.sent[0].messages if message["role"] == "user"]
        assert users == ["It rains.", "Wet?"]


async def test_a_steer_begins_a_turn_when_nothing_runs(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([instantly("Yes.")])) as driver:
        driver.agent.steer("There?")
        await driver.idle()
        assert driver.reasons == [{"kind": "completed"}]


async def test_a_queued_prompt_can_be_edited_and_taken_back(tmp_path: Path) -> None:
    script = Recorded([instantly("one"), instantly("two")])
    async with driving(tmp_path, scripted(script)) as driver:
        driver.agent.followup("first")
        waiting = driver.agent.followup("secnd")
        unwanted = driver.agent.followup("third")
        fixed = driver.agent.edit_queued(waiting, "second")
        assert driver.agent.remove_queued(unwanted) is not None
        assert driver.agent.remove_queued(unwanted) is None
        assert driver.agent.edit_queued(waiting, "late") is None
        await driver.idle()
        assert [sent.last_text for sent in script.sent] == ["first", "second"]
        changed = [event.data for event in driver.events("agent/inbox/spliced") if "outcome" in event.data]
        assert [(data["start"], data["removedCount"], len(data["inserted"])) for data in changed] == [
            (1, 1, 1),
            (2, 1, 0),
        ]
        assert changed[0]["inserted"][0]["id"] == fixed


async def test_an_answer_that_is_cut_at_its_cap_ends_the_turn_without_calls(tmp_path: Path) -> None:
    adapter = scripted([instantly("Well", Call("peek", {"pot": "north"}, id="c1"), CutOff())])
    async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
        await driver.say("Tell me.")
        (message,) = driver.events("assistant/message")
        assert [block["type"] for block in message.data["message"]["content"]] == ["text"]
        assert driver.events("tool/call") == []
        assert driver.reasons == [{"kind": "max-tokens"}]


async def test_an_answer_of_nothing_but_a_cut_call_leaves_an_empty_message(tmp_path: Path) -> None:
    script = Recorded([instantly(Call("peek", {"pot": "north"}, id="c1"), CutOff()), instantly("Sorry.")])
    async with driving(tmp_path, scripted(script), tools=[tool("peek")]) as driver:
        await driver.say("Tell me.")
        (message,) = driver.events("assistant/message")
        assert message.data["message"]["content"] == []
        assert "usage" in message.data
        await driver.say("And?")
        assert [sent["role"] for sent in script.sent[1].messages] == ["user", "user"]


async def test_a_turn_stays_cut_whatever_its_later_steps_say(tmp_path: Path) -> None:
    adapter = scripted([instantly("Wel", CutOff()), instantly("Well.")])
    async with driving(tmp_path, adapter) as driver:
        told: list[int] = []

        async def stopping(turn: int) -> None:
            if not told:
                told.append(turn)
                driver.agent.inject("Go on.")

        driver.agent.hooks.turn_stopping.append(stopping)
        await driver.say("Tell me.")
        assert driver.reasons == [{"kind": "max-tokens"}]
        assert len(driver.events("step/start")) == 2


async def test_a_tool_that_concludes_the_turn_ends_it_after_all_calls(tmp_path: Path) -> None:
    def conclude(arguments: object) -> ToolSuccess:
        return ToolSuccess("closed", concludes_turn=True)

    adapter = scripted([instantly(Call("close", {}, id="c1"), Call("peek", {}, id="c2"))])
    async with driving(tmp_path, adapter, tools=[tool("close", conclude), tool("peek")]) as driver:
        await driver.say("Close it.")
        assert len(driver.events("tool/result")) == 2
        assert len(driver.events("step/start")) == 1
        assert driver.reasons == [{"kind": "completed"}]


async def test_context_that_comes_with_a_result_waits_for_the_next_step(tmp_path: Path) -> None:
    note = {"content": [{"type": "text", "text": "The door is open."}], "source": {"kind": "porter"}}

    def look(arguments: object) -> ToolSuccess:
        return ToolSuccess("wet", additional_contexts=(note,))

    script = Recorded([instantly(Call("peek", {}, id="c1")), instantly("Seen.")])
    async with driving(tmp_path, scripted(script), tools=[tool("peek", look)]) as driver:
        await driver.say("How wet?")
        assert texts(script.sent[1].messages[-1]) == "The door is open."
        (event,) = [
            event for event in driver.events("user/message") if event.data["source"]["kind"] == "porter"
        ]
        assert event.seq > driver.events("step/start")[1].seq


async def test_live_frames_enclose_the_event_of_their_attempt(tmp_path: Path) -> None:
    adapter = scripted([instantly("Damp."), instantly(Fail("no", "AUTH"))])
    async with driving(tmp_path, adapter) as driver:
        seen: list[object] = []
        driver.agent.subscribe(seen.append)
        driver.writer.subscribe(lambda event: seen.append(event.type))
        await driver.say("Wet?")
        await driver.say("Dry?")
        frames = driver.frames
        assert [frame.revision for frame in frames] == list(range(1, len(frames) + 1))
        starts = [frame for frame in frames if isinstance(frame, AttemptStarted)]
        ends = [frame for frame in frames if isinstance(frame, AttemptEnded)]
        assert [(start.turn, start.step, start.attempt) for start in starts] == [(1, 1, 1), (2, 1, 1)]
        assert [end.event_type for end in ends] == ["assistant/message", "assistant/attempt"]
        for start, end in zip(starts, ends, strict=True):
            inside = seen[seen.index(start) + 1 : seen.index(end)]
            assert inside[-1] == end.event_type
            chunks = inside[:-1]
            assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
            assert driver.writer.events.event(end.seq).type == end.event_type


async def test_a_model_that_was_chosen_is_asked_from_the_next_request_on(tmp_path: Path) -> None:
    script = Recorded([instantly("one"), instantly("two"), instantly("three")])
    async with driving(tmp_path, scripted(script, model(), model("gnat-1"))) as driver:
        await driver.say("first")
        driver.select("gnat-1", reasoning_effort="low")
        await driver.say("second")
        await driver.say("third")
        configs = [sent.request.config for sent in script.sent]
        assert [config.model for config in configs] == ["minnow-2", "gnat-1", "gnat-1"]
        assert [config.reasoning_effort for config in configs] == ["high", "low", "low"]
        headers = [event.data for event in driver.events("request/header")]
        assert [data["reason"] for data in headers] == ["initial", "change"]
        assert headers[0]["header"]["adapterDefaults"] == {"reasoningEffort": True, "maxTokens": True}
        assert headers[1]["header"]["adapterDefaults"] == {"maxTokens": True}
        (chosen,) = driver.events("model/selection")
        assert chosen.data == {"provider": "creek", "model": "gnat-1", "reasoningEffort": "low"}


async def test_a_title_that_was_given_by_hand_stays(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([instantly("yes")])) as driver:
        driver.agent.rename("  The\n moss\x1b garden  ")
        with pytest.raises(ValueError, match="words"):
            driver.agent.rename(" ")
        await driver.say("How wet?")
        (title,) = driver.events("session/title")
        assert title.data == {"title": "The moss garden", "messageSeqs": [], "source": {"kind": "user"}}
        assert driver.writer.state.title_is_pinned


async def test_a_job_beside_turns_runs_alone_and_what_comes_meanwhile_runs_after_it(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([instantly("Yes.")])) as driver:
        gate = asyncio.Event()

        async def job(signal: CancelSignal) -> str:
            await gate.wait()
            return "done"

        running = asyncio.ensure_future(driver.agent.run_maintenance(job))
        await asyncio.sleep(0)
        assert driver.agent.status == "idle"
        driver.agent.followup("There?")
        with pytest.raises(AgentBusy):
            await driver.agent.run_maintenance(job)
        assert driver.events("turn/start") == []
        gate.set()
        assert await running == "done"
        await driver.idle()
        assert driver.reasons == [{"kind": "completed"}]


def texts(message: Mapping[str, Any]) -> str:
    return "\n".join(block["text"] for block in message["content"] if block["type"] == "text")


def check_after_flush(driver: Driver) -> list[dict[str, Any]]:
    driver.writer.flush_now()
    return check_log(driver.writer.path)


NESTED = ("message", "reason", "header", "failure", "error", "source", "config", "adapterDefaults")


def keys_of(row: Mapping[str, Any]) -> frozenset[str]:
    """Every key of an event down to the parts that all events of its type share."""
    found = {key for key in row if key not in ("type", "seq", "time", "data")}

    def walk(value: Mapping[str, Any], path: str) -> None:
        for key, member in value.items():
            found.add(f"{path}.{key}")
            if isinstance(member, dict) and key in NESTED:
                walk(member, f"{path}.{key}")

    walk(row["data"], "")
    return frozenset(found)


def recorded_keys(shared: Path) -> dict[str, set[frozenset[str]]]:
    """The sets of keys that events of each type have in the recordings."""
    found: dict[str, set[frozenset[str]]] = {}
    for name in ("tool-use", "single-tool-added", "plain-chat", "cancel", "retries"):
        for path in (shared / "recordings" / name / "sessions").glob("*/*/session.v4.jsonl"):
            for line in path.read_text().splitlines()[1:]:
                row = json.loads(line)
                found.setdefault(row["type"], set()).add(keys_of(row))
    return found
