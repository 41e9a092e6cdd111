"""What a running session looks like: SVG goldens in `snapshots/`, to be looked at when they change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.goldens import compare, names
from tests.support.live_driver import Talk, talking, tool
from tui.app.model_picker import ModelPicker
from tui.llm.script import Call, Fail, Part, Pause, Say, Think, answer

pytestmark = pytest.mark.snapshot

SMALL, MIDDLE, LARGE = (80, 24), (120, 40), (200, 50)
WORDS = {
    "en": (
        "The shelf was rearranged. Count the moths and sow tray t-4.",
        "Twelve new tools, three gone.\nCount first, then sow.",
        "## North bench\n\n- nine moths\n- tray **t-4** is free\n\n"
        "```python\nfor bed in beds:\n    mist(bed)",
        "and turn the pots",
        "then draw the plan",
        "it uses up seed",
    ),
    "zh": (
        "架子重新摆过了。数一下飞蛾，再播种 t-4。",
        "新增十二个工具，少了三个。\n先数，再播种。",
        "## 北台\n\n- 九只飞蛾\n- 育苗盘 **t-4** 空着\n\n```python\nfor bed in beds:\n    mist(bed)",
        "再转一下花盆",
        "然后画一张平面图",
        "会用掉种子",
    ),
}
BEFORE = [f"mcp__saltmarsh__{name}" for name in ("read_gauge", "mist_bed", "open_vent")]
AFTER = [f"mcp__saltmarsh__{name}" for name in ("read_gauge", "count_moths", "sow_tray", "turn_pot")]
COMMAND = ("python3", "sow.py", "--tray", "t-4", "sea lavender")
PIECES = 12
"""Pieces of six characters of the thought that is seen half."""
LOOKS = [(MIDDLE, "en"), (MIDDLE, "zh"), (SMALL, "zh"), (LARGE, "en")]
SHOTS = [
    *[("streaming", size, lang) for size, lang in LOOKS],
    *[("thinking", size, lang) for size, lang in LOOKS[:2]],
    *[("question", size, lang) for size, lang in LOOKS],
    *[("waiting-prompts", size, lang) for size, lang in LOOKS[:2]],
    *[("retry", size, lang) for size, lang in LOOKS[1:3]],
    *[("failed", size, lang) for size, lang in (LOOKS[0], LOOKS[2])],
    *[("empty", size, lang) for size, lang in LOOKS[:2]],
    *[("models", size, lang) for size, lang in (LOOKS[0], LOOKS[2])],
]


def name_of(what: str, size: tuple[int, int], lang: str) -> str:
    return f"live-{what}-{size[0]}x{size[1]}-{lang}"


def parts_of(what: str, lang: str) -> list[Part]:
    _, thought, said, *_ = WORDS[lang]
    think = Think(thought)
    match what:
        case "thinking":
            return [Think(f"{thought}\n" * 8)]
        case "question" | "waiting-prompts":
            return [
                think,
                Call(AFTER[1], {"lamp": "north"}, "call-1"),
                Call(AFTER[2], {"tray": "t-4"}, "call-2"),
            ]
        case "retry":
            return [Fail("Slow down, please.", "RATE_LIMIT", 429, retry_after_ms=9_000)]
        case "failed":
            return [Fail("The key is not valid.", "AUTH", 401, request_id="req_4711")]
        case _:
            return [think, Say(said), Pause(60)]


async def reach(talk: Talk, what: str, lang: str) -> None:
    """Bring the screen to the state that the golden shows."""
    prompt, _, _, steer, queued, _ = WORDS[lang]
    if what == "empty":
        return
    await talk.say("…")
    if what == "models":
        await talk.write("/model")
        await talk.press("enter", "down")
        await talk.until(lambda: isinstance(talk.top, ModelPicker) and talk.top.list.cursor is not None)
        return
    for name in AFTER[1:]:
        talk.registry.register(tool(name, asks="" if name != AFTER[2] else WORDS[lang][5], command=COMMAND))
    for name in BEFORE[1:]:
        talk.disposers[name]()
    if what == "thinking":
        talk.clock.waits_left = PIECES
    await talk.write(prompt)
    await talk.press("enter")
    match what:
        case "thinking":
            await talk.until(lambda: talk.live.feed.tail.characters == PIECES * 6)
        case "streaming":
            await talk.until(lambda: "mist(bed)" in talk.text())
        case "question":
            await talk.until(lambda: talk.live.approval.has_focus)
        case "waiting-prompts":
            await talk.until(lambda: talk.live.approval.request is not None)
            await talk.write(steer)
            await talk.press("enter")
            await talk.write(queued)
            await talk.press("tab")
            await talk.until(lambda: len(talk.live.queue.items) == 2)
        case "retry":
            await talk.until(lambda: talk.live.feed.activity.phase == "retry")
        case _:
            await talk.idle()


@pytest.mark.parametrize(("what", "size", "lang"), SHOTS)
async def test_a_running_session_looks_like_its_golden(  # noqa: PLR0917 - fixtures
    what: str,
    size: tuple[int, int],
    lang: str,
    update: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui.tools.approval.uuid.uuid4", lambda: "q-1")
    script = [answer("…", pace_s=0), answer(*parts_of(what, lang), pace_s=0)]
    async with talking(tmp_path, script, tools=[tool(name) for name in BEFORE], size=size, lang=lang) as talk:
        await reach(talk, what, lang)
        talk.live.feed.beat()
        timeline = talk.live.timeline
        if timeline.display:
            await talk.until(lambda: timeline.is_settled)
        talk.freeze()
        await talk.pilot.pause()
        compare(talk, name_of(what, size, lang), update=update)


def test_every_golden_of_a_running_session_belongs_to_one() -> None:
    assert {name for name in names() if name.startswith("live-")} == {name_of(*shot) for shot in SHOTS}
