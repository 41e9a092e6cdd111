"""The page of a session in which nothing was said yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.live_driver import Talk, talking, tool
from tui.llm.script import Say, answer


def page(talk: Talk) -> str:
    """The left pane in one line, its breaks taken away."""
    return " ".join(" ".join(row[:59] for row in talk.rows()).split())


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("scripted", "this route takes none: each one sends every definition again"),
        ("scripted-addition-only", "additions are sent as changes; a removal sends every definition again"),
        ("scripted-in-history", "additions and removals are sent as changes"),
    ],
)
async def test_it_says_what_is_talked_to_and_how_the_route_takes_tool_changes(
    tmp_path: Path, model: str, told: str
) -> None:
    async with talking(tmp_path, [], tools=[tool("mcp__saltmarsh__mist_bed")], model=model) as talk:
        assert f"model {model} · scripted tool changes {told} folder /srv/demo" in page(talk)
        assert "tools saltmarsh · mist_bed" in page(talk)


async def test_a_tool_that_comes_stands_there_at_once(tmp_path: Path) -> None:
    async with talking(tmp_path, []) as talk:
        assert "tools none" in page(talk)
        talk.registry.register(tool("sow_tray"))
        await talk.until(lambda: "tools sow_tray" in page(talk))


async def test_many_tools_are_named_in_part_and_counted(tmp_path: Path) -> None:
    async with talking(tmp_path, [], tools=[tool(f"gauge_{n:02}") for n in range(15)]) as talk:
        assert "gauge_11, 3 more" in page(talk)
        assert "gauge_12" not in page(talk)


async def test_it_speaks_the_language_in_force(tmp_path: Path) -> None:
    async with talking(tmp_path, []) as talk:
        talk.app.action_switch_language()
        await talk.until(lambda: "工具变更 新增和移除都只发送变更本身" in page(talk))


async def test_it_makes_room_for_the_first_prompt(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer(Say("Damp."))]) as talk:
        assert "dsh-tui " in page(talk)
        await talk.say("How is the fern bed?")
        assert "dsh-tui " not in page(talk)
        assert "Damp." in page(talk)
