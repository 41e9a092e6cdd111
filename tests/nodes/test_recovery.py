"""The draft of a summary: goal, done, open, files, tests and side effects, from the log alone."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from tests.support.log_builder import LogBuilder, call, log
from tests.support.nodes import reading_of
from tui.export.recovery import bare_title, origin_of, recovery_text
from tui.i18n import translator
from tui.nodes.recovery import draft
from tui.nodes.recovery_excerpt import EXCERPT, excerpt


def ran(
    built: LogBuilder, call_id: str, name: str, arguments: dict[str, object], *, error: str = ""
) -> LogBuilder:
    text = json.dumps(arguments)
    built.answer(call(call_id, name, text)).call(call_id, name, text)
    return built.result(call_id, "done", error=error, sourceEventSeqs=[built.last]).step()


def worked() -> LogBuilder:
    return log().turn().user("Label the moss.").tools("peek")


def test_the_goal_is_the_first_prompt_and_the_latest(tmp_path: Path) -> None:
    built = worked().answer("fine").end().turn().step().user("And the ferns.").answer("ok").end()
    found = draft(built.read(tmp_path))
    assert [item.text for item in found.goal] == ["Label the moss.", "And the ferns."]
    assert [(item.text, item.note) for item in found.done] == [
        ("Label the moss.", "fine"),
        ("And the ferns.", "ok"),
    ]
    assert found.open == ()
    assert found.answer is not None
    assert found.answer.text == "ok"


def test_an_objective_that_is_not_complete_is_the_goal(tmp_path: Path) -> None:
    built = worked()
    built.event(
        "goal/change", {"operation": "create", "goal": {"objective": "label all pots", "phase": "active"}}
    )
    found = draft(built.answer("fine").end().read(tmp_path))
    assert found.goal[0].text == "label all pots"


def test_to_do_items_are_done_or_open_as_the_last_list_says(tmp_path: Path) -> None:
    built = worked()
    for states in (("pending", "pending"), ("completed", "in_progress")):
        todos = [
            {"content": name, "status": state} for name, state in zip(("moss", "fern"), states, strict=True)
        ]
        built.event("todo/write", {"todos": todos})
    found = draft(built.answer("fine").end().read(tmp_path))
    assert [item.text for item in found.done][:1] == ["moss"]
    assert [(item.text, item.note) for item in found.open] == [("fern", "in_progress")]


def test_prompts_of_failed_turns_and_waiting_ones_are_open(tmp_path: Path) -> None:
    built = worked().fail("INVALID_REQUEST", "no").queue("Still there?")
    found = draft(built.read(tmp_path))
    assert [(item.text, item.note) for item in found.open] == [
        ("Label the moss.", "error"),
        ("Still there?", "queued"),
    ]


def test_a_prompt_that_was_taken_from_the_queue_waits_no_more(tmp_path: Path) -> None:
    built = log().queue("Label the moss.")
    waiting = json.loads(built.lines[-1])["data"]["inserted"][0]
    built.turn().claim().surface("user/message", waiting).tools("peek").answer("fine").end()
    assert draft(built.read(tmp_path)).open == ()


def test_files_are_known_by_the_calls_that_named_them(tmp_path: Path) -> None:
    built = worked()
    ran(built, "c1", "read_file", {"path": "pots.txt"})
    ran(built, "c2", "read_file", {"path": "notes.md"})
    ran(built, "c3", "edit_file", {"file_path": "pots.txt", "text": "wet"})
    ran(built, "c4", "write_file", {"path": "fern.txt"}, error="NO_SPACE")
    found = draft(built.answer("done").end().read(tmp_path))
    assert [(use.path, use.changed, use.calls) for use in found.files] == [
        ("pots.txt", True, 2),
        ("fern.txt", False, 1),
        ("notes.md", False, 1),
    ]


def test_calls_that_only_read_are_no_side_effects(tmp_path: Path) -> None:
    built = worked()
    ran(built, "c1", "mcp__kiln__read_dial", {"dial": "main"})
    ran(built, "c2", "mcp__kiln__fire", {"minutes": 3})
    ran(built, "c3", "mcp__kiln__fire", {"minutes": 3})
    ran(built, "c4", "send_mail", {"to": "ana"}, error="TOOL_OUTCOME_UNKNOWN")
    found = draft(built.answer("done").end().read(tmp_path))
    assert [(effect.tool, effect.calls, effect.outcome) for effect in found.effects] == [
        ("mcp__kiln__fire", 2, "done"),
        ("send_mail", 1, "unknown"),
    ]


def test_a_call_that_ran_when_the_process_ended_has_no_known_outcome(tmp_path: Path) -> None:
    built = worked().answer(call("c1", "fire", "{}")).call("c1", "fire")
    (effect,) = draft(built.read(tmp_path)).effects
    assert (effect.tool, effect.outcome) == ("fire", "unknown")


def test_test_runs_are_told_apart_with_their_latest_outcome(tmp_path: Path) -> None:
    built = worked()
    ran(built, "c1", "bash", {"command": "python -m pytest -q"})
    ran(built, "c2", "bash", {"command": "python -m pytest -q"}, error="EXIT_1")
    ran(built, "c3", "bash", {"command": "rm -r build"})
    found = draft(built.answer("done").end().read(tmp_path))
    assert [(run.tool, run.outcome, run.calls) for run in found.tests] == [("bash", "failed", 2)]
    assert [effect.arguments for effect in found.effects] == ['{"command": "rm -r build"}']


def test_what_looks_like_a_secret_is_masked_everywhere(tmp_path: Path) -> None:
    key = "sk" + "-" + "moss0fern1lichen2bed3"
    built = log().turn().user(f"Use {key} for the moss.").tools("peek")
    built.event("todo/write", {"todos": [{"content": f"try {key}", "status": "pending"}]})
    ran(built, "c1", "bash", {"command": f"curl -H 'x-key: {key}' https://ana:wetmoss@example.org"})
    found = draft(built.answer(f"{'x' * 4_790} {key}").end().read(tmp_path))
    assert found.goal and found.open and found.effects and found.answer is not None
    for text in (str(found), recovery_text(found, translator("en"))):
        assert key not in text and key[3:] not in text and "wetmoss" not in text


def test_more_side_effects_than_are_listed_are_counted(tmp_path: Path) -> None:
    built = worked()
    for number in range(203):
        ran(built, f"c{number}", "sow", {"bed": number})
    found = draft(built.answer("done").end().read(tmp_path))
    assert (len(found.effects), found.older_effects) == (200, 3)
    assert found.effects[-1].arguments == '{"bed": 202}'
    assert "3 older calls are not listed here" in recovery_text(found, translator("en"))


def test_the_title_is_the_originals_without_what_an_earlier_summary_put_before_it() -> None:
    for title in ("Moss", "Resume: Moss", "检查点：Moss", "# Resume: 继续：Moss"):
        assert bare_title(title) == "Moss"
    found = msgspec.structs.replace(draft(reading_of("tool-use")), title="继续：Moss")
    assert recovery_text(found, translator("en")).startswith("# Resume: Moss\n")
    made = recovery_text(found, translator("zh"), checkpoint=True)
    assert made.startswith("# 检查点：Moss\n")
    assert origin_of(made) == (found.session, found.last_seq, True)


def test_what_a_compaction_kept_is_in_the_draft(shared: Path) -> None:
    from tests.support.exports import logs_below
    from tui.nodes.reading import Reading

    path = logs_below(shared / "recordings" / "compaction" / "sessions")[0]
    summary = draft(Reading.open(path).read_all()).summary
    assert summary is not None
    assert summary.text


def test_every_recording_gives_a_draft() -> None:
    for name in ("plain-chat", "tool-use", "cancel", "rejected-update", "retries", "remove-and-restore"):
        found = draft(reading_of(name))
        assert found.goal
        assert found.last_seq > 0


def test_an_excerpt_is_what_was_said_and_found_last_within_its_bound(tmp_path: Path) -> None:
    key = "sk" + "-" + "moss0fern1lichen2bed3"
    built = log().turn().user("Label the moss.").tools("peek")
    for number in range(60):
        ran(built, f"c{number}", "look", {"bed": number})
        built.answer(f"bed {number} {'wet ' * 400} {key}").step()
    told = excerpt(built.answer("All looked at.").end().read(tmp_path))
    assert len(told) <= EXCERPT
    first, *_, last = told.splitlines()
    assert first.endswith("Label the moss.") and last.endswith("All looked at.")
    assert "bed 59" in told and "bed 0 wet" not in told and 'look {"bed": 59}' in told
    assert key not in told and "[masked]" in told


def test_an_excerpt_of_nothing_is_empty(tmp_path: Path) -> None:
    assert excerpt(log().read(tmp_path)) == ""
