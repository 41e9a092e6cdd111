"""The records of a session that goes on from a summary are notices in both panes, not unknown events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.log_builder import log
from tui.blocks.chat_layout import chat_lines
from tui.blocks.inspector import inspect
from tui.blocks.layout import Layout
from tui.blocks.text import plain
from tui.blocks.trajectory_layout import row_line
from tui.blocks.wording import node_text, row_text
from tui.export.chat_json import node_entry
from tui.i18n import translator
from tui.nodes import chat as c
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading
from tui.nodes.trajectory import trajectory_row
from tui.session.own_records import RECOVERED_FROM, RECOVERY_CHECKED

EN, ZH = translator("en"), translator("zh")
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


def reading(tmp_path: Path, kind: str, data: Any, **envelope: Any) -> Reading:
    built = log().turn().user("go").tools("peek").answer("fine")
    return built.event(kind, data, **(envelope or {"ignorable": True})).end().read(tmp_path)


def node(made: Reading) -> c.UnknownNode:
    (found,) = [
        entry for at in range(len(made.chat.index)) if isinstance(entry := chat_node(made, at), c.UnknownNode)
    ]
    return found


def place(made: Reading) -> int:
    rows = range(len(made.trajectory.index))
    (at,) = [at for at in rows if trajectory_row(made, at).kind == "unknown"]
    return at


@pytest.mark.parametrize(("kind", "data", "en", "zh"), CASES)
def test_both_panes_say_it_in_both_languages(tmp_path: Path, kind: str, data: Any, en: str, zh: str) -> None:
    made = reading(tmp_path, kind, data)
    assert not made.log.damage
    assert (node_text(EN, node(made)), node_text(ZH, node(made))) == (en, zh)
    row = trajectory_row(made, place(made))
    assert (row_text(EN, row), row_text(ZH, row)) == (en, zh)
    assert plain(row_line(row, Layout(width=160, tr=EN, expanded=False))).count("?") == 0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_opened_and_in_the_inspector_it_leads_to_the_original(tmp_path: Path, lang: str) -> None:
    made, tr = reading(tmp_path, RECOVERED_FROM, FROM), translator(lang)
    opened = chat_lines(node(made), Layout(90, tr, expanded=True))
    inspected = inspect(made, place(made), "summary", Layout(90, tr, expanded=True))
    for rows in (opened, inspected):
        shown = "\n".join(map(plain, rows))
        assert "dsh-tui open session-ab12@83" in shown and "/srv/dsh/session.v4.jsonl" in shown
    assert all(row.cells <= 30 for row in chat_lines(node(made), Layout(30, tr, expanded=True)))


def test_in_json_it_stays_an_ignorable_foreign_event_with_a_localised_text(tmp_path: Path) -> None:
    made = reading(tmp_path, RECOVERED_FROM, FROM)
    told = node_entry(node(made), ZH)
    assert (told["kind"], told["type"], told["ignorable"]) == ("unknown", RECOVERED_FROM, True)
    assert told["text"] == CASES[0][3]


@pytest.mark.parametrize(
    "data", [[], "x", None, {"sessionId": 3, "seq": "n", "path": []}, {"sessionId": "a\x1b[2Jb"}]
)
def test_a_misshapen_record_is_shown_without_harm(tmp_path: Path, data: Any) -> None:
    lines = chat_lines(node(reading(tmp_path, RECOVERED_FROM, data)), Layout(60, EN, expanded=True))
    assert lines
    assert "\x1b" not in "".join(map(plain, lines))


def test_a_record_of_this_name_that_is_not_ignorable_stays_unknown(tmp_path: Path) -> None:
    made = reading(tmp_path, RECOVERED_FROM, FROM, time=1)
    assert node(made).recovery is None
    assert made.log.damage[0].code == "unknown-event"
