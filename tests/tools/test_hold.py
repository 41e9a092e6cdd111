"""A held tool set stays as it is while the registry changes."""

from __future__ import annotations

from tests.support.tool_calls import GNAT, FakeAgent, FakeTool, a_call, outcome, resolved, told
from tui.tools.registry import ToolRegistry


async def test_while_held_a_new_tool_waits_and_comes_with_the_release() -> None:
    registry = ToolRegistry()
    registry.register(FakeTool("cast").tool())
    await resolved(registry)
    registry.hold()
    registry.register(FakeTool("tide").tool())
    assert (await resolved(registry)).names == ("cast",)
    assert registry.waiting().added == ("tide",)
    registry.release()
    assert (await resolved(registry)).names == ("cast", "tide")
    assert not registry.waiting() and not registry.is_held()


async def test_what_changed_after_the_last_step_waits_too() -> None:
    registry = ToolRegistry()
    registry.register(FakeTool("cast").tool())
    await resolved(registry)
    registry.register(FakeTool("tide").tool())
    registry.hold()
    assert registry.waiting().added == ("tide",)
    assert (await resolved(registry)).names == ("cast",)


async def test_before_the_first_step_the_hold_keeps_what_is_there_now() -> None:
    registry = ToolRegistry()
    registry.register(FakeTool("cast").tool())
    registry.hold()
    registry.register(FakeTool("tide").tool())
    assert registry.waiting().added == ("tide",)
    assert (await resolved(registry)).names == ("cast",)
    assert (await resolved(registry)).names == ("cast",)


async def test_a_tool_that_is_gone_stays_declared_and_its_call_meets_an_unknown_tool() -> None:
    registry = ToolRegistry()
    cast = FakeTool("cast")
    dispose = registry.register(cast.tool())
    await resolved(registry)
    registry.hold()
    dispose()
    held = await resolved(registry)
    assert [definition.name for definition in held.declarations] == ["cast"]
    assert registry.waiting().removed == ("cast",)
    assert outcome(await registry.execute(a_call("cast"), held)) == "UNKNOWN_TOOL"
    assert cast.reached == []


async def test_a_redefined_tool_is_declared_and_run_as_it_was() -> None:
    registry = ToolRegistry()
    dispose = registry.register(FakeTool("cast", lambda *_: "old").tool())
    await resolved(registry)
    registry.hold()
    dispose()
    registry.register(FakeTool("cast", lambda *_: "new").tool(description="Casts further."))
    held = await resolved(registry)
    assert held.declarations[0].description == "What cast does."
    assert registry.waiting().redefined == ("cast",)
    assert told(await registry.execute(a_call("cast"), held)) == "old"
    registry.release()
    assert told(await registry.execute(a_call("cast"), await resolved(registry))) == "new"


async def test_a_tool_that_came_back_as_it_was_is_no_change() -> None:
    registry = ToolRegistry()
    dispose = registry.register(FakeTool("cast").tool())
    await resolved(registry)
    registry.hold()
    dispose()
    registry.register(FakeTool("cast").tool())
    assert not registry.waiting()
    assert outcome(await registry.execute(a_call("cast"), await resolved(registry))) == "ok"


async def test_a_condition_that_turns_does_not_change_a_held_set() -> None:
    registry = ToolRegistry()
    registry.register(FakeTool("cast").tool(), lambda context: context.model_selection.model != "gnat-1")
    registry.register(FakeTool("tide").tool(), lambda context: context.model_selection.model == "gnat-1")
    await resolved(registry)
    registry.hold()
    assert (await resolved(registry, selection=GNAT)).names == ("cast",)
    registry.release()
    assert (await resolved(registry, selection=GNAT)).names == ("tide",)


async def test_the_hold_of_one_agent_leaves_the_others_alone() -> None:
    registry = ToolRegistry()
    held, free = FakeAgent(registry.scope("held")), FakeAgent(registry.scope("free"))
    await resolved(registry, agent=held)
    registry.hold(held)
    registry.register(FakeTool("cast").tool())
    assert (await resolved(registry, agent=held)).names == ()
    assert (await resolved(registry, agent=free)).names == ("cast",)
    assert not registry.is_held(free)


async def test_without_a_hold_a_replaced_tool_is_unknown_to_the_running_step() -> None:
    registry = ToolRegistry()
    dispose = registry.register(FakeTool("cast").tool())
    step = await resolved(registry)
    dispose()
    registry.register(FakeTool("cast").tool())
    assert outcome(await registry.execute(a_call("cast"), step)) == "UNKNOWN_TOOL"
