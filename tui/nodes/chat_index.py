"""Fold of the Chat pane: which nodes a session has, without their payloads.

Each event adds or completes nodes; a node is a few numbers in columns (about 16 bytes) that say where its
text lies, so a million events fit in memory and the pane decodes only what it shows (`chat`). The cost of an
event does not depend on the length of the log.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from tui.nodes.chat_columns import ChatIndex, Flag, NodeKind
from tui.nodes.inbox import Inbox
from tui.nodes.turns import TurnsFold
from tui.session import records as r
from tui.session.damage import Damage

# A member of an enumeration costs a tenth of a microsecond to look up; these are wanted for every other row.
_TURN, _USER, _CONTEXT = int(NodeKind.TURN), int(NodeKind.USER), int(NodeKind.CONTEXT)
_ASSISTANT, _REASONING, _TOOL = int(NodeKind.ASSISTANT), int(NodeKind.REASONING), int(NodeKind.TOOL)


class ChatFold:
    """Folds records into a `ChatIndex`."""

    def __init__(self, place: TurnsFold) -> None:
        self.index = index = ChatIndex()
        self._append = (
            index.kinds.append,
            index.rows.append,
            index.ends.put,
            index.flags.append,
            index.sizes.append,
        )
        self._kinds, self._turns = index.kinds, index.turns
        self._put = (index.mids.put, index.blocks.put, index.steps.put, index.breaks.put)
        self.active: frozenset[str] | None = None
        """Names of the tools of the header in force, None before any; kept by whoever folds headers."""
        self.fresh: frozenset[str] = frozenset()
        """Names that the latest tool change of this turn added."""
        self.retry_rows: dict[int, list[int]] = {}
        """Rows of a retry node: attempts, schedules and starts in order."""
        self.attempts: dict[int, int] = {}
        """The attempt that a failure or an interruption ended with."""
        self.first_system = -1
        """Row of the first system message."""
        self.fork_row = -1
        """Row of the last marker of an inherited part."""
        self.inbox = Inbox()
        self._place = place
        self._parts = array("I")
        self._part_nodes = array("I")
        self._pending: dict[str, int] = {}
        self._nested: dict[str, int] = {}
        self._commands: dict[str, int] = {}
        self._jobs: dict[str, int] = {}
        self._approvals: dict[str, int] = {}
        self._attempts: list[int] = []
        self._retry_id = ""
        self._retry_node = -1
        self._compaction = -1
        self._compaction_id = ""
        self._untold = -1

    def handlers(self) -> dict[str, Any]:
        return {
            "turn/start": self._turn_start,
            "turn/end": self._turn_end,
            "user/message": self._user,
            "system/message": self._system,
            "developer/message": self._developer,
            "assistant/message": self._assistant,
            "assistant/attempt": self._attempt,
            "llm/retry": self._retry,
            "llm/retry-started": self._retry_started,
            "tool/call": self._tool_call,
            "tool/result": self._tool_result,
            "tool/ptc-dispatch-start": self._nested_start,
            "tool/ptc-dispatch": self._nested_end,
            "compaction/start": self._compaction_start,
            "compaction/summary": self._compaction_summary,
            "compaction/end": self._compaction_end,
            "agent/inbox/spliced": self._spliced,
            "command/run": self._command_run,
            "command/done": self._command_done,
            "job/registered": self._job_registered,
            "job/settled": self._job_settled,
            "approval/asked": self._approval_asked,
            "approval/decided": self._approval_decided,
            "plan/mode": self._marker(NodeKind.PLAN),
            "todo/write": self._marker(NodeKind.TODO),
            "subagent/catalog": self._marker(NodeKind.SUBAGENT),
            "session/title": self._marker(NodeKind.TITLE),
            "session/end-seed": self._end_seed,
        }

    def unknown(self, row: int, record: r.UnknownRecord) -> None:
        self.add(NodeKind.UNKNOWN, row)

    def damage(self, row: int, damage: Damage) -> None:
        self.add(NodeKind.DAMAGE, row)

    def header(self, row: int, *, untold: bool) -> None:
        """A header that changes something; `untold` if only until a developer message tells it."""
        self._untold = self.add(NodeKind.HEADER, row) if untold else -1
        if not untold:
            self.add(NodeKind.HEADER, row)

    def told(self) -> None:
        """A developer message tells what the header before it changed: take the header's node back."""
        if self._untold >= 0 and self._untold == len(self.index) - 1:
            self.index.pop()
        self._untold = -1

    def finish(self, row: int) -> None:
        """The log has ended with this row: an open turn and prompts that still wait become nodes."""
        before = len(self.index)
        if self._place.index >= 0:
            self._unfinished(row)
        for item in self.inbox.waiting():
            self.add(_USER, row, block=item.position, flags=Flag.ABSENT, mid=item.row)
        self.index.ending = len(self.index) - before

    def reopen(self) -> None:
        """More of the log follows: take back what `finish` added."""
        for _ in range(self.index.ending):
            self.attempts.pop(len(self.index) - 1, None)
            self.index.pop()
        self.index.ending = 0

    def _unfinished(self, row: int) -> int:
        node = self.add(NodeKind.INTERRUPTED, row)
        if self._attempts:
            self.attempts[node] = self._attempts[-1]
        return node

    def _part(self, row: int, node: int) -> None:
        """A row that is shown by a node which begins with another one."""
        if not self._parts or row > self._parts[-1]:
            self._parts.append(row)
            self._part_nodes.append(node)

    def _node_of_part(self, row: int) -> int:
        at = bisect_left(self._parts, row)
        return self._part_nodes[at] if at < len(self._parts) and self._parts[at] == row else -1

    def replaced(self, gone: Sequence[int]) -> list[int]:
        """Mark the nodes of messages that left the surface; returns the rows of calls whose results did.

        `gone` are the messages' rows, ascending.
        """
        rows, flags, count = self.index.rows, self.index.flags, len(self.index.rows)
        calls: list[int] = []
        node = 0
        for row in gone:
            node = bisect_left(rows, row, node)
            if node == count or rows[node] != row:
                call = self._mark_part(row, Flag.REPLACED)
                if call >= 0:
                    calls.append(call)
                continue
            while node < count and rows[node] == row:
                flags[node] |= Flag.REPLACED
                node += 1
        return calls

    def shortened(self, row: int, by: int) -> int:
        """Mark the call whose result stands in a row: the model sees the shortened copy in another.

        Returns the row of the call, or -1.
        """
        node = self._node_of_part(row)
        if node >= 0:
            self._part(by, node)
        return self._mark_part(row, Flag.SHORTENED)

    def _mark_part(self, row: int, flag: int) -> int:
        node, index = self._node_of_part(row), self.index
        if node < 0:
            return -1
        index.flags[node] |= flag
        return index.mids.at(node) if index.kinds[node] == _TOOL else -1

    def add(  # one argument a column
        self,
        kind: int,
        row: int,
        *,
        block: int = 0,
        flags: int = 0,
        size: int = 0,
        breaks: int = 0,
        mid: int = -1,
    ) -> int:
        """Append a node; returns its position."""
        # The columns' own append methods, looked up once: this is where a long log spends its time.
        kinds, rows, ends, flagged, sizes = self._append
        place, turns, kept = self._place, self._turns, self._kinds
        if place.index != turns.newest:
            turns.change(place.index)
        at = len(kept)
        kinds(kind)
        rows(row)
        ends(0)
        flagged(flags)
        sizes(size if size < 4_000_000_000 else 4_000_000_000)
        step = place.step
        if 0 <= step < 255 and mid < 0 and block < 255 and breaks < 255:
            mids, blocks, steps, lines = self._put
            mids(0)
            blocks(block)
            steps(step)
            lines(breaks)
        else:
            index = self.index
            index.mids.append(mid)
            index.blocks.append(block)
            index.steps.append(step if 0 <= step < 65536 else 0)
            index.breaks.append(breaks if breaks < 65535 else 65535)
        return at

    def _marker(self, kind: NodeKind) -> Any:
        def mark(row: int, record: Any) -> None:
            self.add(kind, row)

        return mark

    def _turn_start(self, row: int, record: r.TurnStart) -> None:
        place = self._place
        if place.left_open:
            # Damage: the turn before has no end.
            self._unfinished(row)
            self.index.turns.correct_last(place.index - 1)
            self._leave_turn()
        self._abandon_compaction()
        self.add(_TURN, row)

    def _turn_end(self, row: int, record: r.TurnEnd) -> None:
        kind = record.data.reason.kind
        if kind != "completed":
            node = self.add(NodeKind.FAILURE if kind == "error" else NodeKind.INTERRUPTED, row)
            if self._attempts:
                self.attempts[node] = self._attempts[-1]
            if kind == "max-tokens":
                self._cut_last_answer(node)
        self._leave_turn()

    def _leave_turn(self) -> None:
        self._pending.clear()
        self._nested.clear()
        self._attempts = []
        self._retry_id, self._retry_node = "", -1
        self.fresh = frozenset()

    def _cut_last_answer(self, before: int) -> None:
        index = self.index
        for node in range(before - 1, max(-1, before - 64), -1):
            if index.kinds[node] in (_ASSISTANT, _REASONING):
                index.flags[node] |= Flag.CUT
                return
            if index.kinds[node] == _TURN:
                return

    def _user(self, row: int, record: r.UserMessage) -> None:
        message = record.data
        source = message.source.kind if message.source else ""
        if source == "compact-checkpoint" and self._compaction >= 0:
            # Shown by the compaction's own node.
            self._part(row, self._compaction)
            return
        size, breaks = _measure(message.content)
        if source != "user":
            self.add(_CONTEXT, row, size=size, breaks=breaks)
            return
        # The prompt of a turn is claimed by its first step (spec session-format §4.4).
        steering = self._place.step > 1
        self.add(_USER, row, flags=Flag.MARKED if steering else 0, size=size, breaks=breaks)

    def _system(self, row: int, record: r.SystemMessage) -> None:
        size, breaks = _measure(record.data.message.content)
        if self.first_system < 0:
            self.first_system = row
        self.add(NodeKind.SYSTEM, row, size=size, breaks=breaks)

    def _developer(self, row: int, record: r.DeveloperMessage) -> None:
        content = record.data.message.content
        changes = sum(1 for block in content if block.type in ("tool-addition", "tool-removal"))
        if changes:
            self.told()
        size, breaks = _measure(content)
        self.add(_CONTEXT, row, flags=Flag.MARKED if changes else 0, size=size, breaks=breaks + changes)
        turn = self._place.current
        if turn is not None and changes:
            turn.tool_changes += 1

    def _assistant(self, row: int, record: r.AssistantMessage) -> None:
        data = record.data
        added = -1
        for position, block in enumerate(data.message.content):
            kind, text = block.type, block.text
            if kind == "tool-call":
                self._pending[block.id] = self._call(row, position, block)
            elif kind == "reasoning":
                added = self.add(_REASONING, row, block=position, size=len(text), breaks=text.count("\n"))
            else:
                added = self.add(_ASSISTANT, row, block=position, size=len(text), breaks=text.count("\n"))
        if not data.message.content:
            added = self.add(_ASSISTANT, row)
        if data.interrupted and added >= 0:
            self.index.flags[added] |= Flag.CUT
        self._attempts = []

    def _call(self, row: int, position: int, block: r.Block) -> int:
        flags = 0
        if self.active is not None and block.name not in self.active:
            flags = Flag.ABSENT
        elif block.name in self.fresh:
            flags = Flag.FRESH
        turn = self._place.current
        if turn is not None:
            turn.calls += 1
        return self.add(_TOOL, row, block=position, flags=flags)

    def _attempt(self, row: int, record: r.Attempt) -> None:
        self._attempts.append(row)

    def _retry(self, row: int, record: r.Retry) -> None:
        if record.data.retryId != self._retry_id:
            self._retry_id = record.data.retryId
            self._retry_node = self.add(NodeKind.RETRY, row)
            self.retry_rows[self._retry_node] = []
        rows = self.retry_rows[self._retry_node]
        rows.extend(self._attempts)
        rows.append(row)
        self._attempts = []
        turn = self._place.current
        if turn is not None:
            turn.retries += 1

    def _retry_started(self, row: int, record: r.RetryStarted) -> None:
        if record.data.retryId == self._retry_id:
            self.retry_rows[self._retry_node].append(row)
            self.index.ends[self._retry_node] = row

    def _tool_call(self, row: int, record: r.ToolCall) -> None:
        node = self._pending.get(record.data.callId)
        if node is None:
            node = self.add(_TOOL, row)
            self._pending[record.data.callId] = node
        self.index.mids[node] = row

    def _tool_result(self, row: int, record: r.ToolResult) -> None:
        message = record.data.message
        if isinstance(record.surfaceOp, r.Replace):
            # A shortened copy for the model; `shortened` marks the call.
            return
        node = self._pending.pop(message.toolCallId, None)
        if node is None:
            node = self.add(_TOOL, row)
        index = self.index
        index.ends[node] = row
        index.flags[node] |= Flag.DONE
        self._part(row, node)
        if message.isError:
            index.flags[node] |= Flag.ERROR
            turn = self._place.current
            if turn is not None:
                turn.failed_calls += 1

    def _nested_start(self, row: int, record: r.NestedStart) -> None:
        node = self.add(_TOOL, row, flags=Flag.MARKED, mid=row)
        self._nested[record.data.subCallId] = node

    def _nested_end(self, row: int, record: r.NestedEnd) -> None:
        node = self._nested.pop(record.data.subCallId, -1)
        if node < 0:
            node = self.add(_TOOL, row, flags=Flag.MARKED)
        self.index.ends[node] = row
        self.index.flags[node] |= Flag.DONE | (Flag.ERROR if record.data.isError else 0)

    def _compaction_start(self, row: int, record: r.CompactionStart) -> None:
        self._abandon_compaction()
        self._compaction = self.add(NodeKind.COMPACTION, row)
        self._compaction_id = record.data.compactionId

    def _abandon_compaction(self) -> None:
        """The process that compacted was killed: no end follows (spec session-format §3, rule 13)."""
        if self._compaction >= 0:
            self.index.flags[self._compaction] |= Flag.CUT
        self._compaction = -1

    def _compaction_summary(self, row: int, record: r.CompactionSummary) -> None:
        if self._compaction >= 0 and record.data.compactionId == self._compaction_id:
            self.index.mids[self._compaction] = row

    def _compaction_end(self, row: int, record: r.CompactionEnd) -> None:
        if self._compaction >= 0 and record.data.compactionId == self._compaction_id:
            self.index.ends[self._compaction] = row
            failed = record.data.error is not None
            self.index.flags[self._compaction] |= Flag.ERROR if failed else Flag.DONE
            self._compaction = -1

    def _spliced(self, row: int, record: r.Spliced) -> None:
        for item in self.inbox.splice(row, record):
            self.add(_USER, row, block=item.position, flags=Flag.CUT, mid=item.row)

    def _command_run(self, row: int, record: r.CommandRun) -> None:
        self._commands[record.data.commandId] = self.add(NodeKind.COMMAND, row)

    def _command_done(self, row: int, record: r.CommandDone) -> None:
        node = self._commands.pop(record.data.commandId, -1)
        if node < 0:
            node = self.add(NodeKind.COMMAND, row)
        self.index.ends[node] = row
        self.index.flags[node] |= Flag.DONE | (Flag.ERROR if record.data.kind == "error" else 0)

    def _job_registered(self, row: int, record: r.JobRegistered) -> None:
        self._jobs[record.data.jobId] = self.add(NodeKind.JOB, row)

    def _job_settled(self, row: int, record: r.JobSettled) -> None:
        node = self._jobs.pop(record.data.jobId, -1)
        index = self.index
        failed = Flag.ERROR if record.data.status not in ("completed", "killed") else 0
        if node >= 0:
            index.ends[node] = row
            index.flags[node] |= Flag.DONE | failed
        if node < 0 or index.turns[node] != self._place.index:
            # It ended in another turn: a marker stands there too.
            late = self.add(NodeKind.JOB, row, flags=Flag.MARKED | Flag.DONE | failed)
            index.ends[late] = row

    def _approval_asked(self, row: int, record: r.ApprovalAsked) -> None:
        self._approvals[record.data.id] = self.add(NodeKind.APPROVAL, row)

    def _approval_decided(self, row: int, record: r.ApprovalDecided) -> None:
        node = self._approvals.pop(record.data.id, -1)
        if node < 0:
            node = self.add(NodeKind.APPROVAL, row)
        self.index.ends[node] = row
        self.index.flags[node] |= Flag.DONE | (Flag.ERROR if record.data.outcome != "allowed-once" else 0)

    def _end_seed(self, row: int, record: r.EndSeed) -> None:
        self.add(NodeKind.NOTE, row, flags=Flag.MARKED if record.data.inherited else 0)
        if record.data.inherited:
            self.fork_row = row
        self._abandon_compaction()


def _measure(content: list[r.Block]) -> tuple[int, int]:
    """Characters and line breaks of a message's text."""
    size = breaks = 0
    for block in content:
        size += len(block.text)
        breaks += block.text.count("\n") + 1
    return size, max(0, breaks - 1)


__all__ = ["ChatFold", "ChatIndex", "Flag", "NodeKind"]
