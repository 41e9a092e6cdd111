"""The grid of the matrix as a widget: a cursor on one cell, scrolled both ways, drawn line by line.

Only what is on screen is asked of the matrix, so that it does not matter how many tools and requests there
are.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.strips import RoleStyles, strip_of
from tui.app.surroundings import Surroundings
from tui.blocks.matrix_layout import ColumnCells, MatrixLayout, Window, axis_rows, leftmost_for
from tui.blocks.text import EMPTY, Line, Span, crop, line
from tui.nodes.tool_matrix import ToolMatrix

_WHEEL_COLUMNS = 8
_WHEEL_ROWS = 3


class MatrixView(Widget, can_focus=True):
    """A matrix with a cursor.

    Args:
        surroundings: language and glyphs.
        matrix: what is shown.
        id: as for every widget.
    """

    ALLOW_SELECT = False

    class Moved(Message):
        """The cursor is on another cell, or the cell has changed under it."""

    class Opened(Message):
        """The cell under the cursor shall be opened."""

    def __init__(self, surroundings: Surroundings, matrix: ToolMatrix, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._surroundings = surroundings
        self._styles = RoleStyles(self)
        self.matrix = matrix
        self.names: Sequence[str] = matrix.tools
        self.cells: ColumnCells = 1
        self.tool = 0
        """Position of the cursor among `names`."""
        self.column = max(len(matrix) - 1, 0)
        self._top = 0
        self._left = 0
        self._heavy: MatrixLayout | None = None

    # -- what is shown

    @property
    def name_at_cursor(self) -> str | None:
        """The tool under the cursor; None where no tool is shown."""
        return self.names[self.tool] if self.tool < len(self.names) else None

    @property
    def cell_at_cursor(self) -> tuple[str, int] | None:
        """Tool and column under the cursor; None where there is no cell."""
        name = self.name_at_cursor
        return (name, self.column) if name is not None and self.column < len(self.matrix) else None

    def show(
        self,
        matrix: ToolMatrix | None = None,
        names: Sequence[str] | None = None,
        *,
        cells: ColumnCells | None = None,
        column: int | None = None,
    ) -> None:
        """Show another matrix, other tools or other columns; the cursor stays on its tool if it can."""
        name = self.name_at_cursor
        self.matrix = matrix if matrix is not None else self.matrix
        self.names = names if names is not None else self.names
        self.cells = cells if cells is not None else self.cells
        self.tool = self.names.index(name) if name in self.names else 0
        self.column = column if column is not None else self.column
        self._heavy = None
        self._settle()

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self._surroundings = surroundings
        self._heavy = None
        self._settle()

    def move(self, *, tools: int = 0, columns: int = 0) -> None:
        """Move the cursor."""
        self.tool += tools
        self.column += columns
        self._settle()

    def go(self, *, tool: int | None = None, column: int | None = None) -> None:
        """Put the cursor somewhere."""
        self.tool = self.tool if tool is None else tool
        self.column = self.column if column is None else column
        self._settle()

    @property
    def page_columns(self) -> int:
        """How many columns are in view."""
        return max(len(self._layout().columns), 1)

    @property
    def page_tools(self) -> int:
        """How many tools are in view."""
        return max(self.size.height - self._axis - 1, 1)

    @property
    def _axis(self) -> int:
        return axis_rows(self.matrix)

    # -- keys and mouse

    def action_cursor_up(self) -> None:
        self.move(tools=-1)

    def action_cursor_down(self) -> None:
        self.move(tools=1)

    def action_page_up(self) -> None:
        self.move(tools=-self.page_tools)

    def action_page_down(self) -> None:
        self.move(tools=self.page_tools)

    def action_half_page_up(self) -> None:
        self.move(tools=-max(self.page_tools // 2, 1))

    def action_half_page_down(self) -> None:
        self.move(tools=max(self.page_tools // 2, 1))

    def action_first(self) -> None:
        self.go(column=0)

    def action_last(self) -> None:
        self.go(column=len(self.matrix) - 1)

    def action_column_left(self) -> None:
        self.move(columns=-1)

    def action_column_right(self) -> None:
        self.move(columns=1)

    def action_columns_left(self) -> None:
        self.move(columns=-self.page_columns)

    def action_columns_right(self) -> None:
        self.move(columns=self.page_columns)

    def action_activate(self) -> None:
        self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the cell under the pointer; a second click opens it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        event.stop()
        tool = self._top + offset.y - self._axis
        column = self._layout().column_at(offset.x)
        if offset.y >= self._axis and tool < len(self.names):
            self.go(tool=tool, column=column)
            if event.chain > 1:
                self.post_message(self.Opened())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -1)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        event.stop()
        self.move(columns=_WHEEL_COLUMNS)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        event.stop()
        self.move(columns=-_WHEEL_COLUMNS)

    def _wheel(self, event: events.MouseEvent, by: int) -> None:
        event.stop()
        if event.shift:
            self.move(columns=by * _WHEEL_COLUMNS)
        else:
            self.move(tools=by * _WHEEL_ROWS)

    # -- drawing

    def render_line(self, y: int) -> Strip:
        """One row, exactly as wide as the widget's content."""
        self._styles.prepare()
        width = self.size.width
        ascii_only = self._surroundings.ascii_only
        return strip_of(self._line(y), width, self._styles, base=self._styles.ground, ascii_only=ascii_only)

    def _line(self, y: int) -> Line:
        tr = self._surroundings.tr
        if not len(self.matrix) or not self.names:
            text = "" if y else tr.t("No request and no tool to show.")
            return crop(line(Span(text, "muted")), self.size.width)
        layout = self._layout()
        if y < self._axis:
            return layout.axis()[y]
        tool = self._top + y - self._axis
        last = min(self._top + self.page_tools, len(self.names))
        if tool < last:
            return layout.row(self.names[tool])
        return layout.series() if tool == last else EMPTY

    def notify_style_update(self) -> None:
        """Drop styles made for another theme."""
        super().notify_style_update()
        if self.is_attached:
            self._styles.refresh()

    def on_resize(self) -> None:
        """Cut the matrix anew for another size."""
        self._heavy = None
        self._settle()

    # -- inside

    def _layout(self) -> MatrixLayout:
        if self._heavy is None:
            around = self._surroundings
            window = Window(self.size.width, around.tr, cells=self.cells, ascii=around.ascii_only)
            self._heavy = MatrixLayout(self.matrix, self.names, window)
        left, cursor = self._left, self.cell_at_cursor
        if (self._heavy.window.left, self._heavy.window.cursor) != (left, cursor):
            self._heavy = self._heavy.moved(left=left, cursor=cursor)
        return self._heavy

    def _settle(self) -> None:
        """Keep the cursor inside the matrix and the window around the cursor."""
        self.tool = max(0, min(self.tool, len(self.names) - 1))
        self.column = max(0, min(self.column, len(self.matrix) - 1))
        if self.size.width:
            rows = self.page_tools
            self._top = max(0, min(self._top, self.tool, len(self.names) - rows))
            self._top = max(self._top, self.tool - rows + 1)
            layout = self._layout()
            # The window is kept full: it never begins further right than the last column needs.
            furthest = leftmost_for(layout, len(self.matrix) - 1)
            self._left = min(max(self._left, leftmost_for(layout, self.column)), self.column, furthest)
        self.refresh()
        self.post_message(self.Moved())
