"""Tolerant readings of parsed JSON values.

A log is input from outside: a value may have any shape, and a fold that meets a wrong one goes on with
an empty reading instead of raising. Nothing here converts; a value is either of the kind or it is not.
"""

from typing import Any, Final, cast

MAX_SAFE_INTEGER: Final = 2**53 - 1


def as_object(value: object) -> dict[str, Any]:
    """Return value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_array(value: object) -> list[Any]:
    """Return value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return value if it is a string, else the empty string."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int | None:
    """Return value if it is a safe integer and not negative, else None; 3.0 reads as 3, as in JavaScript."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SAFE_INTEGER:
        return value
    return None
