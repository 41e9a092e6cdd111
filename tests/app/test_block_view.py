"""The virtual block view: what is drawn, what stays in place, what is followed and what it costs."""

from collections.abc import Callable
from importlib.resources import files

import pytest
from rich.cells import cell_len
from textual.events import MouseScrollUp
from textual.pilot import Pilot

from tests.support.fake_blocks import BlockViewApp, BulkBlocks, FakeBlocks, WrappedText
from tui.app.block_view import BlockView
from tui.app.viewport import Position, Viewport

SIZES = [(80, 24), (120, 40), (7, 3)]
APP_CSS = files("tui.app").joinpath("app.tcss").read_text("utf-8")


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(50):
        if condition():
            return
        await pilot.pause()
    raise AssertionError("the condition never came true")


def follow_changes(app: BlockViewApp) -> list[tuple[bool, int]]:
    return [(m.following, m.unseen) for m in app.posted if isinstance(m, BlockView.FollowChanged)]


def window(
    model: FakeBlocks | WrappedText, width: int = 40, height: int = 10, *, following: bool = False
) -> Viewport:
    viewport = Viewport(model, following=following)
    viewport.resize(width, height)
    return viewport


# -- drawing --


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ascii_only", [False, True])
async def test_every_row_is_exactly_as_wide_as_the_view(size: tuple[int, int], ascii_only: bool) -> None:
    app = BlockViewApp(FakeBlocks(100_000), ascii_only=ascii_only, css=APP_CSS)
    async with app.run_test(size=size) as pilot:
        for key in ("", "k", "pageup", "g", "j", "G"):
            if key:
                await pilot.press(key)
            for y in range(app.view.size.height):
                strip = app.view.render_line(y)
                assert strip.cell_length == app.view.size.width == size[0]
                assert cell_len(strip.text) == size[0]


async def test_it_opens_at_the_tail_and_lays_out_only_what_is_seen() -> None:
    model = FakeBlocks(100_000, height=lambda number: 4)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)):
        assert app.view.visible_rows[-1] == Position(99_999, 3)
        assert "block 99999 row 3" in app.texts()[-1]
        assert set(model.layouts) == set(range(99_994, 100_000))
        assert app.view.following


@pytest.mark.parametrize("kind", [FakeBlocks, BulkBlocks])
async def test_a_jump_anywhere_in_a_million_blocks_lays_out_one_screenful(kind: type[FakeBlocks]) -> None:
    model = kind(1_000_000)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)):
        for share in (0.5, 0.01, 0.999):
            model.layouts.clear()
            app.view.scroll_to_line(int(app.view.total_lines * share))
            app.texts()
            assert 0 < len(model.layouts) <= 60
        model.layouts.clear()
        app.view.select(123_456)
        assert any(position.block == 123_456 for position in app.view.visible_rows)
        assert len(model.layouts) <= 120


async def test_unchanged_rows_are_drawn_from_the_cache() -> None:
    model = FakeBlocks(1_000)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)):
        app.texts()
        model.layouts.clear()
        app.view.refresh()
        app.texts()
        assert model.layouts == []


async def test_a_search_text_is_marked_on_the_rows_that_show_it() -> None:
    app = BlockViewApp(FakeBlocks(10, height=lambda number: 2), css=APP_CSS)
    async with app.run_test(size=(80, 24)):
        plain = app.view.render_line(0)
        app.view.highlight("BLOCK 0")
        marked = app.view.render_line(0)
        assert marked.text == plain.text
        match = [segment.text for segment in marked if segment.style and segment.style.bgcolor]
        assert "block 0" in match
        app.view.highlight("")
        assert list(app.view.render_line(0)) == list(plain)


async def test_another_theme_draws_the_rows_in_its_own_colours() -> None:
    app = BlockViewApp(FakeBlocks(10), css=APP_CSS)
    async with app.run_test(size=(80, 24)) as pilot:
        dark = app.view.render_line(0)
        app.theme = "dsh-light"
        await pilot.pause()
        light = app.view.render_line(0)
        assert light.text == dark.text
        assert [s.style for s in light] != [s.style for s in dark]


async def test_hidden_blocks_take_no_row_and_are_never_laid_out() -> None:
    filtered = FakeBlocks(100_000, hidden=lambda number: number % 1000 != 0, height=lambda number: 1)
    app = BlockViewApp(filtered)
    async with app.run_test(size=(80, 24)) as pilot:
        assert [p.block for p in app.view.visible_rows[-3:]] == [97_000, 98_000, 99_000]
        await pilot.press("G", "k")
        assert app.view.cursor == 98_000
        await pilot.press("g")
        assert app.view.visible_rows[0] == Position(0, 0)
        assert all(number % 1000 == 0 for number in filtered.layouts)


async def test_an_empty_model_is_a_blank_view() -> None:
    app = BlockViewApp(FakeBlocks(0))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("j", "k", "g", "G", "pageup", "enter")
        assert set(app.texts()) == {""}
        assert app.view.cursor is None


# -- keeping the place --


def test_correcting_estimates_above_the_window_does_not_move_its_first_line() -> None:
    model = FakeBlocks(1_000, height=lambda number: 9, estimated=lambda number: 2)
    viewport = window(model)
    viewport.jump_to_line(1_000)
    for _ in range(30):
        viewport.scroll(-3)
        top = viewport.rows()[0]
        rows = viewport.rows()
        viewport.height_of(top.block - 20)
        viewport.refresh_block(top.block - 25)
        assert viewport.rows() == rows


def test_scrolling_up_over_wrong_estimates_shows_every_row_once() -> None:
    model = FakeBlocks(60, height=lambda number: 1 + number % 5, estimated=lambda number: 40)
    viewport = window(model, following=True)
    seen = [viewport.rows()[-1]]
    while True:
        for position in reversed(viewport.rows()):
            if position < seen[-1]:
                seen.append(position)
        if not viewport.scroll(-1):
            break
    assert seen[::-1] == [Position(n, row) for n in range(60) for row in range(1 + n % 5)]


def test_another_width_keeps_the_word_at_the_top() -> None:
    model = WrappedText([40, 400, 40])
    viewport = window(model, width=59)
    viewport.jump_to_line(20)
    index, row = viewport.rows()[0]
    word = model.layout(index, 59)[row].spans[0].text.split()[0]
    for width in (23, 83, 11, 59):
        viewport.resize(width, 10)
        at = viewport.rows()[0]
        assert at.block == index
        assert word in model.layout(index, width)[at.row].spans[0].text
    assert viewport.rows()[0] == Position(index, row)


def test_another_width_keeps_the_cursor_on_its_screen_row() -> None:
    model = WrappedText([30] * 50)
    viewport = window(model, width=59)
    viewport.jump_to_line(40)
    cursor = next(p.block for p in viewport.rows()[4:] if p.row == 0)
    viewport.set_cursor(cursor)
    before = viewport.screen_rows(cursor)
    assert before
    viewport.resize(23, 10)
    after = viewport.screen_rows(cursor)
    assert after
    assert after[0] == before[0]


def test_a_swapped_model_keeps_the_place_and_the_cursor_by_key() -> None:
    viewport = window(FakeBlocks(500, first=1_000))
    viewport.jump_to_line(700)
    viewport.set_cursor(viewport.rows()[3].block)
    cursor_key = viewport.model.key(viewport.cursor or 0)
    keys = [(viewport.model.key(p.block), p.row) for p in viewport.rows()]
    viewport.set_model(FakeBlocks(1_500, first=0))
    assert [(viewport.model.key(p.block), p.row) for p in viewport.rows()] == keys
    assert viewport.model.key(viewport.cursor or 0) == cursor_key


def test_when_the_top_block_is_filtered_away_the_next_one_stays_where_it_was() -> None:
    viewport = window(FakeBlocks(500, height=lambda number: 3))
    viewport.jump_to_line(600)
    rows = viewport.rows()
    gone, kept = rows[0].block, rows[3].block
    viewport.set_model(FakeBlocks(500, height=lambda number: 3, hidden=lambda number: number == gone))
    assert viewport.screen_rows(kept) == (3, 5)


async def test_opening_a_block_leaves_its_first_row_where_it_is() -> None:
    model = FakeBlocks(200, height=lambda number: 3)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)):
        app.view.select(100)
        app.view.scroll_lines(-6)
        y = [p for p in app.view.visible_rows].index(Position(100, 0))
        model.heights[100] = 60
        app.view.refresh_block(100)
        assert app.view.visible_rows.index(Position(100, 0)) == y
        app.view.scroll_lines(30)
        model.heights[100] = 2
        app.view.refresh_block(100)
        assert app.view.visible_rows[0] == Position(100, 0)


async def test_opening_a_block_at_the_tail_keeps_it_in_view_and_ends_following() -> None:
    model = FakeBlocks(200, height=lambda number: 3)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)):
        y = app.view.visible_rows.index(Position(199, 0))
        model.heights[199] = 60
        app.view.refresh_block(199)
        assert app.view.visible_rows.index(Position(199, 0)) == y
        assert not app.view.following


async def test_a_growing_block_at_a_followed_tail_grows_upwards() -> None:
    model = FakeBlocks(200, height=lambda number: 3)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)):
        model.heights[199] = 60
        app.view.refresh_block(199, keep_place=False)
        assert app.view.visible_rows[-1] == Position(199, 59)
        assert app.view.following


# -- following --


async def test_scrolling_up_releases_the_tail_and_scrolling_down_to_the_end_takes_it_back() -> None:
    model = FakeBlocks(300, height=lambda number: 2)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.post_message(MouseScrollUp(app.view, 0, 0, 0, 0, 0, False, False, False))
        await until(pilot, lambda: not app.view.following)
        top = app.view.visible_rows[0]
        model.grow(5)
        app.view.model_changed(appended=5)
        assert app.view.visible_rows[0] == top
        assert app.view.unseen == 5
        app.view.scroll_lines(1)
        assert not app.view.following
        app.view.scroll_lines(1_000)
        assert app.view.following
        await pilot.pause()
        assert follow_changes(app) == [(False, 0), (False, 5), (True, 0)]
        model.grow(1)
        app.view.model_changed(appended=1)
        assert app.view.visible_rows[-1].block == 305


async def test_content_that_appears_at_the_end_of_a_released_view_does_not_take_it_back() -> None:
    model = FakeBlocks(300, height=lambda number: 2)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)):
        app.view.scroll_lines(-2)
        app.view.select(299, reveal=True)
        assert app.view.visible_rows[-1] == Position(299, 1)
        assert not app.view.following


async def test_what_fits_the_window_stays_followed() -> None:
    app = BlockViewApp(FakeBlocks(3, height=lambda number: 2))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("pageup", "k", "k", "k", "g")
        app.view.scroll_lines(-5)
        assert app.view.following
        assert app.view.visible_rows[0] == Position(0, 0)


async def test_the_cursor_at_a_followed_tail_goes_with_it() -> None:
    model = FakeBlocks(50)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("G")
        model.grow(2)
        app.view.model_changed(appended=2)
        assert app.view.cursor == 51
        await pilot.press("k")
        app.view.scroll_lines(-50)
        model.grow(2)
        app.view.model_changed(appended=2)
        assert app.view.cursor == 50


# -- the cursor --


async def test_the_cursor_moves_by_blocks_and_by_rows_inside_a_tall_block() -> None:
    model = FakeBlocks(3, height=lambda number: 50 if number == 1 else 2)
    app = BlockViewApp(model)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g", "j")
        assert app.view.cursor == 1
        assert app.view.visible_rows[0] == Position(1, 0)
        await pilot.press("j")
        assert app.view.cursor == 1
        assert app.view.visible_rows[0] == Position(1, 1)
        for _ in range(26):
            await pilot.press("j")
        assert app.view.cursor == 2
        assert app.view.following
        await pilot.press("k")
        assert app.view.cursor == 1
        assert app.view.visible_rows[-1] == Position(1, 49)


async def test_the_cursor_passes_over_blocks_that_take_none() -> None:
    app = BlockViewApp(FakeBlocks(10, height=lambda number: 1, selectable=lambda number: number % 3 == 0))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g", "j")
        assert app.view.cursor == 3
        await pilot.press("G")
        assert app.view.cursor == 9


async def test_a_cursor_left_behind_comes_back_on_screen() -> None:
    app = BlockViewApp(FakeBlocks(500, height=lambda number: 2))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        app.view.scroll_lines(101)
        await pilot.press("j")
        assert app.view.cursor == 51
        assert app.view.visible_rows[0] == Position(50, 1)


async def test_paging_takes_the_cursor_along() -> None:
    app = BlockViewApp(FakeBlocks(500, height=lambda number: 2))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("G", "pageup", "pageup")
        on_screen = {p.block for p in app.view.visible_rows}
        assert app.view.cursor in on_screen
        await pilot.press("g", "pageup")
        assert app.view.cursor == 0


async def test_the_cursor_row_is_marked_and_told_by_a_sign() -> None:
    app = BlockViewApp(FakeBlocks(20, height=lambda number: 2), ascii_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g", "j")
        assert [text[0] for text in app.texts()[:6]] == [" ", " ", ">", ">", " ", " "]


async def test_messages_tell_the_block_and_its_key() -> None:
    app = BlockViewApp(FakeBlocks(20, height=lambda number: 2, first=100))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g", "enter")
        await until(pilot, lambda: len(app.posted) >= 2)
        selected = next(m for m in app.posted if isinstance(m, BlockView.Selected))
        activated = next(m for m in app.posted if isinstance(m, BlockView.Activated))
        assert (selected.index, selected.key) == (0, 100)
        assert (activated.index, activated.key) == (0, 100)


async def test_a_click_selects_and_a_click_on_the_cursor_activates() -> None:
    app = BlockViewApp(FakeBlocks(10, height=lambda number: 2))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(BlockView, offset=(10, 5))
        assert app.view.cursor == 2
        assert not [m for m in app.posted if isinstance(m, BlockView.Activated)]
        await pilot.click(BlockView, offset=(10, 4))
        await until(pilot, lambda: any(isinstance(m, BlockView.Activated) for m in app.posted))


async def test_the_scrollbar_can_be_dragged_to_both_ends() -> None:
    app = BlockViewApp(FakeBlocks(5_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.mouse_down(BlockView, offset=(79, 0))
        await pilot.mouse_up(BlockView, offset=(79, 0))
        assert app.view.visible_rows[0] == Position(0, 0)
        await pilot.mouse_down(BlockView, offset=(79, 23))
        await pilot.mouse_up(BlockView, offset=(79, 23))
        assert app.view.visible_rows[-1].block == 4_999
        assert app.view.following
