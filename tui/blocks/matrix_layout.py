"""Tools over time as lines: numbers above, one row a tool, series below, notes at the right.

Only the columns of the window are asked for. A rule stands between columns where a series begins. Every sign
is one cell; a wide column has a second one for the number of calls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Final, Literal, NamedTuple, TypeAlias

from tui.blocks.cells import cell_len, fit
from tui.blocks.glyphs import GLYPHS, Glyph, mark
from tui.blocks.layout import Layout, plain_signs
from tui.blocks.matrix_words import boundary_text, tool_note
from tui.blocks.text import Line, Span, crop, line, pad, to_ascii
from tui.blocks.wording_names import tool_title
from tui.i18n import Translator
from tui.nodes.tool_matrix import Cell, Mark, ToolMatrix
from tui.nodes.tool_offer import ToolState

ColumnCells: TypeAlias = Literal[1, 2]
_GAP: Final = 1
_NAME_CELLS: Final = 34
_NOTE_CELLS: Final = 46
_LEAST_GRID: Final = 20
_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)

STATE_GLYPHS: Final[Mapping[ToolState, str]] = {
    ToolState.ABSENT: "tool-absent",
    ToolState.DECLARED: "tool-declared",
    ToolState.OFFERED: "tool-offered",
    ToolState.REOFFERED: "tool-reoffered",
    ToolState.DEFERRED: "tool-deferred",
    ToolState.INACTIVE: "tool-inactive",
}


class Window(NamedTuple):
    """Which part of a matrix is drawn, and how."""

    width: int
    tr: Translator
    cells: ColumnCells = 1
    ascii: bool = False
    left: int = 0
    """Position of the first column shown."""
    cursor: tuple[str, int] | None = None
    """Tool and column under the cursor."""
    notes: bool = True
    """Notes at the right, where there is room."""


class Frame(NamedTuple):
    """Where the parts of a row stand: name, grid and note, in cells."""

    name: int
    grid: int
    note: int


class MatrixLayout:
    """Lays out the rows of one matrix for one window.

    Args:
        matrix: what is shown.
        names: the tools shown, in order.
        window: the part shown; `moved` gives the layout of another part at little cost.
    """

    def __init__(self, matrix: ToolMatrix, names: Sequence[str], window: Window) -> None:
        self.matrix = matrix
        self._signs = Layout(window.width, window.tr, expanded=True, ascii=window.ascii)
        self.frame = frame_of(matrix, names, window)
        self.starts = [at for at in sorted(matrix.boundaries) if at]
        self._notes: dict[str, list[Span]] = {}
        self._place(window)

    def moved(self, *, left: int, cursor: tuple[str, int] | None) -> MatrixLayout:
        """Return the layout of the same matrix from another column on."""
        other = copy(self)
        other._place(self.window._replace(left=left, cursor=cursor))
        return other

    def _place(self, window: Window) -> None:
        self.window = window
        self.columns = range(
            window.left, last_visible(self.starts, window, self.frame.grid, len(self.matrix))
        )
        self._edges = {at for at in self.starts if at in self.columns and at > window.left}

    # -- places

    def x_of(self, at: int) -> int:
        """The cell of a visible column, counted from the left of the row."""
        return self.frame.name + _GAP + _offset(self.starts, self.window, at)

    def column_at(self, x: int) -> int | None:
        """The column that is drawn at a cell of the row."""
        return next((at for at in self.columns if 0 <= x - self.x_of(at) < self.window.cells), None)

    # -- rows

    def axis(self) -> list[Line]:
        """The numbers of the requests, those of the turns, and which requests failed, if any did."""
        tr = self.window.tr
        numbers = [(at, str(self.matrix.column(at).first)) for at in self._numbered()]
        turns: list[tuple[int, str]] = []
        before: int | None = None
        for at in self.columns:
            turn = self.matrix.column(at).turn
            if turn is not None and turn != before:
                turns.append((at, str(turn)))
            before = turn
        return [
            self._labels(tr.p("axis of the matrix", "request"), numbers, "muted"),
            self._labels(tr.p("axis of the matrix", "turn"), turns, "turn"),
            *([self._failures()] if self.matrix.failed_columns else []),
        ]

    def _failures(self) -> Line:
        window, name = self.window, self.frame.name
        sign = mark("failed", window.ascii)
        spans = [Span(fit(window.tr.p("axis of the matrix", "failed"), name, "right"), "faint")]
        x = name
        for at in self.columns:
            if self.matrix.column(at).failed:
                spans += [Span(" " * (self.x_of(at) - x)), sign]
                x = self.x_of(at) + cell_len(sign.text)
        return crop(line(*spans), window.width)

    def row(self, name: str) -> Line:
        """The row of a tool."""
        window, frame = self.window, self.frame
        has_cursor = window.cursor is not None and window.cursor[0] == name
        title = fit(tool_title(name), frame.name)
        role = "accent bold" if has_cursor else "text"
        spans = [*plain_signs(self._signs, [Span(title, role)]), Span(" " * _GAP)]
        spans += _merged(self._grid(name))
        row = pad(line(*spans), frame.name + _GAP + frame.grid)
        if frame.note:
            row = line(*row.spans, Span(" " * _GAP), *self._note(name))
        row = crop(row, window.width)
        return to_ascii(row) if window.ascii else row

    def series(self) -> Line:
        """Where the series begin and why, below the rows; what finds no room is left out."""
        window = self.window
        sign = mark("series", window.ascii)
        spans: list[Span] = []
        x = 0
        places = [at for at in sorted(self.matrix.boundaries) if at in self.columns]
        if window.left not in self.matrix.boundaries and self.columns:
            places.insert(0, window.left)
        for number, at in enumerate(places):
            series = self.matrix.boundaries.get(at) or self.matrix.series_of(at)
            start = max(self.x_of(at) - (1 if at in self._edges else 0), x)
            end = self.x_of(places[number + 1]) - 1 if number + 1 < len(places) else window.width
            if series is None or start > self.x_of(at):
                continue
            told = next((t for t in boundary_text(window.tr, series) if cell_len(t) + 3 <= end - start), "")
            spans += [Span(" " * (start - x)), sign, *plain_signs(self._signs, [Span(f" {told}", "muted")])]
            x = start + 2 + cell_len(told)
        return crop(line(*spans), window.width)

    # -- inside

    def _numbered(self) -> Iterator[int]:
        """The columns whose number is shown: the first, those at round numbers, the one of the cursor."""
        widest = len(str(self.matrix.requests)) + 1
        step = next((each for each in _STEPS if each * self.window.cells >= widest + 2), _STEPS[-1])
        for at in self.columns:
            if at == self.columns[0] or (at + 1) % step == 0:
                yield at

    def _labels(self, label: str, places: Sequence[tuple[int, str]], role: str) -> Line:
        window, name = self.window, self.frame.name
        spans = [Span(fit(label, name, "right"), "faint"), Span(" " * _GAP)]
        x = name + _GAP
        limit = name + _GAP + self.frame.grid
        cursor = window.cursor[1] if window.cursor is not None else -1
        for at, text in places:
            start = self.x_of(at)
            if start < x or start + len(text) > limit:
                continue
            spans += [Span(" " * (start - x)), Span(text, "accent bold" if at == cursor else role)]
            x = start + len(text) + 1
            spans.append(Span(" "))
        return crop(line(*spans), window.width)

    def _grid(self, name: str) -> Iterator[Span]:
        window = self.window
        rule = mark("series", window.ascii)
        for at in self.columns:
            if at in self._edges:
                yield Span(rule.text, "faint")
            cell = self.matrix.cell(name, at)
            under = window.cursor == (name, at)
            for span in cell_spans(cell, window.cells, ascii_only=window.ascii):
                yield Span(span.text, f"{span.role} reverse" if under else span.role)

    def _note(self, name: str) -> list[Span]:
        if name not in self._notes:
            forms = tool_note(self.window.tr, self.matrix, name)
            fitting = next((form for form in forms if cell_len(form) <= self.frame.note), "")
            self._notes[name] = plain_signs(self._signs, [Span(fitting, "muted")])
        return self._notes[name]


def axis_rows(matrix: ToolMatrix) -> int:
    """How many rows stand above the tools."""
    return 3 if matrix.failed_columns else 2


def cell_spans(cell: Cell, cells: ColumnCells, *, ascii_only: bool = False) -> list[Span]:
    """One cell as signs: what failed, what changed, what was called, else what is declared."""
    if cells == 1:
        return [_only_sign(cell).span(ascii_only)]
    own = _state_sign(cell).span(ascii_only)
    if not cell.calls:
        return [own, Span(" ")]
    count = str(cell.calls) if cell.calls < 10 else "+"
    return [own, Span(mark("failed", ascii_only).text if cell.failed else count, _call_role(cell))]


def _call_role(cell: Cell) -> str:
    return "error" if cell.failed else "tool"


def _only_sign(cell: Cell) -> Glyph:
    if cell.failed:
        return GLYPHS["failed"]
    if not cell.mark and cell.calls:
        return GLYPHS["tool-called"]
    return _state_sign(cell)


def _state_sign(cell: Cell) -> Glyph:
    what = mark_name(cell.mark)
    return GLYPHS[what or STATE_GLYPHS[cell.state]]


def mark_name(happened: Mark) -> str:
    """The key in the glyph table of what happened; empty for nothing."""
    if happened & Mark.REMOVED:
        return "removed"
    if happened & Mark.RESTORED:
        return "restored"
    if happened & Mark.ADDED:
        return "added"
    return "redefined" if happened & Mark.REDEFINED else ""


def frame_of(matrix: ToolMatrix, names: Sequence[str], window: Window) -> Frame:
    """Divide the width: names as wide as they need, then the columns, then notes if they fit."""
    widest = max((cell_len(tool_title(name)) for name in names), default=0)
    tr = window.tr
    labels = [tr.p("axis of the matrix", "request"), tr.p("axis of the matrix", "turn")]
    if matrix.failed_columns:
        labels.append(tr.p("axis of the matrix", "failed"))
    name = max(min(widest, _NAME_CELLS, window.width // 3), *(cell_len(label) for label in labels))
    room = max(window.width - name - _GAP, 0)
    needed = len(matrix) * window.cells + len(matrix.boundaries)
    if not window.notes:
        return Frame(name, room, 0)
    longest = max((cell_len(tool_note(window.tr, matrix, each)[0]) for each in names[:400]), default=0)
    note = min(_NOTE_CELLS, longest, max(room - _GAP - max(min(needed, room * 2 // 3), _LEAST_GRID), 0))
    if note < 10:
        return Frame(name, room, 0)
    return Frame(name, min(needed, room - note - 2), note)


def _offset(starts: Sequence[int], window: Window, at: int) -> int:
    """The cells before a column in the grid; a rule takes one of its own, none at the left edge."""
    rules = bisect_right(starts, at) - bisect_right(starts, window.left)
    return (at - window.left) * window.cells + rules


def last_visible(starts: Sequence[int], window: Window, grid: int, count: int) -> int:
    """The position behind the last column that finds room."""
    low, high = window.left, min(count, window.left + grid // window.cells)
    while low < high:
        middle = (low + high + 1) // 2
        if _offset(starts, window, middle - 1) + window.cells <= grid:
            low = middle
        else:
            high = middle - 1
    return low


def leftmost_for(layout: MatrixLayout, at: int) -> int:
    """The smallest first column from which on a column is still visible at the right."""
    window, grid, starts = layout.window, layout.frame.grid, layout.starts
    left = max(0, at - grid // window.cells + 1)
    while left < at and last_visible(starts, window._replace(left=left), grid, at + 1) <= at:
        left += 1
    return left


def _merged(spans: Iterator[Span]) -> Iterator[Span]:
    """Neighbours of one role as one span."""
    text, role = "", ""
    for span in spans:
        if span.role != role and text:
            yield Span(text, role)
            text = ""
        text, role = text + span.text, span.role
    if text:
        yield Span(text, role)
