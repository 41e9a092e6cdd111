"""Chunks of a running answer, gathered for the log (loop-and-adapters §1.9, session-format §4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tui.session.json_value import as_array, as_object
from tui.session.stream import Finish, assemble

_RECORD_OF_DELTA: Final = {
    "text-delta": ("text-chunks", "texts", "text"),
    "reasoning-delta": ("reasoning-chunks", "texts", "text"),
    "tool-call-delta": ("tool-call-chunks", "args", "argumentsDelta"),
}
_RUNS: Final = frozenset({"dt", "texts", "args"})
_CHUNK_KEYS: Final = {
    "text-delta": frozenset({"type", "index", "text"}),
    "reasoning-delta": frozenset({"type", "index", "text"}),
    "tool-call-delta": frozenset({"type", "index", "id", "name", "argumentsDelta"}),
}


class Answer(NamedTuple):
    """What an attempt adds up to."""

    blocks: list[dict[str, Any]]
    """Content of the assistant message: of an answer cut at the output cap without its tool calls."""
    usage: dict[str, Any] | None
    finish: Finish
    """A stream that does not say how it ended counts as `stop`."""
    replay_state: dict[str, Any] | None
    """What the provider wants back with the message; goes into the message's source."""


class StreamAssembler:
    """Takes the chunks of one attempt as they come; times are milliseconds since the epoch."""

    __slots__ = ("_last", "_last_key", "_last_time", "_records")

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        self._last: dict[str, Any] | None = None
        self._last_key: tuple[object, ...] = ()
        self._last_time = 0

    def feed(self, time_ms: int, chunk: Mapping[str, Any]) -> None:
        """Take the next chunk."""
        kind = chunk.get("type")
        form = _RECORD_OF_DELTA.get(kind) if isinstance(kind, str) else None
        if form is None or not _CHUNK_KEYS[str(kind)].issuperset(chunk):
            self._records.append({"type": "chunk", "time": time_ms, "chunk": dict(chunk)})
            self._last = None
            return
        record_type, members, member = form
        key = (kind, chunk.get("index"), chunk.get("id"), "name" in chunk, chunk.get("name"))
        if self._last is not None and key == self._last_key:
            self._last["dt"].append(time_ms - self._last_time)
            self._last[members].append(chunk.get(member))
        else:
            record: dict[str, Any] = {
                "type": record_type,
                "time0": time_ms,
                "index": chunk.get("index"),
                "dt": [],
            }
            for name in ("id", "name"):
                if name in chunk:
                    record[name] = chunk[name]
            record[members] = [chunk.get(member)]
            self._records.append(record)
            self._last, self._last_key = record, key
        self._last_time = time_ms

    def records(self) -> list[dict[str, Any]]:
        """Return the attempt's `stream` for the log; chunks that come later do not change it."""
        return [
            {key: list(as_array(value)) if key in _RUNS else value for key, value in record.items()}
            for record in self._records
        ]

    def message(self) -> Answer:
        """Return what has come so far."""
        blocks, usage, finish = assemble(self._records)
        finish = finish or Finish("stop", None)
        replay = self._replay_state()
        if finish.kind == "max-tokens":
            kept = [at for at, block in enumerate(blocks) if block.get("type") != "tool-call"]
            replay = _kept_replay(replay, kept, len(blocks))
            blocks = [blocks[at] for at in kept]
        return Answer(blocks, usage, finish, replay)

    def visible_blocks(self) -> list[dict[str, Any]]:
        """Return what stays of an answer that was interrupted: text and reasoning that is not blank."""
        return [
            {"type": block["type"], "text": block["text"]}
            for block in assemble(self._records).blocks
            if block.get("type") in ("text", "reasoning") and str(block.get("text", "")).strip()
        ]

    def _replay_state(self) -> dict[str, Any] | None:
        for record in reversed(self._records):
            chunk = as_object(record.get("chunk"))
            if chunk.get("type") == "finish":
                return as_object(chunk.get("replayState")) or None
        return None


def _kept_replay(replay: dict[str, Any] | None, kept: list[int], count: int) -> dict[str, Any] | None:
    if replay is None:
        return None
    entries = as_array(replay.get("blocks"))
    return {**replay, "blocks": [entries[at] for at in kept]} if len(entries) == count else replay
