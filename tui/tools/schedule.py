"""The calls of one answer: side by side where they may, committed in order (loop-and-adapters §1.11).

A call that may run beside others shares a pool; any other runs alone. Recording a start, policy and approval
go in order, bodies overlap, results are committed in order, so that a fast later call waits for a slow one.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from tui.session.cancel import CancelSignal
from tui.tools.admission import ResolvedToolSet
from tui.tools.pipeline import PreparedCall
from tui.tools.tool import ToolCall, ToolResult

MAX_PARALLEL: Final = 10

OnCall: TypeAlias = Callable[[ToolCall], Awaitable[object] | object]
Commit: TypeAlias = Callable[[ToolCall, ToolResult], Awaitable[object] | object]


class Prepares(Protocol):
    """Gives a call in its stages; the registry does."""

    def prepare(self, call: ToolCall, tool_set: ResolvedToolSet | None = None) -> PreparedCall: ...


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """Every result, in the model's order."""

    results: tuple[ToolResult, ...]

    @property
    def concludes_turn(self) -> bool:
        """Tell whether a successful result ends the turn."""
        return any(result.concludes_turn and not result.is_error for result in self.results)


async def run_calls(
    tools: Prepares,
    calls: Sequence[ToolCall],
    tool_set: ResolvedToolSet,
    *,
    signal: CancelSignal,
    on_call: OnCall,
    commit: Commit,
    max_parallel: int = MAX_PARALLEL,
) -> BatchOutcome:
    """Run the calls of an answer; each is given to `on_call` once and to `commit` once, both in order.

    After a cancel nothing starts any more: what runs is awaited and committed, then every skipped call is
    recorded and committed as aborted before dispatch. What `on_call` or `commit` raise ends the batch:
    running bodies are told to stop and awaited, and it is raised. The caller disposes the set.
    """
    batch = _Batch(tools, tool_set, signal=signal.child(), on_call=on_call, commit=commit, slots=max_parallel)
    try:
        for call in calls:
            await batch.start(call)
        await batch.drain()
    except BaseException as error:
        await batch.give_up(hard=isinstance(error, asyncio.CancelledError))
        raise
    return BatchOutcome(tuple(batch.results))


class _Batch:
    def __init__(
        self,
        tools: Prepares,
        tool_set: ResolvedToolSet,
        *,
        signal: CancelSignal,
        on_call: OnCall,
        commit: Commit,
        slots: int,
    ) -> None:
        self.results: list[ToolResult] = []
        self._tools = tools
        self._tool_set = tool_set
        self._signal = signal
        self._on_call = on_call
        self._commit = commit
        self._slots = asyncio.Semaphore(slots)
        self._running: set[asyncio.Task[None]] = set()
        self._last: asyncio.Task[None] | None = None

    async def start(self, call: ToolCall) -> None:
        """Start a call as soon as it may, and see it to its end before returning if it runs alone."""
        prepared = self._tools.prepare(replace(call, signal=self._signal), self._tool_set)
        await self._slots.acquire()
        # Asked this late, because a call before it may have changed the answer.
        alone = self._signal.cancelled or not prepared.is_parallel()
        if alone:
            await self.drain()
        self._raise_failure()
        await _settled(self._on_call(call))
        await prepared.decide()
        task = asyncio.create_task(self._finish(call, prepared, self._last))
        self._running.add(task)
        self._last = task
        if alone:
            await self.drain()

    async def drain(self) -> None:
        """Wait until everything that was started is committed; raise what a commit raised."""
        if self._last is not None:
            await asyncio.wait((self._last,))  # does not hand a cancel of ours on to the call
            self._last.result()
        self._running.clear()

    async def give_up(self, *, hard: bool) -> None:
        """Tell running bodies to stop and wait for them; `hard` if the task itself is cancelled."""
        self._signal.cancel({"kind": "disposed"})
        if hard:
            for task in self._running:
                task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _raise_failure(self) -> None:
        for task in self._running:
            if task.done():
                task.result()

    async def _finish(
        self, call: ToolCall, prepared: PreparedCall, before: asyncio.Task[None] | None
    ) -> None:
        try:
            await prepared.run()
        finally:
            self._slots.release()
        if before is not None:
            await before
        try:
            result = await prepared.settle()
            await _settled(self._commit(call, result))
        except BaseException:
            self._signal.cancel({"kind": "disposed"})  # the bodies behind it have nobody left to answer to
            raise
        self.results.append(result)


async def _settled(outcome: Awaitable[object] | object) -> None:
    if inspect.isawaitable(outcome):
        await outcome
