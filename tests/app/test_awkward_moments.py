"""Keys that come where there is no room, or faster than what they act on changes."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

import pytest
from textual.command import CommandList
from textual.events import Key

from tests.support.app_driver import recording, run_app, session_app, settings
from tests.support.live_driver import talking
from tui.app.block_view import BlockView
from tui.app.doctor_screen import DoctorScreen
from tui.app.library_screen import LibraryScreen
from tui.app.linked_panes import Pane
from tui.app.palette import Palette
from tui.llm.script import answer
from tui.session.store import Homes


@pytest.mark.parametrize("message", [BlockView.Selected, BlockView.Activated])
@pytest.mark.parametrize("view", ["chat", "trajectory"])
async def test_what_was_chosen_may_be_gone_when_it_is_heard_of(
    view: Pane, message: type[BlockView.Selected | BlockView.Activated]
) -> None:
    async with session_app(recording("tool-use"), view=view) as driver:
        shown = driver.session.focused_pane[1]
        await driver.press("f")
        shown.post_message(message(shown, 0, None))
        await driver.pilot.pause()
        await driver.press("f", "home")
        assert shown.cursor is not None


@pytest.mark.parametrize("key", ["pagedown", "pageup", "down", "home", "end"])
async def test_the_palette_hears_keys_where_its_list_has_no_room(key: str) -> None:
    async with session_app(recording("tool-use")) as driver:
        await driver.press("ctrl+p")
        await driver.until(lambda: isinstance(driver.top, Palette))
        await driver.press("down")
        await driver.resize(120, 2)
        await driver.press(key, key)
        await driver.resize(120, 40)
        assert "Previous entry" in driver.text()


@pytest.mark.parametrize("width", [1, 7, 8, 9])
async def test_the_palette_opens_on_a_screen_without_room_for_it(width: int) -> None:
    async with session_app(recording("tool-use"), size=(width, 12)) as driver:
        await driver.press("ctrl+p")
        await driver.until(lambda: driver.top.query_one(CommandList).option_count > 1)
        await driver.press("down", "pagedown")
        assert len(driver.rows()) == 12


async def test_a_second_enter_in_the_palette_does_not_do_it_twice() -> None:
    async with session_app(recording("tool-use")) as driver:
        await driver.press("ctrl+p")
        await driver.until(lambda: isinstance(driver.top, Palette))
        await driver.press(*"filter-tool-changes")
        await driver.until(lambda: driver.top.query_one(CommandList).option_count == 1)
        await driver.press("down")
        for _ in range(4):
            driver.app.post_message(Key("enter", "\r"))
        await driver.until(lambda: driver.top is driver.session)
        assert driver.session.part.only_tool_changes


async def test_the_foot_of_the_matrix_names_the_keys_of_its_filter_while_that_is_typed() -> None:
    async with session_app(recording("tool-use")) as driver:
        await driver.press("3", "/", "a")
        await driver.until(lambda: "end the filter" in driver.foot())
        assert "error" not in driver.foot() and "keys" not in driver.foot()
        await driver.press("enter")
        await driver.until(lambda: "keys" in driver.foot())


async def test_the_foot_of_the_library_names_the_keys_of_its_filter_while_that_is_typed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "sessions" / "--srv--" / "session-1"
    folder.mkdir(parents=True)
    copy(recording("tool-use"), folder)
    homes = Homes(dsh=tmp_path, own=tmp_path / "own")
    async with run_app(settings(), lambda app: LibraryScreen(homes, app.surroundings)) as driver:
        await driver.press("/", "a")
        await driver.until(lambda: "end the filter" in driver.foot())
        assert "quit" not in driver.foot()
        await driver.press("enter")
        await driver.until(lambda: "quit" in driver.foot())


async def test_the_doctor_leads_nowhere_where_there_is_nothing_to_lead_to() -> None:
    for name, leads in (("tool-use", False), ("rejected-update", True)):
        async with session_app(recording(name)) as driver:
            await driver.press("d")
            await driver.until(lambda: isinstance(driver.top, DoctorScreen))
            assert ("go to the event" in driver.foot()) == leads, name


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_conversation_bears_a_screen_without_room_for_the_composer(tmp_path: Path, lang: str) -> None:
    async with talking(tmp_path, [answer("Moss.", pace_s=0)], lang=lang) as talk:
        for width in range(8, 0, -1):
            for height in (9, 30):
                await talk.resize(width, height)
                assert len(talk.rows()) == height
        await talk.resize(80, 24)
        await talk.say("What is green?")
        assert "Moss." in talk.text()
