"""Tables fit the width, line up in cells, and become lists where they are too narrow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.clean import clean, clean_line
from tui.blocks.tables import Column, table
from tui.blocks.text import Line, Span, plain

CELLS = st.text(alphabet=st.one_of(st.sampled_from("abc 漢👩e\u0301"), st.characters()), max_size=20).map(
    clean_line
)


def drawn(lines: list[Line]) -> list[str]:
    return [plain(row) for row in lines]


def test_a_table_is_as_wide_as_its_texts() -> None:
    columns = [Column("name"), Column("n", align="right"), Column("x", align="center")]
    assert drawn(table([["漢字", "7", "abc"], ["b", "12"]], columns, 80)) == [
        "┌──────┬────┬─────┐",
        "│ name │  n │  x  │",
        "├──────┼────┼─────┤",
        "│ 漢字 │  7 │ abc │",
        "│ b    │ 12 │     │",
        "└──────┴────┴─────┘",
    ]


def test_a_column_that_is_too_wide_wraps_and_narrow_ones_keep_their_width() -> None:
    lines = drawn(table([["read", "one two three four five"]], [Column("step"), Column("what")], 24))
    assert lines == [
        "┌──────┬───────────────┐",
        "│ step │ what          │",
        "├──────┼───────────────┤",
        "│ read │ one two three │",
        "│      │ four five     │",
        "└──────┴───────────────┘",
    ]


def test_a_heavier_column_keeps_more_of_the_room() -> None:
    columns = [Column("", weight=3.0), Column("")]
    row = drawn(table([["a" * 60, "b" * 60]], columns, 47))[1]
    assert (row.count("a"), row.count("b")) == (30, 10)


def test_a_table_without_borders_parts_columns_with_two_spaces() -> None:
    columns = [Column("id"), Column("age", align="right")]
    assert drawn(table([["abc", "3 h"], ["d", "12 h"]], columns, 40, border="none")) == [
        "id    age",
        "abc   3 h",
        "d    12 h",
    ]


def test_a_table_without_titles_has_no_header() -> None:
    assert drawn(table([["a", "b"]], [Column(), Column()], 40, border="none")) == ["a  b"]


def test_a_table_that_is_too_narrow_is_a_list_of_titles_and_texts() -> None:
    columns = [Column("name"), Column("what it does")]
    rows = [["lantern", "lights the way"], ["bell", ""]]
    assert drawn(table(rows, columns, 15)) == [
        "name: lantern",
        "what it does:",
        "  lights the",
        "  way",
        "───────────────",
        "name: bell",
    ]


def test_borders_and_titles_have_roles() -> None:
    lines = table([[[Span("x", "code")]]], [Column("t")], 20)
    assert lines[1].spans == (Span("│ ", "table-border"), Span("t", "bold"), Span(" │", "table-border"))
    assert Span("x", "code") in lines[3].spans


def test_no_columns_are_no_lines() -> None:
    assert table([["a"]], [], 20) == []


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.lists(CELLS, max_size=4), max_size=4),
    st.integers(1, 4),
    st.integers(2, 80),
    st.sampled_from(["box", "none"]),
)
def test_every_row_of_a_table_keeps_the_width(
    rows: list[list[str]], count: int, width: int, border: str
) -> None:
    columns = [Column(f"c{number}") for number in range(count)]
    lines = table(rows, columns, width, border=border)  # pyright: ignore[reportArgumentType]
    for row in lines:
        assert row.cells == rich_cell_len(plain(row)) <= width
    if border == "box" and plain(lines[0]).startswith("┌"):
        assert len({row.cells for row in lines}) == 1


@pytest.mark.parametrize("width", [40, 80, 81, 200])
def test_borders_stand_in_one_column_beside_lines_that_bend_them_elsewhere(shared: Path, width: int) -> None:
    texts = json.loads((shared / "bugs/cases/B18-cell-width/lines.json").read_text(encoding="utf-8"))
    lines = table(
        [[str(at), clean(text)] for at, text in enumerate(texts)], [Column("n"), Column("text")], width
    )
    assert len({row.cells for row in lines}) == 1
    assert all(row.cells == rich_cell_len(plain(row)) <= width for row in lines)
