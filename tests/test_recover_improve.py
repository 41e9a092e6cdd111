"""`dsh-tui recover --improve`: what is sent, what comes of the answer, and that a failure keeps the draft."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.app_driver import recording
from tests.support.fake_provider import FakeProvider, Reply, answer, messages_events, refusal, sse
from tests.support.finished import Done
from tests.support.log_builder import LogBuilder, call, log
from tui.cli import main

KEY = "sk" + "-" + "a-key-of-nobody-77"
LEAKED = "sk" + "-" + "moss0fern1lichen2bed3"
BETTER = "## Goal\n\nKeep the beds wet (event 5).\n\n## Side effects that must not be repeated\n\n- None.\n"


@pytest.fixture
def recover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.setenv("CREEK_KEY", KEY)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    async def run(provider: FakeProvider | None, *words: str) -> Done:
        told = ""
        if provider is not None:
            told = (
                f'[providers.creek]\nkind = "deepseek"\nbase_url = "{provider.url}"\n'
                'api_key_env = "CREEK_KEY"\n[[providers.creek.models]]\nid = "minnow-2"\n'
            )
        (tmp_path / "config.toml").write_text(told, encoding="utf-8")
        config = ["--lang", "en", "--config", str(tmp_path / "config.toml")]
        status = await asyncio.to_thread(main, [*config, "recover", *words])
        return Done(status, *capsys.readouterr())

    return run


def stuck() -> str:
    return str(recording("rejected-update"))


def section(text: str, name: str) -> str:
    return text.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0].strip("\n")


async def test_the_draft_is_worded_by_the_model_and_keeps_every_fact_of_the_log(recover: Any) -> None:
    before = recording("rejected-update").read_bytes()
    async with FakeProvider() as provider:
        plain = await recover(provider, stuck())
        assert plain.status == 0 and provider.requests == [], "nothing is asked unasked"
        provider.queue(answer({"thinking": "hm"}, {"text": BETTER}))
        made = await recover(provider, stuck(), "--improve")
    assert (made.status, made.err) == (0, "")
    assert section(made.out, "Goal") == "Keep the beds wet (event 5)."
    assert "minnow-2 at creek" in made.out
    effects = "Side effects that must not be repeated"
    assert section(made.out, effects).startswith(section(plain.out, effects))
    headings = [line for line in plain.out.splitlines() if line.startswith("## ")]
    assert [line for line in made.out.splitlines() if line.startswith("## ")] == headings
    assert recording("rejected-update").read_bytes() == before


async def test_one_request_goes_out_as_text_without_tools(recover: Any) -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"text": BETTER}))
        await recover(provider, stuck(), "--improve")
        (body,) = provider.bodies
    assert "tools" not in body and body["model"] == "minnow-2"
    (message,) = body["messages"]
    assert {block["type"] for block in message["content"]} == {"text"}
    text = message["content"][0]["text"]
    assert "# Resume: " in text and "A bell was put on the shelf too. Ring it." in text
    assert len(text) < 100_000


async def test_a_secret_of_the_log_or_the_environment_is_not_sent(
    recover: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_TOKEN", "gatehouse nine")
    built = with_secret(log().turn().user(f"Use {LEAKED} or {KEY}; say gatehouse nine.").tools("peek"))
    built.answer("done").end().read(tmp_path)
    path = next(tmp_path.rglob("*.jsonl"))
    async with FakeProvider() as provider:
        provider.queue(answer({"text": BETTER}))
        made = await recover(provider, str(path), "--improve")
        raw = provider.requests[0].raw.decode()
    assert made.status == 0
    assert LEAKED not in raw and "wetmoss" not in raw and raw.count("[masked]") >= 2
    assert KEY not in raw and "gatehouse" not in raw
    assert LEAKED not in made.out


def with_secret(built: LogBuilder) -> LogBuilder:
    text = json.dumps({"command": f"curl https://ana:wetmoss@example.org -H 'x: {LEAKED}'"})
    built.answer(call("c1", "bash", text)).call("c1", "bash", text)
    return built.result("c1", f"token: {LEAKED}", sourceEventSeqs=[built.last]).step()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (refusal(401, "authentication_error", "no such key"), "AUTH"),
        (refusal(429, "rate_limit_error", "slowly"), "RATE_LIMIT"),
        (answer({"text": "I cannot help."}), "no summary"),
        (answer({"text": BETTER}, stop="max_tokens"), "cut off"),
        (Reply(pieces=[sse(*messages_events({"text": BETTER})[:4])], reset=True), "no answer"),
    ],
)
async def test_a_failure_is_one_sentence_and_the_logs_own_draft_is_written(
    recover: Any, reply: Reply, said: str
) -> None:
    async with FakeProvider() as provider:
        plain = await recover(provider, stuck())
        provider.queue(reply)
        made = await recover(provider, stuck(), "--improve")
        assert len(provider.requests) == 1
    assert (made.status, made.out) == (1, plain.out)
    assert said in made.err and made.err.count("\n") == 1 and KEY not in made.err


async def test_without_a_provider_one_sentence_says_how_to_get_one(recover: Any) -> None:
    made = await recover(None, stuck(), "--improve")
    assert (made.status, made.out) == (64, "")
    assert made.err.startswith("No provider is configured") and made.err.count("\n") == 1


async def test_the_file_holds_the_better_draft(recover: Any, tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        provider.queue(answer({"text": BETTER}))
        made = await recover(provider, stuck(), "--improve", "-o", str(tmp_path / "go.md"))
    assert (made.status, made.out) == (0, "")
    assert "Keep the beds wet" in (tmp_path / "go.md").read_text("utf-8")
