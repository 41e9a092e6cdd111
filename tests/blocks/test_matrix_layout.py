"""Tools over time as lines: every sign in its column, nothing wider than the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.app_driver import recording
from tests.support.log_builder import log, tool
from tui.blocks.cells import cell_len
from tui.blocks.layout import Layout
from tui.blocks.matrix_detail import cell_lines
from tui.blocks.matrix_layout import MatrixLayout, Window, leftmost_for
from tui.blocks.matrix_words import LEGEND, cell_text, failure_text, tool_note
from tui.blocks.text import MODIFIERS, ROLES, plain
from tui.i18n import translator
from tui.nodes.reading import Reading
from tui.nodes.tool_matrix import ToolMatrix

EN, ZH = translator("en"), translator("zh")


@pytest.fixture(scope="module")
def restored() -> ToolMatrix:
    return ToolMatrix(Reading.open(recording("remove-and-restore")).read_all())


@pytest.fixture
def many(tmp_path: Path) -> ToolMatrix:
    """300 tools in 400 requests; one is redefined every 50 requests."""
    names = [f"mcp__shelf__tool_{number:03}" for number in range(299)]
    made = log().turn()
    for number in range(400):
        made.turn() if number else made
        if number % 50 == 0:
            made.tools(*names, tool("mcp__shelf__turning", f"Version {number}."), tell=False)
        made.user("On.").answer("Yes.")
    return ToolMatrix(made.end().read(tmp_path))


def grid(layout: MatrixLayout, name: str) -> str:
    row = plain(layout.row(name))
    return row[layout.frame.name + 1 : layout.frame.name + 1 + layout.frame.grid].rstrip()


def test_the_grid_shows_what_happened_to_each_tool(restored: ToolMatrix) -> None:
    layout = MatrixLayout(restored, restored.tools, Window(120, EN))
    assert {name.rpartition("__")[2]: grid(layout, name) for name in restored.tools} == {
        "mist_bed": "●■−↺■┆■■■■■┆■■●■",
        "open_vent": "●■−··┆↺■■■■┆■■●■",
        "read_gauge": "■■■■■┆■■■■■┆■■■■",
        "ring_bell": "·····┆··+□−┆↺■■■",
    }


def test_notes_name_the_requests_that_show_a_change(restored: ToolMatrix) -> None:
    assert tool_note(EN, restored, "mcp__saltmarsh__ring_bell")[0] == (
        "added 8 · removed 10 · restored, redefined 11 · 2 calls"
    )


def test_numbers_stand_over_their_columns(restored: ToolMatrix) -> None:
    layout = MatrixLayout(restored, restored.tools, Window(120, EN))
    requests, turns = map(plain, layout.axis())
    for number in ("1", "5", "10"):
        at = restored.column_of_request(int(number))
        assert requests[layout.x_of(at) :].startswith(number)
    first = {restored.turn(at): at for at in reversed(range(len(restored)))}
    assert turns[layout.x_of(first[7]) :].startswith("7")


def test_failed_requests_have_a_sign_over_their_columns(tmp_path: Path) -> None:
    made = log().turn().tools("a").user("1").answer("x").user("2").attempt(code="SERVER").answer("y")
    made.end().turn().user("3").attempt(code="AUTH")
    matrix = ToolMatrix(made.end().read(tmp_path))
    layout = MatrixLayout(matrix, matrix.tools, Window(60, EN))
    *_, failed = map(plain, layout.axis())
    assert failed.split() == ["failed", "✕", "✕"]
    assert [at for at in range(len(matrix)) if failed[layout.x_of(at) :][:1] == "✕"] == [1, 3]
    assert [failure_text(EN, matrix, at) for at in range(4)] == ["", "SERVER", "", "AUTH"]
    turns = matrix.zoomed("turn")
    assert [turns.column(at).failed for at in range(len(turns))] == [1, 1]
    assert failure_text(EN, turns, 0) == "1 request failed"


def test_where_nothing_failed_there_is_no_row_for_it(restored: ToolMatrix) -> None:
    assert len(MatrixLayout(restored, restored.tools, Window(120, EN)).axis()) == 2


def test_series_stand_below_their_rules_with_their_cause(restored: ToolMatrix) -> None:
    layout = MatrixLayout(restored, restored.tools, Window(120, EN))
    row = plain(layout.series())
    assert row[layout.x_of(10) - 1 :] == "┆ series 3: redefined"


@pytest.mark.parametrize("tr", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("width", [24, 40, 80, 120, 200])
@pytest.mark.parametrize("cells", [1, 2])
def test_no_line_is_wider_than_the_window(many: ToolMatrix, tr: object, width: int, cells: int) -> None:
    known = {*ROLES, *MODIFIERS}
    window = Window(width, tr, cells=cells, left=40, cursor=(many.tools[-1], 49))  # type: ignore[arg-type]
    layout = MatrixLayout(many, many.tools, window)
    for row in (*layout.axis(), *(layout.row(name) for name in many.tools[-3:]), layout.series()):
        assert row.cells == cell_len(plain(row)) <= width
        assert {token for span in row.spans for token in span.role.split()} <= known


def test_scrolling_to_a_column_shows_it_at_the_right_and_never_past_it(many: ToolMatrix) -> None:
    layout = MatrixLayout(many, many.tools, Window(80, EN))
    for at in (0, 30, 49, 50, 51, 120, 399):
        left = leftmost_for(layout, at)
        assert at in layout.moved(left=left, cursor=None).columns
        assert not left or at not in layout.moved(left=left - 1, cursor=None).columns


def test_a_column_is_found_again_where_it_is_drawn(many: ToolMatrix) -> None:
    layout = MatrixLayout(many, many.tools, Window(100, EN, left=45, cells=2))
    for at in layout.columns:
        assert layout.column_at(layout.x_of(at)) == at
    assert layout.column_at(layout.x_of(50) - 1) is None, "a rule is no column"


def test_only_ascii_is_drawn_where_only_ascii_can_be(restored: ToolMatrix) -> None:
    layout = MatrixLayout(restored, restored.tools, Window(120, EN, ascii=True))
    for row in (*layout.axis(), *(layout.row(name) for name in restored.tools), layout.series()):
        assert plain(row).isascii()
    assert grid(layout, "mcp__saltmarsh__ring_bell") == ".....|..+o-|@==="


def test_every_sign_is_in_the_legend() -> None:
    assert len({what for what, _ in LEGEND}) == len(LEGEND) == 13


def test_a_cell_is_told_in_words(restored: ToolMatrix) -> None:
    assert cell_text(EN, restored, "mcp__saltmarsh__ring_bell", 7) == (
        "added · declared as deferred, offered by an addition · 1 call"
    )


@pytest.mark.parametrize("tr", [EN, ZH], ids=["en", "zh"])
def test_the_detail_has_definition_difference_calls_and_history(restored: ToolMatrix, tr: object) -> None:
    layout = Layout(90, tr, expanded=True)  # type: ignore[arg-type]
    rows = [plain(row) for row in cell_lines(restored, "mcp__saltmarsh__open_vent", 5, layout)]
    text = "\n".join(rows)
    assert all(cell_len(row) <= 90 for row in rows)
    assert "@@" in text and "+ " in text and "− " in text
    called = "\n".join(map(plain, cell_lines(restored, "mcp__saltmarsh__open_vent", 0, layout)))
    assert "✓" in called
    assert len(rows) < 400


def test_hostile_names_stay_on_their_row(tmp_path: Path) -> None:
    nasty = "evil\x1b[2J\nname\u202e"
    matrix = ToolMatrix(log().turn().tools(nasty).user("1").answer("x").end().read(tmp_path))
    layout = MatrixLayout(matrix, matrix.tools, Window(60, EN))
    shown = plain(layout.row(nasty))
    assert not {"\x1b", "\n", "\u202e"} & set(shown)
