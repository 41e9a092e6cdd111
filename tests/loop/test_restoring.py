"""Going on with a session after its process ended, however it ended (loop-and-adapters §1.12)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import eventful_talk
from tests.support.fake_provider import FakeProvider, answer, wirecheck
from tests.support.loop_driver import (
    Recorded,
    assert_wire,
    check_log,
    driving,
    instantly,
    loopback,
    model,
    scripted,
    simple_prompt,
    tool,
)
from tests.support.session_logs import whole_lines
from tui.llm.script import Call, Think
from tui.session.durable import Encoding
from tui.session.forking import fork

PROMPT = "You keep the moss garden."


async def conversation(home: Path) -> Path:
    """Two turns with parallel calls, a tool that appears, and a steer."""
    script = Recorded(
        [
            instantly(
                Think("Look."), Call("peek", {"pot": "a"}, id="c1"), Call("peek", {"pot": "b"}, id="c2")
            ),
            instantly("Damp."),
            instantly("Now with water."),
        ]
    )
    async with driving(
        home,
        scripted(script, model(mode="in-history")),
        tools=[tool("peek", is_concurrency_safe=lambda arguments: True)],
        prompt=simple_prompt(PROMPT, cwd=True),
    ) as driver:
        await driver.say("How wet?")
        driver.tools.register(tool("water"))
        driver.agent.inject("It rains.")
        await driver.say("And now?")
        return driver.writer.path


async def go_on(path: Path, home: Path, checker: Any, *, prompt: str = PROMPT) -> None:
    """Resume a session, ask once more, and hold every body to the provider's rules."""
    async with FakeProvider(lambda seen: answer({"text": "Going on."})) as provider:
        async with driving(
            home,
            loopback(provider, model(mode="in-history")),
            tools=[tool("peek"), tool("water")],
            prompt=simple_prompt(prompt, cwd=True),
            resume=path,
        ) as driver:
            await driver.say("Go on.")
            assert driver.reasons[-1] == {"kind": "completed"}
        assert provider.bodies
        assert_wire(checker, provider.bodies)


async def test_the_first_header_of_a_resumed_session_is_written_even_when_equal(
    tmp_path: Path, shared: Path
) -> None:
    path = await conversation(tmp_path)
    await go_on(path, tmp_path, wirecheck(shared))
    rows = check_log(path)
    headers = [row["data"]["reason"] for row in rows if row["type"] == "request/header"]
    assert headers == ["initial", "change", "resume"]
    assert len([row for row in rows if row["type"] == "developer/message"]) == 1
    assert len([row for row in rows if row["type"] == "system/message"]) == 1
    assert [row["type"] for row in rows].count("session/end-seed") == 1


async def test_a_tool_that_changed_between_two_processes_is_recorded_with_the_resume_header(
    tmp_path: Path,
) -> None:
    path = await conversation(tmp_path)
    script = Recorded([instantly("Yes.")])
    async with driving(
        tmp_path,
        scripted(script, model(mode="in-history")),
        tools=[tool("peek"), tool("vent")],
        prompt=simple_prompt(PROMPT, cwd=True),
        resume=path,
    ) as driver:
        await driver.say("Go on.")
        header, record = driver.events("request/header")[-1], driver.events("developer/message")[-1]
        assert header.data["reason"] == "resume"
        assert record.data["headerSeq"] == header.seq
        assert record.data["message"]["content"] == [
            {"type": "tool-addition", "toolName": "vent"},
            {"type": "tool-removal", "toolName": "water"},
        ]
        assert script.sent[0].changes == [("+", "water"), ("+", "vent"), ("-", "water")]


async def test_an_effort_that_was_chosen_is_kept_over_a_restart_and_a_default_is_not(tmp_path: Path) -> None:
    for effort, expected in ((None, None), ("low", "low")):
        home = tmp_path / str(effort)
        async with driving(home, scripted([instantly("one")])) as driver:
            driver.select("minnow-2", reasoning_effort=effort)
            await driver.say("q1")
            path = driver.writer.path
        script = Recorded([instantly("two"), instantly("three")])
        async with driving(home, scripted(script, model(), model("gnat-1")), resume=path) as driver:
            await driver.say("q2")
            (header,) = driver.events("request/header")[1:]
            marked = header.data["header"].get("adapterDefaults", {})
            assert script.sent[0].request.config.reasoning_effort == (expected or "high")
            assert ("reasoningEffort" in marked) is (expected is None)


async def test_what_waited_when_the_process_ended_is_run_when_somebody_wakes_the_agent(
    tmp_path: Path,
) -> None:
    async with driving(tmp_path, scripted([])) as driver:
        driver.agent.inject("It rains.")
        await driver.writer.flush()
        path = driver.writer.path
    script = Recorded([instantly("Yes."), instantly("No.")])
    async with driving(tmp_path, scripted(script), resume=path) as driver:
        assert len(driver.agent.queued("next-step")) == 1
        await driver.idle()
        assert script.sent == []
        driver.agent.wake()
        await driver.idle()
        assert script.sent[0].last_text == "It rains."


async def test_a_log_cut_after_any_event_goes_on_with_a_sound_request(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    original = await conversation(tmp_path / "a")
    lines = whole_lines(original)
    checker = wirecheck(shared)
    for count in range(2, len(lines) + 1):
        home = tmp_path / f"b{count}"
        path = home / original.relative_to(tmp_path / "a")
        path.parent.mkdir(parents=True)
        torn = lines[count][: len(lines[count]) // 2] if count < len(lines) else b""
        path.write_bytes(b"\n".join(lines[:count]) + b"\n" + torn)
        await go_on(path, home, checker)
        rows = check_log(path)
        closed = [row["data"]["reason"]["kind"] for row in rows if row["type"] == "turn/end"]
        assert closed.count("interrupted") <= 1
        assert closed[-1] == "completed"
        shutil.rmtree(home)


async def test_a_copy_of_a_session_of_dsh_goes_on_under_our_own_prompt(tmp_path: Path, shared: Path) -> None:
    checker = wirecheck(shared)
    for name in ("single-tool-added", "compaction", "remove-and-restore", "cancel", "retries"):
        (source,) = (shared / "recordings" / name / "sessions").glob("*/*/session.v4.jsonl")
        copy = fork(source, tmp_path / name, encoding="none")
        await copy.writer.close()
        await go_on(copy.writer.path, tmp_path / name, checker, prompt="You keep another garden.")
        rows = check_log(copy.writer.path)
        assert [row["data"]["reason"] for row in rows if row["type"] == "request/header"][-1] == "resume"


@pytest.mark.parametrize("encoding", ["none", "zstd"])
async def test_whatever_the_loop_writes_obeys_every_rule_and_is_read_without_damage(
    tmp_path: Path, encoding: Encoding, shared: Path
) -> None:
    path = await eventful_talk.talk(tmp_path, "/srv/moss", encoding)
    rows = check_log(path)
    written = {row["type"] for row in rows}
    assert written >= {
        "agent/inbox/spliced",
        "assistant/attempt",
        "command/done",
        "compaction/prune",
        "compaction/summary",
        "developer/message",
        "llm/retry-started",
        "model/selection",
        "request/context",
        "session/title",
        "tool/result",
    }
    await go_on(path, tmp_path, wirecheck(shared), prompt="You keep the moss garden.")
