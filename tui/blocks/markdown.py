"""Markdown as lines: the tokens of markdown-it (CommonMark, tables, strikethrough) drawn in terminal cells.

Text of a model is hostile, so it is cleaned before it is parsed, and again after, because entities can spell
any character. HTML is not interpreted: it shows as it was written. What the parser would drop (nesting beyond
its bound), what would show as nothing and what would cost too much shows as plain text. Text without markup
never loads the parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tui.blocks.cells import Align
from tui.blocks.clean import clean, clean_line
from tui.blocks.code import highlight_code
from tui.blocks.tables import Column, table
from tui.blocks.text import Line, Span, crop, line, with_role
from tui.blocks.wrap import wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_CHARS = 200_000
"""Characters up to which a text is parsed."""
MAX_BRACKETS = 4_000
"""Opening brackets up to which a text is parsed: the parser looks from each of them to the end."""
MAX_NESTING = 60
"""Levels of quotes and lists up to which a text is drawn as Markdown; a list takes two."""

_MARKUP = re.compile(r"[*_`#<>\[|~\\&]|^ *(?:[-+=]|[0-9]{1,9}[.)])|^ {4}|  $", re.MULTILINE)
_TASK = re.compile(r"\[([ xX])\] +")
_BULLETS = "•◦▪"
_LEAST_ROOM = 8
_SOFT_BREAK = Span("", "soft break")
_HARD_BREAK = Span("\n")
_INLINE_ROLES = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}


@cache
def _ideograph() -> re.Pattern[str]:
    """One character of a script without spaces; compiled when it is asked for, which costs 2 ms."""
    return re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003fffd]")


def render_markdown(text: str, width: int, *, max_rows: int | None = None, role: str = "") -> list[Line]:
    """Markdown as lines of at most `width` cells, at most `max_rows` of them.

    `role` is for text that has no role of its own. A caller that must say that something was cut asks for one
    row more than it shows. Never raises.
    """
    text = clean(text).strip("\n")
    if not text.strip():
        return []
    if max_rows is not None:
        text = _head(text, max_rows * width * 4 + 8_192)
    writer = _Writer(max(width, 1), max_rows, role)
    if _MARKUP.search(text) is None:
        writer.paragraphs(text)
    elif not _is_affordable(text) or not writer.blocks(_parser().parse(text)) or not writer.lines:
        writer = _Writer(max(width, 1), max_rows, role)
        writer.verbatim(text)
    return writer.lines if max_rows is None else writer.lines[:max_rows]


def _head(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = text.rfind("\n", 0, limit)
    return text[: end if end > 0 else limit]


def _is_affordable(text: str) -> bool:
    return len(text) <= MAX_CHARS and text.count("[") <= MAX_BRACKETS


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    options = {"html": False, "maxNesting": MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


class _Box:
    """What stands left of a list item or a quote: `first` on its first line, `rest` on the others."""

    def __init__(self, first: Span, rest: Span) -> None:
        self.first = first
        self.rest = rest
        self.is_started = False

    def take(self) -> Span:
        lead = self.rest if self.is_started else self.first
        self.is_started = True
        return lead


class _List(NamedTuple):
    is_ordered: bool
    is_tight: bool


class _Writer:
    """Draws block after block; the open list items and quotes are a stack of boxes."""

    def __init__(self, width: int, max_rows: int | None, role: str) -> None:
        self.lines: list[Line] = []
        self._width = width
        self._max_rows = max_rows
        self._role = role
        self._boxes: list[_Box] = []
        self._lists: list[_List] = []
        self._gap = False

    @property
    def _is_full(self) -> bool:
        return self._max_rows is not None and len(self.lines) >= self._max_rows

    def paragraphs(self, text: str) -> None:
        """Draws text without any markup: paragraphs between blank lines."""
        for part in re.split(r"\n(?: *\n)+", text):
            spans: list[Span] = []
            for row in part.split("\n"):
                if row.strip(" "):
                    spans += [_SOFT_BREAK, Span(row.strip(" "), self._role)]
            if spans:
                self._text(_joined(spans[1:]))
            if self._is_full:
                return

    def verbatim(self, text: str) -> None:
        """Draws text as it was written, row by row."""
        for row in text.split("\n"):
            self.lines += wrap([Span(row, self._role)], self._width)
            if self._is_full:
                return

    def blocks(self, tokens: Sequence[Token]) -> bool:
        """Draws the tokens of a document; False if the parser dropped what was nested too deep."""
        at = 0
        while at < len(tokens) and not self._is_full:
            token = tokens[at]
            if token.nesting == 1 and token.level >= MAX_NESTING - 1:
                return False
            at = self._block(tokens, at)
        return True

    def _block(self, tokens: Sequence[Token], at: int) -> int:
        """Draws what begins at a token and returns where the next begins."""
        token = tokens[at]
        match token.type:
            case "heading_open":
                marks = Span("#" * int(token.tag[1:]) + " ", "heading")
                self._text([marks, *self._inline(tokens[at + 1], "heading")])
                return at + 3
            case "inline":
                self._text(self._task(self._inline(token, self._role)))
            case "fence" | "code_block":
                self._code(token)
            case "hr":
                self._place([line(Span("─" * self._room(), "rule"))])
            case "table_open":
                return self._table(tokens, at)
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append(_List(token.type == "ordered_list_open", _is_tight(tokens, at)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                self._gap = not self._in_tight_list()
            case "list_item_open":
                self._open_item(token)
            case "blockquote_open":
                self._boxes.append(_Box(Span("│ ", "quote"), Span("│ ", "quote")))
                self._lists.append(_List(is_ordered=False, is_tight=False))
            case "list_item_close" | "blockquote_close":
                self._close_box(token.type == "blockquote_close")
            case _:
                pass
        return at + 1

    def _open_item(self, token: Token) -> None:
        if self._lists[-1].is_ordered:
            marker = f"{token.info}{token.markup} "
        else:
            depth = sum(1 for box in self._boxes if box.rest.role != "quote")
            marker = f"{_BULLETS[depth % len(_BULLETS)]} "
        self._boxes.append(_Box(Span(marker, "muted"), Span(" " * len(marker))))

    def _close_box(self, is_quote: bool) -> None:
        if not self._boxes[-1].is_started:
            self._text([])
        self._boxes.pop()
        if is_quote:
            self._lists.pop()
        self._gap = not self._in_tight_list()

    def _in_tight_list(self) -> bool:
        return bool(self._lists) and self._lists[-1].is_tight

    def _task(self, spans: list[Span]) -> list[Span]:
        """A paragraph; at the start of a list item `[ ]` and `[x]` become the item's mark."""
        if not spans or not self._boxes or self._boxes[-1].is_started or self._boxes[-1].rest.role == "quote":
            return spans
        task = _TASK.match(spans[0].text)
        if task is None:
            return spans
        self._boxes[-1] = _Box(Span("☐ " if task[1] == " " else "☑ ", "todo"), Span("  "))
        return [Span(spans[0].text[task.end() :], spans[0].role), *spans[1:]]

    def _code(self, token: Token) -> None:
        language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
        room = self._room() - 2
        rows = highlight_code(token.content, language, room, max_rows=self._max_rows)
        self._place([Line((Span("  "), *row.spans), row.cells + 2) if row.spans else row for row in rows])

    def _table(self, tokens: Sequence[Token], at: int) -> int:
        columns: list[Column] = []
        rows: list[list[list[Span]]] = []
        while tokens[at].type != "table_close":
            match tokens[at].type:
                case "tr_open" if columns:
                    rows.append([])
                case "th_open":
                    title = self._inline(tokens[at + 1], self._role)
                    columns.append(Column(title, _alignment(tokens[at])))
                case "td_open":
                    rows[-1].append(self._inline(tokens[at + 1], self._role))
                case _:
                    pass
            at += 1
        self._place(table(rows, columns, self._room()))
        return at + 1

    def _room(self) -> int:
        taken = sum(len(box.rest.text) for box in self._boxes)
        return max(self._width - taken, min(_LEAST_ROOM, self._width))

    def _begin(self) -> tuple[list[Span], list[Span]]:
        """Draws the blank line before a block where one is due, and gives what stands left of the block."""
        if self._gap and self.lines:
            bars = line(*(box.rest for box in self._boxes if box.is_started))
            spans = list(bars.spans)
            while spans and not spans[-1].text.strip(" "):
                spans.pop()
            if spans:
                spans[-1] = Span(spans[-1].text.rstrip(" "), spans[-1].role)
            self.lines.append(crop(line(*spans), self._width - 1, ""))
        self._gap = not self._in_tight_list()
        first = [box.take() for box in self._boxes]
        return first, [box.rest for box in self._boxes]

    def _text(self, spans: Sequence[Span]) -> None:
        first, rest = self._begin()
        self.lines += wrap(spans, self._width, indent=first, subsequent_indent=rest)

    def _place(self, rows: Sequence[Line]) -> None:
        """Draws finished rows behind the boxes."""
        first, rest = self._begin()
        lead = self._width - self._room()
        for at, row in enumerate(rows):
            left = crop(line(*(rest if at else first)), lead, "")
            self.lines.append(Line((*left.spans, *row.spans), left.cells + row.cells))

    def _inline(self, token: Token, role: str) -> list[Span]:
        """The spans of a paragraph, a heading or a table cell; a hard break is a line end in a span."""
        spans: list[Span] = []
        roles = [role]
        links: list[tuple[str, int]] = []
        for child in token.children or ():
            match child.type:
                case "text":
                    _add(spans, child.content, roles[-1])
                case "code_inline":
                    _add(spans, child.content, with_role("code", *roles[-1].split()[1:]))
                case "softbreak":
                    spans.append(_SOFT_BREAK)
                case "hardbreak":
                    spans.append(_HARD_BREAK)
                case "strong_open" | "em_open" | "s_open":
                    roles.append(with_role(roles[-1] or "text", _INLINE_ROLES[child.type]))
                case "link_open":
                    roles.append(with_role("link", *roles[-1].split()[1:]))
                    links.append((str(child.attrGet("href") or ""), len(spans)))
                case "strong_close" | "em_close" | "s_close":
                    roles.pop()
                case "link_close":
                    roles.pop()
                    _add_address(spans, *links.pop())
                case "image":
                    spans.append(Span("▣ ", "link"))
                    _add(spans, child.content, "link")
                    _add_address(spans, str(child.attrGet("src") or ""), len(spans) - 1)
                case _:
                    _add(spans, child.content, roles[-1])
        return _joined(spans)


def _add(spans: list[Span], text: str, role: str) -> None:
    text = clean_line(text)
    if text:
        spans.append(Span(text, role))


def _add_address(spans: list[Span], href: str, start: int) -> None:
    """Adds where a link leads, unless its text, the spans from `start`, says so."""
    address = _parser().normalizeLinkText(href)
    if address and "".join(span.text for span in spans[start:]) not in {
        address,
        address.removeprefix("mailto:"),
    }:
        _add(spans, f" ({address})", "muted")


def _joined(spans: Sequence[Span]) -> list[Span]:
    """The spans of a paragraph: a space stands for a line end, but none between ideographs."""
    joined: list[Span] = []
    for at, span in enumerate(spans):
        if span is not _SOFT_BREAK:
            joined.append(span)
            continue
        following = spans[at + 1].text if at + 1 < len(spans) else ""
        last = joined[-1].text if joined else ""
        if not (_ideograph().match(last[-1:]) and _ideograph().match(following[:1])):
            joined.append(Span(" ", joined[-1].role if joined else ""))
    return joined


def _is_tight(tokens: Sequence[Token], at: int) -> bool:
    """Whether no blank lines part the items of the list that begins at a token."""
    level = tokens[at].level
    for token in tokens[at + 1 :]:
        if token.level == level:
            return True
        if token.type == "paragraph_open" and token.level == level + 2:
            return token.hidden
    return True


def _alignment(token: Token) -> Align:
    style = str(token.attrGet("style") or "")
    if style.endswith("right"):
        return "right"
    return "center" if style.endswith("center") else "left"
