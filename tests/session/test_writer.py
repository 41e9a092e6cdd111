"""Writing sessions: what is accepted, when it is durable, what is on the disk (session-format §2, §9)."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import resource
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.session_logs import (
    assert_sound,
    assistant,
    call,
    call_block,
    converse,
    developer,
    frame_texts,
    header,
    log_lines,
    replace,
    result,
    system,
    text,
    tool,
    user,
)
from tui.session.batches import BATCH_SECONDS
from tui.session.durable import Encoding, LogFile
from tui.session.log import SessionLog
from tui.session.rules import LogRuleError
from tui.session.store_writer import store_encoding
from tui.session.surface import Surface
from tui.session.write_errors import SessionRefused, SessionWriteError
from tui.session.writer import SessionWriter

ENCODINGS: list[Encoding] = ["none", "zstd"]
CWD = "/home/ana/moss"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_what_was_appended_is_read_back_as_it_was_returned(home: Path, encoding: Encoding) -> None:
    writer = SessionWriter.create(home, CWD, encoding=encoding)
    returned = []
    writer.subscribe(returned.append)
    converse(writer, 1, steps=2)
    await writer.flush()
    converse(writer, 2)
    await writer.close()
    assert assert_sound(writer.path) == returned == list(writer.events)


async def test_the_header_is_one_line_with_exactly_the_keys_of_the_format(home: Path) -> None:
    writer = SessionWriter.create(home, CWD, session_id="session-moss", encoding="none", now=lambda: 1234)
    writer.append("plan/mode", {"active": True})
    await writer.close()
    assert log_lines(writer.path)[0] == {
        "type": "session",
        "version": 4,
        "id": "session-moss",
        "createdAt": 1234,
        "cwd": CWD,
        "isSeeded": False,
        "delegationDepth": 0,
    }
    assert writer.path == home / "sessions" / "--home-ana-moss--" / "session-moss" / "session.v4.jsonl"


async def test_frame_one_is_the_header_and_every_batch_is_a_frame(home: Path) -> None:
    writer = SessionWriter.create(home, CWD)
    converse(writer, 1)
    await writer.flush()
    converse(writer, 2)
    converse(writer, 3)
    await writer.flush()
    await writer.close()
    texts = frame_texts(writer.path.read_bytes())
    assert [content.count(b"\n") for content in texts] == [1, 11, 16]
    assert all(content.endswith(b"\n") for content in texts)
    assert json.loads(texts[0])["type"] == "session"


async def test_folders_and_files_are_for_their_owner_alone(home: Path) -> None:
    writer = SessionWriter.create(home, CWD)
    writer.append("plan/mode", {"active": True})
    await writer.flush()
    assert [mode(path) for path in (home, home / "sessions", writer.path.parent)] == [0o700] * 3
    assert mode(writer.path) == 0o600
    assert mode(writer.path.parent / "session.lock") & 0o777 == 0o644 & ~_umask()
    await writer.close()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


async def test_a_folder_whose_name_is_no_text_can_be_worked_in(home: Path) -> None:
    writer = SessionWriter.create(home, "/srv/mo\udcffss", encoding="none")
    writer.append("plan/mode", {"active": True})
    await writer.close()
    assert log_lines(writer.path)[0]["cwd"] == "/srv/mo\ufffdss"
    assert writer.path.parent.parent.name == "--srv-mo~FFFDss--"
    assert_sound(writer.path)


async def test_a_session_without_an_event_leaves_nothing_behind(home: Path) -> None:
    writer = SessionWriter.create(home, CWD)
    assert writer.path.parent.is_dir()
    await writer.close()
    assert not home.exists()


async def test_no_temporary_file_stays_beside_the_log(home: Path) -> None:
    writer = SessionWriter.create(home, CWD)
    writer.append("plan/mode", {"active": True})
    await writer.close()
    assert sorted(os.listdir(writer.path.parent)) == ["session.lock", "session.v4.jsonl.zstd"]


async def test_a_batch_follows_by_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = asyncio.Event()
    loop = asyncio.get_running_loop()
    append = LogFile.append

    def noted(self: LogFile, lines: Any) -> None:
        append(self, lines)
        loop.call_soon_threadsafe(written.set)

    monkeypatch.setattr(LogFile, "append", noted)
    writer = SessionWriter.create(home, CWD)
    started = loop.time()
    writer.append("plan/mode", {"active": True})
    assert not writer.path.exists()
    await asyncio.wait_for(written.wait(), 10)
    assert loop.time() - started >= BATCH_SECONDS * 0.9
    assert len(assert_sound(writer.path)) == 1
    await writer.close()


async def test_flush_returns_only_after_the_disk_has_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size) or fsync(fd))
    writer = SessionWriter.create(home, CWD)
    converse(writer, 1)
    await writer.flush()
    converse(writer, 2)
    synced.clear()
    await writer.flush()
    assert synced == [writer.path.stat().st_size]
    assert writer.pending == 0
    await writer.close()


async def test_a_cancelled_flush_does_not_break_the_batch(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    fsync = os.fsync
    writer = SessionWriter.create(home, CWD)
    monkeypatch.setattr(os, "fsync", lambda fd: gate.wait(10) and fsync(fd))
    converse(writer, 1)
    flushing = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)
    flushing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await flushing
    gate.set()
    converse(writer, 2)
    await writer.close()
    assert len(assert_sound(writer.path)) == 19


async def test_an_event_that_breaks_a_rule_changes_nothing(home: Path) -> None:
    writer = SessionWriter.create(home, CWD, encoding="none")
    seen: list[Any] = []
    writer.subscribe(seen.append)
    converse(writer, 1)
    await writer.flush()
    before, count = writer.path.read_bytes(), len(seen)
    with pytest.raises(LogRuleError) as caught:
        writer.append("turn/start", {"turn": 3})
    assert (caught.value.rule, caught.value.event_type) == (1, "turn/start")
    with pytest.raises(LogRuleError):
        writer.append(
            "user/message", {**user("u"), "content": [text("x"), {"type": "text", "text": object()}]}
        )
    await writer.flush()
    assert (writer.path.read_bytes(), len(seen), writer.next_seq) == (before, count, count)
    await writer.close()


async def test_the_payload_is_taken_as_it_was_at_the_append(home: Path) -> None:
    writer = SessionWriter.create(home, CWD)
    todos: dict[str, Any] = {"todos": [{"content": "weigh the pots", "status": "pending"}]}
    event = writer.append("todo/write", todos)
    todos["todos"].clear()
    assert event.data == {"todos": [{"content": "weigh the pots", "status": "pending"}]}
    await writer.close()
    assert assert_sound(writer.path)[0].data == event.data


async def test_long_citations_are_packed_and_read_back_whole(home: Path) -> None:
    writer = SessionWriter.create(home, CWD, encoding="none")
    for number in range(6):
        writer.append("user/message", user(f"u{number}"))
    writer.append("user/message", user("all"), surface_op=replace(1, 5), source_event_seqs=[0, 1, 2, 3, 4, 5])
    writer.append("user/message", user("again"), surface_op=replace(6, 6), source_event_seqs=[6, 0, 1, 2])
    await writer.close()
    lines = log_lines(writer.path)
    assert [line["sourceEventSeqs"] for line in lines[-2:]] == [[[0, 5]], [6, 0, 1, 2]]
    assert [event.source_event_seqs for event in assert_sound(writer.path)[-2:]] == [
        [0, 1, 2, 3, 4, 5],
        [6, 0, 1, 2],
    ]


HALVES = ["\ud83d", "\ude00", "a\ud83d b", "\ude00\ud83d", "x\x00\ud800"]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_half_a_character_is_written_as_a_replacement(
    home: Path, half: str, encoding: Encoding
) -> None:
    writer = SessionWriter.create(home, CWD, encoding=encoding)
    writer.append("turn/start", {"turn": 1})
    writer.append("step/start", {"turn": 1, "step": 1})
    writer.append("system/message", system(1, 1, half))
    writer.append("user/message", user("u1", half))
    writer.append("assistant/message", assistant(1, 1, text(half), call_block("c1", arguments=half)))
    started = writer.append("tool/call", {**call(1, 1, "c1"), "arguments": half})
    writer.append("tool/result", result(1, 1, "c1", half), source_event_seqs=[started.seq])
    writer.append("todo/write", {"todos": [{half: half}]})
    await writer.close()
    lines = log_lines(writer.path)
    shown = "".join("\ufffd" if "\ud800" <= unit <= "\udfff" else unit for unit in half)
    assert lines[4]["data"]["content"] == [text(shown)]
    assert lines[-1]["data"] == {"todos": [{shown: shown}]}
    assert [event.data for event in writer.events] == [line["data"] for line in lines[1:]]
    assert_sound(writer.path)


async def test_a_whole_pair_stays_one_character(home: Path) -> None:
    writer = SessionWriter.create(home, CWD, encoding="none")
    writer.append("user/message", user("u1", "\ud83d\ude00"))
    await writer.close()
    assert log_lines(writer.path)[1]["data"]["content"] == [text("😀")]


async def test_deep_nesting_and_odd_numbers_are_written(home: Path) -> None:
    nested: Any = []
    for _ in range(5000):
        nested = [nested]
    writer = SessionWriter.create(home, CWD, encoding="none")
    writer.append("plugin:deep", nested, ignorable=True)
    writer.append("plugin:odd", [float("nan"), float("inf"), 1e300, 2**70], ignorable=True)
    await writer.close()
    last = writer.path.read_bytes().splitlines()[-1]
    assert json.loads(last)["data"] == [None, None, 1e300, 2**70]


async def test_a_store_keeps_the_encoding_it_has(home: Path) -> None:
    first = SessionWriter.create(home, CWD, preferred="none")
    first.append("plan/mode", {"active": True})
    await first.close()
    second = SessionWriter.create(home, "/elsewhere", preferred="zstd")
    assert second.encoding == "none"
    await second.close()
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.create(home, CWD, encoding="zstd")
    assert (caught.value.code, caught.value.fields["held"]) == ("other-encoding", "none")
    other = home / "sessions" / "--x--" / "s" / "session.v3.jsonl.zstd"
    other.parent.mkdir(parents=True)
    other.touch()
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.create(home, CWD)
    assert caught.value.code == "mixed-encodings"


def test_a_new_store_is_zstd_unless_told_otherwise(home: Path) -> None:
    assert [store_encoding(home), store_encoding(home, preferred="none")] == ["zstd", "none"]


async def test_an_id_is_used_once_in_the_whole_store(home: Path) -> None:
    first = SessionWriter.create(home, CWD, session_id="session-moss")
    first.append("plan/mode", {"active": True})
    await first.close()
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.create(home, "/elsewhere", session_id="session-moss")
    assert caught.value.code == "exists"


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_file_that_cannot_grow_keeps_its_last_whole_batch(home: Path, encoding: Encoding) -> None:
    writer = SessionWriter.create(home, CWD, encoding=encoding)
    converse(writer, 1)
    await writer.flush()
    before = writer.path.read_bytes()
    writer.append("plugin:noise", os.urandom(4096).hex(), ignorable=True)
    with file_limit(len(before) + 100), pytest.raises(SessionWriteError) as caught:
        await writer.flush()
    assert caught.value.code == "too-big"
    assert writer.path.read_bytes() == before
    with pytest.raises(SessionWriteError) as again:
        writer.append("plan/mode", {"active": True})
    assert again.value is caught.value is writer.failure
    with pytest.raises(SessionWriteError):
        await writer.flush()
    await writer.close()
    assert len(assert_sound(writer.path)) == 11


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_log_that_cannot_be_begun_is_not_there(home: Path, encoding: Encoding) -> None:
    writer = SessionWriter.create(home, CWD, encoding=encoding)
    writer.append("plugin:noise", os.urandom(4096).hex(), ignorable=True)
    with file_limit(300), pytest.raises(SessionWriteError):
        await writer.flush()
    assert os.listdir(writer.path.parent) == ["session.lock"]
    await writer.close()
    assert not home.exists()


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "disk-full"), (errno.EIO, "write-failed")])
@pytest.mark.parametrize("call_name", ["write", "fsync"])
async def test_a_full_disk_is_said_at_once_and_nothing_is_half_written(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str, call_name: str
) -> None:
    writer = SessionWriter.create(home, CWD)
    converse(writer, 1)
    await writer.flush()
    before = writer.path.read_bytes()
    failures: list[SessionWriteError] = []
    failed = asyncio.Event()
    writer.on_failure(lambda error: (failures.append(error), failed.set()))
    real = getattr(os, call_name)
    state = {"left": 1}

    def failing(fd: int, *rest: Any) -> Any:
        if call_name == "write":
            real(fd, bytes(rest[0])[:7])
        if state["left"]:
            state["left"] -= 1
            raise OSError(number, os.strerror(number))
        return real(fd, *rest)

    monkeypatch.setattr(os, call_name, failing)
    converse(writer, 2)
    await asyncio.wait_for(failed.wait(), 10)
    monkeypatch.undo()
    assert [error.code for error in failures] == [code]
    assert writer.path.read_bytes() == before
    assert "cut_back" not in failures[0].fields
    with pytest.raises(SessionWriteError):
        converse(writer, 3)
    await writer.close()
    resumed = SessionWriter.resume(writer.path)
    converse(resumed, 2)
    await resumed.close()
    assert_sound(writer.path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_store_that_may_not_be_written_is_said_when_the_session_begins(home: Path) -> None:
    home.mkdir(mode=0o500)
    with pytest.raises(SessionWriteError) as caught:
        SessionWriter.create(home, CWD)
    assert caught.value.code == "no-permission"


def test_a_store_whose_folder_cannot_be_made_is_said_when_the_session_begins(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file is in the way")
    with pytest.raises((SessionWriteError, SessionRefused)) as caught:
        SessionWriter.create(tmp_path / "home", CWD)
    assert str(tmp_path) in str(caught.value)


async def test_the_state_for_the_loop_follows_the_events(home: Path) -> None:
    writer = SessionWriter.create(home, CWD)
    converse(writer, 1, steps=2)
    assert (writer.turn, writer.step, writer.last_turn, writer.last_step) == (None, None, 1, 2)
    writer.append(
        "agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [user("w1"), user("w2")]}
    )
    assert [message["id"] for message in writer.inbox.next_turn] == ["w1", "w2"]
    writer.append("turn/start", {"turn": 2})
    writer.append("step/start", {"turn": 2, "step": 1})
    changed = writer.append("request/header", header("mist", "peek", reason="change"))
    added = {"type": "tool-addition", "toolName": "mist"}
    writer.append("developer/message", developer(2, 1, added, header_seq=changed.seq))
    history = writer.tool_history()
    assert [definition.name for definition in history.tools] == ["peek"]
    assert [definition.to_json() for update in history.updates for definition in update.additions] == [
        tool("mist")
    ]
    assert writer.tool_history() is history
    writer.append("assistant/message", assistant(2, 1, call_block("c1"), call_block("c2")))
    writer.append("tool/call", call(2, 1, "c2"))
    assert {key: value.started_by for key, value in writer.open_calls.items()} == {
        "c1": None,
        "c2": writer.next_seq - 1,
    }
    assert writer.header_event is not None and writer.header_event.seq == changed.seq
    assert writer.context_event is not None and writer.context_event.data["model"] == "minnow-2"
    writer.append("session/title", {"title": "Beds", "messageSeqs": [], "source": {"kind": "user"}})
    writer.append("plan/mode", {"active": True})
    state = writer.state
    assert (state.title, state.title_is_pinned, state.plan_mode) == ("Beds", True, True)
    await writer.close()


VALID = [
    ("turn/start", lambda w: {"turn": w.last_turn + 1}),
    ("step/start", lambda w: {"turn": w.turn or 1, "step": w.last_step + 1}),
    ("step/end", lambda w: {"turn": w.turn or 1, "step": w.step or 1}),
    ("turn/end", lambda w: {"turn": w.turn or 1, "reason": {"kind": "completed"}}),
    ("system/message", lambda w: system(w.turn or 1, w.step or 1)),
    ("user/message", lambda w: user(f"u{w.next_seq}")),
    ("assistant/message", lambda w: assistant(w.turn or 1, w.step or 1, call_block("a"), call_block("b"))),
    ("tool/call", lambda w: call(w.turn or 1, w.step or 1, "a")),
    ("tool/result", lambda w: result(w.turn or 1, w.step or 1, "a")),
    ("tool/call", lambda w: call(w.turn or 1, w.step or 1, "b")),
    ("tool/result", lambda w: result(w.turn or 1, w.step or 1, "b")),
    ("request/header", lambda w: header("peek")),
    ("compaction/start", lambda w: {"compactionId": "k", "turn": w.turn}),
    ("compaction/end", lambda w: {"compactionId": "k", "turn": w.turn, "error": "cut"}),
    ("session/end-seed", lambda w: {}),
    ("plugin:noise", lambda w: None),
    (
        "agent/inbox/spliced",
        lambda w: {"target": "next-turn", "start": 0, "inserted": [user(f"w{w.next_seq}")]},
    ),
    ("agent/inbox/spliced", lambda w: {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": []}),
]
SMALL = st.integers(min_value=0, max_value=6)
OPS = st.one_of(st.none(), st.just("append"), st.builds(replace, SMALL, SMALL), st.just({"op": "replace"}))
STEPS = st.tuples(
    st.sampled_from(VALID),
    st.one_of(st.just({}), st.dictionaries(st.sampled_from(["turn", "step"]), SMALL, max_size=1)),
    st.one_of(st.none(), st.none(), OPS),
    st.one_of(st.none(), st.lists(SMALL, max_size=4)),
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=40))
def test_any_append_is_refused_and_writes_nothing_or_leaves_a_sound_log(
    tmp_path_factory: pytest.TempPathFactory, encoding: Encoding, steps: list[Any]
) -> None:
    home = tmp_path_factory.mktemp("random")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        append_at_random(home, encoding, steps)


def append_at_random(home: Path, encoding: Encoding, steps: list[Any]) -> None:
    writer = SessionWriter.create(home, CWD, encoding=encoding)
    accepted = 0
    for (kind, build), change, operation, cites in steps:
        data = build(writer)
        before = writer.path.read_bytes() if writer.path.exists() else b""
        try:
            writer.append(
                kind,
                {**data, **change} if change and isinstance(data, dict) else data,
                surface_op=operation,
                source_event_seqs=cites,
                ignorable=kind.startswith("plugin"),
            )
        except LogRuleError:
            writer.flush_now()
            assert (writer.path.read_bytes() if writer.path.exists() else b"") == before
        else:
            accepted += 1
            writer.flush_now()
    writer.close_now()
    if accepted:
        assert len(assert_sound(writer.path)) == accepted
    else:
        assert not writer.path.exists()


async def test_an_append_does_the_same_work_in_a_short_and_in_a_long_log(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SessionWriter.create(home, CWD, encoding="none")
    counts = {"between": 0, "nodes": 0, "decoded": 0}

    def count(name: str, owner: Any, method: str) -> None:
        real = getattr(owner, method)

        def counted(*args: Any, **options: Any) -> Any:
            counts[name] += 1
            return real(*args, **options)

        monkeypatch.setattr(owner, method, counted)

    count("between", Surface, "between")
    count("nodes", Surface, "__iter__")
    count("decoded", SessionLog, "event")
    seen = []
    for turn in range(1, 400):
        before, size = dict(counts), writer.next_seq
        converse(writer, turn)
        work = {name: counts[name] - before[name] for name in counts}
        if turn in (3, 399):
            seen.append((work, writer.next_seq - size))
    assert seen[0] == seen[1] == ({"between": 0, "nodes": 0, "decoded": 0}, 8)
    await writer.close()
