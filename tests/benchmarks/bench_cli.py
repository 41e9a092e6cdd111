"""How long the program takes to say its version."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from tests.benchmarks.measure import Figure, median


def _once(*command: str | Path) -> tuple[float, float]:
    """CPU and wall seconds of a command."""
    start = perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{command} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, perf_counter() - start


def run() -> list[Figure]:
    program = Path(sys.executable).with_name("dsh-tui")
    nothing, version = (sys.executable, "-c", "pass"), (program, "--version")
    _once(*nothing)
    _once(*version)
    rounds = [(_once(*nothing), _once(*version)) for _ in range(15)]
    wall = [median([pair[i][1] for pair in rounds]) for i in (0, 1)]
    cpu = [min(pair[i][0] for pair in rounds) for i in (0, 1)]
    return [
        Figure("python -c pass", wall[0] * 1000, "ms", note="wall, median of 15"),
        Figure("dsh-tui --version", wall[1] * 1000, "ms", note="wall, median of 15"),
        Figure("--version / python -c pass", wall[1] / wall[0], "x", limit=3.0, note="wall"),
        Figure("--version / python -c pass, CPU", cpu[1] / cpu[0], "x", limit=3.0, note="CPU, best of 15"),
    ]
