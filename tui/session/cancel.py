"""Cancelling: one signal that everything a turn waits for listens to (session-format §4.2, `aborted`)."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


class Cancelled(Exception):
    """Work that was cancelled. `cause` is the reason as the log records it, e.g. `{"kind": "user"}`."""

    def __init__(self, cause: dict[str, Any]) -> None:
        super().__init__(str(cause.get("kind", "")))
        self.cause = cause


class CancelSignal:
    """Says once and for all that work is to stop; a child is cancelled with its parent, not the other way."""

    __slots__ = ("__weakref__", "_children", "_event", "cause")

    def __init__(self) -> None:
        self.cause: dict[str, Any] | None = None
        """Why; None while nothing is cancelled."""
        self._event = asyncio.Event()
        # Weak, because the signal of a session lives as long as it and has a child for every call.
        self._children: weakref.WeakSet[CancelSignal] = weakref.WeakSet()

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
        for child in list(self._children):
            child.cancel(cause)
        self._children.clear()

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
            self._children.add(child)
        return child

    async def guard(self, work: Awaitable[T]) -> T:
        """Return what `work` gives, or raise Cancelled as soon as the signal says so.

        Cancelled work is told so and not waited for; whatever it still gives or raises is ignored. Use it
        where nothing is lost by leaving, never around work that must be seen to its end.
        """
        task = asyncio.ensure_future(work)
        waiter = asyncio.ensure_future(self._event.wait())
        try:
            self.raise_if_cancelled()
            await asyncio.wait((task, waiter), return_when=asyncio.FIRST_COMPLETED)
            self.raise_if_cancelled()
            return task.result()
        finally:
            waiter.cancel()
            if not task.done():
                task.cancel()
            task.add_done_callback(_ignore)


def _ignore(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()  # looked at, so that nobody is told of an outcome that no longer matters
