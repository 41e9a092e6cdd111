"""Sessions that we wrote, resumed by the real dsh 0.2.1-rc.2 (make interop).

`DSH_TUI_INTEROP_PYTHON` names an interpreter with `deepseek-harness-sdk`; the provider is one on loopback.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import eventful_talk
from tests.support.fake_provider import FakeProvider, Seen, answer
from tests.support.recorded_events import RECORDINGS
from tests.support.session_logs import (
    assert_sound,
    assistant,
    call,
    call_block,
    converse,
    developer,
    header,
    replace,
    result,
    system,
    text,
    user,
    whole_lines,
)
from tui.loop.fresh_start import FreshStart, first_check
from tui.session.durable import Encoding
from tui.session.forking import fork
from tui.session.hold_record import HOLD, Hold, held_at_the_end
from tui.session.rules import LogRuleError
from tui.session.writer import SessionWriter, now_ms
from tui.tools.registry import ToolRegistry

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent
PROFILES: dict[Encoding, str] = {"none": "sdk-minimal", "zstd": "sdk"}
ENCODINGS: list[Encoding] = ["none", "zstd"]


@pytest.fixture(scope="session")
def sdk_python() -> str:
    """The interpreter that has the SDK."""
    python = os.environ.get("DSH_TUI_INTEROP_PYTHON", "")
    if not python:
        pytest.skip("DSH_TUI_INTEROP_PYTHON names no interpreter with deepseek-harness-sdk (make interop)")
    return python


class Dsh:
    """The real dsh on a home of ours, against a provider that always gives the same short answer."""

    def __init__(self, python: str, home: Path, workspace: Path) -> None:
        self.python = python
        self.patches: list[str] = []
        self.prompt = "You keep the moss garden."
        self.home = home
        self.workspace = workspace
        self.requests: list[Seen] = []

    async def resume(
        self, session: str, encoding: Encoding, *prompts: str, said: str = "The bed is wet."
    ) -> list[dict[str, Any]]:
        """Resume a session and send prompts; how each of their turns ended."""
        provider = FakeProvider(lambda seen: answer({"text": said}))
        async with provider:
            wanted = {
                "home": str(self.home),
                "cwd": str(self.workspace),
                "profile": PROFILES[encoding],
                "patches": self.patches,
                "base_url": f"{provider.url}/anthropic",
                "session": session,
                "prompts": list(prompts),
            }
            process = await asyncio.create_subprocess_exec(
                self.python,
                str(HERE / "resume_with_dsh.py"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "DSH_HOME": str(self.home), "DSH_SYSTEM_PROMPT": self.prompt},
            )
            async with asyncio.timeout(150):
                out, error = await process.communicate(json.dumps(wanted).encode())
            self.requests = [seen for seen in provider.requests if seen.path.endswith("/messages")]
        assert process.returncode == 0, error.decode(errors="replace")[-3000:]
        return json.loads(out)


@pytest.fixture
def dsh(sdk_python: str, tmp_path: Path) -> Dsh:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Dsh(sdk_python, tmp_path / "home", workspace)


COMPLETED = [{"answer": "The bed is wet.", "end": "completed"}]


async def written(dsh: Dsh, encoding: Encoding, *, turns: int = 2) -> SessionWriter:
    """A session of our own, not closed yet."""
    writer = SessionWriter.create(dsh.home, str(dsh.workspace), encoding=encoding)
    for turn in range(1, turns + 1):
        converse(writer, turn, steps=turn)
        await writer.flush()
    return writer


def after(path: Path, before: bytes) -> list[dict[str, Any]]:
    """The events that dsh appended; what stood there before is still there, byte for byte."""
    assert path.read_bytes().startswith(before)
    events = assert_sound(path)
    mark = max(
        event.seq for event in events if event.type == "session/end-seed" and "inherited" not in event.data
    )
    return [{"type": event.type, "seq": event.seq, "data": event.data} for event in events[mark:]]


async def goes_on(dsh: Dsh, writer: SessionWriter, encoding: Encoding, prompt: str) -> list[dict[str, Any]]:
    """Have dsh answer one more prompt; returns the events that it appended."""
    before = writer.path.read_bytes()
    assert await dsh.resume(writer.id, encoding, prompt) == COMPLETED
    return after(writer.path, before)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_a_session_that_we_wrote(dsh: Dsh, encoding: Encoding) -> None:
    writer = await written(dsh, encoding)
    await writer.close()
    added = await goes_on(dsh, writer, encoding, "How wet is it?")
    assert [event["data"]["turn"] for event in added if event["type"] == "turn/start"] == [3]
    sent = dsh.requests[-1].body["messages"]
    assert [message["role"] for message in sent[:3]] == ["user", "assistant", "user"]
    assert "moss" in json.dumps(sent[0])
    resumed = SessionWriter.resume(writer.path)
    converse(resumed, 4)
    await resumed.close()
    assert await dsh.resume(writer.id, encoding, "And now?") == COMPLETED
    assert_sound(writer.path)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_an_interrupted_turn_that_we_closed(dsh: Dsh, encoding: Encoding) -> None:
    writer = await written(dsh, encoding)
    writer.append("turn/start", {"turn": 3})
    writer.append("step/start", {"turn": 3, "step": 1})
    writer.append("user/message", user("u3"))
    writer.append("assistant/message", assistant(3, 1, call_block("c1"), call_block("c2")))
    writer.append("tool/call", call(3, 1, "c1"))
    await writer.close()
    resumed = SessionWriter.resume(writer.path)
    resumed.append("plan/mode", {"active": False})
    await resumed.close()
    await goes_on(dsh, writer, encoding, "Go on.")
    sent = json.dumps(dsh.requests[-1].body["messages"])
    assert sent.count("outcome unknown") == 1
    assert sent.count("never started") == 1


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_what_a_crash_inside_a_compaction_left(dsh: Dsh, encoding: Encoding) -> None:
    writer = await written(dsh, encoding)
    writer.append("turn/start", {"turn": 3})
    writer.append("compaction/start", {"compactionId": "k", "turn": 3})
    await writer.close()
    resumed = SessionWriter.resume(writer.path)
    converse(resumed, 4)
    await resumed.close()
    assert await dsh.resume(writer.id, encoding, "Go on.") == COMPLETED


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_a_session_whose_tools_are_held(dsh: Dsh, encoding: Encoding) -> None:
    writer = await written(dsh, encoding)
    held = Hold(held=True, header_seq=writer.state.header_seqs[-1], tools=1, waiting=0)
    writer.append(HOLD, held.to_json(), ignorable=True)
    await writer.close()
    await goes_on(dsh, writer, encoding, "How wet is it?")
    assert "held" not in json.dumps(dsh.requests[-1].body["messages"])
    resumed = SessionWriter.resume(writer.path)
    assert held_at_the_end(resumed.state.own_records)
    await resumed.close()


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_a_session_that_goes_on_from_a_summary(dsh: Dsh, encoding: Encoding) -> None:
    writer = SessionWriter.create(dsh.home, str(dsh.workspace), encoding=encoding)
    fresh = FreshStart(summary="# Resume: moss", session="session-1", seq=7, path="/srv/x", checkpoint=True)
    fresh.record(writer)
    converse(writer, 1)
    check = first_check(writer, ToolRegistry())
    assert check is not None
    check.confirm()
    await writer.close()
    await goes_on(dsh, writer, encoding, "How wet is it?")
    assert "session-1" not in json.dumps(dsh.requests[-1].body["messages"])
    resumed = SessionWriter.resume(writer.path)
    assert first_check(resumed, ToolRegistry()) is None
    await resumed.close()


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_a_log_with_every_kind_of_event_that_we_write(dsh: Dsh, encoding: Encoding) -> None:
    writer = await written(dsh, encoding)
    writer.append("permission/preset", {"preset": "workspace-write"})
    writer.append("plan/mode", {"active": True})
    writer.append("tui/tool-update-downgrade", {"from": "in-history", "to": "none"}, ignorable=True)
    inserted = {"target": "next-turn", "start": 0, "inserted": [user("w1", "\ud83d half"), user("w2")]}
    writer.append("agent/inbox/spliced", inserted)
    claimed = {"target": "next-turn", "start": 0, "removedCount": 2, "inserted": []}
    writer.append("agent/inbox/spliced", {**claimed, "outcome": "canceled"})
    writer.append("turn/start", {"turn": 3})
    writer.append("step/start", {"turn": 3, "step": 1})
    prompt = writer.append("user/message", user("u3", "half \ude00"))
    writer.append(
        "session/title", {"title": "Beds", "messageSeqs": [prompt.seq], "source": {"kind": "fallback"}}
    )
    changed = writer.append("request/header", header("mist", reason="change"))
    changes = [{"type": "tool-addition", "toolName": "mist"}, {"type": "tool-removal", "toolName": "peek"}]
    writer.append("developer/message", developer(3, 1, *changes, header_seq=changed.seq))
    failure = {"message": "slow down", "code": "RATE_LIMIT", "status": 429}
    finish = {"type": "finish", "reason": {"kind": "error", "failure": failure}}
    stream = [{"type": "chunk", "time": writer.events[-1].time, "chunk": finish}]
    writer.append("assistant/attempt", {"turn": 3, "step": 1, "stream": stream})
    chain = {"retryId": "rt-1", "turn": 3, "step": 1, "retry": 1}
    policy = {"provider": "creek", "mode": "normal", "policyKey": "p", "maxRetries": 5, "delayMs": 512.25}
    writer.append("llm/retry", {**chain, **policy, "failure": failure})
    writer.append("llm/retry-started", chain)
    writer.append("assistant/message", assistant(3, 1, call_block("c1", "mist")))
    started = writer.append("tool/call", call(3, 1, "c1", "mist"))
    answered = writer.append("tool/result", result(3, 1, "c1"), source_event_seqs=[started.seq])
    shadowed = {"start": answered.seq, "end": answered.seq}
    prune = {"shadowedRange": shadowed, "shadowedSeqs": [answered.seq], "shadowedTokenCount": 40}
    writer.append("compaction/prune", prune)
    writer.append(
        "tool/result",
        {**answered.data, "message": {**answered.data["message"], "content": [text("moist…")]}},
        surface_op=replace(answered.seq, answered.seq),
        source_event_seqs=[answered.seq],
    )
    writer.append(
        "system/message",
        system(3, 1, "Be brief."),
        surface_op=replace(writer.state.rules.head or 0, writer.state.rules.head or 0),
        source_event_seqs=[writer.state.rules.head or 0],
    )
    writer.append("step/end", {"turn": 3, "step": 1})
    compact(writer)
    writer.append("turn/end", {"turn": 3, "reason": {"kind": "completed"}})
    await writer.close()
    await goes_on(dsh, writer, encoding, "Go on.")
    assert "(condensed)" in json.dumps(dsh.requests[-1].body["messages"])


def compact(writer: SessionWriter) -> None:
    """Replace everything but the head by a checkpoint."""
    nodes = writer.surface.nodes()[1:]
    opened = writer.append("compaction/start", {"compactionId": "k1", "turn": writer.turn})
    made = writer.append(
        "compaction/summary",
        {
            "compactionId": "k1",
            "summary": [text("The north bed is at 37%.")],
            "shadowedRange": {"start": nodes[0], "end": nodes[-1]},
            "shadowedSeqs": nodes,
            "shadowedTokenCount": 99,
            "provider": "creek",
            "model": "minnow-2",
        },
    )
    checkpoint = user("k1-checkpoint", "(condensed)", "compact-checkpoint")
    checkpoint["source"]["compactionId"] = "k1"
    writer.append(
        "user/message",
        checkpoint,
        surface_op=replace(nodes[0], nodes[-1]),
        source_event_seqs=[opened.seq, made.seq, *nodes],
    )
    writer.append("compaction/end", {"compactionId": "k1", "turn": writer.turn})


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_a_copy_of_its_own_session(dsh: Dsh, encoding: Encoding) -> None:
    for source in sorted(RECORDINGS.glob("[mst]*/session.v4.jsonl")):
        copy = fork(source, dsh.home, cwd=str(dsh.workspace), encoding=encoding).writer
        converse(copy, copy.last_turn + 1)
        await copy.close()
        before = copy.path.read_bytes()
        assert await dsh.resume(copy.id, encoding, "Go on.") == COMPLETED
        after(copy.path, before)


async def test_dsh_resumes_mended_copies_of_damaged_logs(shared: Path, dsh: Dsh) -> None:
    for case in ("B07-seq-trouble", "B08-torn-tail", "B10-unknown-events", "B12-orphan-calls"):
        for source in sorted((shared / "bugs" / "cases" / case / "home").rglob("session.v4.jsonl*")):
            copy = fork(source, dsh.home, mend=True, cwd=str(dsh.workspace), encoding="none").writer
            converse(copy, copy.last_turn + 1)
            await copy.close()
            [turn] = await dsh.resume(copy.id, "none", "Go on.")
            # It loads all of them; the content block that nobody knows (B10) its adapter does not send.
            assert turn["end"] == ("error" if case.startswith("B10") else "completed"), source
            assert_sound(copy.path)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_a_torn_session_that_we_cut_back(dsh: Dsh, encoding: Encoding) -> None:
    writer = await written(dsh, encoding)
    await writer.close()
    torn = writer.path.read_bytes()[:-9]
    writer.path.write_bytes(torn)
    kept = whole_lines(writer.path)
    resumed = SessionWriter.resume(writer.path)
    converse(resumed, resumed.last_turn + 1)
    await resumed.close()
    assert await dsh.resume(writer.id, encoding, "Go on.") == COMPLETED
    assert whole_lines(writer.path)[: len(kept)] == kept


async def test_dsh_refuses_what_our_rules_refuse(dsh: Dsh) -> None:
    writer = await written(dsh, "none")
    await writer.close()
    resumed = SessionWriter.resume(writer.path)
    with pytest.raises(LogRuleError):
        resumed.append("turn/start", {"turn": 5})
    await resumed.close()
    first = {"type": "turn/start", "seq": writer.next_seq, "time": 1, "data": {"turn": 5}}
    last = {"type": "turn/end", "data": {"turn": 5, "reason": {"kind": "completed"}}}
    with writer.path.open("ab") as file:
        for line in (first, {**first, **last, "seq": writer.next_seq + 1}):
            file.write(json.dumps(line).encode() + b"\n")
    with pytest.raises(AssertionError, match="corrupt"):
        await dsh.resume(writer.id, "none", "Go on.")


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_resumes_a_conversation_in_which_everything_happened(dsh: Dsh, encoding: Encoding) -> None:
    path = await eventful_talk.talk(dsh.home, str(dsh.workspace), encoding)
    before = path.read_bytes()
    assert await dsh.resume(path.parent.name, encoding, "Go on.") == COMPLETED
    added = after(path, before)
    assert [event["data"]["reason"] for event in added if event["type"] == "request/header"] == ["resume"]
    waited = [event["data"] for event in added if event["type"] == "user/message"]
    assert "The lights are out." in json.dumps(waited[0])


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_dsh_does_not_take_a_session_that_we_hold(dsh: Dsh, encoding: Encoding) -> None:
    writer = await written(dsh, encoding)
    before = writer.path.read_bytes()
    with pytest.raises(AssertionError, match="active write handle"):
        await dsh.resume(writer.id, encoding, "Go on.")
    assert writer.path.read_bytes() == before
    await writer.close()


async def test_we_and_dsh_go_on_in_turns(dsh: Dsh) -> None:
    """With DSH_TUI_RECORD=<an existing workspace> the recording `written-and-resumed` is made anew there."""
    record = os.environ.get("DSH_TUI_RECORD")
    if record:
        dsh.workspace = Path(record)
    dsh.patches = [str(HERE / "without_tools.yml")]
    writer = SessionWriter.create(
        dsh.home, str(dsh.workspace), session_id="session-written-and-resumed", encoding="none"
    )
    for bed, wet, prompt, said in TALK:
        talk(writer, prompt, said, bed=bed, wet=wet)
    await writer.close()
    before = writer.path.read_bytes()
    assert await dsh.resume(writer.id, "none", "And the fern bed?", said="Nobody has looked yet.") == [
        {"answer": "Nobody has looked yet.", "end": "completed"}
    ]
    after(writer.path, before)
    before = writer.path.read_bytes()
    resumed = SessionWriter.resume(writer.path)
    talk(resumed, "Then look now.", "It is at 52 %.", bed="fern", wet=52)
    await resumed.close()
    assert await dsh.resume(writer.id, "none", "Thank you.", said="You are welcome.") == [
        {"answer": "You are welcome.", "end": "completed"}
    ]
    after(writer.path, before)
    if record:
        kept = RECORDINGS / "written-and-resumed"
        kept.mkdir(exist_ok=True)
        shutil.copyfile(writer.path, kept / "session.v4.jsonl")


TALK = [
    ("north", 37, "How wet is the north bed? 北边的苔藓湿吗？", "It is at 37 %: a little dry. 有点干。"),
    ("south", 61, "And the south bed?", "It is at 61 %."),
]


def talk(writer: SessionWriter, prompt: str, said: str, *, bed: str, wet: int) -> None:
    """One turn of two steps: a look at a gauge, then the answer."""
    turn = writer.last_turn + 1
    message = user(f"prompt-{turn}", prompt)
    writer.append("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [message]})
    writer.append("turn/start", {"turn": turn})
    claim = {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": []}
    writer.append("agent/inbox/spliced", claim)
    writer.append("step/start", {"turn": turn, "step": 1})
    if turn == 1:
        writer.append("system/message", system(1, 1))
    writer.append("user/message", message)
    if writer.header_event is None:
        writer.append("request/header", header("peek"))
        writer.append("request/context", {"provider": "creek", "model": "minnow-2"})
    elif "tools" not in writer.header_event.data["header"]:
        again = writer.append("request/header", header("peek", reason="resume"))
        added = {"type": "tool-addition", "toolName": "peek"}
        writer.append("developer/message", developer(turn, 1, added, header_seq=again.seq))
    call_id = f"call_{turn}"
    reasoning = {"type": "reasoning", "text": "The gauge tells."}
    arguments = json.dumps({"bed": bed})
    asked = call_block(call_id, arguments=arguments)
    writer.append("assistant/message", streamed(assistant(turn, 1, reasoning, asked)))
    started = writer.append("tool/call", {**call(turn, 1, call_id), "arguments": arguments})
    answered = result(turn, 1, call_id, f"moisture {wet}")
    writer.append("tool/result", answered, source_event_seqs=[started.seq])
    writer.append("step/end", {"turn": turn, "step": 1})
    writer.append("step/start", {"turn": turn, "step": 2})
    writer.append("assistant/message", streamed(assistant(turn, 2, text(said))))
    writer.append("step/end", {"turn": turn, "step": 2})
    writer.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})


def streamed(data: dict[str, Any]) -> dict[str, Any]:
    """An assistant message with the stream that it was assembled from."""
    now = now_ms()
    stream: list[dict[str, Any]] = []
    for index, block in enumerate(data["message"]["content"]):
        start = {"type": "block-start", "index": index, "blockType": block["type"]}
        stream.append({"type": "chunk", "time": now - 9, "chunk": start})
        if block["type"] == "tool-call":
            named = {
                "type": "tool-call-chunks",
                "time0": now - 8,
                "index": index,
                "dt": [],
                "id": block["id"],
            }
            stream.append({**named, "name": block["name"], "args": [""]})
            stream.append({**named, "time0": now - 7, "args": [block["arguments"]]})
        else:
            first, rest = block["text"][:6], block["text"][6:]
            run = {"time0": now - 8, "index": index, "dt": [3], "texts": [first, rest]}
            stream.append({"type": f"{block['type']}-chunks", **run})
        end = {"type": "block-end", "index": index, "block": block}
        stream.append({"type": "chunk", "time": now - 4, "chunk": end})
    kind = "tool-calls" if stream[-1]["chunk"]["block"]["type"] == "tool-call" else "stop"
    usage = {"inputTokens": 90, "outputTokens": 12, "cacheReadTokens": 40, "cacheWriteTokens": 0}
    for chunk in ({"type": "usage", "usage": usage}, {"type": "finish", "reason": {"kind": kind}}):
        stream.append({"type": "chunk", "time": now - 1, "chunk": chunk})
    return {**data, "stream": stream, "usage": usage}
