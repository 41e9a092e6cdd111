"""What one node of the Chat pane says."""

import json
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support.log_builder import START_MS, call, chunk, log, pieces, reasoning, text
from tui.nodes import chat as c
from tui.nodes.chat_nodes import chat_node
from tui.nodes.reading import Reading

Node = TypeVar("Node", bound=c.ChatNode)


def _of(reading: Reading, kind: type[Node]) -> list[Node]:
    found = (chat_node(reading, at) for at in range(len(reading.chat.index)))
    return [node for node in found if isinstance(node, kind)]


# -- the system prompt (spec §4.3)


def test_the_head_is_initial_and_later_ones_are_appended_replaced_or_cleared(tmp_path: Path) -> None:
    built = log().turn().user("go").answer("x").step().system("Second.")
    second = built.last
    built.answer("x").step().system("Whole.", **built.replace(2, 2, [2]))
    built.system("", **built.replace(second, second, [second])).answer("x").end()
    found = _of(built.read(tmp_path), c.SystemNode)
    assert [node.change for node in found] == ["initial", "appended", "replaced", "cleared"]
    assert [node.replaced for node in found] == [True, True, False, False]


def test_an_empty_head_is_still_the_initial_one(tmp_path: Path) -> None:
    built = log().event("turn/start", {"turn": 1})
    built.turns, built.in_turn = 1, True
    reading = built.step().system("").user("go").answer("x").step().system("Now.").end().read(tmp_path)
    assert [node.change for node in _of(reading, c.SystemNode)] == ["initial", "appended"]


def test_the_recorded_plan_mode_appends_its_prompts(shared: Path) -> None:
    (path,) = (shared / "recordings" / "subagent-plan-todo").glob("sessions/*/session-*/session.v4.jsonl")
    reading = Reading.open(path).read_all()
    assert [n.change for n in _of(reading, c.SystemNode)] == ["initial"] + ["appended"] * 4
    assert [n.active for n in _of(reading, c.PlanNode)] == [True, False, True, False]
    assert len(_of(reading, c.TodoNode)) == 3
    assert [n.label for n in _of(reading, c.SubagentNode)] == ["Look at moss", "Think along", "Look at fern"]


# -- answers


def test_a_cut_answer_marks_its_last_piece_only(tmp_path: Path) -> None:
    reading = log().turn().user("go").answer(reasoning("hm"), "first", "sec").end("max-tokens").read(tmp_path)
    assert [n.truncated for n in _of(reading, c.AssistantNode)] == [False, True]
    assert not _of(reading, c.ReasoningNode)[0].truncated


def test_a_limit_that_only_the_stream_tells_marks_the_answer(tmp_path: Path) -> None:
    stream = [pieces(START_MS, "ab"), chunk(START_MS, "finish", reason={"kind": "max-tokens"})]
    reading = log().turn().user("go").answer("ab", stream=stream).end().read(tmp_path)
    assert _of(reading, c.AssistantNode)[0].truncated


def test_an_interrupted_answer_is_not_a_truncated_one(tmp_path: Path) -> None:
    built = log().turn().user("go").answer(reasoning("hm"), "half", interrupted=True)
    reading = built.end("aborted", reason={"kind": "user"}).read(tmp_path)
    (said,) = _of(reading, c.AssistantNode)
    assert (said.interrupted, said.truncated) == (True, False)
    (end,) = _of(reading, c.InterruptedNode)
    assert (end.reason, end.cause) == ("aborted", "user")


def test_a_hook_that_stopped_a_turn_gives_its_reason(tmp_path: Path) -> None:
    reading = log().turn().end("aborted", reason={"kind": "hook", "reason": "No watering."}).read(tmp_path)
    (end,) = _of(reading, c.InterruptedNode)
    assert (end.cause, end.detail) == ("hook", "No watering.")


def test_an_answer_without_content_is_empty(tmp_path: Path) -> None:
    (said,) = _of(log().turn().user("go").answer().end().read(tmp_path), c.AssistantNode)
    assert (said.empty, said.text, said.foreign) == (True, "", None)


def test_reasoning_lasts_from_its_first_piece_to_its_last(tmp_path: Path) -> None:
    stream = [pieces(START_MS, "a", "b", "c", kind="reasoning", gap=7)]
    built = log().turn().user("go").answer(reasoning("abc"), stream=stream)
    built.answer(reasoning("no stream")).end()
    assert [n.duration_ms for n in _of(built.read(tmp_path), c.ReasoningNode)] == [14, None]


def test_unknown_pieces_of_a_stream_are_told_by_the_last_node_of_the_answer(tmp_path: Path) -> None:
    odd = [
        chunk(START_MS, "sparkle"),
        {"type": "glitter", "time": 1},
        chunk(START_MS, "finish", reason={"kind": "ended"}),
    ]
    reading = log().turn().user("go").answer("a", call("1", "t"), stream=odd).end().read(tmp_path)
    assert [b.type for b in _of(reading, c.ToolNode)[0].foreign_chunks] == ["sparkle", "glitter", "finish"]
    assert _of(reading, c.AssistantNode)[0].foreign_chunks == ()


def test_known_pieces_of_a_stream_are_not_foreign(shared: Path) -> None:
    for name in ("plain-chat", "tool-use", "retries", "cancel"):
        (path,) = (shared / "recordings" / name / "sessions").glob("*/*/session.v4.jsonl")
        for node in _of(Reading.open(path).read_all(), c.AssistantNode):
            assert node.foreign_chunks == ()


# -- calls


def test_a_call_has_its_result_and_the_time_between(tmp_path: Path) -> None:
    built = (
        log()
        .turn()
        .answer(call("1", "a", '{"n": 1}'))
        .call("1", "a", '{"n": 1}')
        .wait(90)
        .result("1", "fine")
    )
    (node,) = _of(built.end().read(tmp_path), c.ToolNode)
    assert (node.name, node.arguments, node.state, node.result.text) == ("a", '{"n": 1}', "ok", "fine")
    assert node.duration_ms == 100
    assert node.seq == 4


def test_a_failed_call_has_its_code(tmp_path: Path) -> None:
    (node,) = _of(
        log().turn().answer(call("1", "a")).ran("1", "a", error="UNKNOWN_TOOL").end().read(tmp_path),
        c.ToolNode,
    )
    assert (node.state, node.error_code, node.error_name) == ("error", "UNKNOWN_TOOL", "ToolError")


def test_nested_calls_name_their_parent(tmp_path: Path) -> None:
    built = log().turn().answer(call("1", "run_code")).call("1", "run_code").nested("1", 1, "peek")
    built.nested("1", 2, "poke", done=False).result("1").end()
    outer, *inner = _of(built.read(tmp_path), c.ToolNode)
    assert not outer.nested
    assert [(n.name, n.parent_call_id, n.state, n.arguments) for n in inner] == [
        ("peek", "1", "ok", '{"n":1}'),
        ("poke", "1", "no-result", '{"n":2}'),
    ]


def test_a_result_that_comes_after_its_turn_was_closed_finds_its_call(shared: Path) -> None:
    home = shared / "bugs" / "cases" / "B07-seq-trouble" / "home" / "closers-then-live"
    (path,) = home.glob("sessions/*/*/session.v4.jsonl")
    late = _of(Reading.open(path).read_all(), c.ToolNode)[-1]
    assert (late.name, late.arguments) == ("mcp__kiln__fire", '{"minutes": 10}')
    assert late.result.text == "Fired for 10 minutes."
    assert late.repeated


# -- retries and failures


def test_a_chain_of_retries_is_one_node_with_cause_and_wait(tmp_path: Path) -> None:
    built = (
        log().turn().user("go").attempt(pieces(START_MS, "half an "), code="SERVER").retry(1, delay=512.25)
    )
    reading = (
        built.attempt(code="SERVER")
        .retry(2, started=False)
        .fail("SERVER", "no", requestId="r-9", status=529)
        .read(tmp_path)
    )
    (node,) = _of(reading, c.RetryNode)
    assert [(a.retry, a.max_retries, a.code, a.status, a.started) for a in node.attempts] == [
        (1, 3, "RATE_LIMIT", 429, True),
        (2, 3, "RATE_LIMIT", 429, False),
    ]
    assert (node.attempts[0].delay_ms, node.attempts[0].partial) == (512.25, "half an ")
    (failure,) = _of(reading, c.FailureNode)
    assert (failure.code, failure.message, failure.status, failure.request_id) == ("SERVER", "no", 529, "r-9")


def test_a_failed_turn_keeps_what_had_been_shown(tmp_path: Path) -> None:
    built = log().turn().user("go").attempt(pieces(START_MS, "The fern "), code="STREAM_CLOSED")
    (node,) = _of(built.fail("STREAM_CLOSED", "ended").read(tmp_path), c.FailureNode)
    assert node.partial == "The fern "


def test_an_open_turn_keeps_what_its_last_attempt_had_shown(tmp_path: Path) -> None:
    reading = log().turn().user("go").attempt(pieces(START_MS, "The fern ")).read(tmp_path)
    (node,) = _of(reading, c.InterruptedNode)
    assert (node.reason, node.partial, node.last) == ("open", "The fern ", "assistant/attempt")


# -- the small ones


@pytest.mark.parametrize(
    ("events", "kind", "facts"),
    [
        (
            [
                (
                    "command/run",
                    {"commandId": "c", "name": "plan", "args": " off", "source": {"kind": "user"}},
                ),
                ("command/done", {"commandId": "c", "kind": "error", "text": "No."}),
            ],
            c.CommandNode,
            {"name": "plan", "arguments": " off", "state": "error", "text": "No."},
        ),
        (
            [
                (
                    "job/registered",
                    {"jobId": "j", "owner": "s", "kind": "bash", "label": "ls", "startedAt": 5},
                ),
                (
                    "job/settled",
                    {
                        "jobId": "j",
                        "kind": "bash",
                        "label": "ls",
                        "startedAt": 5,
                        "finishedAt": 45,
                        "status": "failed",
                    },
                ),
            ],
            c.JobNode,
            {"job_id": "j", "label": "ls", "status": "failed", "duration_ms": 40, "late": False},
        ),
        (
            [
                ("approval/asked", {"id": "q", "toolName": "bash", "reason": "writes"}),
                ("approval/decided", {"id": "q", "outcome": "rejected"}),
            ],
            c.ApprovalNode,
            {"tool": "bash", "reason": "writes", "outcome": "rejected"},
        ),
        (
            [("session/title", {"title": "Moss", "messageSeqs": [], "source": {"kind": "user"}})],
            c.TitleNode,
            {"title": "Moss", "by": "user"},
        ),
        ([("plan/mode", {"active": True})], c.PlanNode, {"active": True}),
    ],
)
def test_what_two_events_say_is_one_node(
    tmp_path: Path, events: list[tuple[str, Any]], kind: type[c.ChatNode], facts: dict[str, Any]
) -> None:
    built = log().turn()
    for event, data in events:
        built.event(event, data)
    (node,) = _of(built.end().read(tmp_path), kind)
    assert {key: getattr(node, key) for key in facts} == facts


def test_a_job_that_settles_in_a_later_turn_stands_there_too(tmp_path: Path) -> None:
    job = {"jobId": "j", "kind": "bash", "label": "ls", "startedAt": 5}
    built = log().turn().event("job/registered", job).end().turn()
    built.event("job/settled", {**job, "finishedAt": 9, "status": "completed"}).end()
    found = _of(built.read(tmp_path), c.JobNode)
    assert [(n.turn, n.late, n.status) for n in found] == [(1, False, "completed"), (2, True, "completed")]


def test_a_context_node_keeps_source_form_and_attachments(tmp_path: Path) -> None:
    image = {
        "type": "image",
        "attachment": {"attachmentId": "sha256:0", "mediaType": "image/png", "bytes": 9},
    }
    built = (
        log()
        .turn()
        .user("Plan mode.", image, {"type": "odd"}, source="plan-mode", form="notice", summary="On.")
    )
    (node,) = _of(built.end().read(tmp_path), c.ContextNode)
    assert (node.source, node.form, node.summary, node.content.text) == (
        "plan-mode",
        "notice",
        "On.",
        "Plan mode.",
    )
    assert [(a.media_type, a.bytes) for a in node.content.attachments] == [("image/png", 9)]
    assert [b.type for b in node.content.foreign] == ["odd"]


def test_a_developer_message_with_other_blocks_keeps_them(tmp_path: Path) -> None:
    built = log().turn().tools("a").tools("a", "b", tell=False)
    blocks = [{"type": "tool-addition", "toolName": "b"}, text("By hand."), {"type": "odd"}]
    message = built.message("developer", {"kind": "tool-registry"}, blocks)
    built.surface("developer/message", {**built.place, "message": message, "headerSeq": built.last}).end()
    (node,) = _of(built.read(tmp_path), c.ContextNode)
    assert node.notice is not None
    assert (node.content.text, [b.type for b in node.content.foreign]) == ("By hand.", ["odd"])


def test_an_event_with_a_fault_is_shown_and_has_it(tmp_path: Path) -> None:
    built = log().turn().user("go")
    built.lines[-1] = json.dumps({**json.loads(built.lines[-1]), "colour": 1}).encode()
    (node,) = _of(built.end().read(tmp_path), c.UserNode)
    assert node.fault is not None
    assert (node.fault.code, node.content.text) == ("bad-event", "go")
