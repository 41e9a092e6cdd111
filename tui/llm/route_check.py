"""Asking a route what it takes: tool additions, removals and prompts in the history (loop-and-adapters §4.8).

A model's name proves nothing, so the route itself is asked, with a few tiny made-up requests. The first holds
nothing special; only what is refused after that one was answered is taken as refused. That a request was
answered does not prove that the model heeds what was in it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
from tui.llm.failure import LlmFailure, failure_of, is_refusal
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import SystemPromptUpdate, ToolUpdateMode
from tui.session.cancel import CancelSignal
from tui.session.json_text import compact
from tui.session.tool_definition import ToolDefinition
from tui.session.tool_history import ToolHistory, ToolUpdate

Feature: TypeAlias = Literal["plain", "additions", "removals", "prompts"]

MOST_REQUESTS: Final = 4
MAX_TOKENS: Final = 16
"""Of each answer."""
LONGEST_WAIT_S: Final = 60.0


class Answered(NamedTuple):
    """What came of one request."""

    feature: Feature
    failure: LlmFailure | None = None

    @property
    def is_accepted(self) -> bool:
        """It was answered."""
        return self.failure is None

    @property
    def is_decided(self) -> bool:
        """It was answered, or refused for what it held; other failures tell nothing of the route."""
        failure = self.failure
        if failure is None:
            return True
        return self.feature != "plain" and is_refusal(failure.code, failure.status)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a route takes, as its configuration would say it."""

    additions: bool
    removals: bool
    prompts: bool

    @property
    def tool_update(self) -> ToolUpdateMode:
        """The value of `tool_update`; None: no such line."""
        if not self.additions:
            return None
        return "in-history" if self.removals else "addition-only"

    @property
    def system_prompt_update(self) -> SystemPromptUpdate:
        """The value of `system_prompt_update`; None: no such line."""
        return "in-history" if self.prompts else None


def finding_of(answers: list[Answered]) -> Finding | None:
    """Return what answers add up to; None if one of them decides nothing, or none came."""
    if not answers or not all(answer.is_decided for answer in answers):
        return None
    accepted = {answer.feature for answer in answers if answer.is_accepted}
    return Finding("additions" in accepted, "removals" in accepted, "prompts" in accepted)


async def ask_route(
    connection: DeepSeekConnection, model: str, signal: CancelSignal
) -> AsyncIterator[Answered]:
    """Send the requests one after the other and yield what came of each; ends after one that decides nothing.

    Removals are asked for only where additions are taken.
    """
    plain = await _asked(connection, model, "plain", signal)
    yield plain
    if not plain.is_accepted:
        return
    features: list[Feature] = ["additions", "removals", "prompts"]
    while features:
        answered = await _asked(connection, model, features.pop(0), signal)
        yield answered
        if not answered.is_decided:
            return
        if answered.feature == "additions" and not answered.is_accepted:
            features.remove("removals")


async def _asked(
    connection: DeepSeekConnection, model: str, feature: Feature, signal: CancelSignal
) -> Answered:
    mode: ToolUpdateMode = {"additions": "addition-only", "removals": "in-history"}.get(feature)  # pyright: ignore[reportAssignmentType]  # a literal of literals
    config = CallConfig(provider=connection.provider, model=model, reasoning_effort="off")
    adapter = DeepSeekAdapter(connection)
    try:
        entry = adapter.prepare(config).route.model
    finally:
        await adapter.aclose()
    asked = replace(
        entry,
        max_output=MAX_TOKENS,
        tool_update=mode,
        system_prompt_update="in-history" if feature == "prompts" else None,
    )
    waits = min(connection.idle_timeout_s, LONGEST_WAIT_S)
    adapter = DeepSeekAdapter(replace(connection, models={model: asked}, idle_timeout_s=waits))
    try:
        stream = adapter.prepare(config).stream(request(config, feature), signal)
        failure: LlmFailure | None = None
        async with aclosing(stream):
            async for chunk in stream:
                failure = failure_of(chunk) or failure
    finally:
        await adapter.aclose()
    return Answered(feature, failure)


def request(config: CallConfig, feature: Feature) -> GenerateRequest:
    """Return the request that asks for a feature: a made-up talk of three sentences and two made-up tools."""
    first, second = _tool("check_first"), _tool("check_second")
    talk = [
        _message("u1", "user", _text("Reply with OK.")),
        _message("a1", "assistant", _text("OK")),
        _message("u2", "user", _text("Reply with OK once more.")),
    ]
    if feature == "plain":
        return GenerateRequest(config=config, messages=talk, tools=(first, second))
    if feature == "prompts":
        earlier = _message("s1", "system", _text("Answer briefly."))
        later = _message("s2", "system", _text("Answer with one word."))
        return GenerateRequest(config=config, messages=[earlier, *talk, later], tools=(first, second))
    addition = _message("d1", "developer", {"type": "tool-addition", "toolName": second.name})
    updates = [ToolUpdate("d1", (second,))]
    if feature == "additions":
        history = ToolHistory((first,), tuple(updates), 0, trusted=True)
        return GenerateRequest(
            config=config, messages=[*talk, addition], tools=(first, second), tool_history=history
        )
    removal = _message("d2", "developer", {"type": "tool-removal", "toolName": second.name})
    history = ToolHistory((first,), (*updates, ToolUpdate("d2", ())), 0, trusted=True)
    messages = [talk[0], addition, *talk[1:], removal]
    return GenerateRequest(config=config, messages=messages, tools=(first,), tool_history=history)


def _tool(name: str) -> ToolDefinition:
    described = "A made-up tool; do not call it."
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    fields = {"name": name, "description": described, "parameters": parameters}
    return ToolDefinition(name, described, parameters, False, compact(fields))


def _message(message_id: str, role: str, block: dict[str, Any]) -> dict[str, Any]:
    return {"id": message_id, "role": role, "content": [block]}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
