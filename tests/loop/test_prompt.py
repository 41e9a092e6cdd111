"""The system prompt and the runtime context, piece by piece (loop-and-adapters §2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_provider import FakeProvider, answer
from tests.support.loop_driver import driving, instantly, loopback, model, scripted, simple_prompt
from tests.support.session_logs import user
from tui.loop.context import ContextText, context_due
from tui.loop.prompt import (
    Presentation,
    Prompt,
    PromptChange,
    PromptContext,
    PromptError,
    Section,
    SystemNode,
    reconcile,
    with_text,
)
from tui.loop.title import first_title, first_words
from tui.session.cancel import CancelSignal
from tui.session.writer import SessionWriter
from tui.tools.tool import ModelSelection

MOMENT = PromptContext(
    selection=ModelSelection(provider="creek", model="minnow-2"), tool_set=None, cwd="/srv/moss"
)


def node(seq: int, text: str) -> SystemNode:
    return SystemNode(seq, text)


# nodes, text, in-history, breaks -> changes, as rows 1 to 4 of the table say.
ROWS: list[tuple[str, list[SystemNode], str, bool, bool, list[PromptChange]]] = [
    ("no node yet", [], "A", True, False, [PromptChange("A", None)]),
    ("no node yet and no text", [], "", False, False, [PromptChange("", None)]),
    ("equal, leading", [node(4, "A")], "A", False, False, []),
    ("equal, breaks", [node(4, "A")], "A", True, True, []),
    ("other text, leading", [node(4, "A")], "B", False, False, [PromptChange("B", 4)]),
    ("other text, breaks", [node(4, "A")], "B", True, True, [PromptChange("B", 4)]),
    (
        "later nodes are emptied first",
        [node(4, "A"), node(9, "B"), node(12, ""), node(20, "C")],
        "D",
        True,
        True,
        [PromptChange("", 9), PromptChange("", 20), PromptChange("D", 4)],
    ),
    (
        "later nodes are emptied though the head stays",
        [node(4, "A"), node(9, "B")],
        "A",
        False,
        False,
        [PromptChange("", 9)],
    ),
    ("cleared", [node(4, "A"), node(9, "B")], "", True, False, [PromptChange("", 9), PromptChange("", 4)]),
    ("equal, in history", [node(4, "A")], "A", True, False, []),
    ("equal to the last one", [node(4, "A"), node(9, "B")], "B", True, False, []),
    ("back to the first one", [node(4, "A"), node(9, "B")], "A", True, False, [PromptChange("A", None)]),
    ("an emptied node does not count", [node(4, "A"), node(9, "")], "A", True, False, []),
    ("other text, in history", [node(4, "A")], "B", True, False, [PromptChange("B", None)]),
    ("text after none", [node(4, "")], "A", True, False, [PromptChange("A", None)]),
]


@pytest.mark.parametrize(
    ("nodes", "text", "in_history", "breaks", "changes"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_a_prompt_reaches_the_surface(
    nodes: list[SystemNode], text: str, in_history: bool, breaks: bool, changes: list[PromptChange]
) -> None:
    assert reconcile(nodes, text, in_history=in_history, breaks=breaks) == changes


WIND = ContextText("wind", "Wind: north.")
RAIN = ContextText("rain", "Rain: none.")


def test_a_context_is_told_when_it_is_new_or_other_or_shadowed() -> None:
    first = context_due((WIND,), None, existed=False)
    assert first is not None
    assert first["source"] == {
        "kind": "runtime-context",
        "form": "snapshot",
        "sections": [{"name": "wind", "text": "Wind: north."}],
    }
    assert first["content"][0]["text"].endswith("\n\nWind: north.")
    assert context_due((), None, existed=False) is None
    assert context_due((WIND,), first, existed=True) is None
    both = context_due((WIND, RAIN), first, existed=True)
    assert both is not None
    assert both["content"][0]["text"].endswith("\n\nWind: north.\n\nRain: none.")
    assert context_due((WIND,), None, existed=True) is not None
    gone = context_due((), first, existed=True)
    assert gone is not None
    assert gone["source"] == {"kind": "runtime-context"}
    assert context_due((), None, existed=True) is not None
    assert context_due((), gone, existed=True) is None
    again = context_due((WIND,), gone, existed=True)
    assert again is not None


async def assembled(prompt: Prompt, moment: PromptContext = MOMENT) -> str:
    return (await prompt.assemble(moment, CancelSignal())).text


async def test_sections_stand_by_order_and_name_and_empty_ones_are_left_out() -> None:
    prompt = Prompt()
    prompt.add(Section(name="b", text="second"))
    prompt.add(Section(name="a", text="first"))
    prompt.add(Section(name="z", text="zeroth", order=-1))
    prompt.add(Section(name="c", text=lambda moment: None))
    prompt.add(Section(name="d", text="  \n"))
    remove = prompt.add(Section(name="e", text="gone"))
    remove()
    assert await assembled(prompt) == "zeroth\n\nfirst\n\nsecond"


async def test_variables_are_filled_in_unless_a_section_is_literal() -> None:
    async def place(moment: PromptContext) -> str:
        return f"at {moment.cwd}"

    prompt = Prompt()
    prompt.add_variable("place", place)
    prompt.add(Section(name="a", text="{{model}} of {{provider}}, {{place}}, {{ not }} {{Neither}}"))
    prompt.add(Section(name="b", text="{{place}}", literal=True))
    assert await assembled(prompt) == ("minnow-2 of creek, at /srv/moss, {{ not }} {{Neither}}\n\n{{place}}")
    with pytest.raises(ValueError, match="Place"):
        prompt.add_variable("Place", "x")


@pytest.mark.parametrize("value", [None, lambda moment: None])
async def test_a_variable_that_is_unknown_or_has_no_value_is_an_error(value: Any) -> None:
    prompt = Prompt()
    prompt.add(Section(name="where", text="You are in {{place}}."))
    if value is not None:
        prompt.add_variable("place", value)
    with pytest.raises(PromptError, match="place"):
        await assembled(prompt)


async def test_a_complete_section_stands_for_the_whole_prompt() -> None:
    prompt = Prompt()
    prompt.add(Section(name="a", text="first"))
    prompt.add(Section(name="whole", text="all of it", complete=True, order=9))
    assert await assembled(prompt) == "all of it"


async def test_entries_of_a_scope_shadow_those_above_by_name() -> None:
    above = Prompt()
    above.add(Section(name="a", text="above a {{who}}"))
    above.add(Section(name="b", text="above b"))
    above.add_variable("who", "anyone")
    scope = Prompt(parent=above)
    scope.add(Section(name="b", text="own b"))
    scope.add_variable("who", "someone")
    assert await assembled(scope) == "above a someone\n\nown b"
    assert await assembled(above) == "above a anyone\n\nabove b"


async def test_a_listener_may_change_sections_but_has_no_say_in_tools() -> None:
    class Greedy:
        """What a listener of old would hand back."""

        def __init__(self, before: Presentation) -> None:
            self.sections = tuple(with_text(section, "changed") for section in before.sections)
            self.contexts = before.contexts
            self.variables = before.variables
            self.tools = ("mine",)

    prompt = Prompt()
    prompt.add(Section(name="a", text="first"))
    prompt.transforms.append(lambda before, moment: Greedy(before))  # type: ignore[arg-type, return-value]
    assert not hasattr(prompt.presentation(), "tools")
    assert await assembled(prompt) == "changed"


async def test_a_log_that_begins_without_a_system_message_gets_its_prompt_with_the_request(
    tmp_path: Path,
) -> None:
    """No system message may follow there: dsh would refuse the log for ever."""
    writer = SessionWriter.create(tmp_path, "/srv/moss", encoding="none")
    writer.append("turn/start", {"turn": 1})
    writer.append("step/start", {"turn": 1, "step": 1})
    writer.append("user/message", user("u1", "Hello."))
    writer.append("step/end", {"turn": 1, "step": 1})
    writer.append("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    await writer.close()
    async with FakeProvider() as provider:
        provider.queue(answer({"text": "yes"}))
        async with driving(
            tmp_path, loopback(provider, model()), prompt=simple_prompt("Keep moss."), resume=writer.path
        ) as driver:
            await driver.say("q1")
            assert driver.reasons[-1] == {"kind": "completed"}
            assert driver.events("system/message") == []
        assert provider.bodies[0]["system"] == "Keep moss."


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How is the fern bed today?", "How is the fern bed"),
        ("Make a list of today's work.", "Make a list of today's"),
        ("Hello?", "Hello?"),
        ("  one\n two\tthree\x1b[31m four five six", "one two three [31m four"),
        ("苔" * 30, "苔" * 13),
        ("a" * 60, "a" * 40),
        (" \n ", ""),
    ],
)
def test_a_title_is_made_of_the_first_words(text: str, title: str) -> None:
    assert first_words(text) == title
    assert len(first_words(text).encode()) <= 40


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Resume: Label the moss and the ferns\n\n- x", "Resume: Label the moss and the ferns"),
        ("\n## 恢复：给苔藓贴标签 ##\n", "恢复：给苔藓贴标签"),
        ("# read\\_gauge \\#3\n", "read_gauge #3"),
        ("# " + "苔" * 40, "苔" * 26),
        ("#moss and fern", "#moss and fern"),
        ("Look at this:\n# Moss\n", "Look at this: # Moss"),
        ("# \n", "#"),
    ],
)
def test_a_prompt_that_begins_with_a_heading_is_called_by_it(text: str, title: str) -> None:
    assert first_title(text) == title


async def test_a_session_without_words_has_no_title_until_there_are_some(tmp_path: Path) -> None:
    async with driving(tmp_path, scripted([instantly("yes"), instantly("yes"), instantly("yes")])) as driver:
        await driver.say(" ")
        assert driver.events("session/title") == []
        await driver.say("Now with words.")
        await driver.say("And more.")
        (title,) = driver.events("session/title")
        (prompt,) = [event.seq for event in driver.events("user/message") if "Now" in str(event.data)]
        assert title.data == {
            "title": "Now with words.",
            "messageSeqs": [prompt],
            "source": {"kind": "fallback"},
        }
