"""JSON is shown whole, in colour, at any depth; the arguments of a call fit one line."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.clean import clean
from tui.blocks.json_view import json_lines, one_line
from tui.blocks.text import Span, plain


def json_values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts)
    return st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
        max_leaves=12,
    )


VALUES = json_values(st.text(max_size=20))


def drawn(value: Any, width: int = 40) -> list[str]:
    return [plain(row) for row in json_lines(value, width)]


def test_objects_and_lists_are_indented_and_empty_ones_are_closed_at_once() -> None:
    assert drawn({"lamp": "north", "n": 3, "l": [1, {"a": []}, {}], "t": True, "z": None}) == [
        "{",
        '  "lamp": "north",',
        '  "n": 3,',
        '  "l": [',
        "    1,",
        "    {",
        '      "a": []',
        "    },",
        "    {}",
        "  ],",
        '  "t": true,',
        '  "z": null',
        "}",
    ]


def test_each_kind_of_value_has_its_role() -> None:
    spans = [span for row in json_lines({"a": ["x", 1, None]}, 40) for span in row.spans]
    assert Span('"a"', "code-name") in spans
    assert Span('"x"', "code-string") in spans
    assert Span("1", "code-number") in spans
    assert Span("null", "code-keyword") in spans


def test_a_long_string_wraps_below_its_name() -> None:
    assert drawn({"note": "one two three four"}, 20) == ["{", '  "note": "one two', '    three four"', "}"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("\x1b[31m", '"\\u001b[31m"'),
        ("a\nb\tc\rd", '"a\\nb\\tc\\rd"'),
        ("\x9b\x7f", '"\\u009b\\u007f"'),
        ("\u202e\u200b", '"\\u202e\\u200b"'),
        ("\ud83d", '"\ufffd"'),
        ("漢字 é", '"漢字 é"'),
    ],
)
def test_what_cannot_be_seen_in_a_string_is_written_out(value: str, expected: str) -> None:
    assert drawn(value) == [expected]


def test_numbers_that_json_does_not_know_are_shown() -> None:
    assert drawn([math.nan, math.inf, 1.0]) == ["[", "  NaN,", "  Infinity,", "  1.0", "]"]
    assert len(json_lines(10**5000, 80, 3)) == 3


def test_depth_costs_no_stack() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert len(json_lines(deep, 40, 30_000)) == 30_000
    assert one_line({"a": deep}, 10) == "a=[[[[[[[…"
    while deep:
        deep = deep.pop()


def test_what_is_left_out_is_told_by_an_ellipsis() -> None:
    rows = [plain(row) for row in json_lines(list(range(10)), 40, 4)]
    assert rows == ["[", "  0,", "  1,", "…"]
    assert [plain(row) for row in json_lines([1, 2], 40, 4)] == ["[", "  1,", "  2", "]"]


def test_a_string_of_ten_megabytes_is_cut_where_no_more_is_shown() -> None:
    rows = json_lines({"a": "x" * 10_000_000}, 80, 5)
    assert len(rows) == 5
    assert plain(rows[-1]) == "…"


@settings(max_examples=400, deadline=None)
@given(json_values(st.text(alphabet='ab"\\ \n\x1b\u202e漢é', max_size=20)))
def test_the_rows_are_json_of_the_same_value(value: Any) -> None:
    text = "".join(plain(row) for row in json_lines(value, 10_000))
    assert repr(json.loads(text)) == repr(value)


@settings(max_examples=400, deadline=None)
@given(VALUES, st.integers(2, 60), st.integers(1, 6))
def test_rows_keep_their_width_and_their_number(value: Any, width: int, max_rows: int) -> None:
    whole = json_lines(value, width)
    for row in whole:
        assert row.cells == rich_cell_len(plain(row)) <= width
        assert clean(plain(row)) == plain(row)
    bounded = json_lines(value, width, max_rows)
    assert len(bounded) <= max_rows
    assert bounded == whole or len(whole) > max_rows


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"lamp": "north", "count": 3, "note": "two words"}, 'lamp=north count=3 note="two words"'),
        ({"on": True, "off": None, "share": 0.5}, "on=true off=null share=0.5"),
        ({"l": [1, [], {"a": "b"}], "e": ""}, 'l=[1,[],{"a":"b"}] e=""'),
        (
            {"path": "src/a-b.py", "eq": "a=b", "quote": 'say "x"'},
            'path=src/a-b.py eq="a=b" quote="say \\"x\\""',
        ),
        ({"two words": 1}, '"two words"=1'),
        ({"text": "a\nb"}, 'text="a\\nb"'),
        ({}, ""),
        ([1, "a"], '[1,"a"]'),
        (None, "null"),
        ('{"lamp": "nor', '{"lamp": "nor'),
        ("a\n\x1b[31mb", "a b"),
    ],
)
def test_arguments_are_told_in_one_line(value: Any, expected: str) -> None:
    assert one_line(value, 80) == expected


def test_a_line_of_arguments_is_cut_between_graphemes() -> None:
    assert one_line({"note": "two words"}, 9) == 'note="tw…'
    assert one_line({"a": "漢字漢字"}, 6) == "a=漢…"


@settings(max_examples=400, deadline=None)
@given(VALUES, st.integers(1, 60))
def test_a_line_of_arguments_keeps_its_width(value: Any, cells: int) -> None:
    text = one_line(value, cells)
    assert rich_cell_len(text) <= cells
    assert "\n" not in text
    assert clean(text) == text
