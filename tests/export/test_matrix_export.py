"""Tools over time on paper."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.exports import exported, recording
from tests.support.log_builder import log

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_picture_has_a_row_for_every_tool_and_a_sign_for_every_request(lang: str) -> None:
    root = ElementTree.fromstring(exported(recording("many-tools-changed"), "tools", "svg", lang))
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert sum("saltmarsh" in text for text in texts) == 17
    assert sum(text == "□□" for text in texts) == 12


def test_the_text_tells_signs_and_changes_in_words_too() -> None:
    written = exported(recording("remove-and-restore"), "tools", "text")
    assert "●■−··┆↺■■■■┆■■●■" in written
    assert "↺ mcp__saltmarsh__open_vent  restored, redefined" in written
    assert "request 6 · turn 4 · series 2 · new series: a tool was redefined" in written


@pytest.mark.parametrize("form", ["md", "html"])
def test_markdown_and_html_hold_the_same_grid(form: str) -> None:
    assert "·····┆··+□−┆↺■■■" in exported(recording("remove-and-restore"), "tools", form)


def test_many_requests_are_set_in_strips_that_leave_absent_tools_out(tmp_path: Path) -> None:
    made = log().turn().tools("early", "always")
    for number in range(300):
        made.tools("always") if number == 20 else made
        made.turn().user("1").answer("x")
    path = made.end().write(tmp_path)
    written = exported(path, "tools", "text")
    strips = written.split("Tools over time")[1].split("Signs")[0]
    assert strips.count("always") >= 3 and strips.count("early") == 1
    assert "1 more tool, absent here" in strips
    assert strips.count("■") + strips.count("−") >= 320
