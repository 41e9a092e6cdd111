"""The command line with standard streams that are closed or full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.exports import recording

ROOT = Path(__file__).resolve().parent.parent
FULL = Path("/dev/full")
CALLS = (
    ("--version",),
    ("-h",),
    ("sessions",),
    ("export", "LOG", "--view", "chat", "--format", "json"),
    ("request", "LOG", "1"),
    ("demo", "--plain"),
)


def run(redirections: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    log = str(recording("plain-chat"))
    words = [log if argument == "LOG" else argument for argument in arguments]
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "tui", *words]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "", **environ},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_output_that_the_caller_has_closed_goes_nowhere(arguments: tuple[str, ...]) -> None:
    done = run("<&- >&-", *arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    assert run("<&- >&- 2>&-", *arguments).returncode == 0


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_output_without_room_is_told_in_one_line(arguments: tuple[str, ...], unbuffered: str) -> None:
    done = run(f"</dev/null >{FULL}", *arguments, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr == b"dsh-tui: No space left on device\n"
