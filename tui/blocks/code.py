"""Source code as coloured lines: Pygments finds the tokens, each becomes a span with a `code-*` role.

Code that is too big, too wide or in an unknown language is plain, and so is the rest of code whose lexer
takes too long. Pygments is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby
from time import thread_time
from typing import TYPE_CHECKING

from tui.blocks.clean import clean
from tui.blocks.text import Line, Span
from tui.blocks.wrap import fold

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import (
        _TokenType as TokenType,  # pyright: ignore[reportPrivateUsage] - the type has no public name
    )

MAX_CHARS = 65_536
"""Characters up to which code is highlighted."""
MAX_COLUMNS = 2_000
"""Characters of a line up to which the code it stands in is highlighted; longer lines are data, not code."""
MAX_BLANK_ROWS = 200
"""Blank rows in a run up to which code is highlighted."""
MAX_SECONDS = 0.3
"""CPU time for one piece of code; some lexers cost the square of its length (30,000 words in Java: 108 s)."""
CONTINUATION = (Span("↪ ", "muted"),)
"""Opens each further row of a line that is wider than the screen."""

# The first entry that is the token's type or an ancestor of it, from the type upwards, gives the role.
_ROLES = {
    "Token.Keyword": "code-keyword",
    "Token.Name.Tag": "code-keyword",
    "Token.Comment.Preproc": "code-keyword",
    "Token.Comment": "code-comment",
    "Token.Literal.String": "code-string",
    "Token.Literal.Date": "code-string",
    "Token.Literal.Number": "code-number",
    "Token.Name.Function": "code-name",
    "Token.Name.Class": "code-name",
    "Token.Name.Builtin": "code-name",
    "Token.Name.Decorator": "code-name",
    "Token.Name.Attribute": "code-name",
    "Token.Operator": "code-operator",
    "Token.Operator.Word": "code-keyword",
    "Token.Generic.Inserted": "diff-add",
    "Token.Generic.Deleted": "diff-remove",
    "Token.Generic.Heading": "diff-hunk",
    "Token.Generic.Subheading": "diff-hunk",
}


def highlight_code(text: str, language: str, width: int, *, max_rows: int | None = None) -> list[Line]:
    """Code as lines of at most `width` cells, at most `max_rows` of them; long lines go on behind a mark.

    `language` is a name or alias that Pygments knows; any other gives plain lines with the role `code`. One
    line end at the end of the text does not count.
    """
    text = clean(text).removesuffix("\n")
    if max_rows is not None:
        text = _first_lines(text, max_rows)
    lines: list[Line] = []
    for spans in _span_lines(text, language):
        left = None if max_rows is None else max_rows - len(lines)
        if left == 0:
            break
        lines += fold(spans, width, subsequent_indent=CONTINUATION, max_rows=left)
    return lines


def _first_lines(text: str, count: int) -> str:
    at = -1
    for _ in range(count):
        at = text.find("\n", at + 1)
        if at < 0:
            return text
    return text[:at]


def _span_lines(text: str, language: str) -> Iterable[list[Span]]:
    rows = [row.rstrip(" ") for row in text.split("\n")]
    if language and _is_affordable(rows):
        lexer = _lexer(language.lower())
        if lexer is not None:
            return _lexed(lexer, "\n".join(rows))
    return ([Span(row, "code")] if row else [] for row in rows)


def _is_affordable(rows: Sequence[str]) -> bool:
    """Whether lexers take these rows in good time; many look from each blank row to the end of its run."""
    if sum(map(len, rows)) + len(rows) > MAX_CHARS or max(map(len, rows)) > MAX_COLUMNS:
        return False
    return all(
        is_filled or sum(1 for _ in run) <= MAX_BLANK_ROWS for is_filled, run in groupby(rows, key=bool)
    )


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _lexed(lexer: Lexer, text: str) -> Iterator[list[Span]]:
    # Many lexers know a line only by its end, so the last one is given one too.
    text += "\n"
    spans: list[Span] = []
    consumed = 0
    for token, value in _tokens(lexer, text):
        role = _role(token)
        consumed += len(value)
        head, *others = value.split("\n")
        _append(spans, head, role)
        for part in others:
            yield spans
            spans = []
            _append(spans, part, role)
    if consumed < len(text):
        head, *others = text[consumed:-1].split("\n")
        _append(spans, head, "code")
        yield spans
        yield from ([Span(part, "code")] if part else [] for part in others)


def _tokens(lexer: Lexer, text: str) -> Iterator[tuple[TokenType, str]]:
    """The tokens found until the time is used up; a lexer that fails gives no more."""
    deadline = thread_time() + MAX_SECONDS
    try:
        for number, token in enumerate(lexer.get_tokens(text)):
            yield token
            if number % 16 == 15 and thread_time() > deadline:
                return
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, AssertionError):
        # There are some 500 lexers, and what they are given here was written to be read, not to be valid.
        return


def _append(spans: list[Span], text: str, role: str) -> None:
    if not text:
        return
    if spans and (spans[-1].role == role or text.isspace()):
        spans[-1] = Span(spans[-1].text + text, spans[-1].role)
    else:
        spans.append(Span(text, role))


@cache
def _role(token: TokenType) -> str:
    kind: TokenType | None = token
    while kind is not None:
        role = _ROLES.get(str(kind))
        if role is not None:
            return role
        kind = kind.parent
    return "code"
