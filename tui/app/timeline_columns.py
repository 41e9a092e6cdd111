"""What the overview timeline draws: the records of a session in three lanes, one column for one or several.

Columns go by record and not by clock, so an idle night takes no room. A session that fits gets a column of up
to three cells for each record that has a lane; a longer one is cut into buckets of equal counts, and the
whole session stays in view. Turns are parted by a thin column while they are few. Buckets are counted from
the index; only the time to the first token needs a decoded answer, one for a column (`FirstTokens`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import log10
from typing import Final, NamedTuple

from tui.blocks.glyphs import GLYPHS
from tui.nodes.reading import Reading
from tui.nodes.trajectory import row_times
from tui.nodes.trajectory_index import RowFlag, RowKind, TrajectoryIndex
from tui.session.json_value import as_object
from tui.session.stream import first_delta_ms

BARS: Final = "▁▂▃▄▅▆▇█"
ASCII_BARS: Final = "__--==##"
_WIDEST: Final = 3
_TURN_SHARE: Final = 6
"""Turns are parted while there is not more than one in so many cells."""
_DECODED_BYTES: Final = 512 << 10
_INPUT: Final = (RowKind.SYSTEM, RowKind.USER, RowKind.CONTEXT, RowKind.HEADER)
_MODEL: Final = (RowKind.ASSISTANT, RowKind.COMPACTION, RowKind.RETRY, RowKind.FAILURE)
_LANES: Final[dict[int, int]] = {
    **dict.fromkeys((*_INPUT, RowKind.UNKNOWN, RowKind.DAMAGE), 0),
    **dict.fromkeys(_MODEL, 1),
    RowKind.TOOL: 2,
}
INPUT, MODEL, TOOLS = range(3)


class Cell(NamedTuple):
    """One lane of one column."""

    glyph: str
    ascii: str
    role: str
    above: str = ""
    """The role of what stands above the bar, up to the full height; empty for nothing."""


class Column(NamedTuple):
    """One cell of width in all three lanes: the trajectory rows from `first` to before `last`."""

    first: int
    last: int
    pick: int
    """The row that is selected by this column; -1 where there is none to select."""
    lanes: tuple[Cell | None, Cell | None, Cell | None] = (None, None, None)
    parts_turns: bool = False


FirstToken = Callable[[int], float | None]
"""The share of a request's time before its first token; None where it is not known (yet)."""


class FirstTokens:
    """First-token shares of requests, decoded when asked for and kept."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known: dict[int, float | None] = {}

    def known(self, index: int) -> bool:
        """Whether a request was looked at."""
        return index in self._known

    def get(self, index: int) -> float | None:
        """The share of a request if it was looked at and has one."""
        return self._known.get(index)

    def look(self, index: int) -> None:
        """Decode one request."""
        self._known[index] = self._share(index)

    def _share(self, index: int) -> float | None:
        reading = self._reading
        row = reading.trajectory.index.rows[index]
        begun, ended = row_times(reading, index)
        if reading.log.length(row) > _DECODED_BYTES or ended <= begun:
            return None
        first = first_delta_ms(as_object(reading.log.event(row).data).get("stream"))
        return (first - begun) / (ended - begun) if first is not None and begun <= first <= ended else None


def columns_of(reading: Reading, width: int, first_token: FirstToken) -> list[Column]:
    """The columns of a session in at most `width` cells."""
    index = reading.trajectory.index
    if width < 1 or not len(index):
        return []
    segments = _segments(reading, width)
    marks = _marks(index, width - len(segments) + 1)
    if marks is not None:
        return _single(reading, segments, marks, width, first_token)
    ranges = _ranges(segments, width - len(segments) + 1, len(index))
    facts = _Facts(index, [span for span in ranges if span is not None])
    columns: list[Column] = []
    at = 0
    for span in ranges:
        if span is None:
            columns.append(Column(at, at, -1, parts_turns=True))
        else:
            columns.append(_bucket(facts, *span, first_token))
            at = span[1]
    return columns


def _ranges(segments: list[tuple[int, int]], room: int, total: int) -> list[tuple[int, int] | None]:
    """The rows of each bucket, `room` in all, shared out among the turns by length; None between turns."""
    ranges: list[tuple[int, int] | None] = []
    taken = 0
    for number, (first, last) in enumerate(segments):
        left = len(segments) - number - 1
        end = min(room - left, max(taken + 1, round(last * room / total))) if left else room
        cells, taken = end - taken, end
        borders = [first + (last - first) * at // cells for at in range(cells + 1)]
        # A turn of fewer records than cells repeats its records.
        ranges.extend((low, max(high, low + 1)) for low, high in pairwise(borders))
        if left:
            ranges.append(None)
    return ranges


def column_at(columns: list[Column], index: int) -> int | None:
    """The position of the column that holds a trajectory row, or of the one before it."""
    found = bisect_right(columns, index, key=lambda column: column.first) - 1
    while found > 0 and columns[found].parts_turns:
        found -= 1
    # All cells of one record are one place: the first of them is it.
    while found > 0 and columns[found - 1][:3] == columns[found][:3]:
        found -= 1
    return found if found >= 0 else None


def sampled(columns: list[Column], index: TrajectoryIndex) -> Iterator[int]:
    """The requests whose first token the columns show."""
    seen = -1
    for column in columns:
        if column.lanes[MODEL] is not None:
            found = _first_answer(index, column.first, column.last)
            if found > seen:
                seen = found
                yield found


def _segments(reading: Reading, width: int) -> list[tuple[int, int]]:
    """The rows of each turn; one segment for all where turns are too many."""
    index, turns = reading.trajectory.index, reading.turns.turns
    total = len(index)
    if len(turns) > max(1, width // _TURN_SHARE):
        return [(0, total)]
    starts = sorted({max(0, index.at_row(turn.start_row)) for turn in turns[1:]} - {0})
    return [*pairwise([0, *starts, total])]


def _marks(index: TrajectoryIndex, room: int) -> list[int] | None:
    """The rows that have a lane, or None if they do not fit."""
    if len(index) - sum(map(index.kinds.count, (RowKind.EVENT, RowKind.BOOKKEEPING, RowKind.TURN))) > room:
        return None
    marks = [at for at in range(len(index)) if _lane(index, at) is not None]
    return marks if len(marks) <= room else None


def _lane(index: TrajectoryIndex, at: int) -> int | None:
    if index.flags[at] & RowFlag.UNANSWERED:
        return MODEL
    return _LANES.get(index.kinds[at])


def _single(
    reading: Reading,
    segments: list[tuple[int, int]],
    marks: list[int],
    width: int,
    first_token: FirstToken,
) -> list[Column]:
    """One record a column."""
    index = reading.trajectory.index
    repeat = min(_WIDEST, (width - len(segments) + 1) // max(1, len(marks)))
    columns: list[Column] = []
    for first, last in segments:
        inside = [at for at in marks if first <= at < last]
        if not inside:
            continue
        if columns:
            columns.append(Column(first, first, -1, parts_turns=True))
        # Bookkeeping before a record belongs to its column, what follows the last one to that.
        borders = [first, *inside[1:], last]
        for at, (low, high) in zip(inside, pairwise(borders), strict=True):
            lanes: list[Cell | None] = [None, None, None]
            lanes[_lane(index, at) or 0] = _record(reading, at, first_token)
            columns.append(Column(low, high, at, (lanes[0], lanes[1], lanes[2])))
            # A bar may be broad; a sign stands once, or one failure would look like three.
            again = [cell if cell is not None and cell.glyph in BARS else None for cell in lanes]
            columns.extend([Column(low, high, at, (again[0], again[1], again[2]))] * (repeat - 1))
    return columns


def _bar(level: float, role: str, above: str = "") -> Cell:
    """A bar of a height from 0 to 1."""
    at = max(0, min(7, round(level * 8) - 1))
    return Cell(BARS[at], ASCII_BARS[at], role, above if at < 7 else "")


def _sign(what: str, role: str = "") -> Cell:
    glyph = GLYPHS[what]
    return Cell(glyph.glyph, glyph.ascii, role or glyph.role)


def _record(reading: Reading, at: int, first_token: FirstToken) -> Cell:
    """What stands for a single record."""
    index = reading.trajectory.index
    kind, flags = index.kinds[at], index.flags[at]
    if flags & RowFlag.UNANSWERED:
        return _sign("unanswered")
    if flags & RowFlag.TOOL_CHANGE:
        return _sign("tool-change" if kind == RowKind.CONTEXT else "redefined")
    match kind:
        case RowKind.USER:
            return _bar(0.9, "lane-input")
        case RowKind.SYSTEM | RowKind.CONTEXT | RowKind.HEADER:
            return _bar(0.4, "lane-input")
        case RowKind.ASSISTANT:
            return _answer(flags, first_token(at))
        case RowKind.TOOL:
            return _call(reading, at, flags)
        case RowKind.COMPACTION:
            return _sign("compaction", "lane-error" if flags & RowFlag.ERROR else "")
        case RowKind.RETRY:
            return _sign("retry")
        case RowKind.FAILURE:
            turn = index.turns[at]
            failed = turn < 0 or reading.turns.turns[turn].reason == "error"
            return _sign("failure", "lane-error") if failed else _sign("interrupted")
        case RowKind.DAMAGE:
            return _sign("damage")
        case _:
            return _sign("unknown")


def _answer(flags: int, share: float | None) -> Cell:
    if flags & RowFlag.ATTEMPT:
        return _sign("failed", "lane-error")
    if flags & RowFlag.CUT:
        return _sign("truncated")
    return _bar(1.0, "lane-model") if share is None else _bar(1 - share, "lane-model", "lane-ttft")


def _call(reading: Reading, at: int, flags: int) -> Cell:
    if flags & RowFlag.ERROR:
        return _sign("error", "lane-error")
    if not flags & RowFlag.DONE:
        return _sign("no-result" if reading.complete else "running")
    begun, ended = row_times(reading, at)
    # 1 ms is the lowest bar, 30 s the highest.
    return _bar(log10(max(1, ended - begun)) / 4.5, "lane-tool")


class _Facts:
    """What all buckets need: where the rare things are, and the fullest bucket of each lane that counts."""

    def __init__(self, index: TrajectoryIndex, ranges: list[tuple[int, int]]) -> None:
        self.index = index
        self.errors = _positions(index.flags, RowFlag.ERROR | RowFlag.UNANSWERED)
        self.changes = _positions(index.flags, RowFlag.TOOL_CHANGE)
        self.most_inputs = max((self.inputs(*span) for span in ranges), default=1)
        self.most_calls = max((self.count(RowKind.TOOL, *span) for span in ranges), default=1)

    def count(self, kind: int, first: int, last: int) -> int:
        return self.index.kinds.count(kind, first, last)

    def inputs(self, first: int, last: int) -> int:
        return sum(self.count(kind, first, last) for kind in _INPUT)


def _positions(flags: bytearray, bits: int) -> array[int]:
    table = bytes(1 if value & bits else 0 for value in range(256))
    marked = flags.translate(table)
    found = array("I")
    at = marked.find(1)
    while at >= 0:
        found.append(at)
        at = marked.find(1, at + 1)
    return found


def _within(positions: array[int], first: int, last: int) -> array[int]:
    return positions[bisect_right(positions, first - 1) : bisect_right(positions, last - 1)]


def _bucket(facts: _Facts, first: int, last: int, first_token: FirstToken) -> Column:
    """A column of several records."""
    errors = _within(facts.errors, first, last)
    changes = _within(facts.changes, first, last)
    lanes = (
        _inputs(facts, first, last, changes),
        _answers(facts, first, last, errors, first_token),
        _calls(facts, first, last, errors),
    )
    return Column(first, last, _pick(facts.index, first, last, errors, changes), lanes)


def _inputs(facts: _Facts, first: int, last: int, changes: array[int]) -> Cell | None:
    if facts.count(RowKind.DAMAGE, first, last):
        return _sign("damage")
    if changes:
        told = any(facts.index.kinds[at] == RowKind.CONTEXT for at in changes)
        return _sign("tool-change" if told else "redefined")
    count = facts.inputs(first, last)
    return _bar(count / facts.most_inputs, "lane-input") if count else None


def _answers(
    facts: _Facts, first: int, last: int, errors: array[int], first_token: FirstToken
) -> Cell | None:
    count = sum(facts.count(kind, first, last) for kind in _MODEL)
    failed = sum(1 for at in errors if _lane(facts.index, at) == MODEL)
    if not count and not failed:
        return None
    if failed:
        return (
            _sign("failed", "lane-error")
            if failed * 2 >= count
            else _bar(min(0.8, 1 - failed / count), "lane-model", "lane-error")
        )
    sample = _first_answer(facts.index, first, last)
    if sample < 0:
        return _sign("compaction") if facts.count(RowKind.COMPACTION, first, last) else _sign("retry")
    share = first_token(sample)
    return _bar(1.0, "lane-model") if share is None else _bar(1 - share, "lane-model", "lane-ttft")


def _calls(facts: _Facts, first: int, last: int, errors: array[int]) -> Cell | None:
    count = facts.count(RowKind.TOOL, first, last)
    if not count:
        return None
    failed = sum(1 for at in errors if facts.index.kinds[at] == RowKind.TOOL)
    if failed * 2 >= count:
        return _sign("error", "lane-error")
    if failed:
        return _bar(min(0.8, 1 - failed / count), "lane-tool", "lane-error")
    return _bar(count / facts.most_calls, "lane-tool")


def _first_answer(index: TrajectoryIndex, first: int, last: int) -> int:
    """The first whole answer among some rows, -1 if there is none."""
    at = index.kinds.find(RowKind.ASSISTANT, first, last)
    while at >= 0 and index.flags[at] & RowFlag.ATTEMPT:
        at = index.kinds.find(RowKind.ASSISTANT, at + 1, last)
    return at


def _pick(index: TrajectoryIndex, first: int, last: int, errors: array[int], changes: array[int]) -> int:
    """What a column selects: a tool change before an error, a prompt before anything else."""
    if changes:
        return changes[0]
    if errors:
        return errors[0]
    prompt = index.kinds.find(RowKind.USER, first, last)
    if prompt >= 0:
        return prompt
    return next((at for at in range(first, last) if _lane(index, at) is not None), first)
