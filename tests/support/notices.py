"""Sessions with one foreign record, and the notice that both panes make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.log_builder import log
from tui.blocks.chat_layout import chat_lines
from tui.blocks.layout import Layout
from tui.blocks.text import plain
from tui.blocks.trajectory_layout import row_line
from tui.blocks.wording import node_text, row_text
from tui.i18n import translator
from tui.nodes import chat as c
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading
from tui.nodes.trajectory import trajectory_row

EN, ZH = translator("en"), translator("zh")


def noticed(folder: Path, kind: str, data: Any, *, between_turns: bool = False, **envelope: Any) -> Reading:
    """A session with a record of a kind, ignorable unless an envelope is given."""
    envelope = envelope or {"ignorable": True}
    built = log().turn().user("go").tools("peek").answer("fine")
    built = (
        built.end().event(kind, data, **envelope)
        if between_turns
        else built.event(kind, data, **envelope).end()
    )
    return built.read(folder)


def notice(made: Reading) -> c.UnknownNode:
    """The one foreign record in the chat."""
    entries = (chat_node(made, at) for at in range(len(made.chat.index)))
    (found,) = [entry for entry in entries if isinstance(entry, c.UnknownNode)]
    return found


def notice_row(made: Reading) -> int:
    """Where the one foreign record stands in the trajectory."""
    rows = range(len(made.trajectory.index))
    (at,) = [at for at in rows if trajectory_row(made, at).kind == "unknown"]
    return at


def assert_both_panes_say(made: Reading, en: str, zh: str) -> None:
    """Both panes tell the record in both languages, and its line in the trajectory is no unknown event."""
    assert not made.log.damage
    node, row = notice(made), trajectory_row(made, notice_row(made))
    assert (node_text(EN, node), node_text(ZH, node)) == (en, zh)
    assert (row_text(EN, row), row_text(ZH, row)) == (en, zh)
    drawn = plain(row_line(row, Layout(width=160, tr=EN, expanded=False)))
    assert "?" not in drawn and "plugin:" not in drawn


def assert_opened_tells(made: Reading, *facts: str) -> None:
    """The opened notice holds the facts, and keeps within a narrow screen."""
    shown = "\n".join(map(plain, chat_lines(notice(made), Layout(90, EN, expanded=True))))
    for fact in facts:
        assert fact in shown
    narrow = chat_lines(notice(made), Layout(30, ZH, expanded=True))
    assert all(row.cells <= 30 for row in narrow)


def assert_drawn_without_harm(made: Reading) -> None:
    """Something is shown of the opened notice, and no control character is in it."""
    lines = chat_lines(notice(made), Layout(60, EN, expanded=True))
    assert lines
    assert "\x1b" not in "".join(map(plain, lines))
