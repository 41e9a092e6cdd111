"""Columns of the Chat pane's nodes: a few numbers each, no payloads."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from enum import IntEnum

from tui.session.columns import LaterColumn, RunColumn, SmallColumn


class NodeKind(IntEnum):
    """Kinds of chat nodes; `TURN` and `NOTE` are headings of the pane, the rest stand in CONTRACT.md."""

    TURN = 0
    NOTE = 1
    USER = 2
    ASSISTANT = 3
    REASONING = 4
    TOOL = 5
    CONTEXT = 6
    HEADER = 7
    SYSTEM = 8
    COMPACTION = 9
    RETRY = 10
    FAILURE = 11
    INTERRUPTED = 12
    COMMAND = 13
    PLAN = 14
    TODO = 15
    JOB = 16
    APPROVAL = 17
    SUBAGENT = 18
    TITLE = 19
    UNKNOWN = 20
    DAMAGE = 21


class Flag:
    """Bits of the flags column."""

    ERROR = 1
    REPLACED = 2
    """The model no longer sees it: a compaction or a new prompt took its place."""
    ABSENT = 4
    """A call of a tool that was not active; a prompt that still waits in the inbox."""
    FRESH = 8
    """A call of a tool that the latest change of this turn added."""
    MARKED = 16
    """By kind: a tool change (context), steering (user), nested (tool), a fork (note), late (job)."""
    DONE = 32
    """A tool call with its result, a command with its end, a job that settled."""
    CUT = 64
    """An answer cut by the token limit or interrupted; a compaction that never ended; a discarded prompt."""
    SHORTENED = 128
    """A result of which the model sees a shortened form."""


class ChatIndex:
    """Columns of the chat nodes, in the order of the log."""

    def __init__(self) -> None:
        self.kinds = bytearray()
        self.rows = array("I")
        """The row a node begins with; ascending."""
        self.mids = LaterColumn(self.rows)
        """A second row: the recorded call of a tool, the summary of a compaction, the insertion of a queued
        prompt."""
        self.ends = LaterColumn(self.rows)
        """The row that completes it: result, end, decision; -1 while there is none."""
        self.blocks = SmallColumn()
        """Position of the content block within the row's message."""
        self.turns = RunColumn(self.kinds, -1)
        self.steps = SmallColumn()
        self.flags = bytearray()
        self.sizes = array("I")
        """Characters of text, for estimating heights."""
        self.breaks = SmallColumn()
        """Line breaks in that text."""
        self.ending = 0
        """How many nodes at the end tell what the end of the log means; no row begins with them."""

    def __len__(self) -> int:
        return len(self.kinds)

    def pop(self) -> None:
        """Take the last node back."""
        for column in (self.kinds, self.rows, self.flags, self.sizes):
            del column[-1]
        for packed in (self.mids, self.ends, self.blocks, self.turns, self.steps, self.breaks):
            packed.drop_last()

    def nodes_of_row(self, row: int) -> range:
        """Nodes that begin with this row."""
        end = len(self.rows) - self.ending
        return range(bisect_left(self.rows, row, 0, end), bisect_right(self.rows, row, 0, end))

    def node_before(self, row: int) -> int:
        """The last node that begins at or before this row, -1 if there is none."""
        return bisect_right(self.rows, row, 0, len(self.rows) - self.ending) - 1
