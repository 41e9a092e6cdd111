"""Copies: sessions of dsh continued in our own store, sound logs out of damaged ones (spec §5)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.recorded_events import RECORDINGS
from tests.support.session_logs import (
    assert_sound,
    assistant,
    call,
    call_block,
    converse,
    log_lines,
    user,
    whole_lines,
)
from tui.session.forking import fork
from tui.session.write_errors import SessionRefused, SessionWriteError
from tui.session.writer import SessionWriter

OWN = sorted(RECORDINGS.rglob("session.v4.jsonl*"))


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


@pytest.mark.parametrize("source", OWN, ids=lambda path: str(path.relative_to(RECORDINGS)))
async def test_a_session_of_dsh_goes_on_in_a_copy(tmp_path: Path, source: Path) -> None:
    before = tree(source.parent)
    copy = fork(source, tmp_path)
    writer = copy.writer
    assert (copy.dropped, copy.added) == (0, 0)
    inherited = whole_lines(source)[1:]
    assert [json.loads(line) for line in whole_lines(writer.path)[1 : len(inherited) + 1]] == [
        json.loads(line) for line in inherited
    ]
    mark = assert_sound(writer.path)[len(inherited)]
    assert (mark.type, mark.data) == ("session/end-seed", {"inherited": True})
    converse(writer, writer.last_turn + 1)
    await writer.close()
    assert_sound(writer.path)
    source_header, header = json.loads(whole_lines(source)[0]), log_lines(writer.path)[0]
    assert (header["isSeeded"], header["parentSession"]) == (True, source_header["id"])
    assert header["id"] != source_header["id"]
    assert (header["cwd"], header["delegationDepth"]) == (source_header["cwd"], 0)
    assert tree(source.parent) == before


async def test_every_healthy_session_can_be_copied(shared: Path, tmp_path: Path) -> None:
    logs = [
        path
        for path in sorted((shared / "recordings").rglob("session.v4.jsonl*"))
        if not {"torn", "long"} & set(path.parts)
    ]
    assert len(logs) > 20
    for source in logs:
        writer = fork(source, tmp_path).writer
        await writer.close()
        resumed = SessionWriter.resume(writer.path)
        converse(resumed, resumed.last_turn + 1)
        await resumed.close()
        assert_sound(writer.path)


async def interrupted(home: Path) -> Path:
    writer = SessionWriter.create(home, "/srv/moss")
    converse(writer, 1)
    writer.append("subagent/catalog", {"version": 1, "childId": "k", "childCreatedAt": 1, "mode": "unknown"})
    mark = {"sessionId": writer.id, "sessionFormatVersion": 4, "throughSeq": 3}
    writer.append("session-log-deepseek/delivery-accepted", mark)
    writer.append("turn/start", {"turn": 2})
    writer.append("step/start", {"turn": 2, "step": 1})
    writer.append("user/message", user("u2"))
    writer.append("assistant/message", assistant(2, 1, call_block("c1"), call_block("c2")))
    writer.append("tool/call", call(2, 1, "c1"))
    await writer.close()
    return writer.path


async def test_a_copy_that_ends_inside_a_turn_is_closed_after_the_marker(tmp_path: Path) -> None:
    source = await interrupted(tmp_path / "dsh")
    writer = fork(source, tmp_path / "own").writer
    types = [event.type for event in writer.events][18:]
    assert types == ["session/end-seed", "tool/result", "tool/call", "tool/result", "step/end", "turn/end"]
    assert writer.events[-1].data["reason"] == {"kind": "forked"}
    writer.append("subagent/catalog", {"version": 1, "childId": "k", "childCreatedAt": 1, "mode": "unknown"})
    converse(writer, 3)
    await writer.close()
    assert_sound(writer.path)


async def test_a_copy_may_end_at_any_event(tmp_path: Path) -> None:
    source = await interrupted(tmp_path / "dsh")
    for through in range(18):
        writer = fork(source, tmp_path / "own", through=through).writer
        assert writer.events[through + 1].data == {"inherited": True}
        await writer.close()
        assert_sound(writer.path)


async def test_a_copy_of_a_crash_inside_a_compaction_goes_on(tmp_path: Path) -> None:
    writer = SessionWriter.create(tmp_path / "dsh", "/srv/moss")
    converse(writer, 1)
    writer.append("turn/start", {"turn": 2})
    writer.append("compaction/start", {"compactionId": "k", "turn": 2})
    await writer.close()
    copy = fork(writer.path, tmp_path / "own").writer
    converse(copy, 3)
    await copy.close()
    assert_sound(copy.path)


async def test_a_copy_of_a_copy_keeps_both_markers(tmp_path: Path) -> None:
    first = fork(await interrupted(tmp_path / "dsh"), tmp_path / "own").writer
    converse(first, 3)
    await first.close()
    second = fork(first.path, tmp_path / "own").writer
    await second.close()
    marks = [event.data for event in assert_sound(second.path) if event.type == "session/end-seed"]
    assert marks == [{"inherited": True}] * 2
    assert log_lines(second.path)[0]["parentSession"] == first.id


DAMAGED = {
    "B07-seq-trouble/home/closers-then-live": "damaged",
    "B07-seq-trouble/home/hole": "damaged",
    "B07-seq-trouble/home/replayed": "damaged",
    "B08-torn-tail/home/bad-middle": "damaged",
    "B08-torn-tail/home/trailing-garbage": "damaged",
    "B10-unknown-events/home": "unknown-events",
    "B12-orphan-calls/home/crashed": "rule",
}


@pytest.mark.parametrize(("case", "code"), DAMAGED.items())
async def test_a_damaged_log_gives_a_sound_copy_on_demand(
    shared: Path, tmp_path: Path, case: str, code: str
) -> None:
    [source] = (shared / "bugs/cases" / case).rglob("session.v4.jsonl*")
    with pytest.raises(SessionRefused) as caught:
        fork(source, tmp_path)
    assert caught.value.code == code
    copy = fork(source, tmp_path, mend=True)
    converse(copy.writer, copy.writer.last_turn + 1)
    await copy.writer.close()
    events = assert_sound(copy.writer.path)
    assert copy.writer.derive_messages()
    assert [event.type for event in events].count("user/message") >= 2


async def test_the_hole_of_the_numbers_case_loses_nothing_but_what_is_missing(
    shared: Path, tmp_path: Path
) -> None:
    [source] = (shared / "bugs/cases/B07-seq-trouble/home/hole").rglob("session.v4.jsonl")
    prompts = [line["data"]["id"] for line in lines_of(source) if line["type"] == "user/message"]
    copy = fork(source, tmp_path, mend=True)
    await copy.writer.close()
    kept = [event.data["id"] for event in assert_sound(copy.writer.path) if event.type == "user/message"]
    assert kept == prompts


async def test_a_replay_is_copied_once(shared: Path, tmp_path: Path) -> None:
    [source] = (shared / "bugs/cases/B07-seq-trouble/home/replayed").rglob("session.v4.jsonl")
    prompts = [line["data"]["id"] for line in lines_of(source) if line["type"] == "user/message"]
    copy = fork(source, tmp_path, mend=True)
    await copy.writer.close()
    kept = [event.data["id"] for event in assert_sound(copy.writer.path) if event.type == "user/message"]
    assert kept == list(dict.fromkeys(prompts))


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in whole_lines(path)[1:]]


async def test_an_open_call_is_answered_where_it_was_asked_in_a_mended_copy(
    shared: Path, tmp_path: Path
) -> None:
    [source] = (shared / "bugs/cases/B12-orphan-calls/home/crashed").rglob("session.v4.jsonl")
    copy = fork(source, tmp_path, mend=True)
    await copy.writer.close()
    assert (copy.dropped, copy.added) == (0, 1)
    types = [event.type for event in assert_sound(copy.writer.path)]
    assert types[11:14] == ["tool/call", "tool/result", "step/end"]


async def test_unknown_events_are_marked_ignorable_in_a_copy(shared: Path, tmp_path: Path) -> None:
    [source] = (shared / "bugs/cases/B10-unknown-events/home").rglob("session.v4.jsonl")
    copy = fork(source, tmp_path, allow_unknown=True)
    await copy.writer.close()
    originals = lines_of(source)
    copies = lines_of(copy.writer.path)
    changed = [(before, after) for before, after in zip(originals, copies, strict=False) if before != after]
    assert [after for _, after in changed] == [{**before, "ignorable": True} for before, _ in changed]
    assert [before["seq"] for before, _ in changed] == [21]
    assert_sound(copy.writer.path)


async def test_a_copy_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await interrupted(tmp_path / "dsh")
    real = os.fsync

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SessionWriteError) as caught:
        fork(source, tmp_path / "own")
    assert caught.value.code == "disk-full"
    assert not (tmp_path / "own").exists()
    monkeypatch.setattr(os, "fsync", real)
    await fork(source, tmp_path / "own").writer.close()
