"""The few nodes of the surface that a step asks about: system messages and the runtime context."""

from __future__ import annotations

from tui.loop.context import SOURCE, is_context
from tui.loop.messages import Message, text_of
from tui.loop.prompt import SystemNode
from tui.session.events import Event
from tui.session.surface import message_of
from tui.session.writer import SessionWriter


class SurfaceWatch:
    """Follows one session; an append costs nothing, a replacement one walk over the surface."""

    def __init__(self, writer: SessionWriter) -> None:
        self._writer = writer
        self._generation: int | None = None
        self._nodes: list[SystemNode] = []
        self._context: Message | None = None
        self._begins_foreign = False
        self._is_empty = True
        writer.subscribe(self._observe)

    @property
    def system_nodes(self) -> list[SystemNode]:
        """System messages of the surface in order; do not change it."""
        self._refresh()
        return self._nodes

    @property
    def takes_system_messages(self) -> bool:
        """False for a surface that begins with another message: then no system message may follow."""
        self._refresh()
        return not self._begins_foreign

    @property
    def context(self) -> Message | None:
        """The newest runtime context on the surface."""
        self._refresh()
        return self._context

    @property
    def context_existed(self) -> bool:
        """Whether the session ever had a runtime context, shadowed ones included."""
        return SOURCE in self._writer.state.message_sources

    def _observe(self, event: Event) -> None:
        if event.surface_op == "append" and self._generation == self._writer.surface.content_generation:
            self._take(event)

    def _refresh(self) -> None:
        generation = self._writer.surface.content_generation
        if self._generation == generation:
            return
        self._generation = generation
        self._nodes = []
        self._context = None
        self._is_empty, self._begins_foreign = True, False
        for seq in self._writer.surface:
            self._take(self._writer.events.event(seq))

    def _take(self, event: Event) -> None:
        if self._is_empty:
            self._is_empty = False
            self._begins_foreign = event.type != "system/message"
        message = message_of(event)
        if event.type == "system/message":
            self._nodes.append(SystemNode(event.seq, text_of(message)))
        elif event.type == "user/message" and is_context(message):
            self._context = message
