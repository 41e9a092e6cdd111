"""The chat-completions adapter against a host on loopback (loop-and-adapters §5.2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Reply, refusal
from tests.support.tool_sessions import ToolSession
from tui.llm.assembly import Answer, StreamAssembler
from tui.llm.chat_body import build_body
from tui.llm.credentials import Credential
from tui.llm.failure import LlmFailure, failure_of
from tui.llm.openai_chat import ChatAdapter, ChatConnection
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import ModelEntry
from tui.session.cancel import CancelSignal

CONFIG = CallConfig(provider="pond", model="carp")
CARP = ModelEntry(id="carp", display="carp", efforts=("low", "high"))


def adapter(provider: FakeProvider, **options: Any) -> ChatAdapter:
    defaults: dict[str, Any] = {
        "provider": "pond",
        "base_url": provider.url + "/v1",
        "credential": Credential(env="POND_KEY", environ={"POND_KEY": "sk-pond"}),
        "models": {"carp": CARP},
    }
    return ChatAdapter(ChatConnection(**{**defaults, **options}))


def text(role: str, words: str, **fields: Any) -> dict[str, Any]:
    return {"id": words, "role": role, "content": [{"type": "text", "text": words}], **fields}


def assistant(*blocks: dict[str, Any], provider: str = "pond", model: str = "carp") -> dict[str, Any]:
    source = {"kind": "model", "provider": provider, "model": model}
    return {"id": "a", "role": "assistant", "content": list(blocks), "source": source}


def call(call_id: str, arguments: str = '{"n": 1}') -> dict[str, Any]:
    return {"type": "tool-call", "id": call_id, "name": "dial", "arguments": arguments}


def result(call_id: str, words: str = "412") -> dict[str, Any]:
    return text("tool", words, toolCallId=call_id)


def wire(*messages: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    return build_body(CONFIG, messages, None, CARP, own=("pond",), **options)["messages"]


def test_messages_take_the_form_of_the_table() -> None:
    thought = {"type": "reasoning", "text": "why"}
    sent = wire(
        text("system", "Old prompt."),
        text("user", "one"),
        text("user", "two"),
        assistant(thought, {"type": "text", "text": "Reading."}, call("c1"), call("c2", "")),
        result("c1"),
        {"role": "tool", "toolCallId": "c2", "content": []},
        text("system", "New prompt."),
        assistant(thought),
        text("user", "three"),
    )
    function = {"name": "dial", "arguments": '{"n": 1}'}
    assert sent == [
        {"role": "system", "content": "New prompt."},
        {"role": "user", "content": "one"},
        {"role": "user", "content": "two"},
        {
            "role": "assistant",
            "content": "Reading.",
            "reasoning_content": "why",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": function},
                {"id": "c2", "type": "function", "function": {"name": "dial", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "412"},
        {"role": "tool", "tool_call_id": "c2", "content": "(no output)"},
        {"role": "user", "content": "three"},
    ]


def test_an_answer_of_calls_alone_has_no_text() -> None:
    assert wire(text("user", "x"), assistant(call("c1")), result("c1"))[1]["content"] is None


@pytest.mark.parametrize(("provider", "model"), [("creek", "carp"), ("pond", "pike")])
def test_reasoning_of_another_route_is_not_sent(provider: str, model: str) -> None:
    blocks = [{"type": "reasoning", "text": "why"}, {"type": "text", "text": "so"}]
    sent = wire(text("user", "x"), assistant(*blocks, provider=provider, model=model), text("user", "y"))
    assert sent[1] == {"role": "assistant", "content": "so"}


def test_a_message_between_call_and_result_waits_for_the_result() -> None:
    sent = wire(
        text("user", "x"),
        assistant(call("c1"), call("c2")),
        text("user", "steer"),
        result("c1"),
        result("c2"),
    )
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user"]


def test_images_of_results_follow_the_whole_run_of_results() -> None:
    image = {"type": "image", "attachment": {"attachmentId": "sha256:" + "a" * 64, "mediaType": "image/png"}}
    seen = {"role": "tool", "toolCallId": "c1", "content": [image]}
    entry = ModelEntry(id="carp", display="carp", input=("text", "image"))
    messages = [text("user", "x"), assistant(call("c1"), call("c2")), seen, result("c2")]
    sent = build_body(CONFIG, messages, None, entry, images=lambda attachment: b"abc")["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user"]
    assert sent[4]["content"] == [{"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}}]


@pytest.mark.parametrize(
    "messages",
    [
        [text("user", "x"), assistant(call("c1"))],
        [text("user", "x"), assistant(call("c1")), text("user", "y"), assistant(call("c2"))],
        [text("user", "x"), result("c9")],
    ],
)
def test_calls_and_results_that_do_not_match_are_refused(messages: list[dict[str, Any]]) -> None:
    with pytest.raises(LlmFailure) as raised:
        wire(*messages)
    assert raised.value.code == "INVALID_REQUEST"


def test_half_characters_never_leave() -> None:
    messages = [
        text("user", "half \ud83d"),
        assistant(call("c1", '{"a": "\\ud83d"}')),
        result("c1", "\udd25"),
    ]
    body = build_body(CONFIG, messages, None, CARP, system="\ud83d")
    json.dumps(body, ensure_ascii=False).encode("utf-8", "strict")


def event(delta: dict[str, Any] | None = None, finish: str | None = None, **fields: Any) -> bytes:
    value = {"choices": [] if delta is None else [{"delta": delta, "finish_reason": finish}], **fields}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


async def chunks_of(provider: FakeProvider, *pieces: bytes, **options: Any) -> list[dict[str, Any]]:
    provider.queue(Reply(pieces=pieces))
    request = GenerateRequest(config=CONFIG, messages=[text("user", "How hot?")])
    stream = adapter(provider, **options).prepare(CONFIG).stream(request, CancelSignal())
    return [chunk async for chunk in stream]


def assembled(chunks: list[dict[str, Any]]) -> Answer:
    assembler = StreamAssembler()
    for chunk in chunks:
        assembler.feed(1, chunk)
    return assembler.message()


def code_of(chunks: list[dict[str, Any]]) -> str | None:
    failure = failure_of(chunks[-1])
    return failure and failure.code


async def test_an_answer_with_reasoning_text_and_calls() -> None:
    pieces = [
        event({"role": "assistant", "content": None}),
        event({"reasoning_content": "One "}),
        event({"reasoning_content": "call."}),
        event({"content": "Reading"}),
        event({"content": " it."}),
        event({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "dial", "arguments": ""}}]}),
        event({"tool_calls": [{"index": 0, "function": {"arguments": '{"n": '}}]}),
        event({"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "fan", "arguments": "{}"}}]}),
        event({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
        event({}, "tool_calls"),
        event(
            usage={
                "prompt_tokens": 30,
                "completion_tokens": 8,
                "prompt_tokens_details": {"cached_tokens": 20},
            }
        ),
        DONE,
    ]
    async with FakeProvider() as provider:
        chunks = await chunks_of(provider, *pieces)
    whole = assembled(chunks)
    assert whole.blocks == [
        {"type": "reasoning", "text": "One call."},
        {"type": "text", "text": "Reading it."},
        {"type": "tool-call", "id": "c1", "name": "dial", "arguments": '{"n": 1}'},
        {"type": "tool-call", "id": "c2", "name": "fan", "arguments": "{}"},
    ]
    assert whole.finish.kind == "tool-calls"
    assert whole.usage == {
        "inputTokens": 10,
        "outputTokens": 8,
        "cacheReadTokens": 20,
        "cacheWriteTokens": 0,
        "totalTokens": 38,
    }
    assert whole.replay_state is None


@pytest.mark.parametrize(
    ("usage", "hits"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 5}, "prompt_cache_hit_tokens": 7}, 5),
        ({"prompt_cache_hit_tokens": 7, "cached_tokens": 9}, 7),
        ({"cached_tokens": 9}, 9),
        ({}, 0),
    ],
)
async def test_cache_hits_are_read_where_the_host_puts_them(usage: dict[str, Any], hits: int) -> None:
    async with FakeProvider() as provider:
        chunks = await chunks_of(
            provider,
            event({"content": "x"}, "stop", usage={"prompt_tokens": 10, "completion_tokens": 1, **usage}),
            DONE,
        )
    counted = assembled(chunks).usage
    assert counted is not None
    assert (counted["cacheReadTokens"], counted["inputTokens"]) == (hits, 10 - hits)


@pytest.mark.parametrize(
    ("pieces", "code"),
    [
        ([event({"content": "x"})], "STREAM_CLOSED"),
        ([event({"content": "x"}), DONE], "STREAM_CLOSED"),
        ([event({}, "stop"), DONE], "EMPTY_RESPONSE"),
        ([event({"content": "x"}, "content_filter"), DONE], "PROVIDER_FINISH"),
        ([b"data: {nothing\n\n"], "MALFORMED_RESPONSE"),
        ([b'data: {"error": {"message": "Rate", "type": "rate_limit_error"}}\n\n'], "RATE_LIMIT"),
        ([event({"content": "x"}, "stop")], None),
        ([event({"content": "x"}, "length"), DONE], None),
    ],
)
async def test_an_end_that_is_none_fails(pieces: list[bytes], code: str | None) -> None:
    async with FakeProvider() as provider:
        assert code_of(await chunks_of(provider, *pieces)) == code


async def test_the_request_is_the_one_of_the_table() -> None:
    session = ToolSession()
    for names in ("a", "a b*", "b*"):
        session.step(names)
        session.answer()
    async with FakeProvider() as provider:
        provider.queue(Reply(pieces=[event({"content": "x"}, "stop"), DONE]))
        request = GenerateRequest(
            config=CONFIG, messages=session.messages, tools=session.tools, tool_history=session.history
        )
        pond = adapter(provider, max_tokens_field="max_completion_tokens")
        config = CallConfig(
            provider="pond", model="carp", reasoning_effort="low", max_tokens=9, temperature=0.5
        )
        assert [chunk async for chunk in pond.prepare(config).stream(request, CancelSignal())]
        seen = provider.requests[0]
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == "Bearer sk-pond"
    assert {key: value for key, value in seen.body.items() if key not in ("messages", "tools")} == {
        "model": "carp",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 9,
        "reasoning_effort": "low",
        "temperature": 0.5,
    }
    assert [tool["function"]["name"] for tool in seen.body["tools"]] == ["b"]
    assert {message["role"] for message in seen.body["messages"]} == {"system", "user", "assistant"}


async def test_a_refusal_is_classified_and_the_key_stays_hidden() -> None:
    async with FakeProvider() as provider:
        provider.queue(refusal(429, "insufficient_quota", "sk-pond has no quota", retry_after="3"))
        request = GenerateRequest(config=CONFIG, messages=[text("user", "x")])
        stream = adapter(provider).prepare(CONFIG).stream(request, CancelSignal())
        failure = failure_of([chunk async for chunk in stream][-1])
    assert failure is not None
    assert (failure.code, failure.retry_after_ms) == ("QUOTA", 3000)
    assert failure.message == "[key] has no quota"


def test_a_route_of_this_kind_has_no_update_mode_and_no_cap_of_its_own() -> None:
    connection = ChatConnection(
        provider="pond",
        base_url="http://127.0.0.1:9/v1",
        credential=Credential(),
        models={"carp": ModelEntry(id="carp", display="carp", tool_update="in-history")},
    )
    call = ChatAdapter(connection).prepare(CONFIG)
    assert call.route.model.tool_update is None
    assert call.config == CONFIG
    with pytest.raises(LlmFailure):
        ChatAdapter(connection).prepare(CallConfig(provider="pond", model="carp", reasoning_effort="high"))
