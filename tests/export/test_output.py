"""Where exports go: whole files, and never into a home of sessions."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from tui.export.output import OutputRefused, check_place, whole_file
from tui.session.store import Homes


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path / "own", tmp_path / "dsh")


@pytest.fixture
def log(homes: Homes) -> Path:
    path = homes.dsh / "sessions" / "--srv--" / "session-1" / "session.v4.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    return path


def refusal(path: Path, homes: Homes, log: Path) -> str:
    with pytest.raises(OutputRefused) as caught:
        check_place(path, homes, log)
    return caught.value.code


def test_the_log_itself_is_refused_by_any_name(tmp_path: Path, homes: Homes, log: Path) -> None:
    link, hard = tmp_path / "link.json", tmp_path / "hard.json"
    link.symlink_to(log)
    os.link(log, hard)
    for name in (log, link, hard, log.parent / ".." / "session-1" / log.name):
        assert refusal(name, homes, log) == "session-log"


def test_anywhere_inside_a_home_is_refused(tmp_path: Path, homes: Homes, log: Path) -> None:
    side_door = tmp_path / "door"
    side_door.symlink_to(homes.dsh)
    for folder in (homes.dsh, homes.own, log.parent, side_door):
        assert refusal(folder / "out.json", homes, log) == "inside-home"


def test_the_home_of_a_session_named_by_path_is_refused_too(tmp_path: Path, log: Path) -> None:
    elsewhere = Homes(tmp_path / "a", tmp_path / "b")
    for place in (log.parent, log.parent.parent, log.parents[2], log.parents[3]):
        assert refusal(place / "out.json", elsewhere, log) == "inside-home"


def test_a_folder_is_refused_and_any_other_place_is_fine(tmp_path: Path, homes: Homes, log: Path) -> None:
    assert refusal(tmp_path, homes, log) == "is-a-folder"
    check_place(tmp_path / "out.json", homes, log)


def test_the_file_appears_whole_and_replaces_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    target.chmod(0o640)
    with whole_file(target) as write:
        write("new ")
        assert target.read_text() == "old"
        write("text 中")
    assert target.read_text(encoding="utf-8") == "new text 中"
    assert target.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".env")] == ["out.txt"]


def test_a_failed_export_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def fail() -> None:
        with whole_file(target) as write:
            write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_a_symlink_as_target_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    with whole_file(link) as write:
        write("new")
    assert link.is_symlink() and real.read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError), whole_file(pipe):
        pass
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(pipe) as write:
            write("moss\n")
        assert os.read(reader, 100) == b"moss\n"
        assert pipe.is_fifo()
    finally:
        os.close(reader)


def test_a_file_without_room_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(OSError) as refused, whole_file(tmp_path / "out.json") as write:
            write("x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert refused.value.filename == str(tmp_path / "out.json")
    assert list(tmp_path.iterdir()) == []
