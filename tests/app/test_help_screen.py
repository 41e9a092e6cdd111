"""The help screen, the palette and the dialogs, made from the registry."""

from dataclasses import replace

import pytest

from tests.support.fake_app import DressedApp, screen_text, surroundings, until
from tests.support.fake_blocks import FakeBlocks
from tui.app.actions import ACTIONS, TALKING, key_names
from tui.app.block_view import BlockView
from tui.app.goto_dialog import GotoDialog
from tui.app.help_screen import HelpScreen, help_lines
from tui.app.live_help import talk_lines
from tui.app.palette import ActionCommands
from tui.blocks.text import plain
from tui.nodes.search_query import Query


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [70, 120])
def test_help_lists_every_action_with_its_keys_within_the_width(lang: str, width: int) -> None:
    around = surroundings(lang)
    lines = help_lines(around, width)
    text = "\n".join(plain(line) for line in lines)
    assert all(line.cells <= width for line in lines)
    for action in ACTIONS:
        assert (around.tr.t(action.label) in text) == (action.scope not in TALKING), action.id
        if action.scope not in TALKING:
            assert key_names(around.keys[action.id], around.tr) in text


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [76, 120])
def test_the_help_of_talking_lists_its_actions_under_the_keys_in_force(lang: str, width: int) -> None:
    around = surroundings(lang)
    around = replace(around, keys=around.keys | {"approve-once": ("f9",), "send": ("ctrl+o",)})
    lines = talk_lines(around, width)
    assert all(line.cells <= width for line in lines)
    text = "".join("".join(plain(line).split()) for line in lines)
    for action in ACTIONS:
        if action.scope in TALKING:
            assert "".join(around.tr.t(action.label).split()) in text, action.id
    rows = [plain(line).split() for line in lines]
    assert ["F9"] in [row[:1] for row in rows] and ["Ctrl+O"] in [row[:1] for row in rows]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_tells_what_a_search_understands(lang: str) -> None:
    text = "\n".join(plain(line) for line in help_lines(surroundings(lang), 80))
    for words in ("is:tool-change", "is:error", "tool:NAME", "kind:assistant", "turn:3"):
        assert words in text
        assert not Query.parse(words.replace("NAME", "vent")).words


def test_help_stands_in_two_columns_where_there_is_room() -> None:
    narrow, wide = help_lines(surroundings(), 70), help_lines(surroundings(), 120)
    assert len(wide) < 0.7 * len(narrow)


def test_help_leaves_out_what_is_not_there() -> None:
    text = "\n".join(plain(line) for line in help_lines(surroundings(), 80, {"quit": "", "help": "Help"}))
    assert "Leave dsh-tui" in text and "Help" in text and "All keys" not in text
    assert "Search" not in text


@pytest.mark.parametrize("key", ["escape", "q", "question_mark"])
async def test_help_scrolls_and_closes(key: str) -> None:
    app = DressedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(HelpScreen(surroundings()))
        first = screen_text(app)
        assert any("Moving" in row for row in first)
        await pilot.press("j")
        assert screen_text(app) != first
        await pilot.press("G")
        assert any("Leave dsh-tui" in row for row in screen_text(app))
        await pilot.press(key)
        await until(pilot, lambda: not isinstance(app.screen, HelpScreen))


async def test_the_palette_offers_what_the_screen_and_its_view_can_do() -> None:
    app = DressedApp(lambda: BlockView(FakeBlocks(20)))
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(BlockView)
        view.focus()
        await pilot.pause()
        commands = ActionCommands(app.screen)
        offered = [str(hit.display) async for hit in commands.discover()]
        assert "First entry" in offered
        assert "Dark or light" in offered
        assert "Next turn" not in offered
        hits = [hit async for hit in commands.search("switch-theme")]
        assert [hit.text for hit in hits][:1] == ["Dark or light"]
        await hits[0].command()
        assert app.heard == ["switch-theme"]
        hits = [hit async for hit in commands.search("First entry")]
        await hits[0].command()
        assert view.cursor == 0


async def test_the_goto_prompt_takes_a_number_within_the_session() -> None:
    app = DressedApp()
    answers: list[int | None] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(GotoDialog(surroundings(), 1_200), answers.append)
        assert any("0 to 1,200" in row for row in screen_text(app))
        await pilot.press(*"a9x999", "enter")
        assert any("The last seq is 1,200." in row for row in screen_text(app))
        assert answers == []
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: answers == [999])
        await app.push_screen(GotoDialog(surroundings(), None), answers.append)
        await pilot.press("escape")
        await until(pilot, lambda: answers == [999, None])
