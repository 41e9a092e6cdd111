"""Request headers: what is asked for, when it is recorded, and why (loop-and-adapters §1.4, §1.5, §1.6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from tui.llm.request import CallConfig
from tui.loop.messages import new_id
from tui.session.json_text import clean_json
from tui.session.json_value import as_object
from tui.session.tool_definition import DefinitionPool, ToolDefinition
from tui.session.writer import SessionWriter

HeaderReason: TypeAlias = Literal["initial", "resume", "change", "series"]


@dataclass(frozen=True, slots=True)
class Header:
    """Settings, what the adapter filled in of them, and the active tools."""

    config: CallConfig
    adapter_defaults: frozenset[str]
    tools: tuple[ToolDefinition, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the `header` of the event; absent facts have no key."""
        config = self.config.to_json()
        header: dict[str, Any] = {"config": config}
        marked = {key: True for key in config if key in self.adapter_defaults}
        if marked:
            header["adapterDefaults"] = marked
        if self.tools:
            header["tools"] = [tool.to_json() for tool in self.tools]
        return header


class HeaderEvent(NamedTuple):
    """That a header is to be written, and how."""

    reason: HeaderReason
    starts_series: bool

    def data(self, header: Header) -> dict[str, Any]:
        """Return the payload of `request/header`."""
        data: dict[str, Any] = {"header": header.to_json(), "reason": self.reason}
        if self.starts_series:
            data["startsSeries"] = True
        return data


def last_header(writer: SessionWriter) -> Header | None:
    """Return the latest header of the log."""
    event = writer.header_event
    if event is None:
        return None
    header = as_object(as_object(event.data).get("header"))
    return Header(
        CallConfig.from_json(header.get("config")),
        frozenset(as_object(header.get("adapterDefaults"))),
        writer.state.tools.active,
    )


def header_event(before: Header | None, now: Header, *, written: bool, series: bool) -> HeaderEvent | None:
    """Return what to write for a request; `written` says that this loop has written a header before. §1.5."""
    if not written:
        return HeaderEvent("initial" if before is None else "resume", series)
    if before != now:
        return HeaderEvent("change", series)
    return HeaderEvent("series", False) if series else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What somebody chose: a model, and settings of its calls where they are chosen too."""

    provider: str
    model: str
    reasoning_effort: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] | None = None


def proposed_config(selection: Selection, before: Header | None, *, is_chosen: bool) -> CallConfig:
    """Return the settings to prepare a call with.

    `is_chosen` says that the selection counts, as for the first request of a loop and after another choice;
    else the last header does, without what the adapter had filled in. §1.4.
    """
    if is_chosen or before is None:
        effort = selection.reasoning_effort
        if effort is None and before is not None and "reasoningEffort" not in before.adapter_defaults:
            same = (before.config.provider, before.config.model) == (selection.provider, selection.model)
            effort = before.config.reasoning_effort if same else None
        return CallConfig(
            provider=selection.provider,
            model=selection.model,
            reasoning_effort=effort,
            temperature=selection.temperature,
            max_tokens=selection.max_tokens,
            stop=selection.stop,
        )
    config = before.config
    if "reasoningEffort" in before.adapter_defaults:
        config = replace(config, reasoning_effort=None)
    if "maxTokens" in before.adapter_defaults:
        config = replace(config, max_tokens=None)
    return config


def tool_registry_message(
    before: Sequence[ToolDefinition], now: Sequence[ToolDefinition]
) -> dict[str, Any] | None:
    """Return the developer message that tells additions and removals by name, if there are any. §1.6."""
    had = {tool.name for tool in before}
    has = {tool.name for tool in now}
    blocks = [{"type": "tool-addition", "toolName": tool.name} for tool in now if tool.name not in had]
    blocks += [{"type": "tool-removal", "toolName": tool.name} for tool in before if tool.name not in has]
    if not blocks:
        return None
    return {"source": {"kind": "tool-registry"}, "content": blocks, "role": "developer", "id": new_id()}


def adds_tools(message: dict[str, Any]) -> bool:
    """Tell whether a developer message adds tools, so that it has to name its header."""
    return any(block["type"] == "tool-addition" for block in message["content"])


class Definitions:
    """Tool definitions as the log will give them back, so that equal ones compare equal."""

    def __init__(self, pool: DefinitionPool) -> None:
        self._pool = pool
        self._known: dict[str, ToolDefinition] = {}

    def recorded(self, tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
        """Return the definitions with well-formed texts."""
        return tuple(self._known.get(tool.text) or self._record(tool) for tool in tools)

    def _record(self, tool: ToolDefinition) -> ToolDefinition:
        # Not `to_json`: halves of surrogate pairs, which it does not read, are what is cleaned away here.
        (recorded,) = self._pool.tools({"tools": [clean_json(json.loads(tool.text))]}, _refuse)
        self._known[tool.text] = recorded
        return recorded


def _refuse(detail: str) -> None:
    raise ValueError(detail)
