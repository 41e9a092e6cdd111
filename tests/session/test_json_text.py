"""JSON text as JavaScript writes it (session-format §6.1), and well-formed strings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.session.json_text import clean_json, compact, number_text, well_formed

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text().map(lambda key: f"k{key}"), inner),
)


# What `JSON.stringify(JSON.parse(text))` gives, by the rules of ECMA-262 Number::toString.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0.1", "0.1"),
        ("100", "100"),
        ("1e21", "1e+21"),
        ("1e20", "100000000000000000000"),
        ("123456789012345680000", "123456789012345680000"),
        ("1234567890123456789012", "1.2345678901234568e+21"),
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("1.5e-7", "1.5e-7"),
        ("-12.50", "-12.5"),
        ("1e400", "null"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("512.25", "512.25"),
    ],
)
def test_numbers_are_written_as_javascript_writes_them(text: str, expected: str) -> None:
    assert compact(json.loads(text)) == expected


def test_an_integer_beyond_every_double_is_null() -> None:
    assert compact(10**400) == "null"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_in_json_is_null(number: float) -> None:
    assert number_text(number) == "null"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_written_number_reads_back_as_the_same_double(number: float) -> None:
    assert float(number_text(number)) == number


@given(PLAIN)
def test_values_without_fractions_are_written_as_the_json_module_writes_them(value: Any) -> None:
    assert compact(value) == json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def test_the_order_of_keys_is_kept() -> None:
    assert compact({"b": 1, "a": {"d": [], "c": {}}}) == '{"b":1,"a":{"d":[],"c":{}}}'


def test_keys_that_look_like_array_indexes_come_first_in_ascending_order() -> None:
    value = {"b": 0, "10": 1, "2": 2, "01": 3, "-1": 4, "4294967295": 5, "4294967294": 6, "٣": 7}
    assert compact(value) == '{"2":2,"10":1,"4294967294":6,"b":0,"01":3,"-1":4,"4294967295":5,"٣":7}'


def test_only_what_json_demands_is_escaped() -> None:
    assert (
        compact('"\\\b\f\n\r\t\x01\x1f\x7f/\u2028é🙂')
        == '"\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f/\u2028é🙂"'
    )


def test_unpaired_surrogates_are_escaped_and_pairs_are_joined() -> None:
    assert compact("\ud83d\ude00 \ude00\ud83d") == '"😀 \\ude00\\ud83d"'
    assert compact({"\ud800": 1}) == '{"\\ud800":1}'


def test_depth_is_not_limited() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert compact(value) == "[" * 100_001 + "]" * 100_001


def test_a_value_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError):
        compact({"a": object()})


def test_unpaired_surrogates_become_replacement_characters() -> None:
    assert well_formed("a\ud800b\udc00\udc00") == "a\ufffdb\ufffd\ufffd"
    assert well_formed("\ud83d\ude00") == "😀"
    assert well_formed("\ud83d\ud83d\ude00") == "\ufffd😀"


@given(st.text(st.characters()))
def test_well_formed_text_can_always_be_encoded(text: str) -> None:
    well_formed(text).encode("utf-8")


def test_a_clean_value_is_returned_as_it_is() -> None:
    value = {"a": ["x", {"ü": 1}], "b": None}
    assert clean_json(value) is value


def test_every_string_and_key_of_a_value_is_cleaned_in_place_of_the_old() -> None:
    value = {"\ud800": ["\udfff", 1.5, {"k": "\ud83d\ude00"}], "a": True}
    assert clean_json(value) == {"\ufffd": ["\ufffd", 1.5, {"k": "😀"}], "a": True}
    assert list(clean_json(value)) == ["\ufffd", "a"]
    assert value["\ud800"][0] == "\udfff"  # type: ignore[index]
    assert clean_json("\ud800") == "\ufffd"


def test_of_keys_that_become_equal_the_last_one_counts() -> None:
    assert clean_json(dict.fromkeys(("\ud800", "\udc00"), "\ud800") | {"\ud800": 1}) == {"\ufffd": "\ufffd"}


def test_deep_values_are_cleaned_too() -> None:
    value: Any = "\ud800"
    for _ in range(50_000):
        value = [value]
    cleaned = clean_json(value)
    for _ in range(50_000):
        cleaned = cleaned[0]
    assert cleaned == "\ufffd"
