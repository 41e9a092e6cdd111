"""A session's tools without the loop: what headers and developer messages a changing tool set leaves."""

from __future__ import annotations

from typing import Any

from tests.support.recorded_events import PlainEvent
from tui.session.tool_definition import DefinitionPool, ToolDefinition
from tui.session.tool_history import ToolHistory, ToolHistoryFold


def definition(name: str) -> dict[str, Any]:
    """`a` and `a'` are one name with two definitions; `a*` is explicitly deferred."""
    fields: dict[str, Any] = {
        "name": name.rstrip("'*"),
        "description": f"Tool {name}.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }
    return {**fields, "deferLoading": True} if name.endswith("*") else fields


def definitions(names: str) -> tuple[ToolDefinition, ...]:
    """The tools of a text like `a b' c*`."""
    return DefinitionPool().tools({"tools": [definition(name) for name in names.split()]}, refuse)


def refuse(detail: str) -> None:
    raise AssertionError(detail)


class ToolSession:
    """Records like the loop (spec §1.5, §1.6): one step for each call of `step`."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = [
            {
                "id": "s0",
                "role": "system",
                "content": [{"type": "text", "text": "Mind the gauges."}],
                "source": {"kind": "system-prompt"},
            }
        ]
        self.tools: tuple[ToolDefinition, ...] | None = None
        self._fold = ToolHistoryFold(strict=True)
        self._seq = 0
        self._header: tuple[int, dict[str, dict[str, Any]]] | None = None

    @property
    def history(self) -> ToolHistory:
        return self._fold.snapshot()

    def step(self, names: str, *, series: bool = False) -> None:
        """A question, the tools of the step, and the request that is about to be sent."""
        self._add("user", "Go on.", {"kind": "user"})
        raw = {name.rstrip("'*"): definition(name) for name in sorted(names.split())}
        before = self._header
        if before is None or series or before[1] != raw:
            self._write_header(raw, before, series)
        self.tools = self._fold.pool.tools({"tools": list(raw.values())}, refuse) or None

    def answer(self) -> None:
        """The answer to the last request."""
        self._add("assistant", "Done.", {"kind": "model", "provider": "p", "model": "m"})

    def _write_header(
        self, raw: dict[str, dict[str, Any]], before: tuple[int, dict[str, Any]] | None, series: bool
    ) -> None:
        changed = before is None or before[1] != raw
        reason = "initial" if before is None else "change" if changed else "series"
        data: dict[str, Any] = {"header": {"config": {"provider": "p", "model": "m"}}, "reason": reason}
        if raw:
            data["header"]["tools"] = list(raw.values())
        if series and reason == "change":
            data["startsSeries"] = True
        seq = self._event("request/header", data)
        self._header = seq, raw
        if before is None or reason != "change":
            return
        added = [name for name in raw if name not in before[1]]
        removed = [name for name in before[1] if name not in raw]
        if not added and not removed:
            return
        message = {
            "id": f"d{self._seq}",
            "role": "developer",
            "source": {"kind": "tool-registry"},
            "content": [
                *({"type": "tool-addition", "toolName": name} for name in added),
                *({"type": "tool-removal", "toolName": name} for name in removed),
            ],
        }
        record: dict[str, Any] = {"turn": 1, "step": 1, "message": message}
        if added:
            record["headerSeq"] = seq
        self._event("developer/message", record)
        self.messages = [*self.messages, message]

    def _add(self, role: str, text: str, source: dict[str, Any]) -> None:
        content = [{"type": "text", "text": text}]
        message = {"id": f"m{self._event('other')}", "role": role, "content": content, "source": source}
        self.messages = [*self.messages, message]

    def _event(self, kind: str, data: Any = None) -> int:
        seq = self._seq
        self._seq += 1
        self._fold.apply(PlainEvent(kind, seq, data))
        return seq


def usable(messages: list[dict[str, Any]], tools: tuple[ToolDefinition, ...] | None) -> set[str]:
    """The tools that a model may call at the end of a request, by the provider's reading of it."""
    names = {tool.name for tool in tools or () if not tool.defer_loading}
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool-addition":
                names.add(block["toolName"])
            elif block["type"] == "tool-removal":
                names.discard(block["toolName"])
    return names
