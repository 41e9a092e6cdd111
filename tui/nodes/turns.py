"""Turns of a session: where they begin and end, what they used, how they ended.

A fold over turn and step boundaries and answers (spec session-format §4.2). It also holds the place that
the other folds are at: the open turn and step.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tui.nodes.turn_list import Turn, TurnList, cache_share
from tui.session.records import (
    AssistantMessage,
    CompactionSummary,
    EndSeed,
    StepStart,
    TurnEnd,
    TurnStart,
    Usage,
)


class Totals(msgspec.Struct, frozen=True):
    """What a session used so far."""

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens

    @property
    def cache_share(self) -> float | None:
        return cache_share(self.input_tokens, self.cache_read_tokens, self.cache_write_tokens)


class TurnsFold:
    """Folds turns; `index` and `step` tell where the log stands."""

    def __init__(self) -> None:
        self.turns = TurnList()
        self.index = -1
        """Position of the open turn in `turns`, -1 between turns."""
        self.step = 0
        """Number of the open step, 0 between steps."""
        self.current: Turn | None = None
        """The open turn, which is always the last one."""
        self.left_open = False
        """Whether the newest turn began while the one before it had no end."""
        self._used = Usage()
        self._inherited = Usage()

    def handlers(self) -> dict[str, Any]:
        return {
            "turn/start": self._turn_start,
            "turn/end": self._turn_end,
            "step/start": self._step_start,
            "step/end": self._step_end,
            "assistant/message": self._answer,
            "compaction/summary": self._summary,
            "session/end-seed": self._end_seed,
        }

    def totals(self) -> Totals:
        """Sums over answers and summaries, of a fork its own part only (spec session-format §9.1)."""
        used, before = self._used, self._inherited
        return Totals(
            len(self.turns),
            used.inputTokens - before.inputTokens,
            used.outputTokens - before.outputTokens,
            used.cacheReadTokens - before.cacheReadTokens,
            used.cacheWriteTokens - before.cacheWriteTokens,
        )

    def is_running(self, index: int) -> bool:
        """True for the turn that is open at the end of what was read."""
        return index >= 0 and index == self.index

    def _turn_start(self, row: int, record: TurnStart) -> None:
        self.left_open = self.current is not None and self.current.is_open
        self.index = len(self.turns)
        self.step = 0
        self.current = Turn(record.data.turn, row, record.time)
        self.turns.append(self.current)

    def _turn_end(self, row: int, record: TurnEnd) -> None:
        turn = self.current
        if turn is not None:
            turn.end_row, turn.end_ms, turn.reason = row, record.time, record.data.reason.kind
        self.index, self.step, self.current = -1, 0, None

    def _step_start(self, row: int, record: StepStart) -> None:
        if self.index < 0:
            self._imply(record.data.turn, row, record.time)
        self.step = record.data.step
        turn = self.current
        if turn is not None:
            turn.steps += 1

    def _step_end(self, row: int, record: Any) -> None:
        self.step = 0

    def _imply(self, number: int, row: int, time: int) -> None:
        """A step without an open turn: the log is damaged, or only its tail was read."""
        last = self.turns.last
        if last is not None and last.number == number:
            self.index, self.current = len(self.turns) - 1, last
            return
        self.index = len(self.turns)
        self.current = Turn(number, row, time, implied=True)
        self.turns.append(self.current)

    def _answer(self, row: int, record: AssistantMessage) -> None:
        if self.index < 0:
            self._imply(record.data.turn, row, record.time)
        used, turn = record.data.usage, self.current
        if used is None or turn is None:
            return
        turn.input_tokens += used.inputTokens
        turn.output_tokens += used.outputTokens
        turn.cache_read_tokens += used.cacheReadTokens
        turn.cache_write_tokens += used.cacheWriteTokens
        self._add(used)

    def _summary(self, row: int, record: CompactionSummary) -> None:
        if record.data.usage is not None:
            self._add(record.data.usage)

    def _end_seed(self, row: int, record: EndSeed) -> None:
        if record.data.inherited:
            used = self._used
            self._inherited = Usage(
                used.inputTokens, used.outputTokens, used.cacheReadTokens, used.cacheWriteTokens
            )

    def _add(self, used: Usage) -> None:
        sums = self._used
        sums.inputTokens += used.inputTokens
        sums.outputTokens += used.outputTokens
        sums.cacheReadTokens += used.cacheReadTokens
        sums.cacheWriteTokens += used.cacheWriteTokens
