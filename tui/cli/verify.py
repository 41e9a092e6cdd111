"""`dsh-tui doctor --verify`: short prompts in a session that is thrown away, one call that only reads."""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tui.blocks.clean import clean_line
from tui.cli.run import Refused, Run
from tui.loop.verification import FailedAt, Plan, Verification, Verified, Verifier
from tui.nodes.doctor_home import shown_address
from tui.os_reasons import os_sentence
from tui.session.events import Event
from tui.session.json_value import as_object, as_text
from tui.tools.approval import AllowOnce, Answer, ApprovalRequest, Reject

if TYPE_CHECKING:
    from tui.app.conversation import Conversation
    from tui.i18n import Translator

LONGEST_S: Final = 180.0
_CALLS: Final = ("tool/call", "tool/result")


class OnlyThis:
    """Allows one call of one tool, none before it is named."""

    def __init__(self) -> None:
        self.tool = ""
        self._is_used = False

    async def answer(self, request: ApprovalRequest) -> Answer:
        """Allow the one call, reject every other."""
        if self.tool and request.tool_name == self.tool and not self._is_used:
            self._is_used = True
            return AllowOnce()
        return Reject("only one read-only call is allowed here")


class FreshSession:
    """A session in a folder of its own; nothing was sent yet."""

    def __init__(
        self, conversation: Conversation, plan: Plan, answerer: OnlyThis, stack: AsyncExitStack
    ) -> None:
        self.plan = plan
        self._conversation = conversation
        self._answerer = answerer
        self._stack = stack

    async def run(self) -> Verified:
        """Send the short message; if it is answered, ask for the one call."""
        if failure := _failure(await self._prompted("Reply with OK.")):
            return self._told("message", failure)
        if not self.plan.tool:
            return self._told()
        self._answerer.tool = self.plan.tool
        asked = f"Call the tool {self.plan.tool} once, as it only reads, then reply with OK."
        events = await self._prompted(asked)
        failure, called = _failure(events), _called(events, self.plan.tool)
        return self._told("call" if failure else "", failure, called=called)

    async def close(self) -> None:
        """Stop what runs and throw the session away."""
        await self._stack.aclose()

    def _told(self, failed_at: FailedAt = "", failure: str = "", *, called: bool = False) -> Verified:
        return Verified(plan=self.plan, called=called, failed_at=failed_at, failure=failure)

    async def _prompted(self, prompt: str) -> list[Event]:
        """Send a prompt and wait for the end of its turn; returns what was logged meanwhile."""
        agent, events = self._conversation.agent, list[Event]()
        unsubscribe = self._conversation.writer.subscribe(events.append)
        try:
            agent.followup(prompt)
            async with asyncio.timeout(LONGEST_S):
                await agent.when_idle()
        except TimeoutError:
            agent.cancel()
            await agent.when_idle()
        finally:
            unsubscribe()
        return events


async def fresh_session(run: Run, provider: str, model: str) -> FreshSession:
    """Make a fresh session ready on a route, or on the default where that is not configured.

    Raises Refused where no provider is configured, ConfigError, SessionError.
    """
    from tui.cli.talking import open_conversation
    from tui.llm.providers import configured_providers

    known = configured_providers(run.config, run.config_path, os.environ)
    is_own = provider in known.ids and bool(model)
    answerer = OnlyThis()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dsh-tui-verify-"))
        homes = run.settings.homes._replace(own=Path(folder))
        apart = replace(run, settings=replace(run.settings, homes=homes))
        conversation = await open_conversation(
            apart,
            provider=provider if is_own else None,
            model=model if is_own else None,
            answerer=answerer,
        )
        stack.push_async_callback(conversation.close)
        agent = conversation.agent
        found = (entry.tool.name for entry in agent.tools.registrations(agent) if entry.tool.read_only)
        chosen = agent.selection
        adapter = conversation.providers.get(chosen.provider)
        plan = Plan(
            provider=chosen.provider,
            model=chosen.model,
            endpoint=shown_address(str(getattr(adapter, "endpoint", ""))),
            tool=next(found, ""),
            is_own_route=is_own,
        )
        return FreshSession(conversation, plan, answerer, stack.pop_all())
    raise AssertionError("a session is made ready, or an error says why not")


def verify(run: Run, provider: str, model: str) -> Verified:
    """Try a fresh session; raises as `fresh_session`."""

    async def tried() -> Verified:
        session = await fresh_session(run, provider, model)
        try:
            return await session.run()
        finally:
            await session.close()

    return asyncio.run(tried())


def verifier(run: Run) -> Verifier:
    """Return what a screen verifies with; what is missing for it is told as a sentence."""

    async def ready(tr: Translator, provider: str, model: str) -> Verification | str:
        from tui.blocks.wording_errors import error_text
        from tui.config import ConfigError
        from tui.session.errors import SessionError

        try:
            return await fresh_session(replace(run, tr=tr), provider, model)
        except Refused as refused:
            return clean_line(str(refused))
        except ConfigError as error:
            return clean_line(error.sentence(tr))
        except SessionError as error:
            return clean_line(error_text(tr, error))
        except OSError as error:
            return clean_line(os_sentence(tr, error))

    return ready


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
    status = error.get("status")
    code = as_text(error.get("code")) or kind
    head = f"HTTP {status}, {code}" if isinstance(status, int) else code
    told = ": ".join(filter(None, (head, as_text(error.get("message")))))
    request = as_text(error.get("requestId"))
    return f"{told} ({request})" if request else told
