"""Widths are Rich's, and cuts keep graphemes and wide characters whole."""

from __future__ import annotations

import json
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.cells import cell_len, cut, fit, grapheme_ranges, graphemes, is_one_character_each

FAMILY = "👨\u200d👩\u200d👧"
MIXED = st.text(
    alphabet=st.one_of(st.sampled_from("ab \n漢한👩🇯🇵☝\u0301\u200d\ufe0f\u0940"), st.characters()),
    max_size=40,
)


@settings(max_examples=500, deadline=None)
@given(MIXED)
def test_widths_are_those_of_rich(text: str) -> None:
    assert cell_len(text) == rich_cell_len(text)


@settings(max_examples=500, deadline=None)
@given(MIXED)
def test_graphemes_give_the_text_again_and_add_up_to_its_width(text: str) -> None:
    parts = list(graphemes(text))
    assert "".join(parts) == text
    assert sum(map(rich_cell_len, parts)) == rich_cell_len(text)


@pytest.mark.parametrize("text", ["e\u0301", FAMILY, "🇯🇵", "न\u0940", "\u1112\u1161\u11ab", "1\u20e3"])
def test_a_user_perceived_character_is_one_grapheme(text: str) -> None:
    assert list(graphemes(text)) == [text]


def test_two_flags_are_two_graphemes() -> None:
    assert list(graphemes("🇯🇵🇩🇪")) == ["🇯🇵", "🇩🇪"]


def test_a_cut_before_half_a_wide_character_is_one_cell_short() -> None:
    assert cut("漢字かな", 5) == ("漢字", "かな")


def test_a_cut_keeps_a_family_and_an_accent_whole() -> None:
    assert cut(f"a{FAMILY}b", 2) == ("a", f"{FAMILY}b")
    assert cut("xe\u0301y", 2) == ("xe\u0301", "y")


def test_a_cut_at_nothing_leaves_everything_in_the_rest() -> None:
    assert cut("abc", 0) == ("", "abc")
    assert cut("abc", 9) == ("abc", "")


@pytest.mark.parametrize(
    ("align", "expected"),
    [("left", "漢  "), ("right", "  漢"), ("center", " 漢 ")],
    ids=["left", "right", "center"],
)
def test_a_short_text_is_padded_where_it_stands(align: str, expected: str) -> None:
    assert fit("漢", 4, align) == expected  # pyright: ignore[reportArgumentType] - the ids are the literals


def test_a_long_text_ends_in_an_ellipsis_and_a_space_fills_half_a_wide_character() -> None:
    assert fit("lantern", 4) == "lan…"
    assert fit("漢字かな", 4) == "漢… "
    assert fit("漢字", 1) == "…"
    assert fit("漢字", 0) == ""


@settings(max_examples=300, deadline=None)
@given(MIXED, st.integers(1, 30), st.sampled_from(["left", "right", "center"]))
def test_a_fitted_text_is_exactly_as_wide_as_asked(text: str, cells: int, align: str) -> None:
    # A joiner at the end would swallow the padding; `clean` leaves none there.
    fitted = fit(text.replace("\n", " ").rstrip("\u200d"), cells, align)  # pyright: ignore[reportArgumentType]
    assert rich_cell_len(fitted) == cells


def test_only_texts_without_marks_and_emoji_count_as_one_character_each() -> None:
    assert is_one_character_each("漢字 and abc é")
    assert not is_one_character_each("e\u0301")
    assert not is_one_character_each("👍")


def test_lines_that_bend_borders_elsewhere_are_measured_as_rich_draws_them(shared: Path) -> None:
    lines = json.loads((shared / "bugs/cases/B18-cell-width/lines.json").read_text(encoding="utf-8"))
    assert [cell_len(text) for text in lines] == [rich_cell_len(text) for text in lines]


@settings(max_examples=300, deadline=None)
@given(MIXED)
def test_a_long_text_is_judged_as_its_short_pieces_are(text: str) -> None:
    # Long texts are searched by an expression, short ones character by character.
    text = "".join(each for each in text if category(each) != "Cc")
    assert is_one_character_each(text + "漢" * 2000) == is_one_character_each(text)


@settings(max_examples=300, deadline=None)
@given(MIXED, MIXED, MIXED)
def test_the_graphemes_of_a_part_lie_in_it_without_gaps(before: str, text: str, after: str) -> None:
    low, high = len(before), len(before) + len(text)
    found = list(grapheme_ranges(before + text + after, low, high))
    assert [start for start, _ in found] == [low, *(end for _, end in found)][: len(found)]
    assert not found or found[-1][1] == high
