"""A checkpoint of a session that is well: offered before its tools change, saved, or gone on from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.live_driver import Talk, Ticking, talking, tool
from tui.app.conversation import Conversation
from tui.app.live_screen import LiveScreen
from tui.app.recovery_screen import RecoveryScreen
from tui.llm.providers import Providers
from tui.llm.script import Answers, Call, Fail, Pause, answer
from tui.llm.scripted import ScriptedAdapter
from tui.loop.agent import Agent
from tui.loop.fresh_start import FreshStart, first_check
from tui.loop.header import Selection
from tui.loop.messages import text_of
from tui.loop.state import AgentOptions, CompactionOptions
from tui.session.writer import SessionWriter
from tui.tools.approval import ApprovalService
from tui.tools.registry import ToolRegistry

SHORT = CompactionOptions(retain_tokens=5)
"""Every session with a few words is a long one."""
WORK = [
    answer(Call("sow_tray", {"bed": "fern"}), pace_s=0),
    answer("The ferns are sown; the moss is left.", pace_s=0),
]


class Beginner:
    """Begins sessions with the tools of today."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[FreshStart] = []

    async def __call__(self, fresh: FreshStart) -> Conversation | str:
        self.asked.append(fresh)
        clock = Ticking()
        script = [answer(Call("water", {"bed": "moss"}), pace_s=0), answer("I may only look.", pace_s=0)]
        adapter = ScriptedAdapter(Answers(script), clock)
        writer = SessionWriter.create(self.folder, "/srv/demo", encoding="none", now=clock.now_ms)
        registry = ToolRegistry(approval=ApprovalService("ask", None, writer.append))
        registry.register(tool("water"))
        options = AgentOptions(
            selection=Selection(provider=adapter.provider, model=fresh.model), clock=clock, draw=lambda: 0.5
        )
        fresh.record(writer)
        return Conversation(
            agent=Agent(writer, Providers([adapter]), registry, options),
            writer=writer,
            providers=Providers([adapter]),
            now_ms=lambda: clock.ms,
            opening=fresh.summary,
            first_check=first_check(writer, registry),
        )


def editor(talk: Talk) -> RecoveryScreen:
    screen = talk.top
    assert isinstance(screen, RecoveryScreen)
    return screen


async def command(talk: Talk, text: str) -> None:
    await talk.write(text)
    await talk.press("enter")


async def checkpoint(talk: Talk) -> None:
    await command(talk, "/checkpoint")
    await talk.until(lambda: isinstance(talk.top, RecoveryScreen))
    await talk.pilot.pause()


async def test_a_checkpoint_is_a_summary_that_calls_nothing_stuck(tmp_path: Path) -> None:
    async with talking(tmp_path, WORK, tools=[tool("sow_tray")]) as talk:
        await talk.say("Sow the ferns and the moss.")
        await checkpoint(talk)
        text = editor(talk).editor.text
        assert text.startswith("# Checkpoint: ")
        assert "sow\\_tray" in text.split("## Side effects that must not be repeated")[1]
        assert talk.head().startswith("Checkpoint  save it, or go on from it")
        for word in ("stuck", "Resume", "Why the original is left"):
            assert word not in talk.text() + text


async def test_a_session_whose_last_turn_failed_is_not_called_well(tmp_path: Path) -> None:
    script = [*WORK, answer(Fail("No such block.", "INVALID_REQUEST", 400), pace_s=0)]
    async with talking(tmp_path, script, tools=[tool("sow_tray")]) as talk:
        await talk.say("Sow the ferns.")
        await talk.say("And the moss.")
        await checkpoint(talk)
        assert editor(talk).editor.text.startswith("# Resume: ")
        assert talk.head().startswith("Draft of a summary")


async def test_it_is_saved_as_a_file_and_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with talking(
        tmp_path / "own", [*WORK, answer("Moss too.", pace_s=0)], tools=[tool("sow_tray")]
    ) as talk:
        await talk.say("Sow the ferns.")
        await checkpoint(talk)
        await talk.press("f9", "enter")
        await talk.until(lambda: "Saved as checkpoint-" in talk.foot())
        (saved,) = tmp_path.glob("checkpoint-*.md")
        assert saved.read_text("utf-8") == editor(talk).editor.text
        await talk.press("escape")
        await talk.until(lambda: isinstance(talk.top, LiveScreen))
        await talk.say("And the moss.")
        assert "Moss too." in talk.text()


async def test_a_fresh_session_goes_on_from_it_with_the_tools_of_today_and_names_the_original(
    tmp_path: Path,
) -> None:
    beginner = Beginner(tmp_path / "fresh")
    async with talking(tmp_path / "own", WORK, tools=[tool("sow_tray")], starter=beginner) as talk:
        old = talk.live
        await talk.say("Sow the ferns.")
        last = talk.conversation.writer.events
        seq = len(last) - 1
        await checkpoint(talk)
        await talk.press("f5")
        await talk.until(lambda: isinstance(talk.top, LiveScreen) and talk.top is not old)
        fresh = talk.top
        assert isinstance(fresh, LiveScreen)
        events = fresh.conversation.writer.events
        await talk.until(lambda: any(event.type == "turn/end" for event in events) and not fresh.runs)
        (origin,) = [event for event in events if event.type == "plugin:dsh-tui/recovered-from"]
        assert origin.data == {
            "sessionId": talk.conversation.writer.id,
            "seq": seq,
            "path": str(talk.conversation.writer.path),
            "checkpoint": True,
        }
        assert beginner.asked[0].model == "scripted-in-history"
        header = next(event for event in events if event.type == "request/header")
        assert [entry["name"] for entry in header.data["header"]["tools"]] == ["water"]
        (title,) = [event.data["title"] for event in events if event.type == "session/title"]
        assert title.startswith("Checkpoint: ")
        (result,) = [event.data["message"] for event in events if event.type == "tool/result"]
        assert "not declared read-only" in text_of(result)
        fresh.feed.beat()
        await talk.pilot.pause()
        assert "reads only until /checked" in talk.head()
        assert "Goes on from a checkpoint of " in talk.text()
        for conversation in talk.app.started:
            await conversation.close()


async def test_a_fresh_session_waits_until_the_turn_is_over(tmp_path: Path) -> None:
    beginner = Beginner(tmp_path / "fresh")
    script = [answer("Sowing.", Pause(30), "Never.")]
    async with talking(tmp_path / "own", script, starter=beginner) as talk:
        await command(talk, "Sow the ferns.")
        await talk.until(lambda: talk.live.runs)
        await checkpoint(talk)
        await talk.press("f5")
        await talk.until(lambda: "A turn is running" in talk.foot())
        assert beginner.asked == []
        await talk.press("escape")
        await talk.until(lambda: isinstance(talk.top, LiveScreen))
        await talk.press("escape")
        await talk.idle()


async def test_a_long_session_offers_a_checkpoint_before_its_tools_change(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Wet.", pace_s=0)], tools=[tool("peek")], compaction=SHORT) as talk:
        talk.registry.register(tool("early"))
        await talk.pilot.pause()
        assert "/checkpoint" not in talk.foot(), "there is nothing yet that could be noted"
        await talk.say("How wet is the moss in the north bed?")
        talk.registry.register(tool("water"))
        await talk.pilot.pause()
        assert (
            "The session is long: /checkpoint before its tools change, or /hold. Next: + water" in talk.foot()
        )


async def test_a_long_session_that_goes_on_with_other_tools_offers_it_at_once(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Wet.", pace_s=0)], tools=[tool("peek"), tool("mist")]) as talk:
        await talk.say("How wet is the moss in the north bed?")
        path = talk.conversation.writer.path
    writer = SessionWriter.resume(path)
    tools = [tool("peek"), tool("water")]
    async with talking(tmp_path, [], tools=tools, compaction=SHORT, writer=writer) as talk:
        assert "/checkpoint before its tools change, or /hold. Next: + water − mist" in talk.foot()


async def test_a_long_session_whose_tools_are_held_offers_it_with_what_waits(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Wet.", pace_s=0)], tools=[tool("peek")], compaction=SHORT) as talk:
        await talk.say("How wet is the moss in the north bed?")
        await talk.press("f4")
        assert "/checkpoint" not in talk.foot(), "nothing waits"
        talk.registry.register(tool("water"))
        await talk.pilot.pause()
        assert "The session is long: /checkpoint first. 1 tool change waits: + water" in talk.foot()
        await talk.press("f4")
        assert "/checkpoint first. The next request brings 1 tool change" in talk.foot()


async def test_holding_the_tools_when_changes_are_coming_offers_it_too(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Wet.", pace_s=0)], tools=[tool("peek")], compaction=SHORT) as talk:
        await talk.say("How wet is the moss in the north bed?")
        talk.registry.register(tool("water"))
        await talk.press("f4")
        assert "The session is long: /checkpoint first. 1 tool change waits: + water" in talk.foot()


async def test_a_short_session_is_not_bothered(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Wet.", pace_s=0)], tools=[tool("peek")]) as talk:
        await talk.say("How wet is the moss in the north bed?")
        talk.registry.register(tool("water"))
        await talk.pilot.pause()
        assert "/checkpoint" not in talk.foot()


async def test_it_is_offered_in_chinese(tmp_path: Path) -> None:
    async with talking(
        tmp_path, [answer("湿。", pace_s=0)], tools=[tool("peek")], compaction=SHORT, lang="zh"
    ) as talk:
        await talk.say("北边的苔藓有多湿？")
        talk.registry.register(tool("water"))
        await talk.pilot.pause()
        assert "会话已较长" in talk.foot() and "/checkpoint" in talk.foot() and "water" in talk.foot()
        await checkpoint(talk)
        assert editor(talk).editor.text.startswith("# 检查点：")
        assert talk.head().startswith("检查点")
