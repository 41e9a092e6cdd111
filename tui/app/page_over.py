"""What the pages over a screen have in common: they close, and look and language change below them too."""

from __future__ import annotations

from textual.screen import ModalScreen

from tui.app.closed_once import ClosedOnce


class PageOver(ModalScreen[None], ClosedOnce[None]):
    """A page to be read and closed."""

    def action_back(self) -> None:
        """Close."""
        self.dismiss(None)

    def action_quit(self) -> None:
        """Close; leaving the program takes a second press."""
        self.dismiss(None)

    async def action_switch_language(self) -> None:
        """The other language; Textual keeps the program's own keys from what lies over a screen."""
        await self.run_action("app.switch_language")

    async def action_switch_theme(self) -> None:
        """Dark or light."""
        await self.run_action("app.switch_theme")
