"""What a route is sent of tool declarations and their updates (loop-and-adapters §3.2).

The log records changes of the tool set the same way on every route. What a provider is told is decided here,
at dispatch of each call, by the tool update mode of the prepared route alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from tui.llm.route import ToolUpdateMode
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_object, as_text
from tui.session.tool_definition import ToolDefinition
from tui.session.tool_history import ToolHistory

Message: TypeAlias = dict[str, Any]
Tools: TypeAlias = tuple[ToolDefinition, ...]


class Projection(NamedTuple):
    """Messages and declarations as a route is sent them."""

    messages: list[Message]
    """The list that was given if nothing in it changed; unchanged messages are the same objects."""
    tools: Tools | None
    """None only where none were given and the route has no update mode or no use for the history."""


def project_tool_updates(
    messages: list[Message],
    tools: Tools | None,
    mode: ToolUpdateMode,
    history: ToolHistory | None,
    *,
    places: list[int] | None = None,
) -> Projection:
    """Return messages and declarations for a route with this tool update mode.

    `tools` are the active ones. Without history, or where the messages lack one of its updates, the active
    tools are declared and no update is sent. Nothing that is given is changed. `places` tells where developer
    messages stand, if the caller knows. Spec §3.2.
    """
    if places is None:
        places = _places(messages)
    if mode is None:
        return Projection(_without(messages, places), _plain(tools))
    if history is None or not _holds_updates(messages, places, history):
        return Projection(_without(messages, places), tools)
    declared, names = history.declared.tools, history.declared.names
    if mode == "addition-only":
        active = {tool.name for tool in tools or ()}
        if not names <= active:
            names &= active
            declared = tuple(tool for tool in declared if tool.name in names)
    return Projection(_filtered(messages, places, mode, history, names), declared)


def project_request(
    messages: list[Message], tools: Tools | None, mode: ToolUpdateMode, history: ToolHistory | None
) -> Projection:
    """Return what to send: the projection, unless it would declare nothing but deferred tools.

    Providers refuse such a list, so the request is sent as a new series would send it. The loop starts that
    series itself (`declares_only_deferred`); a call that cannot, as one for a summary, is mended here.
    """
    projected = project_tool_updates(messages, tools, mode, history)
    if not declares_only_deferred(projected.tools):
        return projected
    active = tools or ()
    afresh = ToolHistory(active, (), history.baseline if history else None, trusted=True)
    projected = project_tool_updates(messages, active, mode, afresh)
    if not declares_only_deferred(projected.tools):
        return projected
    return project_tool_updates(messages, active, None, None)


def declares_only_deferred(tools: Sequence[ToolDefinition] | None) -> bool:
    """Tell whether there are declarations and every one of them is deferred."""
    return bool(tools) and all(tool.defer_loading for tool in tools or ())


def _places(messages: list[Message]) -> list[int]:
    """Return where developer messages stand; they are few among many."""
    try:
        return [at for at, message in enumerate(messages) if message["role"] == "developer"]
    except KeyError:
        return [at for at, message in enumerate(messages) if message.get("role") == "developer"]


def _holds_updates(messages: list[Message], places: list[int], history: ToolHistory) -> bool:
    if not history.updates:
        return True
    return history.declared.message_ids.issubset([as_text(messages[at].get("id")) for at in places])


def _filtered(
    messages: list[Message],
    places: list[int],
    mode: ToolUpdateMode,
    history: ToolHistory,
    declared: frozenset[str],
) -> list[Message]:
    if not places:
        return messages
    known = history.declared.message_ids
    offered = set(history.declared.offered)
    replaced: dict[int, Message | None] = {}
    for at in places:
        message = messages[at]
        if as_text(message.get("id")) not in known:
            replaced[at] = None
            continue
        blocks = as_array(message.get("content"))
        kept = _sent(blocks, mode, declared, offered)
        if not kept:
            replaced[at] = None
        elif len(kept) != len(blocks):
            replaced[at] = {**message, "content": kept}
    return _replaced(messages, replaced)


def _sent(blocks: list[Any], mode: ToolUpdateMode, declared: frozenset[str], offered: set[str]) -> list[Any]:
    """Return the blocks of a developer message that are sent; `offered` is kept up with them."""
    kept: list[Any] = []
    for block in blocks:
        fields = as_object(block)
        kind = fields.get("type")
        if kind == "tool-addition":
            name = as_text(fields.get("toolName"))
            if name in offered or name not in declared:
                continue
            offered.add(name)
        elif kind == "tool-removal":
            name = as_text(fields.get("toolName"))
            if mode != "in-history" or name not in offered:
                continue
            offered.discard(name)
        kept.append(block)
    return kept


def _without(messages: list[Message], places: Iterable[int]) -> list[Message]:
    return _replaced(messages, dict.fromkeys(places))


def _replaced(messages: list[Message], replaced: Mapping[int, Message | None]) -> list[Message]:
    """Return the messages with some replaced, or left out where there is None."""
    if not replaced:
        return messages
    out: list[Message] = []
    done = 0
    for at, message in replaced.items():
        out.extend(messages[done:at])
        if message is not None:
            out.append(message)
        done = at + 1
    out.extend(messages[done:])
    return out


def _plain(tools: Tools | None) -> Tools | None:
    if tools is None or not any(tool.defer_loading for tool in tools):
        return tools
    return tuple(_undeferred(tool) if tool.defer_loading else tool for tool in tools)


def _undeferred(tool: ToolDefinition) -> ToolDefinition:
    fields = {key: value for key, value in tool.to_json().items() if key != "deferLoading"}
    return ToolDefinition(tool.name, tool.description, tool.parameters, False, compact(fields))
