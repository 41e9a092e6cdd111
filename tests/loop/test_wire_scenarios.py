"""Whole conversations of the specification, event by event and body by body (spec/wire)."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, Reply, answer, refusal, wirecheck
from tests.support.loop_driver import Driver, assert_wire, driving, loopback, model, tool
from tui.llm.route import ModelEntry, ToolUpdateMode
from tui.loop import checkpoint, context
from tui.loop.compaction import CompactionFailed
from tui.loop.header import Selection
from tui.loop.hooks import Enter
from tui.loop.prompt import Prompt, Section
from tui.loop.state import CompactionOptions
from tui.tools.registry import ToolRegistry

PROVIDER = "loomworks"
USAGE = {"input_tokens": 50, "cache_read_input_tokens": 7}
OWN_EVENTS = ("permission/preset", "sandbox/mode", "approval/policy", "session/title", "model/selection")
OWN_EVENTS += ("command/run", "command/done")


@dataclass
class Turn:
    """What is there when the next prompt comes."""

    text: str
    tools: str | None = None
    """Names, separated by blanks; None: as before."""
    prompt: str | None = None
    contexts: dict[str, str] | None = None
    starts_series: bool = False
    model_id: str | None = None


@dataclass
class Scenario:
    folder: str
    mode: ToolUpdateMode
    turns: list[Turn]
    prompt_in_history: bool = True
    max_output: int = 1_000
    compaction: CompactionOptions = field(default_factory=CompactionOptions)


def five_turns() -> list[Turn]:
    return [
        Turn("q1", tools="alpha", prompt="Prompt A.", contexts={"wx": "wind: north"}),
        Turn("q2", tools="alpha beta"),
        Turn("q3", prompt="Prompt B."),
        Turn("q4", tools="alpha beta gamma", prompt="Prompt C.", contexts={}),
        Turn("q5", prompt=""),
    ]


def condensed() -> list[Turn]:
    long = " lorem" * 400
    return [
        Turn(f"q1{long} ", tools="alpha", prompt="Base prompt."),
        Turn(f"q2{long} ", tools="alpha beta"),
        Turn(f"q3{long} ", tools="alpha beta gamma"),
        Turn(f"q4{long} ", tools="alpha beta"),
        Turn("q5"),
        Turn("q6"),
    ]


EARLY = CompactionOptions(share=0.05, headroom=1_000, retain_tokens=300, max_tokens=1_000)
SCENARIOS = [
    Scenario(
        "all-tools-removed-addition-only", "addition-only", [Turn("q1", tools="alpha"), Turn("q2", tools="")]
    ),
    Scenario("all-tools-removed-in-history", "in-history", [Turn("q1", tools="alpha"), Turn("q2", tools="")]),
    Scenario(
        "explicit-series",
        "in-history",
        [
            Turn("q1", tools="alpha"),
            Turn("q2", tools="alpha beta"),
            Turn("q3", starts_series=True),
            Turn("q4", tools="alpha beta gamma"),
            Turn("q5", tools="alpha beta delta gamma", starts_series=True),
        ],
    ),
    Scenario(
        "model-switch",
        "in-history",
        [
            Turn("q1", tools="alpha"),
            Turn("q2", tools="alpha beta"),
            Turn("q3", model_id="plain-2"),
            Turn("q4", model_id="weaver-1"),
        ],
    ),
    Scenario(
        "prompt-and-tools-addition-only-prompt-in-history", "addition-only", five_turns(), max_output=256_000
    ),
    Scenario(
        "prompt-and-tools-in-history-prompt-leading",
        "in-history",
        five_turns(),
        prompt_in_history=False,
        max_output=256_000,
    ),
    Scenario("prompt-and-tools-none-prompt-in-history", None, five_turns(), max_output=256_000),
    Scenario(
        "prompt-and-tools-none-prompt-leading",
        None,
        five_turns(),
        prompt_in_history=False,
        max_output=256_000,
    ),
    Scenario("compaction-in-history", "in-history", condensed(), compaction=EARLY),
    Scenario("compaction-addition-only", "addition-only", condensed(), compaction=EARLY),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.folder)
async def test_a_conversation_gives_the_recorded_events_and_bodies(
    scenario: Scenario, tmp_path: Path, shared: Path
) -> None:
    folder, recorded = recording(shared, scenario.folder)
    async with FakeProvider() as provider:
        provider.queue(*recorded_answers(recorded, folder))
        stage = Stage()
        models = [
            model(
                "weaver-1",
                scenario.mode,
                prompt_in_history=scenario.prompt_in_history,
                context_window=100_000,
                max_output=scenario.max_output,
            ),
            model("plain-2", None, prompt_in_history=False, context_window=50_000),
        ]
        async with stage.driving(tmp_path, provider, *models, compaction=scenario.compaction) as driver:
            driver.agent.hooks.pre_step.append(stage.pre_step)
            for turn in scenario.turns:
                stage.set(driver, turn)
                await driver.say(turn.text)
            mine = [plain(event) for event in driver.events() if event.type not in OWN_EVENTS]
        assert_recorded(shared, folder, provider.bodies)
        assert comparable(mine) == comparable(recorded)


async def test_prompt_and_tools_that_change_in_mid_turn_follow_the_results(
    tmp_path: Path, shared: Path
) -> None:
    folder, recorded = recording(shared, "order-system-and-tools-mid-turn-in-history")
    async with FakeProvider() as provider:
        provider.queue(*recorded_answers(recorded, folder))
        stage = Stage()
        weaver = model("weaver-1", "in-history", context_window=100_000, max_output=1_000)
        async with stage.driving(tmp_path, provider, weaver) as driver:

            def change(arguments: Any) -> str:
                stage.set(driver, Turn("", tools="alpha beta", prompt="P2"))
                driver.agent.steer("steered")
                return "r"

            stage.bodies["alpha"] = change
            stage.set(driver, Turn("q1", tools="alpha", prompt="P1"))
            await driver.say("q1")
            await driver.say("q2")
            mine = [plain(event) for event in driver.events() if event.type not in OWN_EVENTS]
        assert_recorded(shared, folder, provider.bodies)
        assert comparable(mine) == comparable(recorded)


async def test_strictly_a_refused_record_is_sent_again_and_again(tmp_path: Path, shared: Path) -> None:
    folder, recorded = recording(shared, "rejected-400-persistent")
    text = "messages.3: tool_addition blocks are not supported on this route"
    refused = refusal(400, "invalid_request_error", text, request_id="req-9")
    async with FakeProvider() as provider:
        provider.queue(*recorded_answers(recorded[:20], folder)[:1], refused, refused, refused)
        stage = Stage()
        weaver = model("weaver-1", "in-history", context_window=100_000, max_output=1_000)
        async with stage.driving(tmp_path, provider, weaver, strict=True) as driver:
            stage.set(driver, Turn("", tools="alpha"))
            await driver.say("q1")
            stage.set(driver, Turn("", tools="alpha beta"))
            await driver.say("q2")
            await driver.say("q3")
            with pytest.raises(CompactionFailed) as failure:
                await driver.agent.compact()
            assert failure.value.kind == "summary"
            mine = [plain(event) for event in driver.events() if event.type not in OWN_EVENTS]
        assert_recorded(shared, folder, provider.bodies)
        assert comparable(mine) == comparable(recorded)


class Stage:
    """Tools, prompt and context that change between turns."""

    def __init__(self) -> None:
        self.tools = ToolRegistry()
        self.prompt = Prompt()
        self.bodies: dict[str, Any] = {}
        self._there: dict[str, Any] = {}
        self._starts_series = False
        self._contexts: list[Any] = []

    def driving(
        self, folder: Path, provider: FakeProvider, *models: ModelEntry, **options: Any
    ) -> AbstractAsyncContextManager[Driver]:
        """A loop that takes them from here and asks the first of the models."""
        return driving(
            folder,
            loopback(provider, *models, provider=PROVIDER),
            registry=self.tools,
            prompt=self.prompt,
            selection=Selection(provider=PROVIDER, model=models[0].id),
            **options,
        )

    def set(self, driver: Driver, turn: Turn) -> None:
        if turn.tools is not None:
            names = turn.tools.split()
            for name in [name for name in self._there if name not in names]:
                self._there.pop(name)()
            for name in [name for name in names if name not in self._there]:
                entry = tool(name, self.bodies.get(name), description=f"The {name} tool.")
                self._there[name] = self.tools.register(entry)
        if turn.prompt is not None:
            self.prompt.add(Section(name="base", text=turn.prompt))
        if turn.contexts is not None:
            for remove in self._contexts:
                remove()
            self._contexts = [
                self.prompt.add_context(Section(name=name, text=text)) for name, text in turn.contexts.items()
            ]
        if turn.model_id is not None:
            driver.agent.select(Selection(provider=PROVIDER, model=turn.model_id))
        self._starts_series = turn.starts_series

    async def pre_step(self, proposal: Any, following: Any) -> Any:
        decision = await following()
        return Enter(decision.messages, self._starts_series) if self._starts_series else decision


def recording(shared: Path, scenario: str) -> tuple[Path, list[dict[str, Any]]]:
    """The folder of a recorded conversation and its events."""
    folder = shared / "spec" / "wire" / scenario
    return folder, [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def assert_recorded(shared: Path, folder: Path, bodies: list[dict[str, Any]]) -> None:
    """Bodies keep the provider's rules and are those that were recorded."""
    assert_wire(wirecheck(shared), bodies)
    recorded = [json.loads(path.read_text())["body"] for path in sorted(folder.glob("[0-9]*.json"))]
    assert [neutral_body(body) for body in bodies] == [neutral_body(body) for body in recorded]


def recorded_answers(recorded: list[dict[str, Any]], folder: Path) -> list[Reply]:
    """What the provider said, from the events that it left."""
    replies: list[Reply] = []
    for event in recorded:
        data = event["data"]
        if event["type"] == "assistant/message":
            message = data["message"]
            states = message["source"]["replayState"]["blocks"]
            blocks = [wire_block(*pair) for pair in zip(message["content"], states, strict=True)]
            replies.append(answer(*blocks, usage=wire_usage(data["usage"])))
        elif event["type"] == "compaction/summary":
            replies.append(answer({"text": data["rawOutput"][0]["text"]}, usage=wire_usage(data["usage"])))
        elif event["type"] == "compaction/end" and "not smaller" in data.get("error", ""):
            # What it said is not recorded, but that it was as long as what it would have replaced.
            summaries = [before for before in recorded if before["type"] == "compaction/summary"]
            replies.append(answer({"text": summaries[-1]["data"]["rawOutput"][0]["text"]}))
    return replies


def wire_block(block: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "tool-call":
        return {"name": block["name"], "input": block["arguments"], "id": block["id"]}
    if block["type"] == "reasoning":
        signed = {"signature": state["signature"]} if "signature" in state else {}
        return {"thinking": block["text"], **signed}
    return {"text": block["text"]}


def wire_usage(usage: dict[str, int]) -> dict[str, int]:
    return {
        "input_tokens": usage["inputTokens"],
        "cache_read_input_tokens": usage["cacheReadTokens"],
    }


def plain(event: Any) -> dict[str, Any]:
    row = {"type": event.type, "seq": event.seq, "data": json.loads(json.dumps(event.data))}
    if event.surface_op is not None:
        row["surfaceOp"] = event.surface_op
    if event.source_event_seqs is not None:
        row["sourceEventSeqs"] = event.source_event_seqs
    return row


SEQ_KEYS = {"headerSeq", "startSeq", "endSeq", "start", "end", "seq"}
SEQ_LISTS = {"sourceEventSeqs", "shadowedSeqs", "messageSeqs"}
UNLIKE = {"id", "time", "stream", "usage", "compactionId", "sourceCommandId", "shadowedTokenCount", "error"}


def comparable(rows: list[dict[str, Any]]) -> list[Any]:
    """Events without ids, times and the wording of either program, seqs counted anew."""
    places = {row["seq"]: at for at, row in enumerate(rows)}

    def walk(value: Any, key: str = "", *, is_seq: bool = True) -> Any:
        if isinstance(value, dict):
            splice = "inserted" in value
            return {
                name: walk(member, name, is_seq=not splice)
                for name, member in value.items()
                if name not in UNLIKE or (name == "error" and isinstance(member, dict))
            }
        if isinstance(value, list):
            if key in SEQ_LISTS:
                spread = [
                    seq
                    for entry in value
                    for seq in (range(entry[0], entry[1] + 1) if isinstance(entry, list) else [entry])
                ]
                return [places[seq] for seq in spread]
            return [walk(member) for member in value]
        if key in SEQ_KEYS and is_seq and isinstance(value, int):
            return places[value]
        return neutral_text(value) if isinstance(value, str) else value

    return [walk(row) for row in rows]


DSH_SNAPSHOT = "Current runtime context. This snapshot supersedes earlier runtime-context snapshots."
DSH_NONE = "Current runtime context: none. Earlier runtime-context snapshots no longer apply."
WORDINGS = [
    (context._LEAD_IN, "(snapshot)"),
    (DSH_SNAPSHOT, "(snapshot)"),
    (context._NONE_NOW, "(none)"),
    (DSH_NONE, "(none)"),
    (checkpoint._INSTRUCTION, "(summarise)"),
    (f"{checkpoint._PREAMBLE}\n\n{checkpoint._OPENING}", "(checkpoint"),
    (checkpoint._CLOSING, "checkpoint)"),
    ("</compacted-summary>", "checkpoint)"),
]


def neutral_text(text: str) -> str:
    """Text with what each program words in its own way replaced by a mark."""
    if text.startswith("You are now acting as a compaction engine"):
        return "(summarise)"
    if text.startswith("This is an automatically generated checkpoint"):
        return "(checkpoint"
    for own, mark in WORDINGS:
        if text.startswith(own):
            return mark + text[len(own) :]
    return text


def neutral_body(body: Any) -> Any:
    """A body without the fields that dsh adds for its own service."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: walk(member) for key, member in value.items()}
        if isinstance(value, list):
            return [walk(member) for member in value]
        return neutral_text(value) if isinstance(value, str) else value

    return walk({key: value for key, value in body.items() if not key.startswith("dsh_")})
