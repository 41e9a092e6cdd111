"""Word wrap: widths hold, no text is lost, roles stay, CJK punctuation stands where it may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.cells import graphemes
from tui.blocks.clean import clean
from tui.blocks.text import Line, Span, plain
from tui.blocks.wrap import count_rows, fold, row_ranges, wrap, wrap_bounded

SPACES = " \n\u3000\u205f" + "".join(map(chr, range(0x2000, 0x2007))) + "\u2008\u2009\u200a"
TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("abcd  \n(漢)（字）。、，「」x👩👨❤☝🇯🇵\u200d\u0301नक한"),
        st.characters(),
        st.sampled_from("abcd  "),
    ),
    max_size=60,
).map(clean)
SPANS = st.lists(st.tuples(TEXTS, st.sampled_from(["user", "tool"])), max_size=4)


def wrapped(text: str, width: int) -> list[str]:
    return [plain(row) for row in wrap([Span(text)], width)]


def without_spaces(text: str) -> str:
    return "".join(character for character in text if character not in SPACES)


def check_widths(rows: list[Line], width: int) -> None:
    for row in rows:
        assert row.cells <= width
        assert row.cells == rich_cell_len(plain(row)) == sum(rich_cell_len(span.text) for span in row.spans)


def test_words_go_to_the_next_row_when_they_do_not_fit() -> None:
    assert wrapped("the lantern is lit again", 11) == ["the lantern", "is lit", "again"]


def test_a_word_longer_than_a_row_is_cut_on_rows_of_its_own() -> None:
    assert wrapped("see abcdefghij now", 4) == ["see", "abcd", "efgh", "ij", "now"]


def test_indentation_stays_and_spaces_at_a_break_go() -> None:
    assert wrapped("  one two   three  ", 9) == ["  one two", "three"]


def test_empty_text_is_one_empty_row() -> None:
    assert wrapped("", 10) == [""]
    assert wrapped("a\n\nb", 10) == ["a", "", "b"]


def test_ideographs_break_anywhere_but_not_before_closing_punctuation() -> None:
    assert wrapped("漢字漢字。かな", 8) == ["漢字漢", "字。かな"]
    assert wrapped("漢字漢字，かな", 10) == ["漢字漢字，", "かな"]


def test_no_row_ends_with_opening_punctuation() -> None:
    assert wrapped("漢字漢「字」", 8) == ["漢字漢", "「字」"]
    assert wrapped("漢字漢（字）", 8) == ["漢字漢", "（字）"]
    assert wrapped("漢字漢(字)", 7) == ["漢字漢", "(字)"]
    assert wrapped("漢lower（press）", 8) == ["漢lower", "（press", "）"]
    assert wrapped("漢lower（press）", 9) == ["漢lower", "（press）"]


def test_ascii_punctuation_stays_with_the_ideograph_before_it() -> None:
    assert wrapped("漢字漢字, a", 8) == ["漢字漢", "字, a"]


def test_words_beside_ideographs_stay_whole() -> None:
    assert wrapped("使用lantern工具", 10) == ["使用", "lantern工", "具"]


def test_roles_stay_with_their_text() -> None:
    rows = wrap([Span("one ", "user"), Span("two three", "tool bold")], 7)
    assert rows == [
        Line((Span("one ", "user"), Span("two", "tool bold")), 7),
        Line((Span("three", "tool bold"),), 5),
    ]


def test_indents_open_the_first_row_and_the_others() -> None:
    rows = wrap([Span("one two three")], 12, indent=[Span("- ", "muted")], subsequent_indent=[Span("  ")])
    assert [plain(row) for row in rows] == ["- one two", "  three"]
    assert [plain(row) for row in wrap([Span("one two three")], 12, indent=[Span("> ")])] == [
        "> one two",
        "> three",
    ]


def test_an_indent_leaves_room_for_text() -> None:
    rows = wrap([Span("abcdefgh")], 10, indent=[Span("│ " * 20)])
    assert [plain(row) for row in rows] == ["│ abcdefgh"]


def test_a_wide_character_shows_as_an_ellipsis_in_one_cell() -> None:
    assert wrapped("漢", 1) == ["…"]


@settings(max_examples=1000, deadline=None)
@given(SPANS, st.integers(2, 30))
def test_rows_keep_the_width_and_lose_no_text(parts: list[tuple[str, str]], width: int) -> None:
    spans = [Span(*part) for part in parts]
    rows = wrap(spans, width)
    check_widths(rows, width)
    assert without_spaces("".join(map(plain, rows))) == without_spaces("".join(span.text for span in spans))


@settings(max_examples=1000, deadline=None)
@given(TEXTS, st.integers(2, 20))
@example("0000 \u1071", 2)
@example("a  \u0301b", 2)
def test_rows_never_split_a_grapheme(text: str, width: int) -> None:
    text = text.replace("\n", " ")
    borders = {0}
    for grapheme in graphemes(text):
        borders.add(max(borders) + len(grapheme))
    for row in row_ranges(text, width):
        assert {row.start, row.end} <= borders


@settings(max_examples=1000, deadline=None)
@given(TEXTS, st.integers(2, 30), st.integers(1, 5))
def test_a_bounded_text_is_the_start_of_the_whole_and_says_how_much_is_hidden(
    text: str, width: int, max_rows: int
) -> None:
    whole = wrap([Span(text.rstrip("\n"), "tool")], width)
    bounded = wrap_bounded(text, "tool", width, max_rows)
    assert [plain(row) for row in bounded.lines] == [plain(row) for row in whole[:max_rows]]
    assert (bounded.hidden_rows, bounded.exact) == (max(0, len(whole) - max_rows), True)


def test_nothing_is_hidden_of_a_text_that_fits() -> None:
    bounded = wrap_bounded("one\ntwo\n", "tool", 10, 2)
    assert [plain(row) for row in bounded.lines] == ["one", "two"]
    assert (bounded.hidden_rows, bounded.exact, bounded.shown_chars) == (0, True, 8)


def test_the_hidden_text_begins_where_the_shown_text_ends() -> None:
    text = "one two\nthree\nfour"
    assert text[wrap_bounded(text, "tool", 4, 2).shown_chars :] == "three\nfour"
    assert text[wrap_bounded(text, "tool", 4, 1).shown_chars :] == "two\nthree\nfour"


def test_rows_hidden_in_a_huge_text_are_estimated_within_a_tenth() -> None:
    bounded = wrap_bounded("twelve chars\n" * 100_000, "tool", 80, 20)
    assert not bounded.exact
    assert bounded.hidden_rows == pytest.approx(100_000 - 20, rel=0.1)
    bounded = wrap_bounded("漢字かな" * 100_000, "tool", 80, 20)
    assert bounded.hidden_rows == pytest.approx(400_000 * 2 / 80 - 20, rel=0.1)


@pytest.mark.parametrize("piece", ["x", "漢", "（", "。", "😀", "กำ", "漢(", "word ", " ", "e\u0301"])
def test_the_first_rows_of_a_two_megabyte_line_come_without_wrapping_the_rest(piece: str) -> None:
    bounded = wrap_bounded(piece * (2_000_000 // len(piece)) + "end", "tool", 80, 5)
    assert 1 <= len(bounded.lines) <= 5
    check_widths(bounded.lines, 80)


@pytest.mark.parametrize("width", [40, 80, 81, 200])
def test_lines_that_bend_borders_elsewhere_keep_the_width(shared: Path, width: int) -> None:
    lines = json.loads((shared / "bugs/cases/B18-cell-width/lines.json").read_text(encoding="utf-8"))
    for text in [*lines, " ".join(lines), "".join(lines)]:
        rows = wrap([Span(clean(text), "tool")], width, indent=[Span("│ ", "quote")])
        check_widths(rows, width)
        assert len(rows) >= -(-rich_cell_len(clean(text)) // width)


def test_counted_rows_are_the_rows_of_wrapping() -> None:
    assert count_rows("one two three\nfour", 8) == (3, True)


def test_folded_code_keeps_every_space() -> None:
    rows = fold([Span("    if a:  ", "code"), Span("  b", "code-name")], 12, subsequent_indent=[Span("↪ ")])
    assert [plain(row) for row in rows] == ["    if a:   ", "↪  b"]


@settings(max_examples=500, deadline=None)
@given(TEXTS, st.integers(2, 30))
def test_folded_rows_keep_the_width_and_the_whole_text(text: str, width: int) -> None:
    text = text.replace("\n", " ")
    rows = fold([Span(text, "code")], width)
    check_widths(rows, width)
    assert "".join(map(plain, rows)) == text
