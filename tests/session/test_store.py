"""Finding a session by id, prefix, folder, file; the newest log of a folder (spec §1.1, §1.3)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tui.session.errors import SessionAmbiguous, SessionNotFound, SessionUnreadable
from tui.session.naming import session_folder
from tui.session.store import (
    Homes,
    find_homes,
    generations,
    resolve_address,
    resolve_session,
    session_folders,
    split_address,
)


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    return Homes(tmp_path / "own", tmp_path / "dsh")


def session(home: Path, session_id: str, *names: str, folder: str = "") -> Path:
    place = home / "sessions" / "--root--" / (folder or session_folder(session_id))
    place.mkdir(parents=True, exist_ok=True)
    header = {"type": "session", "version": 4, "id": session_id, "createdAt": 1, "isSeeded": False}
    for name in names or ("session.v4.jsonl",):
        (place / name).write_text(json.dumps({**header, "delegationDepth": 0}) + "\n")
    return place


def test_homes_come_from_the_environment_blank_counting_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    assert find_homes({"DSH_TUI_HOME": "/a", "DSH_HOME": "~/moss"}) == Homes(
        Path("/a"), Path("/home/ana/moss")
    )
    assert find_homes({"DSH_TUI_HOME": "~", "DSH_HOME": "  "}) == Homes(
        Path("/home/ana"), Path("/home/ana/.dsh")
    )
    assert find_homes({"DSH_TUI_HOME": "/a", "DSH_HOME": "/b"}, "/c").dsh == Path("/c")
    assert find_homes({}).own.name == "dsh-tui"


@pytest.mark.parametrize(
    ("argument", "parts"),
    [
        ("session-a@17", ("session-a", 17)),
        ("session-a", ("session-a", None)),
        ("/x/y@z/log.jsonl@0", ("/x/y@z/log.jsonl", 0)),
        ("ana@moss", ("ana@moss", None)),
        ("@5", ("@5", None)),
        ("a@-1", ("a@-1", None)),
    ],
)
def test_an_address_is_split_at_its_number(argument: str, parts: tuple[str, int | None]) -> None:
    assert split_address(argument) == parts


def test_a_path_that_exists_keeps_its_own_at_sign(homes: Homes, tmp_path: Path) -> None:
    log = tmp_path / "copy.jsonl@5"
    log.write_text("x")
    assert resolve_address(str(log), homes) == ((log, "file", ()), None)
    place = session(homes.dsh, "session-a")
    assert resolve_address(f"{place}@5", homes) == ((place / "session.v4.jsonl", "dsh", ()), 5)


def test_the_numerically_highest_generation_is_the_session(homes: Homes) -> None:
    place = session(
        homes.dsh,
        "session-a",
        "session.jsonl",
        "session.v3.jsonl",
        "session.v10.jsonl",
        "session.v4.jsonl",
        "session.v11.jsonl.zstd.0123456789ab.tmp",
        "session.v010.jsonl",
        "notes.jsonl",
    )
    (place / "session.v12.jsonl").mkdir()
    assert [item.path.name for item in generations(place)] == [
        "session.v10.jsonl",
        "session.v4.jsonl",
        "session.v3.jsonl",
        "session.jsonl",
    ]


def test_of_two_encodings_the_one_written_last_is_taken_and_the_other_named(homes: Homes) -> None:
    place = session(homes.dsh, "session-a", "session.v4.jsonl", "session.v4.jsonl.zstd", "session.v3.jsonl")
    os.utime(place / "session.v4.jsonl", ns=(5_000, 5_000))
    os.utime(place / "session.v4.jsonl.zstd", ns=(9_000, 9_000))
    found = resolve_session("session-a", homes)
    assert (found.path.name, [path.name for path in found.rivals]) == (
        "session.v4.jsonl.zstd",
        ["session.v4.jsonl"],
    )


def test_a_session_is_found_by_id_prefix_folder_and_file_in_both_homes(homes: Homes) -> None:
    mine, theirs = session(homes.own, "session-ab12"), session(homes.dsh, "session-ac34")
    for argument in ("session-ab12", "session-ab", "ab", str(mine), str(mine / "session.v4.jsonl")):
        found = resolve_session(argument, homes)
        assert (found.path, found.store) == (mine / "session.v4.jsonl", "own"), argument
    assert resolve_session("ac", homes)[:2] == (theirs / "session.v4.jsonl", "dsh")


def test_a_whole_id_wins_over_the_longer_ids_it_begins(homes: Homes) -> None:
    short = session(homes.dsh, "moss")
    session(homes.dsh, "moss-2")
    assert resolve_session("moss", homes).path.parent == short


def test_an_id_of_any_characters_is_found(homes: Homes) -> None:
    place = session(homes.dsh, "garden of 苔")
    assert resolve_session("garden of", homes).path.parent == place
    assert resolve_session("garden of 苔", homes).path.parent == place


def test_a_prefix_of_several_sessions_names_them_all(homes: Homes) -> None:
    places = [session(homes.own, "session-a1"), session(homes.dsh, "session-a2")]
    with pytest.raises(SessionAmbiguous) as caught:
        resolve_session("session-a", homes)
    assert caught.value.candidates == tuple(sorted(places))
    assert caught.value.fields["count"] == 2


def test_one_id_in_both_homes_is_ambiguous(homes: Homes) -> None:
    session(homes.own, "session-a")
    session(homes.dsh, "session-a")
    with pytest.raises(SessionAmbiguous):
        resolve_session("session-a", homes)


@pytest.mark.parametrize("argument", ["session-x", "", "é", "\ud800", "x\0y", "y" * 5000])
def test_an_argument_that_names_nothing_is_not_found(homes: Homes, argument: str) -> None:
    session(homes.dsh, "session-a")
    with pytest.raises(SessionNotFound) as caught:
        resolve_session(argument, homes)
    assert caught.value.fields["argument"] == argument


@pytest.mark.parametrize("argument", ["no/such/folder", "missing.jsonl", "missing.jsonl.zstd"])
def test_a_path_that_does_not_exist_says_missing(homes: Homes, argument: str) -> None:
    with pytest.raises(SessionUnreadable) as caught:
        resolve_session(argument, homes)
    assert (caught.value.code, caught.value.fields["path"]) == ("missing", argument)


def test_a_folder_without_a_log_says_so(homes: Homes, tmp_path: Path) -> None:
    with pytest.raises(SessionUnreadable) as caught:
        resolve_session(str(tmp_path), homes)
    assert caught.value.code == "no-log"


def test_a_renamed_folder_and_a_lone_log_file_are_found_by_the_id_in_their_header(homes: Homes) -> None:
    renamed = session(homes.dsh, "session-a", folder="my favourite")
    lone = homes.dsh / "sessions" / "--root--" / "old.jsonl"
    lone.write_bytes((session(homes.dsh, "session-b", folder="x") / "session.v4.jsonl").read_bytes())
    (homes.dsh / "sessions" / "--root--" / "x" / "session.v4.jsonl").unlink()
    assert resolve_session("session-a", homes).path == renamed / "session.v4.jsonl"
    assert resolve_session("session-b", homes) == (lone, "dsh", ())


@pytest.mark.parametrize("name", [".credentials.yaml", ".env"])
def test_files_with_secrets_are_refused_unopened(
    homes: Homes, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    homes.dsh.mkdir()
    (homes.dsh / name).write_text("secret")
    opened: list[object] = []
    monkeypatch.setattr(os, "open", lambda *args, **kwargs: opened.append(args))
    with pytest.raises(SessionUnreadable) as caught:
        resolve_session(str(homes.dsh / name), homes)
    assert caught.value.code == "not-a-session"
    assert opened == []


def test_homes_that_do_not_exist_hold_no_sessions(homes: Homes) -> None:
    assert [list(session_folders(sessions)) for _, sessions in homes.stores()] == [[], []]
    assert len(list(Homes(homes.own, homes.own).stores())) == 1
