"""Fixtures for every test: a clean environment and the shared documents."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
UNSET = (
    "DSH_TUI_CONFIG",
    "DSH_TUI_LANG",
    "DEEPSEEK_API_KEY",
    "DEEPSEEK_BASE_URL",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLORTERM",
    "LANGUAGE",
    "LC_ALL",
    "LC_MESSAGES",
    "COLUMNS",
    "LINES",
)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the format specification, recordings and cases; skips the test where there is none."""
    folder = Path(os.environ.get("DSH_TUI_SHARED") or ROOT.parent / "shared")
    if not (folder / "recordings").is_dir():
        pytest.skip(f"no shared documents in {folder} (DSH_TUI_SHARED names another folder)")
    return folder


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point every folder of the program into `tmp_path`, and fix language and time zone."""
    home = tmp_path / ".environment"
    for name in UNSET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("DSH_HOME", str(home / "dsh"))
    monkeypatch.setenv("DSH_TUI_HOME", str(home / "own"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
