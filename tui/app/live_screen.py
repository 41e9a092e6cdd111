"""A session that one talks in: the two panes, alive, and below them the composer.

Esc belongs to what is nearest: it closes a reason, stops a running turn, or hands the keyboard from the
composer to the panes and back. What the panes show comes from the log alone (`live_feed`).
"""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import TextArea

from tui.app.actions import Scope
from tui.app.activity import ActivityLine
from tui.app.approval_panel import ApprovalPanel
from tui.app.block_view import BlockView
from tui.app.composer import Composer, know_alt_enter
from tui.app.conversation import Conversation, DemoStarter
from tui.app.live_changes import Changes
from tui.app.live_check import check_piece, checked
from tui.app.live_checkpoint import offered, start_of, told_of_coming
from tui.app.live_commands import matching, parse
from tui.app.live_feed import LiveFeed, PaneFeed
from tui.app.live_hold import hold_piece, told_of_change, turned
from tui.app.live_models import LiveChatModel
from tui.app.live_welcome import Welcome
from tui.app.live_words import (
    LiveKeys,
    command_pieces,
    composer_hint,
    live_keys,
    outcome_spans,
    route_piece,
    unwritable_sentence,
)
from tui.app.part import Part
from tui.app.queue_strip import Queued, QueueStrip
from tui.app.session_screen import SessionScreen
from tui.app.session_status import head_left, head_right
from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.text import Span
from tui.llm.route_book import RouteBook
from tui.loop.frames import Status
from tui.loop.fresh_start import FreshStart
from tui.loop.messages import text_of
from tui.nodes.chat_index import NodeKind
from tui.nodes.live import LiveReading
from tui.session.json_value import as_object
from tui.session.write_errors import SessionWriteError


class LiveScreen(SessionScreen):
    """Both panes of a running session and the composer.

    Args:
        conversation: the agent and what is around it; whoever made it closes it.
        surroundings: language, keys, glyphs.
    """

    CSS_PATH: ClassVar = "live.tcss"
    SCOPES: ClassVar[tuple[Scope, ...]] = ("session", "live")

    def __init__(self, conversation: Conversation, surroundings: Surroundings) -> None:
        writer = conversation.writer
        self.live = conversation.reading or LiveReading.of(writer.header, writer.path, writer.events)
        self.live.take_new(writer.events)
        self.live.catch_up()
        self.feed = LiveFeed(self.live, self._beat)
        super().__init__(self.live, None, surroundings)
        self._progress = None
        self.conversation = conversation
        self.agent = conversation.agent
        self._routes = RouteBook(conversation.providers)
        ascii_only, pager = surroundings.ascii_only, surroundings.key_word("pager")
        welcome = Welcome(conversation, lambda: self.surroundings.tr)
        self.live_model = LiveChatModel(
            self.live,
            self.feed.tail,
            surroundings.tr,
            ascii_only=ascii_only,
            pager=pager,
            placeholder=welcome.lines,
        )
        self.chat_model = self.live_model
        self.chat = BlockView(self.chat_model, ascii_only=ascii_only, id="chat")
        self._chat_feed = PaneFeed(self.chat_model)
        self._trajectory_feed = PaneFeed(self.trajectory_model)
        self.queue = QueueStrip(surroundings)
        self.approval = ApprovalPanel(surroundings)
        self.activity = ActivityLine(self.feed.activity, surroundings, conversation.now_ms)
        self.composer = Composer(surroundings, self._earlier_prompts())
        self._prompt_mark = StatusBar(ascii_only=ascii_only, id="composer-mark")
        self._unsubscribe = [
            writer.subscribe(self.feed.take_event),
            self.agent.subscribe(self.feed.take_frame),
            self.agent.on_status(self._status_changed),
            self.agent.tools.subscribe(self._tools_changed),
        ]
        self.agent.on_failure(self._cannot_write)

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if widget is self._foot:
                yield self.queue
                yield self.approval
                yield self.activity
                with Horizontal(id="composer-row"):
                    yield self._prompt_mark
                    yield self.composer
            yield widget

    def on_mount(self) -> None:
        self._prompt_mark.show([Piece((Span(">" if self.surroundings.ascii_only else "❯", "user"),))])
        know_alt_enter()
        self.feed.attach()
        if self.conversation.approvals is not None:
            self.conversation.approvals.answerer = self.approval
        self._show_hint()
        coming = "" if self.agent.holds_tools else told_of_coming(self.surroundings.tr, self.agent)
        for sentence in self.conversation.notices or [coming]:
            self.say(sentence)
        self._show_rest()
        self._show_queue()
        if opening := self.conversation.opening:
            self.conversation.opening = ""
            self.send(opening, queue=False)

    def on_unmount(self) -> None:
        self.feed.detach()
        for unsubscribe in self._unsubscribe:
            unsubscribe()

    @property
    def routes(self) -> RouteBook:
        """What the running session itself knows of its routes."""
        return self._routes

    @property
    def _first_focus(self) -> Widget:
        return self.composer

    @property
    def runs(self) -> bool:
        """A turn is running."""
        return self.agent.status == "running"

    # -- showing

    def _beat(self, changes: Changes, has_events: bool) -> None:
        if not self.is_attached:
            return
        everything = changes.everything
        self._chat_feed.show(self.chat_model, self.chat, changes.nodes, everything=everything)
        if has_events:
            self._trajectory_feed.show(
                self.trajectory_model, self.trajectory, changes.rows, everything=everything
            )
            self.timeline.show(self.live)
            before, cursor = self.item, self.trajectory.cursor
            if self.trajectory.following and cursor is not None:
                self.item = self.trajectory_model.item_of(cursor) or 0
            if self.item != before or self.item in changes.rows or everything:
                self._tell_item()
            self._show_head()
            self._show_queue()
        if self.feed.activity.phase == "idle":
            self._show_rest()
        self.activity.update()

    def _status_changed(self, status: Status) -> None:
        self.composer.queues_on_tab = status == "running"
        self._show_hint()
        self._show_foot()
        self._show_rest()

    def _cannot_write(self, error: SessionWriteError) -> None:
        self.say(unwritable_sentence(self.surroundings.tr, error))

    def _tools_changed(self, names: tuple[str, ...]) -> None:
        if not self.is_attached:
            return
        self.chat.refresh()
        tr = self.surroundings.tr
        if self.agent.holds_tools:
            self._tell_of_hold(offered(tr, self.agent, told_of_change(tr, self.agent)))
            return
        if told := told_of_coming(tr, self.agent):
            self.say(told)

    def _tell_of_hold(self, sentence: str) -> None:
        self.say(sentence)
        self._show_head()

    def _show_queue(self) -> None:
        waiting = [
            Queued(message["id"], text_of(message), steers)
            for queue, steers in (("next-step", True), ("next-turn", False))
            for message in (self.agent.queued("next-step") if queue == "next-step" else self.agent.queued())
            if as_object(message.get("source")).get("kind") == "user"
        ]
        self.queue.show(waiting)

    def _show_rest(self) -> None:
        guide, tr = self.conversation.guide, self.surroundings.tr
        offered = guide.offered(tr) if guide is not None else None
        if guide is not None and not self.runs:
            told = (
                tr.t(
                    "{key} sends: {prompt}",
                    key=self.surroundings.key_word("send"),
                    prompt=clean_line(offered),
                )
                if offered
                else guide.farewell(tr, self.surroundings.key_word("send"))
            )
            self.activity.rest(Span(told, "accent"))
        else:
            self.activity.rest(*outcome_spans(tr, self.live, ascii_only=self.surroundings.ascii_only))

    def _show_hint(self) -> None:
        self.composer.placeholder = composer_hint(self.surroundings, runs=self.runs)

    def _show_head(self) -> None:
        tr = self.surroundings.tr
        left = head_left(self.reading, self.whole.title or tr.t("New session"), tr)
        if not self.is_wide:
            left = [*self._tab_pieces(), *left]
        right = head_right(self.reading, tr, None)
        held = [*check_piece(tr, self.conversation.first_check), *hold_piece(tr, self.agent)]
        self._head.show(left, [*held, *right[:1], *route_piece(tr, self.conversation), *right[1:]])

    def _show_foot(self) -> None:
        composing = any(part.has_focus for part in (self.composer, self.queue, self.approval))
        if self._notice or not composing:
            super()._show_foot()
            return
        tr = self.surroundings.tr
        commands = matching(self.composer.text)
        if commands:
            self._foot.show(command_pieces(tr, commands))
            return
        state: LiveKeys = "running" if self.runs else "idle"
        if self.approval.request is not None:
            state = "answering" if self.approval.has_focus else "asked"
        right: list[Piece] = []
        if not self.chat.following and self.chat.unseen:
            label = tr.n("↓ {n} new", "↓ {n} new", self.chat.unseen)
            right.append(Piece((Span(label, "accent"),), keep=90))
        self._foot.show(live_keys(self.surroundings, state, has_text=bool(self.composer.text)), right)

    def show_part(self, part: Part) -> None:
        super().show_part(part)
        self._chat_feed.forget(self.chat_model)
        self._trajectory_feed.forget(self.trajectory_model)

    def renew(self, surroundings: Surroundings) -> None:
        super().renew(surroundings)
        self._chat_feed.forget(self.chat_model)
        self._trajectory_feed.forget(self.trajectory_model)
        for part in (self.queue, self.approval, self.activity, self.composer):
            part.renew(surroundings)
        self._show_hint()
        self._show_rest()
        self._show_foot()

    def _earlier_prompts(self) -> list[str]:
        """What the user said in this session, oldest first."""
        index, log = self.live.chat.index, self.live.log
        rows = [index.rows[node] for node, kind in enumerate(index.kinds) if kind == NodeKind.USER]
        said = [as_object(log.event(row).data) for row in rows]
        return [text_of(data) for data in said if as_object(data.get("source")).get("kind") == "user"]

    # -- sending

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        text = event.text
        if not text.strip():
            self._send_nothing()
            return
        typed = parse(text)
        if typed is not None:
            self.composer.take()
            self.run_command(typed.name, typed.argument)
            return
        self.composer.take()
        self.send(text[1:] if text.startswith("//") else text, queue=event.queue)

    def _send_nothing(self) -> None:
        guide = self.conversation.guide
        offered = guide.offered(self.surroundings.tr) if guide is not None and not self.runs else None
        if offered is not None:
            self.send(offered, queue=False)
        elif not self.runs and self.conversation.following is not None:
            self.run_worker(self._go_on(self.conversation.following), group="scene", exclusive=True)
        elif not self.runs:
            self.agent.wake()

    async def _go_on(self, following: DemoStarter) -> None:
        """The next scene over this one; who leaves it leaves both."""
        conversation = await following(self.surroundings.tr)
        if isinstance(conversation, str):
            self.say(conversation)
            return
        self.dsh_app.started.append(conversation)
        self.dsh_app.push_screen(LiveScreen(conversation, self.surroundings), lambda _: self.leave())

    def send(self, text: str, *, queue: bool) -> None:
        """Send a prompt: at once, or into the running turn, or behind it."""
        if self.conversation.guide is not None:
            self.conversation.guide.about_to_send(text)
        try:
            if self.runs and not queue:
                self.agent.steer(text)
            else:
                self.agent.followup(text)
        except SessionWriteError as error:
            self.composer.put(text)
            self._cannot_write(error)
            return
        self.chat.action_last()

    def run_command(self, name: str, argument: str) -> None:
        """Run a slash command."""
        from tui.app.live_running import run_command

        run_command(self, name, argument)

    @on(QueueStrip.Picked)
    def _queued_picked(self, event: QueueStrip.Picked) -> None:
        if self.agent.remove_queued(event.queued.id) is None:
            self.say(self.surroundings.tr.t("This prompt is on its way already."))
        elif event.edit:
            self.composer.put(event.queued.text)
            self.composer.focus()

    @on(QueueStrip.Left)
    def _queue_left(self, event: QueueStrip.Left) -> None:
        self.composer.focus()

    @on(Composer.QueueWanted)
    def _queue_wanted(self, event: Composer.QueueWanted) -> None:
        self.queue.enter()

    @on(Composer.ChatScrolled)
    def _chat_scrolled(self, event: Composer.ChatScrolled) -> None:
        view = self.chat if self.is_wide or self.pane == "chat" else self.trajectory
        if event.pages < 0:
            view.action_page_up()
        else:
            view.action_page_down()

    @on(Composer.Escaped)
    def _escaped(self, event: Composer.Escaped) -> None:
        if self.runs or self.approval.request is not None:
            self.stop()
        else:
            self._view(self.pane).focus()

    @on(Composer.LeaveWanted)
    async def _leave_wanted(self, event: Composer.LeaveWanted) -> None:
        self.leave()

    @on(TextArea.Changed, "#composer")
    def _text_changed(self, event: TextArea.Changed) -> None:
        self._show_foot()

    @on(ApprovalPanel.Asked)
    def _asked(self, event: ApprovalPanel.Asked) -> None:
        self.feed.activity.question = event.request.tool_name if event.request is not None else ""
        self.activity.update()
        if event.request is None:
            if self.focused is None or self.approval in self.focused.ancestors_with_self:
                self.composer.focus()
        elif not self.composer.text and self.composer.has_focus:
            self.approval.focus()
        self._show_foot()

    # -- keys

    def on_key(self, event: events.Key) -> None:
        """Take in what was typed before the composer had the keyboard; later no such key gets here."""
        if self.focused is self.composer and event.is_printable and event.character:
            self.composer.insert(event.character)
            event.stop()

    @on(events.DescendantFocus)
    def _keyboard_moved(self, event: events.DescendantFocus) -> None:
        self._show_foot()

    def action_back(self) -> None:
        """Close what is open; else stop the turn, or go between composer and panes."""
        if self.approval.is_asking_reason:
            self.approval.leave_reason()
        elif self.queue.has_focus:
            self.composer.focus()
        elif self.approval.has_focus:
            self.stop()
        elif self._search.is_open or self.inspector.display:
            super().action_back()
        else:
            self.composer.focus()

    def action_talk_help(self) -> None:
        """Every key, those of talking first."""
        from tui.app.live_help import LiveHelp

        self.dsh_app.push_screen(LiveHelp(self.surroundings))

    def action_hold_tools(self) -> None:
        """Keep the tools as they are, or let in what waits."""
        try:
            tr, tools = self.surroundings.tr, self.agent.tools
            waited = len(tools.waiting(self.agent))
            told = turned(tr, self.agent)
            waits = waited or len(tools.waiting(self.agent))
            self._tell_of_hold(offered(tr, self.agent, told) if waits else told)
        except SessionWriteError as error:
            self._cannot_write(error)

    def confirm_check(self) -> None:
        """Let a session that goes on from a summary write and run."""
        self.say(checked(self.surroundings.tr, self.conversation))
        self._show_head()

    @property
    def is_well(self) -> bool:
        """Whether the session works: its last turn did not fail."""
        turns = self.live.turns.turns
        return not turns or turns[-1].reason != "error"

    async def start_fresh(self, fresh: FreshStart) -> Conversation | str:
        """Go on from a checkpoint on the same route, once no turn works in the folder any more."""
        if self.runs:
            tr, key = self.surroundings.tr, self.surroundings.key_word("stop")
            return tr.t("A turn is running; close the draft and stop it with {key}, or wait.", key=key)
        return await super().start_fresh(start_of(self.agent, fresh))

    def stop(self) -> None:
        """Stop the running turn; what waits goes on waiting."""
        self.feed.activity.is_stopping = True
        self.activity.update()
        self.agent.cancel(keep_inbox=True)

    def action_next_pane(self) -> None:
        """Composer, the open question, the panes, and round again."""
        if self.composer.has_focus:
            if self.approval.request is not None:
                self.approval.focus()
            else:
                self.show_pane("chat")
        elif self.approval.has_focus:
            self.show_pane("chat")
        elif self.pane == "trajectory" and not self._goes_to_inspector():
            self.composer.focus()
        else:
            super().action_next_pane()

    def _goes_to_inspector(self) -> bool:
        return self.inspector.display and not self.inspector.text_view.has_focus

    def leave(self) -> None:
        """Out of the program; the session can be resumed."""
        self.dsh_app.exit(0)
