"""Rules 13 and 18 to 20: what a crash or a fork leaves behind decides whether it is right (spec §3).

Whether an event is inherited, and whether a compaction was cut by a crash, is known only when a later
`session/end-seed` comes. Until then such a fault is held back; `finish` tells of what no marker excused.
"""

from __future__ import annotations

from typing import Any, Final

from tui.session.events import Event
from tui.session.json_value import as_object
from tui.session.log_header import LogHeader
from tui.session.rule_error import SHAPE, LogRuleError, refuse
from tui.session.rule_shapes import need_count, need_text, seq_list
from tui.session.rules_surface import SurfaceRules
from tui.session.rules_turns import TurnRules

_MODES: Final = {0: ("continuable", "one-shot"), 1: ("continuable", "one-shot", "unknown"), 2: ("external",)}


class CompactionRules:
    """Rule 13: compactions, prunes, and the turn boundaries that may not cross them."""

    def __init__(self, turns: TurnRules, surface: SurfaceRules) -> None:
        self.live = False
        """Whether a turn boundary inside a compaction is refused at once; else `finish` decides."""
        self.open: dict[str, Any] | None = None
        """Payload of the `compaction/start` that has no end yet."""
        self._turns = turns
        self._surface = surface
        self._summarised = False
        self._crossed: LogRuleError | None = None
        self.checks: Final = {
            "compaction/start": self._check_start,
            "compaction/summary": self._check_summary,
            "compaction/end": self._check_end,
            "compaction/prune": self._check_shadowed,
            "user/message": self._check_checkpoint,
            "turn/start": self._check_boundary,
            "turn/end": self._check_boundary,
        }
        self.advances: Final = {
            "compaction/start": self._start,
            "compaction/summary": self._summary,
            "compaction/end": self._end,
            "session/end-seed": self._end,
            "turn/start": self._boundary,
            "turn/end": self._boundary,
        }

    def finish(self) -> None:
        """Raise what crossed a compaction that no `session/end-seed` has cancelled since."""
        if self._crossed is not None:
            raise self._crossed

    def _check_start(self, event: Event) -> None:
        data = as_object(event.data)
        need_text(event, data, "compactionId")
        if "sourceCommandId" in data:
            need_text(event, data, "sourceCommandId")
        if self.open is not None:
            refuse(event, 13, "another compaction is open")
        if data.get("turn", -1) != self._turns.turn:
            refuse(event, 13, "the turn is not the open one")

    def _check_same(self, event: Event) -> dict[str, Any]:
        data = as_object(event.data)
        if self.open is None or self._crossed is not None:
            refuse(event, 13, "no compaction is open")
        for key in ("compactionId", "sourceCommandId"):
            if data.get(key) != self.open.get(key):
                refuse(event, 13, f"{key} is not that of the open compaction")
        return data

    def _check_summary(self, event: Event) -> None:
        data = self._check_same(event)
        if self._summarised:
            refuse(event, 13, "the compaction has a summary already")
        need_text(event, data, "provider", "model")
        if not isinstance(data.get("summary"), list):
            refuse(event, SHAPE, '"summary" is not a list')
        if "llmStreamCall" in data and (data["llmStreamCall"] is not True or "rawOutput" not in data):
            refuse(event, SHAPE, '"llmStreamCall" without rawOutput')
        self._check_shadowed(event)

    def _check_end(self, event: Event) -> None:
        data = self._check_same(event)
        if data.get("turn", -1) != self._turns.turn:
            refuse(event, 13, "the turn is not the open one")
        if "error" not in data and not self._summarised:
            refuse(event, 13, "a compaction without a summary ends with an error")

    def _check_shadowed(self, event: Event) -> None:
        data = as_object(event.data)
        need_count(event, data, "shadowedTokenCount")
        bounds = as_object(data.get("shadowedRange"))
        start, end = need_count(event, bounds, "start"), need_count(event, bounds, "end")
        covered = self._surface.surface.between(start, end)
        if covered is None or seq_list(data.get("shadowedSeqs")) != list(covered):
            refuse(event, 13, "shadowedSeqs is not the shadowed range of the surface")
        if self._surface.head in covered:
            refuse(event, 13, "the head of the surface is never shadowed")

    def _check_checkpoint(self, event: Event) -> None:
        source = as_object(as_object(event.data).get("source"))
        if event.surface_op == "append" or source.get("kind") != "compact-checkpoint":
            return
        if (
            self.open is None
            or self._crossed is not None
            or source.get("compactionId") != self.open["compactionId"]
        ):
            refuse(event, 13, "a checkpoint stands outside its compaction")

    def _check_boundary(self, event: Event) -> None:
        if self.live and self.open is not None:
            refuse(event, 13, "a compaction is open")

    def _start(self, event: Event) -> None:
        self.open, self._summarised = event.data, False

    def _summary(self, event: Event) -> None:
        self._summarised = True

    def _end(self, event: Event) -> None:
        self.open, self._summarised, self._crossed = None, False, None

    def _boundary(self, event: Event) -> None:
        if self.open is not None and self._crossed is None:
            self._crossed = LogRuleError(13, event.type, "a compaction is open", event.seq)


class SeedRules:
    """Rules 18 to 20: delivery marks, children, and the end of what was inherited."""

    def __init__(self, header: LogHeader) -> None:
        self.live = False
        """Whether the inherited part is known to be complete."""
        self._header = header
        self._inherited = False
        self._held: list[LogRuleError] = []
        self._children: set[str] = set()
        self.checks: Final = {
            "session-log-deepseek/delivery-accepted": self._check_delivery,
            "subagent/catalog": self._check_catalog,
            "session/end-seed": self._check_end_seed,
        }
        self.advances: Final = {
            "session-log-deepseek/delivery-accepted": self._delivery,
            "subagent/catalog": self._catalog,
            "session/end-seed": self._end_seed,
        }

    def finish(self) -> None:
        """Raise the first fault that would be none in an inherited part, or a missing end of that part."""
        if self._header.is_seeded and not self._inherited:
            raise LogRuleError(20, "session/end-seed", "the log is seeded and no marker ends its seed")
        if self._held:
            raise self._held[0]

    @property
    def _may_be_inherited(self) -> bool:
        return self._header.is_seeded and not self.live

    def _check_delivery(self, event: Event) -> None:
        data = as_object(event.data)
        need_text(event, data, "sessionId")
        need_count(event, data, "throughSeq")
        if "sessionFormatVersion" in data:
            need_count(event, data, "sessionFormatVersion")
        fault = self._delivery_fault(event)
        if fault is not None and not (self._may_be_inherited and self._header.parent_session is not None):
            raise fault

    def _delivery_fault(self, event: Event) -> LogRuleError | None:
        data = as_object(event.data)
        if data.get("sessionFormatVersion") != 4:
            return None
        if data["sessionId"] != self._header.id:
            return LogRuleError(18, event.type, "the mark names another session", event.seq)
        if data["throughSeq"] >= event.seq:
            return LogRuleError(18, event.type, "throughSeq is not earlier", event.seq)
        return None

    def _check_catalog(self, event: Event) -> None:
        data = as_object(event.data)
        version, mode, label = data.get("version"), data.get("mode"), data.get("label")
        need_text(event, data, "childId")
        need_count(event, data, "childCreatedAt")
        if isinstance(version, bool) or not isinstance(version, int) or mode not in _MODES.get(version, ()):
            refuse(event, 19, "the version or the mode of the child is unknown")
        if "label" in data and not isinstance(label, str):
            refuse(event, 19, "the child's label is not a string")
        if version == 0 and mode == "continuable" and not isinstance(label, str):
            refuse(event, 19, "a child that can be continued has a label")
        if data["childId"] in self._children and not self._may_be_inherited:
            refuse(event, 19, f"the child {data['childId']} stands there already")

    def _check_end_seed(self, event: Event) -> None:
        if "inherited" not in as_object(event.data):
            return
        if not self._header.is_seeded:
            refuse(event, 20, "the header does not say that the log is seeded")
        if self.live:
            refuse(event, 20, "the inherited part has ended")

    def _delivery(self, event: Event) -> None:
        fault = self._delivery_fault(event)
        if fault is not None:
            self._held.append(fault)

    def _catalog(self, event: Event) -> None:
        child = event.data["childId"]
        if child in self._children:
            self._held.append(LogRuleError(19, event.type, f"the child {child} stands there already"))
        self._children.add(child)

    def _end_seed(self, event: Event) -> None:
        if "inherited" in as_object(event.data):
            self._inherited = True
            self._held.clear()
            self._children.clear()
