"""A screen over another one that is closed once, however many keys and answers come after that."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType


class ClosedOnce(Screen[ScreenResultType]):
    """Textual's `dismiss` takes away whatever screen is on top; this one only the screen itself.

    What a widget has sent before its screen went, such as a second Enter, comes too late and does nothing.
    Among several bases it is the last: Textual takes a screen's looks from the first one alone.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with a result, unless it is closed already or lies under another screen."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
