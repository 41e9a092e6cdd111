"""`dsh-tui run`: one task without a screen (CONTRACT, "Commands")."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.finished import Done
from tui.cli import main
from tui.session.reader import read_log

ROOT = Path(__file__).resolve().parent.parent
SOW = "The shelf was rearranged. Count the moths at the north lamp and sow tray t-4."


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Homes of a test's own, with a scripted provider that plays the scenes."""
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    monkeypatch.delenv("DSH_TUI_CONFIG", raising=False)
    config = tmp_path / "config.toml"
    config.write_text(
        '[default]\nprovider = "stage"\nmodel = "scripted-in-history"\n'
        '[session]\ncompression = "none"\n[providers.stage]\nkind = "scripted"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.fixture
def run(place: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    def call(*words: str, config: bool = True) -> Done:
        named = ["--config", str(place / "config.toml")] if config else []
        status = main(["run", *words, *named])
        out, err = capfdbinary.readouterr()
        return Done(status, out.decode(), err.decode())

    return call


def logs(place: Path) -> list[Path]:
    return sorted((place / "own").rglob("session.v4.jsonl"))


def test_the_answer_is_on_stdout_and_nothing_else(run: Any) -> None:
    done = run("How", "is", "the", "fern", "bed?")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("## Fern bed") and "too dry" in done.out


def test_json_prints_each_event_as_it_stands_in_the_log(run: Any, place: Path) -> None:
    done = run("--json", "How is the fern bed?")
    (log,) = logs(place)
    assert done.status == 0
    assert done.out == "".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[1:])
    assert json.loads(done.out.splitlines()[-1])["type"] == "turn/end"


def test_a_resumed_session_goes_on_under_its_id(run: Any, place: Path) -> None:
    run("How is the fern bed?")
    (log,) = logs(place)
    done = run("--resume", log.parent.name, "--json", "How is the fern bed?")
    assert done.status == 0 and logs(place) == [log]
    whole = read_log(log)
    assert not whole.damage
    assert [event.data["turn"] for event in whole.events() if event.type == "turn/start"] == [1, 2]
    first = json.loads(done.out.splitlines()[0])
    assert first["type"] == "session/end-seed"


def test_a_session_of_dsh_goes_on_in_a_copy(run: Any, place: Path) -> None:
    source = ROOT / "tests" / "recordings" / "plain-chat" / "session.v4.jsonl"
    before = source.read_bytes()
    done = run("--resume", str(source), "How is the fern bed?")
    assert done.status == 0 and "copy" in done.err
    assert source.read_bytes() == before and len(logs(place)) == 1


def test_what_would_ask_is_rejected_and_said_unless_all_is_approved(run: Any) -> None:
    done = run(SOW)
    assert done.status == 0 and "sow_tray was not allowed to run" in done.err
    done = run("--approve", "all", SOW)
    assert (done.status, done.err) == (0, "")


def test_a_turn_that_fails_ends_with_1_and_a_way_out(run: Any, place: Path) -> None:
    (place / "config.toml").write_text(
        '[providers.gone]\nkind = "chat-completions"\nbase_url = "http://127.0.0.1:9/v1"\n'
        '[[providers.gone.models]]\nid = "minnow-2"\n[providers.gone.retry]\nmax_retries = 0\n',
        encoding="utf-8",
    )
    done = run("--lang", "zh", "Hello")
    assert done.status == 1 and done.out == ""
    assert "TRANSPORT" in done.err and "base_url" in done.err and done.err.count("\n") == 1


def test_without_a_provider_it_says_how_to_configure_one(run: Any) -> None:
    done = run("Hello", config=False)
    assert done.status == 64 and done.out == ""
    assert "DEEPSEEK_API_KEY" in done.err and "dsh-tui demo" in done.err and done.err.count("\n") == 1


def test_a_session_that_does_not_exist_ends_with_2(run: Any) -> None:
    done = run("--resume", "session-nowhere", "Hello")
    assert done.status == 2 and "session-nowhere" in done.err


def test_a_call_without_a_task_is_a_wrong_call(run: Any) -> None:
    done = run()
    assert done.status == 64 and "TASK" in done.err


def test_chat_without_a_terminal_says_what_to_use(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--config", str(place / "config.toml")]) == 64
    assert "dsh-tui run" in capsys.readouterr().err


def test_an_interrupted_task_ends_with_130_and_a_whole_log(place: Path) -> None:
    with (place / "config.toml").open("a", encoding="utf-8") as config:
        config.write("[providers.stage.retry]\ninitial_ms = 60000\nmax_ms = 60000\n")
    words = ["run", "--json", "--config", "config.toml", "How light is it at the north bench?"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tui", *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "llm/retry":
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and b"Traceback" not in err
    (log,) = logs(place)
    last = list(read_log(log).events())[-1]
    assert last.type == "turn/end" and last.data["reason"]["kind"] == "aborted"
