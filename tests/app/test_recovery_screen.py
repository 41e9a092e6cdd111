"""The way back: a draft is edited, and a fresh session starts from it, reading only until a check is seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.app_driver import NARROW, WIDE, Driver, recording, run_app, settings
from tests.support.fake_provider import FakeProvider, Reply, messages_events, refusal, sse
from tests.support.fake_provider import answer as answered_with
from tests.support.live_driver import Ticking, tool
from tui.app.application import DshApp
from tui.app.conversation import Conversation, Starter
from tui.app.live_screen import LiveScreen
from tui.app.loader import open_reading
from tui.app.recovery_screen import RecoveryScreen
from tui.app.session_screen import SessionScreen
from tui.cli.fresh_start import improver
from tui.config import Config
from tui.i18n import Translator
from tui.llm.providers import Providers
from tui.llm.script import Answers, Call, Pause, ScriptedAnswer, answer
from tui.llm.scripted import ScriptedAdapter
from tui.loop.agent import Agent
from tui.loop.fresh_start import FreshStart, first_check
from tui.loop.header import Selection
from tui.loop.improvement import Improvement
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
async def stuck(
    beginner: Starter | None,
    lang: str = "en",
    *,
    provider: FakeProvider | None = None,
    keys: Mapping[str, tuple[str, ...]] | None = None,
    size: tuple[int, int] = WIDE,
) -> AsyncIterator[Driver]:
    """The stuck session with its draft open in the editor; a provider on loopback is the default route."""
    whole, tail = open_reading(STUCK)
    apps: list[DshApp] = []

    def first(app: DshApp) -> SessionScreen:
        apps.append(app)
        return SessionScreen(whole, tail, app.surroundings)

    improver = None if provider is None else asking(provider)
    chosen = replace(settings(lang), improver=improver, keys=keys or {})
    async with run_app(chosen, first, starter=beginner, size=size) as driver:
        try:
            await driver.until(lambda: isinstance(driver.top, SessionScreen))
            await driver.press("s")
            await driver.until(lambda: isinstance(driver.top, RecoveryScreen))
            await driver.pilot.pause()
            yield driver
        finally:
            for conversation in apps[0].started:
                await conversation.close()


def asking(provider: FakeProvider) -> Callable[[Translator], Improvement | str]:
    """What the command line gives the app for a settings file that names this provider."""
    tables = {"creek": {"kind": "deepseek", "base_url": provider.url, "api_key_env": "CREEK_KEY"}}
    tables["creek"]["models"] = [{"id": "minnow-2"}]  # type: ignore[assignment]
    return lambda tr: improver(Config(providers=tables), Path("config.toml"), tr)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREEK_KEY", "key-of-nobody-77")
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)


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
        assert origin.data == {
            "sessionId": "session-5f0a2cef0e464d38951cbd14e256ded4",
            "seq": 83,
            "path": str(STUCK),
        }
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
        assert "# 继续：" in driver.text()


BETTER = "## Goal\n\nMist the ferns (event 33).\n\n## Side effects that must not be repeated\n\n- None.\n"


async def test_a_model_words_the_draft_better_and_the_logs_own_can_be_had_back() -> None:
    async with FakeProvider() as provider, stuck(None, provider=provider) as driver:
        before = editor(driver).editor.text
        assert provider.requests == [], "nothing is sent unasked"
        provider.queue(answered_with({"text": BETTER}))
        await driver.press("f7")
        await driver.until(lambda: "Improved by minnow-2 at creek" in driver.foot())
        after = editor(driver).editor.text
        assert "Mist the ferns (event 33)." in after and "Noted by the model; check it:" in after
        assert before.split("## Changed files")[1].split("## Test")[0] in after
        assert not editor(driver).editor.read_only
        await driver.press("f8")
        assert editor(driver).editor.text == before
        await driver.press("f8")
        assert editor(driver).editor.text == after
        assert len(provider.requests) == 1 and "tools" not in provider.bodies[0]


async def test_the_better_draft_comes_in_while_the_model_writes() -> None:
    more = asyncio.Event()
    events = [sse(event) for event in messages_events({"text": BETTER}, size=30)]
    half = len(events) // 2
    async with FakeProvider() as provider, stuck(None, provider=provider) as driver:
        provider.queue(Reply(pieces=[*events[:half], more, *events[half:]]))
        await driver.press("f7")
        await driver.until(lambda: "Mist the ferns" in editor(driver).editor.text)
        assert "Esc stops it" in driver.foot() and editor(driver).editor.read_only
        for key in ("f5", "f7", "f8"):
            await driver.press(key)
            assert "still writing" in driver.foot()
        assert "## First steps" in editor(driver).editor.text, "it is a whole draft at every moment"
        more.set()
        await driver.until(lambda: "Improved by" in driver.foot())


async def test_the_model_is_stopped_by_the_key_that_closes_and_the_draft_is_as_it_was() -> None:
    never = asyncio.Event()
    events = [sse(event) for event in messages_events({"text": BETTER}, size=30)]
    async with FakeProvider() as provider, stuck(None, provider=provider) as driver:
        editor(driver).editor.insert("Only the ferns.\n")
        provider.queue(Reply(pieces=[*events[:6], never]))
        await driver.press("f7")
        await driver.until(lambda: "Mist the ferns" in editor(driver).editor.text)
        await driver.press("escape")
        await driver.until(lambda: "The model was stopped" in driver.foot())
        await provider.until(lambda: provider.open_connections == 0)
        assert editor(driver).editor.text.startswith("Only the ferns.\n# Resume: ")
        assert isinstance(driver.top, RecoveryScreen)


async def test_a_failure_is_one_sentence_and_the_draft_stays() -> None:
    async with FakeProvider() as provider, stuck(None, provider=provider) as driver:
        before = editor(driver).editor.text
        provider.queue(refusal(401, "authentication_error", "no such key"))
        await driver.press("f7")
        await driver.until(lambda: "the model gave no answer: AUTH" in driver.foot())
        assert editor(driver).editor.text == before
        await driver.press("f8")
        assert "There is only one draft" in driver.foot()


async def test_without_a_configured_model_the_editor_says_how_to_get_one() -> None:
    async with stuck(None) as driver:
        editor(driver)._doors = replace(
            editor(driver)._doors, improver=lambda tr: improver(Config(), Path("config.toml"), tr)
        )
        await driver.press("f7")
        assert "No provider is configured" in driver.foot()


async def test_the_draft_is_saved_as_a_file_but_in_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    (tmp_path / "dsh").mkdir()
    async with stuck(None) as driver:
        editor(driver).editor.insert("Ferns. ")
        await driver.press("f9", "enter")
        await driver.until(lambda: "Saved as summary-" in driver.foot())
        (saved,) = tmp_path.glob("summary-*-83.md")
        assert saved.read_text("utf-8").startswith("Ferns. # Resume: ")
        await driver.press("f9", "enter")
        assert "press it again to replace it" in driver.text()
        await driver.press("enter")
        await driver.until(lambda: "Saved as" in driver.foot())
        await driver.press("f9", *(["backspace"] * 40), *"dsh/x.md", "enter")
        assert "inside a home of sessions" in driver.text()
        await driver.press("escape", "escape")
        await driver.until(lambda: driver.top is driver.session)
        assert not (tmp_path / "dsh" / "x.md").exists()


async def test_the_keys_of_the_editor_are_the_readers_own_and_known_to_help_and_palette() -> None:
    async with stuck(None, keys={"start-fresh": ("f2",), "copy-draft": ()}) as driver:
        assert "F2 start a fresh session" in driver.foot() and "F6" not in driver.foot()
        await driver.press("f5")
        assert "No session can be started" not in driver.foot()
        await driver.press("f2")
        await driver.until(lambda: "No session can be started from here." in driver.foot())
        await driver.press("f1")
        await driver.until(lambda: not isinstance(driver.top, RecoveryScreen))
        assert "F2" in driver.text() and "Save the draft as a file" in driver.text()
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.top, RecoveryScreen))
        await driver.press("ctrl+p")
        await driver.until(lambda: not isinstance(driver.top, RecoveryScreen))
        await driver.until(lambda: "Start a fresh session from the draft" in driver.text())


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_on_a_narrow_screen_the_keys_that_matter_stay(lang: str) -> None:
    async with stuck(None, lang, size=NARROW) as driver:
        for key in ("F5", "Esc", "F7"):
            assert key in driver.foot()


async def test_a_session_that_has_started_takes_away_what_lies_over_the_draft(tmp_path: Path) -> None:
    begun = asyncio.Event()
    beginner = Beginner(tmp_path)

    async def slowly(fresh: FreshStart) -> Conversation | str:
        await begun.wait()
        return await beginner(fresh)

    async with stuck(slowly) as driver:
        await driver.press("f5", "f1")
        await driver.until(lambda: not isinstance(driver.top, RecoveryScreen))
        begun.set()
        await driver.until(lambda: isinstance(driver.top, LiveScreen))
        assert not [screen for screen in driver.app.screen_stack if isinstance(screen, RecoveryScreen)]
        await answered(driver, 1)
