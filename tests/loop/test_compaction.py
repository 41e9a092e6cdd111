"""Condensing the history (loop-and-adapters §7)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, answer, refusal, wirecheck
from tests.support.loop_driver import (
    Driver,
    Recorded,
    assert_wire,
    driving,
    instantly,
    loopback,
    model,
    scripted,
    simple_prompt,
    tool,
)
from tui.llm.route import ToolUpdateMode
from tui.llm.script import Call, CutOff, Fail, Think
from tui.loop.agent import AgentBusy
from tui.loop.compaction import CompactionFailed
from tui.loop.measure import message_tokens
from tui.loop.prompt import Section
from tui.loop.state import CompactionOptions

LONG = "moss " * 400
EARLY = CompactionOptions(share=0.05, headroom=1_000, retain_tokens=100)
MODES: tuple[ToolUpdateMode, ...] = (None, "addition-only", "in-history")


def small(mode: ToolUpdateMode = None, **facts: Any) -> Any:
    return model(mode=mode, **{"context_window": 20_000, "max_output": 1_000, **facts})


def shapes(driver: Driver, since: int) -> list[str]:
    return [event.type for event in driver.events()[since:] if not event.type.startswith("agent/inbox")]


def test_sizes_are_estimated_as_recorded_compactions_did(shared: Path) -> None:
    checked = 0
    for name in ("compaction", "long"):
        for path in (shared / "recordings" / name / "sessions").glob("*/*/session.v4.jsonl"):
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]
            for row in rows:
                if row["type"] != "compaction/summary":
                    continue
                data = row["data"]
                nodes = [rows[seq]["data"] for seq in data["shadowedSeqs"]]
                sizes = [message_tokens(node.get("message", node)) for node in nodes]
                assert sum(sizes) == data["shadowedTokenCount"]
                checked += 1
    assert checked == 26


async def test_a_command_condenses_all_but_the_last_message(tmp_path: Path) -> None:
    script = Recorded(
        [instantly(Call("peek", {}, id="c1")), instantly("Damp."), instantly("Going on.")],
        auxiliary=[instantly(Think("Hm."), "The moss is damp.")],
    )
    async with driving(
        tmp_path,
        scripted(script),
        tools=[tool("peek", lambda _: LONG)],
        prompt=simple_prompt("Keep moss.", cwd=True),
    ) as driver:
        await driver.say("How wet?")
        before = driver.writer.next_seq
        surface = list(driver.writer.surface)
        done = await driver.agent.compact()
        assert shapes(driver, before) == [
            "command/run",
            "compaction/start",
            "compaction/summary",
            "user/message",
            "compaction/end",
            "command/done",
        ]
        run, start, summary, checkpoint, end, finished = driver.events()[before:]
        command = run.data["commandId"]
        assert run.data == {"commandId": command, "name": "compact", "args": "", "source": {"kind": "user"}}
        ids = {"compactionId": start.data["compactionId"], "sourceCommandId": command}
        assert start.data == end.data == {**ids, "turn": None}
        covered = surface[1:-1]
        sizes = sum(
            message_tokens(event.data.get("message", event.data))
            for event in driver.events()
            if event.seq in covered
        )
        assert summary.data == {
            **ids,
            "summary": [{"type": "text", "text": "The moss is damp."}],
            "rawOutput": [
                {"type": "reasoning", "text": "Hm."},
                {"type": "text", "text": "The moss is damp."},
            ],
            "llmStreamCall": True,
            "shadowedRange": {"start": covered[0], "end": covered[-1]},
            "shadowedSeqs": covered,
            "shadowedTokenCount": sizes,
            "provider": "creek",
            "model": "minnow-2",
            "maxTokens": 65_536,
            "usage": summary.data["usage"],
        }
        assert checkpoint.surface_op == {"op": "replace", "startSeq": covered[0], "endSeq": covered[-1]}
        assert checkpoint.source_event_seqs == [start.seq, summary.seq, *covered]
        assert checkpoint.data["source"] == {"kind": "compact-checkpoint", **ids}
        assert checkpoint.data["content"][1:-1] == summary.data["summary"]
        assert finished.data["kind"] == "success"
        assert finished.data["sourceEventSeq"] == summary.seq
        assert (done.items, done.tokens, done.summary_seq) == (len(covered), sizes, summary.seq)
        assert list(driver.writer.surface) == [surface[0], checkpoint.seq, surface[-1]]

        await driver.say("And now?")
        header = driver.events("request/header")[-1]
        assert header.data["reason"] == "series"
        contexts = [event for event in driver.events("user/message") if "sections" in event.data["source"]]
        assert len(contexts) == 2  # the snapshot was condensed away, so it is told again


@pytest.mark.parametrize("mode", MODES)
async def test_the_request_carries_the_tool_history_and_passes_the_rules_of_the_wire(
    mode: ToolUpdateMode, tmp_path: Path, shared: Path
) -> None:
    async with FakeProvider() as provider:
        provider.queue(
            answer({"name": "peek", "input": {}, "id": "c1"}),
            answer({"text": "one"}),
            answer({"text": "two"}),
            answer({"text": "Notes."}),
            answer({"text": "three"}),
        )
        async with driving(
            tmp_path, loopback(provider, small(mode)), tools=[tool("peek", lambda _: LONG)]
        ) as driver:
            await driver.say("q1")
            driver.tools.register(tool("water"))
            await driver.say("q2")
            await driver.agent.compact()
            await driver.say("q3")
        assert_wire(wirecheck(shared), provider.bodies)
        request, after = provider.requests[3:]
        assert request.headers["x-deepseek-harness-compact"] == "1"
        assert request.body["max_tokens"] == 1_000  # the default would not fit into the window
        declared = [(entry["name"], entry.get("defer_loading")) for entry in request.body["tools"]]
        blocks = [block["type"] for message in request.body["messages"] for block in message["content"]]
        assert "tool_use" in blocks
        if mode is None:
            assert declared == [("peek", None), ("water", None)]
        else:
            assert declared == [("peek", None), ("water", True)]
            assert blocks[-1] == "tool_addition"
        assert [(entry["name"], entry.get("defer_loading")) for entry in after.body["tools"]] == [
            ("peek", None),
            ("water", None),
        ]


async def test_pressure_condenses_before_the_step_and_keeps_the_tail(tmp_path: Path) -> None:
    script = Recorded(
        [instantly(f"one {LONG}"), instantly(f"two {LONG}"), instantly("three")],
        auxiliary=[instantly("Notes on it.")],
    )
    async with driving(tmp_path, scripted(script, small()), compaction=EARLY) as driver:
        await driver.say("q1")
        await driver.say("q2")
        before = driver.writer.next_seq
        await driver.say("q3")
        assert shapes(driver, before) == [
            "turn/start",
            "compaction/start",
            "compaction/summary",
            "user/message",
            "compaction/end",
            "step/start",
            "user/message",
            "request/header",
            "assistant/message",
            "step/end",
            "turn/end",
        ]
        (start,) = driver.events("compaction/start")
        assert start.data["turn"] == 3
        assert script.sent[2].request.purpose == "compaction"
        # 100 tokens stay: the last answer alone is longer.
        kept = [message["role"] for message in script.sent[3].messages]
        assert kept == ["user", "assistant", "user"]


async def test_long_results_are_shortened_first_and_may_be_enough(tmp_path: Path) -> None:
    long = "".join(f"row {number}\n" for number in range(4_000))
    script = Recorded(
        [
            instantly(Call("peek", {}, id="c1")),
            instantly(f"one {LONG}"),
            instantly("two"),
        ]
    )
    options = CompactionOptions(share=0.2, headroom=1_000, retain_tokens=100)
    async with driving(
        tmp_path, scripted(script, small()), tools=[tool("peek", lambda _: long)], compaction=options
    ) as driver:
        await driver.say("q1")
        before = driver.writer.next_seq
        (result,) = driver.events("tool/result")
        await driver.say("q2")
        assert shapes(driver, before)[:5] == [
            "turn/start",
            "compaction/prune",
            "tool/result",
            "step/start",
            "user/message",
        ]
        prune, shorter = driver.events()[before + 3 : before + 5]
        assert prune.data == {
            "shadowedRange": {"start": result.seq, "end": result.seq},
            "shadowedSeqs": [result.seq],
            "shadowedTokenCount": message_tokens(result.data["message"]),
        }
        text = shorter.data["message"]["content"][0]["text"]
        assert text.startswith("row 0\n")
        assert text.endswith("row 3999\n")
        assert len(text) < 4_000
        assert shorter.data["message"]["id"] == result.data["message"]["id"]
        assert driver.events("compaction/start") == []
        assert driver.events("request/header")[-1].data["reason"] == "series"
        await driver.say("q3")
        assert len(driver.events("compaction/prune")) == 1


async def test_what_the_provider_counted_makes_the_pressure_where_it_is_more(tmp_path: Path) -> None:
    usage = {"input_tokens": 900, "cache_read_input_tokens": 200}
    async with FakeProvider() as provider:
        provider.queue(
            answer({"text": f"one {'word ' * 60}"}),
            answer({"text": "two"}, usage=usage),
            answer({"text": "Notes."}),
            answer({"text": "three"}),
        )
        async with driving(
            tmp_path, loopback(provider, small()), compaction=EARLY, prompt=simple_prompt("Keep moss.")
        ) as driver:
            await driver.say(f"q1 {'word ' * 60}")
            await driver.say("q2")
            assert driver.events("compaction/start") == []
            await driver.say("q3")
            assert len(driver.events("compaction/summary")) == 1


async def test_no_call_is_parted_from_its_result(tmp_path: Path) -> None:
    calls = [Call("peek", {}, id=f"c{number}") for number in range(3)]
    script = Recorded(
        [
            instantly("Look.", *calls),
            instantly(Fail("too long", "CONTEXT_WINDOW_EXCEEDED")),
            instantly("Done."),
        ],
        auxiliary=[instantly("Notes.")],
    )
    async with driving(tmp_path, scripted(script, small()), tools=[tool("peek", lambda _: LONG)]) as driver:
        await driver.say(f"q1 {LONG}")
        (summary,) = driver.events("compaction/summary")
        (question,) = [
            event.seq for event in driver.events("user/message") if event.data["source"]["kind"] == "user"
        ]
        # The last message is a result, and its calls belong to one answer: only the question is left.
        assert summary.data["shadowedSeqs"] == [question]
        assert driver.reasons == [{"kind": "completed"}]


async def test_an_overflow_is_condensed_once_and_the_request_made_again(tmp_path: Path) -> None:
    overflow = instantly(Fail("the prompt is too long", "CONTEXT_WINDOW_EXCEEDED", 400))
    script = Recorded(
        [instantly(f"one {LONG}"), overflow, instantly("two"), overflow, overflow, instantly("four")],
        auxiliary=[instantly("Notes."), instantly("Notes again.")],
    )
    async with driving(tmp_path, scripted(script, small())) as driver:
        await driver.say("q1")
        before = driver.writer.next_seq
        await driver.say("q2")
        assert shapes(driver, before) == [
            "turn/start",
            "step/start",
            "user/message",
            "assistant/attempt",
            "compaction/start",
            "compaction/summary",
            "user/message",
            "compaction/end",
            "request/header",
            "assistant/message",
            "step/end",
            "turn/end",
        ]
        assert driver.events("request/header")[-1].data["reason"] == "series"
        assert driver.reasons[-1] == {"kind": "completed"}
        await driver.say(f"q3 {LONG}")
        assert driver.reasons[-1]["error"]["code"] == "CONTEXT_WINDOW_EXCEEDED"
        assert len(driver.events("compaction/start")) == 2
        await driver.say("q4")
        assert driver.reasons[-1] == {"kind": "completed"}


FAILURES: list[tuple[str, Any, str]] = [
    ("refused", instantly(Fail("no summaries here", "INVALID_REQUEST", 400)), "no summaries here"),
    ("not smaller", instantly(LONG * 3), "not smaller"),
    ("cut", instantly("The beg", CutOff()), "MAX_TOKENS"),
    ("no text", instantly(Think("Hm.")), "no text"),
    ("a call", instantly(Call("peek", {}, id="c9")), "no text"),
]


@pytest.mark.parametrize(("said", "told"), [entry[1:] for entry in FAILURES], ids=[f[0] for f in FAILURES])
async def test_a_failure_leaves_the_session_as_it_was(said: Any, told: str, tmp_path: Path) -> None:
    script = Recorded([instantly(f"one {LONG}"), instantly("two")], auxiliary=[said])
    async with driving(tmp_path, scripted(script, small()), tools=[tool("peek")]) as driver:
        await driver.say("q1")
        surface = list(driver.writer.surface)
        messages = driver.writer.derive_messages()
        with pytest.raises(CompactionFailed) as failure:
            await driver.agent.compact()
        assert failure.value.kind == "summary"
        assert told in failure.value.message
        kinds = [event.type for event in driver.events()[-4:]]
        assert kinds == ["command/run", "compaction/start", "compaction/end", "command/done"]
        assert told in driver.events("compaction/end")[0].data["error"]
        assert list(driver.writer.surface) == surface
        assert driver.writer.derive_messages() == messages
        assert driver.events("tool/call") == []
        await driver.say("q2")
        assert len(driver.events("request/header")) == 1
        assert driver.events("llm/retry") == []


async def test_pressure_that_cannot_be_relieved_is_told_and_the_turn_goes_on(tmp_path: Path) -> None:
    script = Recorded(
        [instantly(f"one {LONG}"), instantly(f"two {LONG}"), instantly("three")],
        auxiliary=[instantly(Fail("no", "AUTH"))],
    )
    async with driving(tmp_path, scripted(script, small()), compaction=EARLY) as driver:
        told: list[tuple[str, str]] = []
        driver.agent.hooks.warning.append(lambda code, facts: told.append((code, facts.get("message", ""))))
        for text in ("q1", "q2", "q3"):
            await driver.say(text)
        assert told == [("compaction-failed", "no")]
        assert driver.reasons[-1] == {"kind": "completed"}


async def test_limits_that_leave_no_room_are_told_once_for_a_route(tmp_path: Path) -> None:
    script = Recorded([instantly("yes")] * 3)
    async with driving(tmp_path, scripted(script, small())) as driver:  # 20,000 tokens, a headroom of 65,536
        told: list[str] = []
        driver.agent.hooks.warning.append(lambda code, facts: told.append(code))
        for text in ("q1", "q2", "q3"):
            await driver.say(text)
        assert told == ["compaction-limits"]
        assert driver.reasons == [{"kind": "completed"}] * 3


async def test_there_may_be_nothing_to_condense(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([])) as driver:
        with pytest.raises(CompactionFailed) as failure:
            await driver.agent.compact()
        assert failure.value.kind == "nothing"
        assert driver.events("compaction/start") == []


async def test_a_command_waits_for_no_running_turn(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([instantly("yes")])) as driver:
        driver.agent.followup("q1")
        with pytest.raises(AgentBusy):
            await driver.agent.compact()
        await driver.idle()
        assert driver.events("command/run") == []


async def test_a_compaction_can_be_stopped_and_what_came_meanwhile_runs(tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        waits = answer({"text": "Notes."})
        waits.pieces = [asyncio.Event()]
        provider.queue(answer({"text": f"one {LONG}"}), waits, answer({"text": "two"}))
        async with driving(tmp_path, loopback(provider)) as driver:
            await driver.say("q1")
            running = asyncio.ensure_future(driver.agent.compact())
            await provider.until(lambda: len(provider.requests) == 2)
            driver.agent.cancel(keep_inbox=True)
            driver.agent.followup("q2")
            with pytest.raises(CompactionFailed) as failure:
                await running
            assert failure.value.kind == "cancelled"
            await driver.idle()
            assert driver.reasons == [{"kind": "completed"}] * 2
            assert driver.events("compaction/end")[0].data["error"]


async def test_a_later_prompt_inside_the_span_is_put_at_the_head(tmp_path: Path, shared: Path) -> None:
    prompt = simple_prompt("Keep moss.")
    async with FakeProvider() as provider:
        provider.queue(
            answer({"text": f"one {LONG}"}),
            answer({"text": "two"}),
            answer({"text": "Notes."}),
            answer({"text": "three"}),
        )
        async with driving(tmp_path, loopback(provider, model(mode="in-history")), prompt=prompt) as driver:
            await driver.say("q1")
            prompt.add(Section(name="base", text="Keep fern.", literal=True))
            await driver.say("q2")
            await driver.agent.compact()
            await driver.say("q3")
        assert_wire(wirecheck(shared), provider.bodies)
        assert provider.bodies[-1]["system"] == "Keep fern."
        roles = [message["role"] for message in provider.bodies[-1]["messages"]]
        assert roles == ["user", "assistant", "user"]


async def test_a_refused_change_fails_the_compaction_as_it_fails_turns(tmp_path: Path) -> None:
    async with FakeProvider() as provider:
        refused = refusal(
            400, "invalid_request_error", "messages.3: tool_addition: unexpected", request_id="r"
        )
        provider.queue(answer({"text": f"one {LONG}"}), answer({"text": "two"}), refused)
        async with driving(
            tmp_path, loopback(provider, model(mode="addition-only")), tools=[tool("peek")], strict=True
        ) as driver:
            await driver.say("q1")
            driver.tools.register(tool("water"))
            await driver.say("q2")
            with pytest.raises(CompactionFailed):
                await driver.agent.compact()
        assert len(provider.requests) == 3
