"""What was learned of routes: for how long, for whom, and what becomes of a broken cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tui.llm.failure import LlmFailure
from tui.llm.learned import ANY_MODEL, LASTS_MS, LearnedModes, Refusal, cache_path, refusal_of
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import Route, ToolUpdateMode, deepseek_model
from tui.session.tool_definition import DefinitionPool
from tui.session.tool_history import ToolHistory, ToolUpdate

NOW = 1_800_000_000_000


def route(
    model: str = "minnow-2", endpoint: str = "http://a/v1", mode: ToolUpdateMode = "in-history"
) -> Route:
    found = Route(provider="creek", kind="deepseek", endpoint=endpoint, model=deepseek_model(model))
    return found.with_tool_update(mode)


def refusal(message: str = "tool_addition", status: int = 400) -> Refusal:
    return Refusal(
        failure=LlmFailure(message, "INVALID_REQUEST", status=status, request_id="r1"), strong=True
    )


def modes(path: Path | None = None, now: list[int] | None = None) -> LearnedModes:
    clock = now or [NOW]
    return LearnedModes(path, now_ms=lambda: clock[0])


def test_what_is_learned_holds_for_the_route_and_no_other() -> None:
    known = modes()
    known.learn(route(), refusal())
    assert known.entry(route()) is not None
    assert known.entry(route(endpoint="http://b/v1")) is None
    assert known.entry(route("minnow-3")) is None


def test_a_second_model_at_the_same_address_widens_it_to_all() -> None:
    known = modes()
    known.learn(route(), refusal())
    known.learn(route("minnow-3"), refusal())
    entry = known.entry(route("minnow-4"))
    assert entry is not None
    assert entry.model == ANY_MODEL
    assert known.entry(route("minnow-4", endpoint="http://b/v1")) is None


def test_models_of_other_addresses_widen_nothing() -> None:
    known = modes()
    known.learn(route(), refusal())
    known.learn(route("minnow-3", endpoint="http://b/v1"), refusal())
    assert known.entry(route("minnow-4")) is None
    assert known.entry(route("minnow-4", endpoint="http://b/v1")) is None


def test_resetting_one_model_takes_back_what_it_told_of_the_others() -> None:
    known = modes()
    known.learn(route(), refusal())
    known.learn(route("minnow-3"), refusal())
    assert known.reset("creek", "http://a/v1", "minnow-2") == 2
    assert [known.entry(route(each)) for each in ("minnow-2", "minnow-4")] == [None, None]
    assert known.entry(route("minnow-3")) is not None


def test_it_lasts_a_week_and_as_long_as_the_same_mode_is_declared() -> None:
    now = [NOW]
    known = modes(now=now)
    known.learn(route(), refusal())
    assert known.entry(route(mode="addition-only")) is None
    now[0] += LASTS_MS - 1
    assert known.entry(route()) is not None
    now[0] += 1
    assert known.entry(route()) is None
    assert known.entries() == ()


def test_what_a_clock_far_ahead_wrote_does_not_last(tmp_path: Path) -> None:
    now = [NOW + 3 * LASTS_MS]
    modes(tmp_path / "cache.json", now).learn(route(), refusal())
    now[0] = NOW
    known = modes(tmp_path / "cache.json", now)
    assert (known.entry(route()), known.entries()) == (None, ())


def test_what_was_learned_of_prompts_goes_with_the_entry(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    modes(path).learn(route(), refusal(), prompts_refused=True)
    entry = modes(path).entry(route())
    assert entry is not None and entry.prompts_refused
    # A second model that took them inside the history says nothing against the first.
    modes(path).learn(route("minnow-3"), refusal())
    wide, own = modes(path).entry(route("minnow-4")), modes(path).entry(route())
    assert wide is not None and wide.is_of_all_models and not wide.prompts_refused
    assert own is not None and own.prompts_refused


def test_other_processes_read_what_one_has_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.json"
    first, second = modes(path), modes(path)
    assert second.entry(route()) is None
    first.learn(route(), refusal())
    entry = second.entry(route())
    assert entry is not None
    assert (entry.status, entry.code, entry.request_id, entry.strong) == (400, "INVALID_REQUEST", "r1", True)
    assert second.reset() == 1
    assert first.entry(route()) is None
    assert first.reset_ms(route()) == NOW
    assert [entry.name for entry in path.parent.iterdir()] == ["cache.json"]


def test_one_route_can_be_reset_alone() -> None:
    known = modes()
    known.learn(route(), refusal())
    known.learn(route(endpoint="http://b/v1"), refusal())
    assert known.reset("creek", "http://a/v1", "minnow-2") == 1
    assert known.entry(route()) is None
    assert known.entry(route(endpoint="http://b/v1")) is not None
    assert known.reset_ms(route(endpoint="http://b/v1")) == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"learned": 3, "resets": {}}',
        b'{"learned": [null, {"provider": 1}, {"provider": "creek", "at_ms": "x"}]}',
        b'{"resets": [{"route": ["a"], "at_ms": 1}, 7]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_broken_cache_is_an_empty_one_and_is_written_anew(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    path.write_bytes(content)
    known = modes(path)
    assert known.entry(route()) is None
    known.learn(route(), refusal())
    assert modes(path).entry(route()) is not None


def test_a_cache_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("no folder")
    known = modes(place / "cache.json")
    known.learn(route(), refusal())
    assert known.entry(route()) is not None


def test_every_home_has_a_file_of_its_own(tmp_path: Path) -> None:
    assert cache_path(tmp_path / "a") != cache_path(tmp_path / "b")
    assert cache_path(tmp_path / "a") == cache_path(tmp_path / "b" / ".." / "a")


def request(*, with_update: bool = True) -> GenerateRequest:
    pool = DefinitionPool()
    tools = pool.tools(
        {"tools": [{"name": name, "description": "", "parameters": {}} for name in ("peek", "water")]},
        pytest.fail,
    )
    messages: list[dict[str, Any]] = [
        {"role": "user", "id": "u1", "content": [{"type": "text", "text": "hello"}]},
        {"role": "developer", "id": "d1", "content": [{"type": "tool-addition", "toolName": "water"}]},
    ]
    updates = (ToolUpdate("d1", tools[1:]),) if with_update else ()
    history = ToolHistory(tools[:1] if with_update else tools, updates, 0, trusted=True)
    config = CallConfig(provider="creek", model="minnow-2")
    return GenerateRequest(config=config, messages=messages, tools=tools, tool_history=history)


@pytest.mark.parametrize(
    ("status", "code", "message", "strong"),
    [
        (400, "INVALID_REQUEST", "`tool_addition` is not known", True),
        (400, "INVALID_REQUEST", "header mid-conversation-tool-changes-2026-07-01", True),
        (400, "INVALID_REQUEST", "messages.1.content.0: unexpected", True),
        (400, "INVALID_REQUEST", "messages.0.content.0: unexpected", False),
        (422, "HTTP_422", "no", False),
        (415, "HTTP_415", "no", False),
    ],
)
def test_a_refusal_is_strong_where_words_or_path_lead_to_the_change(
    status: int, code: str, message: str, strong: bool
) -> None:
    found = refusal_of(route(), request(), LlmFailure(message, code, status=status))
    assert found is not None
    assert found.strong is strong


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "AUTH"),
        (402, "QUOTA"),
        (429, "RATE_LIMIT"),
        (400, "CONTEXT_WINDOW_EXCEEDED"),
        (413, "INVALID_REQUEST"),
        (500, "SERVER"),
        (None, "TRANSPORT"),
    ],
)
def test_what_has_its_own_cause_is_no_refusal(status: int | None, code: str) -> None:
    assert refusal_of(route(), request(), LlmFailure("tool_addition", code, status=status)) is None


def test_a_request_without_changes_was_not_refused_for_them() -> None:
    failure = LlmFailure("tool_addition", "INVALID_REQUEST", status=400)
    assert refusal_of(route(), request(with_update=False), failure) is None
    assert refusal_of(route(mode=None), request(), failure) is None


def test_a_deferred_declaration_alone_can_be_what_was_refused() -> None:
    deferred = [
        {"name": "peek", "description": "", "parameters": {}},
        {"name": "water", "description": "", "parameters": {}, "deferLoading": True},
    ]
    tools = DefinitionPool().tools({"tools": deferred}, pytest.fail)
    config = CallConfig(provider="creek", model="minnow-2")
    history = ToolHistory(tools, (), 0, trusted=True)
    asked = GenerateRequest(config=config, messages=[], tools=tools, tool_history=history)
    failure = LlmFailure("no", "INVALID_REQUEST", status=400)
    assert refusal_of(route(), asked, failure) is not None
    assert refusal_of(route(mode=None), asked, failure) is None


def test_the_file_holds_no_more_than_what_was_learned(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    modes(path).learn(route(), refusal("a secret in the message"))
    content = json.loads(path.read_text())
    assert set(content) == {"version", "learned", "resets"}
    assert "secret" not in path.read_text()
