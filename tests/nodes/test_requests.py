"""Requests made again from the log: which there are, what they hold, what each keeps of the one before."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.log_builder import LogBuilder, call, log, text, tool
from tests.support.nodes import RECORDINGS, reading_of
from tests.support.recorded_events import recorded_events
from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import KnownRoute, RouteBook
from tui.nodes.reading import Reading
from tui.nodes.request_diff import Prefix, lenses, prefix_of, request_tokens, switch_of
from tui.nodes.request_projection import MODES, Sent, doubts, project, project_sent, sent_as
from tui.nodes.request_table import RequestTable
from tui.nodes.requests import INSTRUCTION, RecordedRequest, Requests
from tui.session.surface import Surface, derive_messages
from tui.session.tool_history import ToolHistoryFold

OWN = sorted(path.parent.name for path in RECORDINGS.glob("*/session.v4.jsonl"))
IN_HISTORY = {"provider": "creek", "model": "minnow-2", "systemPromptUpdate": "in-history"}


def requests_of(builder: LogBuilder, folder: Path) -> Requests:
    return Requests(builder.read(folder))


def prefixes(requests: Requests, mode: ToolUpdateMode) -> list[Prefix]:
    projected = [project(request, mode) for request in requests.walk()]
    return [prefix_of(requests, projected[at - 1] if at else None, now) for at, now in enumerate(projected)]


def said(request: RecordedRequest) -> list[str]:
    return [message["content"][0]["text"] for message in request.messages if message["role"] == "user"]


def folded(path: Path) -> list[tuple[list[dict[str, Any]], Any]]:
    """Messages and tool history at each answer and attempt, by folding the events one by one."""
    surface, history, found = Surface(), ToolHistoryFold(), []
    by_seq: dict[int, Any] = {}
    for event in recorded_events(path):
        if event.type in ("assistant/message", "assistant/attempt"):
            found.append((derive_messages(surface, by_seq.__getitem__), history.snapshot()))
        by_seq[event.seq] = event
        surface.apply(event)
        history.apply(event)
    return found


@pytest.mark.parametrize("name", OWN)
def test_a_request_is_what_folding_up_to_it_gives(name: str) -> None:
    requests = Requests(reading_of(name))
    expected = folded(RECORDINGS / name / "session.v4.jsonl")
    assert len(requests) == len(expected)
    for n, (messages, history) in enumerate(expected, 1):
        request = requests.request(n)
        assert request.messages == messages
        assert request.history == history


def every_log(shared: Path) -> list[Path]:
    return sorted(
        path for path in (shared / "recordings").rglob("session.v4.jsonl*") if "long" not in path.parts
    )


def test_walking_gives_what_jumping_gives(shared: Path) -> None:
    walked_requests = 0
    for path in every_log(shared):
        try:
            requests = Requests(Reading.open(path).read_all())
        except Exception as error:
            assert "torn" in path.parts, error
            continue
        for walked in requests.walk():
            jumped = requests.request(walked.place.n)
            assert (walked.messages, walked.history) == (jumped.messages, jumped.history)
            assert walked.config == jumped.config
            walked_requests += 1
    assert walked_requests > 272


def test_walking_from_the_middle_gives_what_walking_from_the_start_gives(shared: Path) -> None:
    for path in every_log(shared):
        if "compaction" not in path.parts and "subagent-plan-todo" not in path.parts:
            continue
        requests = Requests(Reading.open(path).read_all())
        whole = list(requests.walk())
        for first in range(1, len(whole) + 2):
            assert list(requests.walk(first)) == whole[first - 1 :]


def test_rows_are_the_same_whichever_is_looked_at_first(shared: Path) -> None:
    (path,) = (shared / "recordings" / "compaction").glob("sessions/*/*/session.v4.jsonl")
    reading = Reading.open(path).read_all()
    count = len(Requests(reading))
    forth, back = RequestTable(Requests(reading)), RequestTable(Requests(reading))
    upwards = [forth.row(n) for n in range(1, count + 1)]
    assert upwards == [back.row(n) for n in range(count, 0, -1)][::-1]
    with pytest.raises(IndexError):
        forth.row(count + 1)
    with pytest.raises(IndexError):
        forth.row(0)


def test_requests_are_numbered_over_answers_attempts_compactions_and_killed_steps(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").attempt(code="SERVER").answer("a").end()
    seqs = builder.seq
    builder.compact(3, 3, [3])
    builder.turn().user("two").delivered()
    requests = requests_of(builder, tmp_path)
    places = [requests.place(n) for n in range(1, len(requests) + 1)]
    assert [place.kind for place in places] == ["attempt", "answer", "compaction", "unanswered"]
    assert places[2].seq == seqs
    assert places[3].seq == builder.last
    assert [place.turn for place in places] == [1, 1, None, 2]


def test_a_number_that_there_is_not_raises(tmp_path: Path) -> None:
    requests = requests_of(log().turn().user("one").tools().answer("a").end(), tmp_path)
    for n in (-1, 0, 2):
        with pytest.raises(IndexError):
            requests.request(n)


def test_what_a_process_left_open_is_answered_as_our_loop_answers_it(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer(call("c1", "peek")).call("c1", "peek").end()
    builder.turn().user("two").answer("b").end()
    requests = requests_of(builder, tmp_path)
    for last in (requests.request(2), list(requests.walk())[1]):
        answers = [message for message in last.messages if message["role"] == "tool"]
        assert [answer["toolCallId"] for answer in answers] == ["c1"]
        assert "had started" in answers[0]["content"][0]["text"]


def test_a_compaction_is_asked_for_head_range_and_an_instruction_that_no_log_holds(tmp_path: Path) -> None:
    builder = log().turn()
    builder.user("one").tools("peek").answer("a").end().turn().user("two")
    seqs = [index for index, line in enumerate(builder.lines) if b'"surfaceOp"' in line]
    _, first, answer, second = seqs
    builder.compact(first, answer, [first, answer])
    builder.answer("b").end()
    requests = requests_of(builder, tmp_path)
    compaction, after = requests.request(2), requests.request(3)
    assert compaction.place.kind == "compaction"
    assert [message["role"] for message in compaction.messages] == ["system", "user", "assistant", "user"]
    assert said(compaction) == ["one", INSTRUCTION]
    assert compaction.lacks == ("context", "instruction", "limit")
    assert said(after) == ["(condensed)", "two"]
    assert requests.number_of_seq(second) == 2


def test_a_refused_manual_compaction_covers_all_but_the_last_message(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer(call("c1", "peek")).ran("c1", "peek")
    builder.step().answer("a").end()
    same = {"compactionId": "c"}
    builder.event("compaction/start", {**same, "turn": None})
    builder.event("compaction/end", {**same, "turn": None, "error": "refused"})
    compaction = requests_of(builder, tmp_path).request(3)
    assert [message["role"] for message in compaction.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert "range" not in compaction.lacks


def test_the_range_of_a_refused_automatic_compaction_is_not_known(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer("a").end().turn().user("two")
    builder.event("compaction/start", {"compactionId": "c", "turn": 2})
    builder.event("compaction/end", {"compactionId": "c", "turn": 2, "error": "refused"})
    assert "range" in requests_of(builder, tmp_path).request(2).lacks


# -- what is kept, and why no more


def test_a_plain_conversation_keeps_everything() -> None:
    requests = Requests(reading_of("plain-chat"))
    found = prefixes(requests, "addition-only")
    assert found[0] == Prefix(0, None, ("first",))
    counts = [len(request.messages) for request in requests.walk()]
    assert found[1:] == [Prefix(kept, None, ()) for kept in counts[:-1]]


def test_each_kind_of_route_keeps_what_the_screens_say_of_many_tools_changed() -> None:
    requests = Requests(reading_of("many-tools-changed"))
    found = lenses(requests, requests.request(2), requests.request(3))
    facts = {
        mode: (len(lens.projected.declared), len(lens.projected.deferred), lens.projected.changes())
        for mode, lens in found.items()
    }
    # SCREENS.md, "The lens".
    assert facts == {None: (14, 0, (0, 0)), "addition-only": (2, 12, (12, 0)), "in-history": (5, 12, (12, 3))}
    assert found[None].prefix == Prefix(0, "declarations", ("tools-changed",))
    assert found["addition-only"].prefix == Prefix(0, "declarations", ("tools-changed",))
    assert found["in-history"].prefix == Prefix(6, None, ())
    assert found["in-history"].tokens.lost == 0
    assert found[None].tokens.lost == found["addition-only"].tokens.lost > 0


def test_an_addition_alone_keeps_the_prefix_of_an_addition_only_route() -> None:
    requests = Requests(reading_of("single-tool-added"))
    (changed,) = RequestTable(requests).with_tool_change()
    found = lenses(requests, requests.request(changed - 1), requests.request(changed))
    assert found["addition-only"].prefix.broken_at is None
    assert found["in-history"].prefix.broken_at is None
    assert found[None].prefix.broken_at == "declarations"


def test_a_restored_tool_with_another_definition_is_a_redefinition() -> None:
    requests = Requests(reading_of("remove-and-restore"))
    causes = [prefix.causes for prefix in prefixes(requests, "addition-only")]
    # README of the recording: removed before turn 2, restored before 3, redefined before 4 and 7, removed 6.
    turns = [requests.place(n).turn for n in range(1, len(requests) + 1)]
    broken = {turns[at]: set(found) for at, found in enumerate(causes) if found}
    assert broken == {
        1: {"first"},
        2: {"tools-changed"},
        3: {"tools-changed"},
        4: {"tools-changed", "tools-redefined"},
        6: {"tools-changed"},
        7: {"tools-changed", "tools-redefined"},
    }


def test_a_redefinition_alone_is_told_without_a_change_of_names(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().user("two").tools(tool("peek", "Look twice.")).answer("b").end()
    for mode in MODES:
        prefix = prefixes(requests_of(builder, tmp_path), mode)[1]
        assert prefix == Prefix(0, "declarations", ("tools-redefined",))


def test_another_model_keeps_nothing(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().user("two").tools("peek", model="minnow-3").answer("b").end()
    assert prefixes(requests_of(builder, tmp_path), None)[1] == Prefix(0, "model", ("model",))


def test_a_replaced_prompt_is_a_break_and_an_appended_one_is_none(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").event("request/context", IN_HISTORY).answer("a").end()
    head = next(at for at, line in enumerate(builder.lines) if b"system/message" in line)
    builder.turn().system("You keep the fern.").user("two").answer("b").end()
    replaced = builder.turn().system("You keep both.", **builder.replace(head, head, [head])).user("three")
    requests = requests_of(replaced.answer("c").end(), tmp_path)
    found = prefixes(requests, "addition-only")
    assert found[1].broken_at is None
    assert found[2] == Prefix(0, "system", ("system-prompt",))


def test_a_compaction_and_its_series_are_both_told(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().user("two").tools("peek", "poke").answer("b").end()
    seqs = [at for at, line in enumerate(builder.lines) if b'"surfaceOp"' in line][1:-1]
    builder.compact(seqs[0], seqs[-1], seqs)
    builder.turn().user("three").tools("peek", "poke", reason="series").answer("c").end()
    prefix = prefixes(requests_of(builder, tmp_path), "addition-only")[-1]
    assert prefix == Prefix(0, "declarations", ("series", "compaction"))


def test_a_shortened_result_is_a_change_of_the_surface(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer(call("c1", "peek")).ran("c1", "peek", "long")
    result = builder.last
    builder.step().answer("a").end().turn()
    builder.event(
        "compaction/prune",
        {
            "shadowedRange": {"start": result, "end": result},
            "shadowedSeqs": [result],
            "shadowedTokenCount": 9,
        },
    )
    builder.result("c1", "cut", **builder.replace(result, result, [result]))
    prefix = prefixes(requests_of(builder.user("two").answer("b").end(), tmp_path), None)[-1]
    assert prefix == Prefix(3, "messages", ("surface",))


def test_an_offloaded_image_is_told(tmp_path: Path) -> None:
    digest = "sha256:" + "0" * 64
    image = {"type": "image", "attachment": {"attachmentId": digest, "mediaType": "image/png", "bytes": 9}}
    builder = log().turn().user(text("look"), image).tools("peek").answer("a").end()
    seq = next(at for at, line in enumerate(builder.lines) if b'"image"' in line)
    builder.event("image/offload", {"targets": [{"seq": seq, "imageIndexes": [0]}]})
    requests = requests_of(builder.turn().user("two").answer("b").end(), tmp_path)
    assert prefixes(requests, None)[1] == Prefix(1, "messages", ("image-offload",))
    assert requests.request(2).messages[1]["content"][1]["offloaded"] is True
    assert "offloaded" not in requests.request(1).messages[1]["content"][1]


# -- what makes a request approximate


def test_a_plain_request_is_exact_under_every_kind_of_route() -> None:
    requests = Requests(reading_of("many-tools-changed"))
    for request in requests.walk():
        for mode in MODES:
            assert doubts(requests, project(request, mode), Sent("addition-only")) == ()


def test_later_prompts_make_the_other_kinds_of_routes_approximate(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").event("request/context", IN_HISTORY).answer("a").end()
    builder.turn().system("You keep the fern.").user("two").answer("b").end()
    requests = requests_of(builder, tmp_path)
    last = requests.request(2)
    assert doubts(requests, project(last, "addition-only"), Sent("addition-only")) == ()
    assert doubts(requests, project(last, "in-history"), Sent("addition-only")) == ()
    assert doubts(requests, project(last, None), Sent("addition-only")) == ("later-prompt",)


def test_a_damaged_log_says_so(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").line(b"{broken").answer("a").end()
    requests = requests_of(builder, tmp_path)
    assert "damage" in requests.request(1).lacks


def test_a_route_that_refused_is_told_by_its_record(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().user("two").tools("peek", "poke").attempt(code="INVALID_REQUEST")
    builder.fell_back(endpoint="http://127.0.0.1:9/v1", strong=True).answer("b").end()
    requests = requests_of(builder, tmp_path)
    # A name that no catalogue knows: what the record says is all there is, for the time before it too.
    told = [sent_as(RouteBook(), request) for request in requests.walk()]
    modes = [(sent.mode, sent.source) for sent in told]
    assert modes == [("in-history", "catalog"), ("in-history", "catalog"), (None, "catalog")]
    refused, answered = (project(requests.request(n), mode) for n, (mode, _) in enumerate(modes[1:], 2))
    assert refused.deferred == ["poke"]
    assert answered.declared == ["peek", "poke"]


def test_prompts_gathered_on_a_route_without_tool_mode_make_the_others_approximate(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").event("request/context", IN_HISTORY).answer("a").end()
    head = next(at for at, line in enumerate(builder.lines) if b"system/message" in line)
    builder.turn().system("You keep both.", **builder.replace(head, head, [head])).user("two")
    requests = requests_of(builder.tools("peek", "poke", startsSeries=True).answer("b").end(), tmp_path)
    last = requests.request(2)
    assert doubts(requests, project(last, None), Sent(None)) == ()
    assert doubts(requests, project(last, "in-history"), Sent(None)) == ("other-series",)
    assert doubts(requests, project(last, None), Sent("addition-only")) == ()


def fallen_back(*, recorded: bool) -> LogBuilder:
    """A tool comes, its change block is refused, and one more try follows at once."""
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().user("two").tools("peek", "poke").attempt(code="INVALID_REQUEST", status=400)
    if recorded:
        builder.answer("b").fell_back()
    else:
        builder.attempt(code="INVALID_REQUEST", status=400)
    return builder.end().turn().user("three").answer("c").end()


class InHistory(RouteBook):
    """Knows every route as one that takes all tool changes."""

    def route(self, provider: str, model: str) -> KnownRoute:
        known = super().route(provider, model)
        return KnownRoute(route=known.route.with_tool_update("in-history"), source="catalog")


def test_a_prefix_that_a_fall_back_alone_broke_says_so(tmp_path: Path) -> None:
    table = RequestTable(requests_of(fallen_back(recorded=True), tmp_path), InHistory())
    rows = [table.row(n) for n in range(1, len(table) + 1)]
    assert [row.mode for row in rows] == ["in-history", "in-history", None, None]
    # No tool changed between the refused request and the next: the closed list has no nearer word.
    assert rows[2].prefix == Prefix(0, "declarations", ("tools-changed",), "fallback", True)
    assert rows[3].prefix == Prefix(4, None, ())
    earlier, lens = table.compared(3)
    assert earlier is not None and earlier.mode == "in-history"
    assert (lens.prefix, lens.tokens.kept) == (rows[2].prefix, 0)
    # Beside the same kind of route nothing was lost.
    assert table.lenses(3)[None].prefix.broken_at is None


def test_another_try_that_no_record_tells_of_is_approximate(tmp_path: Path) -> None:
    requests = requests_of(fallen_back(recorded=False), tmp_path)
    sent = [sent_as(InHistory(), request) for request in requests.walk()]
    assert [each.mode for each in sent] == ["in-history", "in-history", None, "in-history"]
    assert [each.source for each in sent] == ["catalog", "catalog", "assumed", "catalog"]
    doubted = [
        doubts(requests, project_sent(request, each), each)
        for request, each in zip(requests.walk(), sent, strict=True)
    ]
    assert doubted == [(), (), ("another-try",), ()]
    # As a kind of route that was chosen it is what it is.
    assert doubts(requests, project(requests.request(3), "in-history"), sent[2]) == ()
    prefix = RequestTable(requests, InHistory()).row(4).prefix
    assert (prefix.switch, prefix.stands_for_switch) == ("again", True)


def test_a_try_on_a_route_without_tool_mode_is_none(tmp_path: Path) -> None:
    requests = requests_of(fallen_back(recorded=False), tmp_path)
    assert not any(sent_as(RouteBook(), request).is_guess for request in requests.walk())


@pytest.mark.parametrize("name", OWN)
def test_what_is_kept_whole_is_kept_with_the_declarations_that_it_offers(name: str) -> None:
    requests = Requests(reading_of(name))
    walked = list(requests.walk())
    for before, now in pairwise(walked):
        for mode, lens in lenses(requests, before, now).items():
            assert lens.tokens.total == request_tokens(lens.projected)
            if lens.prefix.broken_at is None:
                assert lens.tokens.kept == request_tokens(project(before, mode))
                assert lens.tokens.lost == 0


def test_a_request_without_tool_changes_was_not_tried_again_without_them(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer("a").end().turn().user("two")
    for _ in range(2):
        builder.attempt(code="INVALID_REQUEST", status=400)
    requests = requests_of(builder.end(), tmp_path)
    sent = [sent_as(InHistory(), request) for request in requests.walk()]
    assert [(each.mode, each.is_guess) for each in sent] == [("in-history", False)] * 3


def test_two_kinds_of_routes_beside_each_other_are_no_switch() -> None:
    """Only to full definitions and back: anything else is a question, not something that happened."""
    requests = Requests(reading_of("many-tools-changed"))
    before, now = requests.request(2), requests.request(3)
    told = {(one, two): switch_of(project(before, one), project(now, two)) for one in MODES for two in MODES}
    assert {pair: switch for pair, switch in told.items() if switch is not None} == {
        ("addition-only", None): "fallback",
        ("in-history", None): "fallback",
        (None, "addition-only"): "again",
        (None, "in-history"): "again",
    }
