"""What is wrong with a session: findings with a place, facts for a sentence and what to do about them.

Facts and codes only; the sentences are made in `blocks.wording_doctor`. The advice is in the order in which
a stuck session is to be handled: freeze, note versions, verify, export, resume elsewhere, keep the original.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from time import monotonic
from typing import Any, Final, Literal

import msgspec

from tui.llm.route_book import RouteBook
from tui.nodes.doctor_calls import Calls
from tui.nodes.doctor_failures import Cause, FailedAttempt, FailedTurn, FailureFold
from tui.nodes.doctor_home import read_home, shown_address
from tui.nodes.doctor_versions import Versions, VersionsFold
from tui.nodes.reading import Reading
from tui.session.damage import Damage
from tui.session.events import Event, event_of
from tui.session.rule_error import LogRuleError
from tui.session.rules import RuleChecker
from tui.session.store import Homes

Severity = Literal["error", "warning"]
Advice = Literal[
    "freeze",
    "versions",
    "verify",
    "export",
    "resume",
    "keep",
    "plain-route",
    "series",
    "mend-key",
    "top-up",
    "wait",
    "compact",
    "send-again",
    "configure",
    "plugin",
    "manifest",
    "read-refusal",
    "check-calls",
    "continue-copy",
    "cut-tail",
    "update",
]

_ADVICE: Final[dict[Cause, tuple[Advice, ...]]] = {
    "tool-update-rejected": ("freeze", "versions", "verify", "plain-route", "export", "resume", "keep"),
    "tool-update-suspected": ("freeze", "versions", "verify", "plain-route", "export", "resume", "keep"),
    "all-tools-deferred": ("freeze", "versions", "series", "export", "resume", "keep"),
    "half-characters": ("send-again", "export", "resume", "keep"),
    "orphan-calls": ("check-calls", "export", "resume", "keep"),
    "request-extension": ("freeze", "versions", "manifest", "verify", "keep"),
    "plugin-crash": ("freeze", "versions", "plugin", "verify", "keep"),
    "credentials": ("mend-key",),
    "quota": ("top-up",),
    "rate-limit": ("wait",),
    "context-overflow": ("compact", "resume"),
    "provider-trouble": ("send-again",),
    "not-configured": ("configure",),
    "request-refused": ("versions", "read-refusal", "verify", "export", "resume", "keep"),
    "turn-failed": ("versions", "send-again", "keep"),
}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_REFUSED_DAMAGE: Final = frozenset(("truncated", "version-mismatch", "bad-header"))


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong."""

    code: str
    severity: Severity
    seq: int | None
    """The event that it is about; None where it is no event."""
    fields: dict[str, Any]
    """What its sentence names."""
    advice: tuple[Advice, ...] = ()
    attempts: tuple[FailedAttempt, ...] = ()
    damage: Damage | None = None


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of what was found."""

    findings: tuple[Finding, ...]
    chain: tuple[FailedTurn, ...]
    """Turns with failed requests, in order, those that were mended by a retry included."""
    versions: Versions


def examine(reading: Reading, book: RouteBook | None = None, homes: Homes | None = None) -> Examination:
    """Return what is wrong with a session that was read to its end; the log is read once more."""
    examiner = Examiner(reading, book, homes)
    while not examiner.step(60.0):
        pass
    return examiner.result()


class Examiner:
    """An examination that can be done in slices; `result` once `step` has said that it is done.

    Args:
        reading: the session, read to its end.
        book: what is known of routes here; None: the built-in catalogue alone.
        homes: where a session is found by its id; None: anywhere.
    """

    def __init__(self, reading: Reading, book: RouteBook | None = None, homes: Homes | None = None) -> None:
        self._homes = homes
        self._reading = reading
        self._book = book or RouteBook()
        self._failures = FailureFold(self._lookup, self._book)
        self._calls = Calls()
        self._versions = VersionsFold()
        self._rules = _Rules(reading)
        self._row = 0

    def step(self, seconds: float) -> bool:
        """Look at events for about this long; True when all have been looked at."""
        log, until = self._reading.log, monotonic() + seconds
        while self._row < len(log):
            self._look(self._row)
            self._row += 1
            if monotonic() > until:
                return False
        return True

    def result(self) -> Examination:
        """Return what was found."""
        reading, failures = self._reading, self._failures
        self._calls.finish()
        failed = _failed(failures)
        findings = [
            *failed,
            *_damaged(reading),
            *self._rules.findings(),
            *_half(failures, failed),
            *_orphaned(self._calls, failed),
            *_open(reading),
        ]
        findings.sort(key=lambda finding: finding.severity != "error")
        route = reading.provider, reading.model
        return Examination(
            findings=tuple(findings),
            chain=tuple(failures.turns),
            versions=self._versions.versions(
                reading,
                read_home(reading.log.path),
                downgraded_seq=failures.downgraded.get(route),
                configured=shown_address(self._book.route(*route).route.endpoint),
                homes=self._homes,
            ),
        )

    def _look(self, row: int) -> None:
        raw = self._reading.log.raw(row)
        try:
            event = event_of(raw, row)
        except (ValueError, RecursionError):
            return  # a fault that the log knows of
        self._rules.apply(row, event)
        self._versions.apply(event)
        if _holds_halves(raw):
            self._failures.half_seqs.append(event.seq)
        self._calls.apply(event)
        if self._calls.orphans:
            self._failures.orphans = [orphan.seq for orphan in self._calls.orphans]
        self._failures.apply(event)

    def _lookup(self, seq: int) -> Event:
        log = self._reading.log
        row = log.row_of_seq(seq)
        if row is None:
            raise LookupError(seq)
        return log.event(row)


# -- failures


def _failed(fold: FailureFold) -> list[Finding]:
    """One finding for every run of failed turns of one cause; what a retry mended is only in the chain."""
    runs: list[list[FailedAttempt]] = []
    for turn in fold.turns:
        last = turn.attempts[-1]
        if turn.outcome not in ("error", "", "compaction"):
            continue
        if not turn.outcome and turn.turn in fold.answered:
            continue
        if turn.outcome == "compaction" and fold.last_success > last.seq and last.cause == "turn-failed":
            continue  # the session went on without it
        named = [attempt for attempt in turn.attempts if attempt.cause == _main(turn).cause] or [last]
        if runs and runs[-1][-1].cause == named[-1].cause and not _between(fold, runs[-1][-1], named[0]):
            runs[-1] += named
        else:
            runs.append(named)
    return [_run(fold, run) for run in runs]


def _main(turn: FailedTurn) -> FailedAttempt:
    """The attempt that a turn's failure is named by: what points at a record, else the last."""
    return next((attempt for attempt in turn.attempts if attempt.points), turn.attempts[-1])


def _between(fold: FailureFold, first: FailedAttempt, second: FailedAttempt) -> bool:
    """Whether the model answered a whole turn between two failures."""
    return any(
        first.turn is not None and second.turn is not None and first.turn < turn < second.turn
        for turn in fold.answered
    )


def _run(fold: FailureFold, run: list[FailedAttempt]) -> Finding:
    first, last = run[0], run[-1]
    overcome = fold.last_success > last.seq
    severity: Severity = "warning" if overcome or first.cause == "tool-update-suspected" else "error"
    record = next((attempt.record_seq for attempt in run if attempt.record_seq is not None), None)
    tools = dict.fromkeys(name for attempt in run for name in attempt.tools)
    turns = [attempt.turn for attempt in run if attempt.turn is not None]
    is_pointed = first.cause in (
        "tool-update-rejected",
        "all-tools-deferred",
        "half-characters",
        "orphan-calls",
        "request-refused",
    )
    seq = record if is_pointed and record is not None else first.seq
    return Finding(
        code=first.cause,
        severity=severity,
        seq=seq,
        fields={
            "turns": tuple(dict.fromkeys(turns)),
            "failed": first.seq,
            "record": record,
            "tools": tuple(tools),
            "status": last.status,
            "code": last.code,
            "request_id": last.request_id,
            "message": last.message,
            "overcome": overcome,
            "points": any(attempt.points for attempt in run),
            "path": next((attempt.path for attempt in run if attempt.path), ""),
            "compaction": all(attempt.is_compaction for attempt in run),
        },
        advice=_ADVICE[first.cause],
        attempts=tuple(run),
    )


# -- the log


def _damaged(reading: Reading) -> Iterable[Finding]:
    log = reading.log
    rows = {at: row for row, at in log.index.damaged.items()}
    for at, damage in enumerate(log.damage):
        tail = damage.code == "torn-tail"
        yield Finding(
            code=f"damage-{damage.code}",
            severity="warning" if tail else "error",
            seq=_seq_at(reading, rows.get(at), damage),
            fields={"reason": damage.reason, "line": damage.line},
            advice=("cut-tail", "keep") if tail else _log_advice(damage.code),
            damage=damage,
        )


def _log_advice(code: str) -> tuple[Advice, ...]:
    if code == "unknown-event":
        return ("update", "continue-copy", "keep")
    return ("export", "continue-copy", "resume", "keep")


class _Rules:
    """Why real dsh would refuse the log, if it would: the first reason it meets."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        header = next((damage for damage in reading.log.damage if damage.code in _REFUSED_DAMAGE), None)
        rows, fault = _read_by_dsh(reading)
        self._fault = header or fault
        self._rows = 0 if self._fault is not None else rows
        self._checker = RuleChecker(reading.log.header, reading.log.event)
        self._error: LogRuleError | None = None

    def apply(self, row: int, event: Event) -> None:
        if row < self._rows and self._error is None:
            try:
                self._checker.apply(event)
            except LogRuleError as error:
                self._error = error

    def findings(self) -> Iterable[Finding]:
        if self._fault is not None:
            log = self._reading.log
            row = next((row for row, at in log.index.damaged.items() if log.damage[at] is self._fault), None)
            yield _refusal(_seq_at(self._reading, row, self._fault), "", "", self._fault.reason)
            return
        try:
            if self._error is None:
                self._checker.finish()
        except LogRuleError as error:
            self._error = error
        error = self._error
        if error is not None:
            seq = error.seq if error.seq >= 0 else None
            yield _refusal(seq, str(error.rule) if error.rule else "", error.event_type, error.sentence)


def _refusal(seq: int | None, rule: str, event_type: str, reason: str) -> Finding:
    return Finding(
        code="refused-by-dsh",
        severity="error",
        seq=seq,
        fields={"rule": rule, "type": event_type, "reason": reason},
        advice=("export", "continue-copy", "resume", "keep"),
    )


def _read_by_dsh(reading: Reading) -> tuple[int, Damage | None]:
    """How many rows dsh would take, or the fault for which it takes none (session-format §2.5)."""
    log = reading.log
    faults = [damage for damage in log.damage if damage.code not in ("unknown-event", "bad-event")]
    if not faults:
        return len(log), None
    first = faults[0]
    row = next((row for row, at in log.index.damaged.items() if log.damage[at] is first), None)
    if row is None:
        return 0, first
    if first.code == "torn-tail":
        return row, None
    # A plain log is cut back to the row before the fault unless a turn has ended behind it.
    ended = any(log.type_name(later) == "turn/end" for later in range(row, len(log)))
    dropped = first.code == "bad-row" or first.code.startswith("seq-")
    if dropped and log.source.encoding == "none" and not ended:
        return row, None
    return 0, first


def _seq_at(reading: Reading, row: int | None, damage: Damage) -> int | None:
    """The event that a fault is about: its own, or the one behind a gap or a step back."""
    log = reading.log
    if row is None:
        return None
    seq = log.seq(row)
    if seq < 0 and damage.code.startswith("seq-") and row + 1 < len(log):
        seq = log.seq(row + 1)
    return seq if seq >= 0 else None


def _holds_halves(raw: bytes) -> bool:
    """Whether a line holds an unpaired half of a character, as an escape."""
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return False
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return _SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None


def _half(fold: FailureFold, failed: list[Finding]) -> Iterable[Finding]:
    if not fold.half_seqs or any(finding.code == "half-characters" for finding in failed):
        return
    yield Finding(
        code="half-characters",
        severity="warning",
        seq=fold.half_seqs[0],
        fields={"events": len(fold.half_seqs), "message": "", "turns": (), "status": None, "request_id": ""},
        advice=_ADVICE["half-characters"],
    )


def _orphaned(calls: Calls, failed: list[Finding]) -> Iterable[Finding]:
    refused = any(finding.code == "orphan-calls" for finding in failed)
    for orphan in calls.orphans if not refused else ():
        yield Finding(
            code="orphan-calls",
            severity="warning",
            seq=orphan.seq,
            fields={
                "tools": orphan.names,
                "started": orphan.started,
                "turns": (),
                "message": "",
                "status": None,
                "request_id": "",
            },
            advice=_ADVICE["orphan-calls"],
        )
    if calls.unknown:
        yield Finding(
            code="outcome-unknown",
            severity="warning",
            seq=calls.unknown[-1][0],
            fields={"tools": tuple(dict.fromkeys(name for _, name in calls.unknown if name))},
            advice=("check-calls",),
        )


def _open(reading: Reading) -> Iterable[Finding]:
    turns = reading.turns.turns
    if turns and turns[-1].is_open and not reading.log.damage:
        last = reading.log.seq(len(reading.log) - 1)
        yield Finding(
            code="open-turn",
            severity="warning",
            seq=last if last >= 0 else None,
            fields={"turn": turns[-1].number},
            advice=("check-calls",),
        )
