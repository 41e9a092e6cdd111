"""Opening a session: small ones whole, long ones by their tail."""

from pathlib import Path

import pytest

from tests.benchmarks.generate import write_log
from tests.support.app_driver import recording
from tui.app.loader import WHOLE_AT_ONCE, open_reading, read_rest
from tui.session.errors import SessionUnreadable


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    return write_log(folder / "session.v4.jsonl", 5_000)


def test_a_small_log_is_read_whole_before_the_first_paint() -> None:
    whole, tail = open_reading(recording("many-tools-changed"))
    assert whole.complete
    assert tail is None


def test_of_a_long_log_only_the_tail_is_read_before_the_first_paint(long_log: Path) -> None:
    whole, tail = open_reading(long_log)
    assert long_log.stat().st_size > WHOLE_AT_ONCE
    assert not whole.complete
    assert tail is not None
    assert tail.complete
    assert tail.log.partial
    assert len(tail.log) < 2_500
    assert len(tail.chat.index) >= 60
    assert len(tail.trajectory.index) >= 120


async def test_the_rest_is_read_in_slices_that_tell_how_far_they_are(long_log: Path) -> None:
    whole, _ = open_reading(long_log)
    told: list[float] = []
    await read_rest(whole, told.append)
    assert whole.complete
    assert len(whole.log) == 5_000
    assert told == sorted(told)
    assert told[-1] == 1.0


async def test_the_tail_ends_as_the_whole_does(long_log: Path) -> None:
    whole, tail = open_reading(long_log)
    assert tail is not None
    whole.read_all()
    for row in range(1, len(tail.log) + 1):
        assert tail.log.raw(len(tail.log) - row) == whole.log.raw(len(whole.log) - row)
    assert tail.log.seq(len(tail.log) - 1) == whole.log.seq(len(whole.log) - 1)


def test_a_file_that_is_no_session_is_told_before_anything_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "session.v4.jsonl"
    path.write_text("{}\n")
    with pytest.raises(SessionUnreadable):
        open_reading(path)
