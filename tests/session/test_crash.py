"""Whenever a process dies, the session opens, goes on, and has everything that was acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.session_logs import (
    ZSTD_MAGIC,
    assert_sound,
    assistant,
    call,
    call_block,
    converse,
    user,
    whole_lines,
)
from tui.session.durable import Encoding
from tui.session.errors import SessionError, SessionUnreadable
from tui.session.store import Homes, resolve_session
from tui.session.writer import SessionWriter

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("DSH_TUI_KILLS", "20"))


async def small_log(home: Path, encoding: Encoding) -> Path:
    """A log of a few batches that ends inside a step."""
    writer = SessionWriter.create(home, "/srv/moss", encoding=encoding)
    converse(writer, 1, words="m ")
    await writer.flush()
    writer.append("turn/start", {"turn": 2})
    writer.append("step/start", {"turn": 2, "step": 1})
    writer.append("user/message", user("u2", "größer 😀"))
    await writer.flush()
    writer.append("assistant/message", assistant(2, 1, call_block("c1"), call_block("c2")))
    writer.append("tool/call", call(2, 1, "c1"))
    await writer.close()
    return writer.path


@pytest.mark.parametrize("encoding", ["none", "zstd"])
async def test_a_log_cut_at_any_byte_opens_and_goes_on(
    tmp_path: Path, encoding: Encoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is cut is cut by hand: the disk need not be waited for some thousand times.
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    original = await small_log(tmp_path / "a", encoding)
    content = original.read_bytes()
    copy = tmp_path / "b" / original.relative_to(tmp_path / "a")
    copy.parent.mkdir(parents=True)
    header_ends = len(whole_lines(original)[0]) + 1
    if encoding == "zstd":
        header_ends = content.index(ZSTD_MAGIC, 4)
    for size in range(len(content) + 1):
        copy.write_bytes(content[:size])
        lines = whole_lines(copy)
        try:
            writer = SessionWriter.resume(copy)
        except SessionError:
            # Without a whole header there is no session. No crash leaves such a log: its name comes last.
            assert size < header_ends
            assert copy.read_bytes() == content[:size]
            continue
        assert size >= header_ends
        writer.append("user/message", user("u9"))
        writer.close_now()
        events = assert_sound(copy)
        assert whole_lines(copy)[: len(lines)] == lines
        assert (events[-1].type, events[-2].type) == ("user/message", "session/end-seed")


def kill_while_appending(target: Path, rng: random.Random) -> tuple[Path, int]:
    """Run a process that appends, kill it at a random moment; its log and the last seq it called durable."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.append_until_killed", str(target)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    log = Path(process.stdout.readline().split(maxsplit=1)[1].strip())
    wanted = rng.randint(1, 40)
    durable = -1
    for _ in range(wanted):
        durable = int(process.stdout.readline().split()[1])
    process.send_signal(signal.SIGKILL)
    for line in process.stdout.read().splitlines():
        if line.startswith("durable ") and line.split()[1].isdigit():
            durable = max(durable, int(line.split()[1]))
    process.wait(timeout=60)
    process.stdout.close()
    return log, durable


def test_what_was_acknowledged_survives_any_kill(tmp_path: Path) -> None:
    rng = random.Random(20)
    target, log = tmp_path / "home", None
    for number in range(KILLS):
        log, durable = kill_while_appending(log or target, rng)
        lines = whole_lines(log)
        assert len(lines) - 1 > durable
        if number % 5 == 4:
            log = None
            target = tmp_path / f"home-{number}"
            continue
        writer = SessionWriter.resume(log)
        assert len(writer.events) - len(writer.pickup) > durable
        writer.append("plan/mode", {"active": True})
        writer.close_now()
        assert_sound(log)
        assert whole_lines(log)[: len(lines)] == lines


def test_a_kill_during_the_first_write_leaves_no_half_session(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from tui.session.writer import SessionWriter\n"
        "writer = SessionWriter.create(Path(sys.argv[1]), '/srv/moss', session_id='session-moss')\n"
        "writer.append('plan/mode', {'active': True})\n"
        "os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "writer.flush_now()\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    [folder] = (tmp_path / "sessions").glob("*/*")
    assert sorted(path.suffix for path in folder.iterdir()) == [".lock", ".tmp"]
    with pytest.raises(SessionUnreadable) as caught:
        resolve_session("session-moss", Homes(tmp_path, tmp_path / "dsh"))
    assert caught.value.code == "no-log"
