"""How much reading a log with all folds costs, against decoding its lines and nothing else."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tests.benchmarks.generate import kept_log
from tests.benchmarks.measure import Figure, best_side_by_side, long_log, warm
from tui.nodes.reading import Reading

_PIECE = 1 << 20


def decode_and_drop(path: Path) -> int:
    """Decode every line of a plain log with `msgspec.json.decode`, splitting included."""
    decode = msgspec.json.decode
    count, carry = 0, b""
    with path.open("rb") as file:
        while data := file.read(_PIECE):
            lines = (carry + data).split(b"\n")
            carry = lines.pop()
            for line in lines:
                decode(line)
            count += len(lines)
    return count


def read_all(path: Path) -> int:
    """Index and fold a log whole."""
    reading = Reading.open(path).read_all()
    reading.log.close()
    return len(reading.log)


def run() -> list[Figure]:
    long, name = long_log()
    zstd = kept_log(100_000, zstd=True)
    plain = kept_log(100_000)
    warm(long, plain, zstd)
    decoded, folded = best_side_by_side((lambda: decode_and_drop(long), lambda: read_all(long)))
    figures = [
        Figure("decode every line", decoded * 1000, "ms", note=name),
        Figure("index and folds", folded * 1000, "ms", note=name),
        Figure("index and folds / decode", folded / decoded, "x", limit=3.0, goal=2.0, note=name),
    ]
    works = (lambda: decode_and_drop(plain), lambda: read_all(plain), lambda: read_all(zstd))
    decoded, folded, unpacked = best_side_by_side(works, 3)
    return [
        *figures,
        Figure("index and folds / decode, generated", folded / decoded, "x", 3.0, 2.0, "100,000 events"),
        Figure("folds an event, plain", folded * 10, "µs", note="100,000 events"),
        Figure("folds an event, zstd", unpacked * 10, "µs", note="100,000 events"),
    ]
