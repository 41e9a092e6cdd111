"""Rules 14 to 17 and 22: records beside the conversation that refer to each other (session-format §3)."""

from __future__ import annotations

from typing import Any, Final

from tui.session.events import Event
from tui.session.inbox_state import InboxState
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_object
from tui.session.rule_error import SHAPE, refuse
from tui.session.rule_shapes import check_message, need_count, need_positive, need_text, seq_list
from tui.session.rules_turns import TurnRules


class RetryRules:
    """Rule 14: chains of retries."""

    def __init__(self, turns: TurnRules) -> None:
        self._turns = turns
        self._provider: str | None = None
        # (turn, step, provider, policy) -> (retryId, last number); the last turn's alone can go on.
        self._chains: dict[tuple[int, int, str, str], tuple[str, int]] = {}
        self._used: set[str] = set()
        self._scheduled: dict[tuple[str, int], tuple[int, int]] = {}
        self.checks: Final = {"llm/retry": self._check_retry, "llm/retry-started": self._check_started}
        self.advances: Final = {
            "llm/retry": self._retry,
            "llm/retry-started": self._started,
            "request/header": self._header,
            "turn/start": self._turn_start,
        }

    def _check_retry(self, event: Event) -> None:
        data = as_object(event.data)
        need_text(event, data, "retryId", "provider", "policyKey")
        turn, step = need_positive(event, data, "turn"), need_positive(event, data, "step")
        number = need_positive(event, data, "retry")
        if data.get("mode") not in ("normal", "always"):
            refuse(event, SHAPE, "the mode is unknown")
        if (data["mode"] == "normal") != ("maxRetries" in data):
            refuse(event, SHAPE, "maxRetries belongs to the normal mode")
        if "maxRetries" in data:
            need_positive(event, data, "maxRetries")
        delay = data.get("delayMs")
        if isinstance(delay, bool) or not isinstance(delay, (int, float)) or delay < 0:
            refuse(event, SHAPE, '"delayMs" is not a number of milliseconds')
        need_text(event, as_object(data.get("failure")), "message", "code")
        if turn != self._turns.turn or step != self._turns.last_step:
            refuse(event, 14, f"step {turn}.{step} is neither open nor the one just closed")
        if data["provider"] != self._provider:
            refuse(event, 14, "the provider is not that of the last request header")
        retry_id, last = self._chains.get(self._key(data), ("", 0))
        if number != last + 1:
            refuse(event, 14, f"the next retry of this chain is {last + 1}, not {number}")
        if last and data["retryId"] != retry_id:
            refuse(event, 14, "a chain of retries has one retryId")
        if not last and data["retryId"] in self._used:
            refuse(event, 14, "this retryId belongs to another chain")

    def _check_started(self, event: Event) -> None:
        data = as_object(event.data)
        need_text(event, data, "retryId")
        turn, step = need_positive(event, data, "turn"), need_positive(event, data, "step")
        number = need_positive(event, data, "retry")
        if self._scheduled.get((data["retryId"], number)) != (turn, step):
            refuse(event, 14, "no such retry is scheduled")

    def _key(self, data: dict[str, Any]) -> tuple[int, int, str, str]:
        return int(data["turn"]), int(data["step"]), data["provider"], data["policyKey"]

    def _retry(self, event: Event) -> None:
        data = event.data
        self._chains[self._key(data)] = (data["retryId"], int(data["retry"]))
        self._used.add(data["retryId"])
        self._scheduled[data["retryId"], int(data["retry"])] = int(data["turn"]), int(data["step"])

    def _started(self, event: Event) -> None:
        del self._scheduled[event.data["retryId"], int(event.data["retry"])]

    def _header(self, event: Event) -> None:
        self._provider = as_object(as_object(as_object(event.data).get("header")).get("config")).get(
            "provider"
        )

    def _turn_start(self, event: Event) -> None:
        self._chains.clear()


class TitleRules:
    """Rule 15: what a title was made of."""

    def __init__(self) -> None:
        self._prompts: set[int] = set()
        self.checks: Final = {
            "session/title": self._check_title,
            "session/title-llm-request": self._check_request,
        }
        self.advances: Final = {"user/message": self._user}

    def _check_title(self, event: Event) -> None:
        data = as_object(event.data)
        need_text(event, data, "title")
        source = as_object(data.get("source"))
        need_text(event, source, "kind")
        seqs = self._cited(event, data)
        if (source["kind"] == "user") == bool(seqs):
            refuse(event, 15, "messageSeqs is empty exactly for a title that the user gave")

    def _check_request(self, event: Event) -> None:
        data = as_object(event.data)
        need_text(event, data, "titleProvider")
        need_positive(event, data, "maxTokens")
        if not self._cited(event, data):
            refuse(event, 15, "messageSeqs is empty")
        messages = as_array(data.get("messages"))
        if len(messages) != 1:
            refuse(event, 15, "a title is asked for with one message")
        message = as_object(messages[0])
        check_message(event, message, "user")
        content = message["content"]
        if message["source"]["kind"] != "dsh-session-title-llm":
            refuse(event, 15, "the message that asks for a title has another source")
        if len(content) != 1 or as_object(content[0]).get("type") != "text":
            refuse(event, 15, "the message that asks for a title holds one text")

    def _cited(self, event: Event, data: dict[str, Any]) -> list[int]:
        seqs = seq_list(data.get("messageSeqs"))
        if seqs is None:
            refuse(event, 15, "messageSeqs is no list of distinct events")
        for seq in seqs:
            if seq not in self._prompts:
                refuse(event, 15, f"event {seq} is no earlier prompt of the user")
        return seqs

    def _user(self, event: Event) -> None:
        if as_object(as_object(event.data).get("source")).get("kind") == "user":
            self._prompts.add(event.seq)


class CommandRules:
    """Rule 16: slash commands and how they ended."""

    def __init__(self) -> None:
        self._runs: set[str] = set()
        self._seqs: set[int] = set()
        self.checks: Final = {"command/run": self._check_run, "command/done": self._check_done}
        self.advances: Final = {"command/run": self._run, "command/done": self._done}

    def _check_run(self, event: Event) -> None:
        data = as_object(event.data)
        need_text(event, data, "commandId", "name")
        if data["commandId"] in self._runs:
            refuse(event, 16, "a command of this id ran before")

    def _check_done(self, event: Event) -> None:
        data = as_object(event.data)
        need_text(event, data, "commandId")
        if data.get("kind") not in ("success", "error"):
            refuse(event, SHAPE, "the kind is neither success nor error")
        if data["commandId"] not in self._runs:
            refuse(event, 16, "no command of this id ran")
        if "sourceEventSeq" not in data:
            return
        if data["kind"] != "success":
            refuse(event, 16, "a failed command names no event")
        seq = need_count(event, data, "sourceEventSeq")
        if seq >= event.seq or seq in self._seqs:
            refuse(event, 16, "sourceEventSeq names a command or no earlier event")

    def _run(self, event: Event) -> None:
        self._runs.add(event.data["commandId"])
        self._seqs.add(event.seq)

    def _done(self, event: Event) -> None:
        self._seqs.add(event.seq)


class SubCallRules:
    """Rule 17: tool calls made by a program run."""

    def __init__(self) -> None:
        self._started: dict[tuple[str, str], tuple[str, str, str]] = {}
        self._known: set[tuple[str, str]] = set()
        self.checks: Final = {
            "tool/ptc-dispatch-start": self._check_start,
            "tool/ptc-dispatch": self._check_dispatch,
        }
        self.advances: Final = {
            "tool/ptc-dispatch-start": self._start,
            "tool/ptc-dispatch": self._dispatch,
        }

    def _check_start(self, event: Event) -> None:
        root, sub, parent = self._ids(event)
        if (root, sub) in self._known:
            refuse(event, 17, f"the sub call {sub} has started already")
        if parent != root and (root, parent) not in self._known:
            refuse(event, 17, f"the parent {parent} is no known sub call")

    def _check_dispatch(self, event: Event) -> None:
        root, sub, _ = self._ids(event)
        data = as_object(event.data)
        if not isinstance(data.get("isError"), bool) or not isinstance(data.get("content"), list):
            refuse(event, SHAPE, "the result has no isError or no content")
        if self._started.get((root, sub)) != _sub_call(data):
            refuse(event, 17, f"no start of the sub call {sub} with this parent, name and arguments")

    def _ids(self, event: Event) -> tuple[str, str, str]:
        data = as_object(event.data)
        need_text(event, data, "rootCallId", "parentCallId", "subCallId", "name")
        if "arguments" not in data:
            refuse(event, SHAPE, '"arguments" is missing')
        return data["rootCallId"], data["subCallId"], data["parentCallId"]

    def _start(self, event: Event) -> None:
        key = event.data["rootCallId"], event.data["subCallId"]
        self._known.add(key)
        self._started[key] = _sub_call(event.data)

    def _dispatch(self, event: Event) -> None:
        del self._started[event.data["rootCallId"], event.data["subCallId"]]


def _sub_call(data: dict[str, Any]) -> tuple[str, str, str]:
    return data["parentCallId"], data["name"], compact(data["arguments"])


class InboxRules:
    """Rule 22: the pending lists."""

    def __init__(self) -> None:
        self.inbox: Final = InboxState()
        self.checks: Final = {"agent/inbox/spliced": self.inbox.check}
        self.advances: Final = {"agent/inbox/spliced": self.inbox.advance}
