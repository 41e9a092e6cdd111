"""What the editor of a draft looks like: SVG goldens in `snapshots/`, to be looked at when they change."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import cast

import msgspec
import pytest

from tests.support.app_driver import recording, run_app, settings
from tests.support.goldens import compare, names
from tests.support.nodes import reading_of
from tui.app.application import DshApp
from tui.app.drafting import editor_of
from tui.app.loader import open_reading
from tui.app.recovery_screen import RecoveryScreen
from tui.app.session_screen import SessionScreen
from tui.export.recovery import recovery_text
from tui.i18n import Translator, translator
from tui.loop.fresh_start import FreshStart
from tui.loop.improvement import Improvement
from tui.nodes.recovery import draft
from tui.session.cancel import CancelSignal

pytestmark = pytest.mark.snapshot

SMALL, MIDDLE = (80, 24), (120, 40)
SAID = {
    "en": "## Goal\n\nFind out how wet the ferns are, and mist them (event 33).\n\n"
    "## Done\n\n- The fern bed was found dry (event 5).\n\n"
    "## Open\n\n- Mist the ferns: five requests failed (event 33, event 43, event 51, event 59, event 67).\n",
    "zh": "## 目标\n\n弄清蕨类有多湿，并给它们喷雾（事件 33）。\n\n"
    "## 已完成\n\n- 蕨类苗床是干的（事件 5）。\n\n"
    "## 未完成\n\n- 给蕨类喷雾：五次请求失败（事件 33、事件 43、事件 51、事件 59、事件 67）。\n",
}
SHOTS = {
    f"draft-{what}-{size[0]}x{size[1]}-{lang}": (what, size, lang)
    for what, size, lang in (
        ("recovery", MIDDLE, "en"),
        ("recovery", MIDDLE, "zh"),
        ("recovery", SMALL, "en"),
        ("improved", MIDDLE, "en"),
        ("improved", SMALL, "zh"),
        ("checkpoint", SMALL, "zh"),
        ("checkpoint", MIDDLE, "en"),
        ("save", SMALL, "en"),
    )
}


class Said:
    """An answer that is there at once, in place of a request."""

    def route(self, tr: Translator) -> str:
        return tr.t("{model} at {provider}", model="minnow-2", provider="creek")

    async def stream(
        self, draft: str, excerpt: str, tr: Translator, signal: CancelSignal
    ) -> AsyncGenerator[str, None]:
        yield SAID[tr.lang]


@pytest.mark.parametrize("name", SHOTS)
async def test_the_editor_looks_like_its_golden(name: str, update: bool) -> None:
    what, size, lang = SHOTS[name]
    whole, tail = open_reading(recording("rejected-update"))
    # The draft names the log: a path that is the same everywhere.
    found = msgspec.structs.replace(draft(reading_of("rejected-update")), path="/srv/dsh/session.v4.jsonl")
    checkpoint = what == "checkpoint"
    text = recovery_text(found, translator(lang), checkpoint=checkpoint)
    start = FreshStart(summary=text, session=found.session, seq=found.last_seq, checkpoint=checkpoint)
    chosen = replace(settings(lang), improver=lambda tr: cast("Improvement", Said()))

    def first(app: DshApp) -> SessionScreen:
        return SessionScreen(whole, tail, app.surroundings)

    async with run_app(chosen, first, size=size) as driver:
        await driver.until(lambda: isinstance(driver.top, SessionScreen))
        app = driver.app
        app.push_screen(editor_of(app, app.surroundings, whole, start, app.start_fresh))
        await driver.until(lambda: isinstance(driver.top, RecoveryScreen))
        screen = driver.top
        assert isinstance(screen, RecoveryScreen)
        screen.editor.cursor_blink = False
        if what == "improved":
            await driver.press("f7")
            await driver.until(lambda: "minnow-2" in driver.foot())
        elif what == "save":
            await driver.press("f9")
            await driver.until(lambda: "Save as" in driver.text() and "Draft of a summary" in driver.head())
        await driver.pilot.pause()
        compare(driver, name, update=update)


def test_every_golden_of_the_editor_belongs_to_one() -> None:
    assert {name for name in names() if name.startswith("draft-")} == set(SHOTS)
