"""What writing an event costs, early and late in a log, the surface being equally long."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import process_time

from tests.benchmarks.measure import Figure
from tests.support.session_logs import converse, replace, text, user
from tui.session.durable import Encoding
from tui.session.writer import SessionWriter

_EARLY, _LATE = 100, 100_000
_SURFACE = 60
_TURNS = 120
_ROUNDS = 5


def turns(writer: SessionWriter, count: int) -> None:
    """Write turns as a loop does: messages and tools asked for before each, a flush after it."""
    for _ in range(count):
        converse(writer, writer.last_turn + 1)
        if len(writer.derive_messages()) > _SURFACE:
            nodes = writer.surface.nodes()[1:]
            condense(writer, nodes[: len(nodes) // 2 // 3 * 3])
        writer.tool_history()
        writer.flush_now()


def condense(writer: SessionWriter, nodes: Sequence[int]) -> None:
    """Replace some nodes of the surface by a checkpoint."""
    name = f"k{writer.next_seq}"
    opened = writer.append("compaction/start", {"compactionId": name, "turn": None})
    made = writer.append(
        "compaction/summary",
        {
            "compactionId": name,
            "summary": [text("The north bed is at 37%.")],
            "shadowedRange": {"start": nodes[0], "end": nodes[-1]},
            "shadowedSeqs": [*nodes],
            "shadowedTokenCount": 99,
            "provider": "creek",
            "model": "minnow-2",
        },
    )
    checkpoint = user(name, "(condensed)", "compact-checkpoint")
    checkpoint["source"]["compactionId"] = name
    cited = [opened.seq, made.seq, *nodes]
    writer.append(
        "user/message", checkpoint, surface_op=replace(nodes[0], nodes[-1]), source_event_seqs=cited
    )
    writer.append("compaction/end", {"compactionId": name, "turn": None})


@contextmanager
def without_waiting() -> Iterator[None]:
    """No fsync: the disk's time is not ours, and its noise would hide what is."""
    real = os.fsync
    os.fsync = lambda fd: None
    try:
        yield
    finally:
        os.fsync = real


def cost(writer: SessionWriter) -> float:
    """Seconds of CPU an event over some turns."""
    gc.collect()
    before, started = writer.next_seq, process_time()
    turns(writer, _TURNS)
    return (process_time() - started) / (writer.next_seq - before)


def run() -> list[Figure]:
    figures: list[Figure] = []
    encodings: tuple[Encoding, ...] = ("none", "zstd")
    with without_waiting(), tempfile.TemporaryDirectory() as folder:
        for encoding in encodings:
            home = Path(folder) / encoding
            late = SessionWriter.create(home, "/srv/moss", encoding=encoding)
            while late.next_seq < _LATE:
                turns(late, 100)
            early_cost, late_cost = float("inf"), float("inf")
            for _ in range(_ROUNDS):
                early = SessionWriter.create(home, "/srv/moss", encoding=encoding)
                while early.next_seq < _EARLY or len(early.derive_messages()) < _SURFACE // 2:
                    turns(early, 5)
                early_cost = min(early_cost, cost(early))
                early.close_now()
                late_cost = min(late_cost, cost(late))
            late.close_now()
            figures.append(Figure(f"append at event 100, {encoding}", early_cost * 1e6, "µs"))
            figures.append(Figure(f"append at event 100,000, {encoding}", late_cost * 1e6, "µs"))
            figures.append(Figure(f"late / early, {encoding}", late_cost / early_cost, "x", limit=1.2))
            figures.append(Figure(f"events a second, {encoding}", 1 / late_cost / 1000, "k/s"))
    return figures
