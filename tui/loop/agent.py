"""The agent: takes messages, runs turns one after the other, can be stopped (loop-and-adapters §1.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from tui.llm.learned import LearnedModes
from tui.llm.route import Route
from tui.loop.compaction import Compacted, CompactionFailed, compact_now, is_long
from tui.loop.errors import error_json
from tui.loop.frames import LiveFrame, Status, Unsubscribe
from tui.loop.header import Selection, last_header
from tui.loop.hooks import LoopHooks
from tui.loop.inbox import Queue
from tui.loop.messages import Message, new_id, user_message
from tui.loop.prompt import Prompt
from tui.loop.state import SANDBOX_MODES, Activity, AgentOptions, Loop, ProviderSource
from tui.loop.title import one_line
from tui.loop.turn import Turn
from tui.session.cancel import CancelSignal
from tui.session.hold_record import HOLD, Hold, held_at_the_end
from tui.session.tool_definition import ToolDefinition
from tui.session.write_errors import SessionWriteError
from tui.session.writer import SessionWriter
from tui.tools.registry import ToolRegistry
from tui.tools.scope import ToolScope

T = TypeVar("T")


class AgentBusy(Exception):
    """A job beside turns that was asked for while the agent works."""


class Agent:
    """The loop over one session. Everything is called from the thread of one event loop.

    Messages are durable as soon as the writer's next batch is; sending raises the SessionWriteError of a
    session that can no longer be written.
    """

    def __init__(
        self,
        writer: SessionWriter,
        providers: ProviderSource,
        tools: ToolRegistry,
        options: AgentOptions,
        *,
        prompt: Prompt | None = None,
        tool_scope: ToolScope | None = None,
    ) -> None:
        self.writer = writer
        self._loop = Loop(writer, providers, tools, options, prompt=prompt or Prompt(), tool_scope=tool_scope)
        self._activity: Activity | None = None
        self._task: asyncio.Task[Any] | None = None
        self._latched = False
        self._has_settings = False
        self._command_prefix = new_id()[:8]
        self._commands = 0
        self._status_listeners: list[Callable[[Status], None]] = []
        self._failure_listeners: list[Callable[[SessionWriteError], None]] = []
        writer.on_failure(self._broken)
        if held_at_the_end(writer.state.own_records):
            tools.hold(self, self._recorded_tools(), at_first_step=True)

    @property
    def status(self) -> Status:
        """`running` while a driver works; a maintenance job leaves it `idle`."""
        activity = self._activity
        return "idle" if activity is None or activity.is_maintenance else "running"

    @property
    def failure(self) -> SessionWriteError | None:
        """Why nothing more is written, if so."""
        return self.writer.failure

    @property
    def hooks(self) -> LoopHooks:
        """Where others take part in turns."""
        return self._loop.hooks

    @property
    def prompt(self) -> Prompt:
        """The sections of the system prompt and the runtime context."""
        return self._loop.prompt

    @property
    def selection(self) -> Selection:
        """The model that was chosen last."""
        return self._loop.selection

    @property
    def tools(self) -> ToolRegistry:
        """Where the tools of the next step come from."""
        return self._loop.tools

    @property
    def learned(self) -> LearnedModes:
        """The routes that are known to refuse tool changes."""
        return self._loop.options.learned

    def has_fallen_back(self, route: Route) -> bool:
        """Tell whether a route that declares a tool update mode is sent full definitions instead."""
        return self._loop.downgrades.falls_back(route)

    @property
    def is_long(self) -> bool:
        """Whether the session has more history than a compaction would leave as it is."""
        return is_long(self._loop)

    @property
    def tool_scope(self) -> ToolScope | None:
        """The layer of tools that is the agent's own."""
        return self._loop.tool_scope

    @property
    def revision(self) -> int:
        """Revision of the newest live frame."""
        return self._loop.frames.revision

    def followup(self, message: Message | str) -> str:
        """Queue a prompt of a turn of its own and wake the driver; returns the message's id."""
        return self._send("next-turn", message, wakes=True)

    def steer(self, message: Message | str) -> str:
        """Add to the running turn at its next step, or begin one; returns the message's id."""
        return self._send("next-step", message, wakes=True)

    def inject(self, message: Message | str) -> str:
        """Leave a message for the next step, whenever that comes; returns the message's id."""
        return self._send("next-step", message, wakes=False)

    def wake(self) -> None:
        """Run what waits, as after a session was picked up."""
        if self._activity is None and len(self._loop.inbox):
            self._drive()

    def queued(self, queue: Queue = "next-turn") -> list[Message]:
        """Return what waits in a queue, oldest first."""
        return list(self._loop.inbox.waiting(queue))

    def edit_queued(self, message_id: str, message: Message | str) -> str | None:
        """Put another message in the place of a waiting one; returns its id, None if that waits no more."""
        replacement = user_message(message) if isinstance(message, str) else message
        replaced = self._loop.inbox.replace(message_id, replacement)
        return replacement["id"] if replaced else None

    def remove_queued(self, message_id: str) -> Message | None:
        """Discard a waiting message and return it; None if it waits no more."""
        return self._loop.inbox.remove(message_id)

    def cancel(self, cause: dict[str, Any] | None = None, *, keep_inbox: bool = False) -> list[Message]:
        """Stop what runs; what waits is discarded and returned unless it is to be kept."""
        dropped = [] if keep_inbox or self.writer.failure is not None else self._loop.inbox.clear()
        if self._activity is not None:
            self._activity.keeps_inbox = keep_inbox
            self._activity.signal.cancel(cause or {"kind": "user"})
        return dropped

    def select(self, selection: Selection) -> None:
        """Ask another model, or the same in another way, from the next request on; the log takes note."""
        self._loop.selection = selection
        self._loop.is_chosen = True
        chosen = {"provider": selection.provider, "model": selection.model}
        if selection.reasoning_effort is not None:
            chosen["reasoningEffort"] = selection.reasoning_effort
        self._settle_settings()
        self.writer.append("model/selection", chosen)

    @property
    def holds_tools(self) -> bool:
        """Whether the session's tools stay as they are while changes of them wait."""
        return self.tools.is_held(self)

    def hold_tools(self) -> None:
        """Keep the tools of the latest request, also after a restart; the log takes note."""
        if self.holds_tools:
            return
        self._settle_settings()
        header, tools = self.writer.state.header_event, self._recorded_tools()
        self.tools.hold(self, tools)
        record = Hold(
            held=True,
            header_seq=None if header is None else header.seq,
            tools=None if tools is None else len(tools),
            waiting=len(self.tools.waiting(self)),
        )
        self.writer.append(HOLD, record.to_json(), ignorable=True)

    def release_tools(self) -> None:
        """Let the changes that waited reach the next request; the log takes note."""
        if not self.holds_tools:
            return
        record = Hold(held=False, waiting=len(self.tools.waiting(self)))
        self.tools.release(self)
        self.writer.append(HOLD, record.to_json(), ignorable=True)

    def rename(self, title: str) -> None:
        """Give the session a title by hand, the last one it gets. Raises ValueError for one without words."""
        clean = one_line(title)
        if not clean:
            raise ValueError("a title needs words")
        self._settle_settings()
        self.writer.append("session/title", {"title": clean, "messageSeqs": [], "source": {"kind": "user"}})

    async def run_maintenance(self, job: Callable[[CancelSignal], Awaitable[T]]) -> T:
        """Run a job while no turn can begin. Raises AgentBusy unless idle, Cancelled, and what it raises."""
        if self._activity is not None:
            raise AgentBusy("the agent is at work")
        activity = self._activity = Activity(is_maintenance=True)
        try:
            return await job(activity.signal)
        finally:
            self._finish(activity)

    async def compact(self) -> Compacted:
        """Condense the history now, as the command that a person gave; the log keeps the command.

        Raises AgentBusy or CompactionFailed, with the history as it was, or SessionWriteError.
        """
        self._commands += 1
        command = {"commandId": f"cmd-{self._command_prefix}-{self._commands}"}

        async def job(signal: CancelSignal) -> Compacted:
            self._settle_settings()
            run = {**command, "name": "compact", "args": "", "source": {"kind": "user"}}
            self.writer.append("command/run", run)
            try:
                done = await compact_now(self._loop, signal, command_id=command["commandId"])
            except CompactionFailed as failure:
                self.writer.append("command/done", {**command, "kind": "error", "text": failure.message})
                raise
            told = f"{done.items} messages condensed, about {done.tokens} tokens."
            outcome = {**command, "kind": "success", "text": told, "sourceEventSeq": done.summary_seq}
            self.writer.append("command/done", outcome)
            await self.writer.flush()
            return done

        return await self.run_maintenance(job)

    async def when_idle(self) -> None:
        """Return when neither a driver nor a maintenance job is left."""
        while self._activity is not None:
            await self._activity.ended.wait()

    async def dispose(self) -> None:
        """Stop whatever runs for good and wait for its end; what waits stays in the log."""
        self.cancel({"kind": "disposed"}, keep_inbox=True)
        self._latched = False
        await self.when_idle()

    def subscribe(self, listener: Callable[[LiveFrame], None]) -> Unsubscribe:
        """Call `listener` with every live frame; log events come from the writer. It must not raise."""
        return self._loop.frames.subscribe(listener)

    def on_status(self, listener: Callable[[Status], None]) -> Unsubscribe:
        """Call `listener` with every change of the status. It must not raise."""
        self._status_listeners.append(listener)
        return lambda: self._status_listeners.remove(listener)

    def on_failure(self, listener: Callable[[SessionWriteError], None]) -> None:
        """Call `listener` once, when the session can no longer be written. It must not raise."""
        self._failure_listeners.append(listener)

    def _send(self, queue: Queue, message: Message | str, *, wakes: bool) -> str:
        sent = user_message(message) if isinstance(message, str) else message
        self._settle_settings()
        activity = self._activity
        if wakes and activity is not None and (activity.signal.cancelled or activity.is_closing):
            queue = "next-turn"
            self._latched = True
        elif wakes and activity is not None and activity.is_maintenance:
            self._latched = True
        self._loop.inbox.add(queue, sent)
        if wakes and activity is None:
            self._drive()
        return sent["id"]

    def _recorded_tools(self) -> tuple[ToolDefinition, ...] | None:
        """What the latest request declared; None before the first."""
        header = last_header(self.writer)
        return None if header is None else header.tools

    def _settle_settings(self) -> None:
        """Begin a session as dsh does: with the permissions it runs under; a child has its parent's."""
        if self._has_settings:
            return
        self._has_settings = True
        if self.writer.header.delegation_depth:
            return
        known, options = self.writer.state.settings, self._loop.options
        preset = options.permission_preset
        mode = preset if preset in SANDBOX_MODES else "workspace-write"
        for kind, data in (
            ("permission/preset", {"preset": preset}),
            ("sandbox/mode", {"mode": mode}),
            ("approval/policy", {"policy": options.approval_policy}),
        ):
            if kind not in known:
                self.writer.append(kind, data)

    def _drive(self) -> None:
        self._latched = False
        activity = self._activity = Activity()
        self._task = asyncio.get_running_loop().create_task(self._turns(activity))
        self._tell_status()

    async def _turns(self, activity: Activity) -> None:
        try:
            while not activity.signal.cancelled:
                goes_on = await Turn(self._loop, activity).run()
                activity.is_closing = not goes_on or activity.signal.cancelled
                await self.writer.flush()
                if activity.is_closing or not len(self._loop.inbox):
                    return
        except SessionWriteError as error:
            self._broken(error)
        except Exception as error:  # a turn that the log could not take: told, never lost in a task
            for listener in tuple(self.hooks.error):
                listener(self.writer.last_turn, None, error_json(error), error)
        finally:
            self._finish(activity)

    def _broken(self, error: SessionWriteError) -> None:
        """Stop at once: nothing that comes now could be kept."""
        if self._activity is not None:
            self._activity.signal.cancel({"kind": "disposed"})
        listeners, self._failure_listeners = self._failure_listeners, []
        for listener in listeners:
            listener(error)

    def _finish(self, activity: Activity) -> None:
        if self._activity is not activity:
            return
        self._activity = None
        self._task = None
        self._loop.overflow_retries = 0
        activity.ended.set()
        if self._latched and self.writer.failure is None and len(self._loop.inbox):
            self._drive()
        else:
            self._latched = False
            if not activity.is_maintenance:
                self._tell_status()

    def _tell_status(self) -> None:
        for listener in tuple(self._status_listeners):
            listener(self.status)
