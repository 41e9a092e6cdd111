"""The Textual app: themes, language, keys of the program, and the screens it opens."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App
from textual.screen import Screen

from tui.app import themes
from tui.app.actions import effective_keys
from tui.app.keymap import bind
from tui.app.surroundings import Surroundings
from tui.i18n import LANGS, translator
from tui.settings import Settings

if TYPE_CHECKING:
    from tui.app.conversation import Conversation, Starter
    from tui.app.pager import Pager
    from tui.llm.route_book import RouteBook
    from tui.loop.fresh_start import FreshStart


class DshApp(App[int]):
    """dsh-tui on the screen.

    Args:
        settings: language, theme, keys, glyphs.
        first: makes the first screen once the app's surroundings are known.
        starter: begins a session from a summary; None: nothing can be begun from here.
    """

    CSS_PATH: ClassVar = ["app.tcss", "session.tcss", "timeline.tcss"]
    TITLE = "dsh-tui"
    # Textual's own key for its own palette would hide ours.
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = []

    def __init__(
        self,
        settings: Settings,
        first: Callable[[DshApp], Screen[None]],
        *,
        starter: Starter | None = None,
    ) -> None:
        environ = {**os.environ, "NO_COLOR": "1"} if settings.no_color else os.environ
        if settings.no_color:
            # Textual reads the variable itself.
            os.environ["NO_COLOR"] = "1"
        super().__init__(ansi_color=bool(themes.wants_ansi(environ)))
        self.settings = settings
        self._first = first
        self._starter = starter
        self.started: list[Conversation] = []
        """Sessions that were begun from here; whoever runs the app closes them."""
        self.surroundings = Surroundings(
            tr=translator(settings.lang), keys=effective_keys(settings.keys), ascii_only=settings.ascii
        )
        self.set_class(settings.ascii, "-ascii")
        self._routes: RouteBook | None = None
        self._mouse_is_released = False
        themes.register(self, themes.LIGHT if settings.theme == "light" else themes.DARK)
        # So that the first style sheet is read once, with the tones it is drawn in.
        self.stylesheet.set_variables(self.get_css_variables())

    def refresh_css(self, animate: bool = True) -> None:
        # Wearing the first theme asks for this too, when there is no screen yet that could look different.
        if self.screen_stack:
            super().refresh_css(animate=animate)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.variable_defaults()

    def get_default_screen(self) -> Screen[None]:
        """The first screen stands in the place of Textual's empty one, which would be drawn before it."""
        screen = self._first(self)
        if screen.css_path:
            # Textual reads the styles of screens that are put over another, not those of the first.
            self.stylesheet.read_all(screen.css_path)
        return screen

    def on_mount(self) -> None:
        bind(self, self.surroundings.keys, self.surroundings.tr, "app")
        self.call_after_refresh(self._collect_again)

    @staticmethod
    def _collect_again() -> None:
        """The first picture stands: what the start has made stays, and garbage is collected from here on."""
        gc.freeze()
        gc.enable()

    async def on_event(self, event: events.Event) -> None:
        """Hear no key on the way out, and clean what is pasted: fields draw it as it is.

        A field that sends a paste on whole cleans what it draws of it itself.
        """
        if self._exit and isinstance(event, events.InputEvent | events.Paste):
            # The screens are being taken down: what a key does needs them.
            return
        if isinstance(event, events.Paste) and not event.is_forwarded:
            from tui.blocks.clean import clean

            if not getattr(self.focused, "cleans_pastes", False):
                event = events.Paste(clean(event.text))
        await super().on_event(event)

    @property
    def clipboard(self) -> str:
        """What was cut or copied in a field; without line ends for a field of one row."""
        from textual.widgets import Input

        text = super().clipboard
        return " ".join(text.splitlines()) if isinstance(self.focused, Input) else text

    async def copy(self, text: str) -> str:
        """Copy a text by every way there is; returns the sentence that says how it went."""
        from tui.app.clipboard import copy

        outcome = await copy(text, self._write, os.environ)
        return outcome.sentence(self.surroundings.tr)

    async def start_fresh(self, fresh: FreshStart) -> Conversation | str:
        """Begin a session from a summary, or return the sentence why not."""
        if self._starter is None:
            return self.surroundings.tr.t("No session can be started from here.")
        conversation = await self._starter(fresh)
        if not isinstance(conversation, str):
            self.started.append(conversation)
        return conversation

    @property
    def routes(self) -> RouteBook:
        """What is known of the routes that logs name."""
        if self._routes is None:
            from tui.config import ConfigError
            from tui.llm.route_book import RouteBook

            try:
                self._routes = self.settings.routes() if self.settings.routes is not None else RouteBook()
            except ConfigError:
                # Whoever talks is told; a log can be read with less.
                self._routes = RouteBook()
        return self._routes

    def _write(self, sequence: str) -> None:
        """Put a sequence on the terminal, past the compositor, as Textual does for its own."""
        if self._driver is not None:
            self._driver.write(sequence)

    async def on_pager_copy_requested(self, event: Pager.CopyRequested) -> None:
        """The pager lies over the screen that could say it, so the program does."""
        self.notify(await self.copy(event.text), markup=False)

    # -- actions

    def action_help(self) -> None:
        from tui.app.help_screen import HelpScreen

        # What a screen can do, where it is not what a session's can.
        self.push_screen(HelpScreen(self.surroundings, getattr(self.screen, "present_actions", None)))

    def action_palette(self) -> None:
        from tui.app.palette import palette

        self.push_screen(palette(self.surroundings))

    def action_switch_language(self) -> None:
        """The other language, at once and everywhere."""
        current = self.surroundings
        other = next(lang for lang in LANGS if lang != current.tr.lang)
        self.surroundings = Surroundings(
            tr=translator(other), keys=current.keys, ascii_only=current.ascii_only
        )
        bind(self, self.surroundings.keys, self.surroundings.tr, "app")
        for screen in self.screen_stack:
            renew = getattr(screen, "renew", None)
            if renew is not None:
                renew(self.surroundings)

    def action_switch_theme(self) -> None:
        self.theme = themes.NEXT_THEME[self.theme]

    def action_redraw(self) -> None:
        self.refresh(layout=True)
        self.screen.refresh(repaint=True)

    def action_release_mouse(self) -> None:
        """Let the terminal have the mouse, so that it can select; or take it back."""
        driver = self._driver
        if driver is None:
            return
        self._mouse_is_released = not self._mouse_is_released
        switch = "_disable_mouse_support" if self._mouse_is_released else "_enable_mouse_support"
        method = getattr(driver, switch, None)
        if method is not None:
            method()
        tr = self.surroundings.tr
        say = getattr(self.screen, "say", None)
        if say is not None:
            say(
                tr.t(
                    "The mouse belongs to the terminal; {key} takes it back.",
                    key=self.surroundings.key("release-mouse"),
                )
                if self._mouse_is_released
                else tr.t("The mouse works here again.")
            )
