"""A task on a session whose tools are held: that is said, with what waits, and none of it is sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tui.cli import main
from tui.session.hold_record import HOLD, Hold
from tui.session.reader import read_log
from tui.session.writer import SessionWriter

SCRIPTED = (
    '[default]\nprovider = "demo"\nmodel = "scripted-in-history"\n[session]\ncompression = "none"\n'
    '[providers.demo]\nkind = "scripted"\n'
)


def test_what_waits_is_named_on_standard_error_and_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DSH_TUI_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "dsh"))
    monkeypatch.delenv("DSH_TUI_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text(SCRIPTED, encoding="utf-8")
    named = ["--config", str(tmp_path / "config.toml"), "run"]
    assert main([*named, "Hello"]) == 0
    (log,) = (tmp_path / "own").rglob("session.v4.jsonl")
    writer = SessionWriter.resume(log)
    writer.append(HOLD, Hold(held=True).to_json(), ignorable=True)
    writer.close_now()
    tool = {"name": "sow", "description": "Sow.", "parameters": {"type": "object"}, "command": ["true"]}
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [tool]}))
    capsys.readouterr()
    assert main([*named, "--resume", log.parent.name, "Hello"]) == 0
    told = capsys.readouterr().err
    assert "The tools are still held; 1 change waits: + sow" in told
    headers = [event for event in read_log(log).events() if event.type == "request/header"]
    assert len(headers) == 2
    assert all("tools" not in event.data["header"] for event in headers)
