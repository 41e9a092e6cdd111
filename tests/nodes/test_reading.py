"""One pass over a log: in slices or at once, whole or only its end, over any damage, at a fixed cost."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.benchmarks.generate import write_log
from tests.support.log_builder import LogBuilder, call, chunk, log, pieces, reasoning, tool
from tests.support.recorded_events import RECORDINGS
from tui.nodes import chat as c
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading
from tui.nodes.trajectory import TrajectoryRow, is_bookkeeping, row_times, trajectory_row
from tui.session.events import DAMAGE_TYPE

QUIET = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


def _nodes(reading: Reading) -> list[c.ChatNode]:
    return [chat_node(reading, at) for at in range(len(reading.chat.index))]


def _rows(reading: Reading) -> list[TrajectoryRow]:
    return [trajectory_row(reading, at) for at in range(len(reading.trajectory.index))]


def _all(reading: Reading) -> tuple[list[Any], list[Any], Any]:
    return (
        _nodes(reading),
        _rows(reading),
        (reading.totals(), reading.title, reading.model, list(reading.models)),
    )


# -- random logs


def _scenario(rng: random.Random) -> LogBuilder:
    """A valid log of a few turns with whatever may be in one."""
    built = log()
    names = ["a", "b", "d", "e"]
    count = 0
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.4:
            built.queue("queued")
            if rng.random() < 0.5:
                built.claim(canceled=rng.random() < 0.5)
        built.turn().user(rng.choice(["hello", "多云 🌿", ""]))
        for _ in range(rng.randint(1, 3)):
            if rng.random() < 0.5:
                wanted = [tool(name, rng.choice(["", "other"])) for name in names if rng.random() < 0.6]
                built.tools(*wanted, tell=rng.random() < 0.8)
            if rng.random() < 0.3:
                built.attempt(pieces(built.now, "half"), code="SERVER").retry(1, f"r{built.seq}")
            asked = [f"call-{count + n}" for n in range(rng.randint(0, 3))]
            count += len(asked)
            stream = [pieces(built.now, "x", "y"), chunk(built.now, rng.choice(["usage", "odd"]))]
            parts: list[Any] = [reasoning("hm"), "text"][: rng.randint(0, 2)]
            built.answer(
                *parts, *(call(i, rng.choice(names)) for i in asked), usage=(1, 2, 3, 4), stream=stream
            )
            for i in asked:
                built.ran(i, "a", error=rng.choice(["", "", "OOPS"]))
                if rng.random() < 0.3:
                    built.nested(i, 1, "inner", done=rng.random() < 0.7)
            if rng.random() < 0.2:
                built.event("plugin:x", [1], ignorable=True)
            if rng.random() < 0.4:
                built.step()
        kind = rng.choice(["completed"] * 4 + ["max-tokens", "aborted", "postponed", "error"])
        if kind == "error":
            built.fail("SERVER", "no")
        elif rng.random() < 0.9:
            built.end(kind)
        if not built.in_turn and rng.random() < 0.2:
            built.picked_up()
    return built


def _damaged(built: LogBuilder, rng: random.Random) -> LogBuilder:
    """The same with a few lines broken, dropped, doubled or moved."""
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(built.lines))
        line = built.lines[at]
        match rng.randint(0, 8):
            case 0:
                del built.lines[at]
            case 1:
                built.lines.insert(at, line)
            case 2:
                built.lines[at] = line[: rng.randrange(len(line))].replace(b"\n", b"")
            case 3:
                built.lines.insert(rng.randrange(len(built.lines)), built.lines.pop(at))
            case 4:
                built.lines[at] = line.replace(b'"data":', b'"data":[],"x":')
            case 5:
                built.lines[at] = line.replace(b'"seq":', b'"seq":9999999999999999999')
            case 6:
                built.lines[at] = line.replace(b'"turn":', b'"turn":-7e300,"was":')
            case 7:
                built.lines[at] = line.replace(b'"time":1', b'"time":-1')
            case _:
                broken = bytearray(line)
                broken[rng.randrange(len(broken))] = rng.choice([0, 34, 92, 123, 200, 255])
                built.lines[at] = bytes(broken).replace(b"\n", b"")
        if not built.lines:
            break
    return built


@QUIET
@given(seed=st.integers(0, 10**6), harm=st.booleans())
def test_no_log_raises_and_every_row_is_shown_once(tmp_path: Path, seed: int, harm: bool) -> None:
    rng = random.Random(seed)
    built = _scenario(rng)
    reading = (_damaged(built, rng) if harm else built).read(tmp_path)
    nodes, rows, _ = _all(reading)
    columns = reading.trajectory.index
    covered: list[int] = []
    for parts in zip(columns.rows, columns.mids, columns.ends, strict=True):
        covered.extend({part for part in parts if part >= 0})
    assert sorted(covered) == list(range(len(reading.log)))
    for at, row in enumerate(rows):
        begun, ended = row_times(reading, at)
        is_bookkeeping(reading, at)
        assert row.duration_ms is None or row.duration_ms == ended - begun >= 0
        assert row.ttft_ms is None or row.ttft_ms >= 0
    assert list(reading.chat.index.rows) == sorted(reading.chat.index.rows)
    assert [node.index for node in nodes] == list(range(len(nodes)))
    raised = [damage.code for damage in reading.log.damage]
    assert harm or raised == []
    shown = {node.damage.line for node in nodes if isinstance(node, c.DamageNode)}
    shown |= {node.fault.line for node in nodes if node.fault is not None}
    shown |= {row.damage.line for row in rows if row.damage is not None}
    assert {damage.line for damage in reading.log.damage} <= shown
    numbers = [row.request for row in rows if row.request is not None]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


@QUIET
@given(seed=st.integers(0, 10**6))
def test_reading_in_slices_gives_what_reading_at_once_gives(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = _damaged(_scenario(rng), rng).write(tmp_path)
    sliced = Reading.open(path)
    while not sliced.step(0.0):
        # What is looked at on the way must not change what comes after.
        for at in range(len(sliced.chat.index)):
            chat_node(sliced, at)
        for at in range(len(sliced.trajectory.index)):
            trajectory_row(sliced, at)
    assert _all(sliced) == _all(Reading.open(path).read_all())


@pytest.mark.parametrize("name", sorted(p.name for p in RECORDINGS.iterdir() if p.is_dir()))
def test_a_recording_in_slices_gives_the_same(name: str) -> None:
    path = RECORDINGS / name / "session.v4.jsonl"
    sliced = Reading.open(path)
    steps = 0
    while not sliced.step(0.0):
        steps += 1
        assert 0.0 <= sliced.progress <= 1.0
    assert _all(sliced) == _all(Reading.open(path).read_all())


# -- only the end


_LATER = {"tool/call", "tool/result", "tool/ptc-dispatch", "command/done", "approval/decided"}


def _facts(reading: Reading, nodes: list[c.ChatNode]) -> list[tuple[Any, ...]]:
    """What a reader sees of each node, without what completes something that lies before the tail."""
    facts: list[tuple[Any, ...]] = []
    for node in nodes:
        first = reading.chat.index.rows[node.index]
        if reading.log.type_name(first) in _LATER or node.kind == "header":
            continue
        if isinstance(node, c.RetryNode) and node.attempts[0].retry != 1:
            continue
        text = getattr(node, "text", "") or repr(getattr(node, "content", ""))
        facts.append((node.kind, node.seq, node.block, text))
    return facts


def _assert_ends_alike(tail: Reading, whole: Reading) -> None:
    offset = len(whole.log) - len(tail.log)
    assert offset >= 0
    for row in range(len(tail.log)):
        assert tail.log.raw(row) == whole.log.raw(row + offset)
        assert tail.log.seq(row) == whole.log.seq(row + offset)
    tail_nodes, nodes = _nodes(tail), _nodes(whole)
    told = _facts(tail, tail_nodes)
    expected = _facts(whole, [n for n in nodes if whole.chat.index.rows[n.index] >= offset])
    if not any(node.kind == "turn" for node in tail_nodes):
        # Whether a turn is open cannot be known without having seen one begin or a step of it.
        told = [fact for fact in told if fact[0] != "interrupted"]
        expected = [fact for fact in expected if fact[0] != "interrupted"]
    waiting = {n.seq for n in nodes if isinstance(n, c.UserNode) and (n.queued or n.discarded)}
    known = [fact for fact in expected if not (fact[0] == "user" and fact[1] in waiting)]
    assert [fact for fact in told if not (fact[0] == "user" and fact[1] in waiting)] == known
    rows, tail_rows = _rows(whole), _rows(tail)
    bare = [(r.kind, r.seq, r.title) for r in tail_rows if r.type not in _LATER and r.kind != "event"]
    seqs = {r.seq for r in tail_rows}
    full = [
        (r.kind, r.seq, r.title)
        for r in rows
        if r.row >= offset and r.type not in _LATER and r.kind != "event"
    ]
    assert bare[-len(full) :] == full or {s for _, s, _ in full} <= seqs


@pytest.mark.parametrize("name", sorted(p.name for p in RECORDINGS.iterdir() if p.is_dir()))
def test_the_end_of_a_recording_reads_as_in_the_whole(name: str) -> None:
    path = RECORDINGS / name / "session.v4.jsonl"
    whole = Reading.open(path).read_all()
    size = path.stat().st_size
    tried = 0
    for want in range(1, size, max(1, size // 60)):
        tail = whole.tail(want)
        if tail is None:
            continue
        _assert_ends_alike(tail.read_all(), whole)
        tried += 1
    assert tried > 30


@QUIET
@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 0.95))
def test_the_end_of_a_random_log_reads_as_in_the_whole(tmp_path: Path, seed: int, share: float) -> None:
    path = _scenario(random.Random(seed)).write(tmp_path)
    whole = Reading.open(path).read_all()
    tail = whole.tail(int(path.stat().st_size * share))
    if tail is not None:
        _assert_ends_alike(tail.read_all(), whole)


@QUIET
@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 0.99))
def test_the_end_of_a_damaged_log_can_be_read(tmp_path: Path, seed: int, share: float) -> None:
    rng = random.Random(seed)
    path = _damaged(_scenario(rng), rng).write(tmp_path)
    tail = Reading.open(path).tail(int(path.stat().st_size * share))
    if tail is not None:
        _all(tail.read_all())


def test_a_prompt_that_was_claimed_in_the_tail_does_not_wait(tmp_path: Path) -> None:
    built = log().queue("one").queue("two", start=1).turn().user("one" * 500).answer("ok").end()
    built.queue("three", start=2).claim().claim().turn().user("two")
    path = built.end().write(tmp_path)
    whole = Reading.open(path).read_all()
    tail = whole.tail(1500)
    assert tail is not None
    waiting = [n.content.text for n in _nodes(tail.read_all()) if isinstance(n, c.UserNode) and n.queued]
    assert (
        waiting
        == [n.content.text for n in _nodes(whole) if isinstance(n, c.UserNode) and n.queued]
        == ["three"]
    )


# -- files that change


def test_a_file_that_shrinks_while_it_is_shown_gives_rows_without_content(tmp_path: Path) -> None:
    path = (
        log()
        .turn()
        .user("go")
        .answer(call("1", "a"))
        .ran("1", "a")
        .compact(3, 4, [3, 4])
        .end()
        .write(tmp_path)
    )
    reading = Reading.open(path).read_all()
    path.write_bytes(path.read_bytes()[:400])
    _all(reading)
    assert reading.log.event(len(reading.log) - 1).type == DAMAGE_TYPE


def test_a_file_that_shrinks_while_it_is_read_is_told(tmp_path: Path) -> None:
    path = write_log(tmp_path / "session.v4.jsonl", 5_000)
    reading = Reading.open(path)
    reading.step(0.0)
    path.write_bytes(path.read_bytes()[:100_000])
    reading.read_all()
    assert "truncated" in [damage.code for damage in reading.log.damage]
    _all(reading)


# -- cost


def test_an_event_costs_the_same_in_a_long_log(tmp_path: Path) -> None:
    """Bytes of all columns of index and folds, an event: at most 64 (issue: goal of memory)."""
    reading = Reading.open(write_log(tmp_path / "session.v4.jsonl", 20_000)).read_all()
    total = 0
    for columns in (
        reading.log.index,
        reading.chat.index,
        reading.trajectory.index,
        reading.chat,
        reading.trajectory,
    ):
        for value in vars(columns).values():
            if hasattr(value, "itemsize"):
                total += len(value) * value.itemsize
            elif isinstance(value, bytearray):
                total += len(value)
    assert total / len(reading.log) < 64


def test_a_deep_payload_and_a_huge_line_are_nodes_like_any_other(tmp_path: Path) -> None:
    deep = json.dumps({"type": "todo/write", "seq": 2, "time": 1, "data": "@"}).encode()
    built = log().turn()
    built.line(
        deep.replace(b'"seq": 2', b'"seq": %d' % built.seq).replace(b'"@"', b"[" * 100_000 + b"]" * 100_000)
    )
    built.seq += 1
    reading = built.user("y" * 10_000_000).answer("ok").end().read(tmp_path)
    assert [node.kind for node in _nodes(reading)] == ["turn", "system", "todo", "user", "assistant"]
    assert reading.log.damage == []
