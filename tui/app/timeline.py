"""The overview timeline: a session at a glance in three rows, to be clicked or walked through.

The lanes are what went in, what the model wrote, and what the tools did (`timeline_columns`). The column of
the selected record is marked; picking another one is told by `Timeline.Picked`, and its owner moves the
selection.
"""

from __future__ import annotations

from time import perf_counter
from typing import ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from tui.app.strips import RoleStyles
from tui.app.surroundings import Surroundings
from tui.app.timeline_columns import Cell, Column, FirstTokens, column_at, columns_of, sampled
from tui.blocks.cells import cell_len, fit
from tui.nodes.reading import Reading

_LOOK_SECONDS = 0.004
_LOOK_EVERY_SECONDS = 0.02
_REVERSE = Style(reverse=True)


class Timeline(Widget, can_focus=True):
    """Three lanes over the trajectory rows of a reading.

    Args:
        surroundings: language and glyphs.
        name, id, classes: as for every widget.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
    ]

    class Picked(Message):
        """A record was picked; `index` is its trajectory row."""

        def __init__(self, timeline: Timeline, index: int) -> None:
            super().__init__()
            self.timeline = timeline
            self.index = index

        @property
        def control(self) -> Timeline:
            """The timeline, for `@on(..., selector)`."""
            return self.timeline

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._surroundings = surroundings
        self._styles = RoleStyles(self)
        self._reading: Reading | None = None
        self._tokens: FirstTokens | None = None
        self._selected: int | None = None
        self._columns: list[Column] = []
        self._columns_width = -1
        self._timer: Timer | None = None

    # -- content --

    def show(self, reading: Reading) -> None:
        """Show a reading, or take note that it has grown; cheap enough for several times a second."""
        if reading is not self._reading:
            self._reading, self._tokens = reading, FirstTokens(reading)
        self._changed()

    def select(self, index: int | None) -> None:
        """Mark the column of a trajectory row; posts nothing."""
        if index != self._selected:
            self._selected = index
            self.refresh()

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language or other glyphs."""
        self._surroundings = surroundings
        self._changed()

    @property
    def selected(self) -> int | None:
        """The trajectory row that is marked."""
        return self._selected

    @property
    def is_settled(self) -> bool:
        """Everything that is shown has been looked up."""
        return self._timer is None and not self._unlooked()

    @property
    def columns(self) -> list[Column]:
        """The columns at the present width."""
        room = self._room()
        if self._columns_width != room:
            self._columns_width = room
            reading, tokens = self._reading, self._tokens
            done = reading is not None and tokens is not None
            self._columns = columns_of(reading, room, tokens.get) if done and reading and tokens else []
            self._look_ahead()
        return self._columns

    # -- picking --

    def action_step(self, by: Literal[1, -1]) -> None:
        """Pick the record of the next or previous column."""
        columns = self.columns
        at = column_at(columns, self._selected) if self._selected is not None else None
        if at is None:
            at = -1 if by > 0 else len(columns)
        here = columns[at].pick if 0 <= at < len(columns) else -1
        at += by
        while 0 <= at < len(columns) and columns[at].pick in (-1, here):
            at += by
        if 0 <= at < len(columns):
            self._pick(columns[at].pick)

    def on_click(self, event: events.Click) -> None:
        """Pick the record under the pointer, or the nearest one."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        event.stop()
        columns = self.columns
        at = min(offset.x - self._label_cells(), len(columns) - 1)
        while at >= 0 and columns[at].pick < 0:
            at -= 1
        if 0 <= at < len(columns):
            self._pick(columns[at].pick)

    def _pick(self, index: int) -> None:
        self.select(index)
        self.post_message(self.Picked(self, index))

    # -- drawing --

    def render_line(self, y: int) -> Strip:
        """One lane, exactly as wide as the widget's content."""
        styles, width = self._styles, self.size.width
        styles.prepare()
        if y > 2:
            return Strip.blank(width, styles.ground)
        label = fit(self._labels()[y], self._label_cells())
        segments = [Segment(label, styles.ground + styles("muted" if self.has_focus else "faint"))]
        columns = self.columns
        chosen = column_at(columns, self._selected) if self._selected is not None else None
        pick = columns[chosen].pick if chosen is not None else -1
        for at, column in enumerate(columns):
            is_chosen = pick >= 0 and column.pick == pick
            segments.append(self._cell(column, column.lanes[y], is_chosen, at == chosen))
        if y == 0 and self._reading is not None and not self._reading.complete:
            segments.append(Segment(self._text("…", "."), styles.ground + styles("muted")))
        strip = Strip(segments)
        return strip.adjust_cell_length(width, styles.ground)

    def _cell(self, column: Column, cell: Cell | None, is_chosen: bool, is_first: bool) -> Segment:
        styles = self._styles
        if column.parts_turns:
            return Segment(self._text("┊", "|"), styles.ground + styles("faint"))
        base = styles.ground + styles("cursor") if is_chosen else styles.ground
        if cell is None:
            sign = self._text("│", "|") if is_first else " "
            return Segment(sign, base + styles("cursor-mark") if is_first else base)
        style = base + styles(cell.role)
        if cell.above and (above := styles(cell.above).color) is not None:
            style += Style(bgcolor=above)
        if is_chosen and all(column.lanes):
            style += _REVERSE
        return Segment(self._text(cell.glyph, cell.ascii), style)

    def notify_style_update(self) -> None:
        """Drop styles made for another theme."""
        super().notify_style_update()
        if self.is_attached:
            self._styles.refresh()

    def on_resize(self) -> None:
        """Cut the session anew for another width."""
        self._changed()

    # -- inside --

    def _changed(self) -> None:
        self._columns_width = -1
        self.refresh()

    def _text(self, glyph: str, ascii_form: str) -> str:
        return ascii_form if self._surroundings.ascii_only else glyph

    def _labels(self) -> tuple[str, str, str]:
        tr = self._surroundings.tr
        return (
            tr.p("lane of the timeline", "input"),
            tr.p("lane of the timeline", "model"),
            tr.p("lane of the timeline", "tools"),
        )

    def _label_cells(self) -> int:
        return max(map(cell_len, self._labels())) + 1

    def _room(self) -> int:
        reading = self._reading
        return self.size.width - self._label_cells() - (reading is not None and not reading.complete)

    def _look_ahead(self) -> None:
        """Have the first tokens of what is shown looked up, a little at a time."""
        if self._timer is None and self._unlooked():
            self._timer = self.set_timer(_LOOK_EVERY_SECONDS, self._look)

    def _unlooked(self) -> list[int]:
        reading, tokens = self._reading, self._tokens
        if reading is None or tokens is None:
            return []
        return [at for at in sampled(self._columns, reading.trajectory.index) if not tokens.known(at)]

    def _look(self) -> None:
        self._timer = None
        tokens, until = self._tokens, perf_counter() + _LOOK_SECONDS
        if tokens is None:
            return
        for at in self._unlooked():
            tokens.look(at)
            if perf_counter() >= until:
                break
        self._changed()
