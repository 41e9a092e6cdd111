"""Tools over time on paper: the matrix in strips of columns, its signs, and every change in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tui.blocks.matrix_layout import MatrixLayout, Window, mark_name
from tui.blocks.matrix_words import (
    LEGEND,
    column_text,
    legend,
    mark_text,
    route_text,
    series_cause_text,
)
from tui.blocks.text import EMPTY, Line, Span, crop, line, plain, to_ascii
from tui.blocks.wording_names import name_text
from tui.export.sections import Code, Item, Items, Section
from tui.i18n import Translator
from tui.llm.route_book import RouteBook
from tui.nodes.reading import Reading
from tui.nodes.tool_matrix import ToolMatrix

PICTURE_CELLS: Final = 200
TEXT_CELLS: Final = 120


def matrix_strips(
    matrix: ToolMatrix, tr: Translator, width: int, *, ascii_only: bool
) -> Iterator[list[Line]]:
    """Yield the matrix in strips of as many columns as find room; each has its numbers and its series.

    Where there are several, a strip leaves out the tools that are absent all along it, and says how many.
    """
    layout = MatrixLayout(matrix, matrix.tools, Window(width, tr, ascii=ascii_only))
    left = 0
    while left < len(matrix):
        layout = layout.moved(left=left, cursor=None)
        names = matrix.tools if len(layout.columns) == len(matrix) else _present(matrix, layout.columns)
        rows = [*layout.axis(), *(layout.row(name) for name in names), layout.series()]
        if absent := len(matrix.tools) - len(names):
            told = tr.n("{n} more tool, absent here", "{n} more tools, absent here", absent)
            rows.insert(-1, crop(line(Span(told, "faint")), width))
        yield [to_ascii(row) for row in rows] if ascii_only else rows
        if not layout.columns:
            return
        left = layout.columns.stop


def _present(matrix: ToolMatrix, columns: range) -> list[str]:
    """The tools that some request of these columns says anything of."""
    seen: set[str] = set()
    for at in columns:
        seen.update(matrix.cells(at))
    return [name for name in matrix.tools if name in seen]


def picture_width(matrix: ToolMatrix, tr: Translator) -> int:
    """The cells of a picture that has all columns side by side, up to a bound."""
    layout = MatrixLayout(matrix, matrix.tools, Window(PICTURE_CELLS, tr))
    frame = layout.frame
    return min(PICTURE_CELLS, max(frame.name + frame.grid + frame.note + 2, 72))


def matrix_picture(
    reading: Reading, tr: Translator, book: RouteBook | None, *, ascii_only: bool
) -> tuple[int, Iterator[list[Line]]]:
    """Return the width of a picture in cells and its blocks of rows."""
    matrix = ToolMatrix(reading, book=book)
    width = picture_width(matrix, tr)
    return width, _picture(matrix, tr, width, ascii_only=ascii_only)


def _picture(matrix: ToolMatrix, tr: Translator, width: int, *, ascii_only: bool) -> Iterator[list[Line]]:
    for number, strip in enumerate(matrix_strips(matrix, tr, width, ascii_only=ascii_only)):
        if number:
            yield [EMPTY]
        # A strip is no entry of a session: it is bounded by the picture alone.
        for start in range(0, len(strip), 100):
            yield strip[start : start + 100]
    yield [EMPTY, *_signs(tr, width, ascii_only=ascii_only)]


def _signs(tr: Translator, width: int, *, ascii_only: bool) -> list[Line]:
    rows: list[Line] = []
    row = line()
    for sign, word in legend(tr, ascii_only=ascii_only):
        piece = line(sign, word)
        if row.cells and row.cells + piece.cells + 3 > width:
            rows.append(row)
            row = line()
        row = line(*row.spans, Span("   " if row.cells else ""), *piece.spans)
    return [crop(each, width) for each in (*rows, row)]


def matrix_sections(
    reading: Reading, tr: Translator, book: RouteBook | None, *, ascii_only: bool
) -> Iterator[Section]:
    """Yield the matrix for text, Markdown and HTML: the grid, the signs, what changed at which request."""
    matrix = ToolMatrix(reading, book=book)
    strips = [
        Code("\n".join(plain(row).rstrip() for row in strip))
        for strip in matrix_strips(matrix, tr, TEXT_CELLS, ascii_only=ascii_only)
    ]
    facts = (
        tr.n("{n} request", "{n} requests", matrix.requests),
        tr.n("{n} tool", "{n} tools", len(matrix.tools)),
    )
    yield Section(glyph="tool-change", title=tr.t("Tools over time"), facts=facts, parts=tuple(strips))
    signs = tuple(Item(what, tr.t(word)) for what, word in LEGEND)
    yield Section(glyph="note", title=tr.t("Signs"), parts=(Items(signs),))
    for at in sorted({*matrix.changed_columns(), *matrix.boundaries}):
        yield _column(matrix, tr, at)


def _column(matrix: ToolMatrix, tr: Translator, at: int) -> Section:
    column, series = matrix.column(at), matrix.boundaries.get(at)
    items = [
        Item(mark_name(cell.mark), name_text(name), mark_text(tr, cell.mark))
        for name, cell in matrix.cells(at).items()
        if cell.mark
    ]
    facts = [route_text(tr, column)]
    if series is not None:
        facts.insert(0, series_cause_text(tr, series))
    return Section(
        glyph="tool-change" if items else "series",
        title=column_text(tr, column),
        seq=matrix.reading.log.seq(column.row),
        facts=tuple(facts),
        parts=(Items(tuple(items)),) if items else (),
    )
