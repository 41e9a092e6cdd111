"""Rules 1 to 5 and 7: turns, steps and the calls that wait for their results (session-format §3)."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

import msgspec

from tui.session.events import Event
from tui.session.json_value import as_array, as_object
from tui.session.rule_error import refuse
from tui.session.rule_shapes import need_positive
from tui.session.surface import message_of

_NOT_STARTED_BYTES: Final = 104
_NOT_STARTED_SHA256: Final = "613f8e88c4324029a758e388a77c9082e93d36d39ad23d5f76c5529fe7b0b42f"
_DIGITS: Final = re.compile("[0-9]+")


class OpenCall(msgspec.Struct, frozen=True):
    """A call that an assistant message asked for and no result has settled yet."""

    call_id: str
    name: str
    arguments: str
    started_by: int | None = None
    """Seq of its `tool/call`; None while it has not started."""


class TurnRules:
    """The open turn and step, and the calls of the step that are not settled."""

    def __init__(self) -> None:
        self.last_turn = 0
        """Number of the newest turn, 0 before the first."""
        self.turn: int | None = None
        """Number of the open turn."""
        self.last_step = 0
        """Number of the newest step of the newest turn, 0 before its first."""
        self.step: int | None = None
        """Number of the open step."""
        self.calls: dict[str, OpenCall] = {}
        """Unsettled calls by id, in the model's order."""
        self.checks: Final = {
            "turn/start": self._check_turn_start,
            "turn/end": self._check_turn_end,
            "step/start": self._check_step_start,
            "step/end": self._check_step_end,
            "system/message": self._check_position,
            "developer/message": self._check_position,
            "assistant/message": self._check_assistant,
            "assistant/attempt": self._check_position,
            "tool/call": self._check_call,
            "tool/result": self._check_result,
            "request/header": self._check_turn_open,
            "request/context": self._check_turn_open,
            "tool/ptc-dispatch": self._check_turn_open,
            "tool/ptc-dispatch-start": self._check_turn_open,
        }
        self.advances: Final = {
            "turn/start": self._turn_start,
            "turn/end": self._turn_end,
            "step/start": self._step_start,
            "step/end": self._step_end,
            "assistant/message": self._assistant,
            "tool/call": self._call,
            "tool/result": self._result,
        }

    def _check_turn_start(self, event: Event) -> None:
        turn = need_positive(event, as_object(event.data), "turn")
        if self.turn is not None:
            refuse(event, 1, f"turn {self.turn} is open")
        if turn != self.last_turn + 1:
            refuse(event, 1, f"the next turn is {self.last_turn + 1}, not {turn}")

    def _check_turn_end(self, event: Event) -> None:
        turn = need_positive(event, as_object(event.data), "turn")
        if turn != self.turn:
            refuse(event, 2, f"turn {turn} is not open")
        if self.step is not None:
            refuse(event, 2, f"step {self.step} is open")
        if self.calls:
            refuse(event, 2, f"the call {next(iter(self.calls))} has no result")

    def _check_step_start(self, event: Event) -> None:
        data = as_object(event.data)
        turn, step = need_positive(event, data, "turn"), need_positive(event, data, "step")
        if turn != self.turn:
            refuse(event, 3, f"turn {turn} is not open")
        if self.step is not None:
            refuse(event, 3, f"step {self.step} is open")
        if step != self.last_step + 1:
            refuse(event, 3, f"the next step is {self.last_step + 1}, not {step}")

    def _check_step_end(self, event: Event) -> None:
        data = as_object(event.data)
        turn, step = need_positive(event, data, "turn"), need_positive(event, data, "step")
        if step != self.step or turn != self.turn:
            refuse(event, 3, f"step {turn}.{step} is not open")
        if self.calls:
            refuse(event, 3, f"the call {next(iter(self.calls))} has no result")

    def _check_position(self, event: Event) -> None:
        data = as_object(event.data)
        turn, step = need_positive(event, data, "turn"), need_positive(event, data, "step")
        if step != self.step or turn != self.turn:
            refuse(event, 4, f"step {turn}.{step} is not open")

    def _check_turn_open(self, event: Event) -> None:
        if self.turn is None:
            refuse(event, 5, "no turn is open")

    def _check_assistant(self, event: Event) -> None:
        self._check_position(event)
        asked: set[str] = set()
        for block in _calls_of(event):
            call_id = block["id"]
            if call_id in self.calls or call_id in asked:
                refuse(event, 7, f"the call {call_id} is open already")
            asked.add(call_id)

    def _check_call(self, event: Event) -> None:
        self._check_position(event)
        data = as_object(event.data)
        call = self.calls.get(data["callId"])
        if call is None:
            refuse(event, 7, f"no assistant message waits for the call {data['callId']}")
        if call.started_by is not None:
            refuse(event, 7, f"the call {call.call_id} has started already")
        if call.name != data["name"] or call.arguments != data["arguments"]:
            refuse(event, 7, f"the call {call.call_id} was asked for with another name or other arguments")

    def _check_result(self, event: Event) -> None:
        data = as_object(event.data)
        if event.surface_op != "append":
            need_positive(event, data, "turn")
            need_positive(event, data, "step")
            self._check_turn_open(event)
            return
        self._check_position(event)
        call_id = as_object(data["message"])["toolCallId"]
        call = self.calls.get(call_id)
        if call is None:
            refuse(event, 7, f"no call {call_id} waits for a result")
        if call.started_by is None and not is_not_started_repair(event, call_id):
            refuse(event, 7, f"the call {call_id} has not started")

    def _turn_start(self, event: Event) -> None:
        self.turn = self.last_turn = int(event.data["turn"])
        self.step, self.last_step = None, 0
        self.calls.clear()

    def _turn_end(self, event: Event) -> None:
        self.turn = None

    def _step_start(self, event: Event) -> None:
        self.step = self.last_step = int(event.data["step"])

    def _step_end(self, event: Event) -> None:
        self.step = None

    def _assistant(self, event: Event) -> None:
        for block in _calls_of(event):
            self.calls[block["id"]] = OpenCall(block["id"], block["name"], block["arguments"])

    def _call(self, event: Event) -> None:
        call = self.calls[event.data["callId"]]
        self.calls[call.call_id] = msgspec.structs.replace(call, started_by=event.seq)

    def _result(self, event: Event) -> None:
        if event.surface_op == "append":
            del self.calls[event.data["message"]["toolCallId"]]


def _calls_of(event: Event) -> list[dict[str, Any]]:
    blocks = as_array(as_object(as_object(event.data).get("message")).get("content"))
    return [block for block in blocks if as_object(block).get("type") == "tool-call"]


def is_not_started_repair(event: Event, call_id: str) -> bool:
    """Whether a result without a `tool/call` is one that dsh's own recovery writes (session-format §7.2)."""
    message = message_of(event)
    content = as_array(message.get("content"))
    if len(content) != 1 or as_object(content[0]).get("type") != "text":
        return False
    identity = str(message.get("id"))
    if identity == f"forked-tool-result-{call_id}-{event.seq}":
        return True
    prefix = f"interrupted-tool-result-{call_id}-"
    if not identity.startswith(prefix) or not _DIGITS.fullmatch(identity[len(prefix) :]):
        return False
    text = str(as_object(content[0]).get("text")).encode("utf-8", "replace")
    return len(text) == _NOT_STARTED_BYTES and hashlib.sha256(text).hexdigest() == _NOT_STARTED_SHA256
