"""The DeepSeek adapter against a provider on loopback (loop-and-adapters §4)."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import (
    FakeProvider,
    Reply,
    answer,
    messages_events,
    refusal,
    sse,
    wirecheck,
)
from tests.support.tool_sessions import ToolSession, usable
from tui import __version__
from tui.llm.assembly import Answer, StreamAssembler
from tui.llm.credentials import Credential
from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
from tui.llm.failure import LlmFailure, failure_of
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import ModelEntry, ToolUpdateMode, deepseek_model
from tui.session.cancel import CancelSignal

KEY = "sk-a-key-of-nobody-77"
CONFIG = CallConfig(provider="creek", model="minnow-2")


def adapter(provider: FakeProvider, **options: Any) -> DeepSeekAdapter:
    models = {
        mode or "none": replace(
            deepseek_model(mode or "none"),
            tool_update=mode,
            system_prompt_update="in-history" if mode else None,
        )
        for mode in MODES
    }
    defaults: dict[str, Any] = {
        "provider": "creek",
        "base_url": provider.url + "/anthropic/",
        "credential": Credential(env="CREEK_KEY", environ={"CREEK_KEY": f" {KEY}\n"}),
        "models": models,
    }
    return DeepSeekAdapter(DeepSeekConnection(**{**defaults, **options}))


MODES: tuple[ToolUpdateMode, ...] = (None, "addition-only", "in-history")


def ask(text: str = "How hot?", **fields: Any) -> GenerateRequest:
    message = {"id": "u", "role": "user", "content": [{"type": "text", "text": text}]}
    return GenerateRequest(**{"config": CONFIG, "messages": [message], **fields})


async def chunks_of(
    adapter: DeepSeekAdapter,
    request: GenerateRequest | None = None,
    signal: CancelSignal | None = None,
    config: CallConfig = CONFIG,
) -> list[dict[str, Any]]:
    stream = adapter.prepare(config).stream(request or ask(), signal or CancelSignal())
    async with aclosing(stream):
        return [chunk async for chunk in stream]


def assembled(chunks: list[dict[str, Any]]) -> Answer:
    assembler = StreamAssembler()
    for chunk in chunks:
        assembler.feed(1, chunk)
    return assembler.message()


async def failure_from(provider: FakeProvider, *replies: Reply, **options: Any) -> LlmFailure:
    provider.queue(*replies)
    chunks = await chunks_of(adapter(provider, **options))
    found = failure_of(chunks[-1])
    assert found is not None
    return found


async def test_a_whole_answer_becomes_chunks_usage_and_replay_state() -> None:
    async with FakeProvider() as provider:
        provider.queue(
            answer(
                {"thinking": "One call will do. 水", "signature": "c2ln"},
                {"text": "Reading the dial."},
                {"name": "dial", "input": {"n": 1}, "id": "call_9"},
            )
        )
        chunks = await chunks_of(adapter(provider))
    whole = assembled(chunks)
    assert whole.blocks == [
        {"type": "reasoning", "text": "One call will do. 水"},
        {"type": "text", "text": "Reading the dial."},
        {"type": "tool-call", "id": "call_9", "name": "dial", "arguments": '{"n": 1}'},
    ]
    assert whole.usage == {
        "inputTokens": 9,
        "outputTokens": 5,
        "cacheReadTokens": 4,
        "cacheWriteTokens": 2,
        "totalTokens": 20,
    }
    assert whole.finish.kind == "tool-calls"
    assert whole.replay_state == {
        "response": {"kind": "deepseek-messages", "version": 1, "model": "minnow-2"},
        "blocks": [{"type": "reasoning", "signature": "c2ln"}, {"type": "text"}, {"type": "tool-call"}],
    }
    assert [chunk["type"] for chunk in chunks[-2:]] == ["usage", "finish"]
    calls = [chunk for chunk in chunks if chunk["type"] == "tool-call-delta"]
    assert calls[0] == {
        "type": "tool-call-delta",
        "index": 2,
        "id": "call_9",
        "name": "dial",
        "argumentsDelta": "",
    }
    assert all("name" not in chunk for chunk in calls[1:])


async def test_the_request_goes_out_once_with_the_headers_of_the_wire() -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "x"}), answer({"text": "x"}))
        await chunks_of(adapter(provider), ask(session_id="session-1"))
        await chunks_of(adapter(provider), ask(purpose="compaction"))
    first, second = provider.requests
    assert first.path == "/anthropic/v1/messages"
    assert first.headers["content-type"] == "application/json"
    assert first.headers["accept"] == "text/event-stream"
    assert first.headers["user-agent"] == f"dsh-tui/{__version__}"
    assert first.headers["anthropic-version"] == "2023-06-01"
    assert first.headers["x-api-key"] == KEY
    assert first.headers["x-deepseek-harness-session-id"] == "session-1"
    assert "anthropic-beta" not in first.headers
    assert "x-deepseek-harness-compact" not in first.headers
    assert second.headers["x-deepseek-harness-compact"] == "1"
    assert "x-deepseek-harness-session-id" not in second.headers


async def test_an_answer_arrives_whole_however_its_bytes_are_split() -> None:
    stream = b": hello\n\n" + sse(*messages_events({"thinking": "水"}, {"text": "火 🔥 done"})).replace(
        b"\n", b"\r\n"
    )
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[stream]), Reply(pieces=[bytes([byte]) for byte in stream]))
        whole = assembled(await chunks_of(adapter(provider)))
        split = assembled(await chunks_of(adapter(provider)))
    assert split == whole
    assert [block["text"] for block in whole.blocks] == ["水", "火 🔥 done"]


async def test_pings_and_unknown_events_are_passed_over() -> None:
    events = messages_events({"text": "x"})
    ping = {"type": "ping"}
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[sse(ping, events[0], ping, {"type": "later"}, *events[1:])]))
        assert assembled(await chunks_of(adapter(provider))).blocks == [{"type": "text", "text": "x"}]


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_the_tools_of_six_turns_on_every_route(
    mode: ToolUpdateMode, request: pytest.FixtureRequest
) -> None:
    session, sent = ToolSession(), []
    async with FakeProvider() as provider:
        creek = adapter(provider)
        call_config = CallConfig(provider="creek", model=mode or "none")
        for names in ("a b", "a b c", "a c", "a b c", "a b' c", "a b' c d"):
            session.step(names)
            provider.queue(answer({"text": "Done."}))
            asked = ask(messages=session.messages, tools=session.tools, tool_history=session.history)
            assert failure_of((await chunks_of(creek, asked, config=call_config))[-1]) is None
            session.answer()
        sent = provider.requests
    shapes = []
    for seen in sent:
        blocks = [
            f"{'+' if block['type'] == 'tool_addition' else '-'}{block['tool']['name']}"
            for message in seen.body["messages"]
            if message["role"] == "system"
            for block in message["content"]
        ]
        tools = [tool["name"] + ("*" if tool.get("defer_loading") else "") for tool in seen.body["tools"]]
        shapes.append((" ".join(tools), " ".join(blocks)))
        assert ("anthropic-beta" in seen.headers) is bool(blocks)
        if blocks:
            assert seen.headers["anthropic-beta"] == "mid-conversation-tool-changes-2026-07-01"
    after_redefinition = [("a b c", ""), ("a b c d*", "+d")]
    assert (
        shapes
        == {
            None: [("a b", ""), ("a b c", ""), ("a c", ""), ("a b c", ""), ("a b c", ""), ("a b c d", "")],
            "addition-only": [
                ("a b", ""),
                ("a b c*", "+c"),
                ("a c*", "+c"),
                ("a b c*", "+c"),
                *after_redefinition,
            ],
            "in-history": [
                ("a b", ""),
                ("a b c*", "+c"),
                ("a b c*", "+c -b"),
                ("a b c*", "+c -b +b"),
                *after_redefinition,
            ],
        }[mode]
    )
    if mode == "in-history":
        for earlier, later in pairwise(sent[:4]):
            kept = earlier.body["messages"]
            assert json.dumps(later.body["messages"][: len(kept)]) == json.dumps(kept)
    check = wirecheck(request.getfixturevalue("shared")).check
    assert [check(seen.body) for seen in sent] == [[]] * 6


async def test_no_request_declares_deferred_tools_alone(shared: Path) -> None:
    session = ToolSession()
    session.step("")
    session.answer()
    session.step("c")
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "x"}))
        asked = ask(messages=session.messages, tools=session.tools, tool_history=session.history)
        await chunks_of(adapter(provider), asked, config=CallConfig(provider="creek", model="in-history"))
        body = provider.bodies[0]
    assert [(tool["name"], "defer_loading" in tool) for tool in body["tools"]] == [("c", False)]
    assert wirecheck(shared).check(body) == []
    assert usable([], session.tools) == {"c"}


async def test_half_characters_never_leave_and_never_arrive() -> None:
    events = messages_events({"text": "x"})
    halves = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in ("\ud83d", "\udd25 ", "\udd16", "\ud83d")
    ]
    # Escaped, as a server writes it that cuts its text anywhere.
    frames = b"".join(
        f"data: {json.dumps(event)}\n\n".encode() for event in [*events[:2], *halves, *events[3:]]
    )
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[frames]))
        chunks = await chunks_of(adapter(provider), ask("robot \udd16", system="\ud83d"))
        provider.requests[0].raw.decode("utf-8", "strict")
        assert provider.bodies[0]["messages"][0]["content"][0]["text"] == "robot \ufffd"
    json.dumps(chunks, ensure_ascii=False).encode("utf-8", "strict")
    assert assembled(chunks).blocks == [{"type": "text", "text": "🔥 \ufffd\ufffd"}]
    assert "".join(c["text"] for c in chunks if c["type"] == "text-delta") == "🔥 \ufffd"


# B14: an overload in three forms.


async def test_a_429_gives_the_wait_that_was_asked_for(shared: Path) -> None:
    raw = http_form(shared, "429.http")
    async with FakeProvider() as provider:
        failure = await failure_from(provider, Reply(raw=raw))
    assert failure.to_json() == {
        "message": "Slow down",
        "code": "RATE_LIMIT",
        "status": 429,
        "providerRetryAfterMs": 2000,
    }


async def test_a_529_is_a_fault_of_the_server(shared: Path) -> None:
    async with FakeProvider() as provider:
        failure = await failure_from(provider, Reply(raw=http_form(shared, "529.http")))
    assert failure.to_json() == {"message": "Overloaded", "code": "SERVER", "status": 529}


@pytest.mark.parametrize(
    ("name", "shown"), [("200-error-first.sse", ""), ("200-error-late.sse", "The kiln is ")]
)
async def test_an_overload_inside_a_stream_is_a_fault_and_no_answer(
    shared: Path, name: str, shown: str
) -> None:
    content = (shared / "bugs" / "cases" / "B14-overload" / "net" / name).read_bytes()
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[content]))
        chunks = await chunks_of(adapter(provider))
    failure = failure_of(chunks[-1])
    assert failure is not None
    assert failure.to_json() == {"message": "Overloaded", "code": "SERVER"}
    assert "".join(chunk["text"] for chunk in chunks if chunk["type"] == "text-delta") == shown


def http_form(shared: Path, name: str) -> bytes:
    return (shared / "bugs" / "cases" / "B14-overload" / "net" / name).read_bytes()


# Faults.


async def test_a_redirect_is_refused_and_the_key_goes_nowhere_else() -> None:
    async with FakeProvider() as elsewhere, FakeProvider() as provider:
        reply = Reply(307, [b""], {"location": elsewhere.url + "/v1/messages"})
        failure = await failure_from(provider, reply)
        assert failure.code == "TRANSPORT"
        assert elsewhere.requests == []
        assert len(provider.requests) == 1


async def test_a_refused_connection_is_a_transport_failure() -> None:
    async with FakeProvider() as provider:
        address = provider.url
    chunks = await chunks_of(adapter(provider_at(address)))
    failure = failure_of(chunks[-1])
    assert failure is not None
    assert failure.code == "TRANSPORT"


def provider_at(address: str) -> Any:
    class Address:
        url = address

    return Address()


FIRST = sse(*messages_events({"text": "It is warm."})[:4])


async def test_a_reset_is_a_transport_failure_after_the_chunks_that_came() -> None:
    async with FakeProvider() as provider:
        failure = await failure_from(provider, Reply(pieces=[FIRST], reset=True))
    assert failure.code == "TRANSPORT"


async def test_a_stream_that_ends_early_is_closed_not_complete() -> None:
    async with FakeProvider() as provider:
        failure = await failure_from(provider, Reply(pieces=[FIRST]))
    assert failure.code == "STREAM_CLOSED"


async def test_silence_runs_into_the_watchdog() -> None:
    async with FakeProvider() as provider:
        silent = Reply(pieces=[FIRST, asyncio.Event()])
        failure = await failure_from(provider, silent, idle_timeout_s=0.05)
        assert failure.code == "TIMEOUT"
        await provider.until(lambda: provider.open_connections == 0)


async def test_no_answer_at_all_runs_into_the_watchdog() -> None:
    async with FakeProvider() as provider:
        failure = await failure_from(provider, Reply(hold=asyncio.Event()), idle_timeout_s=0.05)
        assert failure.code == "TIMEOUT"
        await provider.until(lambda: provider.open_connections == 0)


async def test_bytes_that_complete_nothing_do_not_keep_a_stream_alive() -> None:
    trickle: list[Any] = [FIRST, b"data: "]
    for _ in range(400):
        trickle += [0.01, b"x"]
    async with FakeProvider() as provider:
        failure = await failure_from(provider, Reply(pieces=trickle), idle_timeout_s=0.2)
    assert failure.code == "TIMEOUT"


async def test_comments_keep_a_stream_alive() -> None:
    events = messages_events({"text": "x"})
    slow: list[Any] = [sse(*events[:2])]
    for _ in range(8):
        slow += [0.1, b": wait\n\n"]
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[*slow, sse(*events[2:])]))
        chunks = await chunks_of(adapter(provider, idle_timeout_s=0.5))
    assert failure_of(chunks[-1]) is None


async def test_the_time_that_the_reader_takes_is_not_idle_time() -> None:
    events = messages_events({"text": "some words here"})
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[sse(event) for event in events]))
        stream = adapter(provider, idle_timeout_s=0.3).prepare(CONFIG).stream(ask(), CancelSignal())
        chunks = []
        async for chunk in stream:
            if not chunks:
                await asyncio.sleep(0.5)
            chunks.append(chunk)
    assert failure_of(chunks[-1]) is None


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        (lambda events: events[1:], "MALFORMED_RESPONSE"),
        (lambda events: [events[0], *events], "MALFORMED_RESPONSE"),
        (lambda events: [*events[:2], events[1], *events[2:]], "MALFORMED_RESPONSE"),
        (lambda events: [*events[:-3], *events[-2:]], "MALFORMED_RESPONSE"),
        (lambda events: [*events[:-2], events[-1]], "MALFORMED_RESPONSE"),
        (lambda events: [*events[:2], events[-3], *events[2:]], "MALFORMED_RESPONSE"),
        (lambda events: [events[0], *events[-2:]], "EMPTY_RESPONSE"),
        (
            lambda events: [
                events[0],
                {"type": "content_block_start", "index": 0, "content_block": {"type": "image"}},
            ],
            "UNSUPPORTED_CONTENT",
        ),
    ],
    ids=[
        "no message_start",
        "message_start twice",
        "an index twice",
        "an open block at the end",
        "no stop reason",
        "a delta for a closed block",
        "no block",
        "an unknown block",
    ],
)
async def test_a_stream_against_the_protocol_fails(break_it: Any, code: str) -> None:
    async with FakeProvider() as provider:
        reply = Reply(pieces=[sse(*break_it(messages_events({"text": "It is warm."})))])
        assert (await failure_from(provider, reply)).code == code


@pytest.mark.parametrize(
    "data", [b"data: nothing\n\n", b"data: []\n\n", b"data: {}\n\n", b'event: a\ndata: {"type": "b"}\n\n']
)
async def test_an_event_that_is_none_fails(data: bytes) -> None:
    async with FakeProvider() as provider:
        assert (await failure_from(provider, Reply(pieces=[data]))).code == "MALFORMED_RESPONSE"


@pytest.mark.parametrize("arguments", ['{"a":', "[1]", "null"])
async def test_arguments_that_are_no_object_fail_the_answer(arguments: str) -> None:
    call = {"name": "dial", "input": arguments}
    async with FakeProvider() as provider:
        assert (await failure_from(provider, answer(call))).code == "MALFORMED_RESPONSE"
        provider.queue(answer(call, stop="max_tokens"))
        whole = assembled(await chunks_of(adapter(provider)))
    assert (whole.finish.kind, whole.blocks) == ("max-tokens", [])


async def test_a_call_without_arguments_has_an_empty_object() -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"name": "dial", "input": ""}))
        whole = assembled(await chunks_of(adapter(provider)))
    assert whole.blocks[0]["arguments"] == "{}"


async def test_an_answer_of_reasoning_alone_is_no_empty_answer() -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"thinking": "Only reasoning came.", "signature": ""}))
        whole = assembled(await chunks_of(adapter(provider)))
    assert whole.finish.kind == "stop"
    assert whole.blocks == [{"type": "reasoning", "text": "Only reasoning came."}]
    assert whole.replay_state is not None
    assert whole.replay_state["blocks"] == [{"type": "reasoning", "signature": ""}]


async def test_a_document_in_place_of_a_stream_fails() -> None:
    async with FakeProvider() as provider:
        page = Reply(200, [b'{"hello": 1}'], {"content-type": "application/json"})
        assert (await failure_from(provider, page)).code == "MALFORMED_RESPONSE"
        error = Reply(200, [b'{"error": {"type": "overloaded_error"}}'], {"content-type": "application/json"})
        assert (await failure_from(provider, error)).code == "SERVER"


# Cancelling.


async def test_a_call_that_is_cancelled_already_sends_nothing() -> None:
    signal = CancelSignal()
    signal.cancel({"kind": "user"})
    async with FakeProvider() as provider:
        assert_aborted(await chunks_of(adapter(provider), signal=signal))
        assert provider.connections == 0


async def test_cancelling_before_the_answer_begins_closes_the_connection() -> None:
    signal = CancelSignal()
    async with FakeProvider() as provider, asyncio.timeout(20):
        provider.queue(Reply(hold=asyncio.Event()))
        task = asyncio.create_task(chunks_of(adapter(provider), signal=signal))
        await provider.until(lambda: bool(provider.requests))
        signal.cancel({"kind": "user"})
        assert_aborted(await task)
        await provider.until(lambda: provider.open_connections == 0)


async def test_cancelling_in_the_middle_keeps_what_came_and_closes_the_connection() -> None:
    signal, chunks = CancelSignal(), []
    async with FakeProvider() as provider, asyncio.timeout(20):
        provider.queue(Reply(pieces=[FIRST, asyncio.Event()]))
        async for chunk in adapter(provider).prepare(CONFIG).stream(ask(), signal):
            chunks.append(chunk)
            if chunk["type"] == "text-delta":
                signal.cancel({"kind": "user"})
        await provider.until(lambda: provider.open_connections == 0)
    assert_aborted(chunks)
    assert "".join(chunk["text"] for chunk in chunks if chunk["type"] == "text-delta") == "It is warm."[:14]


def assert_aborted(chunks: list[dict[str, Any]]) -> None:
    assert chunks[-1]["reason"]["kind"] == "aborted"
    assert chunks[-1]["reason"]["failure"]["code"] == "ABORTED"


async def test_leaving_the_stream_closes_the_connection() -> None:
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[FIRST, asyncio.Event()]))
        stream = adapter(provider).prepare(CONFIG).stream(ask(), CancelSignal())
        async with aclosing(stream):
            async for _ in stream:
                break
        await provider.until(lambda: provider.open_connections == 0)


async def test_a_cancelled_task_closes_the_connection() -> None:
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[FIRST, asyncio.Event()]))
        task = asyncio.create_task(chunks_of(adapter(provider)))
        await provider.until(lambda: bool(provider.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.until(lambda: provider.open_connections == 0)


# Keys.


@pytest.mark.parametrize(
    ("environ", "code"),
    [
        ({}, "MISSING_CREDENTIAL"),
        ({"CREEK_KEY": "  "}, "MISSING_CREDENTIAL"),
        ({"CREEK_KEY": "two words"}, "INVALID_CREDENTIAL"),
        ({"CREEK_KEY": "schlüssel"}, "INVALID_CREDENTIAL"),
    ],
)
async def test_a_key_that_is_none_fails_before_anything_is_sent(environ: dict[str, str], code: str) -> None:
    async with FakeProvider() as provider:
        failure = await failure_from(provider, credential=Credential(env="CREEK_KEY", environ=environ))
        assert failure.code == code
        assert "CREEK_KEY" in failure.message
        assert not any(value in failure.message for value in environ.values() if value.strip())
        assert provider.requests == []


def program(source: str) -> Credential:
    return Credential(command=(sys.executable, "-c", source))


async def test_a_key_may_come_from_a_command() -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "x"}))
        await chunks_of(adapter(provider, credential=program("print('from-a-command')")))
        assert provider.requests[0].headers["x-api-key"] == "from-a-command"
        failure = await failure_from(provider, credential=program("print('half'); raise SystemExit(3)"))
        assert (failure.code, "half" in failure.message) == ("MISSING_CREDENTIAL", False)
        failure = await failure_from(provider, credential=Credential(command=("/no/such/program",)))
        assert failure.code == "MISSING_CREDENTIAL"


async def test_cancelling_stops_a_command_that_does_not_end() -> None:
    signal = CancelSignal()
    asyncio.get_running_loop().call_later(0.05, signal.cancel, {"kind": "user"})
    async with FakeProvider() as provider, asyncio.timeout(20):
        slow = adapter(provider, credential=program("import time; time.sleep(60)"))
        chunks = await chunks_of(slow, signal=signal)
    assert chunks[-1]["reason"]["kind"] == "aborted"


async def test_a_route_without_a_key_sends_none() -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "x"}))
        await chunks_of(adapter(provider, credential=Credential()))
        assert "x-api-key" not in provider.requests[0].headers


async def test_a_key_shows_itself_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with FakeProvider() as provider:
        creek = adapter(provider)
        provider.queue(
            refusal(401, "authentication_error", f"bad key {KEY}"),
            Reply(pieces=[sse(messages_events()[0], {"type": "error", "error": {"message": f"no {KEY}"}})]),
            Reply(pieces=[FIRST], reset=True),
        )
        told = [await chunks_of(creek) for _ in range(3)]
    call = creek.prepare(CONFIG)
    shown = repr([told, creek, creek.connection, call, vars(call), vars(creek)]) + caplog.text
    assert KEY not in shown
    assert told[0][-1]["reason"]["failure"]["message"] == "bad key [key]"


# Preparing.


def test_defaults_are_filled_in_and_said_to_be_defaults() -> None:
    creek = adapter(provider_at("http://127.0.0.1:9"))
    call = creek.prepare(CONFIG)
    assert call.config.to_json() == {
        "provider": "creek",
        "model": "minnow-2",
        "reasoningEffort": "high",
        "maxTokens": 256_000,
    }
    assert call.adapter_defaults == {"reasoningEffort", "maxTokens"}
    chosen = creek.prepare(replace(CONFIG, reasoning_effort="low", max_tokens=5))
    assert chosen.adapter_defaults == frozenset()
    assert chosen.config.max_tokens == 5


def test_an_effort_that_the_model_does_not_know_is_refused() -> None:
    with pytest.raises(LlmFailure) as raised:
        adapter(provider_at("http://127.0.0.1:9")).prepare(replace(CONFIG, reasoning_effort="medium"))
    assert raised.value.code == "UNSUPPORTED_REASONING_EFFORT"


def test_a_model_that_nobody_listed_has_no_update_mode() -> None:
    route = adapter(provider_at("http://127.0.0.1:9")).prepare(CONFIG).route
    assert route.model == ModelEntry(
        id="minnow-2", display="minnow-2", efforts=("off", "low", "high", "max"), default_effort="high"
    )
    assert route.key == ("creek", "http://127.0.0.1:9/anthropic/v1", "minnow-2")


async def test_a_prepared_call_is_streamed_once() -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "x"}))
        call = adapter(provider).prepare(CONFIG)
        assert [chunk async for chunk in call.stream(ask(), CancelSignal())]
        again = [chunk async for chunk in call.stream(ask(), CancelSignal())]
        assert again[-1]["reason"]["failure"]["code"] == "INVALID_PREPARED_CALL"
        assert len(provider.requests) == 1


async def test_a_call_may_be_made_with_another_update_mode() -> None:
    session = ToolSession()
    for names in ("a", "a b"):
        session.step(names)
        session.answer()
    session.step("a b")
    asked = ask(messages=session.messages, tools=session.tools, tool_history=session.history)
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "x"}))
        call = adapter(provider).prepare(CallConfig(provider="creek", model="in-history"))
        plain = call.with_tool_update(None)
        assert [chunk async for chunk in plain.stream(asked, CancelSignal())]
        assert [tool["name"] for tool in provider.bodies[0]["tools"]] == ["a", "b"]
        assert not any("defer_loading" in tool for tool in provider.bodies[0]["tools"])
        assert "anthropic-beta" not in provider.requests[0].headers
    assert (plain.route.model.tool_update, call.route.model.tool_update) == (None, "in-history")
