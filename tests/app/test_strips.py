"""Roles become styles: every role has one, themes are readable, without colour attributes are left."""

from importlib.resources import files

import pytest
from rich.cells import cell_len
from textual.color import Color

from tests.support.fake_app import DressedApp, screen_text
from tests.support.fake_blocks import FakeBlocks
from tui.app import themes
from tui.app.block_view import BlockView
from tui.app.status_bar import Piece, StatusBar, fitting
from tui.app.strips import RoleStyles, strip_of
from tui.blocks.text import MODIFIERS, ROLES, Span, line

CSS = files("tui.app").joinpath("app.tcss").read_text("utf-8")


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [part / 255 for part in Color.parse(colour).rgb]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", [themes.DARK, themes.LIGHT])
def test_every_ink_is_readable_on_every_ground(name: str) -> None:
    palette = themes.PALETTES[name]
    for ink, colour in palette.inks.items():
        for ground in palette.grounds:
            assert contrast(colour, ground) >= 4.5, (ink, ground)
    assert contrast(palette.match_text, palette.match) >= 4.5


@pytest.mark.parametrize("name", [themes.DARK, themes.LIGHT])
async def test_every_role_that_colours_text_has_a_colour_of_the_theme(name: str) -> None:
    app = DressedApp(lambda: BlockView(FakeBlocks(1)), theme=name)
    async with app.run_test():
        styles = RoleStyles(app.query_one(BlockView))
        styles.refresh()
        inks = {Color.parse(colour).hex.lower() for colour in themes.PALETTES[name].inks.values()}
        for role in set(ROLES) - {"cursor", "match"}:
            colour = styles(role).color
            assert colour is not None, role
            assert colour.name.lower() in inks, role
        assert styles("cursor").bgcolor is not None
        assert styles("match").bgcolor is not None


async def test_what_was_added_removed_restored_and_redefined_looks_different() -> None:
    app = DressedApp(lambda: BlockView(FakeBlocks(1)))
    async with app.run_test():
        styles = RoleStyles(app.query_one(BlockView))
        styles.refresh()
        roles = ("added", "removed", "restored", "redefined", "warning")
        assert len({styles(role).color for role in roles}) == len(roles)


@pytest.mark.parametrize("name", [themes.DARK, themes.LIGHT])
async def test_every_cell_of_the_screen_has_a_ground_of_the_theme(name: str) -> None:
    app = DressedApp(
        lambda: BlockView(FakeBlocks(3)), lambda: StatusBar([piece("left")], [piece("right")]), theme=name
    )
    async with app.run_test(size=(40, 20)) as pilot:
        app.query_one(BlockView).action_last()
        await pilot.pause()
        palette = themes.PALETTES[name]
        for strip in app.screen._compositor.render_strips():
            for segment in strip:
                assert segment.style is not None
                assert segment.style.bgcolor is not None, segment
                assert segment.style.bgcolor.name in palette.grounds


async def test_modifiers_become_attributes_on_top_of_the_role() -> None:
    app = DressedApp(lambda: BlockView(FakeBlocks(1)))
    async with app.run_test():
        styles = RoleStyles(app.query_one(BlockView))
        styles.refresh()
        for modifier in MODIFIERS:
            style = styles(f"tool {modifier}")
            assert style.color == styles("tool").color
            assert getattr(style, modifier)


async def test_without_colour_no_colour_reaches_the_screen_and_a_match_is_reversed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = DressedApp(lambda: BlockView(FakeBlocks(30)), ansi_color=themes.wants_ansi({"NO_COLOR": "1"}))
    async with app.run_test(size=(80, 24)) as pilot:
        view = app.query_one(BlockView)
        view.highlight("湿度")
        await pilot.press("tab")
        view.action_last()
        await pilot.pause()
        segments = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        colours = {
            colour.name
            for segment in segments
            if segment.style
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour is not None
        }
        assert colours <= {"default"}
        assert any(s.text == "湿度" and s.style and s.style.reverse for s in segments)


@pytest.mark.parametrize("width", [0, 1, 5, 6, 7, 40])
async def test_a_strip_is_exactly_as_wide_as_asked(width: int) -> None:
    app = DressedApp(lambda: BlockView(FakeBlocks(1)))
    async with app.run_test():
        styles = RoleStyles(app.query_one(BlockView))
        row = line(Span("湿度ok", "tool"), Span(" 12 ms", "muted"))
        for needle in ("", "ok", "度"):
            strip = strip_of(row, width, styles, needle=needle)
            assert strip.cell_length == width
            assert cell_len(strip.text) == width


def piece(text: str, keep: int = 0) -> Piece:
    return Piece((Span(text),), keep)


def told(shown: Piece) -> str:
    return "".join(span.text for span in shown.spans)


def test_the_status_line_drops_whole_pieces_in_a_fixed_order() -> None:
    left = [piece("model", 3), piece("route", 1)]
    right = [piece("14 tools", 2), piece("54%", 4)]
    kept = []
    for width in range(40, 0, -1):
        shown = [told(p) for side in fitting(left, right, width) for p in side]
        assert len("  ".join(shown)) <= width
        if not kept or kept[-1] != shown:
            kept.append(shown)
    assert kept == [
        ["model", "route", "14 tools", "54%"],
        ["model", "14 tools", "54%"],
        ["model", "54%"],
        ["54%"],
        ["5…"],
        ["…"],
    ]


def test_what_may_be_of_any_length_is_cut_before_the_line_loses_it() -> None:
    title = Piece((Span("A title that goes on and on", "title"),), keep=9, least=10)
    shown = [
        [told(found) for side in fitting([title], [piece("model", 5)], width) for found in side]
        for width in (40, 30, 17, 16, 8)
    ]
    assert shown == [
        ["A title that goes on and on", "model"],
        ["A title that goes on a…", "model"],
        ["A title t…", "model"],
        ["A title that go…"],
        ["A title…"],
    ]


@pytest.mark.parametrize("width", [1, 9, 30, 80])
async def test_the_status_line_is_exactly_as_wide_as_its_room(width: int) -> None:
    app = DressedApp(lambda: StatusBar([piece("湿度 model", 2)], [piece("· 14 tools", 1)], ascii_only=True))
    async with app.run_test(size=(width, 1)):
        assert cell_len(screen_text(app)[0]) == width
