"""A recorded request as a route is sent it, and where that can only be approximate.

The route's tool update mode decides (loop-and-adapters §3.2); the mode that the log was recorded under also
decided how prompts were changed and when a series began (§2.1), which no other mode can undo.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tui.llm.projection import Message, Tools, declares_only_deferred, project_tool_updates
from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import ModeSource, RouteBook
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
]


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
        text, started = "", False
        for message in self.messages:
            if message.get("role") != "system":
                started = True
                if self.in_history:
                    break
            elif not (started and self.in_history):
                text = "".join(as_text(as_object(block).get("text")) for block in _blocks(message))
        return text


def own_mode(book: RouteBook, request: RecordedRequest) -> tuple[ToolUpdateMode, ModeSource]:
    """Return the mode that a request's own route took when it was sent, and how that is known.

    A record in the log, of a route that refused tool changes, tells more than any catalogue.
    """
    for mode in MODES:
        if request.told_mode == (mode or "none"):
            return mode, "catalog"
    known = book.route(request.provider, request.model)
    return known.mode, known.source


def project(request: RecordedRequest, mode: ToolUpdateMode) -> ProjectedRequest:
    """Return the request as a route with this mode is sent it."""
    messages, tools = project_tool_updates(
        request.messages, request.tools, mode, request.history, places=request.developers
    )
    return ProjectedRequest(request=request, mode=mode, messages=messages, tools=tools)


def doubts(requests: Requests, projected: ProjectedRequest, recorded: ToolUpdateMode) -> tuple[Doubt, ...]:
    """Return why the request is approximate under this mode; empty where it is exact.

    `recorded` is the mode that the log was recorded under.
    """
    request = projected.request
    found: list[Doubt] = list(request.lacks)
    if "context" in found and not _later_prompts(request):
        found.remove("context")
    if any(as_object(block).get("type") == "image" for m in request.messages for block in _blocks(m)):
        found.append("image-bytes")
    if (recorded is None) != (projected.mode is None):
        if _later_prompts(request):
            found.append("later-prompt")
        # Without a tool mode a change of the tools also gathers later prompts, which begins a series.
        if projected.in_history and recorded is None and _prompt_was_replaced(requests, request):
            found.append("other-series")
    if declares_only_deferred(projected.tools):
        found.append("only-deferred")
    return tuple(found)


def _later_prompts(request: RecordedRequest) -> bool:
    roles = [message.get("role") for message in request.messages]
    head = next((at for at, role in enumerate(roles) if role != "system"), len(roles))
    return "system" in roles[head:]


def _prompt_was_replaced(requests: Requests, request: RecordedRequest) -> bool:
    before = requests.log.nodes_before(request.place.row)
    return any(node < before and requests.log.is_system(node) for node in requests.replaced)


def _blocks(message: Message) -> Sequence[object]:
    return as_array(message.get("content"))
