"""Code is coloured by its tokens, kept whole, and plain where colouring would cost too much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.clean import clean
from tui.blocks.code import MAX_BLANK_ROWS, MAX_CHARS, MAX_COLUMNS, highlight_code
from tui.blocks.text import Span, plain

TEXTS = st.text(
    alphabet=st.one_of(st.sampled_from("abc\n\n \t\"'{}漢👩\u0301"), st.characters()), max_size=40
)


def roles(text: str, language: str) -> dict[str, str]:
    return {span.text.strip(): span.role for row in highlight_code(text, language, 80) for span in row.spans}


def test_each_kind_of_token_has_its_role() -> None:
    found = roles("@cached\ndef lamp(n):\n    return 'lit' + 42  # why\n", "python")
    assert found["def"] == found["return"] == "code-keyword"
    assert found["lamp"] == found["@cached"] == "code-name"
    assert found["'lit'"] == "code-string"
    assert found["+"] == "code-operator"
    assert found["42"] == "code-number"
    assert found["# why"] == "code-comment"


def test_a_diff_has_the_roles_of_a_diff() -> None:
    assert roles("@@ -1 +1 @@\n-old\n+new\n", "diff") == {
        "@@ -1 +1 @@": "diff-hunk",
        "-old": "diff-remove",
        "+new": "diff-add",
    }


@pytest.mark.parametrize("language", ["", "no-such-language"])
def test_an_unknown_language_is_plain(language: str) -> None:
    assert highlight_code("def x", language, 80)[0].spans == (Span("def x", "code"),)


def test_the_name_of_a_language_may_be_written_in_capitals() -> None:
    assert roles("def x", "Python")["def"] == "code-keyword"


def test_blank_rows_at_both_ends_stay_and_the_last_line_end_is_no_row() -> None:
    assert [plain(row) for row in highlight_code("\n\na = 1\n\n", "python", 80)] == ["", "", "a = 1", ""]


def test_a_long_line_goes_on_behind_a_mark() -> None:
    rows = [plain(row) for row in highlight_code("abcdefghijklmnopqrstuvwxyz", "", 12)]
    assert rows == ["abcdefghijkl", "↪ mnopqrstuv", "↪ wxyz"]


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * (MAX_CHARS // 6 + 1),
        "x" * (MAX_COLUMNS + 1),
        "x = 1\n" + "\n" * (MAX_BLANK_ROWS + 2) + "x = 1",
    ],
    ids=["too long", "too wide", "too many blank rows"],
)
def test_code_that_would_cost_too_much_is_plain(text: str) -> None:
    roles_found = {span.role for row in highlight_code(text, "python", 5_000) for span in row.spans}
    assert roles_found == {"code"}


def test_the_rest_of_code_is_plain_when_the_time_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.blocks.code.MAX_SECONDS", -1.0)
    text = "\n".join(f"name{at} = {at}" for at in range(40))
    rows = highlight_code(text, "python", 80)
    assert "\n".join(map(plain, rows)) == text
    assert rows[-1].spans == (Span("name39 = 39", "code"),)


def test_a_lexer_that_fails_leaves_the_rest_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    from pygments.lexer import Lexer
    from pygments.token import Keyword

    class FailingLexer(Lexer):
        def get_tokens(self, text: str, unfiltered: bool = False) -> Iterator[tuple[Any, str]]:
            yield Keyword, text[:3]
            raise IndexError

    def failing(language: str) -> Lexer:
        return FailingLexer()

    monkeypatch.setattr("tui.blocks.code._lexer", failing)
    assert highlight_code("def x", "python", 80)[0].spans == (Span("def", "code-keyword"), Span(" x", "code"))


def test_a_lexer_that_costs_the_square_of_its_text_is_stopped() -> None:
    # Without a bound this text takes minutes; the suite's own time limit is what fails.
    text = ("a " * 950 + "\n") * 30
    assert len(highlight_code(text, "java", 80, max_rows=2_000)) > 30


def test_rows_are_bounded() -> None:
    assert [plain(row) for row in highlight_code("a\nb\nc", "python", 80, max_rows=2)] == ["a", "b"]
    assert len(highlight_code("x" * 1000, "", 10, max_rows=3)) == 3
    assert highlight_code("a", "", 10, max_rows=0) == []


def test_control_characters_never_reach_a_row() -> None:
    assert plain(highlight_code("echo \x1b[31mred\x07", "bash", 80)[0]) == "echo red"


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(["python", "json", "html", ""]), st.integers(3, 40))
def test_colouring_changes_no_text_and_keeps_the_width(text: str, language: str, width: int) -> None:
    for row in highlight_code(text, language, width):
        assert (
            row.cells
            == rich_cell_len(plain(row))
            == sum(rich_cell_len(one.text) for one in row.spans)
            <= width
        )
    whole = [plain(row).rstrip(" ") for row in highlight_code(text, language, 1000)]
    assert whole == [row.rstrip(" ") for row in clean(text).removesuffix("\n").split("\n")]
