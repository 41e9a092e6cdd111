"""The subset of JSON Schema that dsh checks values against, in its sentences (loop-and-adapters §6.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from tui.session.json_text import compact
from tui.session.json_value import MAX_SAFE_INTEGER

ANNOTATIONS: Final = ("description", "title", "default", "examples")
KEYWORDS: Final = (
    "type",
    "oneOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    *ANNOTATIONS,
)
_SUBSET: Final = ", ".join(KEYWORDS)
_TYPES: Final = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "a boolean",
    "null": "null",
}


class UnsupportedSchema(TypeError):
    """A schema outside the subset; the message lists every violation."""

    code: Final = "UNSUPPORTED_SCHEMA"

    def __init__(self, violations: list[str]) -> None:
        super().__init__(f"unsupported JSON schema: {'; '.join(violations)}")
        self.violations = violations


def require_supported(schema: Any) -> None:
    """Raise UnsupportedSchema unless the schema is in the subset."""
    if violations := list(schema_violations(schema)):
        raise UnsupportedSchema(violations)


def schema_violations(schema: Any, at: str = "schema") -> Iterator[str]:
    """Yield what keeps a schema out of the subset, each with its place."""
    if not isinstance(schema, dict):
        yield f"{at} must be an object"
        return
    for keyword, operand in cast("dict[str, Any]", schema).items():
        check = _CHECKS.get(keyword)
        if check is not None:
            yield from check(operand, f"{at}.{keyword}")
        elif keyword not in ANNOTATIONS:
            yield f"{at}.{keyword} is not a supported keyword (subset: {_SUBSET})"


def argument_violations(schema: Any, arguments: Any) -> list[str]:
    """Return what is wrong with the arguments of a call; they must be an object whatever the schema says."""
    if not isinstance(arguments, dict):
        return ['"arguments" must be an object']
    return list(_violations(schema, cast("dict[str, Any]", arguments), ""))


def value_violations(schema: Any, value: Any) -> list[str]:
    """Return what is wrong with a value; it is called `value`."""
    return list(_violations(schema, value, "value"))


def is_lossless(value: Any) -> bool:
    """Tell whether a value survives JSON unchanged: no NaN, infinity, −0, unsafe integer, cycle or object."""
    try:
        return _is_lossless(value, set())
    except RecursionError:
        return False


def same_json(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are equal; a boolean is no number, 1 is 1.0, key order is free."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        left, right = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(one, list) and isinstance(other, list):
        rows, others = cast("list[Any]", one), cast("list[Any]", other)
        return len(rows) == len(others) and all(map(same_json, rows, others))
    return bool(one == other)


def _is_lossless(value: Any, above: set[int]) -> bool:
    if value is None or isinstance(value, (bool, str)):
        return True
    if isinstance(value, int):
        return -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER
    if isinstance(value, float):
        return math.isfinite(value) and (bool(value) or math.copysign(1, value) > 0)
    if not isinstance(value, (dict, list)):
        return False
    container = cast("dict[Any, Any] | list[Any]", value)
    if id(container) in above:
        return False
    if isinstance(container, dict) and not all(isinstance(key, str) for key in container):
        return False
    members = container.values() if isinstance(container, dict) else container
    above.add(id(container))
    whole = all(_is_lossless(member, above) for member in members)
    above.discard(id(container))
    return whole


def _violations(schema: dict[str, Any], value: Any, at: str) -> Iterator[str]:
    kind = schema.get("type")
    if kind is not None and not _is_type(value, kind):
        yield f'"{at}" must be {_TYPES[kind]}'
        return
    if "enum" in schema and not any(same_json(value, member) for member in schema["enum"]):
        yield f'"{at}" must be one of {compact(schema["enum"])}'
    if "const" in schema and not same_json(value, schema["const"]):
        yield f'"{at}" must be {compact(schema["const"])}'
    if "oneOf" in schema:
        matched = sum(next(_violations(branch, value, at), None) is None for branch in schema["oneOf"])
        if matched != 1:
            yield f'"{at}" must match exactly one oneOf branch (matched {matched})'
    if isinstance(value, dict):
        yield from _object_violations(schema, cast("dict[str, Any]", value), at)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _violations(schema["items"], item, f"{at}[{index}]")


def _object_violations(schema: dict[str, Any], value: dict[str, Any], at: str) -> Iterator[str]:
    prefix = f"{at}." if at else ""
    properties: dict[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f'missing required property "{prefix}{name}"'
    for name, member in properties.items():
        if name in value:
            yield from _violations(member, value[name], f"{prefix}{name}")
    if schema.get("additionalProperties") is False:
        for name in value:
            if name not in properties:
                yield f'"{prefix}{name}" is not a declared property (additionalProperties: false)'


def _is_type(value: Any, kind: str) -> bool:
    match kind:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "integer":
            return _is_number(value) and float(value).is_integer()
        case _:
            return _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and is_lossless(value)


def _type_check(operand: Any, at: str) -> Iterator[str]:
    if not isinstance(operand, str):
        yield f"{at} must be a single type string (type arrays are not supported)"
    elif operand not in _TYPES:
        yield f"{at} must be one of {', '.join(_TYPES)}"


def _one_of_check(operand: Any, at: str) -> Iterator[str]:
    branches = cast("list[Any]", operand) if isinstance(operand, list) else []
    if len(branches) < 2:
        yield f"{at} must be a list of at least two schemas"
    for index, branch in enumerate(branches):
        yield from schema_violations(branch, f"{at}[{index}]")


def _properties_check(operand: Any, at: str) -> Iterator[str]:
    if not isinstance(operand, dict):
        yield f"{at} must be an object"
        return
    for name, member in cast("dict[str, Any]", operand).items():
        yield from schema_violations(member, f"{at}.{name}")


def _required_check(operand: Any, at: str) -> Iterator[str]:
    if not isinstance(operand, list) or not all(isinstance(name, str) for name in cast("list[Any]", operand)):
        yield f"{at} must be a list of property names"


def _additional_check(operand: Any, at: str) -> Iterator[str]:
    if not isinstance(operand, bool):
        yield f"{at} must be a boolean"


def _enum_check(operand: Any, at: str) -> Iterator[str]:
    if not isinstance(operand, list) or not operand:
        yield f"{at} must be a list of at least one value"
    elif not is_lossless(cast("list[Any]", operand)):
        yield f"{at} must hold JSON values"


def _const_check(operand: Any, at: str) -> Iterator[str]:
    if not is_lossless(operand):
        yield f"{at} must be a JSON value"


_CHECKS: Final[dict[str, Callable[[Any, str], Iterator[str]]]] = {
    "type": _type_check,
    "oneOf": _one_of_check,
    "properties": _properties_check,
    "required": _required_check,
    "additionalProperties": _additional_check,
    "items": schema_violations,
    "enum": _enum_check,
    "const": _const_check,
}
