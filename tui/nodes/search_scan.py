"""Which rows of a log can hold a word, told from their raw text without decoding them.

A row whose text does not hold the word in any spelling of JSON cannot say it. Pieces of the text are
casefolded; in those with escapes of printable characters (`\\u6e7f`; dsh writes none, others do) these are
undone first. Words with characters that JSON may escape are looked up by their longest part without one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from tui.session.log import SessionLog

PIECE = 256 << 10
"""Bytes of text looked at in one go: about 3 ms."""

_ESCAPED = re.compile(r'["\\/]')
# Control characters stay escaped, so that every line stays one line.
_ESCAPE = re.compile(r"\\+u((?!00[01])[0-9a-fA-F]{4})")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def piece_end(log: SessionLog, first: int) -> int:
    """The row after the last of the piece that begins with a row; a row longer than a piece is one alone."""
    offsets = log.index.offsets
    end = bisect_right(offsets, offsets[first] + PIECE, first, len(log))
    # The last row begins within the piece; a long one opens the next.
    if end > first + 1 and offsets[end - 1] + log.length(end - 1) > offsets[first] + 2 * PIECE:
        end -= 1
    return max(end, first + 1)


def rows_with(log: SessionLog, first: int, end: int, word: str) -> Iterator[int]:
    """The rows from `first` to `end` (not included) whose raw text may hold a casefolded word, ascending."""
    core = max(_ESCAPED.split(word), key=len)
    if not core:
        yield from range(first, end)
        return
    offsets = log.index.offsets
    start = offsets[first]
    data = log.source.read(start, max(start, offsets[end - 1] + log.length(end - 1)))
    text = data.decode("utf-8", "replace")
    lines = _lines_with(text.casefold(), core)
    if "\\u" in text and _ESCAPE.search(text) is not None:
        lines = sorted({*lines, *_lines_with(_unescaped(text).casefold(), core)})
    if not lines:
        return
    begins = _line_begins(data, lines[-1])
    for number in lines:
        yield bisect_right(offsets, start + begins[number], first, end) - 1


def _lines_with(text: str, word: str) -> list[int]:
    """Numbers of the lines that hold a word, from 0."""
    found: list[int] = []
    number, counted = 0, 0
    at = text.find(word)
    while at >= 0:
        number += text.count("\n", counted, at)
        found.append(number)
        counted = text.find("\n", at)
        if counted < 0:
            break
        at = text.find(word, counted)
    return found


def _line_begins(data: bytes, last: int) -> list[int]:
    """Where lines begin, up to the line of a number."""
    begins = [0]
    while len(begins) <= last:
        begins.append(data.index(b"\n", begins[-1]) + 1)
    return begins


def _unescaped(text: str) -> str:
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return _PAIR.sub(_joined, text)


def _joined(match: re.Match[str]) -> str:
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
