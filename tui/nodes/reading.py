"""A session being read: one log and everything that is folded from it, in one pass.

Both panes, the exports and the status line look at the same `Reading`. It takes rows as `session.reader`
hands them on and keeps no payloads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from tui.nodes.called_tools import CalledTools
from tui.nodes.chat_index import ChatFold, NodeKind
from tui.nodes.trajectory_index import RowFlag, TrajectoryFold
from tui.nodes.turns import Totals, TurnsFold
from tui.session import records as r
from tui.session.damage import Damage
from tui.session.log import SessionLog
from tui.session.reader import LogReader, open_log, open_tail
from tui.session.surface import Surface
from tui.session.tool_changes import ToolChanges

Handler = Callable[[int, Any], None]


class Reading:
    """The folds of one log; a `reader.RowSink`."""

    def __init__(self) -> None:
        self.turns = TurnsFold()
        self.chat = ChatFold(self.turns)
        self.trajectory = TrajectoryFold(self.turns)
        self.tools = ToolChanges()
        self.called = CalledTools()
        self.surface = Surface()
        self.title = ""
        self.provider = ""
        self.model = ""
        self.header_positions: dict[int, int] = {}
        """Position of a header, by its seq, among those of `tools`."""
        self.models: dict[str, None] = {}
        """Models in order of first use."""
        self.context_window: int | None = None
        self.log: SessionLog
        self._reader: LogReader
        self._handlers: list[tuple[Handler, ...]] = self._table()

    @classmethod
    def open(cls, path: Path) -> Reading:
        """Open a session log for reading; nothing but its header is read yet.

        Raises:
            SessionUnreadable: see `reader.open_log`.
        """
        reading = cls()
        reading.log, reading._reader = open_log(path, reading)
        return reading

    def tail(self, want: int) -> Reading | None:
        """A reading of about the last `want` bytes; None where the log is hardly longer."""
        tail = Reading()
        tail.chat.inbox.partial = True
        opened = open_tail(self.log, want, tail)
        if opened is None:
            return None
        tail.log, tail._reader = opened
        return tail

    @property
    def complete(self) -> bool:
        return self.log.complete

    @property
    def is_settled(self) -> bool:
        """Everything there is by now is folded; more can follow in a session that is being written."""
        return self.log.complete

    @property
    def progress(self) -> float:
        """Share of the file that is folded, 0 to 1."""
        return 1.0 if self.log.complete else self._reader.progress

    def step(self, seconds: float) -> bool:
        """Read and fold for about this long; True when the end has been reached."""
        if self.log.complete:
            return True
        if not self._reader.step(seconds):
            return False
        self.trajectory.finish()
        if len(self.log):
            self.chat.finish(len(self.log) - 1)
        return True

    def reopen(self) -> None:
        """More of the log follows: take back what was folded because it had ended."""
        self.trajectory.reopen()
        self.chat.reopen()
        self.log.complete = False

    def read_all(self) -> Reading:
        """Read to the end; returns itself."""
        while not self.step(60.0):
            pass
        return self

    def totals(self) -> Totals:
        return self.turns.totals()

    def turn_number(self, index: int) -> int | None:
        """The number of a turn by its position, None for -1."""
        return self.turns.turns[index].number if index >= 0 else None

    # -- RowSink

    @property
    def handlers(self) -> Sequence[Sequence[Handler]]:
        """Who folds a known event, by its type code, in the order they run."""
        return self._handlers

    def unknown(self, row: int, record: r.UnknownRecord) -> None:
        self.chat.unknown(row, record)
        self.trajectory.unknown(row, record)

    def damage(self, row: int, damage: Damage) -> None:
        self.chat.damage(row, damage)
        self.trajectory.damage(row, damage)

    # -- dispatch

    def _table(self) -> list[tuple[Handler, ...]]:
        """The handlers of each type code, in the order they run."""
        turns = cast("dict[str, Handler]", self.turns.handlers())
        chat = cast("dict[str, Handler]", self.chat.handlers())
        trajectory = cast("dict[str, Handler]", self.trajectory.handlers())
        own: dict[str, Handler] = {
            "request/header": self._header,
            "request/context": self._context,
            "developer/message": self._developer,
            "session/title": self._title,
            "image/offload": self._offload,
            **self.called.handlers(),
            "user/message": self._surface,
            "system/message": self._surface,
            "assistant/message": self._surface,
            "tool/result": self._surface,
        }
        table: list[tuple[Handler, ...]] = []
        for name in r.TYPE_NAMES:
            handlers = [chat.get(name), trajectory.get(name, self.trajectory.event), own.get(name)]
            # The end of a step or turn is still part of it.
            place = turns.get(name)
            handlers = [*handlers, place] if name in ("turn/end", "step/end") else [place, *handlers]
            table.append(tuple(handler for handler in handlers if handler is not None))
        return table

    def _surface(self, row: int, record: Any) -> None:
        op = record.surfaceOp
        if isinstance(op, str):
            self.surface.append(record.seq)
            return
        gone = self._rows_of(self.surface.replace(record.seq, op.startSeq, op.endSeq))
        if isinstance(record, r.ToolResult):
            calls = sorted(self.chat.shortened(shadowed, row) for shadowed in gone)
            self.trajectory.mark((call for call in calls if call >= 0), RowFlag.CUT)
            return
        gone = [shadowed for shadowed in gone if shadowed != row]
        # A result is part of its call's row.
        calls = sorted(self.chat.replaced(gone))
        self.trajectory.mark(gone, RowFlag.REPLACED)
        self.trajectory.mark(calls, RowFlag.REPLACED)

    def _rows_of(self, seqs: Iterable[int]) -> list[int]:
        """The rows that carry these numbers, ascending."""
        log, base = self.log, self.log.index.base_seq
        if log.index.seqs is None:
            return sorted(seq - base for seq in seqs if seq >= base)
        return sorted(row for seq in seqs for row in log.rows_of_seq(seq))

    def _header(self, row: int, record: r.RequestHeaderRow) -> None:
        place = self.turns
        try:
            data = msgspec.json.decode(record.data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            data = self.log.event(row).data
        self.header_positions[record.seq] = len(self.tools.headers)
        change = self.tools.apply_header(record.seq, self.turn_number(place.index), place.step or None, data)
        self.chat.active = self.tools.active_names()
        entry = self.tools.headers[-1]
        self.provider, self.model = entry.provider, entry.model
        self.models[entry.model] = None
        if change is None:
            return
        if change.added:
            self.chat.fresh = frozenset(change.added)
        if change.redefined or change.config_changed:
            self.chat.header(row, untold=False)
        elif change.added or change.removed:
            self.chat.header(row, untold=True)
        if change.redefined:
            self.trajectory.mark((row,), RowFlag.TOOL_CHANGE)

    def _developer(self, row: int, record: r.DeveloperMessage) -> None:
        self._surface(row, record)
        place = self.turns
        if not any(block.type in ("tool-addition", "tool-removal") for block in record.data.message.content):
            return
        change = self.tools.apply_developer(
            record.seq, self.turn_number(place.index), place.step or None, self.log.event(row).data
        )
        if change is not None:
            self.chat.fresh = frozenset(change.added)

    def _context(self, row: int, record: r.RequestContext) -> None:
        self.provider, self.model = record.data.provider, record.data.model
        self.context_window = record.data.contextWindow

    def _title(self, row: int, record: r.Title) -> None:
        self.title = record.data.title

    def _offload(self, row: int, record: r.ImageOffload) -> None:
        targets = [{"seq": t.seq, "imageIndexes": t.imageIndexes} for t in record.data.targets]
        self.surface.offload(record.seq, targets)


__all__ = ["NodeKind", "Reading"]
