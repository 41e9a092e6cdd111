"""The doctor's screen: opened by its key or the palette, leads to the event, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.app_driver import Driver, recording, session_app
from tests.support.exports import case_log
from tests.support.goldens import compare, names
from tui.app.doctor_screen import DoctorScreen

STUCK = recording("rejected-update")


async def opened(driver: Driver) -> DoctorScreen:
    await driver.press("d")
    await driver.until(lambda: isinstance(driver.top, DoctorScreen))
    await driver.pilot.pause()
    screen = driver.top
    assert isinstance(screen, DoctorScreen)
    await driver.until(lambda: screen.view.cursor is not None or not screen.model.found.findings)
    return screen


async def test_enter_goes_to_the_record_that_the_refusal_came_from() -> None:
    async with session_app(STUCK) as driver:
        await opened(driver)
        assert "tool-update-rejected" in driver.text()
        await driver.press("enter")
        await driver.until(lambda: driver.top is driver.session)
        assert driver.selected_seq() == 35


async def test_a_failed_turn_of_the_chain_leads_to_its_first_failed_request() -> None:
    async with session_app(STUCK) as driver:
        screen = await opened(driver)
        await driver.press("j")
        for _ in range(40):
            cursor = screen.view.cursor
            assert cursor is not None
            if screen.model.key(cursor) == ("turn", 0):
                break
            await driver.press("j")
        await driver.press("enter")
        await driver.until(lambda: driver.top is driver.session)
        assert driver.selected_seq() == 36


@pytest.mark.parametrize("key", ["escape", "q", "d"])
async def test_closing_it_leaves_the_session_where_it_was(key: str) -> None:
    async with session_app(STUCK, at=20) as driver:
        before = driver.selected_seq()
        await opened(driver)
        await driver.press(key)
        await driver.until(lambda: driver.top is driver.session)
        assert driver.selected_seq() == before


async def test_a_sound_session_is_said_to_be_sound() -> None:
    async with session_app(recording("plain-chat")) as driver:
        await opened(driver)
        assert "Nothing is wrong with this session." in driver.text()
        await driver.press("enter", "escape")
        await driver.until(lambda: driver.top is driver.session)


async def test_the_language_changes_at_once() -> None:
    async with session_app(STUCK) as driver:
        await opened(driver)
        driver.app.action_switch_language()
        await driver.until(lambda: "保持现场" in driver.text())


async def test_the_keys_of_the_program_are_heard_there() -> None:
    async with session_app(STUCK) as driver:
        await opened(driver)
        await driver.press("L")
        await driver.until(lambda: "保持现场" in driver.text())
        await driver.press("L", "question_mark")
        await driver.until(lambda: "Command palette" in driver.text())


async def test_the_palette_offers_it() -> None:
    async with session_app(STUCK) as driver:
        await driver.press("ctrl+p")
        await driver.press(*"doctor", "enter")
        await driver.until(lambda: isinstance(driver.top, DoctorScreen))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 50)])
async def test_hostile_sessions_fill_the_screen_and_no_more(shared: Path, size: tuple[int, int]) -> None:
    async with session_app(case_log(shared, "B16"), size=size) as driver:
        await opened(driver)
        assert len(driver.rows()) == size[1]


# -- goldens

SHOTS = {
    "doctor-rejected-update-120x40-en": ("rejected-update", (120, 40), "en", False),
    "doctor-rejected-update-120x40-zh": ("rejected-update", (120, 40), "zh", False),
    "doctor-rejected-update-80x24-zh": ("rejected-update", (80, 24), "zh", False),
    "doctor-retries-200x50-en": ("retries", (200, 50), "en", False),
    "doctor-sound-80x24-en": ("remove-and-restore", (80, 24), "en", False),
    "doctor-ascii-80x24-en": ("retries", (80, 24), "en", True),
    **{
        f"doctor-{log}-120x40-{lang}": (log, (120, 40), lang, False)
        for log in ("remove-and-restore", "many-tools-changed", "many-tools-changed-inhistory")
        for lang in ("en", "zh")
    },
}


@pytest.mark.snapshot
@pytest.mark.parametrize("name", SHOTS)
async def test_the_screen_looks_like_its_golden(name: str, update: bool) -> None:
    log, size, lang, ascii_only = SHOTS[name]
    async with session_app(recording(log), size=size, lang=lang, ascii_only=ascii_only) as driver:
        await opened(driver)
        compare(driver, name, update=update)


def test_every_golden_of_the_doctor_belongs_to_a_screen() -> None:
    of_trials = "doctor-trial-"
    found = {name for name in names() if name.startswith("doctor-") and not name.startswith(of_trials)}
    assert found == set(SHOTS)
