"""Names in a dsh home, against the rules and examples of spec §1.2 and §1.3."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.session.naming import log_name, parse_log_name, project_folder, session_folder, session_id_of


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/srv/demo/project", "--srv-demo-project--"),
        ("/", "--root--"),
        ("C:\\Users\\x", "--C-Users-x--"),
        ("/a b/ü", "--a~0020b-~00FC--"),
        (None, "_no-cwd"),
        ("/💧", "--~D83D~DCA7--"),
        ("/a//b:/c", "--a-b-c--"),
        ("/" + "x" * 300, "--" + "x" * 251 + "--"),
    ],
)
def test_a_working_directory_names_its_project_folder(cwd: str | None, folder: str) -> None:
    assert project_folder(cwd) == folder


@pytest.mark.parametrize(
    ("session_id", "folder"),
    [
        ("session-0b9a6c1e-5f0d", "session-0b9a6c1e-5f0d"),
        (".", "~002E"),
        ("..", "~002E~002E"),
        ("a/b", "a~002Fb"),
        ("~", "~007E"),
        ("苔", "~82D4"),
        ("💧", "~D83D~DCA7"),
    ],
)
def test_an_id_names_its_folder_and_comes_back_from_it(session_id: str, folder: str) -> None:
    assert session_folder(session_id) == folder
    assert session_id_of(folder) == session_id


def test_the_empty_id_has_no_folder() -> None:
    with pytest.raises(ValueError, match="empty"):
        session_folder("")


@given(st.text(min_size=1))
def test_every_well_formed_id_comes_back_from_its_folder(session_id: str) -> None:
    assert session_id_of(session_folder(session_id)) == session_id


@given(st.text(st.sampled_from("~0AFGx.é"), min_size=1, max_size=12))
def test_a_folder_name_that_dsh_would_not_make_stands_for_itself(folder: str) -> None:
    session_id = session_id_of(folder)
    assert session_folder(session_id) == folder or session_id == folder


@pytest.mark.parametrize(
    ("name", "version", "encoding"),
    [
        ("session.jsonl", 0, "none"),
        ("session.jsonl.zstd", 0, "zstd"),
        ("session.v1.jsonl", 1, "none"),
        ("session.v4.jsonl.zstd", 4, "zstd"),
        ("session.v12.jsonl", 12, "none"),
    ],
)
def test_a_canonical_log_name_tells_version_and_encoding(name: str, version: int, encoding: str) -> None:
    parsed = parse_log_name(name)
    assert parsed is not None
    assert (parsed.version, parsed.encoding) == (version, encoding)
    assert log_name(*parsed) == name


@pytest.mark.parametrize(
    "name",
    [
        "session.v0.jsonl",
        "session.v04.jsonl",
        "session.V4.jsonl",
        "session.v4.jsonl.gz",
        "session.v4.jsonl.zstd.0123456789ab.tmp",
        "session.migration.0123456789abcdef.jsonl.zstd.tmp",
        "session.lock",
        "my-session.v4.jsonl",
        "session.v4.jsonl\n",
    ],
)
def test_any_other_name_is_no_log(name: str) -> None:
    assert parse_log_name(name) is None


def test_the_recorded_folders_are_named_by_these_rules(shared: Path) -> None:
    names = {folder.name for folder in (shared / "recordings").glob("*/sessions/*") if folder.is_dir()}
    assert names == {project_folder("/srv/demo/project")}
