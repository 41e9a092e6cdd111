"""Two requests compared as a provider's cache sees them (CONTRACT, "requests").

The cached order is plain declarations, system text, messages: a difference in an earlier part keeps nothing
of the later ones. Deferred declarations do not count. Tokens are estimated as in loop-and-adapters §7.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tui.llm.projection import Message, Tools
from tui.llm.route import ToolUpdateMode
from tui.llm.tokens import message_tokens, tools_tokens
from tui.nodes.request_projection import MODES, ProjectedRequest, project
from tui.nodes.requests import RecordedRequest, Requests
from tui.session.tool_definition import by_name

Cause = Literal[
    "first",
    "model",
    "system-prompt",
    "tools-redefined",
    "tools-changed",
    "series",
    "surface",
    "compaction",
    "image-offload",
]
Part = Literal["model", "declarations", "system", "messages"]
Switch = Literal["fallback", "again"]
"""To full definitions in place of tool changes that the route refused, or back to what it declares."""
CAUSES: Final[tuple[Cause, ...]] = (
    "first",
    "model",
    "system-prompt",
    "tools-redefined",
    "tools-changed",
    "series",
    "surface",
    "compaction",
    "image-offload",
)


_OF_DECLARATIONS: Final = frozenset[Cause](("model", "tools-redefined", "tools-changed", "series"))


@dataclass(frozen=True, slots=True)
class Prefix:
    """What of the request before still stands at the beginning of a request."""

    kept_messages: int
    """How many messages at the beginning are the same, the system prompt's own included."""
    broken_at: Part | None
    """The first part that differs; None where the request before is kept whole, and for the first one."""
    causes: tuple[Cause, ...]
    """Why it is not kept whole, in the order of `CAUSES`; empty where it is."""
    switch: Switch | None = None
    """The route is sent tool changes in another way than in the request before, which breaks it too."""
    stands_for_switch: bool = False
    """`tools-changed` among the causes means the switch: no tool changed."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Estimates for one request against the one before it."""

    kept: int
    """At the beginning, the same as before: what a cache can give."""
    rest: int
    """From the first difference on."""
    lost: int
    """Of the request before, from the first difference on: what was cached and is no use any more."""

    @property
    def total(self) -> int:
        """The whole request."""
        return self.kept + self.rest


def prefix_of(requests: Requests, before: ProjectedRequest | None, now: ProjectedRequest) -> Prefix:
    """Return what of `before` a request keeps, and why not all of it."""
    if before is None:
        return Prefix(0, None, ("first",))
    kept, broken_at = _common(before, now)
    if broken_at is None:
        return Prefix(kept, None, ())
    found = set[Cause](_causes(requests, before, now))
    switch = switch_of(before, now)
    # The closed list has no word for a switch: declarations that differ by it alone are tools that changed.
    is_declared = switch is not None and broken_at == "declarations"
    is_unexplained = not found & _OF_DECLARATIONS if is_declared else not found
    if is_unexplained:
        # Nothing was recorded that explains it: what is left is what was done to the surface.
        found.add("surface" if broken_at == "messages" and switch is None else "tools-changed")
    causes: tuple[Cause, ...] = tuple(cause for cause in CAUSES if cause in found)
    return Prefix(kept, broken_at, causes, switch, switch is not None and is_unexplained)


def switch_of(before: ProjectedRequest, now: ProjectedRequest) -> Switch | None:
    """Return how one route is sent tool changes otherwise than in the request before; None: the same way."""
    earlier, later = before.request, now.request
    if (earlier.provider, earlier.model) != (later.provider, later.model) or before.mode == now.mode:
        return None
    if now.mode is None:
        return "fallback"
    return "again" if before.mode is None else None


def tokens_of(before: ProjectedRequest | None, now: ProjectedRequest, prefix: Prefix) -> Tokens:
    """Return estimates of what is kept, sent anew, and lost."""
    total = request_tokens(now)
    if before is None or prefix.broken_at in ("model", "declarations"):
        return Tokens(0, total, request_tokens(before) if before is not None else 0)
    head = tools_tokens(now.plain)
    if prefix.broken_at == "system":
        return Tokens(head, total - head, request_tokens(before) - head)
    kept = head + _history_tokens(now, prefix.kept_messages)
    return Tokens(kept, total - kept, max(0, request_tokens(before) - kept))


def request_tokens(request: ProjectedRequest) -> int:
    """Return the estimate for a whole request.

    A deferred declaration counts once a message of the request offers it.
    """
    return tools_tokens(request.plain) + _history_tokens(request, len(request.messages))


def _history_tokens(request: ProjectedRequest, count: int) -> int:
    """Return the estimate for the first messages, with the deferred declarations that they offer."""
    messages = request.messages[:count]
    tokens = sum(map(message_tokens, messages))
    deferred = [tool for tool in request.tools or () if tool.defer_loading]
    if not deferred:
        return tokens
    offered = {
        block.get("toolName")
        for message in messages
        if message.get("role") == "developer"
        for block in message.get("content", ())
        if block.get("type") == "tool-addition"
    }
    return tokens + tools_tokens([tool for tool in deferred if tool.name in offered])


@dataclass(frozen=True, slots=True)
class Lens:
    """One request under one mode, beside the same request under the others."""

    projected: ProjectedRequest
    prefix: Prefix
    tokens: Tokens


def lenses(
    requests: Requests,
    before: RecordedRequest | None,
    now: RecordedRequest,
    modes: Sequence[ToolUpdateMode] = MODES,
) -> dict[ToolUpdateMode, Lens]:
    """Return a request under each mode, compared with the request before under the same mode."""
    found: dict[ToolUpdateMode, Lens] = {}
    for mode in modes:
        earlier = project(before, mode) if before is not None else None
        found[mode] = lens_of(requests, earlier, project(now, mode))
    return found


def lens_of(requests: Requests, before: ProjectedRequest | None, now: ProjectedRequest) -> Lens:
    """Return a request beside another one."""
    prefix = prefix_of(requests, before, now)
    return Lens(now, prefix, tokens_of(before, now, prefix))


def changes_tools(before: RecordedRequest | None, now: RecordedRequest) -> bool:
    """Tell whether the active tools differ from those of the request before."""
    return before is not None and before.tools != now.tools


def _common(before: ProjectedRequest, now: ProjectedRequest) -> tuple[int, Part | None]:
    if (before.request.provider, before.request.model) != (now.request.provider, now.request.model):
        return 0, "model"
    if not _same_tools(before.plain, now.plain):
        return 0, "declarations"
    if before.system_text() != now.system_text():
        return 0, "system"
    kept = common_messages(before.messages, now.messages)
    return kept, None if kept == len(before.messages) else "messages"


def common_messages(before: Sequence[Message], now: Sequence[Message]) -> int:
    """Return how many messages at the beginning are the same."""
    least = min(len(before), len(now))
    if before[:least] == now[:least]:
        return least
    return next(at for at in range(least) if before[at] != now[at])


def _same_tools(before: Tools, now: Tools) -> bool:
    return before is now or before == now


def _causes(requests: Requests, before: ProjectedRequest, now: ProjectedRequest) -> Iterable[Cause]:
    earlier, later = sorted((before.request, now.request), key=_number)
    if (earlier.provider, earlier.model) != (later.provider, later.model):
        yield "model"
    if before.system_text() != now.system_text():
        yield "system-prompt"
    had, has = by_name(earlier.tools or ()), by_name(later.tools or ())
    if any(had[name] != tool for name, tool in has.items() if name in had):
        yield "tools-redefined"
    if had.keys() != has.keys() or (list(had) != list(has) and not _same_tools(before.plain, now.plain)):
        yield "tools-changed"
    yield from _series(requests, earlier, later)
    yield from _surface(requests, earlier, later)


def _number(request: RecordedRequest) -> int:
    return request.place.n


def _series(requests: Requests, earlier: RecordedRequest, later: RecordedRequest) -> Iterable[Cause]:
    first, last = earlier.place.seq, later.place.seq
    for start in requests.reading.tools.series:
        if first < start.start_seq < last:
            if start.cause in ("series", "starts-series"):
                yield "series"
            elif start.cause == "redefined":
                yield "tools-redefined"


def _surface(requests: Requests, earlier: RecordedRequest, later: RecordedRequest) -> Iterable[Cause]:
    log = requests.log
    if "compaction" in (earlier.place.kind, later.place.kind):
        yield "compaction"
    since, until = log.nodes_before(earlier.place.row), log.nodes_before(later.place.row)
    replaced = requests.replaced
    for node in range(since, until):
        if node in replaced:
            if log.is_checkpoint(node):
                yield "compaction"
            elif not log.is_system(node):
                yield "surface"
    if log.offloads.between(earlier.place.row, later.place.row):
        yield "image-offload"
