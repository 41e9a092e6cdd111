"""From a running agent to the panes: takes events and frames as they come, and shows them at most 30 times a
second.

An event is folded by the reading, a frame by the tail; drawing waits for the next beat. A beat that cost much
makes the pause before the next one longer, so that keys are answered whatever streams.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Final

from tui.app.activity import Activity
from tui.app.block_view import BlockView
from tui.app.live_changes import Changes, ChangeWatch
from tui.app.live_models import LiveChatModel
from tui.app.live_tail import LiveTail
from tui.app.reading_model import ReadingModel
from tui.loop.frames import AttemptChunk, AttemptEnded, AttemptStarted, LiveFrame
from tui.nodes.live import LiveReading
from tui.session.events import Event
from tui.session.json_value import as_array, as_object

BEAT_SECONDS: Final = 1 / 30
_REST: Final = 3.0
"""A pause is at least this many times what the beat before it cost."""
_NOTHING: Final = Changes([], [], False)


class LiveFeed:
    """Keeps reading, tail and activity up to date and tells when to draw.

    Args:
        reading: the session.
        on_beat: draws; is told what changed and whether events came.
    """

    def __init__(self, reading: LiveReading, on_beat: Callable[[Changes, bool], None]) -> None:
        self.reading = reading
        self.tail = LiveTail()
        self.activity = Activity()
        self.beats = 0
        self._on_beat = on_beat
        self._watch = ChangeWatch(reading)
        self._has_events = False
        self._due = 0.0
        self._handle: asyncio.TimerHandle | None = None
        self._context: contextvars.Context | None = None

    def attach(self) -> None:
        """Draw from now on, in the present context, which has to be that of the app."""
        self._context = contextvars.copy_context()

    def detach(self) -> None:
        """Draw no more."""
        self._context = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def take_event(self, event: Event) -> None:
        """Take an event that was appended."""
        if event.type in ("assistant/message", "assistant/attempt"):
            # The whole answer stands in the event; both must change places in one picture.
            if event.type == "assistant/message":
                self.tail.keep(
                    event.seq, as_array(as_object(as_object(event.data).get("message")).get("content"))
                )
            self.tail.clear()
        self.reading.take(event)
        self._watch.note(event)
        self.activity.note(event)
        self._has_events = True
        self._wake()

    def take_frame(self, frame: LiveFrame) -> None:
        """Take a live frame."""
        match frame:
            case AttemptStarted() | AttemptEnded():
                self.tail.clear()
            case AttemptChunk():
                self.tail.take(frame.time_ms, frame.chunk)
            case _:
                pass
        self.activity.see(frame)
        self._wake()

    def _wake(self) -> None:
        if self._handle is None and self._context is not None:
            delay = max(0.0, self._due - perf_counter())
            loop = asyncio.get_running_loop()
            self._handle = loop.call_later(delay, self.beat, context=self._context)

    def beat(self) -> None:
        """Draw now."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        if self._context is None:
            return
        begun = process_time()
        has_events, self._has_events = self._has_events, False
        changes = _NOTHING
        if has_events:
            self.reading.catch_up()
            changes = self._watch.take()
        self.beats += 1
        self._on_beat(changes, has_events)
        self._due = perf_counter() + max(BEAT_SECONDS, _REST * (process_time() - begun))


class PaneFeed:
    """Brings one pane up to date with its model."""

    def __init__(self, model: ReadingModel) -> None:
        self._recorded = _recorded(model)
        self._count = model.count()

    def forget(self, model: ReadingModel) -> None:
        """Start from a model that was just put into its view."""
        self._recorded, self._count = _recorded(model), model.count()

    def show(self, model: ReadingModel, view: BlockView, changed: list[int], *, everything: bool) -> None:
        """Show what came, and what changed of what was there."""
        recorded, count = self._recorded, self._count
        model.extend()
        self.forget(model)
        if everything or self._count < count:
            view.model_changed()
            return
        blocks = {block for item in changed if (block := model.block_of(item)) is not None}
        # Blocks of the tail have grown, or given their places to nodes.
        blocks.update(range(recorded, count))
        if self._count > count:
            # Each pane follows its own tail: one that the reader scrolled up is not to be taken along.
            view.model_changed(appended=self._count - count, notify=False)
        for block in sorted(blocks):
            if block < min(count, self._count):
                view.refresh_block(block, keep_place=False)


def _recorded(model: ReadingModel) -> int:
    return model.recorded() if isinstance(model, LiveChatModel) else model.count()
