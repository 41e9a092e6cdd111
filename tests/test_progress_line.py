"""The line that says how far a long reading is, on a terminal's standard error and nowhere else."""

from __future__ import annotations

import asyncio
import io
import sys

import pytest

from tui.blocks.cells import cell_len
from tui.cli import progress
from tui.cli.progress import Progress
from tui.i18n import translator


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    told = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: told[0])
    return told


@pytest.mark.parametrize(("lang", "words"), [("en", "reading 50%"), ("zh", "读取中 50%")])
def test_a_long_work_is_told_over_itself_and_taken_away(
    monkeypatch: pytest.MonkeyPatch, now: list[float], lang: str, words: str
) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    with Progress(translator(lang)) as shown:
        shown.tell(0.1)
        assert screen.getvalue() == ""
        now[0] += progress.QUIET_SECONDS
        shown.tell(0.5)
        assert screen.getvalue() == "\r" + words
        shown.tell(0.6)
        assert screen.getvalue() == "\r" + words
    last = screen.getvalue().split("\r")
    assert last[-1] == "" and last[-2].strip() == "" and len(last[-2]) == cell_len(words)


def test_without_a_terminal_nothing_is_said(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    monkeypatch.setattr(sys, "stderr", written := io.StringIO())
    with Progress(translator("en")) as shown:
        now[0] += 60
        shown.tell(0.5)
    assert written.getvalue() == ""


def test_an_interruption_ends_the_work_and_the_line_is_gone(
    monkeypatch: pytest.MonkeyPatch, now: list[float]
) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Terminal())

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        with Progress(translator("en")) as shown:
            now[0] += progress.QUIET_SECONDS
            shown.tell(0.5)
            # What an event loop does on Ctrl+C.
            task.cancel()
            shown.tell(0.6)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())
    assert screen.getvalue().endswith("\r")
