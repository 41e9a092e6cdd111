"""Stream records of an attempt: what arrived, when, and what it adds up to.

Records hold runs of deltas in compact form (session-format §4.5). dsh itself only checks that a stream is a
list, so nothing here trusts its content: a record of a wrong shape gives nothing, and nothing raises.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from tui.session.json_value import MAX_SAFE_INTEGER, as_array, as_count, as_object, as_text

_DELTA_OF_RECORD: Final = {
    "text-chunks": "text-delta",
    "reasoning-chunks": "reasoning-delta",
    "tool-call-chunks": "tool-call-delta",
}
_BLOCK_OF_DELTA: Final = {
    "text-delta": "text",
    "reasoning-delta": "reasoning",
    "tool-call-delta": "tool-call",
}


class Finish(NamedTuple):
    """How an attempt ended."""

    kind: str
    """`stop`, `tool-calls`, `max-tokens`, `error`, `aborted`, or whatever else the log says."""
    failure: dict[str, Any] | None
    """The provider's failure of an `error` or `aborted` end."""


class Assembly(NamedTuple):
    """What a stream adds up to."""

    blocks: list[dict[str, Any]]
    """Content blocks in order of appearance; those that no `block-end` closed hold what came so far."""
    usage: dict[str, Any] | None
    finish: Finish | None


class BlockSpan(msgspec.Struct, frozen=True):
    """When one block of a stream was received; Unix milliseconds."""

    index: int
    type: str
    first_ms: int
    last_ms: int


def expand(stream: object) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every chunk with its time in Unix milliseconds.

    Chunks and records of unknown kind come as they are. A time that the log does not tell is that of the
    chunk before, 0 at first. Spec §4.5.
    """
    now = 0
    for value in as_array(stream):
        record = as_object(value)
        if not record:
            continue
        kind = record.get("type")
        delta = _DELTA_OF_RECORD.get(kind) if isinstance(kind, str) else None
        if delta is None:
            now = _time(record.get("time"), now)
            chunk = as_object(record.get("chunk")) if kind == "chunk" else record
            if chunk:
                yield now, chunk
            continue
        now = _time(record.get("time0"), now)
        steps = as_array(record.get("dt"))
        make = _delta_maker(delta, record)
        for at, text in enumerate(_texts(record)):
            if at:
                now = _time(now + _number(steps[at - 1]) if at <= len(steps) else now, now)
            yield now, make(text)


def first_delta_ms(stream: object) -> int | None:
    """Return when the first delta came, in Unix milliseconds; None without one. Looks at no later record."""
    for value in as_array(stream):
        record = as_object(value)
        kind = record.get("type")
        if not isinstance(kind, str):
            continue
        if kind in _DELTA_OF_RECORD:
            time = record.get("time0") if _texts(record) else None
        elif kind == "chunk" and as_object(record.get("chunk")).get("type") in tuple(_BLOCK_OF_DELTA):
            time = record.get("time")
        else:
            continue
        told = _time(time, -1)
        if told >= 0:
            return told
    return None


def assemble(stream: object) -> Assembly:
    """Return the blocks, usage and end that a stream adds up to, of a broken-off one what came so far.

    A `block-end` wins over deltas and closes its block; the last usage and the last finish count. A block
    that was begun and of which nothing came is left out. Spec §4.5.
    """
    parts: dict[int, _Part] = {}
    usage: dict[str, Any] | None = None
    end: Finish | None = None
    for _, chunk in expand(stream):
        kind = chunk.get("type")
        if kind == "usage":
            usage = as_object(chunk.get("usage")) or usage
        elif kind == "finish":
            end = _finish(chunk)
        else:
            index = as_count(chunk.get("index"))
            if index is not None and kind in _PART_KINDS:
                parts.setdefault(index, _Part()).take(as_text(kind), chunk)
    blocks = [block for part in parts.values() if (block := part.block()) is not None]
    return Assembly(blocks, usage, end)


def block_spans(stream: object) -> list[BlockSpan]:
    """Return from when to when each block came, in order of appearance; a type that is not told is empty."""
    spans: dict[int, BlockSpan] = {}
    closed: set[int] = set()
    for time, chunk in expand(stream):
        kind = as_text(chunk.get("type"))
        index = as_count(chunk.get("index"))
        if index is None or kind not in _PART_KINDS or index in closed:
            continue
        block_type = _block_type(kind, chunk)
        known = spans.get(index)
        if known is None:
            spans[index] = BlockSpan(index, block_type, time, time)
        else:
            spans[index] = BlockSpan(
                index, known.type or block_type, min(known.first_ms, time), max(known.last_ms, time)
            )
        if kind == "block-end":
            closed.add(index)
    return list(spans.values())


def finish(stream: object) -> Finish | None:
    """Return how the attempt ended; None if the stream does not say. Looks from the end."""
    for value in reversed(as_array(stream)):
        record = as_object(value)
        chunk = as_object(record.get("chunk")) if record.get("type") == "chunk" else {}
        if chunk.get("type") == "finish":
            return _finish(chunk)
    return None


_PART_KINDS: Final = frozenset({"block-start", "block-end", *_BLOCK_OF_DELTA})


class _Part(msgspec.Struct):
    """One block under assembly."""

    type: str = ""
    texts: list[str] = msgspec.field(default_factory=list[str])
    call_id: str = ""
    name: str = ""
    closed: dict[str, Any] | None = None

    def take(self, kind: str, chunk: dict[str, Any]) -> None:
        if self.closed is not None:
            return
        if kind == "block-end":
            self.closed = as_object(chunk.get("block")) or None
            return
        block_type = _block_type(kind, chunk)
        self.type = self.type or block_type
        if kind == "block-start" or block_type != self.type:
            return
        self.call_id = self.call_id or as_text(chunk.get("id"))
        self.name = self.name or as_text(chunk.get("name"))
        self.texts.append(as_text(chunk.get("argumentsDelta" if kind == "tool-call-delta" else "text")))

    def block(self) -> dict[str, Any] | None:
        if self.closed is not None:
            return self.closed
        if not self.texts:
            return None
        text = "".join(self.texts)
        if self.type == "tool-call":
            return {"type": self.type, "id": self.call_id, "name": self.name, "arguments": text}
        return {"type": self.type, "text": text}


def _block_type(kind: str, chunk: dict[str, Any]) -> str:
    if kind == "block-start":
        return as_text(chunk.get("blockType"))
    if kind == "block-end":
        return as_text(as_object(chunk.get("block")).get("type"))
    return _BLOCK_OF_DELTA[kind]


def _delta_maker(delta: str, record: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
    index = record.get("index")
    if delta != "tool-call-delta":
        return lambda text: {"type": delta, "index": index, "text": text}
    call = {"type": delta, "index": index, "id": record.get("id")}
    if "name" in record:
        call["name"] = record["name"]
    return lambda text: {**call, "argumentsDelta": text}


def _texts(record: dict[str, Any]) -> list[str]:
    key = "args" if record.get("type") == "tool-call-chunks" else "texts"
    return [as_text(text) for text in as_array(record.get(key))]


def _finish(chunk: dict[str, Any]) -> Finish:
    reason = as_object(chunk.get("reason"))
    return Finish(as_text(reason.get("kind")), as_object(reason.get("failure")) or None)


def _number(value: object) -> float:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0


def _time(value: object, otherwise: int) -> int:
    """A time of the log as whole milliseconds, or another where it has none that a clock could show."""
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if number is None or not -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:  # NaN fails both
        return otherwise
    return int(number)
