"""The draft of a summary in an editor: a person corrects it, then a fresh session starts from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.widgets import TextArea

from tui.app.actions import key_names
from tui.app.conversation import Conversation
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.text import Span
from tui.loop.fresh_start import FreshStart

_START, _COPY, _CLOSE = "f5", "f6", "escape"


class RecoveryScreen(ModalScreen[Conversation | None]):
    """Edits a draft; closes with the session that was started from it, or with None.

    Args:
        surroundings: language, keys and glyphs.
        draft: the summary with the original it is of.
        start: begins a session; returns the sentence why not where it cannot.
        copy: copies a text; returns the sentence that says how it went.
    """

    CSS_PATH: ClassVar = "recovery.tcss"
    BINDINGS: ClassVar = [
        Binding(_START, "start", show=False, priority=True),
        Binding(_COPY, "copy_draft", show=False, priority=True),
        Binding(_CLOSE, "close", show=False, priority=True),
    ]

    def __init__(
        self,
        surroundings: Surroundings,
        draft: FreshStart,
        start: Callable[[FreshStart], Awaitable[Conversation | str]],
        copy: Callable[[str], Awaitable[str]],
    ) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._draft = draft
        self._start = start
        self._copy = copy
        self._starts = False
        self._asked_to_close = False
        self._told = ""
        ascii_only = surroundings.ascii_only
        self.editor = TextArea(draft.summary, soft_wrap=True, tab_behavior="focus", id="draft")
        self._head = StatusBar(ascii_only=ascii_only, classes="head")
        self._foot = StatusBar(ascii_only=ascii_only, classes="foot")

    def compose(self) -> ComposeResult:
        """Title, editor, keys."""
        yield self._head
        yield self.editor
        yield self._foot

    def on_mount(self) -> None:
        """Begin at the top."""
        self.editor.focus()
        self._tell()

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language; the draft stays as it is."""
        self._surroundings = surroundings
        self._told = ""
        self._tell()

    async def action_copy_draft(self) -> None:
        """Copy the draft as it stands."""
        self._tell(await self._copy(self.editor.text))

    def action_close(self) -> None:
        """Close; what was edited is lost only by a second press."""
        if self._starts:
            return
        if self.editor.text == self._draft.summary or self._asked_to_close:
            self.dismiss(None)
            return
        self._asked_to_close = True
        self._tell(self._surroundings.tr.t("The draft was edited; press it again to lose the changes."))

    def action_start(self) -> None:
        """Start a fresh session from the draft, unless one is being started."""
        tr = self._surroundings.tr
        if not self.editor.text.strip():
            self._tell(tr.t("The summary is empty; a fresh session needs one."))
        elif not self._starts:
            self._starts = True
            self._tell(tr.t("A fresh session is being started …"))
            self.run_worker(self._begin())

    async def _begin(self) -> None:
        started = await self._start(replace(self._draft, summary=self.editor.text))
        self._starts = False
        if isinstance(started, str):
            self._tell(started)
        else:
            self.dismiss(started)

    @on(TextArea.Changed, "#draft")
    def _edited(self, event: TextArea.Changed) -> None:
        event.stop()
        self._asked_to_close = False
        if self._told:
            self._tell()

    def _tell(self, told: str = "") -> None:
        self._told = told
        tr = self._surroundings.tr
        self._head.show(
            [
                Piece((Span(tr.t("Draft of a summary"), "title"),), keep=100),
                Piece(
                    (Span(tr.t("correct it; a fresh session gets it as its first prompt"), "muted"),), keep=50
                ),
            ],
            [],
        )
        if told:
            self._foot.show([Piece((Span(told, "warning"),), keep=100)], [])
            return
        self._foot.show(
            [
                self._key(_START, tr.t("start a fresh session"), 4),
                self._key(_COPY, tr.t("copy"), 2),
                self._key(_CLOSE, tr.t("close"), 3),
            ],
            [],
        )

    def _key(self, key: str, label: str, keep: int) -> Piece:
        around = self._surroundings
        name = key_names((key,), around.tr, ascii_only=around.ascii_only)
        return Piece((Span(name, "key"), Span(f" {label}", "muted")), keep=keep)
