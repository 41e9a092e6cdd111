"""`doctor --verify`: a fresh session that is thrown away, and what is said of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.exports import recording
from tests.support.fake_provider import FakeProvider, answer, refusal
from tui.cli import main


class Done:
    """A finished run."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.delenv("DSH_TUI_CONFIG", raising=False)
    monkeypatch.setenv("CREEK_KEY", "sk-a-key-of-nobody-77")
    monkeypatch.chdir(tmp_path)

    async def call(provider: FakeProvider, *words: str) -> Done:
        (tmp_path / "config.toml").write_text(
            f'[providers.creek]\nkind = "deepseek"\nbase_url = "{provider.url}"\napi_key_env = "CREEK_KEY"\n'
            '[[providers.creek.models]]\nid = "minnow-2"\n[providers.creek.retry]\nmax_retries = 0\n'
        )
        path = recording("plain-chat")
        named = ["--config", str(tmp_path / "config.toml")]
        status = await asyncio.to_thread(main, [*named, "doctor", str(path), "--verify", *words])
        out, err = capsys.readouterr()
        assert not list((tmp_path / "own").rglob("*.jsonl*"))
        return Done(status, out, err)

    return call


async def test_an_answer_is_a_good_sign_and_no_proof(verify: Any) -> None:
    async with FakeProvider(lambda _: answer({"text": "OK"})) as provider:
        done = await verify(provider)
        assert len(provider.requests) == 1
    assert done.status == 0
    assert "minnow-2 at creek was answered: a good sign, not a proof." in done.out


async def test_a_fresh_session_that_fails_too_is_told_with_its_reason(verify: Any) -> None:
    async with FakeProvider(lambda _: refusal(401, "authentication_error", "no such key")) as provider:
        done = await verify(provider)
        told = await verify(provider, "--lang", "zh")
    assert done.status == 1 and "fails too: AUTH: no such key" in done.out
    assert "新会话" in told.out and "AUTH" in told.out


async def test_with_json_the_document_stays_alone_on_standard_output(verify: Any) -> None:
    async with FakeProvider(lambda _: answer({"text": "OK"})) as provider:
        done = await verify(provider, "--json")
    assert "findings" in json.loads(done.out) and "a good sign" in done.err
