"""A recorded request as a route is sent it, and where that can only be approximate.

The route's tool update mode decides (loop-and-adapters §3.2); the mode that the log was recorded under also
decided how prompts were changed and when a series began (§2.1), which no other mode can undo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from tui.llm.projection import Message, Tools, declares_only_deferred, project_tool_updates
from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import ModeSource, RouteBook
from tui.nodes.fallbacks import Told
from tui.nodes.requests import RecordedRequest, Requests
from tui.session.json_value import as_array, as_object, as_text

MODES: Final[tuple[ToolUpdateMode, ...]] = (None, "addition-only", "in-history")

Doubt = Literal[
    "header",
    "context",
    "instruction",
    "limit",
    "range",
    "damage",
    "image-bytes",
    "later-prompt",
    "other-series",
    "only-deferred",
    "another-try",
]


@dataclass(frozen=True, slots=True)
class Sent:
    """How a request's own route was sent it."""

    mode: ToolUpdateMode
    source: ModeSource = "catalog"
    written_for: ToolUpdateMode | Literal["same"] = "same"
    """The mode that the log was written under; another one where this is the try after a refusal."""
    prompts_refused: bool = False
    """Later prompts were gathered into one before all messages, whatever `request/context` tells."""
    is_guess: bool = False
    """It followed a refusal, and no record tells what it was sent as."""

    @property
    def recorded(self) -> ToolUpdateMode:
        """The mode that decided how prompts were recorded."""
        return self.mode if self.written_for == "same" else self.written_for

    @property
    def is_fallback(self) -> bool:
        """It is a try after a refusal."""
        return self.written_for != "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedRequest:
    """Messages and declarations of one request under one mode."""

    request: RecordedRequest
    mode: ToolUpdateMode
    messages: list[Message]
    tools: Tools | None

    @property
    def declared(self) -> list[str]:
        """Names that are declared plainly, in order."""
        return [tool.name for tool in self.tools or () if not tool.defer_loading]

    @property
    def deferred(self) -> list[str]:
        """Names that are declared deferred, in order."""
        return [tool.name for tool in self.tools or () if tool.defer_loading]

    @property
    def plain(self) -> Tools:
        """The declarations that stand at the head of what a provider caches."""
        tools = self.tools or ()
        if not any(tool.defer_loading for tool in tools):
            return tools
        return tuple(tool for tool in tools if not tool.defer_loading)

    @property
    def in_history(self) -> bool:
        """Whether later prompts stand inside the history."""
        return self.request.system_prompt_update == "in-history"

    def changes(self) -> tuple[int, int]:
        """Return how many additions and removals the messages tell."""
        kinds = [as_object(block).get("type") for message in self.developer() for block in _blocks(message)]
        return kinds.count("tool-addition"), kinds.count("tool-removal")

    def developer(self) -> Iterator[Message]:
        """Yield the messages that tell tool changes."""
        return (message for message in self.messages if message.get("role") == "developer")

    def system_text(self) -> str:
        """Return the system prompt that stands before the messages."""
        shape = self.request.shape
        counted = shape.systems[: shape.head] if self.in_history else shape.systems
        if not counted:
            return ""
        blocks = _blocks(self.request.messages[counted[-1]])
        return "".join(as_text(as_object(block).get("text")) for block in blocks)


def sent_as(book: RouteBook, request: RecordedRequest) -> Sent:
    """Return how a request's own route was sent it, and how that is known.

    A record in the log, of a route that refused tool changes, tells more than any catalogue. Where a request
    followed a refusal in the same step, what the loop does then is taken to have been done (§8.2).
    """

    def carries(mode: ToolUpdateMode) -> bool:
        tried = project(request, mode)
        return bool(tried.deferred) or any(tried.changes())

    mode, source = known_mode(book, request.provider, request.model, request.told)
    fallen = fall_back(mode, request.told, carries)
    prompts_refused = request.told.prompts_refused
    if fallen.left and fallen.limited and request.shape.has_later_prompts:
        prompts_refused = True
    if fallen.mode == mode and prompts_refused == request.told.prompts_refused:
        return Sent(mode, source, prompts_refused=prompts_refused)
    return Sent(
        fallen.mode,
        source if request.told.is_recorded else "assumed",
        written_for=mode,
        prompts_refused=prompts_refused,
        is_guess=not request.told.is_recorded,
    )


def known_mode(book: RouteBook, provider: str, model: str, told: Told) -> tuple[ToolUpdateMode, ModeSource]:
    """Return the mode in force on a route, by what the log tells, else by what is known of it."""
    for mode in MODES:
        if told.mode == (mode or "none"):
            return mode, "catalog"
    known = book.route(provider, model)
    return known.mode, known.source


class Fallen(NamedTuple):
    """The mode after refusals of the same request in one step."""

    mode: ToolUpdateMode
    limited: bool
    """The route is known to refuse what it declares."""
    left: int
    """Refusals that are not explained by tool changes."""


def fall_back(mode: ToolUpdateMode, told: Told, carries: Callable[[ToolUpdateMode], bool]) -> Fallen:
    """Return what a mode becomes after the refusals that went before a request; §8.2, "Probe"."""
    if told.refusals and mode is not None and (told.is_recorded or carries(mode)):
        return Fallen(None, True, told.refusals - 1)
    return Fallen(mode, told.mode == "none", told.refusals)


def project_sent(request: RecordedRequest, sent: Sent) -> ProjectedRequest:
    """Return the request as its own route was sent it."""
    if sent.prompts_refused and request.system_prompt_update is not None:
        request = replace(request, system_prompt_update=None)
    return project(request, sent.mode)


def project(request: RecordedRequest, mode: ToolUpdateMode) -> ProjectedRequest:
    """Return the request as a route with this mode is sent it."""
    messages, tools = project_tool_updates(
        request.messages, request.tools, mode, request.history, places=request.shape.developers
    )
    return ProjectedRequest(request=request, mode=mode, messages=messages, tools=tools)


def doubts(requests: Requests, projected: ProjectedRequest, sent: Sent) -> tuple[Doubt, ...]:
    """Return why the request is approximate under this mode; empty where it is exact.

    `sent` is how its own route was sent it.
    """
    request = projected.request
    found: list[Doubt] = list(request.lacks)
    if "context" in found and not request.shape.has_later_prompts:
        found.remove("context")
    if request.shape.has_images:
        found.append("image-bytes")
    is_own = projected.mode == sent.mode
    if (sent.recorded is None) != (projected.mode is None) and not (is_own and sent.is_fallback):
        if request.shape.has_later_prompts:
            found.append("later-prompt")
        # Without a tool mode a change of the tools also gathers later prompts, which begins a series.
        if projected.in_history and sent.recorded is None and _prompt_was_replaced(requests, request):
            found.append("other-series")
    if declares_only_deferred(projected.tools):
        found.append("only-deferred")
    if is_own and sent.is_guess:
        found.append("another-try")
    return tuple(found)


def _prompt_was_replaced(requests: Requests, request: RecordedRequest) -> bool:
    before = requests.log.nodes_before(request.place.row)
    return any(node < before and requests.log.is_system(node) for node in requests.replaced)


def _blocks(message: Message) -> Sequence[object]:
    return as_array(message.get("content"))
