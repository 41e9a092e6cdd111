"""Events of recordings and vectors without the reader under test: every line decoded, nothing checked."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

RECORDINGS = Path(__file__).resolve().parent.parent / "recordings"
VECTORS = Path(__file__).resolve().parent.parent / "vectors"


class PlainEvent(NamedTuple):
    type: str
    seq: int
    data: Any = None
    surface_op: Any = None
    time: int = 0


def events_of(values: Iterable[dict[str, Any]]) -> list[PlainEvent]:
    """Envelopes as they stand on the lines."""
    return [
        PlainEvent(
            value["type"], value["seq"], value.get("data"), value.get("surfaceOp"), value.get("time", 0)
        )
        for value in values
    ]


def recorded_events(path: Path) -> list[PlainEvent]:
    """The events of a complete log, plain or compressed."""
    content = path.read_bytes()
    if path.suffix == ".zstd":
        import zstandard

        reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True)
        content = reader.read()
    return events_of(json.loads(line) for line in content.splitlines()[1:])


def recording(name: str) -> list[PlainEvent]:
    """The events of one of the repository's own recordings."""
    return recorded_events(RECORDINGS / name / "session.v4.jsonl")


def vector(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def own_recordings_with_verdicts() -> list[tuple[Path, dict[str, Any]]]:
    """The repository's recordings, each with what dsh's own loader made of it."""
    pairs: list[tuple[Path, dict[str, Any]]] = []
    for place, verdict in vector("recordings-oracle.json").items():
        parts = Path(place).parts
        folder = RECORDINGS / parts[0] / ("zstd" if parts[1] == "zstd" else "")
        path = folder / parts[-1]
        if path.exists():
            pairs.append((path, verdict))
    return pairs
