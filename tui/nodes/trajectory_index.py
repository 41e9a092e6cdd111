"""Fold of the Trajectory pane: one row a record, in the order of the log.

Calls and their results are one row, compactions too; everything else that happened has its own. Rows are
numbers in columns (about 11 bytes); `trajectory` decodes the ones that are shown. The fold also numbers the
model requests (CONTRACT.md).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from tui.nodes.turns import TurnsFold
from tui.session import records as r
from tui.session.columns import LaterColumn, RunColumn, SmallColumn, SparseColumn
from tui.session.damage import Damage


class RowKind(IntEnum):
    """Kinds of trajectory rows (CONTRACT.md); the last two are events too, told apart for what is shown."""

    EVENT = 0
    SYSTEM = 1
    USER = 2
    CONTEXT = 3
    ASSISTANT = 4
    TOOL = 5
    HEADER = 6
    COMPACTION = 7
    RETRY = 8
    FAILURE = 9
    UNKNOWN = 10
    DAMAGE = 11
    BOOKKEEPING = 12
    """An event that keeps the program's books; a reader rarely wants it."""
    TURN = 13
    """The start of a turn: its heading."""

    @property
    def public_name(self) -> str:
        """What exports call the kind."""
        return "event" if self in (RowKind.BOOKKEEPING, RowKind.TURN) else self.name.lower()


BOOKKEEPING = frozenset(
    {
        "agent/inbox/spliced",
        "permission/preset",
        "sandbox/mode",
        "approval/policy",
        "workspace/changes",
    }
)
"""Bookkeeping events without a handler of their own."""
# A member of an enumeration costs a tenth of a microsecond to look up; these are wanted for every row.
_USER, _CONTEXT, _ASSISTANT = int(RowKind.USER), int(RowKind.CONTEXT), int(RowKind.ASSISTANT)
_TOOL, _BOOKKEEPING, _TURN = int(RowKind.TOOL), int(RowKind.BOOKKEEPING), int(RowKind.TURN)
_EVENT_KINDS = [_BOOKKEEPING if name in BOOKKEEPING else int(RowKind.EVENT) for name in r.TYPE_NAMES]


class RowFlag:
    """Bits of the flags column."""

    ERROR = 1
    REPLACED = 2
    DONE = 4
    NESTED = 8
    TOOL_CHANGE = 16
    """A developer message with tool blocks, or a header that redefines tools."""
    ATTEMPT = 32
    """A model request that gave no message."""
    CUT = 64
    """An answer cut short; a compaction that never ended; a call of whose result the model sees less."""
    UNANSWERED = 128
    """A request of which the log holds no answer: the process was killed."""


class TrajectoryIndex:
    """Columns of the trajectory rows."""

    def __init__(self) -> None:
        self.kinds = bytearray()
        self.rows = array("I")
        """The row of the log it begins with; ascending."""
        self.starts = SparseColumn(self.kinds, -1)
        """The row whose time is the start of a request, -1 where the row itself is the start."""
        self.mids = SparseColumn(self.kinds, -1)
        self.ends = LaterColumn(self.rows)
        """The row that completes it, -1 while there is none."""
        self.turns = RunColumn(self.kinds, -1)
        self.steps = SmallColumn()
        self.requests = SparseColumn(self.kinds, 0)
        """Number of the model request, 0 for none."""
        self.flags = bytearray()

    def __len__(self) -> int:
        return len(self.kinds)

    def at_row(self, row: int) -> int:
        """The trajectory row that begins with this row of the log, or the one before it; -1 if there is
        none."""
        return bisect_right(self.rows, row) - 1

    def exactly(self, row: int) -> int | None:
        """The trajectory row that begins with this row of the log."""
        found = bisect_left(self.rows, row)
        return found if found < len(self.rows) and self.rows[found] == row else None


class TrajectoryFold:
    """Folds records into a `TrajectoryIndex`."""

    def __init__(self, place: TurnsFold) -> None:
        self.index = index = TrajectoryIndex()
        self._append = (
            index.kinds.append,
            index.rows.append,
            index.ends.put,
            index.steps.put,
            index.flags.append,
        )
        self._kinds, self._turns = index.kinds, index.turns
        self.request_count = 0
        self._place = place
        self._start = -1
        self._calls: dict[str, int] = {}
        self._nested: dict[str, int] = {}
        self._compaction = -1
        self._compaction_id = ""
        self._accepted = -1
        self._counted_at_end = -1

    def handlers(self) -> dict[str, Any]:
        return {
            "user/message": self._user,
            "system/message": self._system,
            "developer/message": self._developer,
            "assistant/message": self._assistant,
            "assistant/attempt": self._attempt,
            "tool/call": self._tool_call,
            "tool/result": self._tool_result,
            "tool/ptc-dispatch-start": self._nested_start,
            "tool/ptc-dispatch": self._nested_end,
            "request/header": self._header,
            "request/context": self._context,
            "llm/retry": self._retry,
            "llm/retry-started": self._begins,
            "step/start": self._step_start,
            "step/end": self._step_end,
            "turn/start": self._turn_start,
            "turn/end": self._turn_end,
            "compaction/start": self._compaction_start,
            "compaction/summary": self._compaction_summary,
            "compaction/end": self._compaction_end,
            "session-log-deepseek/delivery-accepted": self._delivered,
            "session/end-seed": self._end_seed,
        }

    def event(self, row: int, record: Any) -> None:
        """Any known event without a handler of its own."""
        code: int = record.code
        self.add(_EVENT_KINDS[code], row)

    def unknown(self, row: int, record: r.UnknownRecord) -> None:
        self.add(RowKind.UNKNOWN, row)

    def damage(self, row: int, damage: Damage) -> None:
        self.add(RowKind.DAMAGE, row, RowFlag.ERROR)

    def finish(self) -> None:
        """The log has ended: a request without an answer counts now."""
        self._counted_at_end = self._accepted
        self._count_unanswered()

    def reopen(self) -> None:
        """More of the log follows: take back what `finish` counted."""
        if self._counted_at_end >= 0:
            self.index.kinds[self._counted_at_end] = _BOOKKEEPING
            self.index.requests[self._counted_at_end] = 0
            self.index.flags[self._counted_at_end] &= ~RowFlag.UNANSWERED
            self.request_count -= 1
            self._accepted = self._counted_at_end
        self._counted_at_end = -1

    def mark(self, wanted: Iterable[int], flag: int) -> None:
        """Set a flag of the rows that begin with these rows of the log, given in ascending order."""
        rows, flags, count = self.index.rows, self.index.flags, len(self.index.rows)
        found = 0
        for row in wanted:
            found = bisect_left(rows, row, found)
            if found < count and rows[found] == row:
                flags[found] |= flag

    def add(self, kind: int, row: int, flags: int = 0) -> int:
        """Append a row; returns its position."""
        # The columns' own append methods, looked up once: this is where a long log spends its time.
        kinds, rows, ends, steps, flagged = self._append
        place, turns, kept = self._place, self._turns, self._kinds
        if place.index != turns.newest:
            turns.change(place.index)
        at = len(kept)
        kinds(kind)
        rows(row)
        ends(0)
        flagged(flags)
        step = place.step
        if 0 <= step < 255:
            steps(step)
        else:
            self.index.steps.append(step if 0 <= step < 65536 else 0)
        return at

    def _add_request(self, kind: int, row: int, flags: int = 0) -> int:
        """Append a row that is a request, with its number; returns its position."""
        at = self.add(kind, row, flags)
        self.index.requests.set_last(self._request())
        return at

    def _add_answer(self, row: int, flags: int) -> None:
        """Append a request that was sent when the last thing before it was done."""
        self._add_request(_ASSISTANT, row, flags)
        if self._start >= 0:
            self.index.starts.set_last(self._start)
        self._accepted = -1

    def _request(self) -> int:
        self.request_count += 1
        return self.request_count

    def _user(self, row: int, record: r.UserMessage) -> None:
        source = record.data.source
        human = source is not None and source.kind == "user"
        self.add(_USER if human else _CONTEXT, row)
        self._start = row

    def _system(self, row: int, record: r.SystemMessage) -> None:
        self.add(RowKind.SYSTEM, row)

    def _developer(self, row: int, record: r.DeveloperMessage) -> None:
        changed = any(
            block.type in ("tool-addition", "tool-removal") for block in record.data.message.content
        )
        self.add(_CONTEXT, row, RowFlag.TOOL_CHANGE if changed else 0)

    def _assistant(self, row: int, record: r.AssistantMessage) -> None:
        flags = RowFlag.DONE | (RowFlag.CUT if record.data.interrupted else 0)
        self._add_answer(row, flags)

    def _attempt(self, row: int, record: r.Attempt) -> None:
        self._add_answer(row, RowFlag.ATTEMPT | RowFlag.ERROR)

    def _tool_call(self, row: int, record: r.ToolCall) -> None:
        self._calls[record.data.callId] = self.add(_TOOL, row)

    def _tool_result(self, row: int, record: r.ToolResult) -> None:
        if isinstance(record.surfaceOp, r.Replace):
            self.add(RowKind.EVENT, row)
            return
        found = self._calls.pop(record.data.message.toolCallId, -1)
        if found < 0:
            found = self.add(_TOOL, row)
        self.index.ends[found] = row
        self.index.flags[found] |= RowFlag.DONE | (RowFlag.ERROR if record.data.message.isError else 0)

    def _nested_start(self, row: int, record: r.NestedStart) -> None:
        self._nested[record.data.subCallId] = self.add(_TOOL, row, RowFlag.NESTED)

    def _nested_end(self, row: int, record: r.NestedEnd) -> None:
        found = self._nested.pop(record.data.subCallId, -1)
        if found < 0:
            found = self.add(_TOOL, row, RowFlag.NESTED)
        self.index.ends[found] = row
        self.index.flags[found] |= RowFlag.DONE | (RowFlag.ERROR if record.data.isError else 0)

    def _header(self, row: int, record: Any) -> None:
        self.add(RowKind.HEADER, row)
        self._start = row

    def _context(self, row: int, record: Any) -> None:
        self.add(_BOOKKEEPING, row)
        self._start = row

    def _begins(self, row: int, record: Any) -> None:
        self.add(_BOOKKEEPING, row)
        self._start = row

    def _retry(self, row: int, record: r.Retry) -> None:
        self.add(RowKind.RETRY, row)

    def _step_start(self, row: int, record: Any) -> None:
        self._count_unanswered()
        self.add(_BOOKKEEPING, row)
        self._start = row

    def _turn_start(self, row: int, record: Any) -> None:
        self._leave_turn()
        self.add(_TURN, row)

    def _step_end(self, row: int, record: Any) -> None:
        self._count_unanswered()
        self.add(_BOOKKEEPING, row)

    def _turn_end(self, row: int, record: r.TurnEnd) -> None:
        kind = record.data.reason.kind
        at = self.add(_BOOKKEEPING if kind == "completed" else RowKind.FAILURE, row)
        if kind != "completed":
            self.index.flags[at] |= RowFlag.ERROR
        if kind == "max-tokens":
            self._cut_last_answer(at)
        self._leave_turn()

    def _leave_turn(self) -> None:
        self._count_unanswered()
        self._abandon_compaction()
        self._calls.clear()
        self._nested.clear()
        self._start = -1

    def _cut_last_answer(self, before: int) -> None:
        for at in range(before - 1, max(-1, before - 64), -1):
            if self.index.kinds[at] == _ASSISTANT:
                self.index.flags[at] |= RowFlag.CUT
                return

    def _compaction_start(self, row: int, record: r.CompactionStart) -> None:
        self._abandon_compaction()
        self._compaction = self._add_request(RowKind.COMPACTION, row)
        self._compaction_id = record.data.compactionId

    def _abandon_compaction(self) -> None:
        if self._compaction >= 0:
            self.index.flags[self._compaction] |= RowFlag.CUT
        self._compaction = -1

    def _compaction_summary(self, row: int, record: r.CompactionSummary) -> None:
        if self._compaction >= 0 and record.data.compactionId == self._compaction_id:
            self.index.mids[self._compaction] = row
        else:
            self.add(RowKind.EVENT, row)

    def _compaction_end(self, row: int, record: r.CompactionEnd) -> None:
        if self._compaction >= 0 and record.data.compactionId == self._compaction_id:
            self.index.ends[self._compaction] = row
            failed = record.data.error is not None
            self.index.flags[self._compaction] |= RowFlag.ERROR if failed else RowFlag.DONE
            self._compaction = -1
        else:
            self.add(RowKind.EVENT, row)

    def _delivered(self, row: int, record: Any) -> None:
        at = self.add(_BOOKKEEPING, row)
        # Inside a compaction the pair itself is the request.
        if self._compaction < 0 and self._place.step > 0:
            self._accepted = at

    def _count_unanswered(self) -> None:
        if self._accepted >= 0:
            self.index.kinds[self._accepted] = RowKind.EVENT
            self.index.requests[self._accepted] = self._request()
            self.index.flags[self._accepted] |= RowFlag.UNANSWERED
        self._accepted = -1

    def _end_seed(self, row: int, record: Any) -> None:
        self._count_unanswered()
        self._abandon_compaction()
        self.add(RowKind.EVENT, row)
