"""What the benchmarks share: figures with limits, the logs to measure with, the program on a terminal."""

from __future__ import annotations

import gc
import math
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import msgspec

from tests.benchmarks.generate import kept_log
from tests.support.terminal import Terminal, clean_environ

ROOT = Path(__file__).resolve().parent.parent.parent
LONG_EVENTS = 24_000
COLUMNS, ROWS = 120, 40


@dataclass(frozen=True)
class Figure:
    """One measured number; a `limit` that it must not exceed, and a `goal` that would be better still."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    goal: float | None = None
    note: str = ""

    @property
    def passed(self) -> bool:
        return self.limit is None or self.value <= self.limit

    def as_json(self) -> dict[str, Any]:
        kept = {key: value for key, value in asdict(self).items() if value not in (None, "")}
        return {**kept, "passed": self.passed}


def shared_folder() -> Path | None:
    """The folder of the format's documents and recordings, if there is one."""
    folder = Path(os.environ.get("DSH_TUI_SHARED") or ROOT.parent / "shared")
    return folder if (folder / "recordings").is_dir() else None


def long_log() -> tuple[Path, str]:
    """The recorded log of 24 thousand events, or a generated one of that length; and its name."""
    shared = shared_folder()
    if shared is not None:
        found = sorted((shared / "recordings" / "long" / "sessions").glob("*/*/session.v4.jsonl"))
        if found:
            return found[0], "recordings/long"
    return kept_log(LONG_EVENTS), f"generated, {LONG_EVENTS:,} events"


def small_log() -> Path:
    """A recorded log of a few turns."""
    return ROOT / "tests" / "recordings" / "tool-use" / "session.v4.jsonl"


def warm(*paths: Path) -> None:
    """Read files once, so that they are in the page cache."""
    for path in paths:
        with path.open("rb") as file:
            while file.read(1 << 22):
                continue


def best_of(work: Callable[[], object], times: int = 5) -> float:
    """The least CPU seconds that a piece of work took, garbage collected before each run."""
    return min(_cpu_of(work) for _ in range(times))


def best_side_by_side(works: Sequence[Callable[[], object]], times: int = 5) -> list[float]:
    """`best_of` for several pieces of work in turns: a busy moment of the machine meets all of them."""
    rounds = [[_cpu_of(work) for work in works] for _ in range(times)]
    return [min(column) for column in zip(*rounds, strict=True)]


def _cpu_of(work: Callable[[], object]) -> float:
    gc.collect()
    start = process_time()
    work()
    return process_time() - start


def quantile(values: Sequence[float], share: float) -> float:
    """The value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


# -- the program on a terminal


@contextmanager
def opened(path: Path) -> Iterator[Terminal]:
    """`dsh-tui open` of a log on a terminal of 120 by 40."""
    with tempfile.TemporaryDirectory(prefix="dsh-tui-bench-home-") as home:
        command = [sys.executable, "-m", "tui", "open", path]
        environ = clean_environ(Path(home))
        with Terminal(command, environ, columns=COLUMNS, rows=ROWS, folder=ROOT) as terminal:
            yield terminal


class Ending:
    """How to tell on the screen that the end of a log is shown in a pane."""

    def __init__(self, path: Path) -> None:
        text = _last_answer(path)
        words = [word for word in re.findall(r"\w+", text) if len(word) > 1]
        self._first, self._last = words[0], words[-1]

    def in_chat(self, terminal: Terminal) -> bool:
        """The last word of the last answer stands in the left half, below the title."""
        return self._last in _below_title(terminal.region(0, COLUMNS // 2 - 1))

    def in_trajectory(self, terminal: Terminal) -> bool:
        """The first word of the last answer stands in the right half, below the title."""
        return self._first in _below_title(terminal.region(COLUMNS // 2 + 1, COLUMNS))

    def in_both(self, terminal: Terminal) -> bool:
        return self.in_chat(terminal) and self.in_trajectory(terminal)


def _below_title(text: str) -> str:
    return text.split("\n", 1)[1]


def _last_answer(path: Path) -> str:
    """The text of the last answer of a log."""
    from tui.session.reader import open_log, open_tail

    whole, _ = open_log(path)
    opened_tail = open_tail(whole, 256 << 10)
    log, reader = opened_tail or open_log(path)
    while not reader.step(60.0):
        continue
    for row in range(len(log) - 1, -1, -1):
        if log.type_name(row) == "assistant/message":
            data = msgspec.json.decode(log.raw(row))
            texts = [b["text"] for b in data["data"]["message"]["content"] if b["type"] == "text"]
            if texts:
                return texts[-1]
    raise LookupError(f"{path} has no answer near its end")
