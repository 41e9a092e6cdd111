"""Turns and steps as the log keeps them (loop-and-adapters §1)."""

from __future__ import annotations

from pathlib import Path

from tests.support.loop_driver import (
    driving,
    instantly,
    scripted,
    simple_prompt,
    tool,
)
from tui.llm.script import Call, Think


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
