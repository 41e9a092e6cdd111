"""Chat and Trajectory of one session, side by side, or as tabs where it is narrow, with linked cursors.

What the panes show is in the models, how the log comes in `loader`; this screen holds them together: each
pane follows what is selected in the other, and the whole log takes the place of its tail when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from tui.app.actions import Scope
from tui.app.block_view import BlockView
from tui.app.chat_model import ChatModel
from tui.app.inspector_pane import InspectorPane
from tui.app.keymap import bind, footer
from tui.app.loader import read_rest
from tui.app.navigation import node_of_row, node_of_trajectory, trajectory_of_node, trajectory_of_row
from tui.app.part import Part
from tui.app.reading_model import ReadingModel
from tui.app.session_status import head_left, head_right
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.app.timeline import Timeline
from tui.app.trajectory_model import TrajectoryModel
from tui.blocks.text import Span
from tui.nodes.reading import Reading

if TYPE_CHECKING:
    from tui.app.application import DshApp

WIDE_CELLS = 100
"""From this width on both panes stand side by side."""
TALL_ROWS = 30
"""From this height on the timeline is shown beside an open inspector too."""
LOW_ROWS = 20
"""Below this height the timeline gives its rows to the records."""
Pane = Literal["chat", "trajectory"]


class LinkedPanes(Screen[None]):
    """Chat and Trajectory of one session, without the keys that `SessionScreen` gives them.

    Args:
        whole: the reading of the log; read further behind if it is not complete.
        tail: a complete reading of its end, shown until then.
        surroundings: language, keys, glyphs.
        pane: which pane has the keyboard at first.
        at: sequence number to open at; the tail if None.
    """

    # The pane that was asked for gets the keyboard, not the first one there is.
    AUTO_FOCUS = ""
    SCOPES: ClassVar[tuple[Scope, ...]] = ("session",)
    """Whose actions the screen itself does."""

    def __init__(
        self,
        whole: Reading,
        tail: Reading | None,
        surroundings: Surroundings,
        *,
        pane: Pane = "chat",
        at: int | None = None,
    ) -> None:
        super().__init__()
        self.surroundings = surroundings
        self.whole = whole
        self.reading = tail if tail is not None else whole
        self.pane: Pane = pane
        self._progress: float | None = None if whole.complete else 0.0
        self._waiting: list[Callable[[], None]] = []
        self._at = at
        self.item = -1
        tr, ascii_only, pager = surroundings.tr, surroundings.ascii_only, surroundings.key_word("pager")
        self.chat_model = ChatModel(self.reading, tr, ascii_only=ascii_only, pager=pager)
        self.trajectory_model = TrajectoryModel(self.reading, tr, ascii_only=ascii_only)
        self._head = StatusBar(ascii_only=ascii_only, id="head")
        self.chat = BlockView(self.chat_model, ascii_only=ascii_only, id="chat")
        self.trajectory = BlockView(self.trajectory_model, ascii_only=ascii_only, id="trajectory")
        self.timeline = Timeline(surroundings, id="timeline")
        self.inspector = InspectorPane(surroundings, id="inspector")
        self.chat_pane = Vertical(id="chat-pane")
        self.side_pane = Vertical(id="side-pane")
        self._foot = StatusBar(ascii_only=ascii_only, id="foot")
        self._notice = ""

    def compose(self) -> ComposeResult:
        # All that decides the layout is settled before the widgets are mounted: each change after it would be
        # one more whole picture at the start.
        bind(self, self.surroundings.keys, self.surroundings.tr, *self.SCOPES)
        for view in (self.chat, self.trajectory, self.inspector.text_view):
            bind(view, self.surroundings.keys, self.surroundings.tr, "view")
        self.inspector.display = False
        self._arrange()
        self._show_titles()
        yield self._head
        with Horizontal(id="panes"):
            with self.chat_pane:
                yield self.chat
            with self.side_pane:
                yield self.timeline
                yield self.trajectory
                yield self.inspector
        yield self._foot

    def on_mount(self) -> None:
        self.timeline.show(self.reading)
        self._put_cursors_at_end()
        self.set_focus(self._first_focus)
        if self._at is not None:
            self.go_to_seq(self._at)
        if not self.whole.complete:
            self.run_worker(self._read_rest(), exit_on_error=True)

    @property
    def _first_focus(self) -> Widget:
        """What has the keyboard at first: whoever types before the first picture is not to lose a key."""
        return self._view(self.pane)

    # -- reading

    async def _read_rest(self) -> None:
        await read_rest(self.whole, self._told)
        self._take_whole()

    def _told(self, progress: float) -> None:
        self._progress = progress
        self.chat_model.progress = self.trajectory_model.progress = progress
        if self.reading is self.whole:
            for model, view in self._panes():
                view.model_changed(appended=model.extend())
        self._show_head()

    def _take_whole(self) -> None:
        """Show the whole log in the place of its tail; what was waiting for it is done now."""
        tail, self._progress = self.reading, None
        if tail is self.whole:
            for model, view in self._panes():
                view.model_changed(appended=model.extend())
        else:
            key = self.trajectory_model.item_key(self.item) if self.item >= 0 else None
            self.reading = self.whole
            self.chat_model = self.chat_model.with_reading(self.whole)
            self.trajectory_model = self.trajectory_model.with_reading(self.whole)
            self._set_models()
            found = self.trajectory_model.find_item(key) if key is not None else None
            self.item = found if found is not None else -1
            tail.log.close()
        self.timeline.show(self.reading)
        self._tell_item()
        self._show_head()
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            action()

    def when_whole(self, action: Callable[[], None]) -> None:
        """Do something as soon as the whole log is read; at once if it is."""
        if self._progress is None:
            action()
            return
        self._waiting = [action]
        self.say(self.surroundings.tr.t("Waiting until the whole log is read…"))

    # -- panes

    def _panes(self) -> list[tuple[ReadingModel, BlockView]]:
        return [(self.chat_model, self.chat), (self.trajectory_model, self.trajectory)]

    def _view(self, pane: Pane) -> BlockView:
        return self.chat if pane == "chat" else self.trajectory

    @property
    def is_wide(self) -> bool:
        """Both panes have room beside each other."""
        return self._room.width >= WIDE_CELLS

    @property
    def _room(self) -> Size:
        """The screen's size; the terminal's before the screen has one."""
        return self.size if self.size.width else self.dsh_app.size

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()

    @property
    def dsh_app(self) -> DshApp:
        """The program this screen is shown by."""
        from tui.app.application import DshApp

        app = cast("object", self.app)  # pyright: ignore[reportUnknownMemberType]
        assert isinstance(app, DshApp), "the screen of a session is shown by dsh-tui only"
        return app

    @property
    def is_reading(self) -> bool:
        """The whole log is not read yet."""
        return self._progress is not None

    @property
    def focused_pane(self) -> tuple[ReadingModel, BlockView]:
        """Model and view of the pane that has the keyboard."""
        return self._panes()[0 if self.pane == "chat" else 1]

    def hide_inspector(self) -> None:
        """Close the inspector and give the keyboard back to the pane."""
        self.inspector.display = False
        self._show_timeline()
        self._view(self.pane).focus()

    def mark_matches(self, needle: str) -> None:
        """Mark every visible place of a text in both panes."""
        self.chat.highlight(needle)
        self.trajectory.highlight(needle)

    def reveal_match(self) -> None:
        """Open the selected chat node, so that what was found in it can be seen."""
        cursor = self.chat.cursor
        if cursor is not None and self.chat_model.set_open(cursor, is_open=True):
            self.chat.refresh_block(cursor)

    def leave(self) -> None:
        """Back to where the session was opened from, or out of the program."""
        if len(self.dsh_app.screen_stack) > 1:
            self.dismiss(None)
        else:
            self.dsh_app.exit(0)

    def _arrange(self) -> None:
        """Lay the panes out for the present size."""
        wide = self.is_wide
        self.set_class(not wide, "-narrow")
        self.chat_pane.display = wide or self.pane == "chat"
        self.side_pane.display = wide or self.pane == "trajectory"
        self._show_timeline()
        self._show_head()
        self._show_foot()

    def _show_timeline(self) -> None:
        rows = TALL_ROWS if self.inspector.display else LOW_ROWS
        self.timeline.display = self._room.height >= rows

    def _put_cursors_at_end(self) -> None:
        for view in (self.chat, self.trajectory):
            view.action_last()

    def show_pane(self, pane: Pane) -> None:
        """Give a pane the keyboard, and the screen where there is room for one only."""
        self.pane = pane
        self._arrange()
        self._view(pane).focus()

    @on(BlockView.Selected, "#chat")
    def _chat_selected(self, event: BlockView.Selected) -> None:
        node = self.chat_model.item_of(event.index)
        if node is None or event.index != self.chat.cursor:
            # The cursor has gone on since this was posted.
            return
        self.item = trajectory_of_node(self.reading, node)
        self._follow(self.trajectory_model, self.trajectory, self.item)
        self._tell_item()

    @on(BlockView.Selected, "#trajectory")
    def _trajectory_selected(self, event: BlockView.Selected) -> None:
        item = self.trajectory_model.item_of(event.index)
        if item is None or event.index != self.trajectory.cursor:
            return
        self.item = item
        self._follow(self.chat_model, self.chat, node_of_trajectory(self.reading, item))
        self._tell_item()

    @on(Timeline.Picked)
    def _timeline_picked(self, event: Timeline.Picked) -> None:
        self.select_item(event.index)

    @on(BlockView.Activated, "#chat")
    def _chat_activated(self, event: BlockView.Activated) -> None:
        item = self.chat_model.item_of(event.index)
        if item is not None and self.chat_model.is_turn(item):
            self._toggle_turn(self.reading.chat.index.turns[item])
        elif self.chat_model.toggle(event.index):
            self.chat.refresh_block(event.index)
            # What was opened is shown to its end where it has room.
            self.chat.select(event.index, notify=False)

    @on(BlockView.Activated, "#trajectory")
    def _trajectory_activated(self, event: BlockView.Activated) -> None:
        item = self.trajectory_model.item_of(event.index)
        if item is not None and self.trajectory_model.is_turn_rule(event.index):
            self._toggle_turn(self.reading.trajectory.index.turns[item])
            return
        self.show_inspector()

    @on(BlockView.FollowChanged)
    def _follow_changed(self, event: BlockView.FollowChanged) -> None:
        self._show_foot()

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        if event.widget is self.chat or event.widget is self.trajectory:
            self.pane = "chat" if event.widget is self.chat else "trajectory"

    def _follow(self, model: ReadingModel, view: BlockView, item: int) -> None:
        block = model.nearest_block(item) if item >= 0 else None
        if block is not None:
            view.select(block, notify=False)

    def show_inspector(self, tab: str | None = None) -> None:
        """Open the inspector on the selected record, and on a tab if one is named."""
        if not self.is_wide and self.pane != "trajectory":
            self.show_pane("trajectory")
        self.inspector.display = True
        self._show_timeline()
        if self.item >= 0:
            self.inspector.show(self.reading, self.item)
        if tab is not None:
            self.inspector.choose(tab)
        else:
            self.inspector.renew()

    def _tell_item(self) -> None:
        if self.item < 0:
            return
        self.timeline.select(self.item)
        if self.inspector.display:
            self.inspector.show(self.reading, self.item)

    def select_item(self, item: int) -> None:
        """Select a trajectory row in both panes, opening the folded turn it is in."""
        self._unfold_for(item)
        self.item = item
        for model, view, wanted in (
            (self.trajectory_model, self.trajectory, item),
            (self.chat_model, self.chat, node_of_trajectory(self.reading, item)),
        ):
            block = model.nearest_block(wanted) if wanted >= 0 else None
            if block is not None:
                view.select(block, place="third", notify=False)
        self._tell_item()

    def select_node(self, node: int) -> None:
        """Select a chat node in both panes, opening the folded turn it is in."""
        item = trajectory_of_node(self.reading, node)
        self._unfold_for(item)
        self.item = item
        block = self.chat_model.nearest_block(node)
        if block is not None:
            self.chat.select(block, place="third", notify=False)
        self._follow(self.trajectory_model, self.trajectory, item)
        self._tell_item()

    def _unfold_for(self, item: int) -> None:
        if item < 0 or not self.part.has_folds:
            return
        turn = self.reading.trajectory.index.turns[item]
        if turn >= 0 and self.part.folds(self.reading.turn_number(turn)):
            self._toggle_turn(turn)

    def _toggle_turn(self, turn: int) -> None:
        """Fold a turn to its heading in both panes, or open it."""
        number = self.reading.turn_number(turn)
        if number is not None:
            turns = (each.number for each in self.reading.turns.turns)
            self.show_part(self.part.with_turn_toggled(number, turns))

    @property
    def part(self) -> Part:
        """What the panes show of the session."""
        return self.chat_model.part

    def show_part(self, part: Part) -> None:
        """Show another part of the session, with the selected record in it."""
        self.chat_model = self.chat_model.with_part(part)
        self.trajectory_model = self.trajectory_model.with_part(part)
        self._set_models()
        if self.item >= 0:
            self._follow(self.trajectory_model, self.trajectory, self.item)
            self._follow(self.chat_model, self.chat, node_of_trajectory(self.reading, self.item))
        self._show_labels()

    def _set_models(self) -> None:
        self.chat.set_model(self.chat_model)
        self.trajectory.set_model(self.trajectory_model)

    def go_to_seq(self, seq: int) -> None:
        """Select the record with a sequence number; later, if it is not read yet."""
        rows = self.reading.log.rows_of_seq(seq)
        if rows:
            self.select_row(rows[0])
            if len(rows) > 1:
                self.offer_rows(seq, rows)
        elif self._progress is not None:
            self.when_whole(lambda: self.go_to_seq(seq))
        else:
            log = self.reading.log
            last = next((log.seq(row) for row in range(len(log) - 1, -1, -1) if log.seq(row) >= 0), -1)
            tr = self.surroundings.tr
            self.say(tr.t("There is no record {seq}; the last one is {last}.", seq=seq, last=last))

    def select_row(self, row: int, node: int | None = None) -> None:
        """Select what tells of a row of the log in both panes, and in Chat a certain node of it."""
        item = trajectory_of_row(self.reading, row)
        if item < 0:
            return
        self.select_item(item)
        if node is not None:
            self._follow(self.chat_model, self.chat, node)
        elif self.reading.chat.index.nodes_of_row(row):
            # More than the trajectory row knows: a title, a queued prompt, a turn's end.
            self._follow(self.chat_model, self.chat, node_of_row(self.reading, row))

    def offer_rows(self, seq: int, rows: list[int]) -> None:
        """Several records carry one number: say so."""
        around = self.surroundings
        sentence = around.tr.t(
            "{n} records carry the number {seq}; {next} and {previous} go from one to the other.",
            n=len(rows),
            seq=seq,
            next=around.key("next-match"),
            previous=around.key("previous-match"),
        )
        self.say(sentence)

    # -- labels

    def say(self, sentence: str) -> None:
        """Show a sentence in the place of the keys until the next key."""
        self._notice = sentence
        self._show_foot()

    def on_key(self, event: events.Key) -> None:
        if self._notice:
            self._notice = ""
            self._show_foot()

    def _show_labels(self) -> None:
        self._show_titles()
        self._show_head()
        self._show_foot()

    def _show_titles(self) -> None:
        tr = self.surroundings.tr
        dash = " - " if self.surroundings.ascii_only else " · "
        part = dash + tr.t("only tool changes") if self.part.only_tool_changes else ""
        self.chat_pane.border_title = tr.t("Chat") + part
        self.side_pane.border_title = tr.t("Trajectory") + part

    def _show_head(self) -> None:
        tr = self.surroundings.tr
        left = head_left(self.reading, self.whole.title or self.reading.title, tr)
        if not self.is_wide:
            left = [*self._tab_pieces(), *left]
        self._head.show(left, head_right(self.reading, tr, self._progress))

    def _tab_pieces(self) -> list[Piece]:
        tr = self.surroundings.tr
        chosen = "accent bold underline"
        labels = (("chat", "1", tr.t("Chat")), ("trajectory", "2", tr.t("Trajectory")))
        return [
            Piece((Span(f"{key} ", "key"), Span(label, chosen if pane == self.pane else "muted")), keep=95)
            for pane, key, label in labels
        ]

    def _show_foot(self) -> None:
        surroundings = self.surroundings
        if self._notice:
            self._foot.show([Piece((Span(self._notice, "warning"),), keep=100, least=1)])
            return
        right: list[Piece] = []
        view = self._view(self.pane)
        if not view.following and view.unseen:
            label = surroundings.tr.n("↓ {n} new", "↓ {n} new", view.unseen)
            right.append(Piece((Span(label, "accent"),), keep=90))
        self._foot.show(footer(surroundings.keys, surroundings.tr, ascii_only=surroundings.ascii_only), right)

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self.surroundings = surroundings
        bind(self, surroundings.keys, surroundings.tr, *self.SCOPES)
        pager = surroundings.key_word("pager")
        self.chat_model = self.chat_model.with_language(surroundings.tr, pager=pager)
        self.trajectory_model = self.trajectory_model.with_language(surroundings.tr)
        self._set_models()
        self.timeline.renew(surroundings)
        self.inspector.renew(surroundings)
        self._show_labels()
