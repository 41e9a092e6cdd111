"""What a step costs depends on what is on the surface, not on how long the session is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.loop_driver import driving, instantly, model, scripted, tool
from tests.support.session_logs import counted
from tui.llm.script import Call
from tui.session.event_list import EventList


@pytest.mark.parametrize("resumed", [False, True])
async def test_a_turn_looks_up_as_many_events_in_a_long_session_as_in_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resumed: bool
) -> None:
    looked_up, calls = counted(EventList.event)
    monkeypatch.setattr(EventList, "event", looked_up)
    counts: list[int] = []
    for switches in (2, 600):
        home = tmp_path / str(switches)
        answers = [instantly("Yes."), instantly(Call("peek", {}, id="c1")), instantly("Damp.")]
        path: Path | None = None
        if resumed:
            async with driving(home, scripted([])) as driver:
                for number in range(switches):
                    driver.writer.append("plan/mode", {"active": number % 2 == 0})
                path = driver.writer.path
        async with driving(
            home, scripted(answers, model(mode="in-history")), tools=[tool("peek")], resume=path
        ) as driver:
            await driver.say("Here?")
            for number in range(switches):
                driver.writer.append("plan/mode", {"active": number % 2 == 0})
            calls[0] = 0
            await driver.say("How wet?")
            counts.append(calls[0])
            assert driver.writer.last_step == 2
    assert counts[0] == counts[1]
    assert counts[0] < 100
