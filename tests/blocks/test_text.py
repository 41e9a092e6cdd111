"""Lines: measured, padded, cropped, marked, and drawn in ASCII."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.clean import clean
from tui.blocks.text import (
    ASCII_GLYPHS,
    MODIFIERS,
    ROLES,
    Line,
    Span,
    crop,
    find_ranges,
    highlight,
    line,
    pad,
    plain,
    to_ascii,
    with_role,
)

TEXTS = st.text(alphabet=st.one_of(st.sampled_from("abAB 漢👩e\u0301"), st.characters()), max_size=12).map(
    lambda text: clean(text, newlines=False)
)
LINES = st.lists(st.tuples(TEXTS, st.sampled_from(["user", "tool bold", ""])), max_size=4).map(
    lambda parts: line(*(Span(*part) for part in parts))
)


def test_roles_and_modifiers_are_told_apart() -> None:
    assert not set(ROLES) & set(MODIFIERS)
    assert len(set(ROLES)) == len(ROLES)


def test_a_line_knows_its_cells_and_holds_no_empty_span() -> None:
    assert line("漢", Span("", "tool"), Span("ab", "user")) == Line((Span("漢"), Span("ab", "user")), 4)


def test_a_line_is_padded_to_the_width_and_never_shortened() -> None:
    assert plain(pad(line("漢"), 4)) == "漢  "
    assert pad(line("漢字"), 2) == line("漢字")


def test_a_cropped_line_keeps_roles_and_ends_in_an_ellipsis() -> None:
    row = line(Span("name", "tool"), Span(" and more", "muted"))
    assert crop(row, 7) == Line((Span("name", "tool"), Span(" a", "muted"), Span("…", "muted")), 7)


def test_half_a_wide_character_is_filled_with_a_space() -> None:
    assert plain(crop(line("漢字かな"), 4)) == "漢… "
    assert plain(crop(line("漢字"), 3, "")) == "漢 "


@settings(max_examples=400, deadline=None)
@given(LINES, st.integers(0, 30))
def test_a_cropped_line_is_exactly_as_wide_as_asked_or_whole(row: Line, cells: int) -> None:
    cropped = crop(row, cells)
    assert cropped == row if row.cells <= cells else cropped.cells == cells
    assert rich_cell_len(plain(cropped)) == cropped.cells


def test_a_needle_is_marked_across_spans_whatever_its_case() -> None:
    row = line(Span("the Lan", "user"), Span("TERN is lit", "tool bold"))
    assert highlight(row, "lantern").spans == (
        Span("the ", "user"),
        Span("Lan", "user match"),
        Span("TERN", "tool bold match"),
        Span(" is lit", "tool bold"),
    )


def test_a_line_without_the_needle_is_the_same_line() -> None:
    row = line("nothing here")
    assert highlight(row, "lantern") is row
    assert highlight(row, "") is row


def test_markup_in_a_needle_is_ordinary_text() -> None:
    assert find_ranges(line("a [b] .* c"), ".*") == [(6, 8)]


def test_a_mark_never_divides_a_grapheme() -> None:
    assert highlight(line("xe\u0301y"), "e").spans == (Span("x"), Span("e\u0301", "match"), Span("y"))


@settings(max_examples=400, deadline=None)
@given(LINES, st.text(alphabet="abe漢\u0301 ", min_size=1, max_size=2))
def test_marking_changes_neither_text_nor_width(row: Line, needle: str) -> None:
    marked = highlight(row, needle)
    assert plain(marked) == plain(row)
    assert marked.cells == row.cells == sum(rich_cell_len(span.text) for span in marked.spans)


def test_a_role_token_is_added_once() -> None:
    assert with_role("tool bold", "bold", "match") == "tool bold match"


def test_our_glyphs_become_ascii_of_the_same_width() -> None:
    for glyph, stand_in in ASCII_GLYPHS.items():
        assert stand_in.isascii()
        assert rich_cell_len(glyph) == rich_cell_len(stand_in), glyph
    row = to_ascii(line(Span("▸ ", "muted"), "tool", Span(" · ", "muted"), Span("│ ─ ╭"), "cut…"))
    assert plain(row) == "> tool . | - +cut."


def test_words_of_somebody_are_left_alone_in_ascii() -> None:
    assert plain(to_ascii(line("漢字 → かな, x·y"))) == "漢字 → かな, x·y"
