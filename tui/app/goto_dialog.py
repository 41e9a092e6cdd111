"""The prompt for a seq number."""

from __future__ import annotations

from textual.widgets import Input

from tui.app.line_prompt import LinePrompt
from tui.app.surroundings import Surroundings


class GotoDialog(LinePrompt[int]):
    """Asks for a seq number and is dismissed with it, or with None.

    Args:
        surroundings: language and glyphs.
        last: the highest seq there is; None while it is not known.
    """

    def __init__(self, surroundings: Surroundings, last: int | None) -> None:
        self._last = last
        tr = surroundings.tr
        question = (
            tr.t("Go to seq") if last is None else tr.t("Go to seq (0 to {last})", last=tr.number(last))
        )
        super().__init__(surroundings, question, Input(compact=True, max_length=12, restrict=r"[0-9]*"))

    def _answered(self, text: str) -> None:
        # Only what int() reads is let through by the field, but `²` and its like are digits to some.
        seq = int(text)
        if self._last is not None and seq > self._last:
            tr = self._surroundings.tr
            self._tell(tr.t("The last seq is {last}.", last=tr.number(self._last)))
            return
        self.dismiss(seq)
