"""JSON text as dsh itself would write it, and well-formed strings.

dsh compares tool definitions by `JSON.stringify` (session-format §6.1), so the text here must be the very
same: numbers are doubles, keys that look like array indexes come first, unpaired surrogates are escaped.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final, cast

from tui.session.json_value import MAX_SAFE_INTEGER

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SURROGATES: Final = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")
_ARRAY_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_MAX_ARRAY_INDEX: Final = 2**32 - 2
_encode_string: Final[Callable[[str], str]] = json.JSONEncoder(ensure_ascii=False).encode


def compact(value: Any) -> str:
    """Return the text that JavaScript's `JSON.stringify` gives for a parsed JSON value.

    Raises TypeError for a value that no JSON text parses to. Depth is not limited. Spec §6.1.
    """
    parts: list[str] = []
    # Text still to be written, last first: a str is written as it is, a one-element tuple holds a value.
    todo: list[str | tuple[Any]] = [(value,)]
    while todo:
        entry = todo.pop()
        if isinstance(entry, str):
            parts.append(entry)
            continue
        item = entry[0]
        if isinstance(item, dict):
            _push_object(cast("dict[str, Any]", item), todo)
        elif isinstance(item, list):
            _push_array(cast("list[Any]", item), todo)
        else:
            parts.append(_scalar(item))
    return "".join(parts)


def well_formed(text: str) -> str:
    """Return text with surrogate pairs joined and each unpaired surrogate replaced by U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return _SURROGATES.sub(_join_or_replace, text)


def clean_json(value: Any) -> Any:
    """Return value with every string and key in it well-formed; value itself if all of them are already."""
    if isinstance(value, str):
        return well_formed(value)
    if not isinstance(value, (dict, list)) or not _holds_surrogates(cast("Any", value)):
        return cast("Any", value)
    cleaned: list[Any] = [None]
    todo: list[tuple[Any, Any, Any]] = [(value, cleaned, 0)]
    while todo:
        item, parent, key = todo.pop()
        if isinstance(item, str):
            parent[key] = well_formed(item)
        elif isinstance(item, dict):
            fresh: dict[str, Any] = {}
            parent[key] = fresh
            for name, member in cast("dict[str, Any]", item).items():
                fresh[well_formed(name)] = member  # keeps the place of the key while its value waits
            todo.extend((member, fresh, name) for name, member in fresh.items())
        elif isinstance(item, list):
            items = cast("list[Any]", item)
            row: list[Any] = [None] * len(items)
            parent[key] = row
            todo.extend((member, row, at) for at, member in enumerate(items))
        else:
            parent[key] = item
    return cleaned[0]


def number_text(number: float) -> str:
    """Return a number as JavaScript writes it in JSON: read as a double first, `null` if it is not finite."""
    if isinstance(number, int) and -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
        return str(int(number))
    try:
        double = float(number)
    except OverflowError:
        return "null"
    if not math.isfinite(double):
        return "null"
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    mantissa, _, exponent_text = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent_text or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    """Write `0.digits × 10**point` in the shape of Number::toString."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = f"e{point - 1:+d}"
    return f"{digits[0]}.{digits[1:]}{exponent}" if count > 1 else digits + exponent


def _scalar(item: object) -> str:
    if isinstance(item, str):
        return _string(item)
    if item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (int, float)):
        return number_text(item)
    raise TypeError(f"not a JSON value: {type(item).__name__}")


def _string(text: str) -> str:
    encoded = _encode_string(text)
    if encoded.isascii() or _SURROGATE.search(encoded) is None:
        return encoded
    return _SURROGATES.sub(_join_or_escape, encoded)


def _push_array(items: list[Any], todo: list[str | tuple[Any]]) -> None:
    todo.append("]")
    for at in range(len(items) - 1, -1, -1):
        todo.append((items[at],))
        if at:
            todo.append(",")
    todo.append("[")


def _push_object(members: dict[str, Any], todo: list[str | tuple[Any]]) -> None:
    keys = _javascript_order(list(members))
    todo.append("}")
    for at in range(len(keys) - 1, -1, -1):
        key = keys[at]
        todo.append((members[key],))
        todo.append(f"{',' if at else ''}{_string(key)}:")
    todo.append("{")


def _javascript_order(keys: list[str]) -> list[str]:
    indexes = [key for key in keys if _is_array_index(key)]
    if not indexes:
        return keys
    return sorted(indexes, key=int) + [key for key in keys if not _is_array_index(key)]


def _is_array_index(key: str) -> bool:
    return key[:1].isdigit() and _ARRAY_INDEX.fullmatch(key) is not None and int(key) <= _MAX_ARRAY_INDEX


def _holds_surrogates(value: Any) -> bool:
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            if not item.isascii() and _SURROGATE.search(item) is not None:
                return True
        elif isinstance(item, dict):
            todo.extend(cast("dict[str, Any]", item).keys())
            todo.extend(cast("dict[str, Any]", item).values())
        elif isinstance(item, list):
            todo.extend(cast("list[Any]", item))
    return False


def _joined(high: str, low: str) -> str:
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00))


def _join_or_replace(match: re.Match[str]) -> str:
    return _joined(match[1], match[2]) if match[1] else "\ufffd"


def _join_or_escape(match: re.Match[str]) -> str:
    return _joined(match[1], match[2]) if match[1] else f"\\u{ord(match[0]):04x}"
