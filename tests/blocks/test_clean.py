"""The gate: what hostile text loses, what honest text keeps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.cells import graphemes
from tui.blocks.clean import MAX_MARKS, clean, clean_line, visible

ESC, BEL, ZWJ, ZWNJ, VS16 = "\x1b", "\x07", "\u200d", "\u200c", "\ufe0f"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
UNWANTED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ud800-\udfff\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff]"
)
HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            "ab \n\t\r\x1b[]PX^_\\\x07\x9b\x9c\x9d;0m"
            "👩👨❤☝🏽🇯🇵\u200d\u200c\ufe0f\u0301\u0940\u094dनक漢\u1160ن\u202e\ud83d"
        ),
        st.characters(),
        st.characters(categories=["Cs", "Cf", "Cc", "Mn"]),
    ),
    max_size=60,
)


@settings(max_examples=1500, deadline=None)
@given(HOSTILE)
def test_nothing_that_orders_or_hides_is_left(text: str) -> None:
    assert UNWANTED.search(clean(text)) is None


@settings(max_examples=1500, deadline=None)
@given(HOSTILE)
def test_cleaning_a_clean_text_changes_nothing(text: str) -> None:
    for cleaned in (clean(text), clean_line(text), visible(text)):
        assert clean(cleaned) == cleaned


@settings(max_examples=500, deadline=None)
@given(HOSTILE)
def test_no_grapheme_of_a_clean_text_is_without_bound(text: str) -> None:
    assert all(len(one) <= 6 * (MAX_MARKS + 2) for one in graphemes(clean(text)))


@settings(max_examples=500, deadline=None)
@given(HOSTILE)
def test_a_clean_line_has_no_line_end(text: str) -> None:
    assert "\n" not in clean_line(text)
    assert clean(text, newlines=False) == clean_line(text)


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet=st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=60))
def test_printable_ascii_is_left_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ("csi-clear", "beforeafter"),
        ("osc-title", "text"),
        ("osc-52", "copied?"),
        ("osc-8", "the docs"),
        ("dcs", "tail"),
        ("apc", "tail"),
        ("report", ""),
        ("reset", " gone?"),
        ("unterminated", "0;never closed, rest of the line must stay readable"),
        ("c1", "red"),
        ("bell-back", "abcxyz"),
        ("markup", "[red]not red[/red] [/] [@click=app.quit]press[/] [link=file:///etc]x[/link] ["),
        ("rich-end", "[/nothing] [b"),
        ("html", "<script>alert(1)</script>&lt;<!--"),
        ("svg", "]]> <text> "),
        ("fence", "````\n```\nnested\n```\n````"),
    ],
)
def test_a_payload_of_the_bug_log_loses_its_orders_and_keeps_its_text(
    shared: Path, payload: str, expected: str
) -> None:
    payloads = json.loads((shared / "bugs/cases/B16-control-text/payloads.json").read_text(encoding="utf-8"))
    assert clean(payloads[payload]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{ESC}[31", "31"),
        (f"{ESC}[31\nnext line", "31\nnext line"),
        (f"{ESC}]0;title\nnext line{BEL}", "0;title\nnext line"),
        (f"{ESC}Pdata without end", "data without end"),
        ("\x9d0;title without end", "0;title without end"),
        (f"end{ESC}", "end"),
        (f"{ESC}漢", "漢"),
    ],
)
def test_an_unterminated_sequence_swallows_nothing(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_removing_one_sequence_never_makes_another() -> None:
    assert CONTROL.search(clean(f"{ESC}{ESC}[0m[2J{ESC}{ESC}]0;a{BEL}]0;b{BEL}")) is None


def test_a_carriage_return_does_not_overwrite_what_was_before_it() -> None:
    assert clean("PASSED\rFAILED") == "PASSED␍\nFAILED"
    assert clean_line("PASSED\rFAILED") == "PASSED␍FAILED"


def test_the_line_ends_of_windows_are_line_ends() -> None:
    assert clean("one\r\ntwo\r\r\nthree\r\n") == "one\ntwo\nthree\n"


def test_a_progress_bar_shows_its_last_state_and_that_there_were_others() -> None:
    states = [f"[{'#' * at:<10}] {at * 10}.0%" for at in range(11)]
    assert clean("\r" + "\r".join(states) + "\ndone") == "␍\n[##########] 100.0%\ndone"


def test_two_numbers_are_not_yet_a_progress_bar() -> None:
    assert clean_line("exit 1\rexit 0") == "exit 1␍exit 0"


def test_words_are_not_taken_for_progress() -> None:
    states = ["read the file", "removed the file", "told nobody", "all is well"]
    assert clean("\r".join(states)) == "␍\n".join(states)


def test_a_long_run_of_states_of_one_kind_keeps_the_first_and_the_last() -> None:
    names = ["anchor", "beacon", "candle", "dynamo", "ember", "flare", "glow", "halo", "ion"]
    cleaned = clean("\r".join(f"Building {name}" for name in names))
    assert cleaned == "Building anchor␍\n…␍\nBuilding ion"


@pytest.mark.parametrize(
    ("text", "expected"), [("\tx", "    x"), ("ab\tx", "ab  x"), ("漢\tx", "漢  x"), ("漢字\tx", "漢字    x")]
)
def test_a_tab_goes_to_the_next_stop_of_four_cells(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_half_a_pair_becomes_the_replacement_character_and_a_whole_pair_its_character() -> None:
    assert clean("a\ud83db") == "a\ufffdb"
    assert clean("\ude00") == "\ufffd"
    assert clean("\ud83d\ude00") == "😀"


@pytest.mark.parametrize(
    "text",
    [
        "a\u202eb\u202c",
        "a\u2066b\u2069",
        "a\u200bb",
        "a\ufeffb",
        "a\u2060b",
        "a\u00adb",
        "a\U000e0041b",
        "a\u3164b",
    ],
)
def test_characters_without_a_body_are_dropped(text: str) -> None:
    assert clean(text) == "ab"


def test_unicode_separators_are_line_ends() -> None:
    assert clean("a\u2028b\u2029c") == "a\nb\nc"


def test_a_family_stays_one_character() -> None:
    family = f"👨{ZWJ}👩{ZWJ}👧"
    assert clean(family) == family


def test_a_chain_that_does_not_end_is_cut_into_chains_of_six() -> None:
    chain = ZWJ.join("👩" * 12)
    assert clean(chain) == ZWJ.join("👩" * 6) * 2


@pytest.mark.parametrize("text", [f"a{ZWJ}b", f"{ZWJ}👩", f"👩{ZWJ}", f"漢{ZWJ}字"])
def test_a_joiner_that_joins_nothing_is_dropped(text: str) -> None:
    assert ZWJ not in clean(text)


def test_a_persian_word_keeps_its_non_joiner() -> None:
    assert clean(f"می{ZWNJ}خواهم") == f"می{ZWNJ}خواهم"
    assert clean(f"a{ZWNJ}b") == "ab"


def test_the_letter_after_an_indic_joiner_still_counts_as_a_cell() -> None:
    assert rich_cell_len(clean(f"क\u094d{ZWJ}ष")) == rich_cell_len("क\u094dष")


def test_signs_whose_width_terminals_dispute_are_shown_in_their_plain_form() -> None:
    assert clean(f"⚠{VS16} ❤{VS16} 1{VS16}\u20e3 👍🏽") == "⚠ ❤ 1\u20e3 👍"
    assert clean("🏽") == "▪"


def test_marks_are_bounded_on_each_base() -> None:
    assert clean("Z" + "\u0301" * 100_000 + "a") == "Z" + "\u0301" * MAX_MARKS + "a"


def test_a_line_joins_its_rows_with_the_sign_asked_for() -> None:
    assert clean_line("one\n\n  two\nthree") == "one two three"
    assert clean_line("one\ntwo", " ⏎ ") == "one ⏎ two"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{ESC}[2J", "␛[2J"),
        ("a\rb\tc\x00\x7f", "a␍b␉c␀␡"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202e", "\\u202e"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud83d", "\\ud83d"),
        ("one\ntwo", "one\ntwo"),
    ],
)
def test_the_raw_view_shows_what_cleaning_takes_away(text: str, expected: str) -> None:
    assert visible(text) == expected


@pytest.mark.parametrize(
    "piece",
    [
        ESC,
        f"{ESC}[",
        f"{ESC}]a",
        f"{ESC}P{ESC}{ESC}",
        "\x90",
        "\x9b0",
        "\r",
        "\ta",
        f"{ZWJ}",
        f"👩{ZWJ}",
        "\u0301",
    ],
)
def test_a_million_hostile_characters_are_cleaned(piece: str) -> None:
    # A search that is not linear needs hours here; the suite's own time limit is what fails.
    cleaned = clean(piece * (1_000_000 // len(piece)))
    assert CONTROL.search(cleaned) is None
