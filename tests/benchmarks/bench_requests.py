"""What making requests again costs, against reading and folding the log once."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.measure import Figure, best_side_by_side, long_log, warm
from tui.llm.route import ToolUpdateMode
from tui.nodes.reading import Reading
from tui.nodes.request_diff import prefix_of
from tui.nodes.request_projection import ProjectedRequest, project
from tui.nodes.request_table import RequestTable
from tui.nodes.requests import Requests

_ROWS = 16
_MODE: ToolUpdateMode = "addition-only"


def opened(path: Path) -> Reading:
    """Read a log whole."""
    return Reading.open(path).read_all()


def fold(path: Path) -> None:
    """Read a log whole and close it."""
    opened(path).log.close()


def walk(reading: Reading) -> int:
    """Make every request again, project it, and compare it with the one before."""
    requests = Requests(reading)
    before: ProjectedRequest | None = None
    for request in requests.walk():
        now = project(request, _MODE)
        prefix_of(requests, before, now)
        before = now
    return len(requests)


def last(reading: Reading) -> None:
    """Make the last request again, and nothing else."""
    requests = Requests(reading)
    project(requests.request(len(requests)), _MODE)


def first_picture(reading: Reading) -> None:
    """What the screen of requests needs to be drawn: its lowest rows and the lens of the last request."""
    table = RequestTable(Requests(reading))
    for n in range(max(1, len(table) - _ROWS), len(table) + 1):
        table.row(n)
    table.lenses(len(table))


def run() -> list[Figure]:
    long, name = long_log()
    warm(long)
    reading = opened(long)
    count = len(Requests(reading))
    works = (
        lambda: fold(long),
        lambda: walk(reading),
        lambda: last(reading),
        lambda: first_picture(reading),
    )
    folded, walked, made, drawn = best_side_by_side(works)
    note = f"{name}, {count:,} requests"
    return [
        Figure("make and compare all requests", walked * 1000, "ms", note=note),
        Figure("make and compare all requests / fold", walked / folded, "x", limit=3.0, note=note),
        Figure("make the last request / fold", made / folded, "x", limit=1.0, note=note),
        Figure("first picture of the requests / fold", drawn / folded, "x", limit=1.0, note=note),
    ]
