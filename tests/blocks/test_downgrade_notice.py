"""The record that a route refused tool changes is a notice in both panes, not an unknown event."""

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
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE

EN, ZH = translator("en"), translator("zh")
REFUSED: dict[str, Any] = {
    "provider": "creek",
    "model": "minnow-2",
    "endpoint": "http://127.0.0.1:9/v1",
    "from": "addition-only",
    "to": "none",
    "reason": "refused",
    "learnedAt": 1_800_000_000_000,
    "status": 400,
    "code": "INVALID_REQUEST",
    "requestId": "req-7",
    "strong": True,
}


def reading(tmp_path: Path, data: Any, *, kind: str = TOOL_UPDATE_DOWNGRADE, **envelope: Any) -> Reading:
    built = log().turn().user("go").tools("peek").answer("fine")
    return built.event(kind, data, **(envelope or {"ignorable": True})).end().read(tmp_path)


def node(made: Reading) -> c.UnknownNode:
    (found,) = [
        entry for at in range(len(made.chat.index)) if isinstance(entry := chat_node(made, at), c.UnknownNode)
    ]
    return found


@pytest.mark.parametrize(
    ("data", "en", "zh"),
    [
        (
            REFUSED,
            "minnow-2 at creek does not accept tool changes in mid-session; sending full definitions "
            "(request req-7)",
            "creek 的 minnow-2 不接受会话中途的工具变更，改为发送完整定义（请求 req-7）",
        ),
        (
            {**REFUSED, "reason": "known"},
            "minnow-2 at creek does not accept tool changes in mid-session; sending full definitions "
            "(known from another session)",
            "creek 的 minnow-2 不接受会话中途的工具变更，改为发送完整定义（从其他会话得知）",
        ),
        (
            {**REFUSED, "systemPromptUpdate": "none"},
            "minnow-2 at creek accepts neither tool changes nor later prompts in mid-session; sending full "
            "definitions and one prompt (request req-7)",
            "creek 的 minnow-2 不接受会话中途的工具变更和新的系统提示词，"
            "改为发送完整定义和一份提示词（请求 req-7）",
        ),
        (
            {**REFUSED, "from": "none", "to": "addition-only", "reason": "expired"},
            "Tool changes are tried again on minnow-2 at creek: the finding is a week old",
            "重新在 creek 的 minnow-2 上尝试工具变更：此前的记录已满一周",
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
    assert plain(row_line(row, Layout(width=160, tr=EN, expanded=False))).count("?") == 0


def test_opened_it_tells_what_is_known(tmp_path: Path) -> None:
    shown = "\n".join(map(plain, chat_lines(node(reading(tmp_path, REFUSED)), Layout(90, EN, expanded=True))))
    for fact in ("http://127.0.0.1:9/v1", "HTTP 400", "req-7", "addition-only", "names the change blocks"):
        assert fact in shown
    narrow = chat_lines(node(reading(tmp_path, REFUSED)), Layout(30, ZH, expanded=True))
    assert all(row.cells <= 30 for row in narrow)


@pytest.mark.parametrize("data", [{}, [], "x", None, {"model": 3, "to": ["none"]}, {"model": "a\x1b[2Jb"}])
def test_a_misshapen_record_is_shown_without_harm(tmp_path: Path, data: Any) -> None:
    lines = chat_lines(node(reading(tmp_path, data)), Layout(60, EN, expanded=True))
    assert lines
    assert "\x1b" not in "".join(map(plain, lines))


def test_a_record_of_this_name_that_is_not_ignorable_stays_unknown(tmp_path: Path) -> None:
    made = reading(tmp_path, REFUSED, kind=TOOL_UPDATE_DOWNGRADE, time=1)
    assert node(made).downgrade is None
    assert made.log.damage[0].code == "unknown-event"
