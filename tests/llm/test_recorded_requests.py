"""Requests that real dsh made, made again from the session's log alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import wirecheck
from tests.support.recorded_events import recorded_events
from tui.llm.credentials import Credential
from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
from tui.llm.deepseek_body import beta_header, encode_body
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import CATALOGUE, DEFAULT_BASE_URL, ToolUpdateMode
from tui.session.request_header import parse_request_header
from tui.session.surface import Surface, derive_messages
from tui.session.tool_history import ToolHistoryFold

RECORDINGS: dict[str, ToolUpdateMode] = {
    "plain-chat": "addition-only",
    "tool-use": "addition-only",
    "single-tool-added": "addition-only",
    "many-tools-changed": "addition-only",
    "many-tools-changed-inhistory": "in-history",
    "many-tools-changed-no-updates": None,
    "remove-and-restore": "addition-only",
    "rejected-update": "addition-only",
    "retries": "addition-only",
    "cancel": "addition-only",
    "compaction": "addition-only",
}
FOREIGN = ("dsh_session_log", "dsh_plugin_packages")


def requests_of(events: list[Any]) -> Iterator[GenerateRequest]:
    """Each request of the loop, as it stood when its answer came.

    One that was cancelled before the first byte of an answer may not have been sent at all.
    """
    surface, history, header = Surface(), ToolHistoryFold(), None
    by_seq: dict[int, Any] = {}
    for event in events:
        answered = event.type in ("assistant/message", "assistant/attempt") and event.data.get("stream") != []
        if answered and header is not None:
            snapshot = history.snapshot()
            yield GenerateRequest(
                config=CallConfig.from_json(header.config),
                messages=derive_messages(surface, by_seq.__getitem__),
                tools=header.tools or None,
                tool_history=snapshot,
            )
        by_seq[event.seq] = event
        surface.apply(event)
        history.apply(event)
        if event.type == "request/header":
            header = parse_request_header(event.seq, event.data, history.pool)


OFFICIAL = DeepSeekAdapter(
    DeepSeekConnection(
        provider="deepseek-official", base_url=DEFAULT_BASE_URL, credential=Credential(), models=CATALOGUE
    )
)


@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_requests_are_made_again_from_the_log(shared: Path, name: str) -> None:
    folder = shared / "recordings" / name
    recorded = [
        entry
        for line in (folder / "requests.jsonl").read_text(encoding="utf-8").splitlines()
        if "x-deepseek-harness-compact" not in (entry := json.loads(line))["headers"]
    ]
    made = 0
    for log in folder.glob("sessions/*/*/session.v4.jsonl"):
        session = log.parent.name
        sent = iter(
            [entry for entry in recorded if entry["headers"]["x-deepseek-harness-session-id"] == session]
        )
        for request in requests_of(recorded_events(log)):
            call = OFFICIAL.prepare(request.config).with_tool_update(RECORDINGS[name])
            entry = next(sent)
            expected = {key: value for key, value in entry["body"].items() if key not in FOREIGN}
            body = call.body(request)
            assert json.loads(encode_body(body)) == expected
            assert beta_header(body) == entry["headers"].get("anthropic-beta")
            made += 1
    assert made


HOMES = ("B02-change-placement", "B03-all-deferred", "B13-lone-surrogate", "B15-reasoning-replay")


@pytest.mark.parametrize("mode", [None, "addition-only", "in-history"])
@pytest.mark.parametrize("case", HOMES)
def test_the_checker_finds_nothing_in_the_requests_of_reported_sessions(
    shared: Path, case: str, mode: ToolUpdateMode
) -> None:
    check, made = wirecheck(shared).check, 0
    for path in (shared / "bugs" / "cases" / case / "home").rglob("session.v4.jsonl"):
        for request in requests_of(recorded_events(path)):
            body = OFFICIAL.prepare(request.config).with_tool_update(mode).body(request)
            assert check(json.loads(encode_body(body))) == []
            made += 1
    assert made


def test_recorded_signatures_go_back_as_they_are(shared: Path) -> None:
    (path,) = (shared / "bugs" / "cases" / "B15-reasoning-replay" / "home").rglob("session.v4.jsonl")
    *_, last = requests_of(recorded_events(path))
    body = OFFICIAL.prepare(last.config).body(last)
    answers = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
    thoughts = [
        (blocks[0].get("thinking"), blocks[0].get("signature", "none") if "thinking" in blocks[0] else None)
        for blocks in answers
    ]
    assert [thinking for thinking, _ in thoughts] == [
        "Signed as usual.",
        "Unsigned, the signature is the empty string.",
        None,
        "No signature field at all.",
        "Only reasoning came, no answer.",
    ]
    assert thoughts[0][1] not in ("", "none", None)
    assert [signature for _, signature in thoughts[1:4]] == ["", None, "none"]
