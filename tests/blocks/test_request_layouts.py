"""Lens and difference as lines: at every width all of them are there, and nothing is wider than the view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.support.nodes import reading_of
from tui.blocks.cells import cell_len
from tui.blocks.layout import Layout
from tui.blocks.lens_layout import lens_lines
from tui.blocks.request_difference import difference_lines
from tui.blocks.text import Line, plain
from tui.i18n import Translator, translator
from tui.llm.route import ToolUpdateMode
from tui.nodes.request_diff import changes_tools
from tui.nodes.request_projection import MODES, Doubt, doubts
from tui.nodes.request_table import RequestTable
from tui.nodes.requests import Requests

NAMES = ("many-tools-changed", "many-tools-changed-inhistory", "remove-and-restore", "rejected-update")
EN, ZH = translator("en"), translator("zh")


def table(name: str) -> RequestTable:
    return RequestTable(Requests(reading_of(name)))


def lens(of: RequestTable, n: int, layout: Layout) -> list[Line]:
    found, row = of.lenses(n), of.row(n)
    doubted: dict[ToolUpdateMode, Sequence[Doubt]] = {
        mode: doubts(of.requests, found[mode].projected, row.sent) for mode in MODES
    }
    changed = changes_tools(*of.pair(n))
    return lens_lines(row, found, doubted, layout, chosen=row.mode, changes_tools=changed)


def drawn(name: str, width: int, tr: Translator, *, ascii_only: bool = False) -> Iterator[str]:
    of, layout = table(name), Layout(width, tr, expanded=True, ascii=ascii_only)
    for n in range(1, len(of) + 1):
        before, beside = of.compared(n)
        yield from map(plain, lens(of, n, layout))
        yield from map(plain, difference_lines(of.row(n), before, beside, layout))


@pytest.mark.parametrize("width", [20, 40, 60, 66, 80, 118])
@pytest.mark.parametrize("tr", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_the_view(name: str, tr: Translator, width: int) -> None:
    for row in drawn(name, width, tr):
        assert cell_len(row) <= width, row


@pytest.mark.parametrize("name", NAMES)
def test_only_ascii_is_drawn_where_only_ascii_can_be(name: str) -> None:
    for row in drawn(name, 90, EN, ascii_only=True):
        assert row.isascii(), row


@pytest.mark.parametrize("width", [24, 60, 100])
def test_at_every_width_the_title_tells_request_model_and_mode(width: int) -> None:
    of = table("many-tools-changed")
    rows = [plain(row).strip() for row in lens(of, 3, Layout(width, EN, expanded=True))]
    title = " ".join(rows[: rows.index("")])
    for told in ("request 3", "turn 2", "step 1", "deepseek-flash", "addition-only (catalogue)"):
        assert told in " ".join(title.split())


def test_the_cost_of_a_tool_change_is_told_for_all_three_routes() -> None:
    of = table("many-tools-changed")
    text = " ".join(" ".join(plain(row) for row in lens(of, 3, Layout(100, EN, expanded=True))).split())
    found = of.lenses(3)
    own = EN.compact(found["addition-only"].tokens.lost)
    # An in-history route keeps all of it, the other two nothing (SCREENS.md, "The lens").
    assert found["in-history"].tokens.lost == 0
    assert f"Because of this tool change, about {own} tok of the request before must be read again" in text
    assert f"it would be {EN.compact(found[None].tokens.lost)} tok on none, 0 tok on in-history" in text


def test_a_tool_change_that_keeps_the_request_before_whole_costs_nothing() -> None:
    of = table("remove-and-restore")
    # Request 8 adds one tool on an addition-only route: it is offered in place.
    assert of.row(8).prefix.broken_at is None
    text = " ".join(" ".join(plain(row) for row in lens(of, 8, Layout(100, EN, expanded=True))).split())
    lost = EN.compact(of.lenses(8)[None].tokens.lost)
    assert "This tool change costs nothing on this route (addition-only)" in text
    assert f"it would be {lost} tok on none, 0 tok on in-history" in text
