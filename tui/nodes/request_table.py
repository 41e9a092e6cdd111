"""The list of requests as values: each row made when it is looked at, and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import ModeSource, RouteBook
from tui.nodes.request_diff import Lens, Prefix, lens_of, lenses, prefix_of
from tui.nodes.request_projection import ProjectedRequest, Sent, project_sent, sent_as
from tui.nodes.requests import RecordedRequest, RequestPlace, Requests
from tui.nodes.trajectory import RowStatus, RowUsage, trajectory_row
from tui.nodes.trajectory_index import RowFlag
from tui.session.tool_changes import HeaderChange

_AHEAD: Final = 20
"""Rows on either side of one that are made with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRow:
    """One request on its own route."""

    place: RequestPlace
    provider: str
    model: str
    mode: ToolUpdateMode
    source: ModeSource
    sent: Sent
    """How it was sent; `mode` and `source` are its."""
    messages: int
    declared: int
    deferred: int
    prefix: Prefix
    usage: RowUsage | None
    """What the provider counted, if the log tells."""
    status: RowStatus
    error_code: str

    @property
    def cache_share(self) -> float | None:
        """Share of the input that the provider took from its cache, 0 to 1."""
        used = self.usage
        total = used.input + used.cache_read + used.cache_write if used is not None else 0
        return used.cache_read / total if used is not None and total else None


class RequestTable:
    """Rows and lenses of all requests of a session."""

    def __init__(self, requests: Requests, book: RouteBook | None = None) -> None:
        self.requests = requests
        self.book = book or RouteBook()
        self._rows: dict[int, RequestRow] = {}
        self._lenses: tuple[int, dict[ToolUpdateMode, Lens]] = (0, {})

    def __len__(self) -> int:
        return len(self.requests)

    def row(self, n: int) -> RequestRow:
        """Return a row. Raises IndexError for a number that there is not."""
        if self._is_open(n):
            return self._made(*self.pair(n))
        if n not in self._rows:
            self.requests.place(n)
            self._fill(max(1, n - _AHEAD), min(len(self), n + _AHEAD))
        return self._rows[n]

    def _fill(self, first: int, last: int) -> None:
        """Make the rows around one in one walk: the neighbours are looked at next, and cost little then."""
        before: RecordedRequest | None = None
        for now in self.requests.walk(max(1, first - 1)):
            n = now.place.n
            if n > last:
                return
            if n >= first and not self._is_open(n):
                self._rows[n] = self._made(before, now)
            before = now

    def pair(self, n: int, base: int | None = None) -> tuple[RecordedRequest | None, RecordedRequest]:
        """Return the request to compare one with, by default the one before it, and that one."""
        now = self.requests.request(n)
        before = base if base is not None else n - 1
        return (self.requests.request(before) if before >= 1 else None), now

    def as_sent(self, request: RecordedRequest) -> ProjectedRequest:
        """Return a request as its own route was sent it."""
        return project_sent(request, sent_as(self.book, request))

    def compared(self, n: int, base: int | None = None) -> tuple[ProjectedRequest | None, Lens]:
        """Return the request to compare one with, and that one beside it, each as it was sent."""
        before, now = self.pair(n, base)
        earlier = self.as_sent(before) if before is not None else None
        return earlier, lens_of(self.requests, earlier, self.as_sent(now))

    def lenses(self, n: int) -> dict[ToolUpdateMode, Lens]:
        """Return a request under every mode, beside the one before it."""
        if self._lenses[0] == n:
            return self._lenses[1]
        found = lenses(self.requests, *self.pair(n))
        if not self._is_open(n):
            self._lenses = (n, found)
        return found

    def with_tool_change(self) -> list[int]:
        """Return the numbers of the requests that are the first ones after a change of the tools."""
        tools = self.requests.reading.tools
        seqs = [change.seq for change in tools.header_changes if _is_change(change)]
        numbers = {n for seq in seqs if (n := self.requests.number_after(seq)) is not None}
        return sorted(numbers)

    def failed(self) -> list[int]:
        """Return the numbers of the requests that brought no answer."""
        flags = self.requests.reading.trajectory.index.flags
        bad = RowFlag.ERROR | RowFlag.UNANSWERED
        return [n for n in range(1, len(self) + 1) if flags[self.requests.place(n).index] & bad]

    def first_of_turns(self) -> list[int]:
        """Return the numbers of the requests that are the first ones of their turns."""
        found: list[int] = []
        before: int | None = None
        for n in range(1, len(self) + 1):
            turn = self.requests.place(n).turn
            if turn != before and turn is not None:
                found.append(n)
                before = turn
        return found

    def _is_open(self, n: int) -> bool:
        """Tell whether a row can still change: the last one of a session that is being written."""
        return n >= len(self) and not self.requests.reading.complete

    def _made(self, before: RecordedRequest | None, now: RecordedRequest) -> RequestRow:
        sent = sent_as(self.book, now)
        projected = project_sent(now, sent)
        earlier = self.as_sent(before) if before is not None else None
        row = trajectory_row(self.requests.reading, now.place.index)
        return RequestRow(
            place=now.place,
            provider=now.provider,
            model=now.model,
            mode=sent.mode,
            source=sent.source,
            sent=sent,
            messages=len(projected.messages),
            declared=len(projected.declared),
            deferred=len(projected.deferred),
            prefix=prefix_of(self.requests, earlier, projected),
            usage=row.usage,
            status=row.status,
            error_code=row.error_code,
        )


def _is_change(change: HeaderChange) -> bool:
    return bool(change.added or change.removed or change.redefined)
