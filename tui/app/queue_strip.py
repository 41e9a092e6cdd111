"""The prompts that wait, above the composer: each can be taken back for editing, or removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.keymap import bind
from tui.app.strips import RoleStyles, strip_of
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.layout import Layout, heading
from tui.blocks.text import Span

SHOWN: Final = 4
_GIST_CHARS: Final = 500


class Queued(NamedTuple):
    """A prompt that waits."""

    id: str
    text: str
    steers: bool
    """It joins the running turn at its next step, instead of having a turn of its own."""


class QueueStrip(Widget, can_focus=True):
    """One row a waiting prompt, none without any."""

    ALLOW_SELECT = False

    class Picked(Message):
        """A waiting prompt is to be edited or removed."""

        def __init__(self, queued: Queued, *, edit: bool) -> None:
            super().__init__()
            self.queued = queued
            self.edit = edit

    class Left(Message):
        """The keyboard is to go back to the composer."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(id="queue")
        self._surroundings = surroundings
        self._styles = RoleStyles(self)
        self._items: tuple[Queued, ...] = ()
        self._at = 0
        bind(self, surroundings.keys, surroundings.tr, "queue")

    @property
    def items(self) -> tuple[Queued, ...]:
        """The prompts that wait, in the order in which they will be claimed."""
        return self._items

    def show(self, items: Sequence[Queued]) -> None:
        """Show other prompts."""
        if tuple(items) == self._items:
            return
        self._items = tuple(items)
        self._at = min(self._at, max(len(items) - 1, 0))
        self.display = bool(items)
        self.styles.height = min(len(items), SHOWN)
        if not items and self.has_focus:
            self.post_message(self.Left())
        self.refresh(layout=True)

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self._surroundings = surroundings
        bind(self, surroundings.keys, surroundings.tr, "queue")
        self.refresh()

    def enter(self) -> None:
        """Give the last prompt the keyboard."""
        if self._items:
            self._at = len(self._items) - 1
            self.focus()

    def action_previous_waiting(self) -> None:
        self._step(-1)

    def action_next_waiting(self) -> None:
        self._step(1)

    def _step(self, by: int) -> None:
        at = self._at + by
        if at >= len(self._items):
            self.post_message(self.Left())
        else:
            self._at = max(0, at)
            self.refresh()

    def action_edit_waiting(self) -> None:
        self._pick(edit=True)

    def action_remove_waiting(self) -> None:
        self._pick(edit=False)

    def _pick(self, *, edit: bool) -> None:
        if self._items:
            self.post_message(self.Picked(self._items[self._at], edit=edit))

    def on_click(self, event: events.Click) -> None:
        """Choose a prompt; a click on the chosen one edits it."""
        event.stop()
        at = self._first() + event.y
        if at == self._at and self.has_focus:
            self.action_edit_waiting()
        self._at = min(at, len(self._items) - 1)
        self.refresh()

    def on_focus(self) -> None:
        """Show which one is chosen."""
        self.refresh()

    on_blur = on_focus

    def _first(self) -> int:
        return max(0, min(self._at - SHOWN + 1, len(self._items) - SHOWN))

    def render_line(self, y: int) -> Strip:
        """One waiting prompt."""
        styles, width = self._styles, self.size.width
        styles.prepare()
        at = self._first() + y
        if at >= len(self._items):
            return Strip.blank(width, styles.ground)
        item, tr = self._items[at], self._surroundings.tr
        chosen = at == self._at and self.has_focus
        ascii_only = self._surroundings.ascii_only
        layout = Layout(width=width, tr=tr, expanded=False, ascii=ascii_only)
        label = tr.t("joins this turn") if item.steers else tr.t("waits for its turn")
        edit, remove = (self._surroundings.key_word(action) for action in ("edit-waiting", "remove-waiting"))
        offers = tr.t("{edit} edits · {remove} removes", edit=edit, remove=remove)
        right = [Span(offers, "key")] if chosen else []
        sign = ">" if ascii_only else "⋯"
        row = heading(
            layout,
            [Span(f"{sign} ", "accent")],
            [Span(label, "accent" if item.steers else "muted")],
            gist=[Span(clean_line(item.text[:_GIST_CHARS]), "text")],
            right=right,
        )[0]
        base = styles.ground + styles("cursor") if chosen else styles.ground
        return strip_of(row, width, styles, base=base, ascii_only=ascii_only)

    def notify_style_update(self) -> None:
        """Drop styles made for another theme."""
        super().notify_style_update()
        if self.is_attached:
            self._styles.refresh()
