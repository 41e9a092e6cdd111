"""Logs for tests of the writer: events by short calls, and readers that share no code with what is tested."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from tui.session.events import Event
from tui.session.log_header import LogHeader
from tui.session.reader import read_log
from tui.session.rules import RuleChecker

HEADER = LogHeader(
    id="session-moss", version=4, created_ms=1_800_000_000_000, is_seeded=False, delegation_depth=0
)
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call_block(call_id: str, name: str = "peek", arguments: str = '{"pot": "north"}') -> dict[str, Any]:
    return {"type": "tool-call", "id": call_id, "name": name, "arguments": arguments}


def user(identity: str, value: str = "How wet is the north bed?", kind: str = "user") -> dict[str, Any]:
    return {"id": identity, "role": "user", "source": {"kind": kind}, "content": [text(value)]}


def system(turn: int, step: int, value: str = "You keep the moss garden.") -> dict[str, Any]:
    content = [text(value)] if value else []
    message = {
        "id": f"s{turn}.{step}",
        "role": "system",
        "source": {"kind": "system-prompt"},
        "content": content,
    }
    return {"turn": turn, "step": step, "message": message}


def assistant(turn: int, step: int, *blocks: dict[str, Any]) -> dict[str, Any]:
    source = {"kind": "model", "provider": "creek", "model": "minnow-2"}
    message = {"id": f"a{turn}.{step}", "role": "assistant", "source": source, "content": list(blocks)}
    return {"turn": turn, "step": step, "message": message, "stream": []}


def call(turn: int, step: int, call_id: str, name: str = "peek") -> dict[str, Any]:
    return {
        "turn": turn,
        "step": step,
        "callId": call_id,
        "name": name,
        "arguments": '{"pot": "north"}',
    }


def result(turn: int, step: int, call_id: str, value: str = "moisture 37") -> dict[str, Any]:
    message = {
        "id": f"r{call_id}",
        "role": "tool",
        "toolCallId": call_id,
        "source": {"kind": "tool", "callId": call_id},
        "content": [text(value)],
        "isError": False,
    }
    return {"turn": turn, "step": step, "message": message}


def tool(name: str, description: str = "Looks at one pot.") -> dict[str, Any]:
    return {"name": name, "description": description, "parameters": {"type": "object", "properties": {}}}


def header(*names: str, reason: str = "initial", provider: str = "creek") -> dict[str, Any]:
    tools = {"tools": [tool(name) for name in names]} if names else {}
    return {"reason": reason, "header": {"config": {"provider": provider, "model": "minnow-2"}, **tools}}


def developer(turn: int, step: int, *blocks: dict[str, Any], header_seq: int | None = None) -> dict[str, Any]:
    message = {
        "id": f"d{turn}.{step}",
        "role": "developer",
        "source": {"kind": "tool-registry"},
        "content": list(blocks),
    }
    data: dict[str, Any] = {"turn": turn, "step": step, "message": message}
    return data if header_seq is None else {**data, "headerSeq": header_seq}


def replace(start: int, end: int) -> dict[str, Any]:
    return {"op": "replace", "startSeq": start, "endSeq": end}


class Checked:
    """A rule checker and the events that it took."""

    def __init__(self, log_header: LogHeader = HEADER) -> None:
        self.events: list[Event] = []
        self.rules = RuleChecker(log_header, self.events.__getitem__)

    def add(
        self,
        kind: str,
        data: Any,
        *,
        op: Any = None,
        cites: list[int] | None = None,
        ignorable: bool = False,
        seq: int | None = None,
    ) -> int:
        number = len(self.events) if seq is None else seq
        surface = kind in ("system/message", "developer/message", "user/message", "assistant/message")
        event = Event(
            row=number,
            type=kind,
            seq=number,
            time=1_800_000_000_000 + number,
            data=data,
            surface_op=op or ("append" if surface or kind == "tool/result" else None),
            source_event_seqs=cites,
            ignorable=ignorable,
        )
        self.rules.apply(event)
        self.events.append(event)
        return number

    def open_step(self, turn: int = 1, step: int = 1) -> Checked:
        """Begin turn and step, with the system message first and a request header after it."""
        if step == 1:
            self.add("turn/start", {"turn": turn})
        self.add("step/start", {"turn": turn, "step": step})
        if turn == step == 1:
            self.add("system/message", system(1, 1))
        return self

    def end_turn(self, turn: int = 1, step: int = 1) -> Checked:
        self.add("step/end", {"turn": turn, "step": step})
        self.add("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
        return self


class Appends(Protocol):
    """What a conversation is written with."""

    def append(self, type: str, data: Any, *, source_event_seqs: Sequence[int] | None = None) -> Event: ...


def converse(writer: Appends, turn: int, *, steps: int = 1, words: str = "moss ") -> None:
    """Write one turn of steps with a tool call each, and a last one with an answer."""
    writer.append("turn/start", {"turn": turn})
    for step in range(1, steps + 1):
        writer.append("step/start", {"turn": turn, "step": step})
        if turn == step == 1:
            writer.append("system/message", system(1, 1))
        if step == 1:
            writer.append("user/message", user(f"u{turn}", words * 5))
        if turn == step == 1:
            writer.append("request/header", header("peek"))
            writer.append("request/context", {"provider": "creek", "model": "minnow-2"})
        call_id = f"call_{turn}_{step}"
        writer.append("assistant/message", assistant(turn, step, text(words * 8), call_block(call_id)))
        start = writer.append("tool/call", call(turn, step, call_id))
        writer.append("tool/result", result(turn, step, call_id, words * 9), source_event_seqs=[start.seq])
        writer.append("step/end", {"turn": turn, "step": step})
    writer.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})


def log_text(path: Path) -> bytes:
    """The decoded text of a whole log file; fails on a torn or broken one."""
    content = path.read_bytes()
    if path.suffix != ".zstd":
        return content
    return b"".join(frame_texts(content))


def frame_texts(content: bytes) -> list[bytes]:
    """The text of every frame; each must be whole, with a checksum and without content size."""
    import zstandard

    texts: list[bytes] = []
    while content:
        assert content[:5] == ZSTD_MAGIC + b"\x04"
        decoder = zstandard.ZstdDecompressor().decompressobj()
        texts.append(decoder.decompress(content))
        assert decoder.eof, "the frame is torn"
        content = decoder.unused_data
    return texts


def log_lines(path: Path) -> list[Any]:
    """Every line of a log as plain JSON, header first; each must end in LF and be strict UTF-8."""
    content = log_text(path)
    assert content.endswith(b"\n")
    return [json.loads(line.decode("utf-8")) for line in content.splitlines()]


def whole_lines(path: Path) -> list[bytes]:
    """The whole lines of a log whose end may be torn."""
    content = path.read_bytes()
    if path.suffix == ".zstd":
        import zstandard

        reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True)
        pieces: list[bytes] = []
        try:
            while piece := reader.read(65536):
                pieces.append(piece)
        except zstandard.ZstdError:
            pass
        content = b"".join(pieces)
    return content.split(b"\n")[:-1]


def assert_sound(path: Path) -> list[Event]:
    """The events of a log that breaks no rule when it is read back."""
    log = read_log(path)
    assert log.damage == []
    rules = RuleChecker(log.header, log.event)
    events = list(log.events())
    for event in events:
        rules.apply(event)
    rules.finish()
    log.close()
    return events


def counted(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[int]]:
    """A function that counts its calls in the list."""
    calls = [0]

    def wrapped(*args: Any, **options: Any) -> Any:
        calls[0] += 1
        return function(*args, **options)

    return wrapped, calls
