"""What it costs to project the tools of a long request, against writing that request as JSON."""

from __future__ import annotations

import json
from typing import Any

from tests.benchmarks.measure import Figure, best_side_by_side
from tests.support.tool_sessions import refuse
from tui.llm.projection import Projection, project_request
from tui.llm.route import ToolUpdateMode
from tui.session.tool_definition import DefinitionPool, ToolDefinition
from tui.session.tool_history import ToolHistory, ToolHistoryFold

_MESSAGES, _TOOLS, _UPDATES = 500, 100, 40
_TIMES = 20
_ROUNDS = 15
_MODES: tuple[ToolUpdateMode, ...] = ("in-history", "addition-only", None)


def definition(number: int) -> dict[str, Any]:
    """A tool as servers declare them: three parameters with a sentence each."""
    return {
        "name": f"mcp__shore__read_gauge_{number}",
        "description": f"Read gauge {number} of the shore: the level, the wind and when they were measured.",
        "parameters": {
            "type": "object",
            "properties": {
                "station": {"type": "string", "description": "The station's name, as the list has it."},
                "hours": {"type": "integer", "minimum": 1, "description": "How far to look back."},
                "unit": {"type": "string", "enum": ["m", "ft"], "description": "What levels are given in."},
            },
            "required": ["station"],
        },
    }


class Talk:
    """500 messages in which 40 updates bring 39 tools one by one and take one away."""

    def __init__(self) -> None:
        pool = DefinitionPool()
        every = pool.tools({"tools": [definition(number) for number in range(_TOOLS + 1)]}, refuse)
        self.tools: tuple[ToolDefinition, ...] = every[: _TOOLS + 2 - _UPDATES]
        self.messages: list[dict[str, Any]] = []
        self._fold = ToolHistoryFold(strict=True, pool=pool)
        self._seq = 0
        self._header("initial")
        self._say("system", "You keep the shore. " * 40)
        while len(self.messages) < _MESSAGES:
            number = len(self.messages)
            self._say("user", f"How high was the water at mark {number}, and since when does it fall?")
            if len(self._fold.snapshot().updates) < min(_UPDATES, number // 12 + 1):
                self._update(every)
            self._say("assistant", "I read the gauge first. " * 6, call=f"call_{number}")
            self._say(
                "tool", "station north, level 1.37 m, wind 4 from the west; " * 8, call=f"call_{number}"
            )
            self._say("assistant", "The water stands at 1.37 m and has been falling since noon. " * 5)
        del self.messages[_MESSAGES:]

    def history(self) -> ToolHistory:
        """A history that nobody has looked at yet."""
        known = self._fold.snapshot()
        return ToolHistory(known.tools, known.updates, known.baseline, known.trusted)

    def _say(self, role: str, text: str, call: str = "") -> None:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        message = {"role": role, "id": f"m{len(self.messages)}", "source": {"kind": role}, "content": content}
        if call and role == "assistant":
            arguments = '{"station": "north", "hours": 6}'
            content.append(
                {"type": "tool-call", "id": call, "name": self.tools[0].name, "arguments": arguments}
            )
        elif call:
            message |= {"toolCallId": call, "isError": False}
        self.messages.append(message)

    def _update(self, every: tuple[ToolDefinition, ...]) -> None:
        fresh = every[len(self.tools)] if len(self.tools) < len(every) else None
        blocks: list[dict[str, Any]]
        if fresh is not None:
            self.tools = (*self.tools, fresh)
            blocks = [{"type": "tool-addition", "toolName": fresh.name}]
        else:
            blocks = [{"type": "tool-removal", "toolName": self.tools[7].name}]
            self.tools = (*self.tools[:7], *self.tools[8:])
        header_seq = self._header("change")
        message = {
            "role": "developer",
            "id": f"m{len(self.messages)}",
            "source": {"kind": "tool-registry"},
            "content": blocks,
        }
        self._seq += 1
        self._fold.apply_developer(self._seq, {"message": message, "headerSeq": header_seq})
        self.messages.append(message)

    def _header(self, reason: str) -> int:
        self._seq += 1
        header = {"tools": [tool.to_json() for tool in self.tools]}
        self._fold.apply_header(self._seq, {"header": header, "reason": reason})
        return self._seq


def cost(talk: Talk, mode: ToolUpdateMode) -> list[float]:
    """CPU seconds of writing the request, projecting it under a new history and under a known one."""
    body = {"messages": talk.messages, "tools": [tool.to_json() for tool in talk.tools]}
    fresh = [talk.history() for _ in range(_TIMES * _ROUNDS)]
    kept = talk.history()

    def write() -> None:
        for _ in range(_TIMES):
            json.dumps(body)

    def first() -> None:
        for _ in range(_TIMES):
            project_request(talk.messages, talk.tools, mode, fresh.pop())

    def again() -> None:
        for _ in range(_TIMES):
            project_request(talk.messages, talk.tools, mode, kept)

    return [seconds / _TIMES for seconds in best_side_by_side((write, first, again), _ROUNDS)]


def run() -> list[Figure]:
    talk = Talk()
    figures: list[Figure] = []
    for mode in _MODES:
        _check(talk, project_request(talk.messages, talk.tools, mode, talk.history()), mode)
        write, first, again = cost(talk, mode)
        name = mode or "no mode"
        note = f"json.dumps takes {write * 1e6:.0f} µs"
        figures += [
            Figure(f"projection / json.dumps, {name}, first", first / write * 100, "%", limit=5.0, note=note),
            Figure(f"projection / json.dumps, {name}, again", again / write * 100, "%", limit=5.0),
        ]
    return figures


def _check(talk: Talk, projected: Projection, mode: ToolUpdateMode) -> None:
    """What is measured is what was meant."""
    updates = sum(message["role"] == "developer" for message in talk.messages)
    sent = sum(message["role"] == "developer" for message in projected.messages)
    if (len(talk.messages), len(talk.tools), updates) != (_MESSAGES, _TOOLS, _UPDATES):
        raise AssertionError((len(talk.messages), len(talk.tools), updates))
    if sent != {"in-history": _UPDATES, "addition-only": _UPDATES - 1, None: 0}[mode]:
        raise AssertionError((mode, sent))
