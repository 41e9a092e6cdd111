"""Picking a stored session up: what is closed, cut back, refused (session-format §2.5, §7, §9.3)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.session_logs import (
    assert_sound,
    assistant,
    call,
    call_block,
    converse,
    frame_texts,
    result,
    text,
    user,
    whole_lines,
)
from tui.session.durable import Encoding
from tui.session.errors import SessionUnreadable
from tui.session.events import Event
from tui.session.write_errors import SessionRefused
from tui.session.writer import SessionWriter

ENCODINGS: list[Encoding] = ["none", "zstd"]
CWD = "/srv/lantern-works"


async def stored(home: Path, encoding: Encoding = "zstd", *, tail: Sequence[tuple[str, Any]] = ()) -> Path:
    """A stored session of two turns and an unfinished tail."""
    writer = SessionWriter.create(home, CWD, encoding=encoding)
    converse(writer, 1)
    await writer.flush()
    converse(writer, 2)
    for kind, data in tail:
        writer.append(kind, data)
    await writer.close()
    return writer.path


async def picked_up(path: Path, **options: Any) -> list[Event]:
    """What picking the session up added, after one more event was appended and all of it read back."""
    writer = SessionWriter.resume(path, **options)
    before = len(writer.events) - len(writer.pickup)
    writer.append("plan/mode", {"active": True})
    known = list(writer.events)
    await writer.close()
    events = assert_sound(path)
    assert events == known
    return events[before:-1]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_pick_up_is_marked_and_numbers_continue(tmp_path: Path, encoding: Encoding) -> None:
    path = await stored(tmp_path, encoding)
    [mark] = await picked_up(path)
    assert (mark.type, mark.seq, mark.data) == ("session/end-seed", 19, {})
    resumed = SessionWriter.resume(path)
    assert (resumed.last_turn, resumed.next_seq) == (2, 22)
    converse(resumed, 3)
    await resumed.close()
    assert len(assert_sound(path)) == 30


async def test_a_pick_up_that_nothing_follows_writes_nothing(tmp_path: Path) -> None:
    path = await stored(tmp_path, tail=[("turn/start", {"turn": 3})])
    before = path.read_bytes()
    writer = SessionWriter.resume(path)
    assert [event.type for event in writer.pickup] == ["turn/end", "session/end-seed"]
    await writer.flush()
    await writer.close()
    assert path.read_bytes() == before


async def test_a_mark_that_is_the_last_event_is_not_repeated(tmp_path: Path) -> None:
    path = await stored(tmp_path, tail=[("session/end-seed", {})])
    assert await picked_up(path) == []


async def test_an_interrupted_turn_is_closed_in_one_batch_with_what_follows(tmp_path: Path) -> None:
    tail = [
        ("turn/start", {"turn": 3}),
        ("step/start", {"turn": 3, "step": 1}),
        ("assistant/message", assistant(3, 1, call_block("c1"), call_block("c2"), call_block("c3"))),
        ("tool/call", call(3, 1, "c1")),
        ("tool/result", result(3, 1, "c1")),
        ("tool/call", call(3, 1, "c2")),
    ]
    path = await stored(tmp_path, tail=tail)
    frames = len(frame_texts(path.read_bytes()))
    added = await picked_up(path)
    assert [event.type for event in added] == [
        "tool/result",
        "tool/call",
        "tool/result",
        "step/end",
        "turn/end",
        "session/end-seed",
    ]
    unknown, started, never = added[:3]
    assert [event.data["message"]["toolCallId"] for event in (unknown, never)] == ["c2", "c3"]
    assert "outcome unknown" in unknown.data["message"]["content"][0]["text"]
    assert "never started" in never.data["message"]["content"][0]["text"]
    assert [event.data["error"]["code"] for event in (unknown, never)] == [
        "TOOL_OUTCOME_UNKNOWN",
        "TOOL_NOT_STARTED",
    ]
    assert all(event.data["message"]["isError"] for event in (unknown, never))
    assert started.data == call(3, 1, "c3")
    assert (unknown.source_event_seqs, never.source_event_seqs) == ([unknown.seq - 1], [started.seq])
    assert added[4].data == {"turn": 3, "reason": {"kind": "interrupted"}}
    assert {event.time for event in added[:5]} == {assert_sound(path)[unknown.seq - 1].time}
    assert len(frame_texts(path.read_bytes())) == frames + 1


async def test_a_turn_is_closed_once(tmp_path: Path) -> None:
    path = await stored(tmp_path, tail=[("turn/start", {"turn": 3})])
    assert [event.type for event in await picked_up(path)] == ["turn/end", "session/end-seed"]
    assert [event.type for event in await picked_up(path)] == ["session/end-seed"]


async def test_a_crash_inside_a_compaction_is_closed_with_the_mark_in_one_batch(tmp_path: Path) -> None:
    tail = [("turn/start", {"turn": 3}), ("compaction/start", {"compactionId": "k", "turn": 3})]
    path = await stored(tmp_path, tail=tail)
    frames = len(frame_texts(path.read_bytes()))
    assert [event.type for event in await picked_up(path)] == ["turn/end", "session/end-seed"]
    assert len(frame_texts(path.read_bytes())) == frames + 1
    writer = SessionWriter.resume(path)
    assert not writer.state.rules.compacting
    converse(writer, 4)
    await writer.close()
    assert_sound(path)


async def test_the_killed_session_of_the_open_calls_case_goes_on(shared: Path, tmp_path: Path) -> None:
    path = borrowed(shared / "bugs/cases/B12-orphan-calls/home/killed", tmp_path)
    before = path.read_bytes()
    added = await picked_up(path)
    answers = [event.data["message"] for event in added if event.type == "tool/result"]
    assert ["outcome unknown" in answer["content"][0]["text"] for answer in answers] == [True, False]
    assert ["never started" in answer["content"][0]["text"] for answer in answers] == [False, True]
    assert [event.type for event in added].count("turn/end") == 1
    assert path.read_bytes().startswith(before)


def borrowed(home: Path, tmp_path: Path) -> Path:
    """A copy of a stored session that may be written to."""
    shutil.copytree(home / "sessions", tmp_path / "borrowed" / "sessions")
    [path] = (
        path
        for path in (tmp_path / "borrowed").rglob("session.v4.jsonl*")
        if not path.name.startswith("after-")
    )
    for entry in (path, path.parent):
        entry.chmod(0o700)
    return path


NOT_RESUMED_HERE = {
    # dsh drops the repeated row; numbers that repeat are two writers' work, and none of it is dropped here.
    "plain-seq-repeat"
}


def torn_cases(shared: Path) -> list[tuple[Path, bool]]:
    return [
        (folder.parent, json.loads(folder.read_text())["resume"] == "ok")
        for folder in sorted((shared / "recordings" / "torn").glob("*/verdict.json"))
    ]


async def test_what_dsh_refuses_is_refused_and_what_it_resumes_is_resumed(
    shared: Path, tmp_path: Path
) -> None:
    cases = torn_cases(shared)
    assert len(cases) == 20
    for case, resumed_by_dsh in cases:
        path = borrowed(case, tmp_path / case.name)
        before = path.read_bytes()
        if not resumed_by_dsh or case.name in NOT_RESUMED_HERE:
            with pytest.raises((SessionRefused, SessionUnreadable)):
                SessionWriter.resume(path)
            assert path.read_bytes() == before
            continue
        writer = SessionWriter.resume(path)
        kept = writer.pickup[0].seq + 1
        added = [event.type for event in writer.pickup if event.type != "tool/call"]
        converse(writer, writer.last_turn + 1)
        await writer.close()
        assert_sound(path)
        by_dsh = whole_lines(next(case.glob("after-resume.*")))
        # The rows that dsh kept, and no more: what it appended itself begins at the same place.
        assert whole_lines(path)[:kept] == by_dsh[:kept]
        assert [json.loads(line)["type"] for line in by_dsh[kept : kept + len(added)]] == added


@pytest.mark.parametrize("case", ["closers-then-live", "hole", "replayed"])
def test_a_log_whose_numbers_are_in_trouble_is_not_appended_to(
    shared: Path, tmp_path: Path, case: str
) -> None:
    path = borrowed(shared / "bugs/cases/B07-seq-trouble/home" / case, tmp_path)
    before = path.read_bytes()
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.resume(path)
    assert caught.value.code == "damaged"
    assert caught.value.fields["damage"] in ("seq-rewind", "seq-repeat", "seq-hole")
    assert caught.value.fields["line"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("case", ["zstd-cut", "plain-cut"])
async def test_a_torn_tail_is_cut_back_before_the_first_append(
    shared: Path, tmp_path: Path, case: str
) -> None:
    path = borrowed(shared / "bugs/cases/B08-torn-tail/home" / case, tmp_path)
    before, lines = path.read_bytes(), whole_lines(path)
    writer = SessionWriter.resume(path)
    assert path.read_bytes() == before
    converse(writer, writer.last_turn + 1)
    await writer.close()
    assert_sound(path)
    assert whole_lines(path)[: len(lines)] == lines


@pytest.mark.parametrize("case", ["bad-middle", "trailing-garbage"])
def test_a_broken_frame_refuses_the_whole_log(shared: Path, tmp_path: Path, case: str) -> None:
    path = borrowed(shared / "bugs/cases/B08-torn-tail/home" / case, tmp_path)
    before = path.read_bytes()
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.resume(path)
    assert caught.value.code == "damaged"
    assert path.read_bytes() == before


async def test_unmarked_unknown_events_are_accepted_on_demand_and_stay_as_they_are(
    shared: Path, tmp_path: Path
) -> None:
    path = borrowed(shared / "bugs/cases/B10-unknown-events/home", tmp_path)
    before = path.read_bytes()
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.resume(path)
    assert (caught.value.code, caught.value.fields["seq"]) == ("unknown-events", 21)
    writer = SessionWriter.resume(path, allow_unknown=True)
    converse(writer, writer.last_turn + 1)
    await writer.close()
    assert path.read_bytes().startswith(before)


async def test_sessions_of_dsh_are_never_continued_in_place(tmp_path: Path) -> None:
    path = await stored(tmp_path / "dsh")
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.resume(path, dsh_home=tmp_path / "dsh")
    assert caught.value.code == "foreign-home"


async def test_only_the_newest_generation_is_continued(tmp_path: Path) -> None:
    path = await stored(tmp_path, "none")
    newer = path.with_name("session.v5.jsonl")
    newer.touch()
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.resume(path)
    assert caught.value.code == "older-generation"
    newer.rename(path.with_name("session.v4.jsonl.zstd"))
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.resume(path)
    assert caught.value.code == "mixed-encodings"


async def test_a_log_that_breaks_a_rule_is_refused_with_the_place(tmp_path: Path) -> None:
    path = await stored(tmp_path, "none", tail=[("user/message", user("u9"))])
    broken = path.read_bytes().replace(b'"step/end","seq":9,', b'"plan/mode","seq":9,', 1)
    broken = broken.replace(
        b'"data":{"turn":1,"step":1}}\n{"type":"turn/end"', b'"data":{"active":true}}\n{"type":"turn/end"', 1
    )
    path.write_bytes(broken)
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.resume(path)
    assert (caught.value.code, caught.value.fields["rule"], caught.value.fields["seq"]) == ("rule", 2, 10)


async def test_events_of_an_earlier_process_are_read_from_the_file(tmp_path: Path) -> None:
    path = await stored(tmp_path)
    writer = SessionWriter.resume(path)
    assert [writer.events[seq].seq for seq in range(len(writer.events))] == list(range(20))
    assert writer.events[-1].type == "session/end-seed"
    assert writer.events[3].data == user("u1", "moss " * 5)
    assert [event.seq for event in writer.events[17:]] == [17, 18, 19]
    with pytest.raises(IndexError):
        writer.events[20]
    writer.append("user/message", {**user("u3"), "content": [text("x")]})
    assert writer.events[20].data["id"] == "u3"
    await writer.close()
