"""A provider on loopback: real HTTP, every request kept, answers queued piece by piece."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Any
    raw: bytes
    finished: bool = False
    """The whole answer was taken."""


@dataclass
class Reply:
    """One answer; every piece is written and flushed on its own."""

    status: int = 200
    pieces: Sequence[bytes | asyncio.Event | float] = ()
    """An event is waited for before what comes after it; a number is a pause in seconds."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    reset: bool = False
    """Break the connection off at the end instead of ending the body."""
    hold: asyncio.Event | None = None
    """Waited for before the first byte of the answer."""
    raw: bytes | None = None
    """A whole answer with its status line, instead of all the above."""


class FakeProvider:
    """`async with FakeProvider() as provider`; answers come from `replies`, in order, or from `answer`."""

    def __init__(self, answer: Callable[[Seen], Reply] | None = None) -> None:
        self.requests: list[Seen] = []
        self.replies: list[Reply] = []
        self.open_connections = 0
        self.connections = 0
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> FakeProvider:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def url(self) -> str:
        """Base address without a path."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def bodies(self) -> list[Any]:
        return [request.body for request in self.requests]

    def queue(self, *replies: Reply) -> None:
        self.replies.extend(replies)

    async def until(self, condition: Callable[[], bool], timeout: float = 20.0) -> None:
        """Wait until a condition on this server holds."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(condition)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        await self._count(+1)
        try:
            await self._exchange(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            await self._count(-1)

    async def _count(self, step: int) -> None:
        async with self._changed:
            self.open_connections += step
            self._changed.notify_all()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except asyncio.IncompleteReadError:
            return
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        seen = Seen(head[0].split(" ")[1], headers, json.loads(raw) if raw else None, raw)
        self.requests.append(seen)
        async with self._changed:
            self._changed.notify_all()
        reply = self._answer(seen) if self._answer else self.replies.pop(0)
        # The client may leave while it is answered: reading tells.
        gone = asyncio.ensure_future(reader.read(1))
        writing = asyncio.ensure_future(self._write(reply, writer))
        await asyncio.wait({gone, writing}, return_when=asyncio.FIRST_COMPLETED)
        if not writing.done():
            writing.cancel()
            await asyncio.wait({writing})
            return
        gone.cancel()
        await writing
        seen.finished = True
        if reply.reset:
            writer.transport.abort()

    async def _write(self, reply: Reply, writer: asyncio.StreamWriter) -> None:
        if reply.hold is not None:
            await reply.hold.wait()
        if reply.raw is not None:
            writer.write(reply.raw)
            await writer.drain()
            return
        headers = {"content-type": "text/event-stream", **reply.headers}
        headers |= {"transfer-encoding": "chunked", "connection": "close"}
        lines = [f"HTTP/1.1 {reply.status} Status", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
        await writer.drain()
        for piece in reply.pieces:
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            elif isinstance(piece, float):
                await asyncio.sleep(piece)
            elif piece:
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                await writer.drain()
        if not reply.reset:
            writer.write(b"0\r\n\r\n")
            await writer.drain()


def sse(*events: dict[str, Any]) -> bytes:
    """Frames of a Messages stream."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode(
            "utf-8", "surrogatepass"
        )
        for event in events
    )


def messages_events(
    *blocks: dict[str, Any], stop: str | None = None, usage: dict[str, int] | None = None, size: int = 7
) -> list[dict[str, Any]]:
    """The events of a whole answer.

    Blocks are `{"text"}`, `{"thinking", "signature"?}` or `{"name", "input", "id"?}`.
    """
    counted = usage or {"input_tokens": 9, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}
    message = {"role": "assistant", "content": [], "usage": {**counted, "output_tokens": 0}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for at, block in enumerate(blocks):
        if "name" in block:
            start = {
                "type": "tool_use",
                "id": block.get("id", f"call_{at}"),
                "name": block["name"],
                "input": {},
            }
            text = json.dumps(block["input"]) if isinstance(block["input"], dict) else block["input"]
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in pieces(text, size)]
        elif "thinking" in block:
            start = {"type": "thinking", "thinking": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": part} for part in pieces(block["thinking"], size)
            ]
            if "signature" in block:
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            start = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": part} for part in pieces(block["text"], size)]
        events.append({"type": "content_block_start", "index": at, "content_block": start})
        events += [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": at})
    reason = stop or ("tool_use" if any("name" in block for block in blocks) else "end_turn")
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return events


def answer(*blocks: dict[str, Any], stop: str | None = None, usage: dict[str, int] | None = None) -> Reply:
    """A whole answer, one piece an event."""
    return Reply(pieces=[sse(event) for event in messages_events(*blocks, stop=stop, usage=usage)])


def refusal(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An error answer."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, [json.dumps(body).encode()], {"content-type": "application/json", **names})


def pieces(text: str, size: int) -> Iterable[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def wirecheck(shared: Path) -> ModuleType:
    """The checker of request bodies that lies beside the bug reports."""
    spec = importlib.util.spec_from_file_location("wirecheck", shared / "bugs" / "lib" / "wirecheck.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
