"""The registry as commands of Textual's palette, in the reader's language."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

from textual import on
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Provider
from textual.dom import DOMNode
from textual.widgets import Input, OptionList

from tui.app.actions import ACTIONS, Action, key_names
from tui.app.surroundings import Surroundings


@runtime_checkable
class HasSurroundings(Protocol):
    """An app that knows the language and the keys in force."""

    @property
    def surroundings(self) -> Surroundings:
        """What its screens are given."""
        ...


class ActionCommands(Provider):
    """Every action that the screen, its focused view or the app can do now."""

    async def discover(self) -> AsyncIterator[DiscoveryHit]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """All of them, in the registry's order."""
        for action, run in self._available():
            yield DiscoveryHit(self._label(action), run, help=self._keys(action))

    async def search(self, query: str) -> AsyncIterator[Hit]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Those whose label or id matches, so that the English id finds a command in every language."""
        matcher = self.matcher(query)
        for action, run in self._available():
            label = self._label(action)
            score = max(matcher.match(label), matcher.match(action.id))
            if score > 0:
                yield Hit(score, matcher.highlight(label), run, text=label, help=self._keys(action))

    @property
    def _surroundings(self) -> Surroundings:
        app = cast("object", self.app)
        if not isinstance(app, HasSurroundings):
            raise TypeError("the app of the palette has no surroundings")
        return app.surroundings

    def _label(self, action: Action) -> str:
        present = getattr(self.screen, "present_actions", None)
        own = present().get(action.id) if present is not None else None
        return own or self._surroundings.tr.t(action.label)

    def _keys(self, action: Action) -> str:
        surroundings = self._surroundings
        return key_names(surroundings.keys[action.id], surroundings.tr, ascii_only=surroundings.ascii_only)

    def _available(self) -> list[tuple[Action, Callable[[], Coroutine[Any, Any, None]]]]:
        places: dict[str, DOMNode | None] = {
            "view": self.focused,
            "session": self.screen,
            "matrix": self.focused,
            "requests": self.screen,
            "draft": self.screen,
            "app": cast("DOMNode", self.app),
            "live": self.screen,
        }
        found: list[tuple[Action, Callable[[], Coroutine[Any, Any, None]]]] = []
        for action in ACTIONS:
            # What a field does with a key while one writes or answers there is no command.
            place = places.get(action.scope)
            # The palette is what is open: offering it would only close it.
            if place is not None and action.id != "palette" and hasattr(place, f"action_{action.method}"):
                found.append((action, partial(_run, place, action)))
        return found


async def _run(place: DOMNode, action: Action) -> None:
    app = cast("App[object]", place.app)  # pyright: ignore[reportUnknownMemberType]
    await app.run_action(action.method, place)


class Palette(CommandPalette):
    """Textual's palette in the look of our dialogs."""

    CSS_PATH: ClassVar = "palette.tcss"

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close, unless it is closed already."""
        # As in `ClosedOnce`, which cannot be mixed into Textual's palette.
        return super().dismiss(result) if self.is_active else AwaitComplete()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose_once(self, event: Input.Submitted | OptionList.OptionSelected) -> None:
        # What was chosen has closed the palette: a second Enter must not do it twice.
        if not self.is_active:
            event.stop()
            event.prevent_default()

    def _action_command_list(self, action: str) -> None:
        # A list without room has no lines, and Textual's moves by lines.
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)


def palette(surroundings: Surroundings) -> CommandPalette:
    """The palette to push: only our commands, asked for in the reader's language."""
    return Palette([ActionCommands], placeholder=surroundings.tr.t("Search for a command…"))
