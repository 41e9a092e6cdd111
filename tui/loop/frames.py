"""What the loop tells a screen while it works (loop-and-adapters §1.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["idle", "running"]
Unsubscribe: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """A request is on its way; nothing has come yet."""

    revision: int
    turn: int
    step: int
    attempt: int
    """From 1 within the step."""


@dataclass(frozen=True, slots=True)
class AttemptChunk:
    """The next chunk of the running attempt; times are Unix milliseconds."""

    revision: int
    index: int
    """From 0 within the attempt."""
    time_ms: int
    chunk: dict[str, Any]


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """The running attempt is over, and its event, if it left one, is in the log."""

    revision: int
    event_type: str | None
    """`assistant/message`, `assistant/attempt`; None if it was abandoned."""
    seq: int | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A retry is due at a time, in Unix milliseconds; its `llm/retry` is in the log."""

    revision: int
    retry: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """Messages that were taken for a step which the user then stopped before it began; they will not run."""

    revision: int
    messages: tuple[dict[str, Any], ...]


LiveFrame: TypeAlias = AttemptStarted | AttemptChunk | AttemptEnded | Waiting | Dropped


class Frames:
    """Counts revisions and hands frames to whoever listens; a listener must not raise."""

    def __init__(self) -> None:
        self.revision = 0
        self._listeners: list[Callable[[LiveFrame], None]] = []

    def subscribe(self, listener: Callable[[LiveFrame], None]) -> Unsubscribe:
        """Call `listener` with every frame from now on."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def started(self, turn: int, step: int, attempt: int) -> None:
        self._send(AttemptStarted(self._next(), turn, step, attempt))

    def chunk(self, index: int, time_ms: int, chunk: dict[str, Any]) -> None:
        self._send(AttemptChunk(self._next(), index, time_ms, chunk))

    def ended(self, event_type: str | None, seq: int | None) -> None:
        self._send(AttemptEnded(self._next(), event_type, seq))

    def waiting(self, retry: int, until_ms: int) -> None:
        self._send(Waiting(self._next(), retry, until_ms))

    def dropped(self, messages: Sequence[dict[str, Any]]) -> None:
        if messages:
            self._send(Dropped(self._next(), tuple(messages)))

    def _next(self) -> int:
        self.revision += 1
        return self.revision

    def _send(self, frame: LiveFrame) -> None:
        for listener in tuple(self._listeners):
            listener(frame)
