"""`--resume … --copy`: a damaged session goes on in a mended copy when that is asked for, and only then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.exports import case_log
from tests.support.finished import Done
from tui.cli import main
from tui.nodes.doctor import examine
from tui.nodes.reading import Reading

SCRIPTED = (
    '[default]\nprovider = "demo"\nmodel = "scripted-in-history"\n[providers.demo]\nkind = "scripted"\n'
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.delenv("DSH_TUI_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text(SCRIPTED, encoding="utf-8")

    def call(*words: str | Path) -> Done:
        named = ["--config", str(tmp_path / "config.toml"), "run"]
        status = main([*named, *map(str, words)])
        out, err = capsys.readouterr()
        return Done(status, out, err)

    return call


def copies(folder: Path) -> list[Path]:
    return sorted((folder / "own").rglob("session.v4.jsonl*"))


@pytest.mark.parametrize(
    ("case", "home", "said"),
    [
        ("B07", "hole", "with --copy a mended copy of it goes on"),
        ("B07", "closers-then-live", "with --copy a mended copy of it goes on"),
        ("B10", "", "with --copy, a copy that takes them along unread"),
        ("B12", "crashed", "with --copy a mended copy of it goes on"),
    ],
)
def test_what_is_damaged_is_refused_with_the_way_out_and_goes_on_in_a_copy(
    shared: Path, tmp_path: Path, run: Any, *, case: str, home: str, said: str
) -> None:
    source = case_log(shared, case, home)
    before = source.read_bytes()
    refused = run("--resume", source, "Hello")
    assert refused.status == 2 and said in refused.err and not copies(tmp_path)
    done = run("--resume", source, "--copy", "Hello")
    assert done.status == 0 and "the original stays as it is" in done.err
    assert source.read_bytes() == before
    (copy,) = copies(tmp_path)
    found = examine(Reading.open(copy).read_all())
    assert not [finding for finding in found.findings if finding.code.startswith(("damage", "refused"))]


def test_it_is_told_what_was_left_out_and_put_in(shared: Path, run: Any) -> None:
    done = run("--resume", case_log(shared, "B07", "replayed"), "--copy", "Hello")
    assert "with 8 events left out;" in done.err


def test_a_sound_session_is_copied_as_it_is(shared: Path, run: Any) -> None:
    done = run("--resume", case_log(shared, "B01"), "--copy", "Hello")
    assert done.status == 0 and "mended" not in done.err


def test_a_copy_of_nothing_is_a_wrong_call(run: Any) -> None:
    done = run("--copy", "Hello")
    assert done.status == 64 and "--resume" in done.err
