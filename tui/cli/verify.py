"""`dsh-tui doctor --verify`: one short message in a session that is thrown away, one call that only reads.

A good sign when it works, never a proof: what is wrong may need the long history that a fresh session lacks.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tui.app.conversation import Conversation
from tui.blocks.clean import clean_line
from tui.cli.run import Run
from tui.cli.talking import open_conversation
from tui.i18n import Translator
from tui.llm.providers import configured_providers
from tui.nodes.reading import Reading
from tui.session.events import Event
from tui.session.json_value import as_object, as_text
from tui.tools.approval import AllowOnce, Answer, ApprovalRequest, Reject

LONGEST_S: Final = 180.0
_CALLS: Final = ("tool/call", "tool/result")


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of it."""

    provider: str
    model: str
    tool: str = ""
    """The tool that was to be called; empty where none declares itself read-only."""
    called: bool = False
    """It was called and gave a result that is no error."""
    failure: str = ""
    """Why the session failed too; empty: it was answered."""


class OnlyThis:
    """Allows one call of one tool."""

    def __init__(self) -> None:
        self.tool = ""
        self._is_used = False

    async def answer(self, request: ApprovalRequest) -> Answer:
        """Allow the one call, reject every other."""
        if self.tool and request.tool_name == self.tool and not self._is_used:
            self._is_used = True
            return AllowOnce()
        return Reject("only one read-only call is allowed here")


def verify(run: Run, reading: Reading) -> Verified:
    """Try a fresh session on the route of a session, or on the default where that is not configured.

    Raises Refused where no provider is configured, ConfigError.
    """
    return asyncio.run(_verify(run, reading))


async def _verify(run: Run, reading: Reading) -> Verified:
    with tempfile.TemporaryDirectory(prefix="dsh-tui-verify-") as folder:
        homes = run.settings.homes._replace(own=Path(folder))
        apart = replace(run, settings=replace(run.settings, homes=homes))
        provider, model = _route(run, reading)
        answerer = OnlyThis()
        conversation = await open_conversation(apart, provider=provider, model=model, answerer=answerer)
        try:
            return await _tried(conversation, answerer)
        finally:
            await conversation.close()


def _route(run: Run, reading: Reading) -> tuple[str | None, str | None]:
    known = configured_providers(run.config, run.config_path, os.environ)
    if reading.provider in known.ids and reading.model:
        return reading.provider, reading.model
    return None, None


async def _tried(conversation: Conversation, answerer: OnlyThis) -> Verified:
    agent, events = conversation.agent, list[Event]()
    conversation.writer.subscribe(events.append)
    answerer.tool = next(
        (found.tool.name for found in agent.tools.registrations(agent) if found.tool.read_only), ""
    )
    prompt = "Reply with OK."
    if answerer.tool:
        prompt = f"Call the tool {answerer.tool} once, as it only reads, then reply with OK."
    agent.followup(prompt)
    try:
        async with asyncio.timeout(LONGEST_S):
            await agent.when_idle()
    except TimeoutError:
        agent.cancel()
        await agent.when_idle()
    selection = agent.selection
    return Verified(
        provider=selection.provider,
        model=selection.model,
        tool=answerer.tool,
        called=_called(events, answerer.tool),
        failure=_failure(events),
    )


def _called(events: list[Event], tool: str) -> bool:
    data = {kind: [as_object(event.data) for event in events if event.type == kind] for kind in _CALLS}
    calls = {as_text(call.get("callId")) for call in data["tool/call"] if call.get("name") == tool}
    results = (as_object(result.get("message")) for result in data["tool/result"])
    return any(as_text(found.get("toolCallId")) in calls and not found.get("isError") for found in results)


def _failure(events: list[Event]) -> str:
    end = next((event for event in reversed(events) if event.type == "turn/end"), None)
    reason = as_object(as_object(end.data if end is not None else None).get("reason"))
    kind = as_text(reason.get("kind"))
    if kind == "completed":
        return ""
    error = as_object(reason.get("error"))
    return ": ".join(filter(None, (as_text(error.get("code")) or kind, as_text(error.get("message")))))


def sentences(tr: Translator, verified: Verified) -> list[str]:
    """What to tell of it."""
    route = {"model": clean_line(verified.model), "provider": clean_line(verified.provider)}
    if verified.failure:
        reason = clean_line(verified.failure)
        return [tr.t("A fresh session on {model} at {provider} fails too: {reason}", reason=reason, **route)]
    told = [tr.t("A fresh session on {model} at {provider} was answered: a good sign, not a proof.", **route)]
    tool = clean_line(verified.tool)
    if not tool:
        told.append(tr.t("No tool declares itself read-only, so none was called."))
    elif verified.called:
        told.append(tr.t("The tool {tool} was called and gave its result.", tool=tool))
    else:
        told.append(tr.t("The tool {tool} gave no result: it was not called, or it failed.", tool=tool))
    return told
