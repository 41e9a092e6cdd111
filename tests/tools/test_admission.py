"""Conditions and the admission table, row by row (loop-and-adapters §6.6, source 004)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tool_calls import GNAT, MINNOW, USER, FakeAgent, FakeTool, a_call, outcome, resolved, told
from tui.session.cancel import Cancelled, CancelSignal
from tui.tools.admission import ToolActivationFailed
from tui.tools.hooks import CallContext
from tui.tools.registry import ToolRegistry
from tui.tools.scope import ActivationContext
from tui.tools.tool import ToolContext


def raising(error: Exception) -> Callable[[ActivationContext], bool]:
    def when(_: ActivationContext) -> bool:
        raise error

    return when


async def test_a_condition_follows_the_model() -> None:
    registry = ToolRegistry()
    registry.register(FakeTool("net_cast").tool())
    registry.register(FakeTool("deep_scan").tool(), when=lambda at: at.model_selection.model == "minnow-2")
    seen = [(await resolved(registry, selection=one)).names for one in (MINNOW, GNAT, MINNOW)]
    assert seen == [("deep_scan", "net_cast"), ("net_cast",), ("deep_scan", "net_cast")]


async def test_a_condition_is_asked_once_with_agent_selection_and_signal() -> None:
    registry, asked = ToolRegistry(), []
    agent, signal = FakeAgent(registry.scope("agent")), CancelSignal()

    async def when(context: ActivationContext) -> bool:
        asked.append(context)
        return True

    registry.register(FakeTool("cast").tool(), when=when)
    tool_set = await resolved(registry, agent=agent, signal=signal)
    for _ in range(2):
        await registry.execute(a_call("cast", agent=agent), tool_set)
    assert asked == [ActivationContext(agent, MINNOW, signal)]


async def test_conditions_run_at_the_same_time() -> None:
    registry, both = ToolRegistry(), asyncio.Barrier(2)

    async def when(_: ActivationContext) -> bool:
        await both.wait()
        return True

    registry.register(FakeTool("cast").tool(), when=when)
    registry.register(FakeTool("tide").tool(), when=when)
    assert (await resolved(registry)).names == ("cast", "tide")


async def test_a_raising_condition_names_its_tool_and_its_cause() -> None:
    registry = ToolRegistry()
    registry.register(FakeTool("cast").tool(), when=raising(ValueError("no sea")))
    with pytest.raises(ToolActivationFailed) as failed:
        await resolved(registry)
    assert failed.value.code == "TOOL_ACTIVATION_FAILED"
    assert failed.value.message == 'tool "cast" activation failed: no sea'


async def test_the_first_failure_by_name_is_told_though_it_comes_last() -> None:
    registry, later, told_to_stop = ToolRegistry(), asyncio.Event(), asyncio.Event()

    async def slow(_: ActivationContext) -> bool:
        await later.wait()
        raise ValueError("slow")

    async def quick(_: ActivationContext) -> bool:
        later.set()
        raise ValueError("quick")

    async def endless(_: ActivationContext) -> bool:
        try:
            return await asyncio.Event().wait()
        finally:
            told_to_stop.set()

    registry.register(FakeTool("c").tool(), when=endless)
    registry.register(FakeTool("b").tool(), when=quick)
    registry.register(FakeTool("a").tool(), when=slow)
    with pytest.raises(ToolActivationFailed, match=r'^tool "a" activation failed: slow$'):
        await resolved(registry)
    await told_to_stop.wait()


async def test_cancelling_comes_before_a_condition_that_does_not_end() -> None:
    registry, signal, asked = ToolRegistry(), CancelSignal(), asyncio.Event()

    async def when(_: ActivationContext) -> bool:
        asked.set()
        return await asyncio.Event().wait()

    registry.register(FakeTool("cast").tool(), when=when)
    resolving = asyncio.create_task(resolved(registry, signal=signal))
    await asked.wait()
    signal.cancel(USER)
    with pytest.raises(Cancelled):
        await resolving


async def test_a_condition_that_fails_because_of_the_cancel_is_no_failure() -> None:
    registry, signal = ToolRegistry(), CancelSignal()

    async def when(context: ActivationContext) -> bool:
        signal.cancel(USER)
        raise ValueError("broken off")

    registry.register(FakeTool("cast").tool(), when=when)
    with pytest.raises(Cancelled):
        await resolved(registry, signal=signal)


async def test_a_cancelled_step_asks_no_condition() -> None:
    registry, signal = ToolRegistry(), CancelSignal()
    registry.register(FakeTool("cast").tool(), when=raising(ValueError("asked")))
    signal.cancel(USER)
    with pytest.raises(Cancelled):
        await resolved(registry, signal=signal)


async def test_a_shadowed_tool_does_not_come_back_when_the_condition_is_false() -> None:
    registry = ToolRegistry()
    registry.register(FakeTool("cast").tool())
    scope = registry.scope("agent")
    scope.register(FakeTool("cast").tool(), when=lambda _: False)
    assert (await resolved(registry, agent=FakeAgent(scope))).names == ()


async def test_sections_of_the_prompt_see_the_set() -> None:
    registry = ToolRegistry()
    registry.register(FakeTool("cast").tool(), when=lambda at: at.model_selection.model == "gnat-1")
    registry.register(FakeTool("tide").tool())
    with_cast = await resolved(registry, selection=GNAT)
    without = await resolved(registry)
    assert registry.get("cast", tool_set=with_cast) is not None
    assert registry.get("cast", tool_set=without) is None
    assert registry.get("cast") is None
    assert [definition.name for definition in registry.schemas(tool_set=with_cast)] == ["cast", "tide"]
    assert [definition.name for definition in registry.schemas()] == ["tide"]


# --- the call admission table -----------------------------------------------------------------------


async def test_a_model_runs_what_its_step_admits() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    registry.register(cast.tool(), when=lambda _: True)
    result = await registry.execute(a_call("cast", {"far": 3}), await resolved(registry))
    assert (outcome(result), told(result), cast.reached) == ("ok", "cast done", [{"far": 3}])


async def test_a_model_meets_no_tool_whose_condition_is_false() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    registry.register(cast.tool(), when=lambda _: False)
    result = await registry.execute(a_call("cast"), await resolved(registry))
    assert result.error == {"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"}
    assert (told(result), result.is_error, cast.reached) == ('Error: unknown tool "cast"', True, [])


async def test_a_model_meets_no_tool_that_was_registered_after_the_step_began() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    tool_set = await resolved(registry)
    registry.register(cast.tool())
    assert outcome(await registry.execute(a_call("cast"), tool_set)) == "UNKNOWN_TOOL"
    assert cast.reached == []


async def test_a_model_meets_no_tool_that_was_never_there() -> None:
    registry = ToolRegistry()
    assert outcome(await registry.execute(a_call("cast"), await resolved(registry))) == "UNKNOWN_TOOL"


async def test_a_removed_tool_is_unknown_at_once() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    dispose = registry.register(cast.tool())
    tool_set = await resolved(registry)
    dispose()
    assert outcome(await registry.execute(a_call("cast"), tool_set)) == "UNKNOWN_TOOL"
    assert cast.reached == []


async def test_a_replaced_tool_is_unknown_though_its_definition_is_equal() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    same = cast.tool()
    dispose = registry.register(same)
    tool_set = await resolved(registry)
    dispose()
    registry.register(same)
    assert outcome(await registry.execute(a_call("cast"), tool_set)) == "UNKNOWN_TOOL"
    assert cast.reached == []
    assert outcome(await registry.execute(a_call("cast"), await resolved(registry))) == "ok"


async def test_a_tool_that_a_scope_shadows_in_mid_step_is_unknown() -> None:
    registry, cast, nearer = ToolRegistry(), FakeTool("cast"), FakeTool("cast")
    registry.register(cast.tool())
    agent = FakeAgent(registry.scope("agent"))
    tool_set = await resolved(registry, agent=agent)
    assert agent.tool_scope is not None
    agent.tool_scope.register(nearer.tool())
    assert outcome(await registry.execute(a_call("cast", agent=agent), tool_set)) == "UNKNOWN_TOOL"
    assert (cast.reached, nearer.reached) == ([], [])


async def test_a_tool_that_is_restricted_away_is_unknown() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    registry.register(cast.tool())
    scope = registry.scope("agent")
    agent = FakeAgent(scope)
    tool_set = await resolved(registry, agent=agent)
    scope.restrict(deny=["cast"])
    assert outcome(await registry.execute(a_call("cast", agent=agent), tool_set)) == "UNKNOWN_TOOL"
    assert cast.reached == []


async def test_a_started_call_finishes_though_its_tool_is_removed() -> None:
    registry = ToolRegistry()
    cast = FakeTool("cast", body=lambda _, __: dispose() or "finished")
    dispose = registry.register(cast.tool())
    result = await registry.execute(a_call("cast"), await resolved(registry))
    assert (outcome(result), told(result)) == ("ok", "finished")


async def test_a_tool_replaced_while_its_call_waits_for_policy_is_unknown() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    dispose = registry.register(cast.tool())

    async def slow_policy(_: CallContext, go_on: Any) -> Any:
        dispose()
        registry.register(cast.tool())
        return await go_on()

    registry.hooks.pre_execute.append(slow_policy)
    assert outcome(await registry.execute(a_call("cast"), await resolved(registry))) == "UNKNOWN_TOOL"
    assert cast.reached == []


async def test_no_wrapper_makes_a_success_of_a_call_that_is_refused_at_its_body() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    dispose = registry.register(cast.tool())

    async def hiding(_: CallContext, go_on: Any) -> Any:
        dispose()
        try:
            return await go_on()
        except Exception:
            return "all is well"

    registry.hooks.execute.append(hiding)
    assert outcome(await registry.execute(a_call("cast"), await resolved(registry))) == "UNKNOWN_TOOL"
    assert cast.reached == []


@pytest.mark.parametrize("origin", ["model", "nested", "program"])
async def test_nothing_runs_through_a_disposed_set(origin: Any) -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    registry.register(cast.tool())
    tool_set = await resolved(registry)
    tool_set.dispose()
    assert outcome(await registry.execute(a_call("cast", origin=origin), tool_set)) == "UNKNOWN_TOOL"
    assert (cast.reached, registry.get("cast", tool_set=tool_set)) == ([], None)


async def test_a_cancelled_call_through_a_disposed_set_is_unknown() -> None:
    registry, signal = ToolRegistry(), CancelSignal()
    registry.register(FakeTool("cast").tool())
    tool_set = await resolved(registry)
    tool_set.dispose()
    signal.cancel(USER)
    assert outcome(await registry.execute(a_call("cast", signal=signal), tool_set)) == "UNKNOWN_TOOL"


@pytest.mark.parametrize("origin", ["model", "nested"])
async def test_a_model_reaches_nothing_without_a_set(origin: Any) -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    registry.register(cast.tool())
    assert outcome(await registry.execute(a_call("cast", origin=origin))) == "UNKNOWN_TOOL"
    assert cast.reached == []


async def test_a_nested_call_goes_through_the_set_of_its_parent() -> None:
    registry = ToolRegistry()
    cast, hidden = FakeTool("cast"), FakeTool("hidden")
    seen: list[tuple[str, str, str]] = []

    async def body(_: Any, context: ToolContext) -> str:
        for name in ("cast", "hidden", "late"):
            result = await context.call_tool(name, {})
            seen.append((result.call_id, name, outcome(result)))
        return "done"

    registry.register(FakeTool("plan", body=body).tool())
    registry.register(cast.tool(), when=lambda _: True)
    registry.register(hidden.tool(), when=lambda _: False)
    tool_set = await resolved(registry)
    registry.register(FakeTool("late").tool())
    await registry.execute(a_call("plan", call_id="k"), tool_set)
    assert seen == [
        ("k:ptc:1", "cast", "ok"),
        ("k:ptc:2", "hidden", "UNKNOWN_TOOL"),
        ("k:ptc:3", "late", "UNKNOWN_TOOL"),
    ]
    assert hidden.reached == []


async def test_a_program_runs_the_unconditional_tool_that_is_there_now() -> None:
    registry, cast, newer = ToolRegistry(), FakeTool("cast"), FakeTool("cast")
    registry.register(cast.tool())()
    registry.register(newer.tool())
    assert outcome(await registry.execute(a_call("cast", origin="program"))) == "ok"
    assert (cast.reached, newer.reached) == ([], [{}])


async def test_a_program_without_a_set_meets_no_conditional_tool() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    registry.register(cast.tool(), when=lambda _: True)
    assert outcome(await registry.execute(a_call("cast", origin="program"))) == "UNKNOWN_TOOL"
    assert registry.executable("cast") is None
    assert cast.reached == []


async def test_a_program_with_its_own_set_calls_as_a_model_does() -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    dispose = registry.register(cast.tool(), when=lambda _: True)
    tool_set = await resolved(registry)
    call = a_call("cast", origin="program")
    assert outcome(await registry.execute(call, tool_set)) == "ok"
    dispose()
    assert outcome(await registry.execute(call, tool_set)) == "UNKNOWN_TOOL"


async def test_cancelling_does_not_empty_the_set() -> None:
    registry, signal = ToolRegistry(), CancelSignal()
    registry.register(FakeTool("cast").tool())
    tool_set = await resolved(registry, signal=signal)
    signal.cancel(USER)
    assert (tool_set.names, tool_set.disposed) == (("cast",), False)
    assert registry.executable("cast", None, tool_set) is not None


async def test_a_call_that_did_not_start_before_the_cancel_is_aborted_and_still_finalised() -> None:
    registry, signal, cast = ToolRegistry(), CancelSignal(), FakeTool("cast")
    registry.register(cast.tool(finalize_content=lambda content: [*content, {"type": "text", "text": "!"}]))
    tool_set = await resolved(registry)
    signal.cancel(USER)
    result = await registry.execute(a_call("cast", signal=signal), tool_set)
    assert result.error == {"name": "AbortError", "code": "ABORTED_BEFORE_DISPATCH"}
    assert told(result) == "Error: tool call aborted before dispatch!"
    assert cast.reached == []


async def test_a_cancelled_call_of_a_replaced_tool_is_aborted_not_unknown() -> None:
    registry, signal, cast = ToolRegistry(), CancelSignal(), FakeTool("cast")
    dispose = registry.register(cast.tool())
    tool_set = await resolved(registry)
    dispose()
    signal.cancel(USER)
    result = await registry.execute(a_call("cast", signal=signal), tool_set)
    assert outcome(result) == "ABORTED_BEFORE_DISPATCH"


async def test_a_body_that_succeeds_after_the_cancel_is_aborted() -> None:
    registry, signal = ToolRegistry(), CancelSignal()
    cast = FakeTool("cast", body=lambda _, __: signal.cancel(USER) or "landed")
    registry.register(cast.tool())
    result = await registry.execute(a_call("cast", signal=signal), await resolved(registry))
    assert result.error == {"name": "AbortError", "code": "ABORTED"}
    assert told(result) == "Error: tool call aborted"


async def test_a_wrapper_that_succeeds_after_the_cancel_without_the_body_is_aborted_before_dispatch() -> None:
    registry, signal, cast = ToolRegistry(), CancelSignal(), FakeTool("cast")
    registry.register(cast.tool())

    async def cached(_: CallContext, __: Any) -> str:
        signal.cancel(USER)
        return "from the cache"

    registry.hooks.execute.append(cached)
    result = await registry.execute(a_call("cast", signal=signal), await resolved(registry))
    assert (outcome(result), cast.reached) == ("ABORTED_BEFORE_DISPATCH", [])


@settings(max_examples=60, deadline=None)
@given(
    conditional=st.booleans(),
    admitted=st.booleans(),
    removed=st.booleans(),
    registered_again=st.booleans(),
    disposed=st.booleans(),
    cancelled=st.booleans(),
    with_set=st.booleans(),
    origin=st.sampled_from(["model", "nested", "program"]),
)
def test_the_implementation_is_reached_exactly_where_the_table_says(
    *,
    conditional: bool,
    admitted: bool,
    removed: bool,
    registered_again: bool,
    disposed: bool,
    cancelled: bool,
    with_set: bool,
    origin: Any,
) -> None:
    async def run() -> tuple[str, bool]:
        registry, cast, signal = ToolRegistry(), FakeTool("cast"), CancelSignal()
        when = (lambda _: admitted) if conditional else None
        dispose = registry.register(cast.tool(), when)
        tool_set = await resolved(registry)
        if removed:
            dispose()
            if registered_again:
                registry.register(cast.tool(), when)
        if disposed:
            tool_set.dispose()
        if cancelled:
            signal.cancel(USER)
        call = a_call("cast", signal=signal, origin=origin)
        result = await registry.execute(call, tool_set if with_set else None)
        return outcome(result), bool(cast.reached)

    in_set = admitted or not conditional
    there = not removed or registered_again
    if with_set and disposed:
        expected = "UNKNOWN_TOOL"
    elif cancelled:
        expected = "ABORTED_BEFORE_DISPATCH"
    elif with_set:
        expected = "ok" if in_set and not removed else "UNKNOWN_TOOL"
    else:
        expected = "ok" if origin == "program" and not conditional and there else "UNKNOWN_TOOL"
    assert asyncio.run(run()) == (expected, expected == "ok")
