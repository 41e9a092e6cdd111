"""Markdown that is still being written, as lines: what is finished is laid out once, the open end again.

A top-level block is finished when the next one has begun on a complete line; nothing that follows can change
it then (but for link definitions, with which the finished answer is laid out). An open fence stays plain
until it closes. A paragraph, list or quote that grows long is laid out in parts for the time being, and once
more as a whole when it ends. So a text costs about the same a character however long it gets, and what stands
there at the end equals a fresh layout of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from tui.app.stream_text import CleanLines, PlainRows
from tui.blocks.markdown import render_markdown
from tui.blocks.text import EMPTY, Line, Span, crop
from tui.blocks.wrap import wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONG = 1_600
"""Characters of an open block from which it is laid out in parts."""
_KEPT = 400
"""Characters at the end of a long paragraph that are laid out anew each time."""
_ANY_WIDTH = 1 << 30
_CODE_INDENT = 2
_WORD = re.compile(r"(?<= )(?=[^\W\d_])|(?<=[\u3040-\u9fff\uac00-\ud7af\uff01-\uffee])(?=[\u3040-\u9fff])")
"""Places in a paragraph where a word begins that no block of Markdown can begin with."""


class StreamLayout:
    """Lays out Markdown while it arrives.

    Args:
        width: cells of a line, the indent included.
        indent: cells left of every line.
    """

    def __init__(self, width: int, *, indent: int = 0) -> None:
        self._width = width
        self._room = max(width - indent, 1)
        self._indent = indent
        self._gate = CleanLines()
        self._done: list[Line] = []
        self._lines: list[str] = []
        """Complete lines of the open block that are laid out each time."""
        self._looked = 0
        """How many of them were looked at for the beginning of another block."""
        self._kind = ""
        """Type of the open block's first token."""
        self._head = ""
        """Text of the open block before those lines, laid out for the time being in `_head_rows`."""
        self._head_rows: list[Line] = []
        self._carry: tuple[Span, ...] = ()
        """The last row of a long paragraph's head, which the next words go on."""
        self._closing: re.Pattern[str] | None = None
        """What closes the open fence."""
        self._code: PlainRows | None = None

    def feed(self, text: str) -> None:
        """Take a piece of text, of any length."""
        self._lines += self._gate.feed(text)

    def rows(self) -> list[Line]:
        """All lines as of now."""
        self._advance()
        tail = self._tail()
        return [*self._done, EMPTY, *tail] if self._done and tail else self._done + tail

    def finish(self) -> list[Line]:
        """All lines of the finished text; nothing may be fed after it."""
        self._advance()
        self._lines.append(self._gate.partial)
        self._finish_block(len(self._lines))
        self._gate = CleanLines()
        return list(self._done)

    # -- finished blocks

    def _advance(self) -> None:
        while self._looked < len(self._lines):
            if not (self._read_code() if self._code is not None else self._split()):
                return

    def _read_code(self) -> bool:
        """Take in lines of an open fence; True if one closed it and there may be more behind."""
        assert self._closing is not None and self._code is not None
        for at, text in enumerate(self._lines):
            if self._closing.fullmatch(text):
                self._finish_block(at + 1)
                return True
        self._code.add(self._lines)
        self._move_to_head(len(self._lines))
        return False

    def _split(self) -> bool:
        """Finish every block before the last; True if there may be more to be finished."""
        fresh = self._lines[self._looked :]
        self._looked = len(self._lines)
        from_head = bool(self._head) and self._kind != "paragraph_open"
        if from_head and not any(text[:1].strip() for text in fresh):
            # Only what is not indented begins a block behind a long list or quote.
            return False
        before = self._head.count("\n") if from_head else 0
        text = "\n".join(self._lines) + "\n"
        blocks = _blocks(self._head + text if from_head else text)
        if not blocks:
            return False
        last = blocks[-1]
        start, end = last.map or [0, 0]
        if start > before and (len(blocks) > 1 or not self._head):
            self._finish_block(start - before)
            end -= start - before
            before = 0
        elif self._head:
            return False
        self._kind = last.type
        self._looked = len(self._lines)
        if last.type != "fence":
            return False
        closing = _closing(last)
        end = min(end, len(self._lines))
        if end > 1 and closing.fullmatch(self._lines[end - 1]):
            self._finish_block(end)
            return True
        self._closing = closing
        self._code = PlainRows(
            self._width, "code", indent=[Span(" " * (self._indent + _CODE_INDENT))], folds=True
        )
        self._move_to_head(1)
        return True

    def _finish_block(self, count: int) -> None:
        """Lay the open block, which ends with this many of its lines, out for good."""
        rows = self._laid(self._head + "\n".join(self._lines[:count]))
        if self._done and rows:
            self._done.append(EMPTY)
        self._done += rows
        self._lines = self._lines[count:]
        self._looked = 0
        self._head, self._head_rows, self._carry, self._kind = "", [], (), ""
        self._closing = self._code = None

    def _move_to_head(self, count: int) -> None:
        self._head += "".join(f"{text}\n" for text in self._lines[:count])
        self._lines = self._lines[count:]
        self._looked = 0

    # -- the open end

    def _tail(self) -> list[Line]:
        if self._code is not None:
            return self._code.rows(self._gate.partial)
        text = self._open_text()
        if len(text) > LONG:
            self._put_aside(text)
            text = self._open_text()
        if not self._head:
            return self._laid(text)
        if self._kind == "paragraph_open":
            return [*self._head_rows, *self._placed(self._flowing(text))]
        return [*self._head_rows, *self._laid(text)]

    def _open_text(self) -> str:
        return "\n".join([*self._lines, self._gate.partial])

    def _put_aside(self, text: str) -> None:
        """Lay the first part of a long open block out for the time being."""
        if not self._head and not self._lines:
            blocks = _blocks(text)
            self._kind = blocks[0].type if blocks else ""
        if self._kind == "paragraph_open":
            self._put_words_aside(text)
            return
        lines = self._lines
        count = next((at for at in range(len(lines) - 1, 0, -1) if lines[at][:1].strip()), len(lines))
        if count:
            self._head_rows += self._laid("\n".join(lines[:count]))
            self._move_to_head(count)
            self._looked = len(self._lines)

    def _put_words_aside(self, text: str) -> None:
        limit = len(text) - _KEPT
        cut = max((found.start() for found in _WORD.finditer(text, limit - _KEPT, limit)), default=0)
        cut = self._drop(cut)
        if not cut:
            return
        rows = self._flowing(text[:cut])
        self._head += text[:cut]
        self._head_rows += self._placed(rows[:-1])
        self._carry = (*rows[-1].spans, *([Span(" ")] if text[cut - 1] in " \n" else []))

    def _drop(self, cut: int) -> int:
        """Drop characters from the front of the open lines; returns how many it could."""
        dropped = 0
        while self._lines and dropped + len(self._lines[0]) < cut:
            dropped += len(self._lines.pop(0)) + 1
        if self._lines:
            self._lines[0] = self._lines[0][cut - dropped :]
            dropped = cut
        else:
            dropped += self._gate.take(cut - dropped)
        self._looked = len(self._lines)
        return dropped

    def _flowing(self, text: str) -> list[Line]:
        """The words of a paragraph, wrapped behind what the last row of its head held."""
        spans = list(self._carry)
        for row in render_markdown(text, _ANY_WIDTH):
            spans += row.spans
        return wrap(spans, self._room)

    def _laid(self, text: str) -> list[Line]:
        return self._placed(render_markdown(text, self._room))

    def _placed(self, rows: Sequence[Line]) -> list[Line]:
        lead, room = Span(" " * self._indent), self._room
        fitted = [crop(row, room) if row.cells > room else row for row in rows]
        if not self._indent:
            return fitted
        return [Line((lead, *row.spans), row.cells + self._indent) if row.spans else row for row in fitted]


@cache
def _outline() -> MarkdownIt:
    """The parser of blocks alone: what stands in a line is left as it is."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table"]).disable(["inline"])


def _blocks(text: str) -> list[Token]:
    """The first token of each top-level block."""
    tokens = _outline().parse(text)
    return [token for token in tokens if token.level == 0 and token.nesting >= 0 and token.map is not None]


def _closing(fence: Token) -> re.Pattern[str]:
    sign = re.escape(fence.markup[0])
    return re.compile(rf" {{0,3}}{sign}{{{len(fence.markup)},}}[ \t]*")
