"""What is wrong with a session: every cause under its own name, and nothing where nothing is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.exports import case_log, logs_below
from tests.support.log_builder import LogBuilder, call, chunk, log
from tests.support.nodes import reading_of
from tui.nodes.doctor import Examination, Finding, examine
from tui.nodes.reading import Reading
from tui.session.errors import SessionUnreadable
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE

HEALTHY = (
    "plain-chat",
    "tool-use",
    "single-tool-added",
    "many-tools-changed",
    "many-tools-changed-inhistory",
    "many-tools-changed-no-updates",
    "remove-and-restore",
    "cancel",
)
ORDER = ("freeze", "versions", "verify", "export", "resume", "keep")


def of_case(shared: Path, case: str, home: str = "") -> Examination:
    return examine(Reading.open(case_log(shared, case, home)).read_all())


def codes(found: Examination) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in found.findings]


def only(found: Examination) -> Finding:
    (finding,) = found.findings
    return finding


def refused(
    built: LogBuilder, message: str, *, code: str = "INVALID_REQUEST", status: int | None = 400
) -> LogBuilder:
    """A turn whose request fails."""
    failure = {"code": code, "message": message, **({"status": status} if status else {}), "requestId": "r-1"}
    built.event(
        "assistant/attempt",
        {**built.place, "stream": [chunk(built.now, "finish", reason={"kind": "error", "failure": failure})]},
    )
    return built.end("error", error=failure)


def grown() -> LogBuilder:
    """A turn that went well, then one that adds a tool."""
    built = log().turn().user("go").tools("peek").answer("fine").end()
    return built.turn().step().user("more").tools("peek", "water")


# -- recordings


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_recordings_raise_no_alarm(name: str) -> None:
    assert codes(examine(reading_of(name))) == []


@pytest.mark.parametrize("name", ["compaction", "subagent-plan-todo", "plain-chat", "tool-use"])
def test_healthy_recordings_of_every_profile_raise_no_alarm(shared: Path, name: str) -> None:
    logs = logs_below(shared / "recordings" / name)
    assert logs
    for path in logs:
        assert codes(examine(Reading.open(path).read_all())) == [], path


@pytest.mark.parametrize(
    "name", ["plain-unknown-ignorable", "plain-unknown-ignorable-plugin-name", "plain-flip-in-text"]
)
def test_what_dsh_takes_without_a_word_is_no_finding(shared: Path, name: str) -> None:
    (path,) = logs_below(shared / "recordings" / "torn" / name)
    assert codes(examine(Reading.open(path).read_all())) == []


def test_what_dsh_refuses_of_damaged_copies_is_told_and_nothing_else(shared: Path) -> None:
    looked_at = 0
    for folder in sorted((shared / "recordings" / "torn").iterdir()):
        verdict = json.loads((folder / "verdict.json").read_text())
        for path in logs_below(folder):
            try:
                reading = Reading.open(path).read_all()
            except SessionUnreadable:
                continue
            looked_at += 1
            is_refused = any(finding.code == "refused-by-dsh" for finding in examine(reading).findings)
            assert is_refused is (verdict["resume"] != "ok"), folder.name
    assert looked_at > 12


def test_a_refused_tool_change_is_followed_to_the_record_it_came_from(shared: Path) -> None:
    found = of_case(shared, "B01")
    finding = only(found)
    assert (finding.code, finding.severity, finding.seq) == ("tool-update-rejected", "error", 22)
    assert finding.fields["turns"] == (2, 3, 4)
    assert finding.fields["tools"] == ("mcp__kiln__cool",)
    assert finding.fields["status"] == 400
    assert tuple(step for step in finding.advice if step in ORDER) == ORDER
    assert [turn.turn for turn in found.chain] == [2, 3, 4]
    assert [attempt.request_id for turn in found.chain for attempt in turn.attempts] == [
        "req_invented_0001",
        "req_invented_0002",
        "req_invented_0002",
    ]


def test_a_session_that_got_free_again_is_told_as_a_warning() -> None:
    found = examine(reading_of("rejected-update"))
    finding = only(found)
    assert (finding.code, finding.severity, finding.seq) == ("tool-update-rejected", "warning", 35)
    assert finding.fields["turns"] == (3, 4, 5, 6, 7)
    assert finding.fields["tools"] == ("mcp__saltmarsh__mist_bed",)
    assert [attempt.status for turn in found.chain for attempt in turn.attempts] == [400] * 5
    assert len({attempt.request_id for turn in found.chain for attempt in turn.attempts}) == 5


def test_look_alikes_of_the_retries_are_told_apart() -> None:
    found = examine(reading_of("retries"))
    assert codes(found) == [("provider-trouble", "warning"), ("credentials", "warning"), ("quota", "warning")]
    assert [finding.fields["turns"] for finding in found.findings] == [(5, 6), (7,), (9,)]
    # What retries mended is in the chain alone.
    mended = [turn.turn for turn in found.chain if turn.outcome == "completed"]
    assert mended == [1, 2, 3, 4, 8]
    assert [attempt.status for attempt in found.chain[1].attempts] == [529, 529, 500]


def test_a_turn_that_somebody_stopped_is_no_finding() -> None:
    assert examine(reading_of("cancel")).chain == ()


@pytest.mark.parametrize(
    ("home", "code", "seq"),
    [
        ("closers-then-live", "damage-seq-rewind", 23),
        ("replayed", "damage-seq-rewind", 15),
        ("hole", "damage-seq-hole", 14),
    ],
)
def test_trouble_with_numbers_is_named_with_the_event_behind_it(
    shared: Path, home: str, code: str, seq: int
) -> None:
    findings = {finding.code: finding for finding in of_case(shared, "B07", home).findings}
    assert findings[code].seq == seq
    assert findings["refused-by-dsh"].severity == "error"


def test_an_unknown_event_that_may_matter_makes_dsh_refuse(shared: Path) -> None:
    findings = {finding.code: finding for finding in of_case(shared, "B10").findings}
    assert set(findings) == {"damage-unknown-event", "refused-by-dsh"}
    assert findings["refused-by-dsh"].seq == 21
    assert findings["refused-by-dsh"].fields["type"] == "lantern-plugin/verdict"


def test_a_crash_its_orphans_and_the_broken_rule_are_three_findings(shared: Path) -> None:
    findings = {finding.code: finding for finding in of_case(shared, "B12", "crashed").findings}
    assert set(findings) == {"plugin-crash", "orphan-calls", "refused-by-dsh"}
    assert findings["orphan-calls"].seq == 8
    assert (findings["refused-by-dsh"].fields["rule"], findings["refused-by-dsh"].seq) == ("3", 12)
    assert not findings["plugin-crash"].attempts[0].was_sent


def test_a_killed_process_leaves_orphans_and_an_open_turn(shared: Path) -> None:
    assert codes(of_case(shared, "B12", "killed")) == [("orphan-calls", "warning"), ("open-turn", "warning")]
    assert codes(of_case(shared, "B12", "interrupted-empty")) == []


def test_half_characters_lead_to_the_first_event_that_holds_one(shared: Path) -> None:
    finding = only(of_case(shared, "B13"))
    assert (finding.code, finding.severity, finding.seq) == ("half-characters", "error", 10)


def test_a_list_of_deferred_tools_alone_is_not_taken_for_a_refused_change(shared: Path) -> None:
    for path in logs_below(shared / "bugs" / "cases" / "B03-all-deferred" / "home"):
        assert codes(examine(Reading.open(path).read_all())) == [("all-tools-deferred", "error")]


# -- built


@pytest.mark.parametrize(
    ("code", "status", "message", "cause"),
    [
        ("REQUEST_EXTENSION", None, "cannot read manifest.json of ops", "request-extension"),
        ("UNKNOWN", None, "plugin manifest is no JSON", "request-extension"),
        ("UNKNOWN", None, "x is not a function", "plugin-crash"),
        ("TOOL_ACTIVATION_FAILED", None, "condition of water failed", "plugin-crash"),
        ("AUTH", 401, "invalid x-api-key", "credentials"),
        ("MISSING_CREDENTIAL", None, "no key", "credentials"),
        ("QUOTA", 402, "Insufficient Balance", "quota"),
        ("RATE_LIMIT", 429, "slow down", "rate-limit"),
        ("CONTEXT_WINDOW_EXCEEDED", 400, "prompt is too long: 9 tokens", "context-overflow"),
        ("SERVER", 529, "tool_addition service overloaded", "provider-trouble"),
        ("NO_ADAPTER", None, "no provider", "not-configured"),
        ("HTTP_403", 403, "forbidden", "credentials"),
        ("payment_required", 402, "pay first", "quota"),
        ("HTTP_429", 429, "slow down", "rate-limit"),
        ("INVALID_REQUEST", 400, "maximum context length is 9 tokens", "context-overflow"),
        ("UNKNOWN", 503, "try later", "provider-trouble"),
        ("UNKNOWN", 404, "no such model", "request-refused"),
        ("INVALID_REQUEST", 400, "messages.3.content.0: unexpected block", "tool-update-rejected"),
        ("INVALID_REQUEST", 400, "messages[3].content[0] is bad", "tool-update-rejected"),
        ("HTTP_422", 422, "unknown variant tool_addition", "tool-update-rejected"),
        ("INVALID_REQUEST", 400, "cannot deserialize the body", "tool-update-suspected"),
    ],
)
def test_every_cause_of_a_failed_turn_has_its_own_name(
    tmp_path: Path, code: str, status: int | None, message: str, cause: str
) -> None:
    built = refused(grown(), message, code=code, status=status)
    assert only(examine(built.read(tmp_path))).code == cause


@pytest.mark.parametrize(
    ("message", "path", "leads_to"),
    [
        ("messages.0.content.0: image is too big", "messages.0.content.0", "user/message"),
        (
            "messages[1].content[0]: text content blocks must be non-empty",
            "messages.1.content.0",
            "assistant/message",
        ),
    ],
)
def test_a_path_to_a_prompt_or_an_answer_is_no_refused_change_and_leads_to_its_event(
    tmp_path: Path, message: str, path: str, leads_to: str
) -> None:
    made = refused(grown(), message).read(tmp_path)
    finding = only(examine(made))
    assert finding.code == "request-refused"
    assert finding.seq is not None
    assert made.log.event(finding.seq).type == leads_to
    assert finding.fields["path"] == path


def test_a_path_among_the_declarations_leads_to_the_header_and_names_the_tool(tmp_path: Path) -> None:
    built = log().turn().user("go").tools("peek", "water").answer("fine").end()
    made = refused(built.turn().step().user("more"), "tools.1.input_schema: bad schema").read(tmp_path)
    finding = only(examine(made))
    assert (finding.code, finding.fields["path"], finding.fields["tools"]) == (
        "request-refused",
        "tools.1",
        ("water",),
    )
    assert finding.seq is not None
    assert made.log.event(finding.seq).type == "request/header"


def test_a_path_beyond_the_request_leads_nowhere(tmp_path: Path) -> None:
    built = log().turn().user("go").tools("peek").answer("fine").end()
    finding = only(examine(refused(built.turn().step().user("b"), "messages.99: bad").read(tmp_path)))
    assert (finding.code, finding.fields["path"]) == ("request-refused", "")


def test_a_missing_key_is_told_as_never_sent(tmp_path: Path) -> None:
    built = refused(grown(), "no key", code="MISSING_CREDENTIAL", status=None)
    assert not only(examine(built.read(tmp_path))).attempts[0].was_sent


def test_a_change_that_is_accepted_later_was_not_what_was_refused(tmp_path: Path) -> None:
    built = refused(grown(), "no thanks").turn().step().user("again").answer("fine").end()
    finding = only(examine(built.read(tmp_path)))
    assert (finding.code, finding.severity) == ("request-refused", "warning")


def test_a_change_that_was_accepted_before_is_not_suspected(tmp_path: Path) -> None:
    built = grown().answer("fine").end()
    built = refused(built.turn().step().user("again"), "no thanks")
    assert only(examine(built.read(tmp_path))).code == "request-refused"


def test_failures_of_one_cause_with_an_answer_between_are_two_findings(tmp_path: Path) -> None:
    built = refused(log().turn().user("a").tools("peek"), "busy", code="SERVER", status=500)
    built.turn().step().user("b").answer("fine").end()
    built = refused(built.turn().step().user("c"), "busy", code="SERVER", status=500)
    assert codes(examine(built.read(tmp_path))) == [
        ("provider-trouble", "error"),
        ("provider-trouble", "warning"),
    ]


def test_a_fall_back_that_worked_is_no_finding_but_stands_in_the_chain(tmp_path: Path) -> None:
    built = grown()
    built.attempt(
        chunk(
            built.now,
            "finish",
            reason={
                "kind": "error",
                "failure": {"code": "INVALID_REQUEST", "status": 400, "message": "tool_addition"},
            },
        )
    )
    built.answer("fine")
    record = {"provider": "creek", "model": "minnow-2", "endpoint": "", "from": "addition-only", "to": "none"}
    built.event(TOOL_UPDATE_DOWNGRADE, record, ignorable=True).end()
    found = examine(built.read(tmp_path))
    assert found.findings == ()
    assert [turn.outcome for turn in found.chain] == ["completed"]
    assert found.chain[0].attempts[0].cause == "tool-update-rejected"
    assert found.versions.downgraded_seq == built.last - 2


def test_an_outcome_that_nobody_knows_is_told(tmp_path: Path) -> None:
    built = log().turn().user("go").tools("peek").answer(call("c1", "peek"))
    built.call("c1", "peek").result(
        "c1", "unknown", error="TOOL_OUTCOME_UNKNOWN", sourceEventSeqs=[built.last]
    )
    finding = only(examine(built.end("interrupted").read(tmp_path)))
    assert (finding.code, finding.fields["tools"]) == ("outcome-unknown", ("peek",))


def test_an_examination_can_be_made_in_slices(shared: Path) -> None:
    from tui.nodes.doctor import Examiner

    examiner = Examiner(reading_of("rejected-update"))
    steps = 1
    while not examiner.step(0):
        steps += 1
    assert steps > 20
    assert examiner.result() == examine(reading_of("rejected-update"))
