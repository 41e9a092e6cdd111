"""Measures and prints a table: `python -m tests.benchmarks [--check] [--json FILE] [NAME…]`.

With `--check` the exit status is 1 when a figure is over its limit.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from pathlib import Path

from tests.benchmarks.measure import Figure

BENCHES = (
    "cli",
    "fold",
    "append",
    "projection",
    "matrix",
    "requests",
    "loop",
    "start",
    "gap",
    "browse",
    "stream",
    "memory",
    "idle",
)


def _row(figure: Figure) -> str:
    verdict = "" if figure.limit is None else "ok" if figure.passed else "OVER"
    limit = "" if figure.limit is None else f"≤ {figure.limit:g}"
    goal = "" if figure.goal is None else f"(goal {figure.goal:g})"
    number = f"{figure.value:>10.2f} {figure.unit:<3}"
    return f"  {figure.name:<52} {number} {limit:<8} {goal:<10} {verdict:<5} {figure.note}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description="Measure speed and memory."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHES)} (default: all)")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a figure is over its limit")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHES]
    if unknown:
        parser.error(f"no such benchmark: {unknown[0]}")
    document: dict[str, list[dict[str, object]]] = {}
    failed: list[str] = []
    print(f"Python {platform.python_version()}, {platform.machine()}")
    for name in options.names or BENCHES:
        print(f"{name}")
        figures: list[Figure] = importlib.import_module(f"tests.benchmarks.bench_{name}").run()
        for figure in figures:
            print(_row(figure), flush=True)
        document[name] = [figure.as_json() for figure in figures]
        failed += [f"{name}: {figure.name}" for figure in figures if not figure.passed]
    if options.json is not None:
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(failed)} over the limit" + "".join(f"\n  {name}" for name in failed))
    return 1 if failed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
