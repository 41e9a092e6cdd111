"""Tables fitted to a width: columns shrink, cells wrap, and what is too narrow for columns becomes a list.

Widths are counted in cells, so columns of wide characters line up. Cells are texts or spans and taken to be
clean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from tui.blocks.cells import Align, cell_len
from tui.blocks.text import Line, Span, line, with_role
from tui.blocks.wrap import wrap

Cell = str | Sequence[Span]
_LEAST = 6
"""Cells to which a wide column may shrink before the table becomes a list."""
_BAR = "│"


class Column(NamedTuple):
    """A column: its title, where its text stands, and how it takes part in shrinking.

    A column is never narrower than `least` cells (unless all its texts are), and of the room that is short a
    column of `weight` 2 keeps twice as much as one of weight 1.
    """

    title: Cell = ""
    align: Align = "left"
    least: int = 1
    weight: float = 1.0


def table(
    rows: Sequence[Sequence[Cell]],
    columns: Sequence[Column],
    width: int,
    *,
    border: Literal["box", "none"] = "box",
    role: str = "",
) -> list[Line]:
    """A table of at most `width` cells, with a header row if any column has a title.

    Missing cells are empty and surplus ones dropped. `role` is for cells given as text. With `border="none"`
    two spaces part the columns. Where the columns cannot have 6 cells each, every row becomes `title: text`
    lines.
    """
    if not columns:
        return []
    titles = [_spans(column.title, "bold") for column in columns]
    body = [[_spans(row[at] if at < len(row) else "", role) for at in range(len(columns))] for row in rows]
    has_titles = any(titles)
    overhead = 3 * len(columns) + 1 if border == "box" else 2 * (len(columns) - 1)
    natural = [
        max(
            1,
            column.least,
            *(_widest(row[at]) for row in ([titles, *body] if has_titles else body) or [titles]),
        )
        for at, column in enumerate(columns)
    ]
    widths = _fit(natural, columns, width - overhead)
    if widths is None:
        return _as_list(titles, body, width)
    if border == "none":
        return _plain_rows(titles if has_titles else None, body, columns, widths)
    return _boxed_rows(titles if has_titles else None, body, columns, widths)


def _spans(cell: Cell, role: str) -> list[Span]:
    if isinstance(cell, str):
        return [Span(cell, role)] if cell else []
    return [Span(span.text, with_role(span.role, role)) for span in cell] if role == "bold" else list(cell)


def _widest(spans: Sequence[Span]) -> int:
    text = "".join(span.text for span in spans)
    if "\n" not in text:
        return sum(cell_len(span.text) for span in spans)
    return max(cell_len(part) for part in text.split("\n"))


def _fit(natural: list[int], columns: Sequence[Column], room: int) -> list[int] | None:
    """The widths of the columns in `room` cells, or None if they cannot be readable in it."""
    if sum(natural) <= room:
        return natural
    least = [min(size, max(column.least, _LEAST)) for size, column in zip(natural, columns, strict=True)]
    if sum(least) > room:
        return None
    # Columns that fit into their share keep their width; what they leave is shared by the others.
    widths = list(natural)
    open_columns = set(range(len(columns)))
    while open_columns:
        left = room - sum(widths[at] for at in range(len(columns)) if at not in open_columns)
        weight = sum(columns[at].weight for at in open_columns)
        shares = {at: int(left * columns[at].weight / weight) for at in open_columns}
        settled = {at for at in open_columns if natural[at] <= shares[at]}
        raised = set[int]() if settled else {at for at in open_columns if shares[at] < least[at]}
        if not settled and not raised:
            widths = [shares.get(at, size) for at, size in enumerate(widths)]
            break
        for at in raised:
            widths[at] = least[at]
        open_columns -= settled | raised
    spare = room - sum(widths)
    for at, size in enumerate(natural):
        extra = min(max(spare, 0), size - widths[at])
        widths[at] += extra
        spare -= extra
    return widths


def _cell_lines(spans: Sequence[Span], width: int, align: Align) -> list[tuple[Span, ...]]:
    """The rows of one cell, each exactly `width` cells."""
    rows: list[tuple[Span, ...]] = []
    for row in wrap(spans, width):
        missing = width - row.cells
        before = {"left": 0, "right": missing, "center": missing // 2}[align]
        rows.append(line(Span(" " * before), *row.spans, Span(" " * (missing - before))).spans)
    return rows


def _row_lines(
    cells: Sequence[Sequence[Span]],
    columns: Sequence[Column],
    widths: Sequence[int],
    edges: tuple[str, str, str],
) -> list[Line]:
    """The rows of one table row; `edges` stand before, between and after the cells."""
    pieces = [
        _cell_lines(cell, width, column.align)
        for cell, column, width in zip(cells, columns, widths, strict=True)
    ]
    before, between, after = (Span(edge, "table-border") for edge in edges)
    lines: list[Line] = []
    for at in range(max(len(piece) for piece in pieces)):
        spans: list[Span] = [before]
        for number, (piece, width) in enumerate(zip(pieces, widths, strict=True)):
            spans.extend([between] if number else [])
            spans.extend(piece[at] if at < len(piece) else (Span(" " * width),))
        lines.append(line(*spans, after))
    return lines


def _plain_rows(
    titles: list[list[Span]] | None,
    body: list[list[list[Span]]],
    columns: Sequence[Column],
    widths: Sequence[int],
) -> list[Line]:
    rows = [titles, *body] if titles is not None else body
    return [
        _without_end_spaces(row)
        for cells in rows
        for row in _row_lines(cells, columns, widths, ("", "  ", ""))
    ]


def _without_end_spaces(row: Line) -> Line:
    spans = list(row.spans)
    while spans and not spans[-1].text.strip(" "):
        spans.pop()
    if spans:
        spans[-1] = Span(spans[-1].text.rstrip(" "), spans[-1].role)
    return line(*spans)


def _boxed_rows(
    titles: list[list[Span]] | None,
    body: list[list[list[Span]]],
    columns: Sequence[Column],
    widths: Sequence[int],
) -> list[Line]:
    edges = (f"{_BAR} ", f" {_BAR} ", f" {_BAR}")

    def border(left: str, middle: str, right: str) -> Line:
        return line(Span(left + middle.join("─" * (width + 2) for width in widths) + right, "table-border"))

    lines = [border("┌", "┬", "┐")]
    if titles is not None:
        lines += [*_row_lines(titles, columns, widths, edges), border("├", "┼", "┤")]
    for cells in body:
        lines += _row_lines(cells, columns, widths, edges)
    return [*lines, border("└", "┴", "┘")]


def _as_list(titles: list[list[Span]], body: list[list[list[Span]]], width: int) -> list[Line]:
    lines: list[Line] = []
    for number, cells in enumerate(body):
        if number:
            lines.append(line(Span("─" * width, "table-border")))
        for title, cell in zip(titles, cells, strict=True):
            if cell:
                lead = [*title, Span(": ")] if title else []
                lines += wrap([*lead, *cell], width, subsequent_indent=[Span("  ")])
    return lines or wrap([span for title in titles for span in (*title, Span(" "))], width)
