"""A session that real dsh left stuck goes on here after one visible fall-back (bug B01)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Reply, Seen, answer, refusal
from tests.support.nodes import RECORDINGS

ROOT = Path(__file__).resolve().parent.parent
RECORD = "plugin:dsh-tui/tool-update-downgrade"


def stuck(home: Path) -> tuple[str, list[dict[str, Any]]]:
    """The recorded session up to its last refusal, in a dsh home; its id and the tools it then had."""
    lines = (RECORDINGS / "rejected-update" / "session.v4.jsonl").read_bytes().splitlines(keepends=True)
    kept = lines[:1]
    tools: list[dict[str, Any]] = []
    for line in lines[1:]:
        event = json.loads(line)
        if event["type"] == "turn/start" and event["data"]["turn"] == 8:
            break
        if event["type"] == "request/header":
            tools = event["data"]["header"]["tools"]
        kept.append(line)
    while json.loads(kept[-1])["type"] != "turn/end":
        kept.pop()
    session = json.loads(lines[0])["id"]
    folder = home / "sessions" / "--srv-demo-project--" / session
    folder.mkdir(parents=True)
    (folder / "session.v4.jsonl").write_bytes(b"".join(kept))
    return session, tools


def holds_changes(body: Any) -> bool:
    return any(f'"{word}"' in json.dumps(body) for word in ("tool_addition", "tool_removal", "defer_loading"))


class Runs:
    """`dsh-tui run` in processes of their own, with homes and caches of the test."""

    def __init__(self, place: Path, url: str, tools: list[dict[str, Any]]) -> None:
        self.place = place
        entries = [
            {key: tool[key] for key in ("name", "description", "parameters")}
            | {"command": [sys.executable, "-c", "print('done')"]}
            for tool in tools
        ]
        (place / "tools.json").write_text(json.dumps({"tools": entries}))
        (place / "config.toml").write_text(
            '[default]\nprovider = "deepseek-official"\nmodel = "deepseek-flash"\n'
            '[session]\ncompression = "none"\n'
            f'[providers.deepseek-official]\nkind = "deepseek"\nbase_url = "{url}"\napi_key_env = "A_KEY"\n'
            '[[providers.deepseek-official.models]]\nid = "deepseek-flash"\n'
            'tool_update = "addition-only"\nsystem_prompt_update = "in-history"\n'
        )
        self.environ = {
            **os.environ,
            "DSH_TUI_HOME": str(place / "own"),
            "DSH_HOME": str(place / "dsh"),
            "XDG_CACHE_HOME": str(place / "cache"),
            "A_KEY": "key-of-nobody",
        }

    async def run(self, *words: str) -> tuple[int, list[dict[str, Any]]]:
        """The status and the events of one run."""
        command = ["-m", "tui", "--config", str(self.place / "config.toml"), "run", "--json", *words]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, cwd=ROOT, env=self.environ, stdout=-1, stderr=-1
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
        assert b"Traceback" not in err, err.decode()
        return process.returncode or 0, [json.loads(line) for line in out.splitlines()]

    def own_log(self) -> Path:
        (log,) = (self.place / "own").rglob("session.v4.jsonl")
        return log


def refusing(seen: Seen) -> Reply:
    if holds_changes(seen.body):
        message = "messages.7.content.0: tool_addition: unexpected block type for this model"
        return refusal(400, "invalid_request_error", message, request_id="req-9")
    return answer({"text": "Here I am."})


async def test_it_goes_on_in_a_copy_and_the_original_stays(tmp_path: Path) -> None:
    session, tools = stuck(tmp_path / "dsh")
    original = next((tmp_path / "dsh").rglob("session.v4.jsonl"))
    before = original.read_bytes()
    async with FakeProvider(refusing) as provider:
        runs = Runs(tmp_path, provider.url, tools)
        status, events = await runs.run("--resume", session, "Are you there?")
        assert status == 0
        assert events[-1]["data"]["reason"] == {"kind": "completed"}
        assert [event["data"]["reason"] for event in events if event["type"] == RECORD] == ["refused"]
        assert [holds_changes(body) for body in provider.bodies] == [True, False]
        # Another process, on the same copy: nothing is refused any more.
        status, events = await runs.run("--resume", runs.own_log().parent.name, "And now?")
        assert status == 0
        assert [holds_changes(body) for body in provider.bodies] == [True, False, False]
    assert original.read_bytes() == before


async def test_strictly_it_stays_stuck(tmp_path: Path) -> None:
    session, tools = stuck(tmp_path / "dsh")
    async with FakeProvider(refusing) as provider:
        runs = Runs(tmp_path, provider.url, tools)
        status, events = await runs.run("--strict", "--resume", session, "Are you there?")
        assert status == 1
        assert events[-1]["data"]["reason"]["error"]["requestId"] == "req-9"
        assert [holds_changes(body) for body in provider.bodies] == [True]


async def test_other_sessions_of_the_home_are_spared_the_refusal(tmp_path: Path) -> None:
    session, tools = stuck(tmp_path / "dsh")
    async with FakeProvider(refusing) as provider:
        runs = Runs(tmp_path, provider.url, tools)
        await runs.run("--resume", session, "Are you there?")
        status, events = await runs.run("--resume", session, "Are you there too?")
        assert status == 0
        assert [event["data"]["reason"] for event in events if event["type"] == RECORD] == ["known"]
        assert [holds_changes(body) for body in provider.bodies] == [True, False, False]
        (cache,) = (tmp_path / "cache" / "dsh-tui").iterdir()
        assert "key-of-nobody" not in cache.read_text()


@pytest.mark.parametrize("command", ["chat", "run"])
def test_strict_is_an_option_of_both_ways_to_talk(command: str) -> None:
    from tui.cli.grammar import COMMANDS

    (entry,) = [entry for entry in COMMANDS if entry.name == command]
    assert "--strict" in [flag for option in entry.options for flag in option.flags]
