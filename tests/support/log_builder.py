"""Writes session logs of format V4 for tests: `log().turn().step().user("hello").answer("hi")`.

What a builder writes obeys the order rules (spec session-format §3) as long as it is not asked for damage:
numbers, times, turn and step numbers, inbox and closing events are put in by it. `end()` closes what is open.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from tui.nodes.reading import Reading
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE

START_MS = 1_800_000_000_000
STEP_MS = 10
SESSION_ID = "session-0123456789abcdef0123456789abcdef"
MODEL = "minnow-2"
PROVIDER = "creek"


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def reasoning(value: str) -> dict[str, Any]:
    return {"type": "reasoning", "text": value}


def call(call_id: str, name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "tool-call", "id": call_id, "name": name, "arguments": arguments}


def tool(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description or f"What {name} does.", "parameters": schema}


def pieces(first_ms: int, *texts: str, kind: str = "text", gap: int = 5) -> dict[str, Any]:
    """A stream record of deltas that came one after the other."""
    gaps = [gap] * (len(texts) - 1)
    return {"type": f"{kind}-chunks", "time0": first_ms, "index": 0, "dt": gaps, "texts": list(texts)}


def chunk(time: int, kind: str, **members: Any) -> dict[str, Any]:
    return {"type": "chunk", "time": time, "chunk": {"type": kind, **members}}


class LogBuilder:
    """A log under construction; every method that adds an event returns the builder."""

    def __init__(self, **header: Any) -> None:
        self.header: dict[str, Any] = {
            "type": "session",
            "version": 4,
            "id": SESSION_ID,
            "createdAt": START_MS,
            "cwd": "/srv/moss",
            "isSeeded": False,
            "delegationDepth": 0,
            **header,
        }
        self.lines: list[bytes] = []
        self.seq = 0
        self.now = START_MS
        self.turns = 0
        self.steps = 0
        self.in_turn = False
        self.in_step = False
        self._systems = 0
        self._ids = 0
        self._tools: list[dict[str, Any]] | None = None

    # -- anything

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return self.seq - 1

    def at(self, time: int) -> Self:
        """Set the clock; the next event carries this time."""
        self.now = time
        return self

    def wait(self, ms: int) -> Self:
        self.now += ms
        return self

    def event(self, kind: str, data: Any, **envelope: Any) -> Self:
        """Add an event as it is; `seq`, `time` and other members of the envelope may be given."""
        row = {"type": kind, "seq": self.seq, "time": self.now, "data": data, **envelope}
        self.seq = row["seq"] + 1 if isinstance(row["seq"], int) else self.seq + 1
        self.now += STEP_MS
        return self.line(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())

    def line(self, raw: bytes) -> Self:
        """Add a line of bytes, whatever it is."""
        self.lines.append(raw)
        return self

    def surface(self, kind: str, data: Any, **envelope: Any) -> Self:
        return self.event(kind, data, **{"surfaceOp": "append", **envelope})

    def replace(self, start: int, end: int, shadowed: list[int]) -> dict[str, Any]:
        """The envelope of a replacement."""
        return {
            "surfaceOp": {"op": "replace", "startSeq": start, "endSeq": end},
            "sourceEventSeqs": shadowed,
        }

    # -- turns and steps

    def turn(self) -> Self:
        """Start a turn and its first step, ending what is open; the first one sets the system prompt."""
        if self.in_turn:
            self.end()
        self.turns, self.steps, self.in_turn = self.turns + 1, 0, True
        self.event("turn/start", {"turn": self.turns}).step()
        return self if self._systems else self.system("You keep the moss.")

    def step(self) -> Self:
        if self.in_step:
            self.end_step()
        self.steps, self.in_step = self.steps + 1, True
        return self.event("step/start", self.place)

    def end_step(self) -> Self:
        self.in_step = False
        return self.event("step/end", self.place)

    def end(self, kind: str = "completed", **reason: Any) -> Self:
        """End the open step and turn."""
        if self.in_step:
            self.end_step()
        self.in_turn = False
        return self.event("turn/end", {"turn": self.turns, "reason": {"kind": kind, **reason}})

    def fail(self, code: str, message: str, **failure: Any) -> Self:
        return self.end("error", error={"code": code, "message": message, **failure})

    @property
    def place(self) -> dict[str, int]:
        return {"turn": self.turns, "step": self.steps}

    # -- messages

    def message(self, role: str, source: dict[str, Any], content: list[Any], **more: Any) -> dict[str, Any]:
        self._ids += 1
        return {"role": role, "id": f"m-{self._ids}", "source": source, "content": content, **more}

    def system(self, prompt: str, **envelope: Any) -> Self:
        self._systems += 1
        content = [text(prompt)] if prompt else []
        message = self.message("system", {"kind": "system-prompt"}, content)
        return self.surface("system/message", {**self.place, "message": message}, **envelope)

    def user(self, *parts: str | dict[str, Any], source: str = "user", **source_fields: Any) -> Self:
        content = [text(part) if isinstance(part, str) else part for part in parts]
        return self.surface("user/message", self.message("user", {"kind": source, **source_fields}, content))

    def queue(self, prompt: str, target: str = "next-turn", start: int = 0) -> Self:
        waiting = [self.message("user", {"kind": "user"}, [text(prompt)])]
        return self.event("agent/inbox/spliced", {"target": target, "start": start, "inserted": waiting})

    def claim(self, target: str = "next-turn", start: int = 0, *, canceled: bool = False) -> Self:
        data: dict[str, Any] = {"target": target, "start": start, "removedCount": 1, "inserted": []}
        return self.event("agent/inbox/spliced", {**data, **({"outcome": "canceled"} if canceled else {})})

    def answer(
        self,
        *parts: str | dict[str, Any],
        usage: tuple[int, int, int, int] | None = None,
        stream: list[Any] | None = None,
        interrupted: bool = False,
    ) -> Self:
        """An answer; `usage` is uncached input, output, cache read, cache write."""
        content = [text(part) if isinstance(part, str) else part for part in parts]
        source = {"kind": "model", "provider": PROVIDER, "model": MODEL}
        data = {**self.place, "message": self.message("assistant", source, content), "stream": stream or []}
        if usage is not None:
            keys = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
            data["usage"] = dict(zip(keys, usage, strict=True))
        if interrupted:
            data["interrupted"] = True
        return self.surface("assistant/message", data)

    def attempt(self, *stream: Any, code: str = "", message: str = "", status: int | None = None) -> Self:
        records = list(stream)
        if code:
            failure: dict[str, Any] = {"code": code, "message": message or code}
            if status is not None:
                failure["status"] = status
            records.append(chunk(self.now, "finish", reason={"kind": "error", "failure": failure}))
        return self.event("assistant/attempt", {**self.place, "stream": records})

    def fell_back(self, **facts: Any) -> Self:
        """The record that the route refused tool changes; what is not the usual is given."""
        route = {"provider": PROVIDER, "model": MODEL, "endpoint": ""}
        record = {**route, "from": "in-history", "to": "none", "reason": "refused", "learnedAt": 1}
        return self.event(TOOL_UPDATE_DOWNGRADE, {**record, **facts}, ignorable=True)

    def retry(
        self, number: int, retry_id: str = "chain", *, delay: float = 50.5, started: bool = True
    ) -> Self:
        failure = {"message": "slow down", "code": "RATE_LIMIT", "status": 429}
        fixed = {
            "provider": PROVIDER,
            "mode": "normal",
            "policyKey": "p",
            "maxRetries": 3,
            "failure": failure,
        }
        data = {"retryId": retry_id, **self.place, "retry": number, "delayMs": delay, **fixed}
        self.event("llm/retry", data)
        if started:
            self.wait(50).event("llm/retry-started", {"retryId": retry_id, **self.place, "retry": number})
        return self

    # -- tools

    def call(self, call_id: str, name: str, arguments: str = "{}") -> Self:
        """The record that an asked call begins to run."""
        return self.event(
            "tool/call", {**self.place, "callId": call_id, "name": name, "arguments": arguments}
        )

    def result(self, call_id: str, value: str = "done", *, error: str = "", **envelope: Any) -> Self:
        source = {"kind": "tool", "callId": call_id}
        message = self.message("tool", source, [text(value)], toolCallId=call_id, isError=bool(error))
        data: dict[str, Any] = {**self.place, "message": message}
        if error:
            data["error"] = {"name": "ToolError", "code": error}
        return self.surface("tool/result", data, **envelope)

    def ran(self, call_id: str, name: str, value: str = "done", *, error: str = "") -> Self:
        """A call and its result."""
        self.call(call_id, name)
        return self.result(call_id, value, error=error, sourceEventSeqs=[self.last])

    def nested(self, root: str, number: int, name: str, *, done: bool = True) -> Self:
        sub = {"rootCallId": root, "parentCallId": root, "subCallId": f"{root}:ptc:{number}"}
        self.event("tool/ptc-dispatch-start", {**sub, "name": name, "arguments": {"n": number}})
        if done:
            ended = {
                **sub,
                "name": name,
                "arguments": {"n": number},
                "isError": False,
                "content": [text("in")],
            }
            self.event("tool/ptc-dispatch", ended)
        return self

    def tools(
        self, *wanted: str | dict[str, Any], tell: bool = True, model: str = MODEL, **data: Any
    ) -> Self:
        """A request header with these tools, and the developer message that tells what changed by name."""
        now = [tool(entry) if isinstance(entry, str) else entry for entry in wanted]
        before, self._tools = self._tools, now
        reason = "initial" if before is None else "change"
        header = {"config": {"provider": PROVIDER, "model": model}, "tools": now}
        self.event("request/header", {"header": header, "reason": reason, **data})
        if before is None or not tell:
            return self
        names, old = [t["name"] for t in now], [t["name"] for t in before]
        added = [name for name in names if name not in old]
        removed = [name for name in old if name not in names]
        return self.tell(added, removed, self.last) if added or removed else self

    def tell(self, added: list[str], removed: list[str], header_seq: int) -> Self:
        blocks = [{"type": "tool-addition", "toolName": name} for name in added]
        blocks += [{"type": "tool-removal", "toolName": name} for name in removed]
        data = {**self.place, "message": self.message("developer", {"kind": "tool-registry"}, blocks)}
        return self.surface("developer/message", {**data, **({"headerSeq": header_seq} if added else {})})

    # -- the rest

    def compact(
        self, start: int, end: int, shadowed: list[int], *, tokens: int = 300, summary: str = "Moss."
    ) -> Self:
        """A whole compaction of the surface from `start` to `end`."""
        turn = self.turns if self.in_turn else None
        same = {"compactionId": f"c-{self.seq}"}
        first = self.seq
        self.event("compaction/start", {**same, "turn": turn})
        reach = {"shadowedRange": {"start": start, "end": end}, "shadowedSeqs": shadowed}
        route = {"provider": PROVIDER, "model": MODEL, "shadowedTokenCount": tokens}
        self.event("compaction/summary", {**same, "summary": [text(summary)], **reach, **route})
        source = {"kind": "compact-checkpoint", **same}
        message = self.message("user", source, [text("(condensed)"), text(summary)])
        self.event("user/message", message, **self.replace(start, end, [first, first + 1, *shadowed]))
        return self.event("compaction/end", {**same, "turn": turn})

    def delivered(self) -> Self:
        data = {"sessionId": self.header["id"], "sessionFormatVersion": 4, "throughSeq": self.last}
        return self.event("session-log-deepseek/delivery-accepted", data)

    def picked_up(self, *, inherited: bool = False) -> Self:
        if inherited:
            self.header["isSeeded"] = True
        return self.event("session/end-seed", {"inherited": True} if inherited else {})

    # -- files

    def bytes(self) -> bytes:
        head = json.dumps(self.header, separators=(",", ":")).encode()
        return b"".join(line + b"\n" for line in (head, *self.lines))

    def write(self, folder: Path) -> Path:
        """Write the log into a session folder of its own."""
        home = folder / str(self.header["id"])
        home.mkdir(parents=True, exist_ok=True)
        path = home / "session.v4.jsonl"
        path.write_bytes(self.bytes())
        return path

    def read(self, folder: Path) -> Reading:
        return Reading.open(self.write(folder)).read_all()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.lines)


def log(**header: Any) -> LogBuilder:
    """A new log; members of the header may be given."""
    return LogBuilder(**header)
