"""The subset of JSON Schema and its exact sentences (loop-and-adapters §6.2)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.tools.schema import (
    UnsupportedSchema,
    argument_violations,
    is_lossless,
    require_supported,
    same_json,
    schema_violations,
    value_violations,
)
from tui.tools.tool import parse_arguments

NO_TYPE = "{} must be a single type string (type arrays are not supported)"


def props(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize("arguments", ["{bad", None, [1], 3])
def test_arguments_are_an_object_whatever_the_schema_says(arguments: Any) -> None:
    assert argument_violations({}, arguments) == ['"arguments" must be an object']


@pytest.mark.parametrize(
    ("schema", "arguments", "violations"),
    [
        ({"required": ["n"]}, {}, ['missing required property "n"']),
        (props(o={"required": ["k"]}), {"o": {}}, ['missing required property "o.k"']),
        (props(n={"type": "string"}), {"n": 1}, ['"n" must be a string']),
        (props(n={"type": "number"}), {"n": "1"}, ['"n" must be a number']),
        (props(n={"type": "number"}), {"n": True}, ['"n" must be a number']),
        (props(n={"type": "integer"}), {"n": 1.5}, ['"n" must be an integer']),
        (props(n={"type": "integer"}), {"n": True}, ['"n" must be an integer']),
        (props(n={"type": "integer"}), {"n": 2.0}, []),
        (props(n={"type": "boolean"}), {"n": 1}, ['"n" must be a boolean']),
        (props(n={"type": "null"}), {"n": 0}, ['"n" must be null']),
        (props(n={"type": "array"}), {"n": {}}, ['"n" must be an array']),
        (props(n={"type": "object"}), {"n": []}, ['"n" must be an object']),
        (props(mode={"enum": ["a", "b"]}), {"mode": "c"}, ['"mode" must be one of ["a","b"]']),
        (props(x={"const": 3}), {"x": 4}, ['"x" must be 3']),
        (props(x={"const": 1}), {"x": True}, ['"x" must be 1']),
        (props(x={"const": 1}), {"x": 1.0}, []),
        (
            props(list={"type": "array", "items": {"type": "string"}}),
            {"list": ["a", 1]},
            ['"list[1]" must be a string'],
        ),
        (
            props(o={"type": "object", "properties": {}, "additionalProperties": False}),
            {"o": {"zz": 1}},
            ['"o.zz" is not a declared property (additionalProperties: false)'],
        ),
        (
            props(x={"oneOf": [{"type": "string"}, {"type": "null"}]}),
            {"x": 1},
            ['"x" must match exactly one oneOf branch (matched 0)'],
        ),
        (
            props(x={"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            {"x": 1},
            ['"x" must match exactly one oneOf branch (matched 2)'],
        ),
        (props(n={"type": "string"}), {"unknown": 1, "n": "a"}, []),
        (
            {"required": ["a", "b"], "properties": {"c": {"type": "string"}}},
            {"c": 1},
            ['missing required property "a"', 'missing required property "b"', '"c" must be a string'],
        ),
    ],
)
def test_each_violation_has_its_sentence(schema: Any, arguments: Any, violations: list[str]) -> None:
    assert argument_violations(schema, arguments) == violations


def test_a_value_is_called_value() -> None:
    assert value_violations({"type": "string"}, 3) == ['"value" must be a string']


@pytest.mark.parametrize(
    ("schema", "violations"),
    [
        ({"type": ["string", "null"]}, [NO_TYPE.format("schema.type")]),
        (
            {"pattern": "x", "format": "uri"},
            [
                "schema.pattern is not a supported keyword (subset: type, oneOf, properties, required, "
                "additionalProperties, items, enum, const, description, title, default, examples)",
                "schema.format is not a supported keyword (subset: type, oneOf, properties, required, "
                "additionalProperties, items, enum, const, description, title, default, examples)",
            ],
        ),
        ({"properties": {"n": {"items": {"type": 1}}}}, [NO_TYPE.format("schema.properties.n.items.type")]),
        ({"oneOf": [{"type": "string"}]}, ["schema.oneOf must be a list of at least two schemas"]),
        ({"additionalProperties": {}}, ["schema.additionalProperties must be a boolean"]),
        ({"description": 1, "title": [], "default": {}, "examples": 4}, []),
        ({}, []),
        (True, ["schema must be an object"]),
    ],
)
def test_a_schema_outside_the_subset_is_told_with_every_place(schema: Any, violations: list[str]) -> None:
    assert list(schema_violations(schema)) == violations


def test_an_unsupported_schema_lists_all_its_violations_in_one_message() -> None:
    with pytest.raises(UnsupportedSchema) as refused:
        require_supported({"type": 1, "required": "a"})
    assert refused.value.code == "UNSUPPORTED_SCHEMA"
    assert str(refused.value) == (
        "unsupported JSON schema: schema.type must be a single type string (type arrays are not supported); "
        "schema.required must be a list of property names"
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
def test_json_is_lossless_and_equal_to_itself(value: Any) -> None:
    assert is_lossless(value)
    assert same_json(value, value)
    assert argument_violations({"properties": {"x": {"const": value}}}, {"x": value}) == []


def in_a_circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


def very_deep() -> list[Any]:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -0.0,
        2**53,
        (1,),
        {1: 2},
        object(),
        b"",
        {"a": [math.nan]},
        in_a_circle(),
        very_deep(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_would_change_is_not_lossless(value: Any) -> None:
    assert not is_lossless(value)


def test_one_list_in_two_places_is_no_circle() -> None:
    row: list[Any] = [1]
    assert is_lossless([row, row])


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        ('{"a": 1.0}', {"a": 1}),
        ('{"a": 12345678901234567890}', {"a": 12345678901234567890.0}),
        ("{bad", "{bad"),
        ('{"a": NaN}', '{"a": NaN}'),
        ("[" * 100_000, "[" * 100_000),
        ("null", None),
    ],
    ids=["empty", "whole", "beyond", "broken", "nan", "deep", "null"],
)
def test_arguments_are_parsed_or_handed_on_as_they_are(raw: str, arguments: Any) -> None:
    parsed = parse_arguments(raw)
    assert same_json(parsed, arguments)
    assert type(parsed) is type(arguments)
