"""What differs between two inventories, and which tools were probably renamed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.log_builder import tool
from tui.nodes.tools_diff import SchemaChange, json_changes, tools_diff
from tui.session.tool_definition import DefinitionPool, ToolDefinition

POOL = DefinitionPool()


def tools(*given_tools: dict[str, Any]) -> tuple[ToolDefinition, ...]:
    return POOL.tools({"tools": list(given_tools)}, lambda detail: None)


BED = {"type": "string", "description": "bed name"}
MIST = tool("mist_bed", "Mist one bed for a number of seconds.", bed=BED, seconds={"type": "number"})


def test_added_removed_redefined_and_unchanged_are_told_apart() -> None:
    wider = tool("vent", "Open a vent.", degrees={"type": "number", "maximum": 60})
    diff = tools_diff(
        tools(tool("a"), MIST, tool("vent", "Open a vent.", degrees={"type": "integer"})),
        tools(tool("a"), tool("moths", "Count the moths."), wider),
    )
    assert [each.name for each in diff.added] == ["moths"]
    assert [each.name for each in diff.removed] == ["mist_bed"]
    assert [each.after.name for each in diff.redefined] == ["vent"]
    assert diff.redefined[0].schema == (
        SchemaChange("changed", "properties.degrees.type", "integer", "number"),
        SchemaChange("added", "properties.degrees.maximum", after=60),
    )
    assert not diff.redefined[0].description_differs
    assert diff.unchanged == 1 and not diff.renamed


def test_another_order_of_members_is_a_redefinition_and_said_to_be_nothing_more() -> None:
    turned = {"parameters": MIST["parameters"], "description": MIST["description"], "name": MIST["name"]}
    diff = tools_diff(tools(MIST), tools(turned))
    assert diff.redefined[0].only_order and not diff.is_empty


def test_a_tool_under_a_new_name_is_guessed_to_be_renamed() -> None:
    other = tool("fill", "Fill a water trough.", litres={"type": "number"})
    diff = tools_diff(tools(MIST, tool("x")), tools({**MIST, "name": "spray_bed"}, other, tool("x")))
    assert [(each.before.name, each.after.name) for each in diff.renamed] == [("mist_bed", "spray_bed")]
    assert diff.renamed[0].same_schema and diff.renamed[0].likeness >= 0.9
    assert [each.name for each in diff.added] == ["spray_bed", "fill"], "a guess takes nothing away"


def test_the_same_tool_behind_another_server_is_guessed_with_certainty() -> None:
    diff = tools_diff(
        tools({**MIST, "name": "mcp__old__mist_bed"}),
        tools({**MIST, "name": "mcp__new__mist_bed", "description": "Entirely other words."}),
    )
    assert diff.renamed[0].likeness == 1.0


def test_tools_without_parameters_are_not_alike_for_that() -> None:
    diff = tools_diff(tools(tool("ring", "Ring the closing bell.")), tools(tool("sow", "Sow a seed tray.")))
    assert not diff.renamed


def test_each_tool_is_guessed_once() -> None:
    twins = tools({**MIST, "name": "one"}, {**MIST, "name": "two"})
    diff = tools_diff(tools(MIST), twins)
    assert len(diff.renamed) == 1


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("abc", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_changes_are_empty_only_for_equal_values_and_turn_round(before: Any, after: Any) -> None:
    changes = json_changes(before, after)
    if before == after and str(before) == str(after):
        assert not changes
    back = {each.path: each for each in json_changes(after, before)}
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    assert {each.path: turned[each.kind] for each in changes} == {p: e.kind for p, e in back.items()}


def test_300_tools_against_300_others_are_compared_in_a_moment() -> None:
    from time import process_time

    before = tools(*({**MIST, "name": f"old_{n}", "description": f"Old {n}"} for n in range(300)))
    after = tools(*({**MIST, "name": f"new_{n}", "description": f"New {n}"} for n in range(300)))
    start = process_time()
    tools_diff(before, after)
    assert process_time() - start < 3
