"""One open session of our own: appended to under its lock, durable in batches, its state at hand.

An event is judged by every rule of the format before anything is written (session-format §3), is in memory
at once and on the disk at most 200 ms later, or when `flush` returns.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from tui.session.batches import Batches
from tui.session.closers import closing_drafts
from tui.session.durable import Encoding, LogFile
from tui.session.event_list import EventList
from tui.session.event_text import Draft, event_line
from tui.session.events import Event
from tui.session.inbox_state import InboxState
from tui.session.locking import SessionLock
from tui.session.log_header import LogHeader
from tui.session.naming import FORMAT_VERSION
from tui.session.picking_up import PickedUp, pick_up
from tui.session.progress import Told
from tui.session.rules_turns import OpenCall
from tui.session.session_state import SessionState
from tui.session.store_writer import (
    Place,
    clean_cwd,
    find_place,
    give_up,
    header_line,
    new_session_id,
    store_encoding,
)
from tui.session.surface import Surface
from tui.session.tool_history import ToolHistory
from tui.session.write_errors import SessionRefused, SessionWriteError

Unsubscribe = Callable[[], None]


def now_ms() -> int:
    """Return the wall clock in Unix milliseconds."""
    return clock.time_ns() // 1_000_000


class SessionWriter:
    """An open session; from `create`, `resume` or `forking.fork`, to be closed.

    Not for two threads. After a SessionWriteError nothing more is accepted: what was acknowledged is safe.
    """

    def __init__(
        self,
        header: LogHeader,
        file: LogFile,
        lock: SessionLock,
        *,
        state: SessionState,
        events: EventList,
        place: Place | None = None,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self.header = header
        self.state = state
        self.events = events
        self.pickup: Sequence[Event] = ()
        """What was added when the session was picked up; written with the first event after it."""
        self._file = file
        self._lock = lock
        self._place = place
        self._now = now
        self._batches = Batches(file)
        self._listeners: list[Callable[[Event], None]] = []

    @classmethod
    def create(
        cls,
        home: Path,
        cwd: str | None,
        *,
        session_id: str | None = None,
        encoding: Encoding | None = None,
        preferred: Encoding = "zstd",
        parent_session: str | None = None,
        origin: Literal["subagent"] | None = None,
        delegation_depth: int = 0,
        agent_preset: str | None = None,
        now: Callable[[], int] = now_ms,
    ) -> SessionWriter:
        """Begin a session in a home (a folder with `sessions` in it); the log appears with its first batch.

        `preferred` is the encoding of a store without logs, `encoding` one that is insisted on. Raises
        SessionRefused or SessionWriteError.
        """
        header = LogHeader(
            id=session_id or new_session_id(),
            version=FORMAT_VERSION,
            created_ms=now(),
            is_seeded=False,
            delegation_depth=delegation_depth,
            cwd=clean_cwd(cwd),
            parent_session=parent_session,
            origin=origin,
            agent_preset=agent_preset,
        )
        place = find_place(home, header, store_encoding(home, encoding=encoding, preferred=preferred))
        file = LogFile(place.log, place.encoding, header=header_line(header))
        events = EventList()
        state = SessionState(header, events.event)
        state.rules.go_live()
        return cls(header, file, place.lock, state=state, events=events, place=place, now=now)

    @classmethod
    def resume(
        cls,
        path: Path,
        *,
        allow_unknown: bool = False,
        dsh_home: Path | None = None,
        told: Told | None = None,
        now: Callable[[], int] = now_ms,
    ) -> SessionWriter:
        """Continue a stored session: lock, read, validate, close an interrupted turn, mark the pick-up.

        Nothing is written before the first `append`. `allow_unknown` accepts events of unknown types that are
        not marked ignorable; nothing below `dsh_home` is ever continued in place. `told` hears how far the
        reading is. Raises SessionUnreadable, SessionRefused (also `locked`) or SessionWriteError.
        """
        if dsh_home is not None and path.resolve().is_relative_to(dsh_home.resolve()):
            raise SessionRefused(path, "foreign-home", "sessions of dsh are continued in a copy")
        lock = SessionLock.acquire(path.parent)
        try:
            picked = pick_up(path, unknown_allowed=allow_unknown, told=told)
        except BaseException:
            lock.release()
            raise
        file = LogFile(path, picked.encoding, cut=picked.cut)
        writer = cls(picked.log.header, file, lock, state=picked.state, events=picked.events, now=now)
        writer._pick_up(picked)
        return writer

    def append(
        self,
        type: str,
        data: Any,
        *,
        surface_op: str | Mapping[str, Any] | None = None,
        source_event_seqs: Sequence[int] | None = None,
        time: int | None = None,
        ignorable: bool = False,
    ) -> Event:
        """Append one event and return it as it will be read back; a surface event is appended by default.

        `time` is Unix milliseconds, by default the clock's. Raises LogRuleError, and nothing has happened;
        or the SessionWriteError of an earlier batch.
        """
        return self.add(Draft(type, data, surface_op, source_event_seqs, ignorable, time))

    def add(self, draft: Draft) -> Event:
        """Append a draft; see `append`."""
        if self._file.error is not None:
            raise self._file.error
        line, event = self._judge(draft)
        self._batches.add(line)
        for listener in tuple(self._listeners):
            listener(event)
        return event

    def add_all(self, drafts: Iterable[Draft]) -> list[Event]:
        """Append drafts in one batch; the first that breaks a rule ends it, and those before it stand."""
        return [self.add(draft) for draft in drafts]

    async def flush(self) -> None:
        """Return when every event appended so far is durable; raises SessionWriteError."""
        await self._batches.flush()

    def flush_now(self) -> None:
        """Make everything durable from a thread without an event loop; raises SessionWriteError."""
        self._batches.flush_now()

    async def close(self) -> None:
        """Make everything durable, close the log and release the lock; raises SessionWriteError last."""
        try:
            await self._batches.settle()
            if self._file.error is None:
                await self._batches.flush()
        finally:
            self._release()

    def close_now(self) -> None:
        """`close` without an event loop."""
        try:
            if self._file.error is None:
                self._batches.flush_now()
        finally:
            self._release()

    def subscribe(self, listener: Callable[[Event], None]) -> Unsubscribe:
        """Call `listener` with every event appended from now on, at once; it must not raise."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_failure(self, listener: Callable[[SessionWriteError], None]) -> None:
        """Call `listener` on the event loop when a batch could not be written."""
        self._batches.on_failure = listener

    def derive_messages(self) -> list[dict[str, Any]]:
        """Return the messages of a request made now, open calls answered; do not change them."""
        return self.state.messages.derive()

    def tool_history(self) -> ToolHistory:
        """Return the tool history of a request made now; the same object while nothing changed."""
        return self.state.tools.snapshot()

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    @property
    def path(self) -> Path:
        """The log's file, which appears with the first batch."""
        return self._file.path

    @property
    def encoding(self) -> Encoding:
        """How the log is stored."""
        return self._file.encoding

    @property
    def failure(self) -> SessionWriteError | None:
        """Why nothing more can be appended, if so."""
        return self._file.error

    @property
    def pending(self) -> int:
        """Events that are not durable yet."""
        return self._batches.pending

    @property
    def turn(self) -> int | None:
        """Number of the open turn."""
        return self.state.rules.turn

    @property
    def step(self) -> int | None:
        """Number of the open step."""
        return self.state.rules.step

    @property
    def last_turn(self) -> int:
        """Number of the newest turn, 0 before the first."""
        return self.state.rules.last_turn

    @property
    def last_step(self) -> int:
        """Number of the newest step of the newest turn, 0 before its first."""
        return self.state.rules.last_step

    @property
    def next_seq(self) -> int:
        """Seq of the next event."""
        return self.state.rules.next_seq

    @property
    def open_calls(self) -> Mapping[str, OpenCall]:
        """Calls without a result, by id in the model's order."""
        return self.state.rules.open_calls

    @property
    def surface(self) -> Surface:
        """What a model would be sent; do not change it."""
        return self.state.rules.surface

    @property
    def inbox(self) -> InboxState:
        """Messages that wait."""
        return self.state.rules.inbox

    @property
    def header_event(self) -> Event | None:
        """The latest `request/header`."""
        return self.state.header_event

    @property
    def context_event(self) -> Event | None:
        """The latest `request/context`."""
        return self.state.context_event

    def _judge(self, draft: Draft) -> tuple[bytes, Event]:
        time = self._now() if draft.time is None else draft.time
        line, event = event_line(draft, self.state.rules.next_seq, time)
        self.state.apply(event)
        self.events.append(event)
        return line, event

    def _hold(self, draft: Draft) -> Event:
        line, event = self._judge(draft)
        self._batches.hold(line)
        return event

    def _pick_up(self, picked: PickedUp) -> None:
        """Add closers and the mark of the pick-up, held until the first append so that they go with it."""
        rules, last = self.state.rules, self.state.last_event
        added: list[Event] = []
        rules.go_live(crossing=True)
        if rules.turn is not None:
            drafts = closing_drafts(
                rules.open_calls,
                turn=rules.turn,
                step=rules.step,
                next_seq=rules.next_seq,
                time=self._now() if last is None else last.time,
                cause="interrupted",
            )
            added.extend(self._hold(draft) for draft in drafts)
        if last is None or added or last.type != "session/end-seed":
            added.append(self._hold(Draft("session/end-seed", {})))
        rules.go_live()
        self.pickup = tuple(added)

    def _release(self) -> None:
        written = self._file.exists
        self._file.close()
        self.events.close()
        if self._lock.held:
            if self._place is not None and not written:
                give_up(self._place)
            else:
                self._lock.release()
