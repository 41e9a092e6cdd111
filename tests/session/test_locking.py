"""One writer to a session, by the lock that dsh takes (session-format §1.7)."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.session_logs import assert_sound, converse
from tui.session.locking import SessionLock
from tui.session.write_errors import SessionRefused
from tui.session.writer import SessionWriter

ASK = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
try:
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    print("held")
else:
    print("free")
"""


def asked_elsewhere(lock: Path) -> str:
    """What another process finds that takes the lock as dsh does."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(lock)], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


async def test_the_lock_is_held_from_the_beginning_to_the_close(tmp_path: Path) -> None:
    writer = SessionWriter.create(tmp_path, "/srv/moss")
    lock = writer.path.parent / "session.lock"
    assert asked_elsewhere(lock) == "held"
    converse(writer, 1)
    await writer.flush()
    assert asked_elsewhere(lock) == "held"
    await writer.close()
    assert asked_elsewhere(lock) == "free"
    assert lock.stat().st_size == 0


async def test_a_session_that_another_process_writes_is_not_resumed(tmp_path: Path) -> None:
    writer = SessionWriter.create(tmp_path, "/srv/moss")
    converse(writer, 1)
    await writer.close()
    before = writer.path.read_bytes()
    fd = os.open(writer.path.parent / "session.lock", os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with pytest.raises(SessionRefused) as caught:
        SessionWriter.resume(writer.path)
    assert caught.value.code == "locked"
    os.close(fd)
    resumed = SessionWriter.resume(writer.path)
    with pytest.raises(SessionRefused):
        SessionWriter.resume(writer.path)
    await resumed.close()
    assert writer.path.read_bytes() == before


def test_a_lock_on_a_file_that_was_replaced_meanwhile_is_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock
    path = tmp_path / "session.lock"
    swapped: list[int] = []

    def swapping(fd: int, operation: int) -> None:
        if not swapped:
            swapped.append(os.fstat(fd).st_ino)
            (tmp_path / "other").touch()
            os.replace(tmp_path / "other", path)
        real(fd, operation)

    monkeypatch.setattr(fcntl, "flock", swapping)
    lock = SessionLock.acquire(tmp_path)
    assert path.stat().st_ino != swapped[0]
    assert asked_elsewhere(path) == "held"
    lock.release()
    assert asked_elsewhere(path) == "free"


async def test_a_refused_session_is_not_left_locked(tmp_path: Path) -> None:
    writer = SessionWriter.create(tmp_path, "/srv/moss", encoding="none")
    converse(writer, 1)
    await writer.close()
    writer.path.write_bytes(writer.path.read_bytes().replace(b'"seq":5', b'"seq":4'))
    with pytest.raises(SessionRefused):
        SessionWriter.resume(writer.path)
    assert asked_elsewhere(writer.path.parent / "session.lock") == "free"


async def test_the_lock_does_not_go_to_programs_that_a_session_runs(tmp_path: Path) -> None:
    writer = SessionWriter.create(tmp_path, "/srv/moss")
    converse(writer, 1)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    await writer.close()
    assert asked_elsewhere(writer.path.parent / "session.lock") == "free"
    child.communicate(b"\n", timeout=60)
    assert_sound(writer.path)
