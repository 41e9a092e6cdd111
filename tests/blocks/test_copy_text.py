"""What copying gives: text as it was written, never cells, always well-formed."""

from __future__ import annotations

import pytest

from tests.support.nodes import PLACE, RECORDINGS, context, every_kind, notice, reading_of, tool, tool_line
from tui.blocks.copy_text import node_copy, row_copy
from tui.i18n import translator
from tui.nodes import chat as c

EN, ZH = translator("en"), translator("zh")


def test_an_answer_is_copied_as_markdown_whole_and_unwrapped() -> None:
    text = "| a | b |\n|---|---|\n" + "word " * 2000
    assert node_copy(c.AssistantNode(**PLACE, text=text, provider="p", model="m"), EN) == text


def test_a_call_is_copied_with_arguments_and_result() -> None:
    assert node_copy(tool(), EN) == 'mcp__saltmarsh__count_moths {"lamp": "north"}\n\n12 moths'


def test_a_notice_is_copied_with_every_whole_name() -> None:
    told = notice(
        (tool_line("mcp__s__a", "One."), tool_line("mcp__s__b", restored=True)), (tool_line("mcp__s__c"),)
    )
    assert node_copy(context(told=told), EN) == (
        "Tools changed · 2 added (1 restored), 1 removed\n+ mcp__s__a  One.\n↺ mcp__s__b\n- mcp__s__c"
    )


def test_what_is_said_about_a_node_is_copied_in_the_readers_language() -> None:
    told = notice((tool_line("mcp__s__a", "One."),), (tool_line("mcp__s__b"),))
    assert node_copy(context(told=told), ZH).splitlines()[0] == "工具变更 · 新增 1 个，移除 1 个"


def test_half_an_emoji_is_copied_as_the_replacement_character() -> None:
    node = c.UserNode(**PLACE, content=c.Content(text="half \ud83d of it"))
    assert node_copy(node, EN) == "half \ufffd of it"


@pytest.mark.parametrize("text", ["half \ud83d", "\x1b[2J", "", "漢字"])
def test_every_kind_is_copied_as_valid_unicode(text: str) -> None:
    for node in every_kind(text):
        node_copy(node, EN).encode("utf-8")


@pytest.mark.parametrize("name", sorted(p.name for p in RECORDINGS.iterdir() if p.is_dir()))
def test_every_row_of_every_recording_is_copied(name: str) -> None:
    reading = reading_of(name)
    for index in range(len(reading.trajectory.index)):
        assert row_copy(reading, index, EN).encode("utf-8")


def test_a_row_of_an_answer_gives_reasoning_text_and_calls() -> None:
    reading = reading_of("many-tools-changed")
    row = reading.log.row_of_seq(30)
    assert row is not None
    index = reading.trajectory.index.exactly(row)
    assert index is not None
    assert row_copy(reading, index, EN) == (
        "Twelve new tools, three gone.\n\n"
        'mcp__saltmarsh__count_moths {"lamp": "north"}\n\n'
        'mcp__saltmarsh__sow_tray {"tray": "t-4"}'
    )
