"""From the start of the process to the first rows of both panes, on a terminal of 120 by 40."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.generate import kept_log
from tests.benchmarks.measure import (
    COLUMNS,
    ROOT,
    ROWS,
    Ending,
    Figure,
    long_log,
    median,
    opened,
    small_log,
    warm,
)
from tests.support.terminal import Terminal, clean_environ

_MANY, _FEW = 1_000_000, 1_000


class Paint(NamedTuple):
    """CPU and wall seconds until something was on the screen."""

    cpu: float
    wall: float


def bare() -> dict[str, Paint]:
    """Start a Textual app of one label."""
    with tempfile.TemporaryDirectory(prefix="dsh-tui-bench-home-") as home:
        command = [sys.executable, Path(__file__).with_name("bare_app.py")]
        environ = clean_environ(Path(home))
        with Terminal(command, environ, columns=COLUMNS, rows=ROWS, folder=ROOT) as terminal:
            terminal.wait_for("Here it is")
            return {"both": Paint(terminal.seen_cpu, terminal.seen_wall)}


def panes_of(path: Path) -> Callable[[], dict[str, Paint]]:
    """Open a log; the times until each pane shows its end."""
    ending = Ending(path)

    def start() -> dict[str, Paint]:
        found: dict[str, Paint] = {}

        def look(terminal: Terminal) -> bool:
            now = Paint(terminal.seen_cpu, terminal.seen_wall)
            if ending.in_chat(terminal):
                found.setdefault("chat", now)
            if ending.in_trajectory(terminal):
                found.setdefault("trajectory", now)
            if len(found) == 2:
                found["both"] = now
            return "both" in found

        with opened(path) as terminal:
            terminal.wait_until(look, 15.0, f"the end of {path.name} in both panes")
        return found

    return start


Start = Callable[[], dict[str, Paint]]
Measured = dict[str, dict[str, list[Paint]]]


def measure(starts: dict[str, Start], times: int) -> Measured:
    """Run each start `times` times, in turns, after one that does not count."""
    for start in starts.values():
        start()
    result: Measured = {name: {} for name in starts}
    for _ in range(times):
        for name, start in starts.items():
            for pane, paint in start().items():
                result[name].setdefault(pane, []).append(paint)
    return result


def _compare(measured: Measured, what: str, to: str, pane: str, limit: float) -> list[Figure]:
    ours, theirs = measured[what][pane], measured[to][pane]
    cpu = min(p.cpu for p in ours) / min(p.cpu for p in theirs)
    wall = median([p.wall for p in ours]) / median([p.wall for p in theirs])
    name = f"{what} / {to}" + ("" if pane == "both" else f", {pane} pane")
    return [
        Figure(f"{name}, CPU", cpu, "x", limit=limit, note="best"),
        Figure(f"{name}, wall", wall, "x", limit=limit, note="median"),
    ]


def run() -> list[Figure]:
    long, name = long_log()
    logs = {
        "small": small_log(),
        name: long,
        "1,000 plain": kept_log(_FEW),
        "1,000,000 plain": kept_log(_MANY),
        "1,000 zstd": kept_log(_FEW, zstd=True),
        "1,000,000 zstd": kept_log(_MANY, zstd=True),
    }
    warm(*logs.values())
    measured = measure({"bare": bare, **{title: panes_of(path) for title, path in logs.items()}}, 5)
    figures = []
    for title, panes in measured.items():
        figures.append(Figure(title, median([p.cpu for p in panes["both"]]) * 1000, "ms", note="CPU, median"))
        figures.append(
            Figure(title, median([p.wall for p in panes["both"]]) * 1000, "ms", note="wall, median")
        )
    figures += _compare(measured, "small", "bare", "both", 1.6)
    figures += _compare(measured, name, "small", "both", 1.5)
    for form in ("plain", "zstd"):
        for pane in ("chat", "trajectory"):
            figures += _compare(measured, f"{_MANY:,} {form}", f"{_FEW:,} {form}", pane, 1.5)
    return figures
