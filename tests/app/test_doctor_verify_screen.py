"""Trying a fresh session from the doctor's screen: asked first, never frozen, stopped by a key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support.app_driver import WIDE, Driver, recording, run_app, settings
from tests.support.goldens import compare, names
from tui.app import doctor_screen
from tui.app.doctor_screen import DoctorScreen
from tui.app.loader import open_reading
from tui.app.session_screen import SessionScreen
from tui.i18n import Translator
from tui.loop.verification import Plan, Verified, Verifier

STUCK = recording("rejected-update")
PLAN = Plan(
    provider="deepseek-official",
    model="deepseek-flash",
    endpoint="http://127.0.0.1:9/v1",
    tool="read_gauge",
)


class Trial:
    """A fresh session that waits until it is told how it ends."""

    def __init__(self, plan: Plan = PLAN) -> None:
        self.plan = plan
        self.sent = 0
        self.stopped = 0
        self.closed = 0
        self.asked: tuple[str, str] = ("", "")
        self.outcome: asyncio.Future[Verified] = asyncio.get_running_loop().create_future()

    async def run(self) -> Verified:
        self.sent += 1
        try:
            return await asyncio.shield(self.outcome)
        except asyncio.CancelledError:
            self.stopped += 1
            raise

    async def close(self) -> None:
        self.closed += 1

    async def verifier(self, tr: Translator, provider: str, model: str) -> Trial:
        del tr
        self.asked = (provider, model)
        return self


@asynccontextmanager
async def doctor(
    verifier: Verifier | None, *, lang: str = "en", key: str = "d", size: tuple[int, int] = WIDE
) -> AsyncIterator[Driver]:
    whole, tail = open_reading(STUCK)
    chosen = replace(settings(lang), verifier=verifier)
    first = lambda app: SessionScreen(whole, tail, app.surroundings)  # noqa: E731
    async with run_app(chosen, first, size=size) as driver:
        await driver.until(lambda: isinstance(driver.top, SessionScreen))
        await driver.pilot.pause()
        await driver.press(key)
        await driver.until(lambda: isinstance(driver.top, DoctorScreen))
        await driver.pilot.pause()
        yield driver


@pytest.fixture(autouse=True)
def hears_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_screen, "DEAF_SECONDS", 0.0)


async def asked(driver: Driver, trial: Trial) -> None:
    await driver.press("V")
    await driver.until(lambda: "Try a fresh session?" in driver.text())
    assert trial.sent == 0


async def test_nothing_is_sent_before_the_question_is_agreed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial()
    async with doctor(trial.verifier) as driver:
        await asked(driver, trial)
        shown = driver.text()
        for said in ("deepseek-flash at deepseek-official", "http://127.0.0.1:9/v1", "read_gauge"):
            assert said in shown
        assert "Nothing of the session that is open is sent." in shown
        assert trial.asked == ("deepseek-official", "deepseek-flash")
        await driver.press("escape")
        await driver.until(lambda: "nothing was sent" in driver.text())
        assert (trial.sent, trial.closed) == (0, 1)
        assert isinstance(driver.top, DoctorScreen)


async def test_a_key_that_is_held_does_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_screen, "DEAF_SECONDS", 60.0)
    trial = Trial()
    async with doctor(trial.verifier) as driver:
        await asked(driver, trial)
        await driver.press("V", "V", "enter")
        assert trial.sent == 0


@pytest.mark.parametrize("key", ["V", "enter"])
async def test_what_comes_of_it_is_told_as_a_sign_and_not_as_a_proof(key: str) -> None:
    trial = Trial()
    async with doctor(trial.verifier) as driver:
        await asked(driver, trial)
        await driver.press(key)
        await driver.until(lambda: trial.sent == 1)
        assert "stop" in driver.foot()
        # The page can be read meanwhile.
        await driver.press("j")
        assert driver.top.query_one("#doctor").cursor != 1  # type: ignore[attr-defined]
        trial.outcome.set_result(Verified(plan=PLAN, called=True))
        await driver.until(lambda: "a good sign, not a proof" in driver.text())
        assert "The tool read_gauge was called and gave its result." in driver.text()
        await driver.until(lambda: trial.closed == 1)
        assert trial.stopped == 0


async def test_one_that_fails_too_points_away_from_the_history() -> None:
    trial = Trial()
    async with doctor(trial.verifier) as driver:
        await asked(driver, trial)
        trial.outcome.set_result(Verified(plan=PLAN, failed_at="message", failure="HTTP 401, AUTH: no"))
        await driver.press("V")
        await driver.until(lambda: "A fresh session fails too" in driver.text())
        assert "HTTP 401, AUTH: no" in driver.text()
        assert "look at plugins, route and settings first" in driver.text()


async def test_it_can_be_stopped_and_tried_again() -> None:
    trial = Trial()
    async with doctor(trial.verifier) as driver:
        for at in (1, 2):
            await driver.press("V")
            await driver.until(lambda: "Try a fresh session?" in driver.text())
            await driver.press("V")
            await driver.until(lambda at=at: trial.sent == at)
            await driver.press("escape")
            await driver.until(lambda: "The fresh session was stopped" in driver.text())
            assert (trial.stopped, trial.closed) == (at, at)
        await driver.press("escape")
        await driver.until(lambda: driver.top is driver.session)


async def test_leaving_the_screen_stops_it() -> None:
    trial = Trial()
    async with doctor(trial.verifier) as driver:
        await asked(driver, trial)
        await driver.press("V")
        await driver.until(lambda: trial.sent == 1)
        await driver.press("q")
        await driver.until(lambda: driver.top is driver.session and trial.closed == 1)
        assert trial.stopped == 1


async def test_without_a_route_it_says_how_to_configure_one() -> None:
    async def nothing(tr: Translator, provider: str, model: str) -> str:
        from tui.cli.talking import no_provider

        return no_provider(tr)

    async with doctor(nothing) as driver:
        await driver.press("V")
        await driver.until(lambda: "No fresh session can be tried" in driver.text())
        assert "set DEEPSEEK_API_KEY" in " ".join(driver.text().split())


async def test_the_key_of_the_session_screen_asks_at_once() -> None:
    trial = Trial()
    async with doctor(trial.verifier, key="V") as driver:
        await driver.until(lambda: "Try a fresh session?" in driver.text())
        assert trial.sent == 0


async def test_a_route_that_is_not_the_sessions_is_said_to_be_another() -> None:
    trial = Trial(replace(PLAN, is_own_route=False, tool=""))
    async with doctor(trial.verifier) as driver:
        await asked(driver, trial)
        shown = " ".join(driver.text().split())
        assert "own route is not configured here" in shown
        assert "no tool is called" in shown


async def test_it_is_asked_in_chinese_and_follows_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = Trial()
    async with doctor(trial.verifier, lang="zh") as driver:
        await driver.press("V")
        await driver.until(lambda: "用新会话试一次？" in driver.text())
        driver.app.action_switch_language()
        await driver.until(lambda: "Try a fresh session?" in driver.text())


async def test_the_block_of_versions_can_be_copied_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []

    async def copy(self: Any, text: str) -> str:
        copied.append(text)
        return "copied"

    async with doctor(None) as driver:
        monkeypatch.setattr(type(driver.app), "copy", copy)
        screen = driver.top
        assert isinstance(screen, DoctorScreen)
        screen._copy = driver.app.copy
        await driver.press("G", "y")
        assert "copied" in driver.foot()
    assert copied and copied[0].startswith("dsh-tui: ")
    assert "route: deepseek-official · deepseek-flash" in copied[0]


# -- goldens

SHOTS = {
    "doctor-trial-question-80x24-zh": ((80, 24), "zh", "asked"),
    "doctor-trial-question-120x40-en": ((120, 40), "en", "asked"),
    "doctor-trial-works-80x24-en": ((80, 24), "en", "works"),
    "doctor-trial-fails-120x40-zh": ((120, 40), "zh", "fails"),
}


@pytest.mark.snapshot
@pytest.mark.parametrize("name", SHOTS)
async def test_the_screen_looks_like_its_golden(name: str, update: bool) -> None:
    size, lang, state = SHOTS[name]
    trial = Trial()
    failed = Verified(plan=PLAN, failed_at="message", failure="HTTP 401, AUTH: invalid x-api-key (req-7)")
    trial.outcome.set_result(failed if state == "fails" else Verified(plan=PLAN, called=True))
    async with doctor(trial.verifier, lang=lang, size=size) as driver:
        await driver.press("V")
        await driver.until(lambda: "http://127.0.0.1:9/v1" in driver.text())
        if state != "asked":
            await driver.press("V")
            await driver.until(lambda: trial.closed == 1)
            await driver.pilot.pause()
        compare(driver, name, update=update)


def test_every_golden_of_a_trial_belongs_to_a_screen() -> None:
    assert {name for name in names() if name.startswith("doctor-trial-")} == set(SHOTS)
