"""Tools over time: CPU time until the first picture, and of a page of columns in a wide and high matrix."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tests.benchmarks.measure import Figure, best_of, best_side_by_side, long_log, median, warm
from tests.support.log_builder import log, tool
from tui.blocks.matrix_layout import MatrixLayout, Window
from tui.i18n import translator
from tui.nodes.reading import Reading
from tui.nodes.tool_matrix import ToolMatrix

TOOLS, REQUESTS, ROWS, WIDTH = 300, 2_000, 36, 120


def _opened(path: Path) -> Reading:
    return Reading.open(path).read_all()


def _paint(matrix: ToolMatrix, left: int, top: int = 0) -> None:
    layout = MatrixLayout(matrix, matrix.tools, Window(WIDTH, translator("en"), left=left))
    _draw(layout, matrix, top)


def _draw(layout: MatrixLayout, matrix: ToolMatrix, top: int) -> None:
    layout.axis()
    layout.series()
    for name in matrix.tools[top : top + ROWS]:
        layout.row(name)


def _first_picture(path: Path) -> None:
    matrix = ToolMatrix(_opened(path))
    _paint(matrix, max(len(matrix) - 70, 0))


def _wide(folder: Path) -> Path:
    """300 tools, 2,000 requests; every tenth request one tool goes and another comes back."""
    whole = [json.loads(json.dumps(tool(f"mcp__shelf__tool_{at:03}"))) for at in range(TOOLS)]
    made = log().turn()
    for number in range(REQUESTS):
        if number % 3 == 0 and number:
            made.turn()
        if number % 10 == 0:
            gone = number // 10 % TOOLS
            made.tools(*(each for at, each in enumerate(whole) if at != gone))
        made.user("On.").answer("Yes.")
    return made.end().write(folder)


def run() -> list[Figure]:
    path, name = long_log()
    warm(path)
    opened, drawn = best_side_by_side([lambda: _opened(path), lambda: _first_picture(path)])
    figures = [
        Figure("open and draw, times open alone", drawn / opened, "x", limit=2, note=f"CPU, {name}"),
        Figure("draw alone", (drawn - opened) * 1000, "ms", note="CPU"),
    ]
    with tempfile.TemporaryDirectory(prefix="dsh-tui-bench-matrix-") as folder:
        reading = _opened(_wide(Path(folder)))
        made = best_of(lambda: ToolMatrix(reading))
        matrix = ToolMatrix(reading)
        layout = MatrixLayout(matrix, matrix.tools, Window(WIDTH, translator("en")))
        pages = [
            best_of(lambda left=left: _draw(layout.moved(left=left, cursor=None), matrix, left // 8), 1)
            for left in range(0, len(matrix) - 70, 70)
        ]
    note = f"CPU, {TOOLS} tools, {REQUESTS:,} requests"
    return [
        *figures,
        Figure("make the matrix", made * 1000, "ms", limit=300, note=note),
        Figure("page of columns, median", median(pages) * 1000, "ms", limit=50, note=note),
        Figure("page of columns, worst", max(pages) * 1000, "ms", limit=100, note=note),
    ]
