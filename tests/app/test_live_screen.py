"""A session on the screen while it runs: streaming, calls, tool changes, questions, stopping, failing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.app_driver import Driver, session_app
from tests.support.live_driver import talking, tool
from tui.blocks.text import plain
from tui.llm.script import Call, Fail, Pause, Say, Think, answer
from tui.session.log import SessionLog
from tui.session.writer import SessionWriter

LONG_MARKDOWN = "\n\n".join(
    f"## Bed {number}\n\n- moss **{number}**\n- fern\n\n```python\nbed = {number}\n\nmist(bed)\n```"
    for number in range(60)
)


def chat_rows(driver: Driver) -> list[str]:
    """All rows of the Chat pane, visible or not."""
    view = driver.session.chat
    width = view.content_width
    return [
        plain(row).rstrip() for block in range(view.model.count()) for row in view.model.layout(block, width)
    ]


async def test_what_streams_is_seen_before_the_answer_is_whole(tmp_path: Path) -> None:
    script = [answer(Think("Moss first."), "The **moss** is", Pause(30), " green.")]
    async with talking(tmp_path, script) as talk:
        await talk.write("How is it?")
        await talk.press("enter")
        await talk.until(lambda: "The moss is" in talk.text())
        assert "Thought for" in talk.text()
        assert talk.live.activity.is_moving
        await talk.press("escape")
        await talk.idle()
        assert "Stopped" in talk.text() and not talk.live.activity.is_moving


async def test_at_the_end_the_screen_equals_a_fresh_one(tmp_path: Path) -> None:
    script = [
        answer(Think("Count.\nThen answer."), Call("count_moths", {"bed": "fern"}), pace_s=0),
        answer("Nine.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n", pace_s=0),
    ]
    async with talking(tmp_path, script, tools=[tool("count_moths", "nine")]) as talk:
        await talk.say("How many moths?")
        live = chat_rows(talk)
        path = talk.conversation.writer.path
        await talk.conversation.writer.flush()
        async with session_app(path) as opened:
            await opened.press("G")
            fresh = chat_rows(opened)
    assert live == fresh
    assert any("count_moths" in row for row in live)


async def test_a_long_answer_stands_whole_as_it_came(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer(LONG_MARKDOWN, pace_s=0)]) as talk:
        await talk.say("All beds.")
        rows = chat_rows(talk)
        assert any("Bed 59" in row for row in rows)
        assert sum("mist(bed)" in row for row in rows) == 60
        assert "mist(bed)" in talk.text()


async def test_a_tool_change_is_seen_in_both_panes_the_moment_it_is_recorded(tmp_path: Path) -> None:
    script = [answer("Hello.", pace_s=0), answer(Pause(30), "Never.")]
    async with talking(tmp_path, script, tools=[tool("read_gauge")]) as talk:
        await talk.say("Hello")
        talk.registry.register(tool("mcp__saltmarsh__mist_bed"))
        await talk.write("And now?")
        await talk.press("enter")
        await talk.until(lambda: talk.text().count("Tool added: mist_bed (saltmarsh)") == 2)
        assert talk.live.runs


async def test_a_call_is_seen_while_it_runs(tmp_path: Path) -> None:
    release = asyncio.Event()
    script = [answer(Call("sow_tray", {"bed": "t-4"}), pace_s=0), answer("Sown.", pace_s=0)]
    async with talking(tmp_path, script, tools=[tool("sow_tray", until=release)]) as talk:
        await talk.write("Sow it.")
        await talk.press("enter")
        await talk.until(lambda: "sow_tray is running" in talk.text())
        assert "running" in talk.text()
        release.set()
        await talk.idle()
        assert "✓ sow_tray" in talk.text()


async def test_a_question_shows_command_and_arguments_and_waits_for_an_answer(tmp_path: Path) -> None:
    ask = tool("water", asks="it floods", command=("sh", "-c", "rm -rf x \x1b[2J"))
    script = [answer(Call("water", {"bed": "fern \u202e"}), pace_s=0), answer("Done.", pace_s=0)]
    async with talking(tmp_path, script, tools=[ask]) as talk:
        await talk.write("Water.")
        await talk.press("enter")
        await talk.until(lambda: talk.live.approval.request is not None and "May water run?" in talk.text())
        text = talk.text()
        assert "it floods" in text and 'sh -c "rm -rf x \\u001b[2J"' in text and "\\u202e" in text
        assert "\x1b" not in text and "\u202e" not in text
        await asyncio.sleep(0.4)
        await talk.press("y")
        await talk.idle()
        assert talk.live.composer.has_focus
        outcomes = [
            e.data["outcome"] for e in talk.conversation.writer.events if e.type == "approval/decided"
        ]
        assert outcomes == ["allowed-once"]


async def test_a_readers_own_keys_send_answer_and_stand_in_footer_and_question(tmp_path: Path) -> None:
    script = [answer(Call("water", {}), pace_s=0), answer("Done.", pace_s=0)]
    keys = {"send": ("ctrl+o",), "new-line": ("enter",), "approve-once": ("w",), "talk-help": ("f2",)}
    asking = [tool("water", asks="it floods")]
    async with talking(tmp_path, script, tools=asking, size=(140, 60), keys=keys) as talk:
        assert "Ctrl+O send" in talk.text() and "F2 keys" in talk.text()
        await talk.press("W", "enter")
        assert talk.live.composer.text == "W\n" and not talk.live.runs
        await talk.press("ctrl+o")
        await talk.until(lambda: talk.live.approval.has_focus and "w allow once" in talk.text())
        await asyncio.sleep(0.4)
        await talk.press("y")
        assert talk.live.approval.request is not None
        await talk.press("w")
        await talk.idle()
        await talk.press("f2")
        await talk.until(lambda: "Allow the call, this once" in talk.text())


async def test_a_rejection_takes_a_reason_that_the_model_is_told(tmp_path: Path) -> None:
    script = [answer(Call("water", {}), pace_s=0), answer("I will not.", pace_s=0)]
    async with talking(tmp_path, script, tools=[tool("water", asks="it floods")]) as talk:
        await talk.write("Water.")
        await talk.press("enter")
        await talk.until(lambda: talk.live.approval.has_focus)
        await asyncio.sleep(0.4)
        await talk.press("n", *"dry", "enter")
        await talk.idle()
        results = [event.data for event in talk.conversation.writer.events if event.type == "tool/result"]
        assert "dry" in str(results[0]["message"]["content"]) and results[0]["message"]["isError"]


async def test_a_question_does_not_take_the_keyboard_from_a_sentence(tmp_path: Path) -> None:
    script = [answer(Pause(0.2), Call("water", {}), pace_s=0), answer("No.", pace_s=0)]
    async with talking(tmp_path, script, tools=[tool("water", asks="it floods")]) as talk:
        await talk.write("Water.")
        await talk.press("enter")
        await talk.write("yes and")
        await talk.until(lambda: talk.live.approval.request is not None)
        await talk.press("y")
        assert talk.live.approval.request is not None
        assert talk.live.composer.text == "yes andy"


async def test_while_it_runs_enter_steers_and_tab_queues(tmp_path: Path) -> None:
    release = asyncio.Event()
    script = [
        answer(Call("water", {}), pace_s=0),
        answer("Steered.", pace_s=0),
        answer("Queued.", pace_s=0),
    ]
    async with talking(tmp_path, script, tools=[tool("water", until=release)]) as talk:
        await talk.write("Water.")
        await talk.press("enter")
        await talk.until(lambda: talk.live.runs)
        await talk.write("gently")
        await talk.press("enter")
        await talk.write("then sow")
        await talk.press("tab")
        await talk.until(lambda: len(talk.live.queue.items) == 2)
        assert "joins this turn" in talk.text() and "waits for its turn" in talk.text()
        release.set()
        await talk.idle()
        assert "Steered." in talk.text() and "Queued." in talk.text()
        assert talk.live.queue.items == ()


async def test_a_waiting_prompt_can_be_taken_back_and_edited(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer(Pause(30), "x")]) as talk:
        await talk.write("Wait.")
        await talk.press("enter")
        await talk.until(lambda: talk.live.runs)
        await talk.write("second thought")
        await talk.press("tab")
        await talk.until(lambda: len(talk.live.queue.items) == 1)
        await talk.press("alt+up")
        assert talk.live.queue.has_focus
        await talk.press("enter")
        await talk.until(lambda: talk.live.composer.text == "second thought")
        assert talk.conversation.agent.queued() == []


async def test_stopping_keeps_what_waits(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer(Pause(30), "x"), answer("Next.", pace_s=0)]) as talk:
        await talk.write("Wait.")
        await talk.press("enter")
        await talk.until(lambda: talk.live.runs)
        await talk.write("next")
        await talk.press("tab", "escape")
        await talk.idle()
        assert [entry.text for entry in talk.live.queue.items] == ["next"]
        await talk.press("enter")
        await talk.idle()
        assert "Next." in talk.text()


async def test_a_retry_is_counted_down_and_then_made(tmp_path: Path) -> None:
    script = [answer(Fail("slow down", "RATE_LIMIT", 429)), answer("There.", pace_s=0)]
    async with talking(tmp_path, script) as talk:
        await talk.write("Hello")
        await talk.press("enter")
        await talk.until(lambda: "Failed (RATE_LIMIT); attempt 2 in" in talk.text())
        await talk.idle()
        assert "There." in talk.text()
        assert not talk.live.activity.is_moving


async def test_a_failure_is_explained_with_a_way_out(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer(Fail("bad key", "AUTH", 401))]) as talk:
        await talk.say("Hello")
        assert "bad key" in talk.text()
        assert "The provider refused the key" in talk.text()


async def test_scrolling_up_ends_following_and_the_end_takes_it_back(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer(LONG_MARKDOWN, pace_s=0), answer("More.", pace_s=0)]) as talk:
        await talk.say("All beds.")
        assert talk.live.chat.following
        await talk.press("pageup", "pageup")
        top = talk.rows()[4][:58]
        assert not talk.live.chat.following
        talk.conversation.agent.followup("And more?")
        await talk.idle()
        assert talk.rows()[4][:58] == top
        assert "new" in talk.foot()
        for _ in range(12):
            await talk.press("pagedown")
        assert talk.live.chat.following and "More." in talk.text()


async def test_idle_means_no_timer(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Moss.", pace_s=0)]) as talk:
        await talk.say("How?")
        beats = talk.live.feed.beats
        await asyncio.sleep(0.3)
        assert talk.live.feed.beats == beats and not talk.live.activity.is_moving


async def test_a_resumed_session_shows_what_was_said_before(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Moss.", pace_s=0)]) as talk:
        await talk.say("How?")
        path = talk.conversation.writer.path
    writer = SessionWriter.resume(path)
    async with talking(tmp_path, [answer("Fern.", pace_s=0)], writer=writer) as talk:
        assert "Moss." in talk.text()
        await talk.press("up")
        assert talk.live.composer.text == "How?"
        await talk.say("")
        assert "Fern." in talk.text()


async def test_a_long_resumed_session_is_shown_without_decoding_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(tmp_path, [answer("Moss.", pace_s=0)]) as talk:
        await talk.say("How?")
        path = talk.conversation.writer.path
        for number in range(2_000):
            told = {"title": f"Moss {number}", "messageSeqs": [], "source": {"kind": "user"}}
            talk.conversation.writer.append("session/title", told)
    writer = SessionWriter.resume(path)
    decoded: list[int] = []
    event_of_row = SessionLog.event
    monkeypatch.setattr(SessionLog, "event", lambda log, row: decoded.append(row) or event_of_row(log, row))
    async with talking(tmp_path, [], writer=writer) as talk:
        await talk.press("up")
        assert talk.live.composer.text == "How?"
        assert len(set(decoded)) < 500


async def test_the_number_of_widgets_does_not_grow_with_the_session(tmp_path: Path) -> None:
    script = [answer(Say(f"Answer {number}."), pace_s=0) for number in range(30)]
    async with talking(tmp_path, script) as talk:
        before = len(list(talk.live.walk_children()))
        for number in range(30):
            talk.conversation.agent.followup(f"Prompt {number}")
        await talk.idle()
        assert "Answer 29." in talk.text()
        assert len(list(talk.live.walk_children())) == before < 150


async def test_the_language_changes_everywhere_at_once(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Moss.", pace_s=0)]) as talk:
        await talk.say("How?")
        talk.app.action_switch_language()
        await talk.pilot.pause()
        assert "发送" in talk.foot() and talk.live.composer.placeholder == "输入提示词；/ 查看命令"


async def test_routes_that_refuse_tool_changes_are_shown_and_forgotten(tmp_path: Path) -> None:
    script = [
        answer("first"),
        answer(Fail("tool_addition: no", "INVALID_REQUEST", 400)),
        answer("second"),
    ]
    async with talking(tmp_path, script, tools=[tool("peek")]) as talk:
        await talk.say("/tool-updates")
        assert "No route is known" in talk.foot()
        await talk.say("go")
        talk.registry.register(tool("water"))
        await talk.say("more")
        assert "scripted-in-history at scripted does not accept" in talk.text()
        assert "full definitions" in talk.head()
        await talk.say("/tool-updates")
        assert "scripted-in-history" in talk.foot()
        await talk.say("/tool-updates reset")
        assert talk.conversation.agent.learned.entries() == ()


async def test_held_tools_stay_and_what_changes_is_announced_and_waits(tmp_path: Path) -> None:
    script = [answer("One.", pace_s=0), answer("Two.", pace_s=0), answer("Three.", pace_s=0)]
    async with talking(tmp_path, script, tools=[tool("peek")]) as talk:
        await talk.say("Go")
        await talk.say("/hold")
        assert "stay as they are" in talk.foot() and "tools held" in talk.text()
        with talk.registry.announced_together():
            talk.disposers["peek"]()
            talk.registry.register(tool("water"))
        await talk.pilot.pause()
        assert "2 tool changes wait: + water − peek" in talk.foot()
        await talk.say("More")
        assert "Tool added" not in talk.text() and "tools held, 2 changes wait" in talk.text()
        await talk.press("f4")
        assert "The next request brings 2 tool changes that waited: + water − peek" in talk.foot()
        assert "tools held" not in talk.text()
        await talk.say("And now")
        headers = [event for event in talk.conversation.writer.events if event.type == "request/header"]
        assert [
            [entry["name"] for entry in event.data["header"]["tools"]]
            for event in headers
            if "tools" in event.data["header"]
        ][-1] == ["water"]
        assert "water" in talk.text()


async def test_held_tools_are_told_of_in_chinese(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("好。", pace_s=0)], tools=[tool("peek")], lang="zh") as talk:
        await talk.press("f4")
        assert "本会话的工具保持不变" in talk.foot() and "工具已冻结" in talk.text()
        talk.registry.register(tool("water"))
        await talk.pilot.pause()
        assert "1 项工具变更在等待：+ water" in talk.foot()
