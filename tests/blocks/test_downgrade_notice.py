"""The record that a route refused tool changes is a notice in both panes, not an unknown event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.notices import (
    assert_both_panes_say,
    assert_drawn_without_harm,
    assert_opened_tells,
    notice,
    noticed,
)
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE

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
    assert_both_panes_say(noticed(tmp_path, TOOL_UPDATE_DOWNGRADE, data), en, zh)


def test_opened_it_tells_what_is_known(tmp_path: Path) -> None:
    made = noticed(tmp_path, TOOL_UPDATE_DOWNGRADE, REFUSED)
    assert_opened_tells(
        made, "http://127.0.0.1:9/v1", "HTTP 400", "req-7", "addition-only", "names the change blocks"
    )


@pytest.mark.parametrize("data", [{}, [], "x", None, {"model": 3, "to": ["none"]}, {"model": "a\x1b[2Jb"}])
def test_a_misshapen_record_is_shown_without_harm(tmp_path: Path, data: Any) -> None:
    assert_drawn_without_harm(noticed(tmp_path, TOOL_UPDATE_DOWNGRADE, data))


def test_a_record_of_this_name_that_is_not_ignorable_stays_unknown(tmp_path: Path) -> None:
    made = noticed(tmp_path, TOOL_UPDATE_DOWNGRADE, REFUSED, time=1)
    assert notice(made).own is None
    assert made.log.damage[0].code == "unknown-event"
