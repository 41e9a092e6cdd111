"""The way back: a draft is edited, and a fresh session starts from it, reading only until a check is seen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.app_driver import Driver, recording, run_app, settings
from tests.support.live_driver import Ticking, tool
from tui.app.application import DshApp
from tui.app.conversation import Conversation
from tui.app.live_screen import LiveScreen
from tui.app.loader import open_reading
from tui.app.recovery_screen import RecoveryScreen
from tui.app.session_screen import SessionScreen
from tui.llm.providers import Providers
from tui.llm.script import Answers, Call, Pause, ScriptedAnswer, answer
from tui.llm.scripted import ScriptedAdapter
from tui.loop.agent import Agent
from tui.loop.fresh_start import FreshStart, first_check
from tui.loop.header import Selection
from tui.loop.messages import text_of
from tui.loop.state import AgentOptions
from tui.session.writer import SessionWriter
from tui.tools.approval import ApprovalService
from tui.tools.registry import ToolRegistry

STUCK = recording("rejected-update")
REFUSED = "not declared read-only"


class Beginner:
    """Begins sessions on the scripted provider, or says why not."""

    def __init__(self, folder: Path, refusal: str = "", script: list[ScriptedAnswer] | None = None) -> None:
        self.folder, self.refusal, self.script = folder, refusal, script
        self.asked: list[FreshStart] = []

    async def __call__(self, fresh: FreshStart) -> Conversation | str:
        self.asked.append(fresh)
        if self.refusal:
            return self.refusal
        clock = Ticking()
        script = self.script or [
            answer(Call("sow_tray", {"bed": "fern"}), pace_s=0),
            answer("I may only look.", pace_s=0),
            answer(Call("sow_tray", {"bed": "fern"}), pace_s=0),
            answer("Sown it is.", pace_s=0),
        ]
        adapter = ScriptedAdapter(Answers(script), clock)
        providers = Providers([adapter])
        writer = SessionWriter.create(self.folder, "/srv/demo", encoding="none", now=clock.now_ms)
        registry = ToolRegistry(approval=ApprovalService("ask", None, writer.append))
        registry.register(tool("sow_tray", "the tray is sown"))
        selection = Selection(provider=adapter.provider, model="scripted-in-history")
        options = AgentOptions(selection=selection, write_title=False, clock=clock, draw=lambda: 0.5)
        fresh.record(writer)
        return Conversation(
            agent=Agent(writer, providers, registry, options),
            writer=writer,
            providers=providers,
            now_ms=lambda: clock.ms,
            opening=fresh.summary,
            first_check=first_check(writer, registry),
        )


@asynccontextmanager
async def stuck(beginner: Beginner | None, lang: str = "en") -> AsyncIterator[Driver]:
    """The stuck session with its draft open in the editor."""
    whole, tail = open_reading(STUCK)
    apps: list[DshApp] = []

    def first(app: DshApp) -> SessionScreen:
        apps.append(app)
        return SessionScreen(whole, tail, app.surroundings)

    async with run_app(settings(lang), first, starter=beginner) as driver:
        try:
            await driver.until(lambda: isinstance(driver.top, SessionScreen))
            await driver.press("s")
            await driver.until(lambda: isinstance(driver.top, RecoveryScreen))
            await driver.pilot.pause()
            yield driver
        finally:
            for conversation in apps[0].started:
                await conversation.close()


def editor(driver: Driver) -> RecoveryScreen:
    screen = driver.top
    assert isinstance(screen, RecoveryScreen)
    return screen


def live(driver: Driver) -> LiveScreen:
    screen = driver.top
    assert isinstance(screen, LiveScreen)
    return screen


async def answered(driver: Driver, turns: int) -> None:
    """Wait until so many turns are over and shown."""
    screen = live(driver)
    events = screen.conversation.writer.events

    def over() -> bool:
        return sum(event.type == "turn/end" for event in events) == turns and not screen.runs

    await driver.until(over)
    screen.feed.beat()
    await driver.pilot.pause()


async def command(driver: Driver, text: str) -> None:
    live(driver).composer.focus()
    live(driver).composer.insert(text)
    await driver.pilot.pause()
    await driver.press("enter")


def results(driver: Driver) -> list[str]:
    return [
        text_of(event.data["message"])
        for event in live(driver).conversation.writer.events
        if event.type == "tool/result"
    ]


async def test_an_edited_draft_starts_a_session_that_only_reads_until_the_check_is_confirmed(
    tmp_path: Path,
) -> None:
    before = STUCK.read_bytes()
    beginner = Beginner(tmp_path)
    async with stuck(beginner) as driver:
        assert "# Resume: " in driver.text() and "start a fresh session" in driver.foot()
        editor(driver).editor.insert("Only the ferns.\n")
        await driver.press("f5")
        await driver.until(lambda: isinstance(driver.top, LiveScreen))
        await answered(driver, 1)

        events = live(driver).conversation.writer.events
        (origin,) = [event for event in events if event.type == "plugin:dsh-tui/recovered-from"]
        assert origin.data == {"sessionId": "session-5f0a2cef0e464d38951cbd14e256ded4", "seq": 83}
        assert origin.ignorable
        first = next(event for event in events if event.type == "user/message")
        assert text_of(first.data).startswith("Only the ferns.\n# Resume: ")
        assert "reads only until /checked" in driver.head()
        assert len(results(driver)) == 1 and REFUSED in results(driver)[0]

        await command(driver, "/checked")
        assert "tools may write and run" in driver.foot()
        assert "/checked" not in driver.head()
        await command(driver, "Now sow.")
        await answered(driver, 2)
        assert results(driver)[1] == "the tray is sown"
    assert STUCK.read_bytes() == before


async def test_there_is_nothing_to_confirm_before_a_turn_was_answered(tmp_path: Path) -> None:
    async with stuck(Beginner(tmp_path, script=[answer(Pause(30), "Never.")])) as driver:
        await driver.press("f5")
        await driver.until(lambda: isinstance(driver.top, LiveScreen) and live(driver).runs)
        await command(driver, "/checked")
        assert "no first check to confirm yet" in driver.text()
        await driver.press("escape")
        await answered(driver, 1)
        await command(driver, "/checked")
        assert "no first check to confirm yet" in driver.text()
        assert "reads only until /checked" in driver.head()


async def test_without_a_provider_the_editor_says_so_and_keeps_what_was_written(tmp_path: Path) -> None:
    beginner = Beginner(tmp_path, "No provider is configured.")
    async with stuck(beginner) as driver:
        editor(driver).editor.insert("Ferns. ")
        await driver.press("f5")
        await driver.until(lambda: "No provider is configured." in driver.foot())
        assert editor(driver).editor.text.startswith("Ferns. # Resume: ")
        assert driver.app.started == []


async def test_where_nothing_can_be_started_the_editor_says_so() -> None:
    async with stuck(None) as driver:
        await driver.press("f5")
        await driver.until(lambda: "No session can be started from here." in driver.foot())


async def test_an_empty_draft_starts_nothing(tmp_path: Path) -> None:
    beginner = Beginner(tmp_path)
    async with stuck(beginner) as driver:
        editor(driver).editor.text = " \n"
        await driver.press("f5")
        await driver.until(lambda: "The summary is empty" in driver.foot())
        assert beginner.asked == []


async def test_closing_loses_an_edited_draft_only_at_the_second_press(tmp_path: Path) -> None:
    async with stuck(Beginner(tmp_path)) as driver:
        editor(driver).editor.insert("Ferns. ")
        await driver.press("escape")
        assert "press it again" in driver.foot()
        await driver.press("escape")
        await driver.until(lambda: driver.top is driver.session)


async def test_the_draft_as_it_stands_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []

    async def take(app: DshApp, text: str) -> str:
        copied.append(text)
        return "copied"

    monkeypatch.setattr(DshApp, "copy", take)
    async with stuck(None) as driver:
        editor(driver).editor.insert("Ferns. ")
        await driver.press("f6")
        await driver.until(lambda: bool(copied))
        assert copied[0].startswith("Ferns. # Resume: ")
        assert "## Side effects that must not be repeated" in copied[0]
        await driver.press("escape", "escape")
        await driver.until(lambda: driver.top is driver.session)


async def test_the_editor_speaks_chinese() -> None:
    async with stuck(None, "zh") as driver:
        assert "开始新会话" in driver.foot() and "摘要草稿" in driver.head()
        assert "# 恢复：" in driver.text()
