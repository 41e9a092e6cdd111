"""Cancelling: one signal that everything a turn waits for listens to (session-format §4.2, `aborted`)."""

from __future__ import annotations

import asyncio
from typing import Any


class Cancelled(Exception):
    """Work that was cancelled. `cause` is the reason as the log records it, e.g. `{"kind": "user"}`."""

    def __init__(self, cause: dict[str, Any]) -> None:
        super().__init__(str(cause.get("kind", "")))
        self.cause = cause


class CancelSignal:
    """Says once and for all that work is to stop; a child is cancelled with its parent, not the other way."""

    __slots__ = ("_children", "_event", "cause")

    def __init__(self) -> None:
        self.cause: dict[str, Any] | None = None
        """Why; None while nothing is cancelled."""
        self._event = asyncio.Event()
        self._children: list[CancelSignal] = []

    @property
    def cancelled(self) -> bool:
        """Tell whether the work is to stop."""
        return self.cause is not None

    def cancel(self, cause: dict[str, Any]) -> None:
        """Cancel; the first cause counts."""
        if self.cause is not None:
            return
        self.cause = cause
        self._event.set()
        children, self._children = self._children, []
        for child in children:
            child.cancel(cause)

    async def wait(self) -> dict[str, Any]:
        """Return the cause as soon as the work is to stop."""
        await self._event.wait()
        return self.cause or {}

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled if the work is to stop."""
        if self.cause is not None:
            raise Cancelled(self.cause)

    def child(self) -> CancelSignal:
        """Return a signal that is cancelled with this one and can be cancelled alone."""
        child = CancelSignal()
        if self.cause is not None:
            child.cancel(self.cause)
        else:
            self._children.append(child)
        return child
