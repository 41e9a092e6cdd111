"""One line of pieces, some at the left, some at the right, that drops whole pieces when there is no room.

The piece that matters least goes first, then the next, in an order that does not depend on the width, so
that what stays on a narrow screen is always a subset of what a wide one shows. Only what is of any length
(titles, sentences) is cut, with an ellipsis, and so is the last piece there is: a line is never empty for
want of room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.app.strips import RoleStyles
from tui.blocks.cells import cell_len
from tui.blocks.text import Span, crop, line, to_ascii

GAP_CELLS = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the line that is shown whole or not at all, unless it may be cut.

    `keep` orders the dropping: the lowest goes first, and among equals the rightmost. `least` are the cells
    down to which it may be cut; 0 for a piece that is whole or gone.
    """

    spans: tuple[Span, ...]
    keep: int = 0
    least: int = 0

    @property
    def cells(self) -> int:
        """The width in cells."""
        return sum(cell_len(span.text) for span in self.spans)

    @property
    def fewest(self) -> int:
        """The cells it cannot do without."""
        return min(self.cells, self.least) if self.least else self.cells

    def cut(self, width: int) -> Piece:
        """As much of it as finds room in a width, with an ellipsis for the rest."""
        return self if self.cells <= width else replace(self, spans=crop(line(*self.spans), width).spans)


def fitting(left: Sequence[Piece], right: Sequence[Piece], width: int) -> tuple[list[Piece], list[Piece]]:
    """The pieces that find room in `width` cells, with gaps of two cells; the rest is dropped by `keep`."""
    kept = [*((piece, True) for piece in left), *((piece, False) for piece in right)]
    kept = [(piece, at_left) for piece, at_left in kept if piece.cells]

    def room(*, fewest: bool) -> int:
        cells = sum(piece.fewest if fewest else piece.cells for piece, _ in kept)
        return width - cells - GAP_CELLS * (len(kept) - 1)

    while len(kept) > 1 and room(fewest=True) < 0:
        least = min(range(len(kept)), key=lambda place: (kept[place][0].keep, -place))
        del kept[least]
    for place, (piece, at_left) in enumerate(kept):
        if (missing := -room(fewest=False)) > 0 and (piece.least or len(kept) == 1):
            least = 1 if len(kept) == 1 else piece.fewest
            kept[place] = (piece.cut(max(piece.cells - missing, least)), at_left)
    return [piece for piece, at_left in kept if at_left], [piece for piece, at_left in kept if not at_left]


class StatusBar(Widget):
    """The line as a widget of one row.

    Args:
        left, right: the pieces; `show` replaces them.
        ascii_only: replace our own glyphs by ASCII.
        name, id, classes: as for every widget.
    """

    def __init__(
        self,
        left: Sequence[Piece] = (),
        right: Sequence[Piece] = (),
        *,
        ascii_only: bool = False,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._left = tuple(left)
        self._right = tuple(right)
        self._ascii_only = ascii_only
        self._styles = RoleStyles(self)

    def show(self, left: Sequence[Piece] = (), right: Sequence[Piece] = ()) -> None:
        """Show other pieces."""
        if (tuple(left), tuple(right)) != (self._left, self._right):
            self._left, self._right = tuple(left), tuple(right)
            self.refresh()

    def notify_style_update(self) -> None:
        """Drop styles made for another theme."""
        super().notify_style_update()
        if self.is_attached:
            self._styles.refresh()

    def render_line(self, y: int) -> Strip:
        """The line, exactly as wide as the widget's content."""
        self._styles.prepare()
        width = self.size.width
        if y:
            return Strip.blank(width, self._styles.ground)
        left, right = fitting(self._left, self._right, width)
        left_segments, left_cells = self._side(left)
        right_segments, right_cells = self._side(right)
        between = Segment(" " * (width - left_cells - right_cells), self._styles.ground)
        return Strip([*left_segments, between, *right_segments], width)

    def _side(self, pieces: Sequence[Piece]) -> tuple[list[Segment], int]:
        segments: list[Segment] = []
        cells = 0
        for piece in pieces:
            if segments:
                segments.append(Segment(" " * GAP_CELLS, self._styles.ground))
                cells += GAP_CELLS
            row = line(*piece.spans)
            row = to_ascii(row) if self._ascii_only else row
            segments.extend(
                Segment(span.text, self._styles.ground + self._styles(span.role)) for span in row.spans
            )
            cells += row.cells
        return segments, cells
