"""Text that gives orders to the terminal or to the markup, and outputs too big to draw."""

from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest
from textual.events import Paste
from textual.widgets import Input

from tests.support.app_driver import WIDE, Driver, log_under, recording, session_app
from tui.app.pager import Pager
from tui.blocks.text import plain
from tui.nodes.chat_index import NodeKind

B16 = "bugs/cases/B16-control-text/home"
B17 = "bugs/cases/B17-huge-output/home"


def clean(text: str) -> bool:
    """Nothing of C0, DEL or C1, no bidi control."""
    return not any(
        ord(character) < 32
        or 127 <= ord(character) < 160
        or character in "\u202a\u202b\u202d\u202e\u2066\u2067"
        for character in text
    )


def painted(driver: Driver) -> Iterator[str]:
    """The texts of all segments on the screen; controls are what only the compositor may send."""
    for strip in driver.strips():
        for segment in strip:
            assert segment.control is None
            yield segment.text


async def look_everywhere(driver: Driver) -> list[str]:
    """Every screenful from the first entry to the last."""
    seen: list[str] = []
    await driver.press("g")
    for _ in range(60):
        for text in painted(driver):
            assert clean(text), repr(text)
        seen.extend(driver.rows())
        if driver.session.focused_pane[1].following:
            break
        await driver.press("pagedown")
    return seen


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_no_order_reaches_the_terminal_from_any_text(shared: Path, lang: str) -> None:
    async with session_app(log_under(shared / B16), lang=lang) as driver:
        await driver.press("O")
        seen = "\n".join(await look_everywhere(driver))
        for literal in ("[red]not red[/red]", "[/nothing]", "[@click=app.quit]press[/]"):
            assert literal in seen
        # An unterminated sequence swallows nothing.
        assert "the line must stay readable" in seen.replace("rest of the line", "the line")
        await driver.press("2")
        await look_everywhere(driver)
        assert driver.app.is_running


async def test_a_carriage_return_does_not_overwrite_what_was_before(shared: Path) -> None:
    async with session_app(log_under(shared / B16)) as driver:
        await driver.press("O")
        seen = "\n".join(await look_everywhere(driver))
        assert "FAILED" in seen


async def test_every_tab_of_every_record_is_clean_and_raw_shows_signs(shared: Path) -> None:
    async with session_app(log_under(shared / B16), view="trajectory", size=(120, 60)) as driver:
        await driver.press("g", "i")
        inspector = driver.session.inspector
        raws: list[str] = []
        for item in range(len(driver.reading.trajectory.index)):
            driver.session.select_item(item)
            for tab in inspector.tabs:
                inspector.choose(tab)
                lines = inspector.text_view.model.layout(0, inspector.text_view.content_width)
                for line in lines:
                    assert clean(plain(line)), (item, tab, plain(line))
                if tab == "raw":
                    raws.extend(plain(line) for line in lines)
        assert "\\u001b" in "".join(raws) or "␛" in "".join(raws)
        await driver.pilot.pause()
        assert all(clean(text) for text in painted(driver))


async def test_the_pager_is_clean_and_shows_control_characters_as_signs_when_asked(shared: Path) -> None:
    async with session_app(log_under(shared / B16)) as driver:
        columns = driver.reading.chat.index
        for node in range(len(columns)):
            if columns.kinds[node] not in (NodeKind.USER, NodeKind.TOOL, NodeKind.ASSISTANT):
                continue
            driver.session.select_node(node)
            await driver.press("v")
            await driver.until(lambda: isinstance(driver.top, Pager))
            assert all(clean(text) for text in painted(driver))
            await driver.press("r")
            assert all(clean(text) for text in painted(driver))
            await driver.press("escape")
            await driver.until(lambda: driver.top is driver.session)


async def test_what_is_said_below_and_asked_for_above_is_clean(shared: Path) -> None:
    async with session_app(log_under(shared / B16)) as driver:
        assert clean(driver.head())
        await driver.search("[/nothing]")
        assert all(clean(text) for text in painted(driver))
        assert "nothing found" not in driver.search_row()


@pytest.mark.parametrize(("keys", "field"), [("/", "Input"), ("ctrl+p", "Input"), ("s", "#draft")])
async def test_no_order_reaches_the_terminal_from_what_is_pasted(keys: str, field: str) -> None:
    async with session_app(recording("plain-chat")) as driver:
        await driver.press(keys)
        await driver.until(
            lambda: driver.top.focused is not None and driver.top.focused in driver.top.query(field)
        )
        driver.app.post_message(Paste("quoll\x1b[31m\u202efern\x9b0m"))
        await driver.until(lambda: "quoll" in driver.text())
        assert all(clean(text) for text in painted(driver))
        assert "quollfern" in driver.text()


async def test_several_rows_cut_from_a_draft_go_into_a_field_of_one_row() -> None:
    async with session_app(recording("plain-chat")) as driver:
        await driver.press("s")
        await driver.until(lambda: bool(driver.top.query("#draft")))
        await driver.press("ctrl+a", "ctrl+x", "f9")
        await driver.until(lambda: isinstance(driver.top.focused, Input))
        await driver.press("ctrl+v")
        assert all(clean(text) for text in painted(driver))


# -- big outputs


async def test_a_huge_log_opens_at_once_and_draws_a_bounded_number_of_rows(shared: Path) -> None:
    start = process_time()
    async with session_app(log_under(shared / B17)) as driver:
        await driver.until(lambda: driver.reading.complete and not driver.reading.log.partial)
        assert process_time() - start < 6.0
        model = driver.session.chat_model
        await driver.press("O")
        for block in range(model.count()):
            assert len(model.layout(block, 57)) <= 500
        hidden = "\n".join(plain(line) for block in range(model.count()) for line in model.layout(block, 57))
        assert "more" in hidden


@pytest.mark.parametrize("needle", ["NEEDLE-1", "NEEDLE-2"])
async def test_search_finds_what_is_not_drawn_and_the_pager_shows_it(shared: Path, needle: str) -> None:
    async with session_app(log_under(shared / B17)) as driver:
        await driver.until(lambda: driver.reading.complete and not driver.reading.log.partial)
        await driver.search(needle)
        assert "1 of 1" in driver.search_row()
        await driver.press("enter")
        assert (
            driver.reading.chat.index.kinds[
                driver.session.chat_model.item_of(driver.session.chat.cursor or 0) or 0
            ]
            == NodeKind.TOOL
        )
        await driver.press("v")
        await driver.until(lambda: isinstance(driver.top, Pager))
        await driver.press("/")
        await driver.until(lambda: bool(driver.top.query("Input")))
        await driver.press(*needle)
        await driver.until(lambda: needle in "\n".join(driver.rows()[:-2]))


async def test_a_progress_bar_shows_its_last_state(shared: Path) -> None:
    async with session_app(log_under(shared / B17)) as driver:
        await driver.until(lambda: driver.reading.complete and not driver.reading.log.partial)
        model = driver.session.chat_model
        model.open_all(is_open=True)
        shown = "\n".join(plain(line) for block in range(model.count()) for line in model.layout(block, 100))
        assert "] 100.0%" in shown
        assert "] 50.0%" not in shown


async def test_moving_through_a_huge_log_stays_cheap(shared: Path) -> None:
    async with session_app(log_under(shared / B17), size=WIDE) as driver:
        await driver.until(lambda: driver.reading.complete and not driver.reading.log.partial)
        await driver.press("O", "g")
        spent: list[float] = []
        for _ in range(20):
            before = process_time()
            await driver.press("pagedown")
            spent.append(process_time() - before)
        assert sorted(spent)[10] < 0.25
