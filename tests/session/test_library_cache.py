"""What whole logs told is kept between runs, and forgotten as soon as a log is another one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tui.session import library_cache
from tui.session.library import LibraryRow, fill, scan
from tui.session.library_cache import LibraryCache
from tui.session.naming import project_folder, session_folder
from tui.session.store import Homes

ROOT = Path(__file__).parent.parent / "recordings"


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    homes = Homes(tmp_path / "own", tmp_path / "dsh")
    for at, name in enumerate(("tool-use", "rejected-update", "remove-and-restore")):
        log = next((ROOT / name).rglob("session.v4.jsonl"))
        place = homes.dsh / "sessions" / project_folder("/moss") / session_folder(f"{at}0000000-moss")
        place.mkdir(parents=True)
        (place / log.name).write_bytes(log.read_bytes())
    return homes


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The logs that are read whole from here on."""
    read: list[str] = []
    real = library_cache.fill_steps

    def counted(row: LibraryRow):
        read.append(str(row.log))
        return real(row)

    monkeypatch.setattr(library_cache, "fill_steps", counted)
    return read


def run(homes: Homes, path: Path | None) -> list[LibraryRow]:
    """One run of the program over the library."""
    cache = LibraryCache(path)
    rows = [cache.fill(row) for row in scan(homes)]
    cache.save()
    return rows


def test_a_second_run_reads_no_log_and_tells_the_same(homes: Homes, tmp_path: Path, reads: list[str]) -> None:
    cache = tmp_path / "cache" / "library.msgpack"
    first = run(homes, cache)
    assert len(reads) == 3
    assert run(homes, cache) == first == [fill(row) for row in scan(homes)]
    assert len(reads) == 3


def test_a_log_that_grew_is_read_again(homes: Homes, tmp_path: Path, reads: list[str]) -> None:
    cache = tmp_path / "library.msgpack"
    run(homes, cache)
    grown = next(row.log for row in scan(homes) if row.log is not None)
    last = json.loads(grown.read_bytes().splitlines()[-1])
    row = {"type": "session/title", "seq": last["seq"] + 1, "time": last["time"]}
    data = {"title": "Turned the pots", "messageSeqs": [], "source": {"kind": "user"}}
    with grown.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row | {"data": data}) + "\n")
    reads.clear()
    assert "Turned the pots" in [row.title for row in run(homes, cache)]
    assert reads == [str(grown)]


def test_a_log_of_the_same_size_with_another_time_is_read_again(
    homes: Homes, tmp_path: Path, reads: list[str]
) -> None:
    cache = tmp_path / "library.msgpack"
    run(homes, cache)
    touched = next(row.log for row in scan(homes) if row.log is not None)
    os.utime(touched, (1_800_000_000, 1_800_000_000))
    reads.clear()
    run(homes, cache)
    assert reads == [str(touched)]


def test_what_is_appended_while_a_log_is_read_is_not_missed(homes: Homes, tmp_path: Path) -> None:
    cache = LibraryCache(tmp_path / "library.msgpack")
    row = next(scan(homes))
    assert row.log is not None
    steps = cache.fill_steps(row)
    with pytest.raises(StopIteration) as stop:
        while True:
            next(steps)
            with row.log.open("ab") as file:
                file.write(b"{}\n")
    assert stop.value.value.filled
    with row.log.open("ab") as file:
        file.write(b"{}\n")
    assert not cache.filled(next(each for each in scan(homes) if each.log == row.log)).filled


@pytest.mark.parametrize("content", [b"", b"\xff\xfe nonsense", b"\x82\xa7made_by\x01\xa4logs\x02"])
def test_a_broken_file_is_an_empty_cache(
    homes: Homes, tmp_path: Path, reads: list[str], content: bytes
) -> None:
    cache = tmp_path / "library.msgpack"
    cache.write_bytes(content)
    assert all(row.filled for row in run(homes, cache))
    assert len(reads) == 3
    run(homes, cache)
    assert len(reads) == 3


def test_another_version_of_the_program_reads_for_itself(
    homes: Homes, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "library.msgpack"
    run(homes, cache)
    monkeypatch.setattr(library_cache, "__version__", "99.0")
    run(homes, cache)
    assert len(reads) == 6


def test_nobody_else_may_read_the_titles(homes: Homes, tmp_path: Path) -> None:
    cache = tmp_path / "cache" / "library.msgpack"
    run(homes, cache)
    assert cache.stat().st_mode & 0o077 == 0
    assert cache.parent.stat().st_mode & 0o077 == 0
    assert [path.name for path in cache.parent.iterdir()] == ["library.msgpack"]


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(homes: Homes, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    assert all(row.filled for row in run(homes, blocked / "library.msgpack"))


def test_only_so_many_logs_are_kept_those_met_last(
    homes: Homes, tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "library.msgpack"
    monkeypatch.setattr(library_cache, "_CAPACITY", 2)
    run(homes, cache)
    reads.clear()
    run(homes, cache)
    assert len(reads) == 1
