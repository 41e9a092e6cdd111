"""What a log tells of requests that were not sent as their route declares it (loop-and-adapters §8.2).

A route that refuses tool changes is sent full definitions: at once in the same step, and from then on. A
record of ours tells that once it succeeded, after the answer it is about. Before that, and where nothing
succeeded, the order of the events alone tells: a request that follows a refusal at once, with no retry
announced, is another try.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tui.llm.failure import is_refusal
from tui.nodes.dated import Dated
from tui.session.events import Event
from tui.session.json_value import as_count, as_object, as_text
from tui.session.log import UNKNOWN_CODE, SessionLog
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE, Downgrade, downgrade_of
from tui.session.records import CODES
from tui.session.stream import finish

_ATTEMPT: Final = CODES["assistant/attempt"]
_MESSAGE: Final = CODES["assistant/message"]
_RETRY: Final = CODES["llm/retry"]
_COMPACTION: Final = CODES["compaction/start"]
_COMPACTION_END: Final = CODES["compaction/end"]
_OFFLOAD: Final = CODES["image/offload"]
_STEP_ENDS: Final = frozenset(
    CODES[name] for name in ("step/start", "step/end", "turn/start", "turn/end", "session/end-seed")
)


class Told(NamedTuple):
    """What a log tells of how a request was sent."""

    mode: str | None = None
    """The tool update mode that a record names for its route; None: no record does."""
    prompts_refused: bool = False
    """A record tells that the route takes no later prompts inside the history."""
    refusals: int = 0
    """How many times the same request was refused just before, in the same step."""
    is_recorded: bool = False
    """A record tells what came of those refusals; without one it is only likely."""


NOTHING_TOLD: Final = Told()


class Fallbacks:
    """Look-ups over one log; takes in what a session that is being written has grown by."""

    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self._seen = 0
        self._records: dict[tuple[str, str], Dated[Downgrade]] = {}
        self._tries: dict[int, int] = {}
        """Refusals before a request, by its row."""
        self._recorded: set[int] = set()
        self._step: list[int] = []
        """Rows of this step's requests that followed refusals."""
        self._refusals = 0
        self._is_next = False
        """The last request of the step was refused, and nothing but another try explains one more."""
        self._failure: dict[str, Any] = {}
        """Of the step's last request."""
        self._compaction = -1

    def extend(self) -> None:
        """Take in the rows that were read since; costs nothing where nothing was refused."""
        index = self._log.index
        types, until = index.types, len(index.types)
        if not self._is_next and not self._refusals and self._compaction < 0:
            self._seen = self._first_of_interest()
        for row in range(self._seen, until):
            code = types[row]
            if code in (_ATTEMPT, _MESSAGE):
                self._request(row, is_attempt=code == _ATTEMPT)
            elif code in _STEP_ENDS:
                self._begin()
            elif code == _RETRY:
                self._retry(self._log.event(row))
            elif code == _COMPACTION:
                self._is_next, self._compaction = False, row
            elif code == _COMPACTION_END:
                self._compaction = -1
            elif code == _OFFLOAD:
                self._is_next = False
            elif code == UNKNOWN_CODE:
                self._own_record(row)
        self._seen = until

    def told(self, provider: str, model: str, row: int) -> Told:
        """Return what is told of a request at a row, its route being a provider's model."""
        mode, prompts = None, False
        records = self._records.get((provider, model))
        if records is not None:
            before = records.before(row)
            mode = before.now if before is not None else records.facts[0].before
            prompts = before is not None and before.is_on and before.prompts_refused
        refusals = self._tries.get(row, 0)
        return Told(mode, prompts, refusals, row in self._recorded)

    def _first_of_interest(self) -> int:
        """The first new row that any of this could begin at."""
        types = self._log.index.types
        attempt = types.find(_ATTEMPT, self._seen)
        first = attempt if attempt >= 0 else len(types)
        first = min((row for row in self._log.index.unknown if self._seen <= row < first), default=first)
        # A record may stand inside a compaction that began before it.
        begun = types.rfind(_COMPACTION, self._seen, first)
        return begun if begun >= 0 else first

    def _begin(self) -> None:
        self._step, self._refusals, self._is_next, self._failure = [], 0, False, {}

    def _request(self, row: int, *, is_attempt: bool) -> None:
        self._refusals += self._is_next
        if self._refusals:
            self._tries[row] = self._refusals
            self._step.append(row)
        self._is_next, self._failure = False, {}
        if is_attempt:
            end = finish(as_object(self._log.event(row).data).get("stream"))
            failure = as_object(end.failure) if end is not None and end.kind == "error" else {}
            self._failure = failure
            self._is_next = is_refusal(as_text(failure.get("code")), as_count(failure.get("status")))

    def _retry(self, event: Event) -> None:
        """An announced retry goes on as the last try did, unless it is the first refusal that is retried."""
        if as_object(as_object(event.data).get("failure")) != self._failure:
            self._refusals = 0
        self._is_next = False

    def _own_record(self, row: int) -> None:
        unknown = self._log.unknown(row)
        if unknown is None or unknown.type_name != TOOL_UPDATE_DOWNGRADE:
            return
        event = self._log.event(row)
        record = downgrade_of(event.type, event.data, ignorable=event.ignorable)
        if record is None:
            return
        self._records.setdefault((record.provider, record.model), Dated()).add(row, record)
        if record.reason != "refused" or not record.is_on:
            return
        if self._compaction >= 0:
            # Its one number stands for the try that gave the summary.
            self._tries[self._compaction] = 1 + record.prompts_refused
            self._recorded.add(self._compaction)
        self._recorded.update(self._step)
