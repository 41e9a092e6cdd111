"""The list of the library as a block model: a row a session, children under their parents, and a filter."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tui.app.library_words import shortened_path, state_name, state_role, workspace_name
from tui.app.surroundings import Surroundings
from tui.blocks.cells import cell_len, fit
from tui.blocks.clean import clean_line
from tui.blocks.glyphs import GLYPHS
from tui.blocks.text import Line, Span, line
from tui.blocks.wording_library import reason_text, state_text
from tui.session.library import LibraryRow, Shelf, arrange

_GAP = 2
_DEEPEST = 6
_UNFILLED = ("unreadable", "old-format", "newer-format")


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of each column; 0 for one that found no room."""

    title: int
    workspace: int
    age: int
    events: int
    models: int
    changes: int
    state: int


def columns_for(width: int) -> Columns:
    """The columns at a width: what tells sessions apart stays longest, the title takes what is left."""
    workspace = 0 if width < 56 else 16 if width < 110 else 24 if width < 150 else 32
    age = 14 if width >= 40 else 0
    events = 7 if width >= 64 else 0
    models = 18 if width >= 104 else 0
    changes = 5 if width >= 48 else 0
    state = 12 if width >= 84 else 0
    others = [cells for cells in (workspace, age, events, models, changes, state) if cells]
    title = max(8, width - sum(others) - _GAP * len(others))
    return Columns(title, workspace, age, events, models, changes, state)


class Entry(NamedTuple):
    """A row with its depth below the session it came out of."""

    row: LibraryRow
    depth: int


class LibraryModel:
    """What the list shows; keys are the paths of session folders.

    Args:
        surroundings: language and glyphs.
        now_ms: the present, for ages.
    """

    def __init__(self, surroundings: Surroundings, now_ms: int) -> None:
        self.surroundings = surroundings
        self.now_ms = now_ms
        self._rows: dict[str, LibraryRow] = {}
        self._shelves: tuple[Shelf, ...] = ()
        self._entries: list[Entry] = []
        self._places: dict[str, int] = {}
        self._words: tuple[str, ...] = ()

    # -- content --

    @property
    def total(self) -> int:
        """Sessions in all, filtered ones included."""
        return len(self._rows)

    @property
    def is_filtered(self) -> bool:
        """Whether a filter is set."""
        return bool(self._words)

    def rows(self) -> list[LibraryRow]:
        """Every session, filtered ones included, in the order of the list."""
        return [entry.row for entry in _walk(self._shelves)]

    def entry(self, index: int) -> Entry:
        """The session at a position of the list."""
        return self._entries[index]

    def set_rows(self, rows: Iterable[LibraryRow]) -> None:
        """Take the sessions found so far."""
        self._rows = {str(row.path): row for row in rows}
        self._arrange()

    def update(self, row: LibraryRow) -> int | None:
        """Take what became known of a session; its position if nothing but its own row changes, else None."""
        key = str(row.path)
        if key not in self._rows:
            return None
        self._rows[key] = row
        place = self._places.get(key)
        if self._words and (place is not None) != self._matches(row):
            self._arrange()
            return None
        if place is not None:
            self._entries[place] = Entry(row, self._entries[place].depth)
        return place

    def filter(self, text: str) -> None:
        """Show only sessions that hold all the words, and the parents of such."""
        self._words = tuple(text.casefold().split())
        self._arrange()

    # -- BlockModel --

    def count(self) -> int:
        return len(self._entries)

    def key(self, index: int) -> Hashable:
        return str(self._entries[index].row.path)

    def index_of(self, key: Hashable) -> int | None:
        return self._places.get(key) if isinstance(key, str) else None

    def estimate(self, index: int, width: int) -> int:
        return 1

    def layout(self, index: int, width: int) -> Sequence[Line]:
        row, depth = self._entries[index]
        return [self._line(row, depth, columns_for(width))]

    def selectable(self, index: int) -> bool:
        return True

    # -- drawing --

    def heading(self, width: int) -> Line:
        """The names of the columns."""
        tr, columns = self.surroundings.tr, columns_for(width)
        cells = [
            (tr.t("Title"), columns.title, False),
            (tr.t("Workspace"), columns.workspace, False),
            (tr.t("Changed"), columns.age, False),
            (tr.t("Events"), columns.events, True),
            (tr.t("Models"), columns.models, False),
            (self._changes_sign(), columns.changes, True),
            (tr.t("State"), columns.state, False),
        ]
        return line(Span(_joined(_cell(text, room, right) for text, room, right in cells if room), "muted"))

    def _line(self, row: LibraryRow, depth: int, columns: Columns) -> Line:
        tr = self.surroundings.tr
        spans = self._title(row, depth, columns)
        age = tr.relative(row.updated_ms, self.now_ms) if row.updated_ms is not None else ""
        if _has_no_numbers(row):
            told = [columns.workspace, columns.age, columns.events, columns.models, columns.changes]
            room = sum(told) + _GAP * (sum(map(bool, told)) - 1)
            # The state has a column of its own where there is room for it.
            why = reason_text(tr, row) if columns.state and row.state in ("empty", "unreadable") else ""
            spans.append(Span("  " + _cell(why or state_text(tr, row), max(0, room)), state_role(row.state)))
        else:
            workspace = shortened_path(workspace_name(tr, row.cwd), columns.workspace)
            models = None if row.models is None else clean_line(tr.join(list(row.models)))
            pieces = [
                (workspace, columns.workspace, "muted", False),
                (age, columns.age, "muted", False),
                (self._number(row, row.events), columns.events, "text", True),
                (self._later(row, models), columns.models, "muted", False),
                (self._changes(row), columns.changes, "accent", True),
            ]
            spans.extend(
                Span("  " + _cell(text, room, right), role) for text, room, role, right in pieces if room
            )
        if columns.state:
            spans.append(Span("  " + _cell(state_name(tr, row.state), columns.state), state_role(row.state)))
        return line(*spans)

    def _title(self, row: LibraryRow, depth: int, columns: Columns) -> list[Span]:
        lead = "  " * min(depth - 1, _DEEPEST) + ("`- " if self.surroundings.ascii_only else "└ ")
        lead = lead if depth else ""
        silent = columns.state or row.state == "ok" or _has_no_numbers(row)
        told = "" if silent else state_name(self.surroundings.tr, row.state)
        mark = f" · {told}" if told else ""
        room = max(1, columns.title - cell_len(lead) - cell_len(mark))
        text, role = self._name(row)
        if cell_len(text) > room:
            text = fit(text, room)
        spans = [Span(lead, "faint"), Span(text, role), Span(mark, state_role(row.state))]
        rest = columns.title - sum(cell_len(span.text) for span in spans)
        return [*spans, Span(" " * max(0, rest))]

    def _name(self, row: LibraryRow) -> tuple[str, str]:
        title = clean_line(row.title) if row.title else ""
        if title:
            return title, "text"
        short = clean_line(row.id.removeprefix("session-"))[:8]
        if not row.filled and row.state not in _UNFILLED:
            return f"{self._waiting()} {short}", "faint"
        return f"{self.surroundings.tr.t('untitled')} {short}", "faint"

    def _waiting(self) -> str:
        return "..." if self.surroundings.ascii_only else "…"

    def _later(self, row: LibraryRow, text: str | None) -> str:
        return text if text is not None else "" if row.filled else self._waiting()

    def _number(self, row: LibraryRow, count: int | None) -> str:
        return self._later(row, None if count is None else self.surroundings.tr.number(count))

    def _changes_sign(self) -> str:
        return GLYPHS["tool-change"].text(self.surroundings.ascii_only)

    def _changes(self, row: LibraryRow) -> str:
        if row.tool_changes:
            return f"{self._changes_sign()} {self.surroundings.tr.number(row.tool_changes)}"
        return self._number(row, None) if row.tool_changes is None else ""

    # -- inside --

    def _arrange(self) -> None:
        self._shelves = arrange(self._rows.values())
        entries = list(_walk(self._shelves))
        if self._words:
            entries = _with_parents(entries, [self._matches(entry.row) for entry in entries])
        self._entries = entries
        self._places = {str(entry.row.path): at for at, entry in enumerate(entries)}

    def _matches(self, row: LibraryRow) -> bool:
        tr = self.surroundings.tr
        state = state_name(tr, row.state)
        places = (workspace_name(tr, row.cwd), row.cwd or "")
        text = "\n".join((row.title or "", row.id, state, *places, *(row.models or ()))).casefold()
        return all(word in text for word in self._words)


def _has_no_numbers(row: LibraryRow) -> bool:
    """Whether a row never gets numbers; their room tells why."""
    return row.state in _UNFILLED or row.log is None or (row.filled and row.events is None)


def _walk(shelves: Iterable[Shelf]) -> Iterator[Entry]:
    """Every session with its depth, children behind their parents."""
    waiting = [(shelf, 0) for shelf in reversed(tuple(shelves))]
    while waiting:
        shelf, depth = waiting.pop()
        yield Entry(shelf.row, depth)
        waiting.extend((child, depth + 1) for child in reversed(shelf.children))


def _with_parents(entries: list[Entry], fits: list[bool]) -> list[Entry]:
    """The entries that fit, and those above them."""
    kept: list[Entry] = []
    wanted = -1
    for entry, fit_in in zip(reversed(entries), reversed(fits), strict=True):
        if fit_in or entry.depth < wanted:
            kept.append(entry)
            wanted = entry.depth
        elif entry.depth == wanted == 0:
            wanted = -1
    return kept[::-1]


def _cell(text: str, room: int, right: bool = False) -> str:
    return fit(text, room, "right" if right else "left")


def _joined(cells: Iterable[str]) -> str:
    return (" " * _GAP).join(cells)
