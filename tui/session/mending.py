"""A sound log out of a damaged one: events numbered anew, references followed, what fits nowhere left out.

Only for copies; the damaged log stays as it is. Where something before an event is missing (the result of a
call, the end or the start of a step or a turn) it is put in. Nothing is guessed beyond that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from tui.session.closers import closing_results
from tui.session.event_text import Draft
from tui.session.events import DAMAGE_TYPE, Event
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_object
from tui.session.rule_error import LogRuleError
from tui.session.rule_shapes import positive
from tui.session.rules import RuleChecker

_ENDS: Final = frozenset(("step/end", "turn/end", "step/start", "turn/start"))
_LEFT_OUT: Final = frozenset((DAMAGE_TYPE, "session-log-deepseek/delivery-accepted"))


class _LostReferenceError(Exception):
    """An event that cites one which was left out."""


class Mending:
    """Feeds on the events of a damaged log in file order and hands on those of a sound one, numbered.

    `put` takes each event and folds it into `rules`.
    """

    def __init__(self, rules: RuleChecker, put: Callable[[Event], None]) -> None:
        self.dropped = 0
        self.added = 0
        self._rules = rules
        self._put = put
        # Old number to new; of an old number that stands twice, the one that was kept last.
        self._seqs: dict[int, int] = {}
        self._content: dict[int, tuple[str, str]] = {}

    def feed(self, event: Event) -> None:
        """Take one event of the damaged log."""
        if event.type in _LEFT_OUT:
            return  # A fault has nothing to keep, and what was delivered was another session.
        # A replay writes the same events again; most would break a rule, a user's message would not.
        content = (event.type, compact(event.data))
        if self._content.get(event.seq) == content:
            self.dropped += 1
            return
        if not self._try(event):
            self._prepare(event)
            if not self._try(event):
                self.dropped += 1
                return
        self._content[event.seq] = content

    def _try(self, event: Event) -> bool:
        seq = self._rules.next_seq
        try:
            self._put(msgspec.structs.replace(self._renumbered(event), seq=seq, row=seq))
        except (LogRuleError, _LostReferenceError):
            return False
        self._seqs[event.seq] = seq
        return True

    def _prepare(self, event: Event) -> None:
        """Put in what is missing before an event."""
        data = as_object(event.data)
        turn, step = positive(data.get("turn")), positive(data.get("step"))
        rules = self._rules
        if event.type in _ENDS:
            self._prepare_boundary(event.type, turn, step, event.time)
            return
        if turn is None or step is None:
            return
        if turn == rules.last_turn + 1:
            self._close_turn(event.time)
        if rules.turn is None and turn == rules.last_turn + 1:
            self._add("turn/start", {"turn": turn}, event.time)
        if rules.turn == turn and step == rules.last_step + 1:
            self._close_step(event.time)
            self._add("step/start", {"turn": turn, "step": step}, event.time)

    def _prepare_boundary(self, kind: str, turn: int | None, step: int | None, time: int) -> None:
        rules = self._rules
        here = turn is not None and turn == rules.turn
        if kind == "step/end" and here and step == rules.step:
            self._close_calls(time)
        elif (kind == "turn/end" and here) or (kind == "step/start" and here and step == rules.last_step + 1):
            self._close_step(time)
        elif kind == "turn/start" and turn == rules.last_turn + 1:
            self._close_turn(time)

    def _close_turn(self, time: int) -> None:
        self._close_step(time)
        if self._rules.turn is not None:
            self._add("turn/end", {"turn": self._rules.turn, "reason": {"kind": "interrupted"}}, time)

    def _close_calls(self, time: int) -> None:
        rules = self._rules
        if rules.turn is None or rules.step is None:
            return
        for draft in closing_results(
            rules.open_calls, turn=rules.turn, step=rules.step, next_seq=rules.next_seq, time=time
        ):
            self._add_draft(draft, time)

    def _close_step(self, time: int) -> None:
        self._close_calls(time)
        if self._rules.turn is not None and self._rules.step is not None:
            self._add("step/end", {"turn": self._rules.turn, "step": self._rules.step}, time)

    def _add(self, kind: str, data: dict[str, Any], time: int) -> None:
        self._add_draft(Draft(kind, data), time)

    def _add_draft(self, draft: Draft, time: int) -> None:
        seq = self._rules.next_seq
        event = Event(
            row=seq,
            type=draft.type,
            seq=seq,
            time=time,
            data=draft.data,
            surface_op="append" if draft.type == "tool/result" else None,
            source_event_seqs=None if draft.source_event_seqs is None else list(draft.source_event_seqs),
        )
        self._put(event)
        self.added += 1

    def _renumbered(self, event: Event) -> Event:
        data, operation, cited = event.data, event.surface_op, event.source_event_seqs
        if isinstance(operation, dict):
            operation = {
                **operation,
                "startSeq": self._seq(operation.get("startSeq")),
                "endSeq": self._seq(operation.get("endSeq")),
            }
        if cited is not None:
            cited = self._known(cited) or None
        follow = _REFERENCES.get(event.type)
        return msgspec.structs.replace(
            event,
            data=data if follow is None else follow(self, as_object(data)),
            surface_op=operation,
            source_event_seqs=cited,
        )

    def _seq(self, old: object) -> int:
        new = self._seqs.get(old) if isinstance(old, int) else None
        if new is None:
            raise _LostReferenceError
        return new

    def _known(self, old: list[Any]) -> list[int]:
        found = (self._seqs.get(seq) for seq in old if isinstance(seq, int))
        return list(dict.fromkeys(seq for seq in found if seq is not None))

    def command(self, data: dict[str, Any]) -> dict[str, Any]:
        """Follow the event that a command led to."""
        led_to = self._known([data.get("sourceEventSeq")])
        if led_to:
            return {**data, "sourceEventSeq": led_to[0]}
        return {key: value for key, value in data.items() if key != "sourceEventSeq"}

    def shadowed(self, data: dict[str, Any]) -> dict[str, Any]:
        """Follow the nodes that a compaction covers."""
        bounds = as_object(data.get("shadowedRange"))
        return {
            **data,
            "shadowedRange": {"start": self._seq(bounds.get("start")), "end": self._seq(bounds.get("end"))},
            "shadowedSeqs": [self._seq(seq) for seq in as_array(data.get("shadowedSeqs"))],
        }

    def title(self, data: dict[str, Any]) -> dict[str, Any]:
        """Follow the prompts that a title was made of."""
        return {**data, "messageSeqs": self._known(as_array(data.get("messageSeqs")))}

    def offload(self, data: dict[str, Any]) -> dict[str, Any]:
        """Follow the messages whose images were offloaded."""
        targets = [as_object(target) for target in as_array(data.get("targets"))]
        return {**data, "targets": [{**target, "seq": self._seq(target.get("seq"))} for target in targets]}

    def developer(self, data: dict[str, Any]) -> dict[str, Any]:
        """Follow the header that defines added tools."""
        return {**data, "headerSeq": self._seq(data["headerSeq"])} if "headerSeq" in data else data


_REFERENCES: Final[dict[str, Callable[[Mending, dict[str, Any]], dict[str, Any]]]] = {
    "command/done": Mending.command,
    "compaction/summary": Mending.shadowed,
    "compaction/prune": Mending.shadowed,
    "session/title": Mending.title,
    "session/title-llm-request": Mending.title,
    "image/offload": Mending.offload,
    "developer/message": Mending.developer,
}
