"""The record that tools are held is a notice in both panes, not an unknown event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
from tui.session.hold_record import HOLD

EN, ZH = translator("en"), translator("zh")
HELD: dict[str, Any] = {"held": True, "cause": "user", "headerSeq": 4, "tools": 3, "waiting": 2}


def reading(tmp_path: Path, data: Any, **envelope: Any) -> Reading:
    built = log().turn().user("go").tools("peek").answer("fine").end()
    return built.event(HOLD, data, **(envelope or {"ignorable": True})).read(tmp_path)


def node(made: Reading) -> c.UnknownNode:
    (found,) = [
        entry for at in range(len(made.chat.index)) if isinstance(entry := chat_node(made, at), c.UnknownNode)
    ]
    return found


@pytest.mark.parametrize(
    ("data", "en", "zh"),
    [
        (HELD, "3 tools are held as they are; changes wait", "已冻结 3 个工具；变更将等待"),
        ({"held": True}, "The tools are held as they are; changes wait", "工具已冻结；变更将等待"),
        (
            {"held": False, "waiting": 2},
            "The tools are no longer held; 2 changes that waited come with the next request",
            "已解除工具冻结；等待中的 2 项变更将随下一个请求生效",
        ),
        (
            {"held": False},
            "The tools are no longer held; no change waited",
            "已解除工具冻结；没有等待中的变更",
        ),
    ],
)
def test_both_panes_say_it_in_both_languages(tmp_path: Path, data: Any, en: str, zh: str) -> None:
    made = reading(tmp_path, data)
    assert not made.log.damage
    assert (node_text(EN, node(made)), node_text(ZH, node(made))) == (en, zh)
    rows = [trajectory_row(made, at) for at in range(len(made.trajectory.index))]
    (row,) = [row for row in rows if row.kind == "unknown"]
    assert (row_text(EN, row), row_text(ZH, row)) == (en, zh)
    drawn = plain(row_line(row, Layout(width=160, tr=EN, expanded=False)))
    assert drawn.count("?") == 0 and "plugin:" not in drawn


def test_opened_it_tells_what_is_known(tmp_path: Path) -> None:
    shown = "\n".join(map(plain, chat_lines(node(reading(tmp_path, HELD)), Layout(90, EN, expanded=True))))
    for fact in ("the user", "event 4", "Changes that waited"):
        assert fact in shown
    narrow = chat_lines(node(reading(tmp_path, HELD)), Layout(30, ZH, expanded=True))
    assert all(row.cells <= 30 for row in narrow)


@pytest.mark.parametrize("data", [{}, [], "x", None, {"held": "yes"}])
def test_a_record_that_does_not_say_which_stays_unknown(tmp_path: Path, data: Any) -> None:
    made = node(reading(tmp_path, data))
    assert made.hold is None
    assert chat_lines(made, Layout(60, EN, expanded=True))


def test_a_record_of_this_name_that_is_not_ignorable_stays_unknown(tmp_path: Path) -> None:
    made = reading(tmp_path, HELD, time=1)
    assert node(made).hold is None
    assert made.log.damage[0].code == "unknown-event"
