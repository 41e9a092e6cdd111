"""The events of an open session by seq: those of an earlier process from the file, its own from memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from tui.session.events import DAMAGE_TYPE, Event
from tui.session.log import SessionLog


class EventList(Sequence[Event]):
    """A growing list of events; `events[seq]` is the event of that seq."""

    def __init__(self, log: SessionLog | None = None, from_file: int = 0) -> None:
        self._log = log
        self._from_file = from_file
        self._own: list[Event] = []

    @property
    def stored(self) -> tuple[SessionLog, int] | None:
        """The log of an earlier process, and how many of its rows count; None without one."""
        return (self._log, self._from_file) if self._log is not None else None

    @property
    def own(self) -> Sequence[Event]:
        """The events behind those, in memory."""
        return self._own

    def append(self, event: Event) -> None:
        """Add the event whose seq is the length of the list."""
        self._own.append(event)

    def __len__(self) -> int:
        return self._from_file + len(self._own)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [self.event(seq) for seq in range(*index.indices(len(self)))]
        return self.event(index + len(self) if index < 0 else index)

    def __iter__(self) -> Iterator[Event]:
        for seq in range(len(self)):
            yield self.event(seq)

    def event(self, seq: int) -> Event:
        """The event of a seq; raises IndexError where there is none or the file has lost it."""
        if seq >= self._from_file:
            return self._own[seq - self._from_file]
        if seq < 0 or self._log is None:
            raise IndexError(f"no event {seq}")
        event = self._log.event(seq)
        if event.type == DAMAGE_TYPE:
            raise IndexError(f"event {seq} is gone from the file")
        return event

    def close(self) -> None:
        """Close the file behind the list; its events are then gone from it."""
        if self._log is not None:
            self._log.close()
            self._log = None
