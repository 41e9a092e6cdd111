"""The JSON documents are what CONTRACT.md says, for every recording and in both languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.contract import faults
from tests.support.exports import ORDERS, RECORDINGS, exported, logs_below, recording

VIEWS = ("chat", "trajectory", "tools", "requests")
LANGS = ("en", "zh")
OWN = logs_below(RECORDINGS)


def document(path: Path, view: str, lang: str = "en") -> Any:
    return json.loads(exported(path, view, "json", lang))


def raw_events(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[1:]]


def blocks(event: dict[str, Any], kind: str) -> list[str]:
    content = event["data"]["message"]["content"]
    return [block["toolName"] for block in content if block["type"] == kind]


def of_kind(entries: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [entry for entry in entries if entry["kind"] == kind]


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("path", OWN, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_every_document_of_an_own_recording_keeps_the_contract(path: Path, lang: str) -> None:
    for view in VIEWS:
        assert faults(document(path, view, lang), view) == []


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("view", VIEWS)
def test_every_document_of_a_shared_recording_keeps_the_contract(shared: Path, view: str, lang: str) -> None:
    logs = [path for path in logs_below(shared / "recordings") if "torn" not in path.parts]
    assert len(logs) >= 30
    found = {path.parent.name: faults(document(path, view, lang), view) for path in logs}
    assert {name: sentences for name, sentences in found.items() if sentences} == {}


def test_the_checker_finds_what_is_wrong() -> None:
    good = document(recording("single-tool-added"), "chat")
    assert faults(good, "chat") == []
    for spoil in (
        lambda d: d.update(version=2),
        lambda d: d["session"].pop("events"),
        lambda d: d["nodes"][0].update(kind="sytem"),
        lambda d: d["nodes"][0].update(step=None),
        lambda d: of_kind(d["nodes"], "tool")[0].pop("name"),
        lambda d: of_kind(d["nodes"], "context")[-1].update(tool_change={"added": [], "expandable": True}),
    ):
        bad = json.loads(json.dumps(good))
        try:
            spoil(bad)
            found = faults(bad, "chat")
        except KeyError as error:
            found = [str(error)]
        assert found


def test_events_counts_the_rows_of_the_log() -> None:
    path = recording("retries")
    assert document(path, "chat")["session"]["events"] == len(raw_events(path))


def test_the_session_tells_the_facts_of_its_header() -> None:
    path = recording("plain-chat")
    header = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    session = document(path, "tools")["session"]
    assert (session["id"], session["cwd"]) == (header["id"], header["cwd"])
    assert (session["format_version"], session["created_ms"]) == (4, header["createdAt"])
    assert session["damage"] == []


@pytest.mark.parametrize(
    ("lang", "text"),
    [("en", "Tools changed · 12 added, 3 removed"), ("zh", "工具变更 · 新增 12 个，移除 3 个")],
)
@pytest.mark.parametrize(("view", "member"), [("chat", "nodes"), ("trajectory", "rows")])
def test_a_tool_change_is_a_context_entry_with_the_names_of_the_log(
    view: str, member: str, lang: str, text: str
) -> None:
    path = recording("many-tools-changed")
    (event,) = [event for event in raw_events(path) if event["type"] == "developer/message"]
    (entry,) = [e for e in document(path, view, lang)[member] if "tool_change" in e]
    change = entry["tool_change"]
    assert (entry["kind"], entry["seq"]) == ("context", event["seq"])
    assert entry["text"].startswith(text)
    assert change["added"] == blocks(event, "tool-addition")
    assert change["removed"] == blocks(event, "tool-removal")
    assert change["header_seq"] == event["data"]["headerSeq"]
    assert change["expandable"] is True
    assert change["restored"] == change["redefined"] == []


def test_a_single_addition_is_not_expandable_and_names_its_tool() -> None:
    (entry,) = [e for e in document(recording("single-tool-added"), "chat")["nodes"] if "tool_change" in e]
    change = entry["tool_change"]
    assert (len(change["added"]), change["expandable"]) == (1, False)
    assert change["added"][0].rpartition("__")[2] in entry["text"]


def test_restored_and_redefined_tools_are_told_apart() -> None:
    # The recording's README: mist_bed comes back as it was, open_vent and ring_bell with another schema.
    changes = document(recording("remove-and-restore"), "tools")["changes"]
    told = [(change["restored"], change["redefined"]) for change in changes if change["restored"]]
    server = "mcp__saltmarsh__"
    assert told == [
        ([f"{server}mist_bed"], []),
        ([f"{server}open_vent"], [f"{server}open_vent"]),
        ([f"{server}ring_bell"], [f"{server}ring_bell"]),
    ]
    assert all("header_seq" not in change for change in changes if not change["added"])


def test_the_tools_view_has_every_header_and_developer_message() -> None:
    path = recording("remove-and-restore")
    events = raw_events(path)
    tools = document(path, "tools")
    headers = [event for event in events if event["type"] == "request/header"]
    assert [header["seq"] for header in tools["headers"]] == [event["seq"] for event in headers]
    assert [header["active"] for header in tools["headers"]] == [
        [tool["name"] for tool in event["data"]["header"]["tools"]] for event in headers
    ]
    told = [event["seq"] for event in events if event["type"] == "developer/message"]
    assert [change["seq"] for change in tools["changes"]] == told
    assert tools["series"][0] == {"start_seq": headers[0]["seq"], "cause": "initial"}


def test_a_header_that_only_redefines_is_a_change_of_its_own(tmp_path: Path) -> None:
    path = redefining_log(tmp_path)
    (change,) = document(path, "tools")["changes"]
    assert change["redefined"] == ["mist_bed"]
    assert (change["seq"], change["header_seq"], change["added"], change["removed"]) == (1, 1, [], [])
    (node,) = of_kind(document(path, "chat")["nodes"], "header")
    assert node["redefined"] == ["mist_bed"]


def test_the_trajectory_has_every_event_once() -> None:
    path = recording("tool-use")
    rows = document(path, "trajectory")["rows"]
    joined = {"tool/result", "tool/ptc-dispatch", "compaction/summary", "compaction/end"}
    events = [event["seq"] for event in raw_events(path) if event["type"] not in joined]
    assert [row["seq"] for row in rows] == events


def test_a_tool_call_has_its_arguments_result_and_duration() -> None:
    path = recording("many-tools-changed")
    events = raw_events(path)
    node = of_kind(document(path, "chat")["nodes"], "tool")[0]
    call = next(event for event in events if event["type"] == "tool/call")
    result = next(event for event in events if event["type"] == "tool/result")
    assert node["name"] == call["data"]["name"]
    assert node["call_id"] == call["data"]["callId"]
    assert node["arguments"] == call["data"]["arguments"]
    assert node["result"] == result["data"]["message"]["content"][0]["text"]
    assert (node["is_error"], node["duration_ms"]) == (False, result["time"] - call["time"])


def test_a_failing_call_tells_its_code() -> None:
    failed = [
        node for node in of_kind(document(recording("tool-use"), "chat")["nodes"], "tool") if node["is_error"]
    ]
    recorded = [
        event["data"]["error"]["code"]
        for event in raw_events(recording("tool-use"))
        if event["type"] == "tool/result" and event["data"].get("error", {}).get("code")
    ]
    assert [node["error_code"] for node in failed if "error_code" in node] == recorded
    assert recorded


def test_a_prompt_and_an_answer_are_whole() -> None:
    path = recording("plain-chat")
    nodes = document(path, "chat")["nodes"]
    answers = [
        block["text"]
        for event in raw_events(path)
        if event["type"] == "assistant/message"
        for block in event["data"]["message"]["content"]
        if block["type"] == "text"
    ]
    assert [node["body"] for node in of_kind(nodes, "assistant")] == answers


def test_only_text_differs_between_the_languages() -> None:
    def without_text(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_text(member) for key, member in value.items() if key != "text"}
        return [without_text(member) for member in value] if isinstance(value, list) else value

    for view in VIEWS:
        english, chinese = (document(recording("retries"), view, lang) for lang in LANGS)
        assert without_text(english) == without_text(chinese)
    assert exported(recording("retries"), "chat", "json", "zh") != exported(
        recording("retries"), "chat", "json"
    )


def test_a_document_is_written_in_small_pieces() -> None:
    from tests.support.exports import reading
    from tui.export import Export, write_export
    from tui.i18n import translator

    pieces: list[str] = []
    log = reading(recording("tool-use"))
    write_export(pieces.append, log, translator("en"), Export("trajectory", "json"))
    assert len(pieces) > len(log.trajectory.index)


def test_what_json_allows_but_a_terminal_should_not_see_is_escaped() -> None:
    from tui.export.json_text import json_of

    text = "a\x9b31m b\u202e c\x7f d\ufeff e\U000e0041"
    written = json_of({"x": text})
    assert ORDERS.search(written) is None and written.isascii()
    assert json.loads(written) == {"x": text}


@pytest.mark.parametrize("value", [2**70, [[[1]]], {"a": "\ud800"}, 1e300])
def test_values_that_the_fast_encoder_refuses_are_written_too(value: Any) -> None:
    from tui.export.json_text import json_of

    assert "x" in json.loads(json_of({"x": value}).encode("utf-8"))


def test_nesting_beyond_the_encoder_is_written() -> None:
    from tui.export.json_text import json_of

    value: Any = 1
    for _ in range(3_000):
        value = [value]
    assert json_of(value) == "[" * 3_000 + "1" + "]" * 3_000


def redefining_log(folder: Path) -> Path:
    """A log of two headers; the second gives one tool another description."""

    def header(seq: int, reason: str, description: str) -> dict[str, Any]:
        tool = {"name": "mist_bed", "description": description, "parameters": {"type": "object"}}
        data = {
            "header": {"config": {"provider": "creek", "model": "minnow-2"}, "tools": [tool]},
            "reason": reason,
        }
        return {"type": "request/header", "seq": seq, "time": 1_700_000_000_000 + seq, "data": data}

    first = {
        "type": "session",
        "version": 4,
        "id": "session-00000000000000000000000000000001",
        "createdAt": 1_700_000_000_000,
        "cwd": "/srv/garden",
        "isSeeded": False,
        "delegationDepth": 0,
    }
    lines = [first, header(0, "initial", "Mist a bed."), header(1, "change", "Mist a bed for long.")]
    path = folder / "session.v4.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
