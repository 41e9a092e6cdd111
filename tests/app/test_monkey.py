"""Keys, pastes, clicks and sizes in no order at all: nothing may end the program or break a row.

The order is drawn from a seed, so a failure names a test that can be run again.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from textual import events

from tests.support.app_driver import Driver, recording, session_app
from tests.support.live_driver import talking, tool
from tui.app.actions import ACTIONS
from tui.llm.script import Call, Fail, Say, Script, ScriptedAnswer, Sent, Think, answer

STEPS = 60
SIZES = [(120, 40), (80, 24), (40, 12), (20, 8), (7, 5), (3, 2), (1, 1), (200, 1), (1, 30)]
PASTES = ["moss", "[red]x[/red]\x1b[31m\u202e", "a\nb\r\nc\td", "苔藓" * 200, "99999999999999999999"]
DOORS = [
    ["/"],
    [":"],
    ["ctrl+p"],
    ["s"],
    ["s", "f9"],
    ["escape", "escape", "3", "/"],
    ["escape", "escape", "v", "/"],
]
"""Ways to something that a text can be pasted into."""
LEAVING = {"q", "ctrl+c", "ctrl+d", "super+c"}
OUTWARD = {"y", "Y", "f6", "m"}
"""Keys that copy to the clipboard of whoever runs the tests, or take the mouse."""
KEYS = sorted(
    {key for action in ACTIONS for key in action.keys if action.scope != "approval"}
    | {"shift+tab", "ctrl+a", "ctrl+k", "ctrl+x", "ctrl+v", "f3", "a", "w", "0"}
)
HARMLESS = [key for key in KEYS if key not in LEAVING | OUTWARD]
NAMES = {"/": "slash", ":": "colon", ".": "full_stop", "?": "question_mark"}


class Anything(Script):
    """A provider that thinks, calls tools there are and are not, fails and says hostile things, by a seed."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def answer(self, sent: Sent) -> ScriptedAnswer:
        if sent.request.purpose != "loop":
            return answer("A summary.", pace_s=0)
        parts = (
            Think("Moss\x1b[2J first."),
            Say("# Moss\n\n| a | b |\n|---|---|\n| \u202e1 | [bold]2[/bold] |\n"),
            Call("water", {"bed": "fern"}),
            Call("gone", "{"),
            Fail("no \x1b]0;x\x07", "INVALID_REQUEST", 400),
        )
        return answer(*self._random.choices(parts, weights=(3, 5, 2, 1, 1), k=2), pace_s=0)


def faults(driver: Driver) -> list[str]:
    """What is wrong with the picture on the screen."""
    width, height = driver.app.size
    strips = driver.strips()
    found = [] if len(strips) == height else [f"{len(strips)} rows on {height}"]
    for number, strip in enumerate(strips):
        if strip.cell_length != width:
            found.append(f"row {number} has {strip.cell_length} cells of {width}: {strip.text!r}")
        if any(
            ord(each) < 32 or 127 <= ord(each) < 160 or each in "\u202a\u202d\u202e" for each in strip.text
        ):
            found.append(f"row {number} gives orders: {strip.text!r}")
    return found


async def play(driver: Driver, random: Random) -> list[object]:
    """Do something, look, and so on; returns all that was done."""
    done: list[object] = []
    for _ in range(STEPS):
        what = random.random()
        width, height = driver.app.size
        place = (random.randrange(width), random.randrange(height))
        if what < 0.6:
            done.append(key := random.choice(HARMLESS))
            await driver.pilot.press(key)
        elif what < 0.7:
            done.append(keys := random.choice(DOORS))
            await driver.press(*keys)
            driver.app.post_message(events.Paste(PASTES[1]))
        elif what < 0.8:
            done.append(keys := random.choices(HARMLESS, k=8))
            for key in keys:
                driver.app.post_message(events.Key(NAMES.get(key, key), key if len(key) == 1 else None))
        elif what < 0.85:
            done.append(text := random.choice(PASTES))
            driver.app.post_message(events.Paste(text))
        elif what < 0.93:
            done.append(size := random.choice(SIZES))
            await driver.pilot.resize_terminal(*size)
        else:
            done.append(("click", *place))
            await driver.pilot.click(offset=place, times=random.choice((1, 2)))
        await driver.pilot.pause()
        assert driver.app._exception is None, (driver.app._exception, done)
        await driver.until(lambda: not faults(driver))
    return done


async def still_answers(driver: Driver, done: list[object]) -> None:
    """Whatever is open, a way leads back to where every key is heard."""
    await driver.resize(120, 40)
    for _ in range(12):
        await driver.press("escape")
    await driver.press("ctrl+p")
    await driver.until(lambda: bool(driver.top.query("CommandList")))
    assert len(driver.app.screen_stack) > 1, done


@pytest.mark.parametrize(("seed", "name"), [(1, "rejected-update"), (2, "remove-and-restore")])
async def test_no_keys_break_the_reading_screens(
    seed: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random = Random(f"{seed} {name}")
    async with session_app(
        recording(name), lang=random.choice(("en", "zh")), ascii_only=random.random() < 0.5
    ) as driver:
        await still_answers(driver, await play(driver, random))


async def test_no_keys_break_a_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = Random(1)
    tools = [tool("water", "\x1b[31mdone[/bold]", asks="Water \u202eneeds a pump.")]
    lang = "zh"
    async with talking(tmp_path / "own", Anything(random), tools=tools, lang=lang) as talk:
        for _ in range(2):
            if isinstance(talk.top, type(talk.live)):
                await talk.write("Water the fern.")
                await talk.press("enter")
            await play(talk, random)
        await talk.resize(120, 40)
        for _ in range(12):
            await talk.press("escape")
        await talk.until(lambda: talk.top is talk.live and talk.live.focused is not None)
