"""The first check of a session that goes on from a summary: what is said of it, and its confirmation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.app.live_words import unwritable_sentence
from tui.app.status_bar import Piece
from tui.blocks.text import Span
from tui.i18n import Translator
from tui.loop.fresh_start import FirstCheck
from tui.session.write_errors import SessionWriteError

if TYPE_CHECKING:
    from tui.app.conversation import Conversation


def check_piece(tr: Translator, check: FirstCheck | None) -> list[Piece]:
    """That only reading is allowed, for the head of the screen."""
    if check is None or not check.waits:
        return []
    return [Piece((Span(tr.t("reads only until /checked"), "warning"),), keep=85)]


def checked(tr: Translator, conversation: Conversation) -> str:
    """Confirm the first check; returns what to say."""
    check = conversation.first_check
    if check is None or not check.waits:
        return tr.t("Nothing waits for a check: tools that write and run are allowed as ever.")
    if conversation.agent.status == "running" or not check.is_seen:
        return tr.t("There is no first check to confirm yet; wait until the turn has its answer.")
    try:
        check.confirm()
    except SessionWriteError as error:
        return unwritable_sentence(tr, error)
    return tr.t("The check is confirmed: from now on tools may write and run, and ask as ever.")
