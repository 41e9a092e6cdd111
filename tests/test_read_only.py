"""Reading opens no socket and writes nothing but our own cache.

Every command runs under an audit hook that notes what the interpreter is asked to do, over a copy of real
sessions, whose listing (names, sizes, times, contents) must be the same before and after.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.exports import RECORDINGS
from tests.support.terminal import Terminal, clean_environ

ROOT = Path(__file__).resolve().parent.parent
# Writes a line of JSON for each act of interest to the file that $NOTES names.
WATCH = r"""
import json, os, sys
notes = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ACTS = (
    "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
    "os.chown", "os.utime", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.mkfifo", "os.mknod",
    "os.setxattr", "subprocess.Popen", "shutil.", "tempfile.", "socket.", "urllib.", "http.", "ftplib.",
)
def watch(event, args):
    if event == "open":
        path, mode, flags = args
        # A descriptor was opened before, and noted then.
        if isinstance(path, int) or not (isinstance(flags, int) and flags & WRITING):
            return
        if path in (os.devnull, "/dev/tty"):
            return
    elif not event.startswith(ACTS):
        return
    os.write(notes, (json.dumps([event, [str(arg) for arg in args]]) + "\n").encode())
sys.addaudithook(watch)
from tui.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A dsh home of every own recording; nobody may write in it."""
    home = tmp_path / "dsh"
    for log in sorted(RECORDINGS.rglob("session.v4.jsonl*")):
        kind = "zstd" if log.suffix == ".zstd" else "plain"
        folder = home / "sessions" / f"--srv-{kind}--" / f"session-{log.parts[-2 if kind == 'plain' else -3]}"
        folder.mkdir(parents=True)
        shutil.copy(log, folder)
        (folder / "session.lock").touch()
    for path in (home, *home.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return home


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    own = tmp_path / "me"
    return clean_environ(
        own,
        NOTES=str(tmp_path / "notes"),
        DSH_TUI_HOME=str(own / "own"),
        XDG_CACHE_HOME=str(own / "cache"),
        XDG_CONFIG_HOME=str(own / "config"),
        PYTHONDONTWRITEBYTECODE="1",
    )


def listing(folder: Path) -> dict[str, tuple[int, int, int, str]]:
    """Every entry below a folder with mode, size, time of change and content."""
    found: dict[str, tuple[int, int, int, str]] = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, content)
    return found


def noted(environ: dict[str, str]) -> list[tuple[str, list[str]]]:
    notes = Path(environ["NOTES"])
    return [tuple(json.loads(line)) for line in notes.read_text().splitlines()] if notes.exists() else []


def watched(environ: dict[str, str], *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", WATCH, *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, stdin=subprocess.DEVNULL, check=False
    )


def foreign(acts: list[tuple[str, list[str]]], environ: dict[str, str]) -> list[Any]:
    """Acts outside of our own cache folder, which may be made with the folders it lies in."""
    cache = os.path.join(environ["XDG_CACHE_HOME"], "dsh-tui")

    def is_own(event: str, args: list[str]) -> bool:
        inside = bool(args) and f"{args[0]}/".startswith(f"{cache}/")
        return inside or (event == "os.mkdir" and cache.startswith(f"{args[0]}/"))

    return [(event, args) for event, args in acts if not is_own(event, args)]


COMMANDS = [
    ["sessions"],
    ["sessions", "--json"],
    [],
    *[
        ["export", "SESSION", "--view", "chat", "--format", form]
        for form in ("text", "md", "json", "html", "svg")
    ],
    *[["export", "SESSION", "--view", "trajectory", "--format", form] for form in ("text", "json", "svg")],
    ["export", "SESSION", "--view", "tools", "--format", "json"],
    ["open", "SESSION", "--view", "trajectory"],
    ["tools", "SESSION@30", "--json"],
    ["open", "nosuch"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "bare")
def test_a_command_opens_no_socket_and_writes_nothing(
    home: Path, environ: dict[str, str], words: list[str]
) -> None:
    before = listing(home)
    session = "session-remove-and-restore"
    logs = [next(home.glob(f"sessions/--srv-{kind}--/{session}")) for kind in ("plain", "zstd")]
    for log in logs if "SESSION" in " ".join(words) else logs[:1]:
        done = watched(
            environ,
            *(word.replace("SESSION", str(log)) for word in words),
            "--dsh-home",
            home,
            "--lang",
            "zh",
        )
        assert done.returncode == (2 if "nosuch" in words else 0), done.stderr
    assert foreign(noted(environ), environ) == []
    assert listing(home) == before


def test_an_export_writes_its_own_file_and_nothing_else(
    home: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    before = listing(home)
    target = tmp_path / "out" / "x.html"
    target.parent.mkdir()
    log = next(home.glob("sessions/--srv-zstd--/session-tool-use"))
    done = watched(environ, "export", log, "--view", "chat", "--format", "html", "-o", target)
    assert done.returncode == 0, done.stderr
    touched = {os.path.dirname(args[0]) for event, args in noted(environ) if event != "tempfile.mkstemp"}
    assert touched == {str(target.parent)}
    assert not [event for event, _ in noted(environ) if event.startswith("socket.")]
    assert [path.name for path in target.parent.iterdir()] == ["x.html"]
    assert listing(home) == before


def test_the_app_opens_no_connection_and_writes_nothing_but_its_cache(
    home: Path, environ: dict[str, str]
) -> None:
    before = listing(home)
    log = next(home.glob("sessions/--srv-plain--/session-many-tools-changed"))
    command = [sys.executable, "-c", WATCH, "open", str(log), "--dsh-home", str(home)]
    with Terminal(command, environ, columns=120, rows=40, folder=ROOT) as terminal:
        terminal.wait_for("Fourteen tools")
        terminal.press("q")
        assert terminal.wait_end() == 0
    acts = foreign(noted(environ), environ)
    # The event loop makes a pair of sockets that are connected to each other and to nothing else.
    assert [act for act in acts if act[0] != "socket.__new__"] == []
    assert listing(home) == before


def test_the_watch_would_notice(environ: dict[str, str], tmp_path: Path) -> None:
    program = (
        WATCH.partition("from tui")[0]
        + "import socket; socket.socket().close(); at = os.environ['NOTES']\n"
        + "open(at + '.x', 'w'); os.mkdir(at + '.d')"
    )
    subprocess.run([sys.executable, "-c", program], env=environ, check=True)
    assert {event for event, _ in noted(environ)} == {"socket.__new__", "open", "os.mkdir"}


def test_the_listing_would_notice(home: Path) -> None:
    before = listing(home)
    log = next(home.rglob("session.v4.jsonl"))
    os.utime(log, ns=(0, 0))
    assert listing(home) != before
