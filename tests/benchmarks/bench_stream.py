"""Ten seconds of 2,000 deltas a second: how long a key takes to the screen, and what each half costs."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests.benchmarks.measure import COLUMNS, ROOT, ROWS, Figure, median, quantile
from tests.benchmarks.stream_app import ENDING, SECONDS
from tests.support.terminal import Terminal, clean_environ

KINDS = {"mixed": "mixed Markdown", "code": "one code fence", "cjk": "one CJK paragraph"}
_EVERY_SECONDS = 0.15
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _composed(terminal: Terminal) -> str:
    """What stands in the composer, the row above the keys."""
    return terminal.region(0, COLUMNS).split("\n")[-2]


def _measured(kind: str) -> list[Figure]:
    name = KINDS[kind]
    with tempfile.TemporaryDirectory(prefix="dsh-tui-bench-home-") as home:
        command = [sys.executable, "-m", "tests.benchmarks.stream_app", kind]
        environ = clean_environ(Path(home))
        with Terminal(command, environ, columns=COLUMNS, rows=ROWS, folder=ROOT) as terminal:
            terminal.wait_until(lambda t: "Write a prompt" in t.text, 20.0, "the composer")
            terminal.press("g", "o", "enter")
            terminal.wait_until(lambda t: "is writing" in t.text, 20.0, "the first delta")
            begun, cpu = perf_counter(), terminal.cpu()
            delays: list[float] = []
            typed = ""
            halves: list[float] = []
            while (now := perf_counter() - begun) < SECONDS:
                if not halves and now >= SECONDS / 2:
                    halves.append(terminal.cpu() - cpu)
                letter = _LETTERS[len(typed) % len(_LETTERS)]
                typed += letter
                pressed = perf_counter()
                terminal.press(letter)
                terminal.wait_until(lambda t, text=typed: text in _composed(t), 10.0, "the key")
                delays.append((perf_counter() - pressed) * 1000)
                terminal.watch(max(0.0, _EVERY_SECONDS - (perf_counter() - pressed)))
            halves.append(terminal.cpu() - cpu - halves[0])
            terminal.wait_until(lambda t: ENDING in t.text and "✓ turn 1" in t.text, 60.0, "the end")
            terminal.wait_quiet(0.2)
            shown = terminal.region(0, COLUMNS // 2 - 1)
            # Another width and back lays everything out anew.
            terminal.resize(COLUMNS + 20, ROWS)
            terminal.wait_quiet(0.3)
            terminal.resize(COLUMNS, ROWS)
            terminal.wait_quiet(0.3)
            same = terminal.region(0, COLUMNS // 2 - 1) == shown
    note = f"wall, {len(delays)} keys, median {median(delays):.0f}"
    return [
        Figure(f"key to screen, 95 %, {name}", quantile(delays, 0.95), "ms", limit=100, note=note),
        Figure(
            f"second half to first, {name}",
            halves[1] / halves[0],
            "x",
            limit=1.5,
            note=f"CPU {halves[0]:.1f} s and {halves[1]:.1f} s",
        ),
        Figure(f"the end differs from a fresh layout, {name}", float(not same), "", limit=0),
    ]


def run() -> list[Figure]:
    return [figure for kind in KINDS for figure in _measured(kind)]
