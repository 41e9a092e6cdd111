"""`doctor --verify`: a fresh session that is thrown away, and what is said of it."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.exports import recording
from tests.support.fake_provider import FakeProvider, Reply, Seen, answer, refusal
from tests.support.finished import Done
from tests.support.log_builder import log
from tui.cli import main


@pytest.fixture
def verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.delenv("DSH_TUI_CONFIG", raising=False)
    monkeypatch.setenv("CREEK_KEY", "sk-a-key-of-nobody-77")
    monkeypatch.chdir(tmp_path)

    async def call(
        provider: FakeProvider, *words: str, tools: list[dict[str, Any]] | None = None, own: bool = True
    ) -> Done:
        (tmp_path / "config.toml").write_text(
            f'[providers.creek]\nkind = "deepseek"\nbase_url = "{provider.url}"\napi_key_env = "CREEK_KEY"\n'
            '[[providers.creek.models]]\nid = "minnow-2"\n[providers.creek.retry]\nmax_retries = 0\n'
        )
        if tools is not None:
            (tmp_path / "tools.json").write_text(json.dumps({"tools": tools}))
        path = own_route(tmp_path) if own else recording("plain-chat")
        named = ["--config", str(tmp_path / "config.toml")]
        status = await asyncio.to_thread(main, [*named, "doctor", str(path), "--verify", *words])
        out, err = capsys.readouterr()
        assert not list((tmp_path / "own").rglob("*.jsonl*"))
        return Done(status, out, err)

    return call


def own_route(folder: Path) -> Path:
    """A sound session on the route that is configured."""
    place = folder / "log"
    place.mkdir(exist_ok=True)
    return log().turn().user("go").tools("peek").answer("fine").end().write(place)


def a_tool(name: str, marker: Path, **facts: Any) -> dict[str, Any]:
    command = [sys.executable, "-c", f"open({str(marker)!r}, 'a').write('{name}\\n'); print('seen')"]
    return {"name": name, "description": name, "parameters": {"type": "object"}, "command": command, **facts}


def calling(name: str) -> Any:
    """A provider whose model calls a tool when it is asked to, then says so."""

    def reply(seen: Seen) -> Reply:
        said = json.dumps(seen.body["messages"])
        if "Call the tool" not in said or "tool_result" in said:
            return answer({"text": "OK"})
        return answer({"name": name, "input": {}})

    return reply


async def test_an_answer_is_a_good_sign_and_no_proof(verify: Any) -> None:
    async with FakeProvider(lambda _: answer({"text": "OK"})) as provider:
        done = await verify(provider)
        assert len(provider.requests) == 1
    assert done.status == 0
    assert "minnow-2 at creek was answered: a good sign, not a proof." in done.out
    assert "No tool declares itself read-only" in done.out


async def test_a_fresh_session_that_fails_too_is_told_with_its_reason(verify: Any) -> None:
    async with FakeProvider(lambda _: refusal(401, "authentication_error", "no such key")) as provider:
        done = await verify(provider)
        told = await verify(provider, "--lang", "zh")
    assert done.status == 1 and "fails too: HTTP 401, AUTH: no such key" in done.out
    assert "too early to give the history up" in done.out
    assert "新会话" in told.out and "AUTH" in told.out


async def test_with_json_the_document_stays_alone_on_standard_output(verify: Any) -> None:
    async with FakeProvider(lambda _: answer({"text": "OK"})) as provider:
        done = await verify(provider, "--json")
    assert "findings" in json.loads(done.out) and "a good sign" in done.err


async def test_only_a_tool_that_declares_itself_read_only_is_called(verify: Any, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    tools = [a_tool("drain", marker), a_tool("read_gauge", marker, read_only=True)]
    async with FakeProvider(calling("read_gauge")) as provider:
        done = await verify(provider, tools=tools)
    assert "The tool read_gauge was called and gave its result." in done.out
    assert marker.read_text() == "read_gauge\n"
    async with FakeProvider(calling("drain")) as provider:
        done = await verify(provider, tools=tools)
    assert "The tool read_gauge gave no result" in done.out
    assert marker.read_text() == "read_gauge\n"


async def test_a_call_that_is_made_before_it_is_asked_for_is_not_run(verify: Any, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    tools = [a_tool("read_gauge", marker, read_only=True)]

    def eager(seen: Seen) -> Reply:
        said = json.dumps(seen.body["messages"])
        return (
            answer({"text": "OK"}) if "tool_result" in said else answer({"name": "read_gauge", "input": {}})
        )

    async with FakeProvider(eager) as provider:
        done = await verify(provider, tools=tools)
    assert not marker.exists()
    assert "The tool read_gauge gave no result" in done.out


async def test_a_route_that_answers_but_refuses_the_call_is_told_apart(verify: Any, tmp_path: Path) -> None:
    tools = [a_tool("read_gauge", tmp_path / "ran", read_only=True)]

    def reply(seen: Seen) -> Reply:
        asked = "Call the tool" in json.dumps(seen.body["messages"])
        return refusal(400, "invalid_request_error", "no tools here") if asked else answer({"text": "OK"})

    async with FakeProvider(reply) as provider:
        done = await verify(provider, tools=tools)
    assert done.status == 1
    assert "was answered: a good sign, not a proof." in done.out
    assert "With the call of read_gauge it fails: HTTP 400, INVALID_REQUEST: no tools here" in done.out


async def test_another_route_than_the_sessions_is_said_to_be_one(verify: Any) -> None:
    async with FakeProvider(lambda _: answer({"text": "OK"})) as provider:
        done = await verify(provider, own=False)
    assert "The session's own route is not configured here, so another one is tried." in done.out
    assert "which says little about the session's own route" in done.out
    assert "a good sign" not in done.out


async def test_a_trial_can_be_made_from_a_copy_that_goes_on(verify: Any, tmp_path: Path) -> None:
    from tui.cli.arguments import parse
    from tui.cli.entry import _prepared
    from tui.cli.verify import fresh_session

    async with FakeProvider(lambda _: answer({"text": "OK"})) as provider:
        await verify(provider)
        call = parse(["--config", str(tmp_path / "config.toml"), "chat", "--resume", "x", "--copy"])
        session = await fresh_session(_prepared(call), "creek", "minnow-2")
        try:
            assert session.plan.is_own_route
        finally:
            await session.close()
