"""JSON documents, written piece by piece (CONTRACT, "JSON").

Whatever a log holds comes out as valid UTF-8: halves of surrogate pairs are U+FFFD, and characters that
order a terminal about or turn the reading direction stand as escapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from tui.session.json_text import clean_json, compact

Write = Callable[[str], object]

VERSION: Final = 1
# What a JSON string may hold as it is, but no terminal should be shown.
_UNSAFE: Final = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def json_of(value: Any) -> str:
    """Return a value as JSON on one line."""
    try:
        text = msgspec.json.encode(value).decode("utf-8")
    except (ValueError, OverflowError, TypeError, RecursionError):
        # Halves of surrogate pairs, numbers beyond 64 bits, nesting beyond the encoder's reach.
        text = compact(clean_json(value))
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(_escaped, text)


def present(**facts: Any) -> dict[str, Any]:
    """Return the facts that there are: what is absent is left out, never null."""
    return {name: value for name, value in facts.items() if value is not None}


def named(**facts: Any) -> dict[str, Any]:
    """Return the facts that say something: also what is empty or false is left out."""
    return {name: value for name, value in facts.items() if value not in (None, "", False, [], {})}


def write_document(
    write: Write, view: str, head: Mapping[str, Any], lists: Mapping[str, Iterable[Mapping[str, Any]]]
) -> None:
    """Write one document: its format, the members of `head`, then each list, one entry a line."""
    members = [f'"format":{json_of(f"dsh-tui/{view}")}', f'"version":{VERSION}']
    members += [f"{json_of(name)}:{json_of(value)}" for name, value in head.items()]
    write("{" + ",\n".join(members))
    for name, entries in lists.items():
        write(f",\n{json_of(name)}:[")
        separator = "\n"
        for entry in entries:
            write(separator + json_of(entry))
            separator = ",\n"
        write("\n]")
    write("}\n")


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
