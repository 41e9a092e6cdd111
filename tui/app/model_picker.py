"""The list of models over a live session: typing narrows it, Enter or a click chooses, Esc leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from tui.app.actions import key_names
from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.closed_once import ClosedOnce
from tui.app.model_choices import Choice, ModelList
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.text import Span


class ModelPicker(ModalScreen[Choice | None], ClosedOnce[Choice | None]):
    """Asks which model comes next and is dismissed with it, or with None.

    Args:
        surroundings: language and glyphs.
        found: what there is to choose from.
        providers: the configured ones.
    """

    CSS_PATH: ClassVar = "model_picker.tcss"

    def __init__(self, surroundings: Surroundings, found: Sequence[Choice], providers: Sequence[str]) -> None:
        super().__init__()
        self._surroundings = surroundings
        ascii_only = surroundings.ascii_only
        self.model = ModelList(found, surroundings, providers)
        self._field = Input(compact=True, select_on_focus=False)
        self._heading = BlockView(
            OneBlock(lambda width: [self.model.heading(width)]),
            following=False,
            ascii_only=ascii_only,
            id="model-heading",
        )
        self.list = BlockView(self.model, following=False, ascii_only=ascii_only, id="model-list")
        # Keys belong to the field; the list is moved from there.
        self.list.can_focus = self._heading.can_focus = False
        self.list.styles.height = max(1, len(found))
        self._foot = StatusBar(ascii_only=ascii_only, id="model-foot")
        self._frame = Vertical()

    def compose(self) -> ComposeResult:
        """The field, the list and the keys, framed."""
        with self._frame:
            yield self._field
            yield self._heading
            yield self.list
            yield self._foot

    def on_mount(self) -> None:
        """Begin at the model that is asked."""
        self.renew(self._surroundings)
        self._field.focus()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.list.select(self.model.asked() or 0, notify=False)

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self._surroundings = self.model.surroundings = surroundings
        tr = surroundings.tr
        self._frame.border_title = tr.t("Models")
        self._field.placeholder = tr.t("Type to narrow the list, or PROVIDER/MODEL")
        self._heading.model_changed()
        self.list.model_changed()
        self._show_keys()

    def _show_keys(self) -> None:
        tr, ascii_only = self._surroundings.tr, self._surroundings.ascii_only
        if not self.model.count():
            self._foot.show([Piece((Span(tr.t("No model matches."), "warning"),))])
            return
        keys = ((("enter",), tr.t("choose")), (("up", "down"), tr.t("move")), (("escape",), tr.t("close")))
        self._foot.show(
            [
                Piece((Span(key_names(names, tr, ascii_only=ascii_only), "key"), Span(f" {label}", "muted")))
                for names, label in keys
            ]
        )

    @on(Input.Changed)
    def _narrowed(self, event: Input.Changed) -> None:
        event.stop()
        self.model.filter(event.value)
        self.list.model_changed()
        self.list.select(0 if event.value.strip() else self.model.asked() or 0, notify=False)
        self._show_keys()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        at = self.list.cursor
        if at is not None and at < self.model.count():
            self.dismiss(self.model.shown[at])

    @on(BlockView.Selected)
    @on(BlockView.Activated)
    def _clicked(self, event: BlockView.Selected | BlockView.Activated) -> None:
        # The keyboard moves the cursor without a message, so this was the mouse.
        event.stop()
        if event.index < self.model.count():
            self.dismiss(self.model.shown[event.index])

    def on_key(self, event: events.Key) -> None:
        """Move in the list, or leave without a choice."""
        at, last = self.list.cursor or 0, self.model.count() - 1
        page = max(1, self.list.size.height - 1)
        match event.key:
            case "escape" | "ctrl+c":
                self.dismiss(None)
            case "up" | "ctrl+p":
                self.list.select(last if at == 0 else at - 1, notify=False)
            case "down" | "ctrl+n":
                self.list.select(0 if at == last else at + 1, notify=False)
            case "pageup":
                self.list.select(max(0, at - page), notify=False)
            case "pagedown":
                self.list.select(min(last, at + page), notify=False)
            case _:
                return
        event.stop()
        event.prevent_default()
