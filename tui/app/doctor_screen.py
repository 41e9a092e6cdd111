"""The doctor's screen: what is wrong with the session that is open, why, and what to do; Enter goes there."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Callable
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.screen import ModalScreen

from tui.app.actions import key_names
from tui.app.block_view import BlockView
from tui.app.doctor_model import DoctorModel
from tui.app.keymap import bind
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.text import Span
from tui.i18n import Translator
from tui.nodes.doctor import Examination, Examiner
from tui.nodes.reading import Reading

DOCTOR_ACTIONS: Final = frozenset({"back", "quit", "doctor", "copy", "help", "palette"})

_SLICE_S: Final = 0.02


async def examined(reading: Reading, say: Callable[[str], None], tr: Translator) -> Examination:
    """Examine a session in slices, so that keys are heard meanwhile; a long one says that it is looked at."""
    examiner = Examiner(reading)
    while not examiner.step(_SLICE_S):
        say(tr.t("Examining the session …"))
        await sleep(0)
    say("")
    return examiner.result()


class DoctorScreen(ModalScreen[int | None]):
    """The findings; closes with the seq to go to, or with None.

    Args:
        surroundings: language, keys and glyphs.
        title: what the session is called; cleaned here.
        found: the examination of the whole log.
    """

    def __init__(self, surroundings: Surroundings, title: str, found: Examination) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._title = clean_line(title)
        self._found = found
        self.model = DoctorModel(found, surroundings)
        ascii_only = surroundings.ascii_only
        self.view = BlockView(self.model, following=False, ascii_only=ascii_only, id="doctor")
        self._head = StatusBar(ascii_only=ascii_only, classes="head")
        self._foot = StatusBar(ascii_only=ascii_only, classes="foot")

    def compose(self) -> ComposeResult:
        """Title, findings, keys."""
        yield self._head
        yield self.view
        yield self._foot

    def on_mount(self) -> None:
        """Bind the keys and stand on the first finding."""
        self._bind()
        self.view.focus()
        self.call_after_refresh(self._choose_first)

    def renew(self, surroundings: Surroundings) -> None:
        """Another language or other keys."""
        self._surroundings = surroundings
        self.model = DoctorModel(self._found, surroundings)
        self.view.set_model(self.model)
        self._bind()

    def action_back(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_quit(self) -> None:
        """Close; leaving the program takes a second press."""
        self.dismiss(None)

    def action_doctor(self) -> None:
        """Close: the key that opened it."""
        self.dismiss(None)

    @on(BlockView.Activated)
    def _activated(self, event: BlockView.Activated) -> None:
        event.stop()
        seq = self.model.seq_of(event.index)
        if seq is not None:
            self.dismiss(seq)

    @on(BlockView.FollowChanged)
    def _follow_changed(self, event: BlockView.FollowChanged) -> None:
        event.stop()

    @on(BlockView.Selected)
    def _selected(self, event: BlockView.Selected) -> None:
        event.stop()

    def _choose_first(self) -> None:
        first = next((at for at in range(self.model.count()) if self.model.selectable(at)), None)
        if first is not None:
            self.view.select(first, notify=False)

    def _bind(self) -> None:
        keys, tr = self._surroundings.keys, self._surroundings.tr
        bind(self.view, keys, tr, "view")
        bind(self, keys, tr, "session", "app", only=DOCTOR_ACTIONS - {"copy", "help", "palette"})
        self._head.show(
            [
                Piece((Span(tr.t("Doctor"), "title"),), keep=100),
                Piece((Span(self._title, "muted"),), keep=50),
            ],
            [],
        )
        self._foot.show(
            [
                self._key("activate", tr.t("go to the event"), 3),
                self._key("cursor-down", tr.t("move"), 2),
                self._key("back", tr.t("close"), 4),
            ],
            [],
        )

    def _key(self, action: str, label: str, keep: int) -> Piece:
        around = self._surroundings
        keys = key_names(around.keys[action][:1], around.tr, ascii_only=around.ascii_only)
        return Piece((Span(keys, "key"), Span(f" {label}", "muted")), keep=keep)
