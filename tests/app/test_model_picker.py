"""`/model` on a live screen: the list of models, narrowing it, choosing by keyboard and mouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fake_app import surroundings
from tests.support.live_driver import Talk, talking
from tui.app.live_screen import LiveScreen
from tui.app.model_choices import Choice, ModelList, choices, meant
from tui.app.model_picker import ModelPicker
from tui.blocks.cells import cell_len
from tui.blocks.text import plain
from tui.llm.route import ModelEntry
from tui.llm.script import answer


def entry(model_id: str, display: str = "", **facts: object) -> ModelEntry:
    return ModelEntry(id=model_id, display=display or model_id, **facts)  # pyright: ignore[reportArgumentType]


FOUND = (
    Choice("creek", "minnow-2", entry("minnow-2", "Minnow Two", tool_update="addition-only"), is_asked=True),
    Choice("creek", "pike-1", entry("pike-1", context_window=128_000, tool_update="in-history"), False),
    Choice("hill", "pike-1", entry("pike-1", context_window=32_768), False),
    Choice("hill", "owl", entry("owl", tool_update="in-history"), False, has_fallen_back=True),
)


def rows(lang: str = "en", width: int = 80, *, text: str = "", ascii_only: bool = False) -> list[str]:
    shown = ModelList(FOUND, surroundings(lang, ascii_only=ascii_only), ("creek", "hill"))
    shown.filter(text)
    return [plain(shown.layout(at, width)[0]) for at in range(shown.count())]


async def opened(talk: Talk) -> ModelPicker:
    await talk.write("/model")
    await talk.press("enter")
    await talk.until(lambda: isinstance(talk.top, ModelPicker))
    picker = talk.top
    assert isinstance(picker, ModelPicker)
    await talk.until(lambda: picker.list.cursor is not None)
    return picker


def chosen(talk: Talk) -> list[str]:
    """The models that the log says were chosen."""
    events = talk.conversation.writer.events
    return [event.data["model"] for event in events if event.type == "model/selection"]


# -- the list


def test_each_row_tells_the_route_its_mode_and_its_window() -> None:
    asked, pike, hill, owl = rows()
    assert asked.startswith("✓ creek/minnow-2  Minnow Two ") and asked.endswith("addition-only       1.0M")
    assert "creek/pike-1" in pike and "in-history" in pike and pike.endswith("128k")
    assert "no tool updates" in hill and hill.endswith("32.8k")
    assert "refused them" in owl
    assert "不支持工具更新" in rows("zh")[2] and "已拒绝" in rows("zh")[3]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [8, 20, 47, 48, 120])
def test_no_row_is_wider_than_the_list(lang: str, width: int) -> None:
    shown = ModelList(FOUND, surroundings(lang), ("creek", "hill"))
    for row in (shown.heading(width), *(shown.layout(at, width)[0] for at in range(shown.count()))):
        assert row.cells == cell_len(plain(row)) <= width


def test_ascii_draws_ascii_only() -> None:
    assert all(row.isascii() for row in rows(ascii_only=True))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pike", ["creek/pike-1", "hill/pike-1"]),
        ("hill PIKE", ["hill/pike-1"]),
        ("two", ["creek/minnow-2"]),
        ("in-history", ["creek/pike-1"]),
        ("  ", [choice.name for choice in FOUND]),
        ("two words", []),
    ],
)
def test_typing_narrows_the_list_to_the_rows_that_hold_all_words(text: str, names: list[str]) -> None:
    shown = ModelList(FOUND, surroundings(), ("creek", "hill"))
    shown.filter(text)
    assert [choice.name for choice in shown.shown] == names


def test_a_model_that_nobody_lists_can_be_chosen_by_its_name() -> None:
    (row,) = rows(text="hill/heron-9")
    assert "hill/heron-9" in row and "not listed" in row
    assert meant(FOUND, "heron-9", ("creek", "hill"), "creek").name == "creek/heron-9"
    assert meant(FOUND, "owl", ("creek", "hill"), "creek") is FOUND[3]
    # A slash may belong to the model's own name.
    assert meant(FOUND, "lab/heron-9", ("creek", "hill"), "hill").name == "hill/lab/heron-9"


# -- on the screen


async def test_the_list_begins_at_the_model_that_is_asked_and_enter_chooses(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Moss.")]) as talk:
        picker = await opened(talk)
        assert picker.model.shown[picker.list.cursor or 0].model == "scripted-in-history"
        await talk.press("down", "enter")
        await talk.until(lambda: isinstance(talk.top, LiveScreen))
        assert chosen(talk) == ["scripted-none"]
        assert "From the next request on, scripted/scripted-none is used." in talk.foot()
        assert talk.conversation.agent.selection.model == "scripted-none"
        await talk.until(lambda: talk.live.composer.has_focus)
        await talk.say("Hello?")
        header = next(e for e in talk.conversation.writer.events if e.type == "request/header")
        assert header.data["header"]["config"]["model"] == "scripted-none"


async def test_arrows_go_round_and_typing_narrows(tmp_path: Path) -> None:
    async with talking(tmp_path, []) as talk:
        picker = await opened(talk)
        await talk.press("down", "down")
        assert picker.list.cursor == 0
        await talk.press("up")
        assert picker.list.cursor == 2
        await talk.press(*"only")
        await talk.until(lambda: picker.model.count() == 1)
        await talk.press("enter")
        await talk.until(lambda: isinstance(talk.top, LiveScreen))
        assert chosen(talk) == ["scripted-addition-only"]


async def test_escape_leaves_everything_as_it_was(tmp_path: Path) -> None:
    async with talking(tmp_path, []) as talk:
        await opened(talk)
        await talk.press("down", "escape")
        await talk.until(lambda: isinstance(talk.top, LiveScreen) and talk.live.composer.has_focus)
        assert chosen(talk) == [] and talk.conversation.agent.selection.model == "scripted-in-history"


async def test_a_click_chooses(tmp_path: Path) -> None:
    async with talking(tmp_path, []) as talk:
        await opened(talk)
        await talk.pilot.click("#model-list", offset=(6, 2))
        await talk.until(lambda: isinstance(talk.top, LiveScreen))
        assert chosen(talk) == ["scripted-none"]


async def test_words_that_no_model_holds_are_told_and_enter_waits(tmp_path: Path) -> None:
    async with talking(tmp_path, [], lang="zh") as talk:
        picker = await opened(talk)
        await talk.press("a", "space", "b")
        await talk.until(lambda: "没有匹配的模型" in talk.text())
        await talk.press("enter")
        assert talk.top is picker
        await talk.press("backspace", "backspace", "backspace")
        await talk.until(lambda: picker.model.count() == 3 and "选择" in talk.text())


async def test_the_model_that_is_asked_is_not_chosen_again(tmp_path: Path) -> None:
    async with talking(tmp_path, []) as talk:
        await opened(talk)
        await talk.press("enter")
        await talk.until(lambda: "scripted/scripted-in-history is in use already." in talk.foot())
        assert chosen(talk) == []
        await talk.write("/model heron-9")
        await talk.press("enter")
        await talk.until(lambda: chosen(talk) == ["heron-9"])
        picker = await opened(talk)
        assert picker.model.shown[0] == Choice("scripted", "heron-9", None, is_asked=True)


async def test_choices_say_what_the_route_takes(tmp_path: Path) -> None:
    async with talking(tmp_path, []) as talk:
        modes = {
            choice.model: choice.entry.tool_update for choice in choices(talk.conversation) if choice.entry
        }
        assert modes == {
            "scripted-addition-only": "addition-only",
            "scripted-in-history": "in-history",
            "scripted-none": None,
        }


async def test_the_page_before_the_first_prompt_names_the_model_that_was_chosen(tmp_path: Path) -> None:
    async with talking(tmp_path, []) as talk:
        await opened(talk)
        await talk.press("down", "enter")
        await talk.until(lambda: "scripted-none · scripted" in talk.text())
        assert "this route takes none" in " ".join(talk.text().split())
