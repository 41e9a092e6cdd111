"""A key that comes too late closes nothing: not the screen below, and not the one that lies over."""

from __future__ import annotations

import pytest
from textual.screen import ModalScreen, Screen

from tests.support.app_driver import recording, session_app
from tui.app.closed_once import ClosedOnce
from tui.app.doctor_screen import DoctorScreen
from tui.app.file_dialog import FileDialog
from tui.app.goto_dialog import GotoDialog
from tui.app.help_screen import HelpScreen
from tui.app.model_picker import ModelPicker
from tui.app.over_panes import OverPanes
from tui.app.pager import Pager
from tui.app.recovery_screen import RecoveryScreen


class Over(ModalScreen[int], ClosedOnce[int]):
    """Any screen over another."""


@pytest.mark.parametrize(
    "screen",
    [DoctorScreen, FileDialog, GotoDialog, HelpScreen, ModelPicker, OverPanes, Pager, RecoveryScreen],
)
def test_every_screen_over_another_is_closed_once(screen: type[Screen[object]]) -> None:
    assert issubclass(screen, ClosedOnce)
    # The looks of what lies over a screen come from the first base.
    assert screen.__mro__[1] is not ClosedOnce or not issubclass(screen, ModalScreen)


async def test_a_second_answer_leaves_the_screen_below_where_it_is() -> None:
    async with session_app(recording("single-tool-added")) as driver:
        given: list[int | None] = []
        over = Over()
        await driver.app.push_screen(over, given.append)
        over.dismiss(1)
        over.dismiss(2)
        await driver.until(lambda: driver.top is driver.session and bool(given))
        assert given == [1]


async def test_an_answer_from_below_leaves_what_lies_over_it() -> None:
    async with session_app(recording("single-tool-added")) as driver:
        below, above = Over(), Over()
        await driver.app.push_screen(below)
        await driver.app.push_screen(above)
        below.dismiss(1)
        await driver.pilot.pause()
        assert driver.top is above
