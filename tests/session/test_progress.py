"""How far a long reading is: of a log that is picked up, copied, or read for a live screen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tui.nodes.live import LiveReading
from tui.session.forking import fork
from tui.session.locking import SessionLock
from tui.session.progress import counted, part
from tui.session.writer import SessionWriter

EVENTS = 5_000


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A log of many events that nobody has open."""
    writer = SessionWriter.create(tmp_path / "own", "/moss", encoding="none")
    for _ in range(EVENTS):
        writer.append("session/title", {"title": "Moss", "messageSeqs": [], "source": {"kind": "user"}})
    writer.close_now()
    return writer.path


def test_shares_of_a_part_lie_in_it() -> None:
    heard: list[float] = []
    told = part(heard.append, 0.25, 0.75)
    assert told is not None
    told(0.0)
    told(0.5)
    told(1.0)
    assert heard == [0.25, 0.5, 0.75]
    assert part(None, 0.0, 1.0) is None


def test_every_item_comes_and_now_and_then_a_word() -> None:
    heard: list[float] = []
    assert list(counted(range(3_000), heard.append)) == list(range(3_000))
    assert heard == [0.0, 1024 / 3_000, 2048 / 3_000]
    assert list(counted(range(3), None)) == [0, 1, 2]


def _resume(path: Path, told: Callable[[float], None]) -> None:
    SessionWriter.resume(path, told=told).close_now()


def _fork(path: Path, told: Callable[[float], None]) -> None:
    fork(path, path.parents[3], told=told, encoding="none").writer.close_now()


def _mend(path: Path, told: Callable[[float], None]) -> None:
    fork(path, path.parents[3], mend=True, told=told, encoding="none").writer.close_now()


@pytest.mark.parametrize("work", [_resume, _fork, _mend])
def test_the_share_that_is_done_only_grows_and_is_told_often(
    stored: Path, work: Callable[[Path, Callable[[float], None]], None]
) -> None:
    heard: list[float] = []
    work(stored, heard.append)
    assert len(heard) >= EVENTS // 1024
    assert all(0.0 <= one <= two <= 1.0 for one, two in pairwise(heard))


def test_whoever_listens_may_give_up_and_the_session_is_free_again(stored: Path) -> None:
    def interrupted(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SessionWriter.resume(stored, told=interrupted)
    SessionLock.acquire(stored.parent).release()


def test_a_reading_made_before_takes_what_was_appended_since(stored: Path) -> None:
    heard: list[float] = []
    writer = SessionWriter.resume(stored)
    writer.append("turn/start", {"turn": 1})
    reading = LiveReading.of(writer.header, writer.path, writer.events, told=heard.append)
    writer.append("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    for _ in range(2):
        reading.take_new(writer.events)
        reading.catch_up()
        assert len(reading.log) == len(writer.events)
    assert reading.turns.turns[-1].reason == "completed"
    assert all(0.0 <= share <= 1.0 for share in heard)
    writer.close_now()
