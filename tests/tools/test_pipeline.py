"""One call from its arguments to its result, text by text (loop-and-adapters §6.3)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.tool_calls import USER, FakeTool, a_call, outcome, resolved, told
from tui.session.cancel import CancelSignal
from tui.tools.approval import AllowOnce, Answer, ApprovalRequest, ApprovalService, Dismiss, Reject
from tui.tools.hooks import (
    Accept,
    Allow,
    Ask,
    BlockResult,
    CallContext,
    CancelCall,
    Decision,
    Deny,
    SuccessContext,
)
from tui.tools.registry import ToolRegistry
from tui.tools.tool import OutputContract, ToolContext, ToolFailure, ToolResult, ToolSuccess


class FakeAnswerer:
    """Gives one answer to everything, or raises it."""

    def __init__(self, answer: Answer | Exception) -> None:
        self._answer = answer
        self.asked: list[ApprovalRequest] = []

    async def answer(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def approving(answerer: FakeAnswerer | None) -> ApprovalService:
    return ApprovalService("ask", answerer, lambda _, __: None)


async def run(registry: ToolRegistry, fake: FakeTool, arguments: Any = None, **facts: Any) -> ToolResult:
    registry.register(fake.tool(**facts))
    return await registry.execute(a_call(fake.name, arguments), await resolved(registry))


def deciding(registry: ToolRegistry, decision: Decision) -> None:
    async def decide(_: CallContext, __: Any) -> Decision:
        return decision

    registry.hooks.pre_execute.append(decide)


async def test_a_success_becomes_content_and_meta() -> None:
    contract = OutputContract(
        schema={"type": "object", "required": ["fish"]},
        render=lambda value: [{"type": "text", "text": f"{value['fish']} fish"}],
        presentation_meta=lambda value: {"count": value["fish"]},
    )
    result = await run(ToolRegistry(), FakeTool("cast", body=lambda _, __: {"fish": 3}), output=contract)
    assert result.event_data(2, 1, "m1") == {
        "turn": 2,
        "step": 1,
        "message": {
            "id": "m1",
            "role": "tool",
            "toolCallId": "c1",
            "source": {"kind": "tool", "callId": "c1"},
            "content": [{"type": "text", "text": "3 fish"}],
            "isError": False,
        },
        "meta": {"count": 3},
    }


async def test_an_empty_text_is_no_block() -> None:
    assert (await run(ToolRegistry(), FakeTool("cast", body=lambda _, __: ""))).content == []


async def test_invalid_arguments_do_not_reach_the_body() -> None:
    cast = FakeTool("cast")
    schema = {"type": "object", "properties": {"far": {"type": "number"}}, "required": ["where"]}
    result = await run(ToolRegistry(), cast, {"far": "x"}, parameters=schema)
    assert told(result) == (
        'Error: invalid arguments: missing required property "where"; "far" must be a number'
    )
    assert (outcome(result), cast.reached) == ("INVALID_ARGS", [])


async def test_a_tool_may_have_its_arguments_checked_elsewhere() -> None:
    cast = FakeTool("cast")
    schema = {"type": "object", "required": ["where"], "$schema": "any"}
    assert outcome(await run(ToolRegistry(), cast, {}, parameters=schema, argument_check="none")) == "ok"


async def test_arguments_that_are_no_json_are_an_error() -> None:
    cast = FakeTool("cast")
    result = await run(ToolRegistry(), cast, {"far": float("nan")})
    assert (outcome(result), cast.reached) == ("INVALID_ARGS", [])


async def test_what_a_body_does_to_its_arguments_nobody_else_sees() -> None:
    registry, call = ToolRegistry(), a_call("cast", {"far": [1]})
    seen: list[Any] = []

    def body(arguments: Any, _: ToolContext) -> str:
        arguments["far"].append(2)
        return "done"

    async def look(context: CallContext, go_on: Any) -> Any:
        value = await go_on()
        seen.append(context.arguments)
        return value

    registry.hooks.execute.append(look)
    registry.register(FakeTool("cast", body=body).tool())
    await registry.execute(call, await resolved(registry))
    assert (seen, call.arguments) == ([{"far": [1]}], {"far": [1]})


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (Allow(), "cast done"),
        (Deny("not at night"), "Error: not at night"),
        (CancelCall(), 'Error: approval for tool "cast" was cancelled'),
        (Ask(), 'Error: tool "cast" requires approval (not yet supported)'),
        (Ask(reason="writes outside"), "Error: writes outside"),
    ],
)
async def test_a_decision_has_its_text_where_there_is_no_approval_service(decision: Any, text: str) -> None:
    registry, cast = ToolRegistry(), FakeTool("cast")
    deciding(registry, decision)
    result = await run(registry, cast)
    assert (told(result), result.error) == (text, None)
    assert bool(cast.reached) == isinstance(decision, Allow)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (AllowOnce(), "cast done"),
        (Reject(), 'Error: the user rejected tool "cast"'),
        (Reject("too deep here"), 'Error: the user rejected tool "cast": too deep here'),
        (Dismiss(), 'Error: approval for tool "cast" was cancelled'),
        (ConnectionError(), 'Error: tool "cast" requires approval, but no approval channel is available'),
        (None, 'Error: tool "cast" requires approval, but no approval channel is available'),
    ],
)
async def test_an_answer_has_its_text(answer: Any, text: str) -> None:
    registry = ToolRegistry(approval=approving(None if answer is None else FakeAnswerer(answer)))
    cast = FakeTool("cast")
    result = await run(registry, cast, policy=lambda _: Ask())
    assert (told(result), result.error) == (text, None)
    assert bool(cast.reached) == isinstance(answer, AllowOnce)


async def test_a_cancel_while_the_question_is_open_is_the_abort_of_the_call() -> None:
    signal, asked = CancelSignal(), asyncio.Event()

    class Open:
        async def answer(self, request: ApprovalRequest) -> Answer:
            asked.set()
            return await asyncio.Event().wait()

    registry = ToolRegistry(approval=ApprovalService("ask", Open(), lambda _, __: None))
    registry.register(FakeTool("cast").tool(policy=lambda _: Ask()))
    running = asyncio.create_task(registry.execute(a_call("cast", signal=signal), await resolved(registry)))
    await asked.wait()
    signal.cancel(USER)
    assert outcome(await running) == "ABORTED_BEFORE_DISPATCH"


async def test_nobody_is_asked_about_a_call_that_is_refused_anyway() -> None:
    answerer = FakeAnswerer(AllowOnce())
    registry = ToolRegistry(approval=approving(answerer))
    deciding(registry, Ask())
    assert outcome(await registry.execute(a_call("cast"), await resolved(registry))) == "UNKNOWN_TOOL"
    await run(registry, FakeTool("tide"), "no object")
    assert answerer.asked == []


async def test_an_outer_listener_decides_before_the_tool_itself() -> None:
    answerer = FakeAnswerer(AllowOnce())
    registry = ToolRegistry(approval=approving(answerer))
    deciding(registry, Allow())
    assert outcome(await run(registry, FakeTool("cast"), policy=lambda _: Ask())) == "ok"
    assert answerer.asked == []


async def test_a_guard_denies_what_was_allowed() -> None:
    registry, cast = ToolRegistry(approval=approving(FakeAnswerer(AllowOnce()))), FakeTool("cast")

    async def no(_: CallContext) -> Deny:
        return Deny("the harbour is closed")

    async def yes(_: CallContext) -> None:
        return None

    registry.hooks.guards += [no, yes]
    assert told(await run(registry, cast, policy=lambda _: Ask())) == "Error: the harbour is closed"
    assert cast.reached == []


async def test_a_body_that_raises_tells_its_message_and_a_code_if_it_has_one() -> None:
    def plain(_: Any, __: ToolContext) -> str:
        raise ValueError("the line broke")

    def coded(_: Any, __: ToolContext) -> str:
        raise ToolFailure("the line broke", "LINE_BROKE", name="LineError")

    def silent(_: Any, __: ToolContext) -> str:
        raise ValueError

    results = [await run(ToolRegistry(), FakeTool("cast", body=body)) for body in (plain, coded, silent)]
    assert [(told(result), result.error) for result in results] == [
        ("Error: the line broke", None),
        ("Error: the line broke", {"name": "LineError", "code": "LINE_BROKE"}),
        ("Error: ValueError", None),
    ]


async def test_a_tools_own_error_survives_a_cancel() -> None:
    registry, signal = ToolRegistry(), CancelSignal()

    def body(_: Any, __: ToolContext) -> str:
        signal.cancel(USER)
        raise ValueError("the line broke")

    registry.register(FakeTool("cast", body=body).tool())
    result = await registry.execute(a_call("cast", signal=signal), await resolved(registry))
    assert (told(result), result.error) == ("Error: the line broke", None)


async def test_a_body_that_stops_with_its_signal_is_aborted() -> None:
    registry, signal, started = ToolRegistry(), CancelSignal(), asyncio.Event()

    async def body(_: Any, context: ToolContext) -> str:
        started.set()
        await context.signal.wait()
        context.signal.raise_if_cancelled()
        return "never"

    registry.register(FakeTool("cast", body=body).tool())
    running = asyncio.create_task(registry.execute(a_call("cast", signal=signal), await resolved(registry)))
    await started.wait()
    signal.cancel(USER)
    assert outcome(await running) == "ABORTED"


async def test_time_that_is_up_is_told_to_the_body_and_to_the_model() -> None:
    async def body(_: Any, context: ToolContext) -> str:
        return str(await context.signal.wait())

    result = await run(ToolRegistry(), FakeTool("cast", body=body), timeout_ms=1)
    assert (told(result), outcome(result)) == ('Error: tool "cast" timed out after 1 ms', "TIMEOUT")


@pytest.mark.parametrize(
    ("value", "violation"),
    [(3, '"value" must be a string'), (float("nan"), '"value" is not lossless JSON')],
)
async def test_a_value_outside_the_contract_is_an_error(value: Any, violation: str) -> None:
    result = await run(ToolRegistry(), FakeTool("cast", body=lambda _, __: value))
    assert told(result) == f'Error: tool "cast" returned invalid output: {violation}'
    assert outcome(result) == "INVALID_TOOL_OUTPUT"


async def test_wrappers_stand_around_the_body_first_one_outermost() -> None:
    registry, order = ToolRegistry(), []

    def wrapper(name: str) -> Any:
        async def wrap(_: CallContext, go_on: Any) -> Any:
            order.append(f"{name} in")
            value = await go_on()
            order.append(f"{name} out")
            return f"{name}({value})"

        return wrap

    registry.hooks.execute += [wrapper("outer"), wrapper("inner")]
    assert told(await run(registry, FakeTool("cast"))) == "outer(inner(cast done))"
    assert order == ["outer in", "inner in", "inner out", "outer out"]


async def test_a_review_may_replace_content_or_value_and_add_context() -> None:
    registry = ToolRegistry()
    reviews = [
        Accept(content=[{"type": "text", "text": "shown"}], additional_contexts=({"id": "x"},)),
        Accept(value="another", replaces_value=True),
        Accept(value=7, replaces_value=True),
        BlockResult("look again"),
    ]

    async def review(_: SuccessContext, __: Any) -> Any:
        return reviews.pop(0)

    registry.hooks.post_execute.append(review)
    registry.register(FakeTool("cast", body=lambda _, __: ToolSuccess("v", ({"id": "own"},), True)).tool())
    tool_set = await resolved(registry)
    first, second, third, fourth = [await registry.execute(a_call("cast"), tool_set) for _ in range(4)]
    assert (told(first), first.additional_contexts) == ("shown", ({"id": "own"}, {"id": "x"}))
    assert (told(second), second.value, second.concludes_turn) == ("another", "another", True)
    assert outcome(third) == "INVALID_TOOL_OUTPUT"
    assert (told(fourth), fourth.is_error, fourth.concludes_turn) == ("Error: look again", True, False)


async def test_projection_comes_before_the_review_and_the_finalizer_last() -> None:
    registry, seen = ToolRegistry(), []

    def adding(letter: str) -> Any:
        return lambda content: [{"type": "text", "text": content[0]["text"] + letter}]

    async def review(context: SuccessContext, go_on: Any) -> Any:
        seen.append(context.content[0]["text"])
        return await go_on()

    registry.hooks.post_execute.append(review)
    result = await run(registry, FakeTool("cast"), project_content=adding("p"), finalize_content=adding("f"))
    assert (seen, told(result)) == (["cast donep"], "cast donepf")


async def test_the_finalizer_has_the_last_word_on_errors_too() -> None:
    def body(_: Any, __: ToolContext) -> str:
        raise ValueError("secret")

    hush = lambda _: [{"type": "text", "text": "hushed"}]  # noqa: E731
    result = await run(ToolRegistry(), FakeTool("cast", body=body), finalize_content=hush)
    assert (told(result), result.is_error) == ("hushed", True)


async def test_observers_hear_every_result_and_change_none() -> None:
    registry, heard = ToolRegistry(), []

    def observe(_: Any, result: ToolResult) -> None:
        heard.append(outcome(result))
        result.content.clear()

    registry.hooks.observers.append(observe)
    result = await run(registry, FakeTool("cast"))
    await registry.execute(a_call("nothing"), await resolved(registry))
    assert (heard, told(result)) == (["ok", "UNKNOWN_TOOL"], "cast done")


@pytest.mark.parametrize("stage", ["pre_execute", "execute", "post_execute", "guards"])
async def test_a_hook_that_raises_makes_an_error_result(stage: str) -> None:
    async def broken(*_: Any) -> Any:
        raise ValueError("a broken hook")

    registry = ToolRegistry()
    getattr(registry.hooks, stage).append(broken)
    assert told(await run(registry, FakeTool("cast"))) == "Error: a broken hook"


async def test_a_started_body_is_awaited_when_its_caller_stops_waiting() -> None:
    registry, signal, started, finish = ToolRegistry(), CancelSignal(), asyncio.Event(), asyncio.Event()
    ended: list[str] = []

    async def body(_: Any, __: ToolContext) -> str:
        started.set()
        await finish.wait()
        ended.append("body")
        return "done"

    registry.register(FakeTool("cast", body=body).tool())
    running = asyncio.create_task(registry.execute(a_call("cast", signal=signal), await resolved(registry)))
    await started.wait()
    signal.cancel(USER)
    for _ in range(5):
        await asyncio.sleep(0)
    assert not running.done()
    finish.set()
    assert (outcome(await running), ended) == ("ABORTED", ["body"])
