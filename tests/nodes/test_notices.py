"""Notices of tool changes: who came, went, came back or was redefined, with what the log says of them."""

from pathlib import Path

import pytest

from tests.support.log_builder import LogBuilder, call, log, tool
from tui.nodes import chat as c
from tui.nodes.chat_nodes import chat_node, header_notice_at
from tui.nodes.notices import ToolNotice, first_line, tool_name
from tui.nodes.reading import Reading


def _nodes(reading: Reading) -> list[c.ChatNode]:
    return [chat_node(reading, at) for at in range(len(reading.chat.index))]


def _notices(reading: Reading) -> list[ToolNotice]:
    return [n.notice for n in _nodes(reading) if isinstance(n, c.ContextNode) and n.notice is not None]


def _headers(reading: Reading) -> list[c.HeaderNode]:
    return [node for node in _nodes(reading) if isinstance(node, c.HeaderNode)]


def _begun(*tools: str) -> LogBuilder:
    return log().turn().tools(*tools).user("go").answer("ok").step()


@pytest.mark.parametrize(
    ("name", "apart"),
    [
        ("mcp__saltmarsh__mist_bed", ("saltmarsh", "mist_bed")),
        ("mcp__a__b__c", ("a", "b__c")),
        ("mcp__only", ("", "mcp__only")),
        ("mcp____x", ("", "mcp____x")),
        ("mcp__x__", ("", "mcp__x__")),
        ("bash", ("", "bash")),
    ],
)
def test_a_name_is_taken_apart_where_it_tells_a_server(name: str, apart: tuple[str, str]) -> None:
    assert tuple(tool_name(name)) == apart


def test_the_first_line_with_words_describes_a_tool() -> None:
    assert first_line("\n  \n  Waters the bed.  \nSlowly.") == "Waters the bed."
    assert first_line(" \n") == ""


def test_one_tool_that_came_is_told_with_its_description_and_opens_to_nothing(tmp_path: Path) -> None:
    (notice,) = _notices(_begun("a").tools("a", tool("b", "Waters the bed.\nMore.")).end().read(tmp_path))
    assert [(t.name, t.description, t.restored, t.redefined) for t in notice.added] == [
        ("b", "Waters the bed.", False, False)
    ]
    assert (notice.count, notice.expandable, notice.removed) == (1, False, ())


def test_a_removed_tool_is_described_by_the_header_before(tmp_path: Path) -> None:
    built = log().turn().tools("a", tool("b", "Old words.")).answer("x").step()
    (notice,) = _notices(built.tools("a").end().read(tmp_path))
    assert [(t.name, t.description) for t in notice.removed] == [("b", "Old words.")]
    assert notice.header_seq is None


def test_a_tool_that_came_back_is_restored_and_with_another_definition_redefined_too(tmp_path: Path) -> None:
    built = _begun("a", "b").tools("a").answer("x").step().tools("a", "b").answer("x").step()
    built.tools("a").answer("x").step().tools("a", tool("b", "Another.")).end()
    _, again, _, anew = _notices(built.read(tmp_path))
    assert (again.restored, again.redefined) == (("b",), ())
    assert (anew.restored, anew.redefined) == (("b",), ("b",))


def test_added_tools_are_resolved_through_the_header_that_is_named(tmp_path: Path) -> None:
    built = _begun("a").tools("a", tool("b", "First."), tell=False)
    named = built.last
    built.answer("x").step().tools("a", tool("b", "Second."), tell=False).tell(["b"], [], named).end()
    (notice,) = _notices(built.read(tmp_path))
    assert [t.description for t in notice.added] == ["First."]


def test_the_header_of_a_told_change_is_no_node_of_its_own(tmp_path: Path) -> None:
    assert _headers(_begun("a").tools("a", "b").end().read(tmp_path)) == []


def test_a_changed_definition_under_the_same_name_is_a_node(tmp_path: Path) -> None:
    (node,) = _headers(_begun("a", "b").tools("a", tool("b", "New.")).end().read(tmp_path))
    assert [(t.name, t.description) for t in node.notice.redefined] == [("b", "New.")]
    assert (node.notice.added, node.notice.removed, node.told) == ((), (), False)


def test_a_redefinition_together_with_additions_is_a_node_beside_the_notice(tmp_path: Path) -> None:
    reading = _begun("a", "b").tools("a", tool("b", "New."), "d").end().read(tmp_path)
    (node,), (notice,) = _headers(reading), _notices(reading)
    assert [t.name for t in node.notice.redefined] == ["b"]
    assert (node.notice.added, node.told) == (("d",), True)
    assert [t.name for t in notice.added] == ["d"]


def test_names_that_changed_without_a_message_are_a_node(tmp_path: Path) -> None:
    (node,) = _headers(_begun("a", "b").tools("a", "d", tell=False).end().read(tmp_path))
    assert (node.notice.added, node.notice.removed, node.told) == (("d",), ("b",), False)


def test_another_model_is_a_node_and_the_same_header_again_is_not(tmp_path: Path) -> None:
    built = _begun("a").tools("a", reason="resume").answer("x").step().tools("a", model="minnow-3")
    (node,) = _headers(built.end().read(tmp_path))
    assert node.notice.config_changed == ("model",)
    assert node.notice.model == "minnow-3"


def test_a_header_is_found_by_its_number(tmp_path: Path) -> None:
    built = _begun("a")
    first = next(n for n, line in enumerate(built.lines) if b"request/header" in line)
    reading = built.tools("a", "b").end().read(tmp_path)
    notice = header_notice_at(reading, first)
    assert (notice.first, notice.reason, notice.tool_count, notice.series_cause) == (
        True,
        "initial",
        1,
        "initial",
    )
    later = header_notice_at(reading, reading.tools.headers[1].seq)
    assert (later.first, later.added, later.tool_count) == (False, ("b",), 2)


# -- calls and whether their tool was there


def _availability(reading: Reading) -> dict[str, tuple[str, int | None]]:
    return {
        n.call_id: (n.availability, n.availability_seq) for n in _nodes(reading) if isinstance(n, c.ToolNode)
    }


def test_a_call_tells_whether_its_tool_was_there(tmp_path: Path) -> None:
    built = _begun("a", "b").answer(call("early", "d"), call("there", "a")).step().tools("a", "d")
    told = built.last
    built.answer(call("fresh", "d"), call("gone", "b"), call("never", "x")).end()
    built.turn().user("on").answer(call("later", "d")).end()
    found = _availability(built.read(tmp_path))
    assert found["early"] == ("not-yet", told)
    assert found["there"] == ("active", None)
    assert found["fresh"] == ("fresh", told)
    assert found["gone"] == ("removed", told)
    assert found["never"] == ("unknown", None)
    assert found["later"] == ("active", None)


def test_a_change_that_no_message_tells_makes_its_tools_fresh_as_well(tmp_path: Path) -> None:
    built = _begun("a").tools("a", "d", tell=False)
    header = built.last
    found = _availability(built.answer(call("1", "d")).end().read(tmp_path))
    assert found["1"] == ("fresh", header)


def test_the_recorded_changes_are_told_as_their_readme_says(shared: Path) -> None:
    (path,) = (shared / "recordings" / "many-tools-changed" / "sessions").glob("*/*/session.v4.jsonl")
    (notice,) = _notices(Reading.open(path).read_all())
    assert (len(notice.added), len(notice.removed), notice.expandable) == (12, 3, True)
    assert all(t.description for t in (*notice.added, *notice.removed))
    (path,) = (shared / "recordings" / "remove-and-restore" / "sessions").glob("*/*/session.v4.jsonl")
    told = _notices(Reading.open(path).read_all())
    # README: mist comes back unchanged; vent and, once added and removed, bell with another schema.
    back = [
        (tool_name(n.added[0].name).own, n.restored == (n.added[0].name,), bool(n.redefined))
        for n in told
        if n.restored
    ]
    assert back == [("mist_bed", True, False), ("open_vent", True, True), ("ring_bell", True, True)]
    assert [[tool_name(t.name).own for t in n.removed] for n in told if n.removed] == [
        ["mist_bed", "open_vent"],
        ["ring_bell"],
    ]
