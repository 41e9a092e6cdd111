"""The calls of one answer: pools, barriers, ordered commits and aborts (loop-and-adapters §1.11)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tool_calls import USER, FakeTool, outcome, parallel, resolved, told
from tui.session.cancel import CancelSignal
from tui.tools.admission import ResolvedToolSet
from tui.tools.hooks import CallContext
from tui.tools.registry import ToolRegistry
from tui.tools.schedule import BatchOutcome, run_calls
from tui.tools.tool import ToolCall, ToolContext, ToolResult, ToolSuccess


@dataclass
class Harbour:
    """A registry with tools whose bodies wait until the test lets them go on, and a diary of it all."""

    registry: ToolRegistry = field(default_factory=ToolRegistry)
    signal: CancelSignal = field(default_factory=CancelSignal)
    diary: list[str] = field(default_factory=list)
    results: dict[str, ToolResult] = field(default_factory=dict)
    inside: set[str] = field(default_factory=set)
    most: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _let_go: dict[str, asyncio.Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.registry.register(FakeTool("read", body=self._body).tool(is_concurrency_safe=parallel))
        self.registry.register(FakeTool("write", body=self._body).tool())

    def gate(self, call_id: str) -> asyncio.Event:
        return self._let_go.setdefault(call_id, asyncio.Event())

    def note(self, what: str) -> None:
        self.diary.append(what)
        self._changed.set()

    async def until(self, *whats: str) -> None:
        """Wait until all of this stands in the diary."""
        while not set(whats) <= set(self.diary):
            self._changed.clear()
            await self._changed.wait()

    async def run(
        self, calls: Sequence[tuple[str, str]], tool_set: ResolvedToolSet | None = None, **limits: int
    ) -> BatchOutcome:
        blocks = [{"id": call_id, "name": name, "arguments": ""} for call_id, name in calls]
        return await run_calls(
            self.registry,
            [ToolCall.from_block(block, self.signal, None) for block in blocks],
            await resolved(self.registry) if tool_set is None else tool_set,
            signal=self.signal,
            on_call=lambda call: self.note(f"call {call.call_id}"),
            commit=self.commit,
            **limits,
        )

    def commit(self, call: ToolCall, result: ToolResult) -> None:
        self.results[call.call_id] = result
        self.note(f"commit {call.call_id}")

    async def _body(self, _: Any, context: ToolContext) -> str:
        call_id = context.call.call_id
        self.inside.add(call_id)
        self.most = max(self.most, len(self.inside))
        self.note(f"body {call_id}")
        await self.gate(call_id).wait()
        self.inside.discard(call_id)
        self.note(f"end {call_id}")
        return call_id


async def test_a_fast_later_call_waits_for_a_slow_earlier_one() -> None:
    harbour = Harbour()
    running = asyncio.create_task(harbour.run([("a", "read"), ("b", "read")]))
    await harbour.until("body a", "body b")
    harbour.gate("b").set()
    await harbour.until("end b")
    for _ in range(5):
        await asyncio.sleep(0)
    assert "commit b" not in harbour.diary
    harbour.gate("a").set()
    await running
    assert [line for line in harbour.diary if "commit" in line] == ["commit a", "commit b"]


async def test_a_call_that_must_be_alone_waits_for_all_before_it_and_holds_all_after_it() -> None:
    harbour = Harbour()
    running = asyncio.create_task(harbour.run([("a", "read"), ("b", "write"), ("c", "read")]))
    await harbour.until("body a")
    for _ in range(5):
        await asyncio.sleep(0)
    assert "call b" not in harbour.diary
    for call_id in "abc":
        harbour.gate(call_id).set()
    await running
    assert harbour.diary == [
        f"{what} {call_id}" for call_id in "abc" for what in ("call", "body", "end", "commit")
    ]


async def test_at_most_ten_calls_are_in_flight_and_the_pool_refills() -> None:
    harbour = Harbour()
    names = [f"c{number:02}" for number in range(13)]
    running = asyncio.create_task(harbour.run([(name, "read") for name in names]))
    await harbour.until(*(f"body {name}" for name in names[:10]))
    for _ in range(5):
        await asyncio.sleep(0)
    assert "call c10" not in harbour.diary
    harbour.gate("c05").set()
    await harbour.until("body c10")
    for name in names:
        harbour.gate(name).set()
    await running
    assert harbour.most == 10


@pytest.mark.parametrize("verdict", [False, 1, "yes", ValueError("unsure"), None])
async def test_only_exactly_true_lets_a_call_run_beside_others(verdict: Any) -> None:
    harbour = Harbour()

    def test(_: Any) -> Any:
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    facts = {} if verdict is None else {"is_concurrency_safe": test}
    harbour.registry.register(FakeTool("own").tool(**facts))
    await harbour.run([("a", "own"), ("b", "own")])
    assert harbour.diary == ["call a", "commit a", "call b", "commit b"]


async def test_a_call_is_classified_again_just_before_it_starts() -> None:
    harbour, safe = Harbour(), [True]
    fake = FakeTool("own", body=harbour._body)
    harbour.registry.register(fake.tool(is_concurrency_safe=lambda _: safe[0]))
    running = asyncio.create_task(harbour.run([("a", "own"), ("b", "own"), ("c", "own")], max_parallel=2))
    await harbour.until("body a", "body b")
    safe[0] = False
    harbour.gate("a").set()
    await harbour.until("commit a")
    for _ in range(5):
        await asyncio.sleep(0)
    assert "call c" not in harbour.diary
    harbour.gate("b").set()
    harbour.gate("c").set()
    await running
    assert harbour.diary.index("commit b") < harbour.diary.index("call c")


async def test_policy_runs_in_order_while_bodies_overlap() -> None:
    harbour, decided = Harbour(), asyncio.Event()

    async def policy(context: CallContext, go_on: Any) -> Any:
        harbour.note(f"policy {context.call.call_id}")
        if context.call.call_id == "b":
            await decided.wait()
        return await go_on()

    harbour.registry.hooks.pre_execute.append(policy)
    for call_id in "abc":
        harbour.gate(call_id).set()
    running = asyncio.create_task(harbour.run([("a", "read"), ("b", "read"), ("c", "read")]))
    await harbour.until("policy b", "commit a")
    assert "call c" not in harbour.diary
    decided.set()
    await running
    assert [line for line in harbour.diary if "policy" in line] == ["policy a", "policy b", "policy c"]


async def test_unknown_tools_are_recorded_and_answered_like_any_other() -> None:
    harbour = Harbour()
    harbour.gate("b").set()
    outcomes = await harbour.run([("a", "nothing"), ("b", "read")])
    assert harbour.diary == ["call a", "commit a", "call b", "body b", "end b", "commit b"]
    assert [outcome(result) for result in outcomes.results] == ["UNKNOWN_TOOL", "ok"]


async def test_an_abort_starts_nothing_more_and_answers_every_call() -> None:
    harbour = Harbour()
    calls = [("a", "read"), ("b", "read"), ("c", "write"), ("d", "read"), ("e", "nothing")]
    running = asyncio.create_task(harbour.run(calls))
    await harbour.until("body a", "body b")
    harbour.signal.cancel(USER)
    harbour.gate("b").set()
    harbour.gate("a").set()
    await running
    assert [line for line in harbour.diary if "call" in line or "commit" in line] == [
        *("call a", "call b", "commit a", "commit b"),
        *("call c", "commit c", "call d", "commit d", "call e", "commit e"),
    ]
    assert [(outcome(result), told(result)) for result in harbour.results.values()] == [
        *[("ABORTED", "Error: tool call aborted")] * 2,
        *[("ABORTED_BEFORE_DISPATCH", "Error: tool call aborted before dispatch")] * 3,
    ]


async def test_a_success_that_waits_for_its_turn_is_aborted_too_and_an_error_is_kept() -> None:
    harbour = Harbour()

    def broken(_: Any, __: ToolContext) -> str:
        harbour.note("broken")
        raise ValueError("the line broke")

    harbour.registry.register(FakeTool("break", body=broken).tool(is_concurrency_safe=parallel))
    running = asyncio.create_task(harbour.run([("a", "read"), ("b", "read"), ("c", "break")]))
    await harbour.until("body a", "body b", "broken")
    harbour.gate("b").set()
    await harbour.until("end b")
    harbour.signal.cancel(USER)
    harbour.gate("a").set()
    await running
    assert [told(harbour.results[call_id]) for call_id in "abc"] == [
        "Error: tool call aborted",
        "Error: tool call aborted",
        "Error: the line broke",
    ]


async def test_an_abort_during_the_policy_of_a_call_leaves_its_body_alone() -> None:
    harbour = Harbour()

    async def policy(context: CallContext, go_on: Any) -> Any:
        harbour.signal.cancel(USER)
        return await go_on()

    harbour.registry.hooks.pre_execute.append(policy)
    outcomes = await harbour.run([("a", "read")])
    assert [outcome(result) for result in outcomes.results] == ["ABORTED_BEFORE_DISPATCH"]
    assert harbour.diary == ["call a", "commit a"]


async def test_a_server_that_registers_again_in_mid_step_loses_its_calls_that_wait() -> None:
    harbour = Harbour()
    weft = FakeTool("mcp__loom__weft")
    live: list[Any] = []

    def register_all(*_: Any) -> str:
        for dispose in live:
            dispose()
        live[:] = [
            harbour.registry.register(one.tool())
            for one in (FakeTool("mcp__loom__advance", body=register_all), weft)
        ]
        return "advanced"

    register_all()
    calls = [("a", "mcp__loom__advance"), ("b", "mcp__loom__weft")]
    outcomes = await harbour.run(calls)
    assert [outcome(result) for result in outcomes.results] == ["ok", "UNKNOWN_TOOL"]
    assert weft.reached == []
    assert [outcome(result) for result in (await harbour.run(calls[1:])).results] == ["ok"]


async def test_any_success_that_concludes_the_turn_concludes_it_after_all_calls_ran() -> None:
    harbour = Harbour()
    harbour.registry.register(
        FakeTool("end", body=lambda _, __: ToolSuccess("over", concludes_turn=True)).tool()
    )
    harbour.gate("b").set()
    outcomes = await harbour.run([("a", "end"), ("b", "read")])
    assert outcomes.concludes_turn
    assert len(outcomes.results) == 2
    harbour.gate("c").set()
    assert not (await harbour.run([("c", "read")])).concludes_turn


async def test_a_log_that_refuses_a_result_ends_the_batch_and_waits_for_what_runs() -> None:
    harbour = Harbour()
    stopped: list[str] = []

    async def stopping(_: Any, context: ToolContext) -> str:
        harbour.note(f"body {context.call.call_id}")
        await context.signal.wait()
        stopped.append(context.call.call_id)
        return "stopped"

    def refuse(call: ToolCall, result: ToolResult) -> None:
        raise OSError("disk full")

    harbour.registry.register(FakeTool("long", body=stopping).tool(is_concurrency_safe=parallel))
    harbour.commit = refuse  # type: ignore[method-assign]
    running = asyncio.create_task(harbour.run([("a", "read"), ("b", "long"), ("c", "write")]))
    await harbour.until("body a", "body b")
    harbour.gate("a").set()
    with pytest.raises(OSError, match="disk full"):
        await running
    assert stopped == ["b"]
    assert "call c" not in harbour.diary
    assert not harbour.signal.cancelled


async def test_a_log_that_refuses_a_start_runs_nothing() -> None:
    registry, cast, signal = ToolRegistry(), FakeTool("cast"), CancelSignal()
    registry.register(cast.tool())

    async def refuse(_: ToolCall) -> None:
        raise OSError("disk full")

    call = ToolCall.from_block({"id": "a", "name": "cast", "arguments": ""}, signal, None)
    with pytest.raises(OSError, match="disk full"):
        await run_calls(
            registry,
            [call],
            await resolved(registry),
            signal=signal,
            on_call=refuse,
            commit=lambda _, __: None,
        )
    assert cast.reached == []


async def test_a_batch_whose_task_is_cancelled_leaves_no_body_behind() -> None:
    harbour = Harbour()
    running = asyncio.create_task(harbour.run([("a", "read"), ("b", "read"), ("c", "read")]))
    await harbour.until("body a", "body b", "body c")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(asyncio.all_tasks()) == 1


@settings(max_examples=80, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(["read", "write", "nothing"]), max_size=9),
    order=st.randoms(use_true_random=False),
    limit=st.integers(1, 4),
    cancel_after=st.none() | st.integers(0, 12),
)
def test_whatever_ends_first_calls_and_commits_keep_the_order_of_the_model(
    kinds: list[str], order: Any, limit: int, cancel_after: int | None
) -> None:
    async def run() -> Harbour:
        harbour = Harbour()
        calls = [(f"{index}", kind) for index, kind in enumerate(kinds)]
        running = asyncio.create_task(harbour.run(calls, max_parallel=limit))
        steps = 0
        while not running.done():
            for _ in range(6):
                await asyncio.sleep(0)
            waiting = sorted(call_id for call_id in harbour.inside if not harbour.gate(call_id).is_set())
            if cancel_after == steps:
                harbour.signal.cancel(USER)
            if waiting:
                harbour.gate(order.choice(waiting)).set()
            steps += 1
        await running
        return harbour

    harbour = asyncio.run(run())
    everyone = [f"{index}" for index in range(len(kinds))]
    diary = harbour.diary
    for what in ("call", "commit"):
        assert [line.split()[1] for line in diary if line.startswith(f"{what} ")] == everyone
    assert harbour.most <= limit
    for index, kind in enumerate(kinds):
        if kind == "write" and f"body {index}" in diary:
            begin, end = diary.index(f"body {index}"), diary.index(f"end {index}")
            assert end == begin + 1, "an exclusive call was not alone"
        if f"body {index}" not in diary and kind != "nothing":
            assert outcome(harbour.results[f"{index}"]) == "ABORTED_BEFORE_DISPATCH"
