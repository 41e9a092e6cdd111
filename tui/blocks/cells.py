"""Widths in terminal cells, counted as Rich counts them, and cuts that keep graphemes and wide characters
whole.

The screen is drawn from Rich segments, so `cell_len` must give what `rich.cells` gives for the same string.
Printable ASCII never loads Rich. A grapheme here is a base character with everything that takes no cell of
its own, a pair of regional indicators (a flag), or a chain held together by zero-width joiners.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, Literal

Align = Literal["left", "right", "center"]

ZWJ = "\u200d"
_BEYOND = "\U00010000-\U0010ffff"
_SHORT: Final = 400
"""Characters up to which a text is looked at one by one. The expression for longer ones is some thirty times
faster and takes two milliseconds to compile, which the first picture would have to wait for."""


@cache
def _measure_character() -> Callable[[str], int]:
    from rich.cells import get_character_cell_size as measure

    return measure


@cache
def _measure() -> Callable[[str], int]:
    from rich.cells import cell_len as measure

    return measure


@cache
def zero_width() -> str:
    """A regular expression for one character of width zero other than the joiner.

    Characters beyond the basic plane are asked for apart: a class that mixes both tests every ordinary
    character against some hundred ranges (measured: 250 ns a character against 10).
    """
    basic, beyond = _zero_width_classes()
    return f"(?:[{basic}]|(?=[{_BEYOND}])[{beyond}])"


@cache
def _zero_width_classes() -> tuple[str, str]:
    from rich._unicode_data import load

    joiner = ord(ZWJ)
    basic: list[str] = []
    beyond: list[str] = []
    for start, end, width in load("auto").widths:
        if width:
            continue
        holes = [(start, joiner - 1), (joiner + 1, end)] if start <= joiner <= end else [(start, end)]
        side = basic if end < 0x10000 else beyond
        side.extend(f"\\U{low:08x}-\\U{high:08x}" for low, high in holes if low <= high)
    return "".join(basic), "".join(beyond)


@cache
def _uncommon() -> re.Pattern[str]:
    return re.compile(f"[{_zero_width_classes()[0]}{ZWJ}{_BEYOND}]")


def is_one_character_each(text: str) -> bool:
    """Whether every character of a text is a grapheme of its own: no marks, joiners, flags or emoji in it."""
    if text.isascii():
        return True
    if len(text) > _SHORT:
        return _uncommon().search(text) is None
    return not any(_is_uncommon(character) for character in set(text))


def _is_uncommon(character: str) -> bool:
    return character >= "\U00010000" or character == ZWJ or is_mark(character)


def is_mark(character: str) -> bool:
    """Whether a printable character has width zero and is not the joiner: it stands on the one before it."""
    if character < "\u0300":
        return False
    return character != ZWJ and not _measure_character()(character)


def has_few_marks(text: str, count: int) -> bool:
    """Whether a short text has at most `count` marks and joiners; False for a long one."""
    return len(text) <= _SHORT and sum(char == ZWJ or is_mark(char) for char in text) <= count


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def grapheme_ranges(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Start and end of each grapheme of `text[start:end]`, in order and without gaps."""
    end = len(text) if end is None else end
    while start < end:
        first = text[start]
        at = start + 1
        # A joiner takes whatever follows it.
        if first == ZWJ or (at < end and _is_regional(first) and _is_regional(text[at])):
            at += 1
        while at < end:
            following = text[at]
            if following == ZWJ:
                at += 2
            elif is_mark(following):
                at += 1
            else:
                break
        yield start, min(at, end)
        start = at


def cell_len(text: str) -> int:
    """The cells a text takes on a terminal, equal to `rich.cells.cell_len`."""
    if text.isascii() and text.isprintable():
        return len(text)
    return _measure()(text)


def graphemes(text: str) -> Iterator[str]:
    """The user-perceived characters of a text, in order; joined they give the text again."""
    if is_one_character_each(text):
        yield from text
        return
    for start, end in grapheme_ranges(text):
        yield text[start:end]


def cut(text: str, cells: int) -> tuple[str, str]:
    """The longest start of a text that takes at most `cells` cells, and the rest; no grapheme is split.

    The head may be one cell short when a wide character stands on the border. Costs what the head costs.
    """
    if cells <= 0:
        return "", text
    near = text[: cells + 1]
    if near.isascii() and near.isprintable():
        return text[:cells], text[cells:]
    measure = cell_len
    used = 0
    end = 0
    for start, following in grapheme_ranges(text):
        used += measure(text[start:following])
        if used > cells:
            break
        end = following
    return text[:end], text[end:]


def fit(text: str, cells: int, align: Align = "left", ellipsis: str = "…") -> str:
    """A text cropped (with an ellipsis) or padded with spaces to exactly `cells` cells."""
    if cells <= 0:
        return ""
    width = cell_len(text)
    if width > cells:
        mark = cut(ellipsis, cells)[0]
        text = cut(text, cells - cell_len(mark))[0]
        missing = cells - cell_len(text) - cell_len(mark)
        return text + mark + " " * missing
    missing = cells - width
    if align == "right":
        return " " * missing + text
    if align == "center":
        left = missing // 2
        return " " * left + text + " " * (missing - left)
    return text + " " * missing
