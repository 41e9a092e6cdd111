"""The screen of one session as the keyboard knows it: jumps, folds, filters, search, inspector, copying."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from textual import events, on

from tui.app.linked_panes import LinkedPanes, Pane
from tui.app.navigation import Landmark, chat_landmark, row_of_node, trajectory_landmark
from tui.app.search_bar import SearchBar, search_keys
from tui.app.session_search import SearchController
from tui.app.surroundings import Surroundings
from tui.app.view_jump import SessionView, ViewJump
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading

if TYPE_CHECKING:
    from tui.app.conversation import Conversation
    from tui.llm.route_book import RouteBook
    from tui.loop.fresh_start import FreshStart


class SessionScreen(LinkedPanes):
    """Chat and Trajectory of one session, with all their keys."""

    def __init__(
        self,
        whole: Reading,
        tail: Reading | None,
        surroundings: Surroundings,
        *,
        pane: Pane = "chat",
        at: int | None = None,
        over: SessionView | None = None,
    ) -> None:
        super().__init__(whole, tail, surroundings, pane=pane, at=at)
        self._over: SessionView | None = over
        self._search = SearchController(self)

    def on_mount(self) -> None:
        """Open the view that was asked for over the panes."""
        if self._over is not None:
            self.call_after_refresh(self.show_view, ViewJump(self._over, self.item))

    # -- views over the panes

    def show_view(self, jump: ViewJump | None) -> None:
        """Go where a view over the panes sends the reader; None: it was closed, everything stays."""
        if jump is None:
            return
        if jump.item >= 0:
            self.select_item(jump.item)
        if jump.view in ("chat", "trajectory"):
            self.show_pane(jump.view)
        elif (show := getattr(self, f"action_show_{jump.view}", None)) is not None:
            show()

    @property
    def routes(self) -> RouteBook:
        """What is known of the routes that the log names."""
        return self.dsh_app.routes

    def action_show_tools(self) -> None:
        """Tools over time, at the selected record."""
        self.when_whole(self._open_matrix)

    def _open_matrix(self) -> None:
        from tui.app.matrix_screen import MatrixScreen

        self.dsh_app.push_screen(
            MatrixScreen(self.reading, self.surroundings, item=self.item, book=self.routes),
            self.show_view,
        )

    def action_show_requests(self) -> None:
        """The model requests, at the one that the selected record belongs to."""
        self.when_whole(self._open_requests)

    def _open_requests(self) -> None:
        from tui.app.requests_screen import RequestsScreen

        screen = RequestsScreen(self.reading, self.surroundings, item=self.item, book=self.routes)
        self.dsh_app.push_screen(screen, self.show_view)

    # -- landmarks

    def _jump(self, step: Literal[1, -1], what: Landmark) -> None:
        reading = self.reading
        if self.pane == "chat":
            found = chat_landmark(reading, self._start(len(reading.chat.index), step), step, what)
        else:
            found = trajectory_landmark(reading, self._start(len(reading.trajectory.index), step), step, what)
        if found is None:
            self._not_found(step, what)
        elif self.pane == "chat":
            self.select_node(found)
        else:
            self.select_item(found)

    def _start(self, count: int, step: int) -> int:
        """Where a search for a landmark begins: at the cursor, else before the first or after the last."""
        model, view = self.focused_pane
        item = model.item_of(view.cursor) if view.cursor is not None else None
        if item is not None:
            return item
        return -1 if step > 0 else count

    def _not_found(self, step: Literal[1, -1], what: Landmark) -> None:
        if self.is_reading and step < 0:
            self.when_whole(lambda: self._jump(step, what))
            return
        tr = self.surroundings.tr
        sentences = {
            ("turn", 1): tr.t("No later turn."),
            ("turn", -1): tr.t("No earlier turn."),
            ("tool-change", 1): tr.t("No later tool change."),
            ("tool-change", -1): tr.t("No earlier tool change."),
            ("error", 1): tr.t("No later error."),
            ("error", -1): tr.t("No earlier error."),
        }
        self.say(sentences[what, step])

    def offer_rows(self, seq: int, rows: list[int]) -> None:
        """Let the keys for search hits go from one record of the number to the other."""
        self._search.offer_rows(rows)
        super().offer_rows(seq, rows)

    def action_previous_turn(self) -> None:
        self._jump(-1, "turn")

    def action_next_turn(self) -> None:
        self._jump(1, "turn")

    def action_previous_tool_change(self) -> None:
        self._jump(-1, "tool-change")

    def action_next_tool_change(self) -> None:
        self._jump(1, "tool-change")

    def action_previous_error(self) -> None:
        self._jump(-1, "error")

    def action_next_error(self) -> None:
        self._jump(1, "error")

    def action_go_to_seq(self) -> None:
        from tui.app.goto_dialog import GotoDialog

        log = self.whole.log
        last = log.seq(len(log) - 1) if self.whole.complete and len(log) else None
        self.dsh_app.push_screen(
            GotoDialog(self.surroundings, last if last is None or last >= 0 else None), self._gone_to
        )

    def _gone_to(self, seq: int | None) -> None:
        if seq is not None:
            self.go_to_seq(seq)

    # -- search

    @property
    def selected_row(self) -> int:
        """The row of the log that is selected; 0 if none is."""
        return self.reading.trajectory.index.rows[self.item] if self.item >= 0 else 0

    def action_search(self) -> None:
        self._search.open()

    def action_next_match(self) -> None:
        self._search.step(1)

    def action_previous_match(self) -> None:
        self._search.step(-1)

    @on(SearchBar.SearchChanged)
    def _search_changed(self, event: SearchBar.SearchChanged) -> None:
        self._search.change(event.text)

    @on(SearchBar.SearchStep)
    def _search_step(self, event: SearchBar.SearchStep) -> None:
        if event.accepted:
            self._search.accept()
            self.show_pane(self.pane)
        else:
            self._search.step(event.step)

    @on(SearchBar.SearchClosed)
    def _search_closed(self, event: SearchBar.SearchClosed) -> None:
        self._search.close()

    @on(events.DescendantFocus)
    def _typing_began_or_ended(self, event: events.DescendantFocus) -> None:
        if self._search.is_open:
            self._show_foot()

    def _show_foot(self) -> None:
        if self._search.is_open and not self._notice:
            self._foot.show(search_keys(self.surroundings, typing=self._search.is_typing))
        else:
            super()._show_foot()

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        super().renew(surroundings)
        self._search.renew()

    # -- folding and filters

    def action_toggle_visible(self) -> None:
        """Open what is on screen, or fold it if all of it is open."""
        if self.pane != "chat":
            return
        blocks = sorted({position.block for position in self.chat.visible_rows})
        opened = [block for block in blocks if self.chat_model.set_open(block, is_open=True)]
        changed = opened or [block for block in blocks if self.chat_model.set_open(block, is_open=False)]
        for block in changed:
            self.chat.refresh_block(block)

    def action_expand_all(self) -> None:
        self.chat_model.open_all(is_open=True)
        self.chat.model_changed()

    def action_collapse_all(self) -> None:
        self.chat_model.open_all(is_open=False)
        self.chat.model_changed()

    def action_fold_turns(self) -> None:
        self.show_part(self.part.with_turns_toggled())

    def action_fold_calls(self) -> None:
        folded = not self.part.calls_folded
        self.show_part(replace(self.part, calls_folded=folded))
        tr = self.surroundings.tr
        self.say(
            tr.t("The trajectory leaves tool calls out.")
            if folded
            else tr.t("The trajectory shows tool calls again.")
        )

    def action_toggle_bookkeeping(self) -> None:
        shown = not self.part.bookkeeping
        self.show_part(replace(self.part, bookkeeping=shown))
        tr = self.surroundings.tr
        self.say(
            tr.t("The trajectory shows bookkeeping records too.")
            if shown
            else tr.t("The trajectory leaves bookkeeping records out.")
        )

    def action_filter_tool_changes(self) -> None:
        only = not self.part.only_tool_changes
        self.show_part(replace(self.part, only_tool_changes=only))
        tr, key = self.surroundings.tr, self.surroundings.key("filter-tool-changes")
        if not only:
            self.say(tr.t("Everything is shown again."))
        elif self.chat_model.count():
            self.say(tr.t("Only tool changes are shown; {key} shows everything again.", key=key))
        else:
            self.say(tr.t("This session has no tool changes; {key} shows everything again.", key=key))

    # -- panes and inspector

    def action_show_chat(self) -> None:
        self.show_pane("chat")

    def action_show_trajectory(self) -> None:
        self.show_pane("trajectory")

    def action_next_pane(self) -> None:
        if self.inspector.display and self.pane == "trajectory" and not self.inspector.text_view.has_focus:
            self.inspector.text_view.focus()
        else:
            self.show_pane("trajectory" if self.pane == "chat" else "chat")

    def action_toggle_inspector(self) -> None:
        if self.inspector.display:
            self.hide_inspector()
        else:
            self.show_inspector()

    def action_previous_inspector_tab(self) -> None:
        self.inspector.step(-1)

    def action_next_inspector_tab(self) -> None:
        self.inspector.step(1)

    def action_raw(self) -> None:
        if self.inspector.display and self.inspector.tab == "raw":
            self.hide_inspector()
        else:
            self.show_inspector("raw")

    def action_pager(self) -> None:
        from tui.app.pager import Pager

        text = self._selected_text()
        if text:
            title = self.whole.title or self.whole.log.header.id
            needle = self._search.needle
            # A hit may stand where the block is bounded: the pager goes to it.
            find = needle if needle in text.casefold() else ""
            self.dsh_app.push_screen(Pager(self.surroundings, title, text, find=find))

    def action_doctor(self) -> None:
        self.when_whole(lambda: self._begin_examination(verifies=False))

    def action_verify(self) -> None:
        self.when_whole(lambda: self._begin_examination(verifies=True))

    def _begin_examination(self, *, verifies: bool) -> None:
        self.run_worker(self._examine(verifies=verifies), group="doctor", exclusive=True)

    async def _examine(self, *, verifies: bool) -> None:
        from tui.app.doctor_screen import DoctorScreen, examined
        from tui.nodes.doctor import Examiner

        title, app = self.whole.title or self.whole.log.header.id, self.dsh_app
        examiner = Examiner(self.whole, app.routes, app.settings.homes)
        found = await examined(examiner, self.say, self.surroundings.tr)
        screen = DoctorScreen(
            self.surroundings,
            title,
            found,
            verifier=app.settings.verifier,
            copy=app.copy,
            verifies=verifies,
        )
        app.push_screen(screen, self._gone_to)

    def action_recover(self) -> None:
        self.when_whole(self._begin_draft)

    def _begin_draft(self) -> None:
        self.run_worker(self._draft(), group="doctor", exclusive=True)

    async def _draft(self) -> None:
        from tui.app.drafting import drafted, editor_of

        tr, checkpoint = self.surroundings.tr, self.is_well
        draft = await drafted(self.whole, self.say, tr, checkpoint=checkpoint)
        screen = editor_of(self.dsh_app, self.surroundings, self.whole, draft, self.start_fresh)
        self.dsh_app.push_screen(screen, self._started)

    def action_open_original(self) -> None:
        """The session that this one goes on from."""
        from tui.app.original import open_original

        self.when_whole(lambda: open_original(self))

    @property
    def is_well(self) -> bool:
        """Whether a summary is a checkpoint of a session that works, not the way out of one that is stuck."""
        return False

    async def start_fresh(self, fresh: FreshStart) -> Conversation | str:
        """Begin a session from a summary of this one, or return the sentence why not."""
        return await self.dsh_app.start_fresh(fresh)

    def _started(self, conversation: Conversation | None) -> None:
        if conversation is not None:
            from tui.app.live_screen import LiveScreen

            self.dsh_app.push_screen(LiveScreen(conversation, self.surroundings))

    # -- copying

    def _selected_text(self) -> str:
        """The logical text of what is selected in the pane in focus."""
        from tui.blocks.copy_text import node_copy, row_copy

        tr = self.surroundings.tr
        if self.pane == "chat" and self.chat.cursor is not None:
            node = self.chat_model.item_of(self.chat.cursor)
            return node_copy(chat_node(self.reading, node), tr) if node is not None else ""
        return row_copy(self.reading, self.item, tr) if self.item >= 0 else ""

    async def action_copy(self) -> None:
        await self._copy(self._selected_text())

    async def action_copy_address(self) -> None:
        seq = self._selected_seq()
        if seq is not None and seq >= 0:
            await self._copy(f"{self.reading.log.header.id}@{seq}")

    def _selected_seq(self) -> int | None:
        log = self.reading.log
        if self.pane == "chat" and self.chat.cursor is not None:
            node = self.chat_model.item_of(self.chat.cursor)
            return log.seq(row_of_node(self.reading.chat.index, node)) if node is not None else None
        return log.seq(self.selected_row) if self.item >= 0 else None

    async def _copy(self, text: str) -> None:
        if text:
            self.say(await self.dsh_app.copy(text))

    # -- leaving

    def action_back(self) -> None:
        """Close what is open: search, inspector; else go back to the library."""
        if self._search.is_open:
            self._search.close()
        elif self.inspector.display:
            self.hide_inspector()
        elif len(self.dsh_app.screen_stack) > 1:
            self.leave()
        else:
            # Nothing lies behind: a key pressed once too often must not end the program.
            tr, key = self.surroundings.tr, self.surroundings.key("quit")
            self.say(tr.t("There is nothing to close; {key} leaves dsh-tui.", key=key))
