"""Tools, agents, sets and calls for tests of the registry and of what runs calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tui.session.cancel import CancelSignal
from tui.tools.admission import ResolvedToolSet
from tui.tools.registry import ToolRegistry
from tui.tools.scope import ToolScope
from tui.tools.tool import ModelSelection, Origin, Tool, ToolCall, ToolContext, ToolResult

USER = {"kind": "user"}
MINNOW = ModelSelection(provider="creek", model="minnow-2")
GNAT = ModelSelection(provider="creek", model="gnat-1")


@dataclass(frozen=True)
class FakeAgent:
    """An agent that is nothing but its scope."""

    tool_scope: ToolScope | None = None


@dataclass
class FakeTool:
    """A tool that notes what reaches it; a body given with `body` decides how it ends."""

    name: str
    body: Callable[[Any, ToolContext], Any] | None = None
    reached: list[Any] = field(default_factory=list)

    def tool(self, **facts: Any) -> Tool:
        return Tool(
            **{
                "name": self.name,
                "description": f"What {self.name} does.",
                "parameters": {"type": "object"},
                "execute": self._execute,
                **facts,
            }
        )

    async def _execute(self, arguments: Any, context: ToolContext) -> Any:
        self.reached.append(arguments)
        if self.body is None:
            return f"{self.name} done"
        outcome = self.body(arguments, context)
        return await outcome if asyncio.iscoroutine(outcome) else outcome


def parallel(_: Any) -> bool:
    return True


async def resolved(
    registry: ToolRegistry,
    *,
    agent: FakeAgent | None = None,
    selection: ModelSelection = MINNOW,
    signal: CancelSignal | None = None,
) -> ResolvedToolSet:
    return await registry.resolve(
        agent=agent, model_selection=selection, signal=CancelSignal() if signal is None else signal
    )


def a_call(
    name: str,
    arguments: Any = None,
    *,
    call_id: str = "c1",
    signal: CancelSignal | None = None,
    agent: FakeAgent | None = None,
    origin: Origin = "model",
) -> ToolCall:
    return ToolCall(
        call_id=call_id,
        name=name,
        arguments={} if arguments is None else arguments,
        signal=CancelSignal() if signal is None else signal,
        agent=agent,
        origin=origin,
    )


def told(result: ToolResult) -> str:
    """The text of a result."""
    return "".join(block["text"] for block in result.content)


def outcome(result: ToolResult) -> str:
    """The code of a result, `error` for an error without one, `ok` for a success."""
    if not result.is_error:
        return "ok"
    return result.error["code"] if result.error is not None else "error"
