"""The inspector: tabs, and what they show of which record."""

import pytest

from tests.support.app_driver import NARROW, Driver, recording, session_app
from tui.blocks.text import plain


def told(driver: Driver) -> str:
    view = driver.session.inspector.text_view
    return "\n".join(plain(line) for line in view.model.layout(0, view.content_width))


def select(driver: Driver, seq: int) -> None:
    row = driver.reading.log.row_of_seq(seq)
    assert row is not None
    driver.session.select_row(row)


async def test_nothing_is_laid_out_while_it_is_hidden() -> None:
    async with session_app(recording("many-tools-changed")) as driver:
        await driver.press("T")
        assert not driver.session.inspector.display
        assert driver.session.inspector.tabs == ()


async def test_a_wanted_tab_is_kept_for_records_that_have_it() -> None:
    async with session_app(recording("many-tools-changed"), view="trajectory") as driver:
        inspector = driver.session.inspector
        await driver.press("i")
        inspector.choose("raw")
        for seq in (7, 12, 26, 28):
            select(driver, seq)
            assert inspector.tab == "raw"
        select(driver, 27)
        inspector.choose("diff")
        select(driver, 12)
        assert inspector.tab != "diff"
        select(driver, 7)
        select(driver, 27)
        assert inspector.tab == "diff"


async def test_the_raw_tab_holds_the_record_as_it_was_written() -> None:
    async with session_app(recording("single-tool-added"), view="trajectory") as driver:
        select(driver, 29)
        await driver.press("r")
        shown = told(driver)
        assert '"tool/call"' in shown
        assert "mcp__saltmarsh__mist_bed" in shown


async def test_the_diff_of_a_header_names_what_came_and_went() -> None:
    async with session_app(recording("remove-and-restore"), view="trajectory") as driver:
        await driver.press("i")
        select(driver, 27)
        driver.session.inspector.choose("diff")
        shown = told(driver)
        assert "open_vent" in shown and "mist_bed" in shown
        assert "read_gauge" not in shown.split("open_vent")[0]


async def test_a_call_tells_arguments_result_and_how_long_it_took() -> None:
    async with session_app(recording("single-tool-added"), view="trajectory") as driver:
        select(driver, 29)
        await driver.press("i")
        texts: list[str] = []
        for tab in driver.session.inspector.tabs:
            driver.session.inspector.choose(tab)
            texts.append(told(driver))
        every = "\n".join(texts)
        assert "bed" in every
        assert "ms" in every


@pytest.mark.parametrize("key", ["i", "escape"])
async def test_it_closes_and_gives_the_keyboard_back(key: str) -> None:
    async with session_app(recording("single-tool-added"), view="trajectory") as driver:
        await driver.press("i", "tab")
        assert driver.session.inspector.text_view.has_focus
        await driver.press(key)
        assert not driver.session.inspector.display
        assert driver.session.trajectory.has_focus


async def test_it_is_reached_on_a_narrow_terminal_and_scrolls() -> None:
    async with session_app(recording("many-tools-changed"), size=NARROW) as driver:
        await driver.press("T", "r", "tab")
        first = driver.rows()
        await driver.press("pagedown")
        assert driver.rows() != first
        # What is selected stays selected while the inspector scrolls.
        assert driver.selected_seq() == 28
