"""`dsh-tui demo`: every scene shows what its name says, in plain form and on the screen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.app_driver import run_app, settings
from tests.support.live_driver import Talk
from tui.app.live_screen import LiveScreen
from tui.app.run import library_app
from tui.cli import main
from tui.cli.demo import scene_starter
from tui.cli.grammar import SCENES
from tui.cli.run import Run
from tui.cli.scenes import Scene, scene_names, scenes
from tui.cli.talking import open_scene
from tui.i18n import translator
from tui.session.store import Homes


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    yield tmp_path


@pytest.fixture
def temporary(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders for a while are made."""
    folder = homes / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def running(lang: str = "en") -> Run:
    return Run(settings=settings(), tr=translator(lang), plain=False, options={})


def played(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["demo", *words]) == 0
    done = capsys.readouterr()
    assert done.err == ""
    return done.out


def test_the_scenes_that_ship_are_those_of_the_command_line() -> None:
    assert scene_names() == SCENES


def texts(value: Any) -> Iterator[dict[str, str]]:
    """Every text of a scene that is there in more than one language."""
    if isinstance(value, dict):
        if "en" in value or "zh" in value:
            yield value
        for entry in value.values():
            yield from texts(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from texts(entry)


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.name)
def test_every_text_of_a_scene_stands_in_both_languages(scene: Scene) -> None:
    found = [scene.title, *texts(scene.tools)]
    for turn in scene.turns:
        found += [turn.prompt, *texts(turn.answers), *texts(turn.redefined)]
    assert all(set(text) == {"en", "zh"} and all(text.values()) for text in found)


SEEN = {
    "one-tool-added": "Tool added: mist_bed (saltmarsh)",
    "twelve-added": "Tools changed · 12 added, 3 removed",
    "removed-and-restored": "Tool restored: mist_bed (saltmarsh)",
    "redefined": "Tool redefined: mist_bed (saltmarsh)",
    "refused": "does not accept tool changes in mid-session",
}
SEEN_IN_CHINESE = {
    "one-tool-added": "新增工具：mist_bed（saltmarsh）",
    "twelve-added": "工具变更 · 新增 12 个，移除 3 个",
    "removed-and-restored": "恢复工具：mist_bed（saltmarsh）",
    "redefined": "工具定义变更：mist_bed（saltmarsh）",
    "refused": "不接受会话中途的工具变更",
}


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_shows_what_its_name_says(name: str, homes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SEEN[name] in played(capsys, "--scene", name)
    assert SEEN_IN_CHINESE[name] in played(capsys, "--scene", name, "--lang", "zh")


def test_a_call_of_a_tool_that_was_removed_is_refused(
    homes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "UNKNOWN_TOOL" in played(capsys, "--scene", "twelve-added")


def test_a_refused_change_costs_one_more_request_and_only_once(
    homes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = played(capsys, "--scene", "refused")
    assert out.index("req_demo_0002") < out.index("Rung.") < out.index("It is down.")


def test_the_demo_leaves_nothing_behind(homes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played(capsys)
    assert [path for path in homes.rglob("*") if path.is_file()] == []


def test_a_scene_that_does_not_exist_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--scene", "redefine"]) == 64
    assert "redefined" in capsys.readouterr().err


async def test_on_the_screen_enter_alone_plays_the_scene(tmp_path: Path) -> None:
    scene = next(scene for scene in scenes() if scene.name == "one-tool-added")
    run = running()
    conversation = await open_scene(run, scene, tmp_path, answerer=None, pace_s=0.0)
    try:
        async with run_app(
            settings(), lambda app: LiveScreen(conversation, app.surroundings), size=(120, 40)
        ) as driver:
            talk = Talk(driver.app, driver.pilot)
            talk.conversation = conversation
            await talk.until(lambda: isinstance(talk.top, LiveScreen) and talk.live.composer.has_focus)
            assert "Enter sends: How is the fern bed?" in talk.text()
            await talk.press("enter")
            await talk.idle()
            assert "31 %" in talk.text() and "Enter sends: The misters" in talk.text()
            await talk.press("enter")
            await talk.until(lambda: talk.live.approval.has_focus)
            assert talk.text().count("Tool added: mist_bed (saltmarsh)") == 2
            conversation.approvals.answerer = None
            talk.live.approval.close()
            await talk.idle()
            assert "Enter begins the next one: twelve tools added" in talk.text()
    finally:
        await conversation.close()


async def test_enter_at_the_end_of_a_scene_begins_the_next_and_leaving_leaves_both(temporary: Path) -> None:
    run = running()
    with ExitStack() as folders:
        first = await scene_starter(run, folders, scenes()[-2].name)(run.tr)
        assert not isinstance(first, str) and first.guide is not None
        async with run_app(settings(), lambda app: LiveScreen(first, app.surroundings)) as driver:
            talk = Talk(driver.app, driver.pilot)
            talk.conversation = first
            await talk.until(lambda: isinstance(talk.top, LiveScreen) and talk.live.composer.has_focus)
            for turn in scenes()[-2].turns:
                first.guide.about_to_send(next(iter(turn.prompt.values())))
            await talk.press("enter")
            await talk.until(lambda: isinstance(talk.top, LiveScreen) and talk.top.conversation is not first)
            last = scenes()[-1]
            await talk.until(lambda: f"Enter sends: {last.turns[0].prompt['en']}"[:60] in talk.text())
            assert talk.top.conversation.following is None
            await talk.until(lambda: talk.top.composer.has_focus)
            await talk.press("ctrl+d")
            await talk.until(lambda: not talk.app.is_running or talk.app.return_code == 0)
        for conversation in (first, *driver.app.started):
            await conversation.close()
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="terminals")
async def test_a_prompt_of_ones_own_gets_an_answer_too(tmp_path: Path) -> None:
    scene = scenes()[0]
    run = running("zh")
    conversation = await open_scene(run, scene, tmp_path, answerer=None, pace_s=0.0)
    conversation.agent.followup("随便说点什么")
    await conversation.agent.when_idle()
    answers = [event for event in conversation.writer.events if event.type == "assistant/message"]
    await conversation.close()
    assert "按 Enter" in str(answers[-1].data["message"]["content"])


async def test_an_empty_library_starts_the_demo_by_a_key(homes: Path, temporary: Path) -> None:
    run = running()
    with ExitStack() as folders:
        app = library_app(
            Homes(homes / "own", homes / "dsh"), settings=settings(), demo=scene_starter(run, folders)
        )
        async with app.run_test(size=(80, 24)) as pilot:
            driver = Talk(app, pilot)
            await driver.until(lambda: "Enter starts the demo" in driver.text())
            await driver.press("L")
            await driver.until(lambda: "开始演示" in driver.text())
            await driver.press("enter")
            await driver.until(lambda: isinstance(driver.top, LiveScreen))
            # The demo speaks the language that the screen speaks by now.
            await driver.until(lambda: "蕨" in driver.text())
            assert len(list(temporary.iterdir())) == 1
        for conversation in app.started:
            await conversation.close()
        assert len(app.started) == 1
    assert list(temporary.iterdir()) == []
