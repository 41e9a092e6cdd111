"""An app that only shows one screen or widget, dressed as the real one."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from tui.app import themes
from tui.app.actions import effective_keys
from tui.app.surroundings import Surroundings
from tui.i18n import translator


def surroundings(lang: str = "en", *, ascii_only: bool = False) -> Surroundings:
    """The default keys in a language."""
    return Surroundings(translator(lang), effective_keys(), ascii_only)


class DressedApp(App[None]):
    """Shows what `compose` makes and keeps what is posted to it.

    Args:
        widgets: made inside `compose`, where there is an app.
        theme: the theme to wear.
    """

    CSS = files("tui.app").joinpath("app.tcss").read_text("utf-8")
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, *widgets: Callable[[], Widget], theme: str = themes.DARK, ansi_color: bool | None = None
    ) -> None:
        super().__init__(ansi_color=ansi_color)
        themes.register(self, theme)
        self.widgets = widgets
        self.surroundings = surroundings()
        self.heard: list[object] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.variable_defaults()

    def compose(self) -> ComposeResult:
        for make in self.widgets:
            yield make()

    def on_pager_copy_requested(self, message: object) -> None:
        self.heard.append(message)

    def action_switch_theme(self) -> None:
        self.heard.append("switch-theme")


def screen_text(app: App[None]) -> list[str]:
    """The rows of the whole screen as the compositor puts them together."""
    width, height = app.size
    rows = app.screen._compositor.render_strips()
    assert len(rows) == height
    texts = [strip.text for strip in rows]
    assert all(strip.cell_length == width for strip in rows)
    return texts


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    for _ in range(200):
        if condition():
            return
        await pilot.pause()
    raise AssertionError("the condition never came true")
