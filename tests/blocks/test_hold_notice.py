"""The record that tools are held is a notice in both panes, not an unknown event."""

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
from tui.nodes.reading import Reading
from tui.session.hold_record import HOLD

HELD: dict[str, Any] = {"held": True, "cause": "user", "headerSeq": 4, "tools": 3, "waiting": 2}


def reading(tmp_path: Path, data: Any, **envelope: Any) -> Reading:
    return noticed(tmp_path, HOLD, data, between_turns=True, **envelope)


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
    assert_both_panes_say(reading(tmp_path, data), en, zh)


def test_opened_it_tells_what_is_known(tmp_path: Path) -> None:
    assert_opened_tells(reading(tmp_path, HELD), "the user", "event 4", "Changes that waited")


@pytest.mark.parametrize("data", [{}, [], "x", None, {"held": "yes"}])
def test_a_record_that_does_not_say_which_stays_unknown(tmp_path: Path, data: Any) -> None:
    made = reading(tmp_path, data)
    assert notice(made).own is None
    assert_drawn_without_harm(made)


def test_a_record_of_this_name_that_is_not_ignorable_stays_unknown(tmp_path: Path) -> None:
    made = reading(tmp_path, HELD, time=1)
    assert notice(made).own is None
    assert made.log.damage[0].code == "unknown-event"
