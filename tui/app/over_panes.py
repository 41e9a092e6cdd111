"""What the views over a session's panes have in common: a foot of keys, growth, and the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, cast

from textual import on

from tui.app.actions import ACTIONS
from tui.app.block_view import BlockView
from tui.app.closed_once import ClosedOnce
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.app.view_jump import SessionView, ViewJump
from tui.blocks.clean import clean_line
from tui.blocks.layout import Layout, plain_signs
from tui.blocks.text import Span
from tui.nodes.live import LiveReading
from tui.nodes.reading import Reading

if TYPE_CHECKING:
    from tui.app.application import DshApp

GROWTH_S: Final = 0.5
"""Seconds between two looks at a session that is being written."""
_KEPT: Final = {"help": 100, "back": 99}
"""What the foot says also where there is room for little."""
FootKeys: TypeAlias = tuple[tuple[str, str], ...]
"""Actions and what the foot says of them; beside the way out, what comes first is the last to go."""


class OverPanes(ClosedOnce[ViewJump]):
    """A view of a session over its panes; closes with where to go.

    Args:
        reading: the session, read to its end or being written.
        surroundings: language, keys, glyphs.
    """

    FOOT: ClassVar[FootKeys] = ()
    HERE: ClassVar[frozenset[str]] = frozenset()
    """The actions there are here, beside those of every view and of the program."""
    WORDS: ClassVar[Mapping[str, str]] = {}
    """What actions do here where that is not the registry's word; catalogue messages."""

    def __init__(self, reading: Reading, surroundings: Surroundings) -> None:
        super().__init__()
        self.surroundings = surroundings
        self.reading = reading
        self._notice = ""
        self._seen = len(reading.log)
        self._head = StatusBar(ascii_only=surroundings.ascii_only, id="head")
        self._foot = StatusBar(ascii_only=surroundings.ascii_only, id="foot")

    def on_mount(self) -> None:
        if isinstance(self.reading, LiveReading):
            self.set_interval(GROWTH_S, self._look)

    @property
    def _dsh_app(self) -> DshApp:
        return cast("DshApp", self.app)  # pyright: ignore[reportUnknownMemberType]

    @property
    def _title(self) -> str:
        return clean_line(self.reading.title) or clean_line(self.reading.log.header.id)

    @on(BlockView.FollowChanged)
    def _follow_changed(self, event: BlockView.FollowChanged) -> None:
        event.stop()

    def present_actions(self) -> dict[str, str]:
        """What can be done here, for the help and the palette."""
        tr = self.surroundings.tr
        present = [
            action.id for action in ACTIONS if action.scope in ("view", "app") or action.id in self.HERE
        ]
        return {each: tr.t(self.WORDS[each]) if each in self.WORDS else "" for each in present}

    # -- growth

    def _look(self) -> None:
        if len(self.reading.log) != self._seen:
            self._seen = len(self.reading.log)
            self.grow()

    def grow(self) -> None:
        """Take in what came since."""

    # -- the foot

    def say(self, sentence: str) -> None:
        """Show a sentence in the place of the keys until the next key."""
        self._notice = sentence
        self._tell_foot()

    def on_key(self) -> None:
        if self._notice:
            self._notice = ""
            self._tell_foot()

    def _tell_foot(self) -> None:
        if self._notice:
            self._foot.show([Piece((Span(self._notice, "warning"),), keep=100, least=1)])
            return
        tr, around = self.surroundings.tr, self.surroundings
        self._foot.show(
            [
                Piece(
                    (Span(around.key(action), "key"), Span(f" {tr.t(label)}", "muted")),
                    keep=_KEPT.get(action, 50 - at),
                )
                for at, (action, label) in enumerate(self.FOOT)
                if around.key(action)
            ]
        )

    def _own(self, text: str, role: str) -> Span:
        """A span of our own words, with the signs between them in ASCII where only that is drawn."""
        layout = Layout(1, self.surroundings.tr, expanded=True, ascii=self.surroundings.ascii_only)
        return plain_signs(layout, [Span(text, role)])[0]

    # -- landmarks, copying, leaving

    def _nearest(self, step: int, places: Sequence[int], here: int, nothing: str) -> int | None:
        """Return the next one of ascending places in a direction; says so if there is none."""
        ordered = places if step > 0 else list(reversed(places))
        found = next((place for place in ordered if (place - here) * step > 0), None)
        if found is None:
            self.say(nothing)
        return found

    async def _copy(self, text: str) -> None:
        if text:
            self.say(await self._dsh_app.copy(text))

    def _page(self, title: str, text: str) -> None:
        """Show a whole text in the pager."""
        from tui.app.pager import Pager

        if text:
            self._dsh_app.push_screen(Pager(self.surroundings, title, text))

    def leave(self, view: SessionView) -> None:
        """Close, and go to another view."""
        self.dismiss(ViewJump(view, self.item))

    @property
    def item(self) -> int:
        """The trajectory row that is looked at; -1 if there is none."""
        return -1

    def action_show_chat(self) -> None:
        self.leave("chat")

    def action_show_trajectory(self) -> None:
        self.leave("trajectory")
