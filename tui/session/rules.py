"""Every order rule of a V4 log as one fold: what may stand next, and what the log has become by it.

dsh checks these rules only when it loads a session and then refuses it for ever (session-format §3). The
same fold therefore judges an event before it is written, and a log that is read back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tui.session.events import KNOWN_TYPES, Event
from tui.session.inbox_state import InboxState
from tui.session.log_header import LogHeader
from tui.session.rule_error import SHAPE, LogRuleError, refuse
from tui.session.rule_shapes import SHAPES, check_envelope
from tui.session.rules_records import CommandRules, InboxRules, RetryRules, SubCallRules, TitleRules
from tui.session.rules_seeds import CompactionRules, SeedRules
from tui.session.rules_surface import SurfaceRules
from tui.session.rules_turns import OpenCall, TurnRules
from tui.session.surface import Surface

__all__ = ["SHAPE", "LogRuleError", "RuleChecker"]

_Step = Callable[[Event], None]


class RuleChecker:
    """Folds the events of one log, refusing the first that breaks a rule; the state is then unchanged.

    `lookup` gives an event that was applied before, by its seq. Cost per event does not grow with the log.
    Unknown events without `ignorable` are refused unless `unknown_allowed`. Rules: session-format §3.
    """

    def __init__(
        self, header: LogHeader, lookup: Callable[[int], Event], *, unknown_allowed: bool = False
    ) -> None:
        self.next_seq = 0
        """Seq that the next event must have."""
        self.unknown_allowed = unknown_allowed
        self._turns = TurnRules()
        self._surface = SurfaceRules(lookup)
        self._compaction = CompactionRules(self._turns, self._surface)
        self._seeds = SeedRules(header)
        inbox = InboxRules()
        self._inbox = inbox.inbox
        retries = RetryRules(self._turns)
        titles, commands, sub_calls = TitleRules(), CommandRules(), SubCallRules()
        # Rules of the same type in the order of their numbers; the state moves on only when all have agreed.
        self._checks: Final = _by_type(
            SHAPES,
            self._turns.checks,
            self._surface.checks,
            self._compaction.checks,
            retries.checks,
            titles.checks,
            commands.checks,
            sub_calls.checks,
            self._seeds.checks,
            inbox.checks,
        )
        self._advances: Final = _by_type(
            self._compaction.advances,
            self._turns.advances,
            self._surface.advances,
            retries.advances,
            titles.advances,
            commands.advances,
            sub_calls.advances,
            self._seeds.advances,
            inbox.advances,
        )

    def apply(self, event: Event) -> None:
        """Fold one event in, or raise LogRuleError and leave everything as it is."""
        self.check(event)
        for advance in self._advances.get(event.type, ()):
            advance(event)
        self.next_seq += 1

    def check(self, event: Event) -> None:
        """Raise LogRuleError if the event may not stand next."""
        if event.seq != self.next_seq:
            refuse(event, SHAPE, f"the next seq is {self.next_seq}")
        check_envelope(event)
        if event.type not in KNOWN_TYPES:
            if not event.ignorable and not self.unknown_allowed:
                refuse(event, SHAPE, "the type is unknown and not marked ignorable")
            return
        for check in self._checks.get(event.type, ()):
            check(event)

    def finish(self) -> None:
        """Raise LogRuleError for a rule that the log as a whole breaks (13, 18, 19, 20)."""
        self._compaction.finish()
        self._seeds.finish()

    def go_live(self, *, crossing: bool = False) -> None:
        """Refuse at once what a log read back may still excuse by a later `session/end-seed`.

        Unknown events are no longer allowed either: those that were read stay, none is added.
        With `crossing` a turn boundary may still cross a compaction: for closers that an end-seed follows.
        """
        self.unknown_allowed = False
        self._seeds.live = True
        self._compaction.live = not crossing

    @property
    def turn(self) -> int | None:
        """Number of the open turn."""
        return self._turns.turn

    @property
    def step(self) -> int | None:
        """Number of the open step."""
        return self._turns.step

    @property
    def last_turn(self) -> int:
        """Number of the newest turn, 0 before the first."""
        return self._turns.last_turn

    @property
    def last_step(self) -> int:
        """Number of the newest step of the newest turn, 0 before its first."""
        return self._turns.last_step

    @property
    def open_calls(self) -> Mapping[str, OpenCall]:
        """Calls without a result, by id in the model's order."""
        return self._turns.calls

    @property
    def surface(self) -> Surface:
        """What a model would be sent."""
        return self._surface.surface

    @property
    def head(self) -> int | None:
        """Seq of the protected system message at the head of the surface."""
        return self._surface.head

    @property
    def inbox(self) -> InboxState:
        """Messages that wait."""
        return self._inbox

    @property
    def compacting(self) -> bool:
        """Whether a compaction is open."""
        return self._compaction.open is not None


def _by_type(*tables: Mapping[str, _Step]) -> Mapping[str, tuple[_Step, ...]]:
    merged: dict[str, list[_Step]] = {}
    for table in tables:
        for kind, step in table.items():
            merged.setdefault(kind, []).append(step)
    return {kind: tuple(steps) for kind, steps in merged.items()}
