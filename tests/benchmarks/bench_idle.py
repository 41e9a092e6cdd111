"""CPU time of the program while nobody does anything."""

from __future__ import annotations

from tests.benchmarks.measure import Ending, Figure, long_log, opened

_SECONDS = 5.0


def run() -> list[Figure]:
    path, name = long_log()
    with opened(path) as terminal:
        terminal.wait_until(Ending(path).in_both, 60.0, "both panes")
        terminal.wait_quiet(0.6, 60.0)
        before, start = terminal.cpu(), terminal.wall()
        terminal.watch(_SECONDS)
        share = (terminal.cpu() - before) / (terminal.wall() - start)
        return [Figure("idle", share * 100, "%", limit=1.0, note=f"{name}, {_SECONDS:g} s")]
