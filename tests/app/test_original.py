"""From a session that goes on from a summary back to the original, wherever that is now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.app_driver import recording, session_app
from tests.support.log_builder import log
from tui.app.session_screen import SessionScreen
from tui.session.own_records import RECOVERED_FROM

STUCK = "session-5f0a2cef0e464d38951cbd14e256ded4"


def fresh(tmp_path: Path, data: dict[str, Any] | None) -> Path:
    """A session that goes on from another one, or a plain one."""
    built = log()
    if data is not None:
        built.event(RECOVERED_FROM, data, ignorable=True)
    folder = tmp_path / "fresh"
    folder.mkdir()
    return built.turn().user("go").tools("peek").answer("fine").end().read(folder).log.path


async def test_the_original_is_opened_where_its_log_was_at_the_event_that_was_last(tmp_path: Path) -> None:
    data = {"sessionId": STUCK, "seq": 77, "path": str(recording("rejected-update"))}
    async with session_app(fresh(tmp_path, data)) as driver:
        own = driver.top
        await driver.press("U")
        await driver.until(lambda: isinstance(driver.top, SessionScreen) and driver.top is not own)
        top = driver.top
        assert isinstance(top, SessionScreen)
        assert top.reading.log.header.id == STUCK
        await driver.until(lambda: top.reading.log.seq(top.selected_row) == 77)
        await driver.press("escape")
        await driver.until(lambda: driver.top is own)


async def test_an_original_that_was_moved_is_found_by_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "dsh"
    folder = home / "sessions" / "--srv-demo--" / STUCK
    folder.mkdir(parents=True)
    (folder / "session.v4.jsonl").write_bytes(recording("rejected-update").read_bytes())
    monkeypatch.setenv("DSH_HOME", str(home))
    data = {"sessionId": STUCK, "seq": 77, "path": "/no/such/file"}
    async with session_app(fresh(tmp_path, data)) as driver:
        own = driver.top
        await driver.press("U")
        await driver.until(lambda: driver.top is not own)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "does not go on from another one"),
        ({}, "does not go on from another one"),
        ({"sessionId": "session-nowhere", "path": "/no/such/file"}, "session-nowhere"),
    ],
)
async def test_what_cannot_be_opened_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: dict[str, Any] | None, said: str
) -> None:
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    async with session_app(fresh(tmp_path, data)) as driver:
        own = driver.top
        await driver.press("U")
        await driver.until(lambda: said in driver.foot())
        assert driver.top is own
