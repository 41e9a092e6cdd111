"""A workspace with a file of command tools, and ways to wait for real processes."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.support.tool_calls import a_call, resolved
from tui.session.cancel import CancelSignal
from tui.tools.approval import AllowOnce, Answer, ApprovalRequest, ApprovalService
from tui.tools.command_tools import CommandTools, ToolFileReport
from tui.tools.registry import ToolRegistry
from tui.tools.tool import ToolResult

OBJECT = {"type": "object", "properties": {"far": {"type": "number"}}}


def entry(name: str = "cast", *command: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"What {name} does.",
        "parameters": OBJECT,
        "command": list(command) or ["cat"],
        **more,
    }


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


class Yes:
    """A user who allows everything, and remembers what was asked."""

    def __init__(self, answer: Answer | None = None) -> None:
        self._answer = answer or AllowOnce()
        self.asked: list[ApprovalRequest] = []

    async def answer(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        return self._answer


class Shore:
    """A workspace with a `tools.json`, a registry that follows it and a user who says yes."""

    def __init__(self, folder: Path, *, answer: Answer | None = None, **more: Any) -> None:
        self.folder = folder
        self.file = folder / "tools.json"
        self.user = Yes(answer)
        self.registry = ToolRegistry(approval=ApprovalService("ask", self.user, lambda _, __: None))
        self.reports: list[ToolFileReport] = []
        self.tools = CommandTools(self.registry, self.file, folder, on_report=self.reports.append, **more)

    def write(self, *entries: dict[str, Any]) -> None:
        self.file.write_text(json.dumps({"tools": entries}), encoding="utf-8")

    async def names(self, **facts: Any) -> tuple[str, ...]:
        return (await resolved(self.registry, **facts)).names

    async def call(
        self, name: str = "cast", arguments: Any = None, signal: CancelSignal | None = None
    ) -> ToolResult:
        tool_set = await resolved(self.registry)
        return await self.registry.execute(a_call(name, arguments, signal=signal), tool_set)


async def gone(pid: int) -> None:
    """Wait until there is no such process, or only its remains."""
    while True:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return
        await asyncio.sleep(0.01)


async def written(path: Path) -> str:
    """Wait until another process has written a whole line."""
    while not (path.exists() and (text := path.read_text(encoding="utf-8")).endswith("\n")):
        await asyncio.sleep(0.01)
    return text
