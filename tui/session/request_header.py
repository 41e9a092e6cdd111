"""Request headers and request contexts, and which of them is in force at a place of the log.

Both are whole snapshots and the latest one counts (session-format §4.3).
"""

from bisect import bisect_right
from typing import Any, Generic, TypeVar

import msgspec

from tui.session.fold import EventLike
from tui.session.json_value import as_count, as_object, as_text
from tui.session.tool_definition import DefinitionPool, ToolDefinition

_Snapshot = TypeVar("_Snapshot")


class RequestHeader(msgspec.Struct, frozen=True):
    """The settings and tools of the requests from `seq` on."""

    seq: int
    config: dict[str, Any]
    """Effective call settings; provider and model, the rest optional."""
    adapter_defaults: frozenset[str]
    """Keys of the config that the adapter filled in."""
    tools: tuple[ToolDefinition, ...]
    reason: str
    starts_series: bool

    @property
    def provider(self) -> str:
        """The provider's name; empty if the log has none."""
        return as_text(self.config.get("provider"))

    @property
    def model(self) -> str:
        """The model's name; empty if the log has none."""
        return as_text(self.config.get("model"))


class RequestContext(msgspec.Struct, frozen=True):
    """The route's own facts from `seq` on."""

    seq: int
    provider: str
    model: str
    context_window: int | None
    """In tokens."""
    system_prompt_update: str | None
    """`in-history` if the route takes later system messages inside the history."""


def parse_request_header(seq: int, data: object, pool: DefinitionPool | None = None) -> RequestHeader:
    """Return the header of a `request/header` event's data; what is missing or misshapen reads as empty."""
    fields = as_object(data)
    header = as_object(fields.get("header"))
    return RequestHeader(
        seq=seq,
        config=as_object(header.get("config")),
        adapter_defaults=frozenset(
            key for key, marked in as_object(header.get("adapterDefaults")).items() if marked is True
        ),
        tools=(pool or DefinitionPool()).tools(header, _ignore),
        reason=as_text(fields.get("reason")),
        starts_series=bool(fields.get("startsSeries")),
    )


def parse_request_context(seq: int, data: object) -> RequestContext:
    """Return the context of a `request/context` event's data; what is misshapen reads as absent."""
    fields = as_object(data)
    return RequestContext(
        seq=seq,
        provider=as_text(fields.get("provider")),
        model=as_text(fields.get("model")),
        context_window=as_count(fields.get("contextWindow")),
        system_prompt_update=as_text(fields.get("systemPromptUpdate")) or None,
    )


class RequestIndex:
    """Incremental fold that answers which header and context are in force at a seq."""

    __slots__ = ("_contexts", "_headers", "_pool")

    def __init__(self, *, pool: DefinitionPool | None = None) -> None:
        self._pool = pool or DefinitionPool()
        self._headers: _Timeline[RequestHeader] = _Timeline()
        self._contexts: _Timeline[RequestContext] = _Timeline()

    def apply(self, event: EventLike) -> None:
        """Fold one event in; only request headers and contexts matter."""
        if event.type == "request/header":
            self.apply_header(event.seq, event.data)
        elif event.type == "request/context":
            self.apply_context(event.seq, event.data)

    def apply_header(self, seq: int, data: object) -> RequestHeader:
        """Add a request header and return it parsed."""
        header = parse_request_header(seq, data, self._pool)
        self._headers.add(seq, header)
        return header

    def apply_context(self, seq: int, data: object) -> RequestContext:
        """Add a request context and return it parsed."""
        context = parse_request_context(seq, data)
        self._contexts.add(seq, context)
        return context

    def header_in_force(self, seq: int) -> RequestHeader | None:
        """Return the last header at or before a seq."""
        return self._headers.in_force(seq)

    def context_in_force(self, seq: int) -> RequestContext | None:
        """Return the last context at or before a seq."""
        return self._contexts.in_force(seq)

    def header_before(self, seq: int) -> RequestHeader | None:
        """Return the last header before a seq, for comparing a header with the one it follows."""
        return self._headers.in_force(seq - 1)

    @property
    def headers(self) -> list[RequestHeader]:
        """All headers by seq."""
        return self._headers.snapshots

    @property
    def contexts(self) -> list[RequestContext]:
        """All contexts by seq."""
        return self._contexts.snapshots


class _Timeline(Generic[_Snapshot]):
    """Snapshots sorted by seq; of two with one seq the later one counts."""

    __slots__ = ("_seqs", "snapshots")

    def __init__(self) -> None:
        self._seqs: list[int] = []
        self.snapshots: list[_Snapshot] = []

    def add(self, seq: int, snapshot: _Snapshot) -> None:
        at = bisect_right(self._seqs, seq)  # the end, except in a log whose seqs go back
        self._seqs.insert(at, seq)
        self.snapshots.insert(at, snapshot)

    def in_force(self, seq: int) -> _Snapshot | None:
        at = bisect_right(self._seqs, seq)
        return self.snapshots[at - 1] if at else None


def _ignore(detail: str) -> None:
    """A misshapen tool is reported once, by the fold of the tool history."""
