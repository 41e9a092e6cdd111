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
from typing import Literal

Align = Literal["left", "right", "center"]

ZWJ = "\u200d"
_REGIONAL = "\U0001f1e6-\U0001f1ff"
_BEYOND = "\U00010000-\U0010ffff"


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
    return text.isascii() or _uncommon().search(text) is None


@cache
def grapheme_pattern() -> re.Pattern[str]:
    """The expression that matches one grapheme; it matches wherever text is left."""
    marks = f"{zero_width()}*"
    return re.compile(f"(?:[{_REGIONAL}]{{2}}|{ZWJ}.?|.){marks}(?:{ZWJ}.?{marks})*", re.DOTALL)


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
    for match in grapheme_pattern().finditer(text):
        yield match[0]


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
    for match in grapheme_pattern().finditer(text):
        used += measure(match[0])
        if used > cells:
            break
        end = match.end()
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
