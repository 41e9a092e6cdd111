"""One line-API widget that shows a `BlockModel` of any length, with a cursor on a block.

Only blocks on screen are laid out and only rows on screen become strips, so a million blocks cost what a
screenful costs. Movement, anchoring and following are `Viewport`'s; here they become keys, mouse, messages
and strips. Rows are drawn from the window's place and not from Textual's scroll offset, so the widget has
no virtual size and draws its own scrollbar.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.block_model import BlockModel, placeholder_row
from tui.app.scrollbar import Thumb, thumb
from tui.app.strips import ASCII_GLYPHS, UNICODE_GLYPHS, RoleStyles, strip_of
from tui.app.viewport import Place, Position, Viewport
from tui.blocks.text import EMPTY

GUTTER_CELLS = 2
SCROLLBAR_CELLS = 1
WHEEL_ROWS = 3
ASSUMED_CELLS = 76
ASSUMED_ROWS = 20


class BlockMessage(Message):
    """Something happened to one block of a view; `key` is its identity in the model."""

    def __init__(self, view: BlockView, index: int, key: Hashable) -> None:
        super().__init__()
        self.view = view
        self.index = index
        self.key = key

    @property
    def control(self) -> BlockView:
        """The view, for `@on(..., selector)`."""
        return self.view


class BlockView(Widget, can_focus=True):
    """A scrollable column of blocks.

    Args:
        model: the blocks; another can be given later with `set_model`.
        following: open at the tail and stay there while blocks arrive.
        ascii_only: draw the cursor mark and the scrollbar with ASCII.
        name, id, classes: as for every widget.
    """

    ALLOW_SELECT = False

    class Selected(BlockMessage):
        """The cursor has moved to another block."""

    class Activated(BlockMessage):
        """A block was opened or folded: enter, space, a double click or a click on the cursor."""

    class FollowChanged(Message):
        """The view began or ceased to follow the tail, or more blocks wait below; `unseen` counts them."""

        def __init__(self, view: BlockView, following: bool, unseen: int) -> None:
            super().__init__()
            self.view = view
            self.following = following
            self.unseen = unseen

        @property
        def control(self) -> BlockView:
            """The view, for `@on(..., selector)`."""
            return self.view

    def __init__(
        self,
        model: BlockModel,
        *,
        following: bool = True,
        ascii_only: bool = False,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._viewport = Viewport(model, following=following)
        self._ascii_only = ascii_only
        self._glyphs = ASCII_GLYPHS if ascii_only else UNICODE_GLYPHS
        self._styles = RoleStyles(self)
        self._needle = ""
        self._generation = 0
        self._told = (following, 0)
        self._bar: Thumb | None = None
        self._bar_rows: list[Position] | None = None
        self._is_dragging_bar = False

    # -- content --

    @property
    def model(self) -> BlockModel:
        """The blocks shown."""
        return self._viewport.model

    @property
    def content_width(self) -> int:
        """Cells that a block's rows are laid out for."""
        return max(1, self.size.width - GUTTER_CELLS - SCROLLBAR_CELLS)

    def set_model(self, model: BlockModel) -> None:
        """Show other blocks; cursor and place are found again by key."""
        self._sync_size()
        self._viewport.set_model(model)
        self._changed()

    def model_changed(self, appended: int | None = None, *, notify: bool = True) -> None:
        """Take note of changed blocks.

        Args:
            appended: new blocks at the end and no other change; None when anything may have changed.
            notify: post `Selected` if the cursor goes on to the new tail.
        """
        self._sync_size()
        viewport = self._viewport
        if appended is None:
            viewport.changed()
        else:
            cursor_at_tail = (
                viewport.cursor is not None and viewport.following and not self._selectable_below()
            )
            viewport.appended(appended)
            if cursor_at_tail and (last := viewport.next_selectable(self.model.count() - 1, -1)) is not None:
                self._put_cursor(last, notify=notify)
        self._changed()

    def refresh_block(self, index: int, *, keep_place: bool = True) -> None:
        """Draw one block anew after it was opened, folded or has grown.

        Args:
            index: the block.
            keep_place: keep its first row where it is (an opened block); False lets a followed tail grow
                downwards.
        """
        self._sync_size()
        self._viewport.refresh_block(index, keep_place=keep_place)
        self._changed()

    def highlight(self, needle: str) -> None:
        """Show every visible place of `needle` (ignoring case) in the `match` role; "" ends it."""
        if needle != self._needle:
            self._needle = needle
            self._restyle()

    # -- place and cursor --

    @property
    def following(self) -> bool:
        """Whether the view stays at the tail while blocks arrive."""
        return self._viewport.following

    @property
    def unseen(self) -> int:
        """Blocks that arrived below since following ceased."""
        return self._viewport.unseen

    @property
    def cursor(self) -> int | None:
        """The selected block."""
        return self._viewport.cursor

    @property
    def visible_rows(self) -> list[Position]:
        """The block row on each screen row, from the top."""
        self._sync_size()
        return self._viewport.rows()

    @property
    def first_line(self) -> int:
        """The row of the whole column at the top, as far as heights are known."""
        self._sync_size()
        return self._viewport.first_line

    @property
    def total_lines(self) -> int:
        """Rows of the whole column, as far as heights are known."""
        self._sync_size()
        return self._viewport.total_rows

    def select(
        self, index: int | None, *, reveal: bool = True, place: Place = "nearest", notify: bool = True
    ) -> None:
        """Put the cursor on a block.

        Args:
            index: the block, None for none; a hidden or unknown one is ignored.
            reveal: bring it on screen.
            place: where: with the least movement, at the top, or at a third of the height.
            notify: post `Selected` if the cursor moved; False when following another view's cursor.
        """
        self._sync_size()
        if index is None:
            self._viewport.set_cursor(None)
        elif 0 <= index < self.model.count() and self._viewport.height_of(index):
            if reveal:
                self._viewport.reveal(index, place)
            self._put_cursor(index, notify=notify)
        self._changed()

    def reveal_row(self, index: int, row: int) -> None:
        """Bring one row of a block on screen; the cursor stays where it is."""
        self._sync_size()
        self._viewport.reveal_row(index, row)
        self._changed()

    def scroll_lines(self, rows: int) -> None:
        """Move the window by rows, up when negative; the cursor stays on its block."""
        self._sync_size()
        self._viewport.scroll(rows)
        self._changed()

    def scroll_to_line(self, line: int) -> None:
        """Put a row of the whole column at the top."""
        self._sync_size()
        self._viewport.jump_to_line(line)
        self._changed()

    # -- actions (bound to keys by the registry) --

    def action_cursor_down(self) -> None:
        """The next block, or one row down inside a block taller than the window."""
        self._step_cursor(1)

    def action_cursor_up(self) -> None:
        """The block before, or one row up inside a block taller than the window."""
        self._step_cursor(-1)

    def action_page_down(self) -> None:
        """One window down."""
        self._page(max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        """One window up."""
        self._page(-max(1, self.size.height - 1))

    def action_half_page_down(self) -> None:
        """Half a window down."""
        self._page(max(1, self.size.height // 2))

    def action_half_page_up(self) -> None:
        """Half a window up."""
        self._page(-max(1, self.size.height // 2))

    def action_first(self) -> None:
        """The first block."""
        self._sync_size()
        self._viewport.to_start()
        if (first := self._viewport.next_selectable(0, 1)) is not None:
            self._put_cursor(first)
        self._changed()

    def action_last(self) -> None:
        """The last block; the tail is followed from there."""
        self._sync_size()
        self._viewport.to_end()
        if (last := self._viewport.next_selectable(self.model.count() - 1, -1)) is not None:
            self._put_cursor(last)
        self._changed()

    def action_activate(self) -> None:
        """Open or fold the block under the cursor."""
        if (cursor := self.cursor) is not None:
            self.post_message(self.Activated(self, cursor, self.model.key(cursor)))

    # -- mouse --

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Three rows down."""
        event.stop()
        event.prevent_default()
        self.scroll_lines(WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Three rows up."""
        event.stop()
        event.prevent_default()
        self.scroll_lines(-WHEEL_ROWS)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the scrollbar."""
        offset = event.get_content_offset(self)
        if offset is not None and offset.x >= self.size.width - SCROLLBAR_CELLS and self._bar is not None:
            event.stop()
            self._is_dragging_bar = True
            self.capture_mouse()
            self._drag_bar(offset.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the scrollbar."""
        if self._is_dragging_bar:
            event.stop()
            self._drag_bar(event.y - self.gutter.top)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of the scrollbar."""
        if self._is_dragging_bar:
            event.stop()
            self._is_dragging_bar = False
            self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        """Select the block under the pointer; a double click, or a click on the cursor, opens or folds it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.x >= self.size.width - SCROLLBAR_CELLS:
            return
        rows = self.visible_rows
        if not 0 <= offset.y < len(rows):
            return
        index = rows[offset.y].block
        if not self.model.selectable(index):
            return
        event.stop()
        if index == self.cursor:
            self.action_activate()
        else:
            self._put_cursor(index)
            self._changed()

    # -- drawing --

    def render_line(self, y: int) -> Strip:
        """One screen row, exactly as wide as the widget's content."""
        self._sync_size()
        rows = self._viewport.rows()
        if rows is not self._bar_rows:
            self._bar_rows = rows
            self._bar = self._thumb()
        styles, width = self._styles, self.size.width
        cells = max(0, width - SCROLLBAR_CELLS)
        if y < len(rows):
            body = self._body(rows[y], cells)
        else:
            row = EMPTY if rows else placeholder_row(self.model, y, cells, GUTTER_CELLS)
            body = strip_of(row, cells, styles, base=styles.ground, ascii_only=self._ascii_only)
        return Strip([*body, self._bar_segment(y)], width)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_attached and self._styles.refresh():
            self._generation += 1

    def on_focus(self) -> None:
        """Draw the cursor as the one that moves."""
        self._restyle()

    on_blur = on_focus

    def on_resize(self) -> None:
        """Take the new size before it is drawn."""
        self._sync_size()
        self._changed()

    def _body(self, position: Position, cells: int) -> Strip:
        entry = self._viewport.laid_out(position.block)
        if entry.generation != self._generation:
            entry.strips.clear()
            entry.generation = self._generation
        is_cursor = position.block == self._viewport.cursor
        variant = (position.row, is_cursor, is_cursor and self.has_focus)
        strip = entry.strips.get(variant)
        if strip is None:
            styles = self._styles
            base = styles.ground
            gutter = Segment(" " * min(GUTTER_CELLS, cells), base)
            if is_cursor:
                role = "cursor" if self.has_focus else "cursor-blurred"
                base += styles(role)
                sign = self._glyphs.cursor if self.has_focus else self._glyphs.cursor_blurred
                gutter = Segment(sign.ljust(GUTTER_CELLS)[:cells], base + styles(f"{role}-mark"))
            text = strip_of(
                entry.lines[position.row],
                max(0, cells - GUTTER_CELLS),
                styles,
                base=base,
                needle=self._needle,
                ascii_only=self._ascii_only,
            )
            strip = Strip([gutter, *text], cells)
            entry.strips[variant] = strip
        return strip

    def _thumb(self) -> Thumb | None:
        viewport = self._viewport
        return thumb(
            viewport.total_rows,
            self.size.height,
            viewport.first_line,
            at_start=viewport.is_at_start,
            at_end=viewport.is_at_end,
        )

    def _bar_segment(self, y: int) -> Segment:
        styles = self._styles
        if self._bar is None:
            return Segment(" ", styles.ground)
        if 0 <= y - self._bar.first < self._bar.rows:
            return Segment(self._glyphs.scroll_thumb, styles.ground + styles("scroll-thumb"))
        return Segment(self._glyphs.scroll_track, styles.ground + styles("scroll-track"))

    # -- inside --

    def _sync_size(self) -> None:
        """Give the viewport the present size; drawing may come before the resize event."""
        if self.size.width > 0:
            self._viewport.resize(self.content_width, self.size.height)
        elif not self._viewport.width:
            # Not on screen yet, a tab in the background: it can be moved in all the same.
            self._viewport.resize(ASSUMED_CELLS, ASSUMED_ROWS)
        if self.is_attached and self._styles.prepare():
            self._generation += 1

    def _restyle(self) -> None:
        self._generation += 1
        self.refresh()

    def _changed(self) -> None:
        viewport = self._viewport
        told = (viewport.following, viewport.unseen)
        if told != self._told:
            self._told = told
            self.post_message(self.FollowChanged(self, *told))
        self.refresh()

    def _put_cursor(self, index: int, *, notify: bool = True) -> None:
        if index == self._viewport.cursor:
            return
        self._viewport.set_cursor(index)
        if notify:
            self.post_message(self.Selected(self, index, self.model.key(index)))

    def _selectable_below(self) -> bool:
        cursor = self._viewport.cursor
        return cursor is not None and self._viewport.next_selectable(cursor + 1, 1) is not None

    def _step_cursor(self, step: Literal[1, -1]) -> None:
        self._sync_size()
        viewport = self._viewport
        cursor = viewport.cursor
        span = None if cursor is None else viewport.screen_rows(cursor)
        if cursor is None or span is None:
            # Off screen the cursor comes back to the edge that the reader moves away from.
            found = viewport.selectable_on_screen(step)
            if found is None:
                viewport.scroll(step)
            else:
                self._put_cursor(found)
            self._changed()
            return
        rows = viewport.rows()
        edge = rows[span[1]].row if step > 0 else rows[span[0]].row
        rows_left = viewport.height_of(cursor) - 1 - edge if step > 0 else edge
        following = viewport.next_selectable(cursor + step, step)
        if rows_left and viewport.height_of(cursor) > viewport.height:
            viewport.scroll(step)
        elif following is None:
            # Rows beyond the last block that takes the cursor can still be read.
            viewport.scroll(step)
        else:
            viewport.reveal(following)
            self._put_cursor(following)
            if step > 0 and viewport.next_selectable(following + 1, 1) is None:
                viewport.settle_at_end()
        self._changed()

    def _page(self, rows: int) -> None:
        self._sync_size()
        viewport = self._viewport
        moved = viewport.scroll(rows)
        cursor = viewport.cursor
        if not moved:
            edge = viewport.selectable_on_screen(-1 if rows > 0 else 1)
        elif cursor is None or viewport.screen_rows(cursor) is None:
            edge = viewport.selectable_on_screen(1 if rows > 0 else -1)
        else:
            edge = None
        if edge is not None:
            self._put_cursor(edge)
        self._changed()

    def _drag_bar(self, y: int) -> None:
        if self._bar is not None:
            self.scroll_to_line(self._bar.line_at(y, self.total_lines, self.size.height))
