"""The order rules of a V4 log, one by one and over whole logs (session-format §2.4, §2.5, §3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.recorded_events import RECORDINGS
from tests.support.session_logs import (
    HEADER,
    Checked,
    assert_sound,
    assistant,
    call,
    call_block,
    developer,
    header,
    replace,
    result,
    system,
    text,
    user,
)
from tui.session.reader import read_log
from tui.session.rules import LogRuleError, RuleChecker

OWN = sorted(RECORDINGS.rglob("session.v4.jsonl*"))


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(RECORDINGS)))
def test_no_rule_is_broken_in_a_log_that_dsh_wrote(path: Path) -> None:
    assert assert_sound(path)


def test_no_rule_is_broken_in_the_shared_recordings(shared: Path) -> None:
    logs = [
        path
        for path in sorted((shared / "recordings").rglob("session.v4.jsonl*"))
        if "torn" not in path.parts
    ]
    assert len(logs) > 20
    for path in logs:
        assert assert_sound(path)


def test_no_rule_is_broken_in_what_dsh_made_of_damaged_logs(shared: Path) -> None:
    logs = sorted((shared / "recordings" / "torn").rglob("after-resume.session.v4.jsonl*"))
    assert logs
    for path in logs:
        log = read_log(path)
        rules = RuleChecker(log.header, log.event)
        for event in log.events():
            rules.apply(event)
        rules.finish()


Step = Callable[[Checked], object]


def refused(log: Checked, add: Step) -> LogRuleError:
    with pytest.raises(LogRuleError) as caught:
        add(log)
    return caught.value


def breaks(log: Checked, rule: int, kind: str, data: Any, **options: Any) -> str:
    """Check that the event is refused under this rule and changes nothing; returns the sentence."""
    turn, step = log.rules.turn, log.rules.step
    nodes, waiting = log.rules.surface.nodes(), len(log.rules.inbox)
    open_calls, next_seq = dict(log.rules.open_calls), log.rules.next_seq
    error = refused(log, lambda log: log.add(kind, data, **options))
    assert (error.rule, error.event_type) == (rule, kind)
    assert error.sentence
    assert (log.rules.turn, log.rules.step) == (turn, step)
    assert (log.rules.surface.nodes(), len(log.rules.inbox)) == (nodes, waiting)
    assert (dict(log.rules.open_calls), log.rules.next_seq) == (open_calls, next_seq)
    assert not log.rules.surface.faults
    return error.sentence


def test_0_an_envelope_has_the_next_seq_and_nothing_that_its_type_forbids() -> None:
    log = Checked().open_step()
    breaks(log, 0, "user/message", user("u1"), seq=7)
    breaks(log, 0, "user/message", user("u1"), op={"op": "replace", "startSeq": 1})
    breaks(log, 0, "user/message", user("u1"), op=replace(0, 99), cites=[0])
    breaks(log, 0, "user/message", user("u1"), cites=[])
    breaks(log, 0, "user/message", user("u1"), cites=[1, 1])
    breaks(log, 0, "user/message", user("u1"), cites=[3])
    breaks(log, 0, "assistant/message", assistant(1, 1, text("x")), cites=[1])
    breaks(log, 0, "step/end", {"turn": 1, "step": 1}, op="append")
    breaks(log, 0, "step/end", {"turn": 1, "step": 1}, cites=[1])
    breaks(log, 0, "todo/write", ["not an object"])


def test_0_an_unknown_type_must_be_ignorable() -> None:
    log = Checked()
    breaks(log, 0, "plugin:weather", {"sky": "grey"})
    breaks(log, 0, "tool/code-dispatch", {})
    log.add("plugin:weather", "anything", ignorable=True)


def test_0_retired_syntax_is_refused() -> None:
    log = Checked().open_step()
    bad = header("peek")
    bad["header"]["system"] = "You keep the moss garden."
    breaks(log, 0, "request/header", bad)
    bad = user("u1")
    bad["content"] = [{"type": "tool-result", "toolCallId": "c", "content": []}]
    breaks(log, 0, "user/message", bad)
    breaks(log, 0, "user/message", user("u1", kind="plugin"))
    bad = user("u1")
    bad["content"] = [{"type": "tool-addition", "toolName": "peek"}]
    breaks(log, 0, "user/message", bad)
    bad = header("peek")
    bad["header"]["tools"][0]["deferLoading"] = False
    breaks(log, 0, "request/header", bad)


@pytest.mark.parametrize(
    "change",
    [
        {"tools": []},
        {"adapterDefaults": {}},
        {"adapterDefaults": {"maxTokens": True}},
        {"config": {"provider": "creek"}},
        {"config": {"provider": "creek", "model": "m", "maxTokens": 0}},
        {"config": {"provider": "creek", "model": "m", "stop": ["a", 1]}},
        {"tools": [{"name": "peek", "description": "d"}]},
    ],
)
def test_0_a_request_header_of_another_shape_is_refused(change: dict[str, Any]) -> None:
    log = Checked().open_step()
    bad = header()
    bad["header"].update(change)
    breaks(log, 0, "request/header", bad)


def test_1_turns_count_from_1_and_do_not_nest() -> None:
    log = Checked()
    breaks(log, 1, "turn/start", {"turn": 2})
    log.open_step()
    breaks(log, 1, "turn/start", {"turn": 2})
    log.end_turn()
    breaks(log, 1, "turn/start", {"turn": 1})
    log.add("turn/start", {"turn": 2})


def test_2_a_turn_ends_after_its_step_and_its_calls() -> None:
    log = Checked()
    end = {"turn": 1, "reason": {"kind": "completed"}}
    breaks(log, 2, "turn/end", end)
    log.open_step()
    breaks(log, 2, "turn/end", end)
    log.add("step/end", {"turn": 1, "step": 1})
    breaks(log, 2, "turn/end", {**end, "turn": 2})
    log.add("turn/end", end)


def test_3_steps_count_from_1_within_their_turn() -> None:
    log = Checked()
    breaks(log, 3, "step/start", {"turn": 1, "step": 1})
    log.add("turn/start", {"turn": 1})
    breaks(log, 3, "step/start", {"turn": 1, "step": 2})
    log.add("step/start", {"turn": 1, "step": 1})
    breaks(log, 3, "step/start", {"turn": 1, "step": 2})
    breaks(log, 3, "step/end", {"turn": 1, "step": 2})
    log.add("step/end", {"turn": 1, "step": 1})
    breaks(log, 3, "step/end", {"turn": 1, "step": 1})
    log.add("step/start", {"turn": 1, "step": 2})


def test_3_a_step_does_not_end_while_a_call_is_open() -> None:
    log = Checked().open_step()
    log.add("assistant/message", assistant(1, 1, call_block("c1")))
    breaks(log, 3, "step/end", {"turn": 1, "step": 1})
    started = log.add("tool/call", call(1, 1, "c1"))
    breaks(log, 3, "step/end", {"turn": 1, "step": 1})
    log.add("tool/result", result(1, 1, "c1"), cites=[started])
    log.add("step/end", {"turn": 1, "step": 1})


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("system/message", system(1, 2)),
        ("developer/message", developer(1, 2, {"type": "tool-removal", "toolName": "peek"})),
        ("assistant/message", assistant(2, 1, text("x"))),
        ("assistant/attempt", {"turn": 1, "step": 2, "stream": []}),
        ("tool/call", call(1, 2, "c1")),
        ("tool/result", result(1, 2, "c1")),
    ],
)
def test_4_what_belongs_to_a_step_names_the_open_one(kind: str, data: dict[str, Any]) -> None:
    breaks(Checked().open_step(), 4, kind, data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("request/header", header("peek")),
        ("request/context", {"provider": "creek", "model": "minnow-2"}),
        (
            "tool/ptc-dispatch-start",
            {"rootCallId": "c", "parentCallId": "c", "subCallId": "c:ptc:1", "name": "x", "arguments": {}},
        ),
    ],
)
def test_5_requests_need_an_open_turn(kind: str, data: dict[str, Any]) -> None:
    breaks(Checked(), 5, kind, data)


def test_6_prompts_titles_and_settings_stand_anywhere() -> None:
    log = Checked()
    prompt = log.add("user/message", user("u1"))
    log.add("session/title", {"title": "Beds", "messageSeqs": [prompt], "source": {"kind": "fallback"}})
    log.add("plan/mode", {"active": True})
    log.add("todo/write", {"todos": []})


def test_7_a_call_is_asked_for_started_once_and_answered_once() -> None:
    log = Checked().open_step()
    breaks(log, 7, "tool/call", call(1, 1, "c1"))
    breaks(log, 7, "assistant/message", assistant(1, 1, call_block("c1"), call_block("c1")))
    log.add("assistant/message", assistant(1, 1, call_block("c1")))
    breaks(log, 7, "assistant/message", assistant(1, 1, call_block("c1")))
    breaks(log, 7, "tool/call", call(1, 1, "c1", name="prod"))
    breaks(log, 7, "tool/call", {**call(1, 1, "c1"), "arguments": '{"pot":"north"}'})
    breaks(log, 7, "tool/result", result(1, 1, "c1"))
    log.add("tool/call", call(1, 1, "c1"))
    breaks(log, 7, "tool/call", call(1, 1, "c1"))
    log.add("tool/result", result(1, 1, "c1"), cites=[4])
    breaks(log, 7, "tool/result", result(1, 1, "c1"))


def test_7_a_result_without_a_start_is_a_recorded_repair_alone() -> None:
    log = Checked().open_step()
    log.add("assistant/message", assistant(1, 1, call_block("c1")))
    repair = result(1, 1, "c1", "not started")
    repair["message"].update({"isError": True, "id": "forked-tool-result-c1-9"})
    breaks(log, 7, "tool/result", repair)
    repair["message"]["id"] = "interrupted-tool-result-c1-4"
    breaks(log, 7, "tool/result", repair)
    repair["message"]["id"] = "forked-tool-result-c1-4"
    log.add("tool/result", repair)


def test_8_a_surface_that_does_not_begin_with_a_system_message_never_gets_one() -> None:
    log = Checked()
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.add("user/message", user("u1"))
    breaks(log, 8, "system/message", system(1, 1))


def test_8_further_system_messages_may_follow_an_empty_head() -> None:
    log = Checked()
    log.add("turn/start", {"turn": 1})
    log.add("step/start", {"turn": 1, "step": 1})
    log.add("system/message", system(1, 1, ""))
    log.add("user/message", user("u1"))
    log.add("system/message", system(1, 1))
    assert log.rules.head == 2


def test_9_the_head_is_replaced_by_a_system_message_alone() -> None:
    log = Checked().open_step()
    log.add("user/message", user("u1"))
    breaks(log, 9, "user/message", user("u2"), op=replace(2, 3), cites=[2, 3])
    breaks(log, 9, "system/message", system(1, 1), op=replace(2, 3), cites=[2, 3])
    head = log.add("system/message", system(1, 1, "Be brief."), op=replace(2, 2), cites=[2])
    assert log.rules.head == head
    breaks(log, 9, "user/message", user("u2"), op=replace(head, head), cites=[head])


def test_10_a_replacement_lists_what_it_covers() -> None:
    log = Checked().open_step()
    first = log.add("user/message", user("u1"))
    second = log.add("user/message", user("u2"))
    breaks(log, 10, "user/message", user("u3"), op=replace(first, second))
    breaks(log, 10, "user/message", user("u3"), op=replace(first, second), cites=[first])
    breaks(log, 10, "user/message", user("u3"), op=replace(second, first), cites=[first, second])
    breaks(log, 10, "user/message", user("u3"), op=replace(0, first), cites=[0, first])
    log.add("user/message", user("u3"), op=replace(first, second), cites=[second, 0, first])
    breaks(log, 10, "user/message", user("u4"), op=replace(first, first), cites=[first])


def test_11_a_replacing_result_differs_from_its_one_result_in_content_alone() -> None:
    log = Checked().open_step()
    prompt = log.add("user/message", user("u1"))
    log.add("assistant/message", assistant(1, 1, call_block("c1")))
    started = log.add("tool/call", call(1, 1, "c1"))
    answer = log.add("tool/result", result(1, 1, "c1"), cites=[started])
    shorter = result(1, 1, "c1", "moist…")
    breaks(log, 11, "tool/result", shorter, op=replace(prompt, prompt), cites=[prompt])
    breaks(log, 11, "tool/result", shorter, op=replace(answer - 2, answer), cites=[answer, answer - 2])
    other = {**shorter, "message": {**shorter["message"], "isError": True}}
    breaks(log, 11, "tool/result", other, op=replace(answer, answer), cites=[answer])
    log.add("tool/result", shorter, op=replace(answer, answer), cites=[answer])


def test_12_added_tools_are_defined_once_in_the_named_header() -> None:
    log = Checked().open_step()
    added = {"type": "tool-addition", "toolName": "mist"}
    removed = {"type": "tool-removal", "toolName": "vent"}
    breaks(log, 12, "developer/message", developer(1, 1, added))
    first = log.add("request/header", header("peek"))
    breaks(log, 12, "developer/message", developer(1, 1, added, header_seq=first))
    breaks(log, 12, "developer/message", developer(1, 1, added, header_seq=first - 1))
    breaks(log, 12, "developer/message", developer(1, 1, removed, header_seq=first))
    twice = log.add("request/header", header("mist", "mist", reason="change"))
    breaks(log, 12, "developer/message", developer(1, 1, added, header_seq=twice))
    once = log.add("request/header", header("mist", "peek", reason="change"))
    log.add("developer/message", developer(1, 1, added, removed, header_seq=once))
    log.add("developer/message", developer(1, 1, removed))


def summary(compaction: str, start: int, end: int, covered: list[int]) -> dict[str, Any]:
    return {
        "compactionId": compaction,
        "summary": [text("The north bed is at 37%.")],
        "shadowedRange": {"start": start, "end": end},
        "shadowedSeqs": covered,
        "shadowedTokenCount": 31,
        "provider": "creek",
        "model": "minnow-2",
    }


def test_13_a_compaction_opens_summarises_once_and_ends_within_its_turn() -> None:
    log = Checked().open_step()
    log.rules.go_live()
    prompt = log.add("user/message", user("u1"))
    log.add("step/end", {"turn": 1, "step": 1})
    end = {"compactionId": "k1", "turn": 1}
    breaks(log, 13, "compaction/start", {"compactionId": "k1", "turn": None})
    breaks(log, 13, "compaction/end", end)
    start = log.add("compaction/start", {"compactionId": "k1", "turn": 1})
    breaks(log, 13, "compaction/start", {"compactionId": "k2", "turn": 1})
    breaks(log, 13, "compaction/end", end)
    breaks(log, 13, "compaction/end", {**end, "compactionId": "k2", "error": "no"})
    breaks(log, 13, "turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    breaks(log, 13, "compaction/summary", summary("k1", prompt, prompt, [prompt, start]))
    breaks(log, 13, "compaction/summary", summary("k1", 2, prompt, [2, prompt]))
    made = log.add("compaction/summary", summary("k1", prompt, prompt, [prompt]))
    breaks(log, 13, "compaction/summary", summary("k1", prompt, prompt, [prompt]))
    checkpoint = user("u2", "(condensed)", "compact-checkpoint")
    checkpoint["source"]["compactionId"] = "k2"
    cites = [start, made, prompt]
    breaks(log, 13, "user/message", checkpoint, op=replace(prompt, prompt), cites=cites)
    checkpoint["source"]["compactionId"] = "k1"
    log.add("user/message", checkpoint, op=replace(prompt, prompt), cites=cites)
    log.add("compaction/end", end)
    late = log.rules.next_seq - 2
    breaks(log, 13, "user/message", checkpoint, op=replace(late, late), cites=[late])
    log.add("turn/end", {"turn": 1, "reason": {"kind": "completed"}})


def test_13_a_turn_boundary_crosses_a_compaction_only_before_an_end_seed() -> None:
    log = Checked()
    log.add("compaction/start", {"compactionId": "k1", "turn": None})
    log.add("turn/start", {"turn": 1})
    assert refused(log, lambda log: log.rules.finish()).rule == 13
    breaks(log, 13, "compaction/end", {"compactionId": "k1", "turn": 1, "error": "cut"})
    log.add("session/end-seed", {})
    log.rules.finish()


def test_13_a_prune_covers_a_slice_of_the_surface() -> None:
    log = Checked().open_step()
    prompt = log.add("user/message", user("u1"))
    prune = {
        "shadowedRange": {"start": prompt, "end": prompt},
        "shadowedSeqs": [prompt],
        "shadowedTokenCount": 1,
    }
    breaks(log, 13, "compaction/prune", {**prune, "shadowedSeqs": [prompt, 2]})
    breaks(log, 13, "compaction/prune", {**prune, "shadowedRange": {"start": 0, "end": prompt}})
    log.add("compaction/prune", prune)


def retry(number: int, identity: str = "rt-1", **fields: Any) -> dict[str, Any]:
    return {
        "retryId": identity,
        "turn": 1,
        "step": 1,
        "provider": "creek",
        "mode": "normal",
        "policyKey": "p",
        "retry": number,
        "maxRetries": 5,
        "delayMs": 512.25,
        "failure": {"message": "slow down", "code": "RATE_LIMIT"},
        **fields,
    }


def test_14_retries_count_up_in_chains_of_one_id() -> None:
    log = Checked().open_step()
    breaks(log, 14, "llm/retry", retry(1))
    log.add("request/header", header("peek"))
    breaks(log, 14, "llm/retry", retry(2))
    breaks(log, 14, "llm/retry", retry(1, provider="brook"))
    breaks(log, 14, "llm/retry", retry(1, step=2))
    log.add("llm/retry", retry(1))
    breaks(log, 14, "llm/retry", retry(2, "rt-2"))
    breaks(log, 14, "llm/retry", retry(1, policyKey="q"))
    started = {"retryId": "rt-1", "turn": 1, "step": 1, "retry": 1}
    breaks(log, 14, "llm/retry-started", {**started, "retry": 2})
    breaks(log, 14, "llm/retry-started", {**started, "step": 2})
    log.add("llm/retry-started", started)
    breaks(log, 14, "llm/retry-started", started)
    log.add("step/end", {"turn": 1, "step": 1})
    log.add("llm/retry", retry(2))


def test_15_titles_cite_prompts_of_the_user() -> None:
    log = Checked()
    prompt = log.add("user/message", user("u1"))
    notice = log.add("user/message", user("u2", kind="tool-jobs"))
    made = {"title": "Beds", "messageSeqs": [prompt], "source": {"kind": "fallback"}}
    breaks(log, 15, "session/title", {**made, "messageSeqs": []})
    breaks(log, 15, "session/title", {**made, "messageSeqs": [notice]})
    breaks(log, 15, "session/title", {**made, "messageSeqs": [prompt, prompt]})
    breaks(log, 15, "session/title", {**made, "source": {"kind": "user"}})
    log.add("session/title", made)
    log.add("session/title", {"title": "Beds", "messageSeqs": [], "source": {"kind": "user"}})
    asked = {
        "titleProvider": "t",
        "messageSeqs": [prompt],
        "route": {"provider": "creek", "model": "minnow-2"},
        "system": "Name the talk.",
        "messages": [user("u3", kind="dsh-session-title-llm")],
        "maxTokens": 64,
    }
    breaks(log, 15, "session/title-llm-request", {**asked, "messageSeqs": []})
    breaks(log, 15, "session/title-llm-request", {**asked, "messages": [user("u3")]})
    breaks(log, 15, "session/title-llm-request", {**asked, "messages": asked["messages"] * 2})
    log.add("session/title-llm-request", asked)


def test_16_commands_have_ids_of_their_own_and_end_after_they_ran() -> None:
    log = Checked()
    done = {"commandId": "k", "kind": "success"}
    breaks(log, 16, "command/done", done)
    run = log.add("command/run", {"commandId": "k", "name": "compact", "source": {"kind": "user"}})
    breaks(log, 16, "command/run", {"commandId": "k", "name": "compact", "source": {"kind": "user"}})
    breaks(log, 16, "command/done", {**done, "sourceEventSeq": run})
    breaks(log, 16, "command/done", {**done, "sourceEventSeq": 5})
    prompt = log.add("user/message", user("u1"))
    breaks(log, 16, "command/done", {**done, "kind": "error", "sourceEventSeq": prompt})
    log.add("command/done", {**done, "sourceEventSeq": prompt})


def test_17_a_sub_call_ends_as_it_started() -> None:
    log = Checked().open_step()
    start = {
        "rootCallId": "c9",
        "parentCallId": "c9",
        "subCallId": "c9:ptc:1",
        "name": "peek",
        "arguments": {"pot": "south"},
    }
    done = {**start, "isError": False, "content": [text("moisture 12")]}
    breaks(log, 17, "tool/ptc-dispatch", done)
    breaks(log, 17, "tool/ptc-dispatch-start", {**start, "parentCallId": "c9:ptc:0"})
    log.add("tool/ptc-dispatch-start", start)
    breaks(log, 17, "tool/ptc-dispatch-start", start)
    breaks(log, 17, "tool/ptc-dispatch", {**done, "arguments": {"pot": "north"}})
    breaks(log, 17, "tool/ptc-dispatch", {**done, "name": "prod"})
    log.add("tool/ptc-dispatch-start", {**start, "parentCallId": "c9:ptc:1", "subCallId": "c9:ptc:1:ptc:1"})
    log.add("tool/ptc-dispatch", done)


def test_18_a_delivery_mark_names_this_session_and_an_earlier_event() -> None:
    log = Checked()
    mark = {"sessionId": HEADER.id, "sessionFormatVersion": 4, "throughSeq": 0}
    kind = "session-log-deepseek/delivery-accepted"
    breaks(log, 18, kind, mark)
    log.add("plan/mode", {"active": True})
    breaks(log, 18, kind, {**mark, "sessionId": "session-fern"})
    log.add(kind, {"sessionId": "session-fern", "sessionFormatVersion": 3, "throughSeq": 9})
    log.add(kind, mark)


SEEDED = msgspec.structs.replace(HEADER, is_seeded=True, parent_session="session-fern")


def test_18_inherited_delivery_marks_of_a_fork_are_exempt() -> None:
    foreign = {"sessionId": "session-fern", "sessionFormatVersion": 4, "throughSeq": 0}
    kind = "session-log-deepseek/delivery-accepted"
    log = Checked(SEEDED)
    log.add("plan/mode", {"active": True})
    log.add(kind, foreign)
    assert refused(log, lambda log: log.rules.finish()).rule == 20
    log.add("session/end-seed", {"inherited": True})
    log.rules.finish()
    log.add(kind, foreign)
    assert refused(log, lambda log: log.rules.finish()).rule == 18
    orphan = Checked(msgspec.structs.replace(SEEDED, parent_session=None))
    orphan.add("plan/mode", {"active": True})
    breaks(orphan, 18, kind, foreign)


def child(identity: str, **fields: Any) -> dict[str, Any]:
    return {
        "version": 0,
        "childId": identity,
        "childCreatedAt": 1,
        "mode": "continuable",
        "label": "scout",
        **fields,
    }


def test_19_a_child_stands_in_the_catalogue_once() -> None:
    log = Checked()
    log.add("subagent/catalog", child("k1"))
    breaks(log, 19, "subagent/catalog", child("k1"))
    breaks(log, 19, "subagent/catalog", child("k2", mode="external"))
    unlabelled = child("k2")
    del unlabelled["label"]
    breaks(log, 19, "subagent/catalog", unlabelled)
    log.add("subagent/catalog", child("k2", version=2, mode="external"))


def test_19_inherited_children_do_not_count() -> None:
    log = Checked(SEEDED)
    log.add("subagent/catalog", child("k1"))
    log.add("session/end-seed", {"inherited": True})
    log.rules.go_live()
    log.add("subagent/catalog", child("k1"))
    breaks(log, 19, "subagent/catalog", child("k1"))


def test_20_a_seeded_log_and_no_other_has_an_inherited_part() -> None:
    log = Checked()
    breaks(log, 20, "session/end-seed", {"inherited": True})
    log.add("session/end-seed", {})
    log = Checked(SEEDED)
    log.add("session/end-seed", {})
    assert refused(log, lambda log: log.rules.finish()).rule == 20
    log.add("session/end-seed", {"inherited": True})
    log.rules.finish()
    log.rules.go_live()
    breaks(log, 20, "session/end-seed", {"inherited": True})


@pytest.mark.parametrize("key", ["id", "role", "source", "content"])
def test_21_a_message_has_an_identity(key: str) -> None:
    log = Checked().open_step()
    message = user("u1")
    del message[key]
    breaks(log, 21, "user/message", message)
    answer = assistant(1, 1, text("x"))
    answer["message"][key] = ""
    breaks(log, 21, "assistant/message", answer)


def spliced(target: str, start: int, *inserted: dict[str, Any], removed: int = 0) -> dict[str, Any]:
    data: dict[str, Any] = {"target": target, "start": start, "inserted": list(inserted)}
    return {**data, "removedCount": removed} if removed else data


def test_22_splices_fit_the_waiting_messages_and_their_ids_differ() -> None:
    log = Checked()
    kind = "agent/inbox/spliced"
    breaks(log, 22, kind, spliced("next-turn", 1, user("u1")))
    breaks(log, 22, kind, spliced("next-turn", 0, removed=1))
    breaks(log, 22, kind, spliced("next-turn", 0, user("u1"), user("u1")))
    log.add(kind, spliced("next-turn", 0, user("u1")))
    breaks(log, 22, kind, spliced("next-step", 0, user("u1")))
    breaks(log, 0, kind, spliced("later", 0, user("u2")))
    breaks(log, 21, kind, spliced("next-step", 0, {**user("u2"), "role": "system"}))
    log.add(kind, spliced("next-step", 0, user("u2")))
    assert [message["id"] for message in log.rules.inbox.next_turn] == ["u1"]
    log.add(kind, spliced("next-turn", 0, user("u1"), removed=1))
    log.add(kind, spliced("next-turn", 0, removed=1))
    assert [len(log.rules.inbox.next_turn), len(log.rules.inbox.next_step)] == [0, 1]


def test_the_first_fault_of_the_open_calls_case_is_named(shared: Path) -> None:
    [path] = (shared / "bugs/cases/B12-orphan-calls/home/crashed").rglob("session.v4.jsonl")
    log = read_log(path)
    rules = RuleChecker(log.header, log.event)
    with pytest.raises(LogRuleError) as caught:
        for event in log.events():
            rules.apply(event)
    assert (caught.value.rule, caught.value.event_type, caught.value.seq) == (3, "step/end", 12)
