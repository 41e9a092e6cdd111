"""The calls of an answer, from the log to the tools and back (loop-and-adapters §1.11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tui.loop.messages import new_id, user_message
from tui.loop.state import Loop
from tui.session.cancel import CancelSignal
from tui.session.json_value import as_array, as_object
from tui.tools import schedule
from tui.tools.admission import ResolvedToolSet
from tui.tools.tool import ToolCall, ToolResult


async def run_calls(
    loop: Loop,
    blocks: Sequence[Mapping[str, Any]],
    tool_set: ResolvedToolSet,
    *,
    signal: CancelSignal,
    turn: int,
    step: int,
) -> bool:
    """Run the calls and log them; returns whether one of them concluded the turn.

    After a cancel every call still has its pair of events. Raises SessionWriteError.
    """
    writer = loop.writer
    raw = {block["id"]: block["arguments"] for block in blocks}
    started: dict[str, int] = {}
    at = {"turn": turn, "step": step}

    async def record(call: ToolCall) -> None:
        asked = {"callId": call.call_id, "name": call.name, "arguments": raw[call.call_id]}
        started[call.call_id] = writer.append("tool/call", {**at, **asked}).seq
        # On the disk before the body runs: after a crash it can be told what may have been done.
        await writer.flush()

    def commit(call: ToolCall, result: ToolResult) -> None:
        data = result.event_data(turn, step, new_id())
        writer.append("tool/result", data, source_event_seqs=[started[call.call_id]])
        for message in result.additional_contexts:
            loop.inbox.add("next-step", _as_message(message))

    outcome = await schedule.run_calls(
        loop.tools,
        [ToolCall.from_block(block, signal, loop) for block in blocks],
        tool_set,
        signal=signal,
        on_call=record,
        commit=commit,
        max_parallel=loop.options.max_parallel_tool_calls,
    )
    return outcome.concludes_turn


def _as_message(context: Mapping[str, Any]) -> dict[str, Any]:
    source = as_object(context.get("source")) or {"kind": "tool-context"}
    return user_message(
        as_array(context.get("content")), source=source, message_id=context.get("id") or new_id()
    )
