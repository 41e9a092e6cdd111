"""Where prompts are written: several lines, a history, pastes of any size, and the terminal's own cursor.

The text area of Textual does the editing and puts the real cursor where its own is, so that input methods
show their candidates there; nothing here redraws it while keys wait. A long paste stands as a few words in
brackets and is sent whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final, Literal, cast

from textual import events
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from tui.app.actions import ACTIONS
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean

PASTED_LINES: Final = 12
"""Lines from which a paste stands as one word in brackets."""
PASTED_CHARS: Final = 2_000
_ESCAPE_SECONDS: Final = 0.05
"""Older terminals send Alt with a key as Esc and the key at once; so long the second is waited for."""
_HISTORY: Final = 500


class _AltEnter(Enum):
    KEY = "alt+enter"


def know_alt_enter() -> None:
    """Have Alt with Enter told from Enter where a terminal sends it as Esc and a carriage return.

    Textual would drop the Esc, and what was to be a new line would be sent. Its table is the only place.
    """
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

    sequences = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    sequences.setdefault("\x1b\r", (_AltEnter.KEY,))


class History:
    """Earlier prompts and, while one looks back, what was being written."""

    def __init__(self, prompts: Iterable[str] = ()) -> None:
        self._prompts = [prompt for prompt in prompts if prompt.strip()][-_HISTORY:]
        self._at = len(self._prompts)
        self._draft = ""

    def add(self, prompt: str) -> None:
        """Remember a prompt that was sent."""
        if prompt.strip() and (not self._prompts or self._prompts[-1] != prompt):
            self._prompts = [*self._prompts, prompt][-_HISTORY:]
        self._at = len(self._prompts)
        self._draft = ""

    def step(self, by: Literal[1, -1], now: str) -> str | None:
        """The prompt before or after; `now` is what stands there. None at either end."""
        at = self._at + by
        if not 0 <= at <= len(self._prompts):
            return None
        if self._at == len(self._prompts):
            self._draft = now
        self._at = at
        return self._draft if at == len(self._prompts) else self._prompts[at]


class Composer(TextArea):
    """The editor of the next prompt.

    Args:
        surroundings: language, keys, glyphs.
        prompts: earlier prompts of the session, oldest first.
    """

    cleans_pastes: Final = True
    """A long paste is sent as it is and never drawn; a short one is cleaned here."""

    class Submitted(Message):
        """A prompt is to be sent; `queue` asks for a turn of its own while another one runs."""

        def __init__(self, text: str, *, queue: bool = False) -> None:
            super().__init__()
            self.text = text
            self.queue = queue

    class ChatScrolled(Message):
        """The chat is to be scrolled by a page."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    class QueueWanted(Message):
        """The keyboard is to go to the prompts that wait."""

    class Escaped(Message):
        """The escape key was pressed, alone."""

    class LeaveWanted(Message):
        """The program is to be left, from an empty composer."""

    def __init__(self, surroundings: Surroundings, prompts: Iterable[str] = ()) -> None:
        super().__init__(
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            highlight_cursor_line=False,
            compact=True,
            id="composer",
        )
        self.cursor_blink = False
        self.earlier = History(prompts)
        self.queues_on_tab = False
        """A turn runs: tab queues what is written."""
        self._surroundings = surroundings
        self._pastes: dict[str, str] = {}
        self._escape: Timer | None = None
        self._actions = {
            key: action.id
            for action in ACTIONS
            if action.scope == "composer"
            for key in surroundings.keys[action.id]
        }

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self._surroundings = surroundings

    @property
    def whole_text(self) -> str:
        """What would be sent: the text with its pastes whole."""
        text = self.text
        for label, pasted in self._pastes.items():
            text = text.replace(label, pasted)
        return text

    def put(self, text: str) -> None:
        """Replace what is written; the cursor goes to its end."""
        self.clear()
        self._pastes = {}
        self._insert(text)

    def take(self) -> str:
        """What is to be sent; the composer is empty then."""
        text = self.whole_text
        self.earlier.add(text)
        self.clear()
        self._pastes = {}
        return text

    # -- keys

    async def _on_key(self, event: events.Key) -> None:
        # Some terminals name Enter with a modifier by its character.
        key = event.key.replace("\r", "enter")
        if self._was_escaped() and f"alt+{key}" in self._actions:
            key = f"alt+{key}"
        if key == "escape":
            self._escape = self.set_timer(_ESCAPE_SECONDS, self._escaped)
            handled = True
        else:
            handled = self._do(key)
        if handled:
            event.stop()
            event.prevent_default()
        else:
            await super()._on_key(event)

    def _do(self, key: str) -> bool:
        """Do what a key means here; False if it is the editor's or the screen's."""
        match self._actions.get(key):
            case "send":
                self.post_message(self.Submitted(self.whole_text))
            case "new-line":
                self.insert("\n")
                self.scroll_cursor_visible()
            case "queue-prompt":
                if not (self.queues_on_tab and self.text.strip()):
                    return False
                self.post_message(self.Submitted(self.whole_text, queue=True))
            case "stop":
                self.post_message(self.Escaped())
            case "earlier-prompt":
                return self._leaf(-1)
            case "later-prompt":
                return self._leaf(1)
            case "chat-page-up":
                self.post_message(self.ChatScrolled(-1))
            case "chat-page-down":
                self.post_message(self.ChatScrolled(1))
            case "waiting-prompts":
                self.post_message(self.QueueWanted())
            case "copy-or-clear":
                self._copy_or_clear()
            case "leave-empty":
                self._delete_or_leave()
            case _:
                return False
        return True

    def _was_escaped(self) -> bool:
        """Escape came just before; it was a part of this key then, or is told now."""
        if self._escape is None:
            return False
        self._escape.stop()
        self._escape = None
        return True

    def _escaped(self) -> None:
        self._escape = None
        self._do("escape")

    def _leaf(self, by: Literal[1, -1]) -> bool:
        """Go through the history from the first or last row; False anywhere else."""
        here = self.cursor_location
        beyond = self.get_cursor_up_location() if by < 0 else self.get_cursor_down_location()
        at_edge = self.cursor_at_first_line if by < 0 else self.cursor_at_last_line
        if not at_edge or (beyond[0] == here[0] and beyond[1] not in (0, len(self.document[here[0]]))):
            return False
        found = self.earlier.step(by, self.whole_text)
        if found is None:
            return False
        self.put(found)
        return True

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._insert(event.text.replace("\r\n", "\n").replace("\r", "\n"))

    def _insert(self, text: str) -> None:
        lines = text.count("\n") + 1
        if lines < PASTED_LINES and len(text) < PASTED_CHARS:
            self.insert(clean(text))
        else:
            self.insert(self._label(text, lines))
        self.scroll_cursor_visible()

    def _label(self, text: str, lines: int) -> str:
        tr = self._surroundings.tr
        told = (
            tr.n("pasted {n} line", "pasted {n} lines", lines)
            if lines > 1
            else tr.n("pasted {n} character", "pasted {n} characters", len(text))
        )
        number = len(self._pastes) + 1
        label = f"[{told}]" if number == 1 else f"[{told} #{number}]"
        self._pastes[label] = text
        return label

    def _delete_or_leave(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.LeaveWanted())

    def _copy_or_clear(self) -> None:
        if self.selected_text:
            self.action_copy()
        elif self.text:
            self.earlier.add(self.whole_text)
            self.put("")
        else:
            self.post_message(self.LeaveWanted())
