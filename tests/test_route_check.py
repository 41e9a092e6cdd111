"""`dsh-tui route check`: what it asks, what it needs first, and the lines it ends with."""

from __future__ import annotations

import asyncio
import io
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Reply, Seen, answer, refusal
from tests.support.finished import Done
from tui.cli import main
from tui.config import load_config
from tui.llm.failure import LlmFailure
from tui.llm.learned import LearnedModes, Refusal, cache_path
from tui.llm.providers import configured_providers
from tui.llm.request import CallConfig

KEY = "sk-a-key-of-nobody-77"


class Checked(Done):
    """A finished check."""

    @property
    def lines(self) -> dict[str, Any]:
        """The settings that it suggests."""
        return tomllib.loads(self.out[self.out.index("\n[") :])


class Terminal(io.StringIO):
    """A person who types a line."""

    def isatty(self) -> bool:
        return True


def blocks_of(seen: Seen) -> set[str]:
    """The kinds of blocks that stand in later system messages."""
    later = [message for message in seen.body["messages"] if message["role"] == "system"]
    return {block["type"] for message in later for block in message["content"]}


def refusing(*kinds: str) -> Callable[[Seen], Reply]:
    """A provider that refuses later system messages with these blocks."""

    def reply(seen: Seen) -> Reply:
        if blocks_of(seen) & set(kinds):
            return refusal(400, "invalid_request_error", "messages.3: Input does not match any expected tag")
        return answer({"text": "OK"})

    return reply


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.setenv("CREEK_KEY", KEY)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    async def call(provider: FakeProvider, *words: str, extra: str = "") -> Checked:
        (tmp_path / "config.toml").write_text(
            f'[providers.creek]\nkind = "deepseek"\nbase_url = "{provider.url}"\napi_key_env = "CREEK_KEY"\n'
            f'{extra}[[providers.creek.models]]\nid = "minnow-2"\ntool_update = "in-history"\n'
        )
        config = ["--config", str(tmp_path / "config.toml")]
        status = await asyncio.to_thread(main, [*config, "route", "check", *words])
        out, err = capsys.readouterr()
        assert KEY not in out + err
        return Checked(status, out, err)

    return call


@pytest.mark.parametrize(
    ("refused", "tool_update", "prompt_update", "asked"),
    [
        ((), "in-history", "in-history", 4),
        (("tool_removal",), "addition-only", "in-history", 4),
        (("tool_removal", "text"), "addition-only", None, 4),
        (("tool_addition", "tool_removal"), None, "in-history", 3),
        (("tool_addition", "tool_removal", "text"), None, None, 3),
    ],
)
async def test_what_a_route_takes_becomes_the_lines_of_its_model(
    run: Any, refused: tuple[str, ...], tool_update: str | None, prompt_update: str | None, asked: int
) -> None:
    async with FakeProvider(refusing(*refused)) as provider:
        done = await run(provider, "--yes")
        assert len(provider.requests) == asked
    assert done.status == 0
    wanted = {"id": "minnow-2", "tool_update": tool_update, "system_prompt_update": prompt_update}
    kept = {key: value for key, value in wanted.items() if value is not None}
    assert done.lines == {"providers": {"creek": {"models": [kept]}}}


async def test_the_requests_are_tiny_and_each_asks_for_one_thing(run: Any) -> None:
    async with FakeProvider(refusing()) as provider:
        await run(provider, "--yes")
        assert [blocks_of(seen) for seen in provider.requests] == [
            set(),
            {"tool_addition"},
            {"tool_addition", "tool_removal"},
            {"text"},
        ]
        betas = ["anthropic-beta" in seen.headers for seen in provider.requests]
        assert betas == [False, True, True, False]
        assert all(len(seen.raw) < 1_500 and seen.body["max_tokens"] <= 16 for seen in provider.requests)


async def test_before_anything_is_sent_it_says_how_much_and_what(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeProvider(refusing()) as provider:
        monkeypatch.setattr("sys.stdin", Terminal("n\n"))
        done = await run(provider)
        assert (done.status, done.out, provider.requests) == (1, "", [])
        assert "Up to 4 requests" in done.err and "a few made-up sentences" in done.err
        assert provider.url in done.err and "Nothing was sent." in done.err
        monkeypatch.setattr("sys.stdin", Terminal("y\n"))
        assert (await run(provider)).status == 0
        assert len(provider.requests) == 4


async def test_the_finding_is_told_in_chinese(run: Any) -> None:
    async with FakeProvider(refusing("tool_removal")) as provider:
        done = await run(provider, "--yes", "--lang", "zh")
    assert "最多" in done.err and "工具新增：接受" in done.out and "工具移除：拒绝" in done.out


async def test_what_is_configured_so_already_is_said_so(run: Any) -> None:
    async with FakeProvider(refusing("text")) as provider:
        done = await run(provider, "--yes")
    assert done.lines["providers"]["creek"]["models"][0]["tool_update"] == "in-history"
    assert "set up this way already" in done.out


async def test_what_sessions_learned_of_the_route_is_told_beside_a_better_finding(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with FakeProvider(refusing()) as provider:
        assert "/tool-updates reset" not in (await run(provider, "--yes")).out
        learned = LearnedModes(cache_path(tmp_path / "own"))
        config = load_config(tmp_path / "config.toml", {})
        providers = configured_providers(config, tmp_path / "config.toml", {})
        route = providers.prepare(CallConfig(provider="creek", model="minnow-2")).route
        failure = LlmFailure("tool_addition", "INVALID_REQUEST", status=400)
        learned.learn(route, Refusal(failure=failure, strong=True))
        assert "/tool-updates reset" in (await run(provider, "--yes")).out
        # Of another model of the route nothing was learned.
        assert "/tool-updates reset" not in (await run(provider, "--yes", "--model", "minnow-3")).out


async def test_without_a_terminal_and_without_yes_nothing_is_sent(run: Any) -> None:
    async with FakeProvider(refusing()) as provider:
        done = await run(provider)
        assert (done.status, done.out, provider.requests) == (64, "", [])
        assert "--yes" in done.err


async def test_a_refused_key_decides_nothing(run: Any) -> None:
    async with FakeProvider(lambda _: refusal(401, "authentication_error", "no such key")) as provider:
        done = await run(provider, "--yes")
        assert len(provider.requests) == 1
    assert done.status == 1
    assert "HTTP 401" in done.out and "tool_update" not in done.out


async def test_a_route_that_refuses_the_plain_request_is_not_judged(run: Any) -> None:
    async with FakeProvider(lambda _: refusal(400, "invalid_request_error", "no such model")) as provider:
        done = await run(provider, "--yes")
        assert len(provider.requests) == 1
    assert done.status == 1 and "no setting is suggested" in done.out


async def test_a_failure_on_the_way_is_no_refusal(run: Any) -> None:
    def reply(seen: Seen) -> Reply:
        busy = "tool_removal" in blocks_of(seen)
        return refusal(529, "overloaded_error", "busy") if busy else answer({"text": "OK"})

    async with FakeProvider(reply) as provider:
        done = await run(provider, "--yes")
        assert len(provider.requests) == 3
    assert done.status == 1 and "tool additions: accepted" in done.out and "tool_update" not in done.out


async def test_a_silent_route_is_left_after_a_while(run: Any) -> None:
    async with FakeProvider(lambda _: Reply(hold=asyncio.Event())) as provider:
        done = await run(provider, "--yes", extra="idle_timeout_s = 1\n")
    assert done.status == 1 and "TIMEOUT" in done.out


async def test_the_name_of_a_model_tells_nothing(run: Any) -> None:
    """The catalogue declares additions for this name at the official endpoint; here nothing is taken."""
    async with FakeProvider(refusing("tool_addition", "text")) as provider:
        done = await run(provider, "--yes", "--model", "deepseek-flash")
        assert {seen.body["model"] for seen in provider.requests} == {"deepseek-flash"}
    assert done.lines == {"providers": {"creek": {"models": [{"id": "deepseek-flash"}]}}}


async def test_the_lines_of_a_provider_of_the_environment_make_a_settings_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("DSH_TUI_CONFIG", raising=False)
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    async with FakeProvider(refusing("tool_removal")) as provider:
        monkeypatch.setenv("DEEPSEEK_BASE_URL", provider.url)
        assert await asyncio.to_thread(main, ["route", "check", "--yes"]) == 0
    out = capsys.readouterr().out
    path = tmp_path / "suggested.toml"
    path.write_text(out[out.index("\n[") :])
    environ = {"DEEPSEEK_API_KEY": KEY}
    providers = configured_providers(load_config(path, {}), path, environ)
    assert providers.default is not None
    route = providers.prepare(providers.default).route
    assert route.endpoint.startswith(provider_root(out)) and route.model.tool_update == "addition-only"


def provider_root(out: str) -> str:
    return json.loads(out[out.index("base_url = ") + 11 :].splitlines()[0])


def test_a_provider_or_a_word_that_does_not_exist_is_a_wrong_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        '[providers.creek]\nkind = "deepseek"\n'
        '[providers.pond]\nkind = "chat-completions"\nbase_url = "http://127.0.0.1:9"\n'
        '[[providers.pond.models]]\nid = "gnat-1"\n'
    )
    for words in (["route"], ["route", "chekc"], ["route", "check", "x"]):
        assert main([*words, "--config", str(path)]) == 64
    assert main(["route", "check", "--yes", "--provider", "brook", "--config", str(path)]) == 64
    assert "creek" in capsys.readouterr().err
    assert main(["route", "check", "--yes", "--provider", "pond", "--config", str(path)]) == 64
    assert "nothing to ask" in capsys.readouterr().err
