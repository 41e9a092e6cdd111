"""Failed requests of a session, and what each was refused for: look-alikes told apart.

One pass over the log. A refused request is made again from the log as far as its change blocks go, so that a
provider's error path leads to the record that the refused block came from (loop-and-adapters §3.2, §4.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from tui.llm.errors import ErrorFacts, classify
from tui.llm.projection import Projection, declares_only_deferred, project_tool_updates
from tui.llm.route import CATALOGUE, ToolUpdateMode
from tui.llm.route_book import RouteBook
from tui.llm.wire_places import ErrorPath, error_path, source_of, wire_messages
from tui.nodes.masking import masked
from tui.session.events import Event
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE
from tui.session.request_header import RequestHeader, parse_request_header
from tui.session.stream import finish
from tui.session.surface import Surface, derive_messages, message_of
from tui.session.tool_history import ToolHistory, ToolHistoryFold

Cause = Literal[
    "tool-update-rejected",
    "tool-update-suspected",
    "all-tools-deferred",
    "half-characters",
    "orphan-calls",
    "request-extension",
    "plugin-crash",
    "credentials",
    "quota",
    "rate-limit",
    "context-overflow",
    "provider-trouble",
    "not-configured",
    "request-refused",
    "turn-failed",
]

_BY_CODE: Final[Mapping[str, Cause]] = {
    "REQUEST_EXTENSION": "request-extension",
    "AUTH": "credentials",
    "INVALID_CREDENTIAL": "credentials",
    "MISSING_CREDENTIAL": "credentials",
    "ACCOUNT_TOKEN_INVALID": "credentials",
    "QUOTA": "quota",
    "ACCOUNT_QUOTA": "quota",
    "RATE_LIMIT": "rate-limit",
    "CONTEXT_WINDOW_EXCEEDED": "context-overflow",
    "SERVER": "provider-trouble",
    "TRANSPORT": "provider-trouble",
    "TIMEOUT": "provider-trouble",
    "STREAM_CLOSED": "provider-trouble",
    "EMPTY_RESPONSE": "provider-trouble",
    "MALFORMED_RESPONSE": "provider-trouble",
    "NO_ADAPTER": "not-configured",
    "UNSUPPORTED_REASONING_EFFORT": "not-configured",
    "TOOL_ACTIVATION_FAILED": "plugin-crash",
    "PROMPT_ASSEMBLY_FAILED": "plugin-crash",
    "UNKNOWN": "plugin-crash",
}
_UPDATE_WORDS: Final = re.compile(
    r"tool_addition|tool_removal|tool_reference|defer_loading|mid-conversation-tool-changes", re.IGNORECASE
)
_ALL_DEFERRED: Final = re.compile(
    r"defer.*\b(?:all|every|at least one)\b|\b(?:all|at least one)\b.*defer", re.I
)
_HALVES: Final = re.compile(r"surrogate|unpaired|not valid json|invalid (?:unicode|utf)", re.IGNORECASE)
_PAIRS: Final = re.compile(r"tool_use|tool_result|tool_calls?\b|tool call", re.IGNORECASE)
_MANIFEST: Final = re.compile(r"\bmanifest\b|request extension", re.IGNORECASE)
_DECLARED: Final = re.compile(r"\btools?\s*(?:\.|\[|/)\s*(\d{1,6})\b")
_REFUSED: Final = (400, 413, 415, 422)
_UNSENT: Final = frozenset(("MISSING_CREDENTIAL", "INVALID_CREDENTIAL"))
"""Codes of failures before the request goes out, unless they have a status."""


class Refused(NamedTuple):
    """What a refusal is of."""

    cause: Cause
    record: int | None = None
    """The event that the refused part came from."""
    tools: tuple[str, ...] = ()
    points: bool = False
    """Whether the provider's own path or words lead there."""
    path: str = ""
    """The place that the provider names, where `record` is what stands there."""


class FailedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One request that failed, or a turn that failed before there was one."""

    seq: int
    turn: int | None
    step: int | None = None
    code: str
    status: int | None = None
    request_id: str = ""
    message: str = ""
    cause: Cause
    was_sent: bool = True
    """False: no request had gone out, so no provider was asked."""
    is_compaction: bool = False
    record_seq: int | None = None
    """The event that the refused part of the request came from."""
    tools: tuple[str, ...] = ()
    """Tools of the change blocks that were sent, or of the one that the error points at."""
    points: bool = False
    """Whether the provider's own path or words lead to the record."""
    path: str = ""
    """The place in the request that the provider names, if the record is what stands there."""


class FailedTurn(msgspec.Struct, kw_only=True):
    """One turn with failures, for the chain that is shown turn by turn."""

    turn: int | None
    attempts: list[FailedAttempt] = msgspec.field(default_factory=list[FailedAttempt])
    outcome: str = ""
    """Kind of the turn's end; empty while it is open."""


class FailureFold:
    """Folds whole events in file order; `lookup` gives an event by its seq."""

    def __init__(self, lookup: Callable[[int], Event], book: RouteBook) -> None:
        self.turns: list[FailedTurn] = []
        self.last_success = -1
        """Seq of the latest answer."""
        self.answered: set[int] = set()
        """Turns in which the model answered."""
        self.last_turn: int | None = None
        self.downgraded: dict[tuple[str, str], int] = {}
        """Provider and model of routes that were sent full definitions, and the seq of the record."""
        self.half_seqs: list[int] = []
        """Filled by the examination: where half characters stand."""
        self.orphans: list[int] = []
        """Likewise the seqs of messages whose calls have no result."""
        self._lookup = lookup
        self._book = book
        self._surface = Surface()
        self._history = ToolHistoryFold()
        self._header: RequestHeader | None = None
        self._prompts_in_history = False
        self._turn: int | None = None
        self._accepted: set[str] = set()
        self._seen: ToolHistory | None = None
        self._suspects: list[tuple[frozenset[str], FailedTurn, int]] = []
        self._known: tuple[Any, ...] | None = None
        self._found: Refused | None = None
        self._records: dict[str, int] = {}
        self._handlers: Final[Mapping[str, Callable[[Event, dict[str, Any]], None]]] = {
            "turn/start": self._turn_start,
            "turn/end": self._turn_end,
            "request/header": self._request_header,
            "request/context": self._request_context,
            "developer/message": self._developer,
            "assistant/message": self._answer,
            "assistant/attempt": self._attempt,
            "compaction/end": self._compaction_end,
            TOOL_UPDATE_DOWNGRADE: self._downgrade,
        }

    def apply(self, event: Event) -> None:
        """Fold one event in; any shape of payload is taken."""
        handler = self._handlers.get(event.type)
        if handler is not None:
            handler(event, as_object(event.data))
        self._surface.apply(event)
        self._history.apply(event)

    # -- events

    def _turn_start(self, event: Event, data: dict[str, Any]) -> None:
        self._turn = as_count(data.get("turn"))
        self.last_turn = self._turn

    def _request_header(self, event: Event, data: dict[str, Any]) -> None:
        self._header = parse_request_header(event.seq, data, self._history.pool)

    def _request_context(self, event: Event, data: dict[str, Any]) -> None:
        self._prompts_in_history = data.get("systemPromptUpdate") == "in-history"

    def _developer(self, event: Event, data: dict[str, Any]) -> None:
        self._records[as_text(as_object(data.get("message")).get("id"))] = event.seq

    def _answer(self, event: Event, data: dict[str, Any]) -> None:
        if data.get("interrupted") is True:
            return
        self.last_success = event.seq
        if self._turn is not None:
            self.answered.add(self._turn)
        history = self._history.snapshot()
        if history is self._seen:
            return
        self._seen = history
        self._accepted.update(update.message_id for update in history.updates)
        for ids, turn, at in self._suspects:
            if ids <= self._accepted:
                # The same records were sent again and taken: they were not what was refused.
                turn.attempts[at] = msgspec.structs.replace(
                    turn.attempts[at], cause="request-refused", tools=()
                )
        self._suspects = [suspect for suspect in self._suspects if not suspect[0] <= self._accepted]

    def _attempt(self, event: Event, data: dict[str, Any]) -> None:
        end = finish(data.get("stream"))
        if end is None or end.kind != "error":
            return
        self._add(
            event.seq, as_count(data.get("turn")), as_object(end.failure), step=as_count(data.get("step"))
        )

    def _turn_end(self, event: Event, data: dict[str, Any]) -> None:
        reason = as_object(data.get("reason"))
        turn = as_count(data.get("turn"))
        self._turn = None
        failed = self.turns[-1] if self.turns and self.turns[-1].turn == turn else None
        if reason.get("kind") == "error":
            failure = as_object(reason.get("error"))
            told = masked(as_text(failure.get("message")))
            if failed is None or all(attempt.message != told for attempt in failed.attempts):
                failed = self._add(
                    event.seq, turn, failure, was_sent=as_count(failure.get("status")) is not None
                )
        if failed is not None:
            failed.outcome = as_text(reason.get("kind"))

    def _compaction_end(self, event: Event, data: dict[str, Any]) -> None:
        error = data.get("error")
        if isinstance(error, str):
            failed = self._add(event.seq, as_count(data.get("turn")), {"message": error}, is_compaction=True)
            if failed.turn is None:
                failed.outcome = "compaction"

    def _downgrade(self, event: Event, data: dict[str, Any]) -> None:
        route = as_text(data.get("provider")), as_text(data.get("model"))
        if data.get("to") == "none":
            self.downgraded[route] = event.seq
        else:
            self.downgraded.pop(route, None)

    # -- failures

    def _add(
        self,
        seq: int,
        turn: int | None,
        failure: Mapping[str, Any],
        *,
        step: int | None = None,
        was_sent: bool = True,
        is_compaction: bool = False,
    ) -> FailedTurn:
        message, code = as_text(failure.get("message")), as_text(failure.get("code")) or "UNKNOWN"
        status = as_count(failure.get("status"))
        found = self._cause(code, status, message, is_compaction=is_compaction)
        cause = found.cause
        unsent = cause in ("request-extension", "plugin-crash", "not-configured") or code in _UNSENT
        attempt = FailedAttempt(
            seq=seq,
            turn=turn,
            step=step,
            code="" if is_compaction else code,
            status=status,
            request_id=as_text(failure.get("requestId")),
            message=masked(message),
            cause=cause,
            was_sent=was_sent and (status is not None or not unsent),
            is_compaction=is_compaction,
            record_seq=found.record,
            tools=found.tools,
            points=found.points,
            path=found.path,
        )
        if not self.turns or self.turns[-1].turn != turn or (turn is None and is_compaction):
            self.turns.append(FailedTurn(turn=turn))
        failed = self.turns[-1]
        failed.attempts.append(attempt)
        if cause == "tool-update-suspected":
            ids = frozenset(update.message_id for update in self._history.snapshot().updates)
            self._suspects.append((ids, failed, len(failed.attempts) - 1))
        return failed

    def _cause(self, code: str, status: int | None, message: str, *, is_compaction: bool) -> Refused:
        if status is None and _MANIFEST.search(message) and code in ("UNKNOWN", "REQUEST_EXTENSION"):
            return Refused("request-extension")
        if is_compaction:
            if _UPDATE_WORDS.search(message) or error_path(message) is not None:
                return self._refused(message)
            return Refused("turn-failed")
        if status is not None and (code == "UNKNOWN" or code not in _BY_CODE):
            # Another program's code, or one of no meaning: the answer itself tells more.
            code = classify(status, ErrorFacts("", "", message))
        cause = _BY_CODE.get(code)
        if cause is not None:
            return Refused(cause)
        if status in _REFUSED or code == "INVALID_REQUEST":
            return self._refused(message)
        return Refused("request-refused" if code.startswith("HTTP_") else "turn-failed")

    def _refused(self, message: str) -> Refused:
        """Tell why a request was refused; the same refusal of the same history is not looked at again."""
        history = self._history.snapshot()
        key = (message, len(history.updates), history.baseline, self._surface.content_generation)
        if self._known != key or self._found is None:
            self._known, self._found = key, self._examined(message, history)
        return self._found

    def _examined(self, message: str, history: ToolHistory) -> Refused:
        messages = derive_messages(self._surface, self._lookup)
        active = self._header.tools if self._header is not None else ()
        path, says_updates = error_path(message), _UPDATE_WORDS.search(message) is not None
        sent: Projection | None = None
        elsewhere: Mapping[str, Any] | None = None
        for mode in self._modes(says_updates=says_updates):
            projected = project_tool_updates(messages, active or None, mode, history)
            is_likely, sent = sent is None, sent or projected
            if declares_only_deferred(projected.tools) and _ALL_DEFERRED.search(message):
                names = tuple(tool.name for tool in projected.tools or ())
                return Refused("all-tools-deferred", history.baseline, names, points=True)
            if path is None:
                continue
            wire = wire_messages(projected.messages, prompts_in_history=self._prompts_in_history)
            place = source_of(wire, path)
            at = projected.messages[place.message] if place is not None else None
            if place is not None and at is not None and at.get("role") == "developer":
                block = as_array(at.get("content"))[place.block]
                name = as_text(as_object(block).get("toolName"))
                names = _changed(at) if path.content is None or not name else (name,)
                seq = self._records.get(as_text(at.get("id")))
                return Refused("tool-update-rejected", seq, names, points=True, path=_told(path))
            if is_likely:
                elsewhere = at
        return self._not_a_change(message, sent, elsewhere, path, says_updates=says_updates)

    def _not_a_change(
        self,
        message: str,
        sent: Projection | None,
        elsewhere: Mapping[str, Any] | None,
        path: ErrorPath | None,
        *,
        says_updates: bool,
    ) -> Refused:
        """What a refusal is of that does not point at a change block by its place."""
        records = [
            entry for entry in (sent.messages if sent is not None else ()) if entry.get("role") == "developer"
        ]
        names = tuple(dict.fromkeys(name for entry in records for name in _changed(entry)))
        last = self._records.get(as_text(records[-1].get("id"))) if records else None
        if says_updates:
            return Refused("tool-update-rejected", last, names, points=True)
        at = self._seq_of(elsewhere)
        place = _told(path) if path is not None and at is not None else ""
        if _HALVES.search(message) and self.half_seqs:
            pointed = at in self.half_seqs
            return Refused("half-characters", at if pointed else self.half_seqs[0], points=True)
        if _PAIRS.search(message) and self.orphans:
            pointed = at in self.orphans
            return Refused("orphan-calls", at if pointed else self.orphans[-1], points=True)
        ids = {as_text(entry.get("id")) for entry in records}
        if ids and not ids <= self._accepted and elsewhere is None:
            return Refused("tool-update-suspected", last, names)
        if at is not None:
            return Refused("request-refused", at, points=True, path=place)
        declared = _DECLARED.search(message)
        tools = (sent.tools if sent is not None else None) or ()
        if declared is not None and self._header is not None and int(declared[1]) < len(tools):
            number = int(declared[1])
            named = (tools[number].name,)
            return Refused("request-refused", self._header.seq, named, points=True, path=f"tools.{number}")
        return Refused("request-refused")

    def _seq_of(self, message: Mapping[str, Any] | None) -> int | None:
        """The event that a derived message came from."""
        wanted = as_text(message.get("id")) if message is not None else ""
        for seq in self._surface if wanted else ():
            try:
                if message_of(self._lookup(seq)).get("id") == wanted:
                    return seq
            except LookupError:
                continue
        return None

    def _modes(self, *, says_updates: bool) -> list[ToolUpdateMode]:
        """The update modes to try, the likeliest first; the log does not record the one in force."""
        if self._header is None:
            return ["addition-only", "in-history"]
        known = self._book.route(self._header.provider, self._header.model)
        is_known = known.source != "assumed" or self._header.model in CATALOGUE
        likely: ToolUpdateMode = known.mode if is_known else "addition-only"
        if (self._header.provider, self._header.model) in self.downgraded:
            likely = None
        if likely is None and not says_updates:
            return [None]
        others: list[ToolUpdateMode] = ["addition-only", "in-history"]
        return others if likely is None else [likely, *(mode for mode in others if mode != likely)]


def _told(path: ErrorPath) -> str:
    """A place as providers write it."""
    return f"messages.{path.message}" + ("" if path.content is None else f".content.{path.content}")


def _changed(message: Mapping[str, Any]) -> tuple[str, ...]:
    blocks = map(as_object, as_array(message.get("content")))
    return tuple(as_text(block.get("toolName")) for block in blocks if block.get("toolName"))
