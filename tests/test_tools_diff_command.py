"""`dsh-tui tools --diff A B` for scripts and people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.app_driver import recording
from tests.support.log_builder import log, tool
from tui.cli.entry import main

RESTORE = str(recording("remove-and-restore"))
BED = {"type": "string", "description": "bed name"}


def called(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["--lang", "en", *words])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_two_events_of_one_session(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = called(capsys, "tools", RESTORE, "--diff", "10", "36", "--json")
    found = json.loads(out)
    assert status == 0 and found["format"] == "dsh-tui/tools-diff" and found["version"] == 1
    removed = {each["name"] for each in found["removed"]}
    assert removed == {"mcp__saltmarsh__mist_bed", "mcp__saltmarsh__open_vent"}
    assert (found["before"]["tools"], found["after"]["tools"]) == (3, 1)
    assert found["added"] == found["redefined"] == found["renamed"] == []


def test_a_redefined_tool_is_told_member_by_member(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = called(capsys, "tools", RESTORE, "--diff", "10", f"{RESTORE}@128")
    assert "≠ mcp__saltmarsh__open_vent" in out and "+ properties.degrees" in out
    assert "+ mcp__saltmarsh__ring_bell" in out


def test_two_sessions_and_a_rename_said_as_a_guess(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tool("mist_bed", "Mist one bed.", bed=BED)
    before = log(id="session-" + "a" * 32).turn().tools(old).end().write(tmp_path)
    after = log(id="session-" + "b" * 32).turn().tools({**old, "name": "spray_bed"}).end().write(tmp_path)
    status, out, _ = called(capsys, "tools", "--diff", str(before), str(after))
    assert status == 0
    assert "a guess" in out and "? mist_bed → spray_bed" in out
    _, document, _ = called(capsys, "tools", "--diff", str(before), str(after), "--json")
    assert json.loads(document)["renamed"][0]["guess"] is True


def test_a_number_needs_a_session_and_diff_needs_two_values(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("tools", "--diff", RESTORE, "3"), ("tools", RESTORE, "--diff", "3"), ("tools",)):
        status, out, err = called(capsys, *words)
        assert status == 64 and not out and len(err.splitlines()) == 1, words


def test_an_unknown_session_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = called(capsys, "tools", "--diff", RESTORE, "no-such-session")
    assert status == 2 and "no-such-session" in err
