"""CPU time of a key press in a long session, from the key until the screen stands still; both panes shown."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.benchmarks.measure import COLUMNS, ROWS, Ending, Figure, long_log, median, opened, quantile
from tests.support.terminal import Terminal

_STILL = 0.05
_PAGES, _JUMPS, _CHANGES = 40, 30, 30
_SIZES = ((200, 50), (100, 30), (160, 45), (COLUMNS, ROWS))


def cost(terminal: Terminal, act: Callable[[], object]) -> float:
    """CPU milliseconds of the program from an act until it rests."""
    terminal.wait_quiet(_STILL)
    before = terminal.cpu()
    act()
    terminal.wait_answer()
    terminal.wait_quiet(_STILL)
    if terminal.has_ended:
        raise RuntimeError(f"the program has ended:\n{terminal.text}")
    return (terminal.cpu() - before) * 1000


def _press(terminal: Terminal, key: str, times: int) -> list[float]:
    return [cost(terminal, lambda: terminal.press(key)) for _ in range(times)]


def _jumps(terminal: Terminal, last: int, rng: Random) -> tuple[list[float], list[float]]:
    """Going to a seq: of the last key, and of the whole dialogue."""
    landing, dialogue = [], []
    for _ in range(_JUMPS):
        asked = cost(terminal, lambda: terminal.press(":"))
        typed = cost(terminal, lambda: terminal.press(*str(rng.randrange(last))))
        landing.append(cost(terminal, lambda: terminal.press("enter")))
        dialogue.append(asked + typed + landing[-1])
    return landing, dialogue


def _changes(terminal: Terminal) -> list[float]:
    """From each tool change to the next one, begun anew from the first entry when there is none."""
    found: list[float] = []
    while len(found) < _CHANGES:
        terminal.press("g")
        terminal.wait_quiet(_STILL)
        found += _press(terminal, "t", 10)
    return found


def run() -> list[Figure]:
    path, name = long_log()
    rng = Random(1)
    figures: list[Figure] = []

    def add(what: str, costs: list[float]) -> None:
        figures.append(
            Figure(f"{what}, median", median(costs), "ms", limit=50, note=f"CPU, {len(costs)} times")
        )
        figures.append(Figure(f"{what}, 95 %", quantile(costs, 0.95), "ms", limit=100, note="CPU"))

    with path.open("rb") as file:
        last = sum(1 for _ in file) - 2
    with opened(path) as terminal:
        terminal.wait_until(Ending(path).in_both, 60.0, "both panes")
        terminal.wait_quiet(0.6, 60.0)
        for key, pane in (("1", "chat"), ("2", "trajectory")):
            terminal.press(key, "G")
            terminal.wait_quiet(_STILL)
            add(f"page up, {pane}", _press(terminal, "pageup", _PAGES))
            landing, dialogue = _jumps(terminal, last, rng)
            add(f"jump to a seq, {pane}", landing)
            figures.append(Figure(f"  its dialogue too, {pane}", median(dialogue), "ms", note="CPU, median"))
            add(f"next tool change, {pane}", _changes(terminal))
        resizes = [cost(terminal, lambda size=size: terminal.resize(*size)) for size in _SIZES * 2]
    note = f"CPU, the worst of {len(resizes)}, {name}"
    return [*figures, Figure("resize", max(resizes), "ms", limit=400, note=note)]
