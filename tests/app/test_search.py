"""Searching a session on the screen: from where one is, hit by hit, with what was meant in sight."""

from pathlib import Path

import pytest

from tests.support.app_driver import NARROW, Driver, recording, session_app
from tui.app import themes

MANY = recording("many-tools-changed")


def matches(driver: Driver) -> int:
    """Pieces of the screen that stand on the ground of a match."""
    palette = themes.PALETTES[themes.DARK]
    wanted = (palette.match_text, palette.match)
    styles = (segment.style for strip in driver.strips() for segment in strip)
    colours = ((style.color, style.bgcolor) for style in styles if style is not None)
    return sum(1 for ink, ground in colours if ink and ground and (ink.name, ground.name) == wanted)


async def test_typing_on_looks_from_where_the_search_began() -> None:
    async with session_app(MANY) as driver:
        # Each letter typed finds something elsewhere; what counts is where the search began.
        await driver.press("[", "[")
        assert driver.selected_seq() == 23
        await driver.search("open")
        # Turn 2 says nothing of opening but in its tool change.
        assert driver.selected_seq() == 28


async def test_a_text_that_is_nowhere_leaves_one_where_one_was() -> None:
    async with session_app(MANY) as driver:
        await driver.press("T")
        await driver.search("ventriloquist")
        assert "nothing found" in driver.search_row()
        assert driver.selected_seq() == 28


async def test_case_does_not_matter_and_brackets_are_no_markup() -> None:
    async with session_app(MANY) as driver:
        await driver.search("FERN")
        upper = driver.search_row().split(" of ")[1].split()[0]
        await driver.press("escape")
        await driver.search("fern")
        assert driver.search_row().split(" of ")[1].split()[0] == upper
        await driver.press("escape")
        await driver.search("[/b]")
        assert "nothing found" in driver.search_row()


async def test_escape_takes_the_marks_away_and_the_keyboard_back() -> None:
    async with session_app(MANY) as driver:
        await driver.search("vent")
        assert matches(driver) > 0
        await driver.press("escape")
        assert matches(driver) == 0
        assert driver.session.chat.has_focus
        await driver.press("t")
        assert driver.app.is_running


@pytest.mark.parametrize("size", [NARROW, (120, 40)])
async def test_the_hit_is_on_the_screen(size: tuple[int, int]) -> None:
    async with session_app(MANY, size=size) as driver:
        await driver.search("warm_frame")
        await driver.press("enter")
        assert "warm_frame" in driver.text()


async def test_only_tool_changes_can_be_asked_for() -> None:
    async with session_app(recording("remove-and-restore")) as driver:
        await driver.search("is:tool-change")
        assert " of " in driver.search_row()
        total = int(driver.search_row().split(" of ")[1].split()[0])
        assert total >= 6


async def test_a_search_can_be_changed_while_it_is_open() -> None:
    async with session_app(MANY) as driver:
        await driver.search("vent")
        await driver.press("enter", "/")
        await driver.press("ctrl+u")
        await driver.press(*"moths")
        await driver.until(lambda: "moths" in driver.search_row() and " of " in driver.search_row())
        assert driver.selected_seq() in (26, 28, 30, 31, 38)


async def test_the_empty_field_tells_what_a_search_understands() -> None:
    async with session_app(MANY, size=NARROW) as driver:
        await driver.press("/")
        await driver.until(lambda: bool(driver.session.query("#search Input")))
        await driver.until(lambda: "is:tool-change" in driver.search_row())
        assert "tool:NAME" in driver.search_row() and "turn:3" in driver.search_row()


async def test_enter_stays_at_the_hit_that_typing_went_to() -> None:
    async with session_app(MANY) as driver:
        await driver.press("g")
        await driver.search("vent")
        shown = driver.selected_seq()
        await driver.press("enter")
        assert driver.selected_seq() == shown
        assert "1 of" in driver.search_row()
        await driver.press("/", "enter")
        assert "2 of" in driver.search_row()


async def test_the_footer_tells_the_keys_of_a_search_while_there_is_one() -> None:
    async with session_app(MANY) as driver:
        before = driver.foot()
        await driver.search("vent")
        assert "Esc end the search" in driver.foot() and "⏎ go there" in driver.foot()
        await driver.press("enter")
        assert "N n hit" in driver.foot() and "/ another search" in driver.foot()
        await driver.press("escape")
        assert driver.foot() == before


async def test_an_open_search_takes_another_language() -> None:
    async with session_app(MANY) as driver:
        await driver.search("vent")
        await driver.press("enter", "L")
        await driver.until(lambda: "结束搜索" in driver.foot() and "共" in driver.search_row())


async def test_the_pager_goes_to_a_hit_that_the_bounded_block_does_not_show(tmp_path: Path) -> None:
    rows = "".join(f"row {number}\\n" for number in range(3_000))
    log = tmp_path / "session.v4.jsonl"
    text = MANY.read_text(encoding="utf-8")
    assert "count_moths got" in text
    log.write_text(text.replace("count_moths got", f"{rows}needle-9\\n", 1), encoding="utf-8")
    async with session_app(log) as driver:
        await driver.search("needle-9")
        await driver.press("enter")
        assert "needle-9" not in "\n".join(driver.rows()[:-2])
        await driver.press("v")
        await driver.until(lambda: driver.top is not driver.session)
        await driver.until(lambda: any(row.strip() == "needle-9" for row in driver.rows()))
        assert "1 of 1" in driver.search_row()
        await driver.press("escape", "escape")
        await driver.until(lambda: driver.top is driver.session)
