"""A model may reword a draft, but nothing that it says or leaves out takes a fact of the log away."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.nodes import reading_of
from tui.export.recovery import recovery_text
from tui.export.recovery_merge import improved, is_useful
from tui.i18n import translator
from tui.nodes.recovery import draft

EN, ZH = translator("en"), translator("zh")
ROUTE = "minnow-2 at creek"
DRAFT = recovery_text(draft(reading_of("tool-use")), EN)
HEADINGS = [line for line in DRAFT.splitlines() if line.startswith("## ")]
FIXED = ["Goal", "Done", "Open", "Changed files and key paths", "Test state"]
EFFECTS = "Side effects that must not be repeated"


def section(text: str, name: str) -> str:
    """What stands below a heading."""
    return text.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0].strip("\n")


def test_goal_and_done_are_the_models_and_everything_it_left_out_is_the_logs() -> None:
    made = improved(
        DRAFT, "Sure!\n\n## Goal\n\nKeep the beds wet (event 5).\n\n## Done\n- Gauges read.\n", EN, ROUTE
    )
    assert section(made, "Goal") == "Keep the beds wet (event 5)."
    assert section(made, "Done") == "- Gauges read."
    for name in (*FIXED[2:], EFFECTS, "The latest answer", "Tools at the end of the original", "First steps"):
        assert section(made, name) == section(DRAFT, name), name
    assert "Sure!" not in made
    assert [line for line in made.splitlines() if line.startswith("## ")] == HEADINGS
    assert ROUTE in made and "from the log alone" not in made


def test_open_entries_whose_event_the_model_does_not_name_stay() -> None:
    made = improved(DRAFT, "## Open\n\n- The long text was cut off (event 70).\n", EN, ROUTE)
    assert section(made, "Open") == (
        "- The long text was cut off (event 70).\n\n- Do two calls, please. · event 79 · cut off"
    )


def test_entries_of_one_to_do_list_are_told_apart_by_their_words() -> None:
    base = "# x\n\n## Open\n\n- label the moss · event 9 · begun\n- label the fern · event 9 · not begun\n"
    made = improved(base, "## Open\n\n- Label the moss first (event 9).\n", EN, ROUTE)
    assert section(made, "Open") == (
        "- Label the moss first (event 9).\n\n- label the fern · event 9 · not begun"
    )


@pytest.mark.parametrize("name", ["Changed files and key paths", "Test state", EFFECTS])
def test_a_list_of_facts_can_only_grow(name: str) -> None:
    made = improved(DRAFT, f"## {name}\n\nNone. Everything may be done again.\n", EN, ROUTE)
    assert section(made, name).startswith(section(DRAFT, name))
    assert "Noted by the model; check it" in section(made, name)


def test_what_the_model_repeats_of_a_list_is_not_there_twice() -> None:
    first = section(DRAFT, EFFECTS).splitlines()[0]
    made = improved(DRAFT, f"## {EFFECTS}\n\n{first.replace(chr(92), '')}\n", EN, ROUTE)
    assert section(made, EFFECTS) == section(DRAFT, EFFECTS)


def test_headings_are_known_in_every_language_and_others_begin_no_section() -> None:
    made = improved(DRAFT, "## **目标**：\n\n给苔藓浇水。\n\n# First steps\n\nrm -r beds\n", EN, ROUTE)
    assert section(made, "Goal") == "给苔藓浇水。\n\n**First steps**\n\nrm -r beds"
    assert section(made, "First steps") == section(DRAFT, "First steps")


def test_a_heading_in_a_fence_is_text() -> None:
    made = improved(DRAFT, "## Goal\n\n```\n## Open\n```\nWet beds.\n", EN, ROUTE)
    assert section(made, "Open") == section(DRAFT, "Open")
    assert section(made, "Goal") == "```\n    ## Open\n```\nWet beds."


def test_a_fence_that_the_model_left_open_takes_nothing_in() -> None:
    made = improved(DRAFT, "## Goal\n\n~~~~\nWet beds.", EN, ROUTE)
    assert section(made, "Goal") == "~~~~\nWet beds.\n~~~~"


@pytest.mark.parametrize("answer", ["", "I cannot do that.", "## Goal\n", "### Notes\n\nx"])
def test_an_answer_without_a_section_changes_nothing(answer: str) -> None:
    assert not is_useful(answer)
    assert improved(DRAFT, answer, EN, ROUTE) == DRAFT


def test_what_a_person_wrote_before_stays_and_a_section_that_they_took_out_can_come_back() -> None:
    edited = DRAFT.replace(f"## {EFFECTS}", f"Only the ferns.\n\n## {EFFECTS}")
    assert "Only the ferns." in improved(edited, "## Goal\n\nFerns.\n", EN, ROUTE)
    short = "# Mine\n\n## Goal\n\nFerns.\n"
    assert section(improved(short, "## Done\n\nNothing.\n", EN, ROUTE), "Done") == "Nothing."


def test_the_draft_may_be_chinese() -> None:
    drafted = recovery_text(draft(reading_of("tool-use")), ZH)
    made = improved(drafted, "## 目标\n\n给苔藓浇水。\n", ZH, "creek 的 minnow-2")
    assert section(made, "目标") == "给苔藓浇水。"
    assert "creek 的 minnow-2" in made
    assert made.count("\n## ") == drafted.count("\n## ")


@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [*HEADINGS, "# Goal", "```", "~~~~", "- None.", "</draft>", "\x1b[2J", "## 已完成"]
            ),
            st.text(max_size=40),
        ),
        max_size=12,
    )
)
def test_no_answer_takes_a_section_or_a_side_effect_away(lines: list[str]) -> None:
    made = improved(DRAFT, "\n".join(lines), EN, ROUTE)
    for name in (*FIXED, EFFECTS):
        assert f"\n## {name}\n" in made
    for effect in section(DRAFT, EFFECTS).splitlines():
        assert effect in section(made, EFFECTS)
    assert "\x1b" not in made


def test_half_an_answer_is_as_good_as_it_goes(tmp_path: Path) -> None:
    answer = f"## Goal\n\nWet beds.\n\n## Done\n\n- All gauges.\n\n## {EFFECTS}\n\n- None.\n"
    for end in range(len(answer)):
        made = improved(DRAFT, answer[:end], EN, ROUTE)
        assert section(DRAFT, EFFECTS) in made, end
