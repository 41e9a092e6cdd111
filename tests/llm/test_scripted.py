"""The scripted provider: what a script says is what comes, on every kind of route."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import wirecheck
from tests.support.tool_sessions import ToolSession
from tui.llm.assembly import Answer, StreamAssembler
from tui.llm.clock import InstantClock
from tui.llm.failure import LlmFailure, failure_of
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.script import Answers, Call, CutOff, Fail, Pause, Say, ScriptedAnswer, Sent, Think, answer
from tui.llm.scripted import MODELS, ScriptedAdapter
from tui.session.cancel import CancelSignal

CONFIG = CallConfig(provider="scripted", model="scripted-addition-only")


def ask(text: str = "How hot?", **fields: Any) -> GenerateRequest:
    message = {"id": "u1", "role": "user", "content": [{"type": "text", "text": text}]}
    return GenerateRequest(**{"config": CONFIG, "messages": [message], **fields})


async def chunks_of(
    adapter: ScriptedAdapter, request: GenerateRequest | None = None, config: CallConfig = CONFIG
) -> list[dict[str, Any]]:
    stream = adapter.prepare(config).stream(request or ask(), CancelSignal())
    return [chunk async for chunk in stream]


def assembled(chunks: list[dict[str, Any]]) -> Answer:
    assembler = StreamAssembler()
    for chunk in chunks:
        assembler.feed(1, chunk)
    return assembler.message()


async def test_an_answer_comes_in_pieces_at_its_pace() -> None:
    clock = InstantClock()
    script = Answers([answer(Think("One call."), "Reading it.", Call("dial", {"n": 1}), pace_s=0.5)])
    chunks = await chunks_of(ScriptedAdapter(script, clock))
    whole = assembled(chunks)
    assert [block.get("text", block.get("arguments")) for block in whole.blocks] == [
        "One call.",
        "Reading it.",
        '{"n": 1}',
    ]
    assert whole.finish.kind == "tool-calls"
    assert [chunk["text"] for chunk in chunks if chunk["type"] == "text-delta"] == ["Readin", "g it."]
    assert set(clock.waits) == {0.5}
    assert clock.now_ms() == InstantClock().now_ms() + 500 * len(clock.waits)
    assert whole.replay_state is not None
    assert [set(entry) for entry in whole.replay_state["blocks"]] == [
        {"type", "signature"},
        {"type"},
        {"type"},
    ]


async def test_the_same_requests_get_the_same_chunks() -> None:
    def script() -> Answers:
        return Answers([answer(Think("a"), Call("dial", {})), answer("b")])

    first, second = (ScriptedAdapter(script(), InstantClock()) for _ in range(2))
    for text in ("one", "two"):
        assert await chunks_of(first, ask(text)) == await chunks_of(second, ask(text))


async def test_answers_come_in_order_and_a_summary_has_its_own() -> None:
    script = Answers([answer("one"), answer("two")], auxiliary=[answer("summary")])
    adapter = ScriptedAdapter(script, InstantClock())
    texts = []
    for purpose in ("loop", "compaction", "loop", "loop"):
        texts.append(assembled(await chunks_of(adapter, ask(purpose=purpose))).blocks[0]["text"])
    assert texts == ["one", "summary", "two", "There is nothing more in this script."]


async def test_a_failure_keeps_what_came_before_it() -> None:
    fail = Fail("Overloaded", status=529, retry_after_ms=40, request_id="r1")
    chunks = await chunks_of(ScriptedAdapter(Answers([answer("Half", fail)]), InstantClock()))
    failure = failure_of(chunks[-1])
    assert failure is not None
    assert failure.to_json() == {
        "message": "Overloaded",
        "code": "SERVER",
        "status": 529,
        "providerRetryAfterMs": 40,
        "requestId": "r1",
    }
    assert [chunk["text"] for chunk in chunks if chunk["type"] == "text-delta"] == ["Half"]


async def test_an_answer_is_cut_at_the_cap() -> None:
    script = Answers([answer("Reading", Call("dial", '{"n": '), CutOff())])
    whole = assembled(await chunks_of(ScriptedAdapter(script, InstantClock())))
    assert (whole.finish.kind, whole.blocks) == ("max-tokens", [{"type": "text", "text": "Reading"}])


async def test_a_script_without_content_is_an_empty_answer() -> None:
    chunks = await chunks_of(ScriptedAdapter(Answers([answer(Pause(1))]), InstantClock()))
    failure = failure_of(chunks[-1])
    assert failure is not None
    assert failure.code == "EMPTY_RESPONSE"


async def test_cancelling_ends_a_pause_at_once() -> None:
    signal = CancelSignal()
    stream = (
        ScriptedAdapter(Answers([answer("Half", Pause(3600), "more")])).prepare(CONFIG).stream(ask(), signal)
    )
    chunks = []
    async with asyncio.timeout(20):
        async for chunk in stream:
            chunks.append(chunk)
            if chunk["type"] == "block-end":
                signal.cancel({"kind": "user"})
    assert chunks[-1]["reason"]["kind"] == "aborted"


@pytest.mark.parametrize("model", sorted(MODELS))
async def test_one_script_is_seen_on_every_kind_of_route(model: str, shared: Path) -> None:
    class Watch:
        def answer(self, sent: Sent) -> ScriptedAnswer:
            seen.append(sent)
            return answer("Done.")

    seen: list[Sent] = []
    adapter, session = ScriptedAdapter(Watch(), InstantClock()), ToolSession()
    config, usages, bodies = CallConfig(provider="scripted", model=model), [], []
    for names in ("a b", "a b c", "b c", "a b c"):
        session.step(names)
        request = ask(messages=session.messages, tools=session.tools, tool_history=session.history)
        bodies.append(adapter.prepare(config).body(request))
        usages.append(assembled(await chunks_of(adapter, request, config)).usage)
        session.answer()
    changes = ["".join(sign + name for sign, name in sent.changes) for sent in seen]
    assert (
        changes
        == {
            "scripted-none": ["", "", "", ""],
            "scripted-addition-only": ["", "+c", "+c", "+c"],
            "scripted-in-history": ["", "+c", "+c-a", "+c-a+a"],
        }[model]
    )
    # What the cache would keep: all that was sent before, where tools change inside the history only.
    totals = [usage["cacheReadTokens"] + usage["cacheWriteTokens"] for usage in usages if usage]
    kept = [usage["cacheReadTokens"] for usage in usages if usage]
    assert kept[0] == 0
    if model == "scripted-in-history":
        assert kept[1:] == totals[:-1]
    else:
        assert kept[2] < totals[1]
    check = wirecheck(shared).check
    assert [check(body) for body in bodies] == [[]] * 4


async def test_a_script_can_refuse_tool_changes() -> None:
    class Strict:
        def answer(self, sent: Sent) -> ScriptedAnswer:
            if sent.changes:
                return answer(
                    Fail("messages.2.content.0: tool_addition is not supported", "INVALID_REQUEST", 400)
                )
            return answer("Fine.")

    adapter, session = ScriptedAdapter(Strict(), InstantClock()), ToolSession()
    session.step("a")
    session.answer()
    session.step("a b")
    request = ask(messages=session.messages, tools=session.tools, tool_history=session.history)
    failure = failure_of((await chunks_of(adapter, request))[-1])
    assert failure is not None
    assert (failure.status, failure.code) == (400, "INVALID_REQUEST")
    plain = adapter.prepare(CONFIG).with_tool_update(None).stream(request, CancelSignal())
    assert assembled([chunk async for chunk in plain]).blocks == [{"type": "text", "text": "Fine."}]


def test_settings_are_checked_as_by_a_real_provider() -> None:
    adapter = ScriptedAdapter(Answers([]))
    call = adapter.prepare(CONFIG)
    assert (call.config.reasoning_effort, call.config.max_tokens) == ("high", 8000)
    assert call.adapter_defaults == {"reasoningEffort", "maxTokens"}
    with pytest.raises(LlmFailure):
        adapter.prepare(CallConfig(provider="scripted", model="m", reasoning_effort="medium"))


def test_the_last_text_is_that_of_the_user_alone() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    assert Sent(ask(), messages, None).last_text == "hello"
    tool = {"role": "tool", "content": [{"type": "text", "text": "412"}]}
    assert Sent(ask(), [*messages, tool], None).last_text == ""
    assert answer("x").parts == (Say("x"),)
