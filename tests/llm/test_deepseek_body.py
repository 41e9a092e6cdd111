"""Bodies of the Messages wire format (loop-and-adapters §4.2 to §4.5)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import wirecheck
from tests.support.recorded_events import vector
from tests.support.tool_sessions import ToolSession, refuse
from tui.llm.credentials import Credential
from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
from tui.llm.deepseek_body import beta_header, build_body, encode_body, parse_arguments
from tui.llm.failure import LlmFailure
from tui.llm.request import CallConfig
from tui.llm.route import DEFAULT_MAX_OUTPUT, ModelEntry, deepseek_model
from tui.session.tool_definition import DefinitionPool

CASES = vector("messages-wire-vectors.json")


def adapter_of(case: dict[str, Any]) -> DeepSeekAdapter:
    connection = case["connection"]
    limit = connection.get("maxTokens", DEFAULT_MAX_OUTPUT)
    models = {
        model["id"]: replace(
            deepseek_model(model["id"]),
            context_window=model["contextWindow"],
            max_output=model.get("maxTokens", limit),
            tool_update=model.get("toolUpdate"),
            system_prompt_update=model.get("systemPromptUpdate"),
        )
        for model in case["models"]
    }
    return DeepSeekAdapter(
        DeepSeekConnection(
            provider=case["request"]["provider"],
            base_url="http://127.0.0.1:9/anthropic",
            credential=Credential(),
            models=models,
            default_effort=connection.get("reasoningEffort"),
            thinking=connection.get("thinking") != "disabled",
            max_output=limit,
        )
    )


def body_of(case: dict[str, Any]) -> dict[str, Any]:
    request = case["request"]
    call = adapter_of(case).prepare(CallConfig.from_json(request))
    tools = request.get("tools")
    return build_body(
        call.config,
        request["messages"],
        None if tools is None else DefinitionPool().tools({"tools": tools}, refuse),
        call.route.model,
        system=request.get("system"),
    )


def test_there_are_46_vectors() -> None:
    assert len(CASES) == 46


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_vectors_give_the_body_and_the_beta_header_of_dsh(case: dict[str, Any]) -> None:
    if "expected_error" in case:
        with pytest.raises(LlmFailure) as raised:
            body_of(case)
        assert {"code": raised.value.code, "message": raised.value.message} == case["expected_error"]
        return
    body = body_of(case)
    assert body == case["expected_body"]
    assert beta_header(body) == case["expected_beta"]


def test_the_checker_finds_nothing_in_the_bodies_of_vectors(shared: Path) -> None:
    check = wirecheck(shared).check
    bodies = {case["name"]: body_of(case) for case in CASES if "expected_body" in case}
    found = {name: faults for name, body in bodies.items() if (faults := check(body))}
    # The body builder is given these lists; the dispatch of a request would not give them (project_request).
    assert found == {
        "developer text block becomes a system text block": ["all-deferred"],
        "update held until the next user turn arrives": ["all-deferred"],
    }


MODEL = ModelEntry(
    id="m",
    display="m",
    tool_update="in-history",
    system_prompt_update="in-history",
    efforts=("off", "high"),
    default_effort="high",
)
CONFIG = CallConfig(provider="p", model="m")


def text(role: str, words: str, **fields: Any) -> dict[str, Any]:
    return {"id": words, "role": role, "content": [{"type": "text", "text": words}], **fields}


def assistant(*blocks: dict[str, Any], **source: Any) -> dict[str, Any]:
    return {
        "id": "a",
        "role": "assistant",
        "content": list(blocks),
        "source": {"kind": "model", "provider": "p", "model": "m", **source},
    }


def call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "tool-call", "id": call_id, "name": "dial", "arguments": arguments}


def result(call_id: str, words: str = "412") -> dict[str, Any]:
    return text("tool", words, toolCallId=call_id, isError=False)


def wire(*messages: dict[str, Any], model: ModelEntry = MODEL, **options: Any) -> list[dict[str, Any]]:
    return build_body(CONFIG, messages, None, model, **options)["messages"]


ADDITION = {
    "id": "d",
    "role": "developer",
    "source": {"kind": "tool-registry"},
    "content": [{"type": "tool-addition", "toolName": "cool"}],
}


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


def test_a_change_between_two_queued_messages_is_sent_after_both() -> None:
    sent = wire(text("user", "one"), ADDITION, text("user", "two"), assistant({"type": "text", "text": "a"}))
    assert roles(sent) == ["user", "system", "assistant"]
    assert [block["text"] for block in sent[0]["content"]] == ["one", "two"]


def test_a_change_follows_the_message_that_holds_the_tool_results() -> None:
    sent = wire(text("user", "one"), assistant(call("c1")), ADDITION, result("c1"), text("user", "and?"))
    assert roles(sent) == ["user", "assistant", "user", "system"]
    assert [block["type"] for block in sent[2]["content"]] == ["tool_result", "text"]


def test_earlier_messages_stay_byte_equal_when_the_conversation_grows() -> None:
    history = [
        text("user", "one"),
        assistant(call("c1")),
        result("c1"),
        ADDITION,
        assistant({"type": "text", "text": "done"}),
    ]
    later = [*history, text("user", "two"), assistant(call("c1")), result("c1"), text("user", "three")]
    before, after = wire(*history), wire(*later)
    assert json.dumps(after[: len(before)]) == json.dumps(before)


def test_no_body_carries_a_cache_mark() -> None:
    session = ToolSession()
    for names in ("a", "a b", "a b c"):
        session.step(names)
        session.answer()
    assert b"cache_control" not in encode_body(
        build_body(CONFIG, [*session.messages, text("user", "x")], session.tools, MODEL)
    )


@pytest.mark.parametrize(("flag", "deferred"), [(True, True), (False, False), ("true", False), (1, False)])
def test_only_the_literal_true_counts_as_deferred(flag: object, deferred: bool) -> None:
    tools = DefinitionPool().tools(
        {"tools": [{"name": "a", "description": "", "parameters": {}, "deferLoading": flag}]}, refuse
    )
    sent = build_body(CONFIG, [text("user", "x")], tools, MODEL)["tools"]
    assert sent[0].get("defer_loading", False) is deferred


@pytest.mark.parametrize(
    "message",
    [
        text("user", "half \ud83d"),
        text("user", "\udd25 half"),
        {"role": "user", "content": [{"type": "file", "attachment": {"name": "half \ud83d.txt"}}]},
    ],
)
def test_half_characters_are_replaced_in_every_text(message: dict[str, Any]) -> None:
    sent = encode_body(build_body(CONFIG, [message], None, MODEL, system="\ud83d")).decode("utf-8")
    assert "\ufffd" in sent
    assert json.loads(sent)["system"] == "\ufffd"


def test_half_characters_are_replaced_in_arguments_results_and_names() -> None:
    asked = {**call("c\ud83d", '{"dial": "lamps \\ud83d", "\\udd25": 1}'), "name": "di\ud83dal"}
    messages = [text("user", "x"), assistant(asked), result("c\ud83d", "\udd16")]
    sent = json.loads(encode_body(build_body(CONFIG, messages, None, MODEL)).decode("utf-8"))["messages"]
    assert sent[1]["content"][0] == {
        "type": "tool_use",
        "id": "c\ufffd",
        "name": "di\ufffdal",
        "input": {"dial": "lamps \ufffd", "\ufffd": 1},
    }
    assert sent[2]["content"][0]["content"] == [{"type": "text", "text": "\ufffd"}]


def test_a_pair_written_as_two_escapes_stays_one_character() -> None:
    messages = [text("user", "\ud83d\udd25"), assistant(call("c", '{"a": "\\ud83d\\udd25"}')), result("c")]
    sent = wire(*messages)
    assert sent[0]["content"][0]["text"] == "🔥"
    assert sent[1]["content"][0]["input"] == {"a": "🔥"}


def test_the_log_stays_as_it_is_when_half_characters_are_replaced() -> None:
    message = text("user", "half \ud83d")
    wire(message)
    assert message["content"][0]["text"] == "half \ud83d"


def replay(model: str, *entries: dict[str, Any], kind: str = "deepseek-messages") -> dict[str, Any]:
    return {"response": {"kind": kind, "version": 1, "model": model}, "blocks": list(entries)}


THOUGHT = {"type": "reasoning", "text": "why"}


@pytest.mark.parametrize(
    ("state", "signature"),
    [
        (replay("m", {"type": "reasoning", "signature": "s1"}), "s1"),
        (replay("m", {"type": "reasoning", "signature": ""}), ""),
        (replay("m", {"type": "reasoning"}), None),
        (replay("other", {"type": "reasoning", "signature": "s1"}), None),
        (replay("m", {"type": "reasoning", "signature": "s1"}, kind="else"), None),
        (replay("m", {"type": "text", "signature": "s1"}), None),
        (None, None),
    ],
)
def test_a_signature_goes_back_as_recorded_and_only_to_its_model(
    state: dict[str, Any] | None, signature: str | None
) -> None:
    source = {} if state is None else {"replayState": state}
    sent = wire(text("user", "x"), assistant(THOUGHT, **source), text("user", "y"))
    block = sent[1]["content"][0]
    assert block["thinking"] == "why"
    assert block.get("signature") == signature
    assert ("signature" in block) is (signature is not None)


def test_what_another_provider_signed_is_sent_unsigned() -> None:
    state = replay("m", {"type": "reasoning", "signature": "s1"})
    message = assistant(THOUGHT, provider="elsewhere", replayState=state)
    sent = wire(text("user", "x"), message, text("user", "y"), foreign=["elsewhere"])
    assert sent[1]["content"] == [{"type": "thinking", "thinking": "why"}]


def test_thinking_stands_first_where_answers_merge() -> None:
    answered = assistant(THOUGHT, {"type": "text", "text": "a"})
    sent = wire(text("user", "x"), answered, {**text("user", ""), "content": []}, answered, text("user", "y"))
    assert [block["type"] for block in sent[1]["content"]] == ["thinking", "thinking", "text", "text"]


def test_call_ids_are_unique_in_the_whole_request() -> None:
    turn = [text("user", "x"), assistant(call("call_0")), result("call_0")]
    sent = wire(*turn, *turn, *turn)
    ids = [block["id"] for message in sent for block in message["content"] if block["type"] == "tool_use"]
    answers = [
        block["tool_use_id"]
        for message in sent
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert ids == answers == ["call_0", "call_0_2", "call_0_3"]


def test_an_image_is_told_of_in_text_on_a_route_without_images() -> None:
    digest = "sha256:" + "a" * 64
    image = {"type": "image", "attachment": {"attachmentId": digest, "mediaType": "image/png", "bytes": 3}}
    message = {"role": "user", "content": [image]}
    assert digest in wire(message)[0]["content"][0]["text"]
    seeing = replace(MODEL, input=("text", "image"))
    assert [block["type"] for block in wire(message, model=seeing)[0]["content"]] == ["text"]
    sent = wire(message, model=seeing, images=lambda attachment: b"abc")[0]["content"]
    assert digest in sent[0]["text"]
    assert sent[1]["source"] == {"type": "base64", "media_type": "image/png", "data": "YWJj"}
    offloaded = {"role": "user", "content": [{**image, "offloaded": True}]}
    sent = wire(offloaded, model=seeing, images=lambda attachment: b"abc")[0]["content"]
    assert [block["type"] for block in sent] == ["text"]


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", None),
        ("[1]", None),
        ('{"a": NaN}', None),
        ('{"a": 1e999}', {"a": None}),
        ('{"a":' * 100_000, None),
    ],
)
def test_arguments_are_a_json_object_or_nothing(arguments: str, value: object) -> None:
    assert parse_arguments(arguments) == value


def test_a_schema_that_is_no_json_is_refused_as_a_request() -> None:
    with pytest.raises(LlmFailure) as raised:
        encode_body({"tools": [float("nan")]})
    assert raised.value.code == "INVALID_REQUEST"
