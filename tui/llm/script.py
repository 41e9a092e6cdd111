"""Scripts of the built-in provider: what it answers, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from tui.llm.failure import LlmFailure
from tui.llm.request import GenerateRequest
from tui.session.tool_definition import ToolDefinition


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning."""

    text: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; without an id it gets one of its own."""

    name: str
    arguments: Mapping[str, Any] | str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing for a while; in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fail:
    """The end of the answer in a failure, after what came before it."""

    message: str
    code: str = "SERVER"
    status: int | None = None
    retry_after_ms: int | None = None
    request_id: str | None = None

    def failure(self) -> LlmFailure:
        """Return the failure."""
        return LlmFailure(
            self.message,
            self.code,
            status=self.status,
            retry_after_ms=self.retry_after_ms,
            request_id=self.request_id,
        )


@dataclass(frozen=True, slots=True)
class CutOff:
    """The end of the answer at the output cap."""


Part: TypeAlias = Say | Think | Call | Pause | Fail | CutOff


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """One answer."""

    parts: tuple[Part, ...]
    usage: Mapping[str, int] | None = None
    """Token counts to report; None: they are reckoned from the request."""
    piece: int = 6
    """Characters a delta."""
    pace_s: float = 0.015
    """Seconds between two deltas."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as the scripted provider is sent it."""

    request: GenerateRequest
    messages: Sequence[Mapping[str, Any]]
    """Projected messages."""
    tools: tuple[ToolDefinition, ...] | None
    """Projected declarations."""

    @property
    def changes(self) -> list[tuple[str, str]]:
        """Changes of tools among the messages: `+` or `-` and the tool's name."""
        signs = {"tool-addition": "+", "tool-removal": "-"}
        return [
            (signs[block["type"]], block["toolName"])
            for message in self.messages
            if message.get("role") == "developer"
            for block in message["content"]
            if block.get("type") in signs
        ]

    @property
    def last_text(self) -> str:
        """The text of the last message of the user; empty if the last thing is something else."""
        for message in reversed(self.messages):
            if message.get("role") == "developer":
                continue
            if message.get("role") != "user":
                return ""
            return "\n".join(block["text"] for block in message["content"] if block.get("type") == "text")
        return ""


class Script(Protocol):
    """Decides what is answered; the same requests in the same order get the same answers."""

    def answer(self, sent: Sent) -> ScriptedAnswer:
        """Return the answer to a request."""
        ...


class Answers:
    """Answers in their order; calls for a summary or a title have a list of their own.

    When a list is used up, `otherwise` answers.
    """

    def __init__(
        self,
        answers: Iterable[ScriptedAnswer],
        *,
        auxiliary: Iterable[ScriptedAnswer] = (),
        otherwise: Callable[[Sent], ScriptedAnswer] | None = None,
    ) -> None:
        self._answers = iter(tuple(answers))
        self._auxiliary = iter(tuple(auxiliary))
        self._otherwise = otherwise or _nothing_more

    def answer(self, sent: Sent) -> ScriptedAnswer:
        queue = self._answers if sent.request.purpose == "loop" else self._auxiliary
        found = next(queue, None)
        return self._otherwise(sent) if found is None else found


def _nothing_more(sent: Sent) -> ScriptedAnswer:
    del sent
    return answer("There is nothing more in this script.")


def answer(*parts: Part | str, pace_s: float = 0.015) -> ScriptedAnswer:
    """Return an answer of these parts; a string is text."""
    return ScriptedAnswer(
        tuple(Say(part) if isinstance(part, str) else part for part in parts), pace_s=pace_s
    )
