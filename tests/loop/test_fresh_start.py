"""A session that goes on from a summary: what its log says, and that only reading is allowed at first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tui.loop.fresh_start import FreshStart, first_check
from tui.session.cancel import CancelSignal
from tui.session.writer import SessionWriter
from tui.tools.approval import ApprovalService
from tui.tools.hooks import Ask
from tui.tools.registry import ToolRegistry
from tui.tools.tool import Tool, ToolCall, ToolContext, ToolResult

CALL = {"type": "object", "properties": {}}


def created(folder: Path) -> SessionWriter:
    return SessionWriter.create(folder, "/srv/demo", encoding="none")


class Shed:
    """A registry with a tool that reads, one that writes, and one that reads by calling the writer."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.asked: list[str] = []
        approvals = ApprovalService("ask", None, lambda kind, data: self.asked.append(kind))
        self.registry = ToolRegistry(approval=approvals)
        for name, read_only in (("look", True), ("sow", False), ("look_by_sowing", True)):
            self.registry.register(self._tool(name, read_only))

    def _tool(self, name: str, read_only: bool) -> Tool:
        async def execute(arguments: Any, context: ToolContext) -> str:
            if name == "look_by_sowing":
                result = await context.call_tool("sow", {})
                return result.content[0]["text"]
            self.ran.append(name)
            return "done"

        ask = Ask(reason="it is wet")
        return Tool(
            name=name,
            description=name,
            parameters=CALL,
            execute=execute,
            read_only=read_only,
            policy=(lambda arguments: ask) if name == "sow" else None,
        )

    async def call(self, name: str) -> ToolResult:
        return await self.registry.execute(
            ToolCall(call_id="c1", name=name, arguments={}, signal=CancelSignal())
        )


async def test_until_the_check_is_confirmed_only_declared_readers_run_and_nobody_is_asked(
    tmp_path: Path,
) -> None:
    shed, writer = Shed(), created(tmp_path)
    FreshStart(summary="Moss.", session="session-1", seq=7).record(writer)
    check = first_check(writer, shed.registry)
    assert check is not None and check.waits
    assert not (await shed.call("look")).is_error
    refused = await shed.call("sow")
    assert refused.is_error and "not declared read-only" in refused.content[0]["text"]
    assert "not declared read-only" in (await shed.call("look_by_sowing")).content[0]["text"]
    assert (shed.ran, shed.asked) == (["look"], [])
    check.confirm()
    await shed.call("sow")
    assert shed.asked, "the user is asked again as ever"
    await writer.close()


async def test_the_record_names_the_original_and_can_be_ignored(tmp_path: Path) -> None:
    writer = created(tmp_path)
    FreshStart(summary="Moss.", session="session-1", seq=7).record(writer)
    (event,) = [event for event in writer.events if event.type == "plugin:dsh-tui/recovered-from"]
    assert event.data == {"sessionId": "session-1", "seq": 7}
    assert event.ignorable and event.surface_op is None
    await writer.close()


async def test_the_record_tells_a_checkpoint_and_where_the_log_was(tmp_path: Path) -> None:
    writer = created(tmp_path)
    FreshStart(summary="Moss.", session="session-1", path="/srv/x.jsonl", checkpoint=True).record(writer)
    (event,) = [event for event in writer.events if event.type == "plugin:dsh-tui/recovered-from"]
    assert event.data == {"sessionId": "session-1", "path": "/srv/x.jsonl", "checkpoint": True}
    await writer.close()


async def test_a_session_that_is_resumed_before_the_check_still_owes_it_and_after_it_does_not(
    tmp_path: Path,
) -> None:
    writer = created(tmp_path)
    FreshStart(summary="Moss.").record(writer)
    await writer.close()
    again = SessionWriter.resume(writer.path)
    check = first_check(again, ToolRegistry())
    assert check is not None
    check.confirm()
    check.confirm()
    await again.close()
    last = SessionWriter.resume(writer.path)
    assert first_check(last, ToolRegistry()) is None
    types = [event.type for event in last.events]
    assert types.count("plugin:dsh-tui/recovery-checked") == 1
    await last.close()


async def test_other_sessions_owe_no_check(tmp_path: Path) -> None:
    writer = created(tmp_path)
    assert first_check(writer, ToolRegistry()) is None
    await writer.close()
