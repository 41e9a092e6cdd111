"""Every request that the recordings' provider was sent, printed again from the session's log alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.recorded_events import recorded_events
from tui.cli import main

MODES = {"deepseek-flash": "addition-only", "demo-inhistory": "in-history", "deepseek-v4-pro": "none"}
NOT_IN_THE_LOG = ("dsh_session_log", "dsh_plugin_packages")
ANSWERS = ("assistant/message", "assistant/attempt")


class Sent(NamedTuple):
    """A recorded body and the request of the log that it belongs to."""

    log: Path
    number: int
    body: dict[str, Any]
    is_compaction: bool


def numbered(log: Path) -> list[tuple[str, Any]]:
    """Type and data of the events that count as requests, in order; none of the recordings was killed."""
    counted = (*ANSWERS, "compaction/start")
    return [(event.type, event.data) for event in recorded_events(log) if event.type in counted]


def sent_of(log: Path, bodies: list[dict[str, Any]]) -> Iterator[Sent]:
    numbers = [
        (number, kind)
        for number, (kind, data) in enumerate(numbered(log), 1)
        # Cancelled before it was sent.
        if not (kind == "assistant/attempt" and data["stream"] == [])
    ]
    # What a fork inherits was sent by its parent.
    own = numbers[len(numbers) - len(bodies) :]
    for (number, kind), body in zip(own, bodies, strict=True):
        yield Sent(log, number, body, kind == "compaction/start")


def all_sent(shared: Path) -> Iterator[Sent]:
    for requests in sorted((shared / "recordings").rglob("requests.jsonl")):
        by_session: dict[str, list[dict[str, Any]]] = {}
        for line in requests.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            session = entry["headers"]["x-deepseek-harness-session-id"]
            by_session.setdefault(session, []).append(entry["body"])
        for session, bodies in by_session.items():
            (log,) = requests.parent.glob(f"sessions/*/{session}/session.v4.jsonl*")
            yield from sent_of(log, bodies)


def compared(body: dict[str, Any], sent: Sent) -> dict[str, Any]:
    """The part of a body that a log holds: see "Requests" of the issue for what it does not."""
    kept = {key: value for key, value in body.items() if key not in NOT_IN_THE_LOG}
    if sent.is_compaction:
        last = next(message for message in reversed(kept["messages"]) if message["role"] == "user")
        last["content"][-1] = {"type": "text", "text": "(instruction)"}
        if not produced_a_summary(sent):
            del kept["max_tokens"]
    return kept


def produced_a_summary(sent: Sent) -> bool:
    events = recorded_events(sent.log)
    starts = [event for event in events if event.type in (*ANSWERS, "compaction/start")]
    compaction = starts[sent.number - 1].data["compactionId"]
    return any(
        event.type == "compaction/summary" and event.data["compactionId"] == compaction for event in events
    )


def test_every_recorded_body_is_printed_again(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    total, differing = 0, []
    for sent in all_sent(shared):
        total += 1
        mode = MODES[sent.body["model"]]
        status = main(["request", str(sent.log), str(sent.number), "--wire", "--mode", mode])
        printed = capsys.readouterr().out
        if status or compared(json.loads(printed), sent) != compared(sent.body, sent):
            differing.append(f"{sent.log.parent.name} {sent.number}")
    with capsys.disabled():
        print(f"\nrecorded bodies printed again: {total - len(differing)} of {total}")
    assert total >= 272
    assert differing == []


def test_a_route_that_the_catalogue_knows_needs_no_mode(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("many-tools-changed", "many-tools-changed-no-updates"):
        folder = shared / "recordings" / name
        (log,) = folder.glob("sessions/*/*/session.v4.jsonl")
        bodies = [json.loads(line)["body"] for line in (folder / "requests.jsonl").open(encoding="utf-8")]
        for sent in sent_of(log, bodies):
            assert main(["request", str(log), str(sent.number), "--wire"]) == 0
            assert json.loads(capsys.readouterr().out) == compared(sent.body, sent)


def test_a_number_that_there_is_not_ends_with_3(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (log,) = (shared / "recordings" / "plain-chat").glob("sessions/*/*/session.v4.jsonl")
    for number in ("0", "4"):
        assert main(["request", str(log), number]) == 3
        told = capsys.readouterr()
        assert told.out == ""
        assert f"no request {number}" in told.err
        assert "3 model requests" in told.err
    assert main(["request", str(log), "first"]) == 64
    assert main(["request", str(log)]) == 64


def test_the_projection_is_printed_without_wire(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (log,) = (shared / "recordings" / "many-tools-changed").glob("sessions/*/*/session.v4.jsonl")
    printed: dict[str, Any] = {}
    for mode in MODES.values():
        assert main(["request", str(log), "3", "--mode", mode]) == 0
        printed[mode] = json.loads(capsys.readouterr().out)
        assert printed[mode]["format"] == "dsh-tui/request"
        assert printed[mode]["mode_from"] == "option"
    deferred = {
        mode: [tool.get("deferLoading", False) for tool in document["tools"]]
        for mode, document in printed.items()
    }
    # SCREENS.md, "The lens".
    assert deferred["none"] == [False] * 14
    assert deferred["addition-only"] == [False] * 2 + [True] * 12
    assert deferred["in-history"] == [False] * 5 + [True] * 12
    blocks = {
        mode: [
            block["type"]
            for message in document["messages"]
            if message["role"] == "developer"
            for block in message["content"]
        ]
        for mode, document in printed.items()
    }
    assert blocks["none"] == []
    assert blocks["addition-only"] == ["tool-addition"] * 12
    assert blocks["in-history"] == ["tool-addition"] * 12 + ["tool-removal"] * 3


def test_a_bare_body_that_is_approximate_says_so_beside_it(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A summary's request has an instruction that no log holds."""
    said = {True: 0, False: 0}
    for sent in all_sent(shared):
        if "compaction" not in sent.log.parts:
            continue
        assert main(["request", str(sent.log), str(sent.number), "--wire"]) == 0
        told = capsys.readouterr()
        assert json.loads(told.out)["messages"]
        assert ("Approximate: the log does not hold the instruction" in told.err) is sent.is_compaction
        said[sent.is_compaction] += 1
    assert all(said.values())
