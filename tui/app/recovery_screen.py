"""The draft of a summary in an editor: a person corrects it, then a fresh session starts from it.

A model words it better when it is asked to, and only then; what the draft was before can always be had back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import TextArea

from tui.app.actions import ACTIONS
from tui.app.closed_once import ClosedOnce
from tui.app.conversation import Conversation, Starter
from tui.app.file_dialog import FileDialog
from tui.app.keymap import bind
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.text import Span
from tui.i18n import Translator
from tui.loop.fresh_start import FreshStart
from tui.loop.improvement import Improvement, ImprovementFailed
from tui.session.cancel import CancelSignal

_BEAT_S: Final = 0.1
"""How often the draft is shown anew while a model writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftDoors:
    """What leads out of the editor."""

    start: Starter
    copy: Callable[[str], Awaitable[str]]
    """Copies a text; returns the sentence that says how it went."""
    save: Callable[[Path, str], None]
    """Writes a text to a file; raises OutputRefused or OSError."""
    improver: Callable[[Translator], Improvement | str] | None = None
    """Asks a model; a sentence says why it cannot, None: it never can."""
    excerpt: Callable[[], str] = str
    """The newest of the session as text, for a model."""


class RecoveryScreen(ModalScreen[Conversation | None], ClosedOnce[Conversation | None]):
    """Edits a draft; closes with the session that was started from it, or with None.

    Args:
        surroundings: language, keys and glyphs.
        draft: the summary with the original it is of; of a checkpoint the screen says so.
        doors: what leads out of it.
    """

    CSS_PATH: ClassVar = "recovery.tcss"

    def __init__(self, surroundings: Surroundings, draft: FreshStart, doors: DraftDoors) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._draft = draft
        self._doors = doors
        self._starts = False
        self._told = ""
        self._asked_to_close = False
        self._put = draft.summary
        """What stands in the editor, were it not edited since."""
        self._saved = draft.summary
        """What is not lost when the editor is closed."""
        self._other = ""
        """The draft before the model, or after it; empty without one."""
        self._asked: CancelSignal | None = None
        """Stops the model that writes."""
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
        self._bind()
        self.editor.focus()
        self._tell()

    def on_unmount(self) -> None:
        """Let no request go on that nobody waits for."""
        if self._asked is not None:
            self._asked.cancel({"kind": "user"})

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language; the draft stays as it is."""
        self._surroundings = surroundings
        self._bind()
        self._tell()

    def present_actions(self) -> dict[str, str]:
        """What can be done here, for the help and the palette."""
        return {action.id: "" for action in ACTIONS if action.scope == "draft"}

    # -- keys

    async def action_palette(self) -> None:
        """The palette; Textual keeps the program's own keys from what lies over a screen."""
        await self.run_action("app.palette")

    async def action_draft_help(self) -> None:
        """Every key of the draft."""
        await self.run_action("app.help")

    async def action_copy_draft(self) -> None:
        """Copy the draft as it stands."""
        self._tell(await self._doors.copy(self.editor.text))

    def action_save_draft(self) -> None:
        """Ask for a file and write the draft to it as it stands."""
        text = self.editor.text

        def write(place: Path) -> None:
            self._doors.save(place, text)

        def saved(place: Path | None) -> None:
            if place is not None:
                self._saved = text
                tr = self._surroundings.tr
                self._tell(tr.t("Saved as {file}", file=clean_line(str(place))))

        self.app.push_screen(FileDialog(self._surroundings, self._file_name(), write), saved)  # pyright: ignore[reportUnknownMemberType]

    def action_close_draft(self) -> None:
        """Stop the model, else close; what was edited is lost only by a second press."""
        if self._asked is not None:
            self._asked.cancel({"kind": "user"})
            return
        if self._starts:
            return
        if self.editor.text == self._saved or self._asked_to_close:
            self.dismiss(None)
            return
        self._asked_to_close = True
        self._tell(self._surroundings.tr.t("The draft was edited; press it again to discard the changes."))

    def action_start_fresh(self) -> None:
        """Start a fresh session from the draft, unless one is being started."""
        tr = self._surroundings.tr
        if self._asked is not None:
            self._tell_of_model()
        elif not self.editor.text.strip():
            self._tell(tr.t("The summary is empty; a fresh session needs one."))
        elif not self._starts:
            self._starts = True
            self._tell(tr.t("Starting a fresh session…"))
            self.run_worker(self._begin())

    def action_improve_draft(self) -> None:
        """Send the draft to a model."""
        tr = self._surroundings.tr
        if self._starts:
            return
        if self._asked is not None:
            self._tell_of_model()
            return
        if not self.editor.text.strip():
            self._tell(tr.t("The summary is empty; there is nothing to improve."))
            return
        improver = self._doors.improver
        improvement = improver(tr) if improver is not None else tr.t("No model can be asked from here.")
        if isinstance(improvement, str):
            self._tell(improvement)
            return
        self._asked = CancelSignal()
        self.run_worker(self._improve(improvement, self._asked))

    def action_other_draft(self) -> None:
        """Change between the draft before the model and the one after it, each with what was edited."""
        tr = self._surroundings.tr
        if self._asked is not None:
            self._tell_of_model()
        elif not self._other:
            key = self._surroundings.key_word("improve-draft")
            self._tell(tr.t("There is only one draft; {key} lets a model improve it.", key=key))
        else:
            shown, self._other = self._other, self.editor.text
            self._show(shown)
            self._tell(tr.t("This is the other draft; the same key brings the one before back."))

    # -- what they begin

    async def _begin(self) -> None:
        started = await self._doors.start(replace(self._draft, summary=self.editor.text))
        self._starts = False
        if isinstance(started, str):
            self._tell(started)
        else:
            # The help or the prompt for a file may lie over the draft by now.
            while self in self.app.screen_stack and not self.is_active:  # pyright: ignore[reportUnknownMemberType]
                await self.app.pop_screen()  # pyright: ignore[reportUnknownMemberType]
            self.dismiss(started)

    async def _improve(self, improvement: Improvement, signal: CancelSignal) -> None:
        from tui.export.recovery_merge import improved

        tr = self._surroundings.tr
        before, route = self.editor.text, improvement.route(tr)
        self._tell_of_model(route)
        self.editor.read_only = True
        answer, shown = "", 0.0
        try:
            async for answer in improvement.stream(before, self._doors.excerpt(), tr, signal):
                if monotonic() - shown > _BEAT_S:
                    self._show(improved(before, answer, tr, route))
                    shown = monotonic()
        except ImprovementFailed as failed:
            self._show(before)
            told = failed.sentence(self._surroundings.tr)
        else:
            self._other = before
            self._show(improved(before, answer, tr, route))
            key = self._surroundings.key_word("other-draft")
            told = self._surroundings.tr.t(
                "Improved by {route}; {key}: as it was before", route=route, key=key
            )
        finally:
            self.editor.read_only = False
            self._asked = None
        self._tell(told)

    def _show(self, text: str) -> None:
        """Put a text into the editor, as near as can be to where the reader was."""
        editor, self._put = self.editor, text
        if editor.text == text:
            return
        place, offset = editor.cursor_location, editor.scroll_offset
        editor.text = text
        editor.move_cursor(place)
        editor.scroll_to(offset.x, offset.y, animate=False, force=True)

    @on(TextArea.Changed, "#draft")
    def _edited(self, event: TextArea.Changed) -> None:
        event.stop()
        if self._asked is None and event.text_area.text != self._put:
            self._asked_to_close = False
            if self._told:
                self._tell()

    # -- what is said

    def _file_name(self) -> str:
        draft = self._draft
        kind = "checkpoint" if draft.checkpoint else "summary"
        parts = [kind, draft.session[-8:], str(draft.seq) if draft.seq is not None else ""]
        return "-".join(part for part in parts if part) + ".md"

    def _tell_of_model(self, route: str = "") -> None:
        tr, key = self._surroundings.tr, self._surroundings.key_word("close-draft")
        if route:
            self._tell(
                tr.t("Draft and newest messages went to {route}; {key} stops it", route=route, key=key)
            )
        else:
            self._tell(tr.t("The model is still writing; {key} stops it.", key=key))

    def _bind(self) -> None:
        keys, tr = self._surroundings.keys, self._surroundings.tr
        bind(self, keys, tr, "draft", "app", only={*self.present_actions(), "palette"}, priority=True)

    def _tell(self, told: str = "") -> None:
        self._told = told
        tr = self._surroundings.tr
        if self._draft.checkpoint:
            title = tr.t("Checkpoint")
            what = tr.t("save it, or go on from it in a fresh session with today's tools")
        else:
            title = tr.t("Draft of a summary")
            what = tr.t("correct it; a fresh session gets it as its first prompt")
        self._head.show(
            [Piece((Span(title, "title"),), keep=100), Piece((Span(what, "muted"),), keep=50)], []
        )
        if told:
            self._foot.show([Piece((Span(told, "warning"),), keep=100, least=1)], [])
            return
        labels = [
            ("start-fresh", tr.t("start a fresh session"), 6),
            ("improve-draft", tr.t("let a model improve it"), 4),
            ("other-draft", tr.t("other draft") if self._other else "", 3),
            ("save-draft", tr.t("save"), 2),
            ("copy-draft", tr.t("copy"), 1),
            ("close-draft", tr.t("close"), 5),
            ("draft-help", tr.t("keys"), 0),
        ]
        pieces = [self._key(action, label, keep) for action, label, keep in labels if label]
        self._foot.show([piece for piece in pieces if piece is not None], [])

    def _key(self, action: str, label: str, keep: int) -> Piece | None:
        name = self._surroundings.key(action)
        return Piece((Span(name, "key"), Span(f" {label}", "muted")), keep=keep) if name else None
