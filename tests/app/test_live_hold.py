"""Holding the tools of a live session: the notice in the log, and a session that goes on held."""

from __future__ import annotations

from pathlib import Path

from tests.support.live_driver import talking, tool
from tui.llm.script import answer
from tui.session.writer import SessionWriter


async def test_the_hold_stands_in_both_panes_where_it_was_asked_for(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("One.", pace_s=0)], tools=[tool("peek")]) as talk:
        await talk.say("Go")
        await talk.press("f4")
        await talk.idle()
        assert talk.text().count("1 tool is held as it is; changes wait") == 2
        await talk.press("f4")
        await talk.idle()
        assert "The tools are no longer held; no change waited" in talk.text()


async def test_a_session_that_goes_on_is_still_held_and_says_what_waits(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("One.", pace_s=0)], tools=[tool("peek")]) as talk:
        await talk.say("Go")
        await talk.press("f4")
        await talk.idle()
        path = talk.conversation.writer.path
    again = SessionWriter.resume(path)
    script = [answer("Two.", pace_s=0)]
    async with talking(tmp_path, script, tools=[tool("water")], writer=again) as talk:
        assert "tools held, 2 changes wait" in talk.text()
        await talk.say("More")
        assert "Tool added" not in talk.text()
        await talk.say("/hold")
        assert "2 tool changes that waited: + water − peek" in talk.foot()
