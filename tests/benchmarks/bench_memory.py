"""Resident memory while browsing a million events."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.generate import kept_log
from tests.benchmarks.measure import Ending, Figure, opened, warm
from tests.support.terminal import Terminal

_EVENTS = 1_000_000
_BASE_MB = 120
_BYTES_AN_EVENT, _GOAL_AN_EVENT = 200, 64
_KEYS = (
    "pageup",
    "pageup",
    "pageup",
    "pageup",
    "T",
    "T",
    "[",
    "[",
    "g",
    "pagedown",
    "pagedown",
    "t",
    "]",
    "G",
)


def _memory(terminal: Terminal, line: str) -> float:
    """A line of the child's `/proc` status, in MB."""
    for text in Path(f"/proc/{terminal.pid}/status").read_text(encoding="ascii").splitlines():
        if text.startswith(line + ":"):
            return int(text.split()[1]) * 1024 / 1e6
    raise LookupError(line)


def browse(path: Path) -> tuple[float, float]:
    """Open a log, wait until it is folded, page through it; MB resident now and at most."""
    with opened(path) as terminal:
        terminal.wait_until(Ending(path).in_both, 60.0, "both panes")
        terminal.wait_quiet(0.6, 180.0)
        for pane in ("1", "2"):
            terminal.press(pane)
            for key in _KEYS:
                terminal.press(key)
                terminal.wait_quiet(0.1)
        return _memory(terminal, "VmRSS"), _memory(terminal, "VmHWM")


def run() -> list[Figure]:
    figures: list[Figure] = []
    limit = _BASE_MB + _BYTES_AN_EVENT * _EVENTS / 1e6
    goal = _BASE_MB + _GOAL_AN_EVENT * _EVENTS / 1e6
    for zstd in (False, True):
        few, many = kept_log(1_000, zstd=zstd), kept_log(_EVENTS, zstd=zstd)
        warm(many)
        small, _ = browse(few)
        resident, most = browse(many)
        form = "zstd" if zstd else "plain"
        figures += [
            Figure(f"1,000 events, {form}", small, "MB"),
            Figure(f"1,000,000 events, {form}", resident, "MB", limit, goal),
            Figure(f"at most, {form}", most, "MB"),
            Figure(
                f"an event, {form}", (resident - small) * 1e6 / _EVENTS, "B", _BYTES_AN_EVENT, _GOAL_AN_EVENT
            ),
        ]
    return figures
