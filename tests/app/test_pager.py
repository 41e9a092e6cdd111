"""The pager: any text, only what is seen is computed, searched while keys are heard."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fake_app import DressedApp, screen_text, surroundings, until
from tui.app.block_view import BlockView
from tui.app.pager import Pager
from tui.app.pager_text import ROWS_PER_PIECE, PagerText, wrapped
from tui.app.search_bar import SearchBar
from tui.blocks.cells import cell_len
from tui.blocks.text import plain


def rows_of(model: PagerText, width: int) -> list[str]:
    model.estimates(width)
    return [plain(row) for index in range(model.count()) for row in model.layout(index, width)]


class CountingText(PagerText):
    """Counts the characters that were cleaned and wrapped."""

    characters = 0

    def _rows(self, start: int, end: int, width: int, *, hard: bool):
        self.characters += end - start
        return super()._rows(start, end, width, hard=hard)


@settings(deadline=None, max_examples=60)
@given(st.text(st.sampled_from("ab 湿é\u0301"), max_size=300), st.integers(2, 40), st.booleans())
def test_wrapped_rows_give_the_line_again_and_fit_the_width(text: str, width: int, hard: bool) -> None:
    rows = list(wrapped(text, width, hard=hard))
    if hard:
        assert "".join(rows) == text
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(row) <= width for row in rows)


def test_words_stay_whole_where_a_line_is_short_enough() -> None:
    assert rows_of(PagerText("the moths at the north lamp"), 12) == ["the moths at", "the north", "lamp"]


def test_a_line_too_long_for_one_piece_is_cut_at_the_cell_without_gaps() -> None:
    text = "ab cd " * 10_000
    rows = rows_of(PagerText(text), 40)
    assert "".join(rows) == text
    assert all(len(row) == 40 for row in rows[:-1])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text("ab ", max_size=30), max_size=20), st.integers(1, 9), st.integers(1, 9))
def test_every_character_stands_where_row_of_says(lines: list[str], width: int, other: int) -> None:
    text = "\n".join(lines)
    model = PagerText(text)
    for at in (width, other):
        rows_before = rows_of(model, at)
        assert "".join("".join(rows_before).split()) == "".join(text.split())
        for offset, character in enumerate(text):
            if character.isspace():
                continue
            index, row = model.row_of(offset, at)
            assert character in plain(model.layout(index, at)[row])
            assert model.index_of(offset) == index


def test_a_last_line_end_is_no_line_of_its_own() -> None:
    assert rows_of(PagerText("a\n\nb\n"), 10) == ["a", "", "b"]
    assert PagerText("a\n\nb\n").line_count() == 3
    assert rows_of(PagerText(""), 10) == [""]


def test_the_search_finds_every_place_across_step_borders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.app.pager_text.SEARCH_CHARACTERS", 10)
    text = "moth MOTH xx moth" * 20 + "mothmoth"
    steps = list(PagerText(text).find("moth"))
    lowered = text.lower()
    expected = [at for at in range(len(text)) if lowered.startswith("moth", at)]
    assert list(steps[-1][1]) == expected
    assert len(steps) > 5
    assert steps[-1][0] == 1.0


def test_escapes_are_left_out_and_shown_as_signs_when_raw() -> None:
    text = "a\x1b[31mb\x07"
    assert rows_of(PagerText(text), 40) == ["ab"]
    assert rows_of(PagerText(text, raw=True), 40) == ["a␛[31mb␇"]


async def test_ten_megabytes_in_one_line_cost_a_few_screenfuls() -> None:
    app = DressedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        pager = Pager(surroundings(), "result", "x")
        model = CountingText("0123456789" * 1_000_000)
        pager._model = model
        pager._view = BlockView(model, following=False)
        await app.push_screen(pager)
        screen_text(app)
        await pilot.press("G")
        texts = screen_text(app)
        assert texts[22].strip(" ▐").endswith("9")
        await pilot.press("pageup", "g", "pagedown")
        screen_text(app)
        # Each piece is 64 rows of 77 cells; five places were shown.
        assert model.characters <= 5 * 3 * ROWS_PER_PIECE * 77


async def test_a_hundred_thousand_lines_open_at_the_start_and_reach_the_end() -> None:
    app = DressedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        text = "\n".join(f"line {number}" for number in range(100_000))
        await app.push_screen(Pager(surroundings(), "big", text))
        texts = screen_text(app)
        assert "big" in texts[0]
        assert "100,000 lines" in texts[0]
        assert texts[1].strip().startswith("line 0")
        await pilot.press("G")
        assert "line 99999" in screen_text(app)[22]


async def test_the_search_counts_steps_and_closes() -> None:
    app = DressedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        text = "\n".join(f"line {number}" + (" moth" if number % 100 == 7 else "") for number in range(1_000))
        pager = Pager(surroundings(), "log", text)
        await app.push_screen(pager)
        await pilot.press("/", *"MOTH")
        await until(pilot, lambda: "1 of 10" in screen_text(app)[22])
        assert any("line 7 moth" in row for row in screen_text(app))
        await pilot.press("enter", "n", "n")
        await until(pilot, lambda: "3 of 10" in screen_text(app)[22])
        assert any("line 207 moth" in row for row in screen_text(app))
        await pilot.press("N", "N", "N")
        await until(pilot, lambda: "10 of 10" in screen_text(app)[22])
        await pilot.press("escape")
        await until(pilot, lambda: not pager.query(SearchBar))
        assert app.screen is pager
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not pager)


async def test_a_text_that_is_not_there_is_told() -> None:
    app = DressedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(Pager(surroundings(), "log", "abc"))
        await pilot.press("/", "q")
        await until(pilot, lambda: "nothing found" in screen_text(app)[22])


async def test_raw_and_copy_have_keys_and_the_copy_is_the_text_as_it_is() -> None:
    app = DressedApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(Pager(surroundings(), "\x1b]0;evil\x07title", "a\x1b[1mb"))
        assert "evil" not in screen_text(app)[0]
        await pilot.press("r")
        assert "a␛[1mb" in screen_text(app)[1]
        await pilot.press("y")
        await until(pilot, lambda: bool(app.heard))
        message = app.heard[0]
        assert isinstance(message, Pager.CopyRequested)
        assert message.text == "a\x1b[1mb"
