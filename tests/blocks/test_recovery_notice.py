"""The records of a session that goes on from a summary are notices in both panes, not unknown events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.notices import (
    ZH,
    assert_both_panes_say,
    assert_drawn_without_harm,
    notice,
    notice_row,
    noticed,
)
from tui.blocks.chat_layout import chat_lines
from tui.blocks.inspector import inspect
from tui.blocks.layout import Layout
from tui.blocks.text import plain
from tui.export.chat_json import node_entry
from tui.i18n import translator
from tui.session.own_records import RECOVERED_FROM, RECOVERY_CHECKED

FROM: dict[str, Any] = {"sessionId": "session-ab12", "seq": 83, "path": "/srv/dsh/session.v4.jsonl"}
CASES: list[tuple[str, Any, str, str]] = [
    (
        RECOVERED_FROM,
        FROM,
        "Goes on from a summary of session-ab12@83; only reading until its first check is confirmed",
        "依据 session-ab12@83 的摘要继续；首次核验确认前只读",
    ),
    (
        RECOVERED_FROM,
        {**FROM, "checkpoint": True},
        "Goes on from a checkpoint of session-ab12@83; only reading until its first check is confirmed",
        "依据 session-ab12@83 的检查点继续；首次核验确认前只读",
    ),
    (
        RECOVERED_FROM,
        {},
        "Goes on from a summary; only reading until its first check is confirmed",
        "依据一份摘要继续；首次核验确认前只读",
    ),
    (
        RECOVERY_CHECKED,
        {},
        "First check confirmed: from here on tools may write and run",
        "首次核验已确认：此后工具可以写入和运行",
    ),
]


@pytest.mark.parametrize(("kind", "data", "en", "zh"), CASES)
def test_both_panes_say_it_in_both_languages(tmp_path: Path, kind: str, data: Any, en: str, zh: str) -> None:
    assert_both_panes_say(noticed(tmp_path, kind, data), en, zh)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_opened_and_in_the_inspector_it_leads_to_the_original(tmp_path: Path, lang: str) -> None:
    made, tr = noticed(tmp_path, RECOVERED_FROM, FROM), translator(lang)
    opened = chat_lines(notice(made), Layout(90, tr, expanded=True))
    inspected = inspect(made, notice_row(made), "summary", Layout(90, tr, expanded=True))
    for rows in (opened, inspected):
        shown = "\n".join(map(plain, rows))
        assert "dsh-tui open session-ab12@83" in shown and "/srv/dsh/session.v4.jsonl" in shown
    assert all(row.cells <= 30 for row in chat_lines(notice(made), Layout(30, tr, expanded=True)))


def test_in_json_it_stays_an_ignorable_foreign_event_with_a_localised_text(tmp_path: Path) -> None:
    made = noticed(tmp_path, RECOVERED_FROM, FROM)
    told = node_entry(notice(made), ZH)
    assert (told["kind"], told["type"], told["ignorable"]) == ("unknown", RECOVERED_FROM, True)
    assert told["text"] == CASES[0][3]


@pytest.mark.parametrize(
    "data", [[], "x", None, {"sessionId": 3, "seq": "n", "path": []}, {"sessionId": "a\x1b[2Jb"}]
)
def test_a_misshapen_record_is_shown_without_harm(tmp_path: Path, data: Any) -> None:
    assert_drawn_without_harm(noticed(tmp_path, RECOVERED_FROM, data))


def test_a_record_of_this_name_that_is_not_ignorable_stays_unknown(tmp_path: Path) -> None:
    made = noticed(tmp_path, RECOVERED_FROM, FROM, time=1)
    assert notice(made).own is None
    assert made.log.damage[0].code == "unknown-event"
