"""JSON values as coloured lines, and the arguments of a call in one line.

Values come from logs, so nothing here recurses: depth costs memory, not stack. Control and hidden characters
of strings show as escapes; a lone surrogate shows as U+FFFD.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from tui.blocks.cells import cell_len, fit
from tui.blocks.clean import clean_line
from tui.blocks.text import Line, Span, line
from tui.blocks.wrap import wrap

_BARE = re.compile(r"[^\s\"'=,{}\[\]:]+")
_HIDDEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_DEEPEST_INDENT = 20
"""Levels that are indented; what lies deeper stands below the last of them, so that it stays readable."""
_PUNCTUATION = "muted"


class _Open(NamedTuple):
    """A container being written: what is left of it, and the bracket that ends it."""

    members: Iterator[tuple[str | None, Any]]
    close: str


def json_lines(value: Any, width: int, max_rows: int | None = None) -> list[Line]:
    """A JSON value, two cells of indent a level, as lines of at most `width` cells.

    Long strings are wrapped, or cut where more would not be shown anyway. With `max_rows` there are at most
    so many lines, and the last is an ellipsis if anything was left out.
    """
    longest = None if max_rows is None else (max_rows + 1) * max(width, 1) * 2
    lines: list[Line] = []
    for depth, spans in _rows(value, longest):
        indent = Span("  " * min(depth, _DEEPEST_INDENT))
        lines += wrap(spans, width, indent=[indent], subsequent_indent=[indent, Span("  ")])
        if max_rows is not None and len(lines) > max_rows:
            return [*lines[: max(max_rows - 1, 0)], line(Span("…", _PUNCTUATION))][:max_rows]
    return lines


def _rows(value: Any, longest: int | None) -> Iterator[tuple[int, list[Span]]]:
    """The rows of a pretty-printed value with their depths."""
    stack: list[_Open] = []
    pending: Iterator[tuple[str | None, Any]] = iter([(None, value)])
    current = _Open(pending, "")
    following = next(current.members, None)
    while following is not None:
        key, member = following
        lead = [] if key is None else [Span(_string(key, longest), "code-name"), Span(": ", _PUNCTUATION)]
        members = _members(member)
        if members is None:
            following = next(current.members, None)
            yield len(stack), [*lead, _scalar(member, longest), *_comma(following)]
        else:
            opening, closing = ("{", "}") if isinstance(member, Mapping) else ("[", "]")
            inner = next(members, None)
            if inner is None:
                following = next(current.members, None)
                yield len(stack), [*lead, Span(opening + closing, _PUNCTUATION), *_comma(following)]
            else:
                yield len(stack), [*lead, Span(opening, _PUNCTUATION)]
                stack.append(current)
                current = _Open(members, closing)
                following = inner
        while following is None and stack:
            closed = current.close
            current = stack.pop()
            following = next(current.members, None)
            yield len(stack), [Span(closed, _PUNCTUATION), *_comma(following)]


def _comma(following: object) -> list[Span]:
    return [Span(",", _PUNCTUATION)] if following is not None else []


def _members(value: Any) -> Iterator[tuple[str | None, Any]] | None:
    """The members of an object or a list, or None for a value that holds none."""
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Any, Any]", value)
        return ((str(key), member) for key, member in mapping.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return ((None, member) for member in cast("Sequence[Any]", value))
    return None


def _scalar(value: Any, longest: int | None) -> Span:
    if isinstance(value, str):
        return Span(_string(value, longest), "code-string")
    if value is None or isinstance(value, bool):
        return Span({None: "null", True: "true", False: "false"}[value], "code-keyword")
    if isinstance(value, int | float):
        return Span(_number(value), "code-number")
    return Span(clean_line(str(value)), "code")


def _number(value: int | float) -> str:
    if isinstance(value, int) and value.bit_length() > 4_096:
        # Python refuses to write very long integers in decimal.
        return hex(value)
    return json.dumps(value)


def _string(text: str, longest: int | None = None) -> str:
    """A JSON string in which nothing hides: what cannot be seen stands as an escape."""
    more = longest is not None and len(text) > longest
    quoted = json.dumps(text[:longest] if more else text, ensure_ascii=False)
    shown = clean_line(_HIDDEN.sub(_escape, quoted))
    return f"{shown[:-1]}…" if more else shown


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def one_line(value: Any, cells: int) -> str:
    """The arguments of a call in at most `cells` cells: `lamp=north count=3 note="two words"`.

    Objects show their members as `name=value`, other values as compact JSON. A text is taken for arguments
    that are not valid JSON and shows as it is.
    """
    if isinstance(value, str):
        return _cropped(clean_line(value[: cells * 8 + 64], " "), cells)
    parts: list[str] = []
    size = 0
    for part in _gist(value, cells):
        parts.append(part)
        size += len(part)
        if size > cells * 2 + 8:
            break
    return _cropped("".join(parts), cells)


def _cropped(text: str, cells: int) -> str:
    return text if cell_len(text) <= cells else fit(text, cells).rstrip(" ")


def _gist(value: Any, cells: int) -> Iterator[str]:
    longest = cells * 2 + 8
    if not isinstance(value, Mapping):
        yield from _compact(value, longest)
        return
    separator = ""
    for key, member in cast("Mapping[Any, Any]", value).items():
        name = str(key)[:longest]
        yield f"{separator}{clean_line(name) if _BARE.fullmatch(name) else _string(name, longest)}="
        separator = " "
        if isinstance(member, str) and len(member) <= longest and _BARE.fullmatch(member):
            yield _string(member)[1:-1]
        else:
            yield from _compact(member, longest)


def _compact(value: Any, longest: int) -> Iterator[str]:
    """A value as compact JSON, piece by piece."""
    before = ""
    for depth_change, text in _compact_tokens(value, longest):
        if depth_change >= 0 and before == ",":
            yield ","
        yield text
        before = "," if depth_change <= 0 else ""


def _compact_tokens(value: Any, longest: int) -> Iterator[tuple[int, str]]:
    """Pieces of compact JSON without commas; 1 opens a container, -1 closes one, 0 is a whole value."""
    stack: list[_Open] = [_Open(iter([(None, value)]), "")]
    while stack:
        following = next(stack[-1].members, None)
        if following is None:
            closed = stack.pop().close
            if closed:
                yield -1, closed
            continue
        key, member = following
        lead = "" if key is None else f"{_string(key, longest)}:"
        members = _members(member)
        if members is None:
            yield 0, lead + _scalar(member, longest).text
        else:
            opening, closing = ("{", "}") if isinstance(member, Mapping) else ("[", "]")
            yield 1, lead + opening
            stack.append(_Open(members, closing))
