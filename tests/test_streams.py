"""The command line with standard streams that are closed or full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.generate import write_log
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_export_that_is_ended_leaves_nothing_half_written(tmp_path: Path, number: signal.Signals) -> None:
    log = write_log(tmp_path / "session.v4.jsonl", 20_000)
    folder = tmp_path / "out"
    folder.mkdir()
    words = ["export", log, "--view", "requests", "--format", "json", "-o", folder / "out.json"]
    command = [sys.executable, "-m", "tui", *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as export:
        while not list(folder.iterdir()):
            assert export.poll() is None
        export.send_signal(number)
        _, said = export.communicate()
    assert (export.returncode, said) == (128 + number, b"")
    assert list(folder.iterdir()) == []


def test_an_interruption_while_modules_are_imported_is_no_traceback() -> None:
    code = """
import builtins, sys
real = builtins.__import__
def interrupted(name, *rest):
    if name == "tui.cli":
        raise KeyboardInterrupt
    return real(name, *rest)
from tui.__main__ import main
builtins.__import__ = interrupted
sys.argv = ["dsh-tui", "sessions"]
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")
