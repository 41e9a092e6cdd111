"""The doctor's screen: what is wrong with the session that is open, why, and what to do; Enter goes there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, Literal, TypeAlias

from textual import on
from textual.app import ComposeResult

from tui.app.block_view import BlockView
from tui.app.closed_once import ClosedOnce
from tui.app.doctor_model import NOTE, DoctorModel, Note
from tui.app.keymap import bind
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.text import Span
from tui.i18n import Translator
from tui.loop.verification import Verification, Verified, Verifier, question, sentences
from tui.nodes.doctor import Examination, Examiner
from tui.session.errors import SessionError

DOCTOR_ACTIONS: Final = frozenset({"back", "quit", "doctor", "verify", "copy"})
DEAF_SECONDS: Final = 0.35
"""How long after the question appeared a key cannot agree: the key that asked for it may still be held."""

_SLICE_S: Final = 0.02
Phase: TypeAlias = Literal["", "preparing", "asking", "running"]


async def examined(examiner: Examiner, say: Callable[[str], None], tr: Translator) -> Examination:
    """Examine a session in slices, so that keys are heard meanwhile; a long one says that it is looked at."""
    while not examiner.step(_SLICE_S):
        say(tr.t("Examining the session…"))
        await asyncio.sleep(0)
    say("")
    return examiner.result()


class DoctorScreen(ClosedOnce[int | None]):
    """The findings; closes with the seq to go to, or with None.

    Args:
        surroundings: language, keys and glyphs.
        title: what the session is called; cleaned here.
        found: the examination of the whole log.
        verifier: makes a fresh session ready to be tried; None: none can be.
        copy: copies a text; returns the sentence that says how it went.
        verifies: begin with the question whether to try a fresh session.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        title: str,
        found: Examination,
        *,
        verifier: Verifier | None = None,
        copy: Callable[[str], Awaitable[str]] | None = None,
        verifies: bool = False,
    ) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._title = clean_line(title)
        self._found = found
        self._verifier = verifier
        self._copy = copy
        self._begins = verifies
        self._note: Callable[[Translator], Note] | None = None
        self._said = ""
        self._phase: Phase = ""
        self._since = 0.0
        self._agreed: asyncio.Future[bool] | None = None
        self._trial: asyncio.Future[Verified] | None = None
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
        self.set_interval(1.0, self._tick)
        self.call_after_refresh(self._choose_first)

    def renew(self, surroundings: Surroundings) -> None:
        """Another language or other keys."""
        self._surroundings = surroundings
        self._said = ""
        self._bind()
        self._show_note()

    def action_back(self) -> None:
        """Send nothing, or stop what runs; else close."""
        if self._agreed is not None and not self._agreed.done():
            self._agreed.set_result(False)
        elif self._trial is not None:
            self._trial.cancel()
        elif self._phase != "preparing":
            self.dismiss(None)

    def action_quit(self) -> None:
        """Close; leaving the program takes a second press."""
        self.dismiss(None)

    def action_doctor(self) -> None:
        """Close: the key that opened it."""
        self.dismiss(None)

    def action_verify(self) -> None:
        """Ask whether to try a fresh session; asked, agree."""
        if self._phase == "asking":
            self._agree()
        elif not self._phase:
            self.run_worker(self._verify(), group="verify", exit_on_error=True)

    async def action_copy(self) -> None:
        """Copy the block at the cursor."""
        if self._copy is not None and self.view.cursor is not None:
            self._say(await self._copy(self.model.copy_text(self.view.cursor)))

    def on_key(self) -> None:
        """A sentence in the place of the keys stands until the next one."""
        if self._said:
            self._say("")

    @on(BlockView.Activated)
    def _activated(self, event: BlockView.Activated) -> None:
        event.stop()
        if self.model.key(event.index) == NOTE:
            self._agree()
            return
        seq = self.model.seq_of(event.index)
        if seq is not None:
            self.dismiss(seq)

    @on(BlockView.FollowChanged)
    def _follow_changed(self, event: BlockView.FollowChanged) -> None:
        event.stop()

    @on(BlockView.Selected)
    def _selected(self, event: BlockView.Selected) -> None:
        event.stop()

    # -- a fresh session

    async def _verify(self) -> None:
        versions, tr = self._found.versions, self._surroundings.tr
        self._enter("preparing", None)
        try:
            ready = (
                await self._verifier(tr, versions.provider, versions.model)
                if self._verifier is not None
                else tr.t("This screen cannot send anything.")
            )
            if isinstance(ready, str):
                why = ready
                self._enter("", lambda tr: Note(tr.t("No fresh session can be tried"), (why,), "interrupted"))
                return
            try:
                await self._tried(ready)
            finally:
                await ready.close()
        finally:
            self._phase, self._agreed, self._trial = "", None, None
            self._show_foot()

    async def _tried(self, ready: Verification) -> None:
        self._agreed = asyncio.get_running_loop().create_future()
        self._enter("asking", lambda tr: self._question(tr, ready))
        if not await self._agreed:
            self._enter("", lambda tr: Note(tr.t("No fresh session was tried: nothing was sent"), (), "note"))
            return
        self._enter("running", lambda tr: Note(tr.t("Trying a fresh session…"), (), "note"))
        self._trial = asyncio.ensure_future(ready.run())
        try:
            await asyncio.wait((self._trial,))
        finally:
            self._trial.cancel()  # the screen was left
        if self._trial.cancelled():
            self._enter("", _stopped)
            return
        try:
            verified = self._trial.result()
        except (OSError, SessionError) as error:
            why = clean_line(str(error))
            self._enter("", lambda tr: Note(tr.t("The fresh session broke off"), (why,), "failure"))
            return
        self._enter("", lambda tr: _outcome(tr, verified))

    def _question(self, tr: Translator, ready: Verification) -> Note:
        keys = tr.t(
            "{send} sends it; {back} sends nothing.",
            send=self._surroundings.key_word("verify"),
            back=self._surroundings.key_word("back"),
        )
        return Note(tr.t("Try a fresh session?"), (*question(tr, ready.plan), keys), "approval")

    def _agree(self) -> None:
        agreed = self._agreed
        if agreed is not None and not agreed.done() and monotonic() - self._since >= DEAF_SECONDS:
            agreed.set_result(True)

    def _enter(self, phase: Phase, note: Callable[[Translator], Note] | None) -> None:
        self._phase, self._note, self._since = phase, note, monotonic()
        self._show_note()

    def _show_note(self) -> None:
        note = self._note(self._surroundings.tr) if self._note is not None else None
        self.model = DoctorModel(self._found, self._surroundings, note)
        self.view.set_model(self.model)
        if note is not None:
            self.view.select(self.model.index_of(NOTE), notify=False)
        self._show_foot()

    def _tick(self) -> None:
        if self._phase == "running":
            self._show_foot()

    # -- what is around the findings

    def _choose_first(self) -> None:
        first = next((at for at in range(self.model.count()) if self.model.selectable(at)), None)
        if first is not None and self.model.note is None:
            self.view.select(first, notify=False)
            self.view.scroll_to_line(0)
        if self._begins:
            self._begins = False
            self.action_verify()

    def _bind(self) -> None:
        keys, tr = self._surroundings.keys, self._surroundings.tr
        bind(self.view, keys, tr, "view")
        bind(self, keys, tr, "session", "app", only=DOCTOR_ACTIONS)
        self._head.show(
            [
                Piece((Span(tr.t("Doctor"), "title"),), keep=100),
                Piece((Span(self._title, "muted"),), keep=50),
            ],
            [],
        )
        self._show_foot()

    def _say(self, sentence: str) -> None:
        self._said = sentence
        self._show_foot()

    def _show_foot(self) -> None:
        tr = self._surroundings.tr
        if self._said:
            self._foot.show([Piece((Span(self._said, "warning"),), keep=100, least=1)], [])
            return
        match self._phase:
            case "asking":
                keys = [self._key("verify", tr.t("send"), 4), self._key("back", tr.t("send nothing"), 3)]
            case "running":
                passed = tr.duration(int(monotonic() - self._since) * 1000)
                told = tr.t("waiting for the provider, {time}", time=passed)
                keys = [self._key("back", tr.t("stop"), 4), Piece((Span(told, "accent"),), keep=3)]
            case "preparing":
                keys = [Piece((Span(tr.t("Preparing a fresh session…"), "accent"),), keep=4)]
            case _:
                leads = any(self.model.seq_of(at) is not None for at in range(self.model.count()))
                keys = [
                    *([self._key("activate", tr.t("go to the event"), 4)] if leads else []),
                    self._key("cursor-down", tr.t("move"), 2),
                    self._key("verify", tr.t("try a fresh session"), 3),
                    self._key("copy", tr.t("copy"), 1),
                    self._key("back", tr.t("close"), 5),
                ]
        self._foot.show(keys, [])

    def _key(self, action: str, label: str, keep: int) -> Piece:
        return Piece((Span(self._surroundings.key(action), "key"), Span(f" {label}", "muted")), keep=keep)


def _stopped(tr: Translator) -> Note:
    told = tr.t("What had been sent by then may still be counted by the provider.")
    return Note(tr.t("The fresh session was stopped"), (told,), "interrupted")


def _outcome(tr: Translator, verified: Verified) -> Note:
    if verified.failed_at == "message":
        title, what = tr.t("A fresh session fails too"), "failure"
    elif verified.failed_at or (verified.plan.tool and not verified.called):
        title, what = tr.t("A fresh session was answered, but the call did not work"), "interrupted"
    elif verified.plan.is_own_route:
        title, what = tr.t("A fresh session works"), "ok"
    else:
        title, what = tr.t("A fresh session works on another route"), "ok"
    return Note(title, tuple(sentences(tr, verified)), what)
