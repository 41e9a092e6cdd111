"""How a node is to be laid out, and the pieces of every layout: headings, bodies, rows about what is hidden.

Work is bounded: a text is cut before it is cleaned, and no piece gives more rows than it was asked for unless
the layout is full.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from tui.blocks.cells import cell_len
from tui.blocks.clean import clean, visible
from tui.blocks.glyphs import mark
from tui.blocks.text import EMPTY, Line, Span, crop, line, pad, plain, to_ascii
from tui.blocks.wrap import count_rows, wrap, wrap_bounded
from tui.i18n import Translator

NODE_ROWS: Final = 400
"""Rows of a node, unless the layout is full."""
PART_ROWS: Final = 40
"""Rows of a call's arguments and of its result."""
CLEANED: Final = 131_072
"""Characters of a text that are cleaned at once: more than the rows of a node can show."""
REWRITTEN: Final = 1_000_000
"""The same for a text with carriage returns, so that a progress bar shows its last state."""
MARKDOWN: Final = 65_536
"""Characters up to which an answer is read as Markdown."""
GUTTER: Final = 2
"""Cells left of a node's text: its mark and a space."""
_SIGN: Final = re.compile(r" [·→] |−(?=\d)")
_PLAIN_SIGNS: Final = str.maketrans("·→−", "->-")


class Layout(NamedTuple):
    """What a layout depends on besides the node."""

    width: int
    tr: Translator
    expanded: bool
    ascii: bool = False
    """Own glyphs as ASCII."""
    raw: bool = False
    """Texts as they stand: signs for what cleaning would remove, no Markdown."""
    full: bool = False
    """No bounds on rows (exports, the pager)."""
    previous: str | None = None
    """Kind of the node above, if the caller knows it; it decides whether a blank row stands between."""
    pager: str = ""
    """Name of the key that opens the whole text, for rows that say how much is hidden; "" where none does."""


def gutter(what: str, layout: Layout) -> Span:
    """The mark of a node with the space behind it."""
    found = mark(what, layout.ascii)
    return Span(f"{found.text} ", found.role)


def fold_sign(layout: Layout) -> Span:
    """The sign at the right end of a row that opens and closes."""
    return mark("open" if layout.expanded else "closed", layout.ascii)


def heading(
    layout: Layout,
    lead: Sequence[Span],
    title: Sequence[Span],
    *,
    gist: Sequence[Span] = (),
    right: Sequence[Span] = (),
    folds: bool = False,
    wraps: bool = False,
) -> list[Line]:
    """The first row of a node: mark, title and gist on the left, facts and the fold sign on the right.

    The gist gives way first, then the facts. A title that `wraps` is never cut and keeps its facts, on a row
    of their own if they do not fit.
    """
    width = max(layout.width, 1)
    title, gist, right = (plain_signs(layout, spans) for spans in (title, gist, right))
    front, tail = line(*lead, *title), _tail(layout, right, folds=folds)
    gap = 2 if tail.cells else 0
    if front.cells + gap + tail.cells > width:
        if wraps:
            return _wrapped_heading(layout, lead, title, tail)
        while right and front.cells + gap + tail.cells > width:
            right = right[:-1]
            tail = _tail(layout, right, folds=folds)
        gap = 2 if right else 1 if tail.cells else 0
    room = max(width - tail.cells - gap, 1)
    if gist and room - front.cells >= 6:
        front = line(*front.spans, Span("  "), *gist)
    front = crop(front, room)
    if not tail.cells:
        return [front]
    return [line(*pad(front, width - tail.cells).spans, *tail.spans)]


def _tail(layout: Layout, right: Sequence[Span], *, folds: bool) -> Line:
    """The right end of a heading: its facts, then the fold sign."""
    if not folds:
        return line(*right)
    return line(*right, Span(" "), fold_sign(layout)) if right else line(fold_sign(layout))


def plain_signs(layout: Layout, spans: Sequence[Span]) -> list[Span]:
    """Spans of our own words, with the signs between them in their ASCII forms where only ASCII is drawn."""
    if not layout.ascii:
        return list(spans)
    return [Span(_SIGN.sub(_plain_sign, span.text), span.role) for span in spans]


def _plain_sign(match: re.Match[str]) -> str:
    return match[0].translate(_PLAIN_SIGNS)


def _wrapped_heading(layout: Layout, lead: Sequence[Span], title: Sequence[Span], tail: Line) -> list[Line]:
    indent = " " * sum(cell_len(span.text) for span in lead)
    rows = wrap(title, layout.width, indent=lead, subsequent_indent=[Span(indent)])
    if not tail.cells:
        return rows
    last = rows[-1]
    if last.cells + 2 + tail.cells <= layout.width:
        return [*rows[:-1], line(*pad(last, layout.width - tail.cells).spans, *tail.spans)]
    tail = crop(tail, layout.width)
    return [*rows, line(*pad(line(), layout.width - tail.cells).spans, *tail.spans)]


def hidden_row(layout: Layout, count: int, *, exact: bool = True, indent: int = GUTTER) -> Line:
    """The row that says how much is not shown, and how to see it."""
    tr = layout.tr
    if count <= 0:
        text = tr.t("… more")
    elif exact:
        text = tr.n("… {n} more row", "… {n} more rows", count)
    else:
        text = tr.n("… about {n} more row", "… about {n} more rows", count)
    if layout.pager:
        text += " · " + tr.t("{key} opens the whole text", key=layout.pager)
    return crop(line(Span(" " * indent), *plain_signs(layout, [Span(text, "muted italic")])), layout.width)


def text_rows(
    layout: Layout, text: str, role: str, *, indent: Sequence[Span] = (Span("  "),), rows: int = NODE_ROWS
) -> list[Line]:
    """A plain text wrapped behind an indent, at most `rows` rows with the one that tells what is hidden."""
    purify = visible if layout.raw else clean
    if layout.full:
        return wrap([Span(purify(text).strip("\n"), role)], layout.width, indent=indent)
    limit = CLEANED if text.find("\r", 0, CLEANED) < 0 else REWRITTEN
    head = text[:limit]
    shown = purify(head).strip("\n")
    bounded = wrap_bounded(shown, role, layout.width, max(rows - 1, 1), indent=indent)
    hidden, exact = bounded.hidden_rows, bounded.exact
    if len(text) > limit:
        room = max(layout.width - sum(cell_len(span.text) for span in indent), 1)
        hidden, exact = hidden + count_rows(text[limit:], room)[0], False
    if not hidden:
        return bounded.lines
    if hidden == 1 and exact:
        return wrap_bounded(shown, role, layout.width, max(rows, 1), indent=indent).lines
    width = sum(cell_len(span.text) for span in indent)
    return [*bounded.lines, hidden_row(layout, hidden, exact=exact, indent=min(width, layout.width // 2))]


def markdown_rows(layout: Layout, text: str, role: str = "", *, indent: int = GUTTER) -> list[Line]:
    """A text of a model as Markdown; a very long one plain, so that the first screen is quick."""
    if layout.raw or len(text) > MARKDOWN:
        return text_rows(layout, text, role or "text", indent=[Span(" " * indent)])
    from tui.blocks.markdown import render_markdown

    limit = None if layout.full else NODE_ROWS
    rows = render_markdown(text, max(layout.width - indent, 1), max_rows=limit, role=role)
    shown = [indented(row, indent) for row in rows]
    if limit is not None and len(shown) >= limit:
        shown = [*shown[: limit - 1], hidden_row(layout, 0, indent=indent)]
    return shown


def json_rows(layout: Layout, value: Any, *, indent: int = GUTTER, rows: int = PART_ROWS) -> list[Line]:
    """A JSON value written out over lines."""
    from tui.blocks.json_view import json_lines

    limit = None if layout.full else rows
    shown = [indented(row, indent) for row in json_lines(value, max(layout.width - indent, 1), limit)]
    if limit is not None and len(shown) >= limit and plain(shown[-1]).strip() == "…":
        shown[-1] = hidden_row(layout, 0, indent=indent)
    return shown


def parsed(text: str, limit: int = MARKDOWN) -> Any:
    """The value of a JSON text that is an object or array; None for others and beyond the limit."""
    if len(text) > limit or text.lstrip()[:1] not in ("{", "["):
        return None
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def indented(row: Line, cells: int) -> Line:
    """A row moved to the right."""
    return Line((Span(" " * cells), *row.spans), row.cells + cells) if cells and row.spans else row


def label_row(layout: Layout, label: str, *, indent: int = GUTTER) -> Line:
    """A row that names what stands below it."""
    return crop(line(Span(" " * indent), *plain_signs(layout, [Span(label, "muted")])), layout.width)


def finished(layout: Layout, rows: Iterable[Line], *, limit: int = NODE_ROWS) -> list[Line]:
    """The rows of a node made safe to draw: none wider than the pane, no more than the bound."""
    lines = list(rows)
    if not layout.full and len(lines) > limit:
        lines = [*lines[: limit - 1], hidden_row(layout, len(lines) - limit + 1)]
    lines = [
        EMPTY if not plain(row).strip(" ") else crop(row, layout.width) if row.cells > layout.width else row
        for row in lines
    ]
    return [to_ascii(row) for row in lines] if layout.ascii else lines
