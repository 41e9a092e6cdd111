"""The thin scrollbar of the line-API views: where its thumb stands and where a drag leads."""

from __future__ import annotations

from typing import NamedTuple


class Thumb(NamedTuple):
    """The first screen row of the thumb and its rows."""

    first: int
    rows: int

    def line_at(self, y: int, total: int, height: int) -> int:
        """The row of the content to put at the top when the thumb's middle is dragged to screen row `y`."""
        room = max(1, height - self.rows)
        share = min(max(y - self.rows // 2, 0), room) / room
        return round(share * max(0, total - height))


def thumb(total: int, height: int, first_line: int, *, at_start: bool, at_end: bool) -> Thumb | None:
    """The thumb for `total` rows in a window of `height`, or None when everything fits.

    The thumb touches an end only when that end is on screen, whatever rounding would say.
    """
    if total <= height or height < 1:
        return None
    rows = max(1, height * height // total)
    room = height - rows
    if at_end:
        return Thumb(room, rows)
    first = round(room * first_line / (total - height))
    return Thumb(min(max(first, 0 if at_start else min(1, room)), max(0, room - 1)), rows)
