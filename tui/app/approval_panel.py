"""The question whether a call may run: the command and its arguments whole, and three answers.

Nothing of the call is interpreted or left out: what cannot be drawn stands there as a visible sign, and what
does not fit is scrolled to. No single key that belongs to a sentence allows anything while one is being
written: the panel takes the keyboard only from an empty composer, and listens a moment later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from tui.app.actions import key_name
from tui.app.block_model import OneBlock
from tui.app.block_view import BlockView
from tui.app.keymap import bind
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import visible
from tui.blocks.glyphs import mark
from tui.blocks.json_view import json_lines
from tui.blocks.text import EMPTY, Line, Span, line
from tui.blocks.wording_names import name_text
from tui.blocks.wrap import wrap
from tui.i18n import Translator
from tui.session.json_text import compact
from tui.tools.approval import AllowAlways, AllowOnce, Answer, ApprovalRequest, Dismiss, Reject

DEAF_SECONDS: Final = 0.35
"""How long after it appeared a key cannot answer."""
PAGE_ROWS: Final = 8
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+")


def command_text(command: Sequence[str]) -> str:
    """A command as one line in which every argument's bounds and characters can be told."""
    return " ".join(word if word and set(word) <= _PLAIN else compact(word) for word in command)


def question_lines(request: ApprovalRequest, tr: Translator, width: int) -> list[Line]:
    """Everything there is to know about a call before it is allowed."""
    sign = mark("approval")
    title = tr.t("May {tool} run?", tool=name_text(request.tool_name))
    rows = wrap([Span(f"{sign.text} ", "approval"), Span(title, "approval bold")], width)
    if request.reason:
        rows += wrap([Span(visible(request.reason), "text")], width, indent=[Span("  ")])
    if request.command is not None:
        rows.append(line(Span("  "), Span(tr.t("command"), "muted")))
        told = visible(command_text(request.command))
        rows += wrap([Span(told, "tool")], width, indent=[Span("    ")])
    rows.append(line(Span("  "), Span(tr.t("arguments"), "muted")))
    if isinstance(request.arguments, (dict, list)):
        shown = json_lines(request.arguments, max(width - 4, 1), None)  # pyright: ignore[reportUnknownMemberType]
        rows += [Line((Span("    "), *row.spans), row.cells + 4) for row in shown]
    else:
        rows += wrap([Span(visible(str(request.arguments)), "text")], width, indent=[Span("    ")])
    return rows or [EMPTY]


class ApprovalPanel(Vertical, can_focus=True):
    """Puts one question at a time; an `Answerer` of the approval service."""

    class Asked(Message):
        """A question has come, or went (None)."""

        def __init__(self, request: ApprovalRequest | None) -> None:
            super().__init__()
            self.request = request

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(id="approval")
        self._surroundings = surroundings
        self._request: ApprovalRequest | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self._since = 0.0
        self._page = BlockView(
            OneBlock(self._lines), following=False, ascii_only=surroundings.ascii_only, id="approval-page"
        )
        self._page.can_focus = False
        self._keys = StatusBar(ascii_only=surroundings.ascii_only, id="approval-keys")
        self._reason = Input(id="approval-reason")
        bind(self, surroundings.keys, surroundings.tr, "approval")

    def compose(self) -> ComposeResult:
        yield self._page
        yield self._reason
        yield self._keys

    def on_mount(self) -> None:
        """Nothing is asked yet."""
        self.display = False
        self._reason.display = False

    @property
    def request(self) -> ApprovalRequest | None:
        """The question that is open."""
        return self._request

    async def answer(self, request: ApprovalRequest) -> Answer:
        """Put a question and return what the user said; cancelled, it is taken back."""
        self._answer = asyncio.get_running_loop().create_future()
        self._show(request)
        try:
            return await self._answer
        finally:
            self._answer = None
            self._show(None)

    def close(self) -> None:
        """Close the question without an answer, if there is one."""
        self._say(Dismiss())

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self._surroundings = surroundings
        bind(self, surroundings.keys, surroundings.tr, "approval")
        self._page.model_changed()
        self._show_keys()

    def _show(self, request: ApprovalRequest | None) -> None:
        self._request = request
        self._since = monotonic()
        self.display = request is not None
        self._reason.display = False
        self._reason.value = ""
        if request is not None:
            self._fit()
            self._page.model_changed()
            self._page.scroll_to_line(0)
            self._show_keys()
        self.post_message(self.Asked(request))

    def on_resize(self, event: events.Resize) -> None:
        """Take as many rows as the question has, if there is room."""
        self._fit()

    def _fit(self) -> None:
        width = max((self.size.width or self.screen.size.width) - 3, 8)
        rows = len(self._lines(width))
        self._page.styles.height = max(2, min(rows, self.screen.size.height // 2 - 3))

    def _lines(self, width: int) -> Sequence[Line]:
        request = self._request
        return [EMPTY] if request is None else question_lines(request, self._surroundings.tr, width)

    def _show_keys(self) -> None:
        tr, key, request = self._surroundings.tr, self._surroundings.key, self._request
        offers = [(key("approve-once"), tr.t("allow once"))]
        if request is not None and request.grant is not None:
            offers.append((key("approve-always"), tr.t("always in this session")))
        offers.append((key("reject"), tr.t("reject, with a reason")))
        offers.append((key("back"), tr.t("stop the turn")))
        if self._reason.display:
            # Enter is the field's own.
            enter = key_name("enter", tr, ascii_only=self._surroundings.ascii_only)
            offers = [(enter, tr.t("reject")), (key("back"), tr.t("back to the question"))]
        self._keys.show(
            [
                Piece((Span(name, "key"), Span(f" {text}", "muted")), keep=90 - at)
                for at, (name, text) in enumerate(offers)
                if name
            ]
        )

    # -- answers

    @property
    def is_asking_reason(self) -> bool:
        """The reason of a rejection is being written."""
        return self._reason.display

    def action_approve_once(self) -> None:
        self._say_heard(AllowOnce())

    def action_approve_always(self) -> None:
        if self._request is not None and self._request.grant is not None:
            self._say_heard(AllowAlways())

    def action_reject(self) -> None:
        if not self._hears():
            return
        self._reason.placeholder = self._surroundings.tr.t("Why not? The model is told; empty is fine.")
        self._reason.display = True
        self._reason.focus()
        self._show_keys()

    def leave_reason(self) -> None:
        """Back to the question from its reason."""
        self._reason.display = False
        self.focus()
        self._show_keys()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Reject, with what was written."""
        event.stop()
        self._say(Reject(event.value.strip()))

    def action_question_up(self) -> None:
        self._page.scroll_lines(-1)

    def action_question_down(self) -> None:
        self._page.scroll_lines(1)

    def action_question_page_up(self) -> None:
        self._page.scroll_lines(-PAGE_ROWS)

    def action_question_page_down(self) -> None:
        self._page.scroll_lines(PAGE_ROWS)

    def _hears(self) -> bool:
        return monotonic() - self._since >= DEAF_SECONDS

    def _say_heard(self, answer: Answer) -> None:
        if self._hears():
            self._say(answer)

    def _say(self, answer: Answer) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)
