"""Which nodes the Chat pane has, and what the end of a log means."""

from pathlib import Path

import pytest

from tests.support.log_builder import call, log
from tui.nodes import chat as c
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading


def nodes(reading: Reading) -> list[c.ChatNode]:
    return [chat_node(reading, at) for at in range(len(reading.chat.index))]


def kinds(reading: Reading) -> list[str]:
    return [node.kind for node in nodes(reading)]


def case(shared: Path, name: str) -> Reading:
    (path,) = (shared / "bugs" / "cases").glob(f"{name}/sessions/*/*/session.v4.jsonl*")
    return Reading.open(path).read_all()


# -- the end of a log


def test_a_killed_session_ends_as_interrupted_with_the_last_thing_that_happened(shared: Path) -> None:
    reading = case(shared, "B12-orphan-calls/home/killed")
    last = nodes(reading)[-1]
    assert isinstance(last, c.InterruptedNode)
    assert (last.reason, last.last, last.seq) == ("open", "tool/call", 9)
    turn = nodes(reading)[0]
    assert isinstance(turn, c.TurnNode)
    assert (turn.is_open, turn.reason, turn.duration_ms) == (True, "open", None)


def test_the_calls_of_a_killed_session_say_which_had_started(shared: Path) -> None:
    tools = [
        node for node in nodes(case(shared, "B12-orphan-calls/home/killed")) if isinstance(node, c.ToolNode)
    ]
    assert [(tool.call_id, tool.state) for tool in tools] == [
        ("toolu_one", "no-result"),
        ("toolu_two", "not-started"),
    ]


def test_a_crashed_turn_shows_the_call_without_a_result(shared: Path) -> None:
    found = nodes(case(shared, "B12-orphan-calls/home/crashed"))
    tools = [node for node in found if isinstance(node, c.ToolNode)]
    assert [tool.state for tool in tools] == ["ok", "no-result"]
    failures = [node.code for node in found if isinstance(node, c.FailureNode)]
    assert failures == ["UNKNOWN", "INVALID_REQUEST"]


def test_a_blank_answer_is_marked_as_empty(shared: Path) -> None:
    (blank, said) = [
        node
        for node in nodes(case(shared, "B12-orphan-calls/home/interrupted-empty"))
        if isinstance(node, c.AssistantNode)
    ]
    assert (blank.empty, said.empty) == (True, False)


def test_what_the_end_meant_is_taken_back_when_more_is_read(tmp_path: Path) -> None:
    reading = log().turn().user("go").queue("and then?").read(tmp_path)
    assert kinds(reading)[-2:] == ["interrupted", "user"]
    reading.reopen()
    assert kinds(reading) == ["turn", "system", "user"]
    turn = nodes(reading)[0]
    assert isinstance(turn, c.TurnNode)
    assert turn.reason == ""
    assert len(reading.chat.index.nodes_of_row(len(reading.log) - 1)) == 0


def test_nodes_of_the_end_do_not_belong_to_the_last_row(tmp_path: Path) -> None:
    reading = log().turn().user("go").read(tmp_path)
    last = len(reading.log) - 1
    assert [chat_node(reading, at).kind for at in reading.chat.index.nodes_of_row(last)] == ["user"]
    assert chat_node(reading, reading.chat.index.node_before(last)).kind == "user"


def test_prompts_that_still_wait_stand_at_the_end(tmp_path: Path) -> None:
    built = log().turn().queue("second").queue("third", start=1).queue("steer", "next-step").end()
    waiting = [node for node in nodes(built.read(tmp_path)) if isinstance(node, c.UserNode)]
    # All of next-step is claimed first (spec §4.4).
    assert [node.content.text for node in waiting] == ["steer", "second", "third"]
    assert all(node.queued and not node.discarded and node.turn is None for node in waiting)


def test_a_claimed_prompt_does_not_wait_and_a_cancelled_one_is_shown_as_such(tmp_path: Path) -> None:
    built = log().queue("first").turn().claim().user("first").queue("second").claim(canceled=True).end()
    users = [node for node in nodes(built.read(tmp_path)) if isinstance(node, c.UserNode)]
    assert [(n.content.text, n.queued, n.discarded) for n in users] == [
        ("first", False, False),
        ("second", False, True),
    ]


def test_a_cancelled_recording_shows_the_prompt_that_never_ran(shared: Path) -> None:
    (path,) = (shared / "recordings" / "cancel" / "sessions").glob("*/*/session.v4.jsonl")
    users = [n for n in nodes(Reading.open(path).read_all()) if isinstance(n, c.UserNode)]
    assert [n.content.text for n in users if n.discarded] == ["This message waits in the queue."]
    assert [n.content.text for n in users if n.steering] == ["While you nap: mind the moss."]


def test_a_turn_that_another_one_follows_without_an_end_is_interrupted_there(tmp_path: Path) -> None:
    built = log().turn().user("one").answer(call("1", "a")).call("1", "a")
    built.in_turn = False
    found = nodes(built.turn().user("two").answer("ok").end().read(tmp_path))
    (node,) = [node for node in found if isinstance(node, c.InterruptedNode)]
    assert (node.reason, node.turn, node.last) == ("open", 1, "tool/call")
    assert found.index(node) + 1 == next(at for at, n in enumerate(found) if n.kind == "turn" and n.turn == 2)


# -- prompts


def test_steering_is_a_prompt_in_a_later_step(tmp_path: Path) -> None:
    built = (
        log()
        .turn()
        .user("go")
        .user("also")
        .answer(call("1", "a"))
        .ran("1", "a")
        .step()
        .user("no, stop")
        .answer("ok")
    )
    users = [node for node in nodes(built.end().read(tmp_path)) if isinstance(node, c.UserNode)]
    assert [node.steering for node in users] == [False, False, True]


def test_a_task_of_a_subagent_is_not_the_humans(shared: Path) -> None:
    tasks: dict[str, list[bool]] = {}
    for path in (shared / "recordings" / "subagent-plan-todo" / "sessions").glob("*/*/session.v4.jsonl"):
        reading = Reading.open(path).read_all()
        tasks[path.parent.name[:8]] = [n.task for n in nodes(reading) if isinstance(n, c.UserNode)]
    assert tasks["153ecf01"] == [True]
    # The forked child: the inherited prompts are the human's, its own one is the task.
    assert tasks["039b3ad2"] == [False] * 7 + [True]
    assert not any(tasks["session-"])


def test_only_the_last_marker_names_the_parent(tmp_path: Path) -> None:
    built = log(parentSession="session-of-before").turn().answer("a").end().picked_up(inherited=True)
    built.turn().answer("b").end().picked_up(inherited=True).picked_up()
    notes = [node for node in nodes(built.read(tmp_path)) if isinstance(node, c.NoteNode)]
    assert [(n.what, n.parent) for n in notes] == [
        ("forked", ""),
        ("forked", "session-of-before"),
        ("resumed", ""),
    ]


# -- compaction


def test_a_compaction_marks_what_it_replaced_and_is_marked_by_the_next_one(tmp_path: Path) -> None:
    built = log().turn().user("one").answer("a").end().compact(3, 4, [3, 4])
    checkpoint = built.last - 1
    built.turn().user("two").answer("b").end()
    kept = built.last - 2
    built.compact(checkpoint, kept - 1, [checkpoint, kept - 1])
    found = nodes(built.read(tmp_path))
    marked = [node.kind for node in found if node.replaced]
    assert marked == ["user", "assistant", "compaction", "user"]
    first, second = [node for node in found if isinstance(node, c.CompactionNode)]
    assert (first.state, first.shadowed, first.shadowed_tokens, first.summary) == ("done", 2, 300, "Moss.")
    assert not second.replaced
    assert not any(isinstance(node, c.ContextNode) for node in found)


def test_compactions_belong_to_the_turn_they_happened_in(shared: Path) -> None:
    (path,) = (shared / "recordings" / "compaction" / "sessions").glob("*/*/session.v4.jsonl")
    found = [node for node in nodes(Reading.open(path).read_all()) if isinstance(node, c.CompactionNode)]
    # README: /compact after turn 3, a refused one after turn 5, then automatic ones inside turns.
    assert [node.turn for node in found] == [None, None, 7, 9, 10]
    assert [node.state for node in found] == ["done", "failed", "done", "done", "done"]
    assert [node.by_command for node in found] == [True, True, False, False, False]
    assert found[0].shadowed == 13
    assert found[0].shadowed_tokens == 777
    assert found[1].error == "summary refused by the mock"


def test_a_crash_inside_a_compaction_abandons_it(tmp_path: Path) -> None:
    built = log().turn().user("go").answer("ok").end()
    built.event("compaction/start", {"compactionId": "c", "turn": None}).picked_up().turn().user("on").answer(
        "x"
    )
    reading = built.read(tmp_path)
    reading.reopen()
    (node,) = [node for node in nodes(reading) if isinstance(node, c.CompactionNode)]
    assert (node.state, node.duration_ms) == ("abandoned", None)


# -- what is not known


def test_unknown_events_blocks_reasons_and_chunks_are_shown_in_their_place(shared: Path) -> None:
    reading = case(shared, "B10-unknown-events/home")
    found = nodes(reading)
    unknown = [node for node in found if isinstance(node, c.UnknownNode)]
    assert [(n.type, n.ignorable, n.known) for n in unknown] == [
        ("lantern-plugin/verdict", False, False),
        ("lantern-plugin/ping", True, False),
    ]
    assert unknown[0].data == {"turn": 2, "verdict": "ember", "score": 0.5}
    (foreign,) = [n for n in found if isinstance(n, c.AssistantNode) and n.foreign is not None]
    assert foreign.foreign is not None
    assert foreign.foreign.type == "plugin:lantern/card"
    assert len(foreign.foreign_chunks) == 1
    (end,) = [node for node in found if isinstance(node, c.InterruptedNode)]
    assert end.reason == "postponed"
    assert [damage.code for damage in reading.log.damage] == ["unknown-event"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("zstd-cut", "torn-tail"),
        ("plain-cut", "torn-tail"),
        ("bad-middle", "bad-frame"),
        ("trailing-garbage", "trailing-bytes"),
    ],
)
def test_a_torn_log_shows_its_fault_at_its_place(shared: Path, name: str, code: str) -> None:
    reading = case(shared, f"B08-torn-tail/home/{name}")
    found = nodes(reading)
    (damage,) = [node for node in found if isinstance(node, c.DamageNode)]
    assert damage.damage.code == code
    assert "The flue reads 201." in [n.text for n in found if isinstance(n, c.AssistantNode)]
    if name == "bad-middle":
        assert (damage.damage.frame_offset, damage.damage.fields["bytes"]) == (1082, 753)
        after = found[found.index(damage) + 1]
        assert isinstance(after, c.AssistantNode)
    if name.endswith("cut"):
        assert isinstance(found[-1], c.InterruptedNode)


def test_half_an_emoji_is_shown_as_the_replacement_character(shared: Path) -> None:
    found = nodes(case(shared, "B13-lone-surrogate/home"))
    said = repr(found)
    said.encode("utf-8")
    assert "\ufffd" in said or "\\ufffd" in said


def test_a_header_of_invalid_bytes_is_read(tmp_path: Path) -> None:
    built = log().turn().tools("a").user("go").answer("ok").end()
    built.lines = [line.replace(b"What a does.", b"What \xff\\ud800 does.") for line in built.lines]
    reading = built.read(tmp_path)
    assert reading.tools.headers[0].tools[0].description == "What \ufffd\ufffd does."
    assert reading.log.damage == []
