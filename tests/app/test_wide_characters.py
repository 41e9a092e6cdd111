"""Rows of CJK, emoji and combining characters are as wide as the screen, whatever its width."""

import json
from pathlib import Path

import pytest

from tests.support.app_driver import log_under, session_app
from tui.app.pager import Pager
from tui.blocks.cells import cell_len

B18 = "bugs/cases/B18-cell-width/home"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 80, 81, 200])
async def test_every_row_of_every_screen_is_as_wide_as_the_terminal(
    shared: Path, width: int, lang: str
) -> None:
    async with session_app(log_under(shared / B18), size=(width, 30), lang=lang) as driver:
        for keys in (
            ("O",),
            ("g",),
            ("pagedown",),
            ("2",),
            ("i",),
            ("r",),
            ("1",),
            ("?",),
            ("escape",),
            ("v",),
        ):
            await driver.press(*keys)
            # `rows` compares the cells of every row with the terminal's width.
            for row in driver.rows():
                assert cell_len(row) == width, row
        assert isinstance(driver.top, Pager)


@pytest.mark.parametrize("width", [80, 81])
async def test_scroll_bar_and_border_stand_in_one_column(shared: Path, width: int) -> None:
    async with session_app(log_under(shared / B18), size=(width, 12)) as driver:
        await driver.press("O")
        bars = {
            sum(cell_len(character) for character in row[: row.rindex("▐")])
            for row in driver.rows()
            if "▐" in row
        }
        assert bars == {width - 1}


@pytest.mark.parametrize("width", [40, 120])
async def test_no_grapheme_is_lost_or_cut(shared: Path, width: int) -> None:
    lines = json.loads((shared / "bugs/cases/B18-cell-width/lines.json").read_text("utf-8"))
    async with session_app(log_under(shared / B18), size=(width, 50)) as driver:
        await driver.press("O", "g")
        seen: list[str] = []
        for _ in range(30):
            seen.extend(driver.rows())
            if driver.session.chat.following:
                break
            await driver.press("pagedown")
        text = "".join("\n".join(seen).split())
        # Variation selectors and skin tones, on whose width terminals disagree, are left out on purpose.
        for cluster in ("👨‍👩‍👧‍👦", "🇯🇵", "🇩🇪", "👍", "❤", "नमस्ते", "กำลัง", "半角ｶﾅ"):
            assert any(cluster in line for line in lines)
            assert cluster in text, cluster
