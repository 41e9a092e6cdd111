"""`doctor` and `recover` on the command line: what they say, what they end with, what they leave alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.contract import faults
from tests.support.exports import ORDERS, case_log, recording
from tests.support.finished import Done
from tests.support.log_builder import MODEL, PROVIDER, log
from tui.cli import main


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Any:
    def call(*arguments: str | Path) -> Done:
        status = main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Done(status, out.decode("utf-8"), err.decode("utf-8"))

    return call


def test_a_sound_session_ends_with_zero_one_sentence_and_its_versions(run: Any) -> None:
    done = run("doctor", recording("plain-chat"))
    assert (done.status, done.err) == (0, "")
    verdict, _, versions = done.out.partition("\n\n")
    assert verdict == "✓ Nothing is wrong with this session."
    assert versions.startswith("Versions, to paste into a report\n")
    assert run("--ascii", "doctor", recording("plain-chat")).out.isascii()


def test_a_stuck_session_ends_with_one_and_names_event_status_and_request(shared: Path, run: Any) -> None:
    done = run("doctor", case_log(shared, "B01"))
    assert done.status == 1
    assert "event 22" in done.out
    for said in ("HTTP 400", "req_invented_0001", "cool (kiln)", "Turn 4: failed", "answer means event 22"):
        assert said in done.out
    steps = ["Freeze", "Note the versions", "Verify", "Export", "Resume", "Keep the original"]
    places = [done.out.index(step) for step in steps]
    assert places == sorted(places)


def test_what_cannot_be_read_ends_with_two(tmp_path: Path, run: Any) -> None:
    path = tmp_path / "session.v4.jsonl"
    path.write_bytes(b"")
    for command in ("doctor", "recover"):
        done = run(command, path)
        assert (done.status, done.out) == (2, "")
        assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["plain-chat", "rejected-update", "retries"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_document_keeps_the_contract(name: str, lang: str, run: Any) -> None:
    done = run("--lang", lang, "doctor", recording(name), "--json")
    document = json.loads(done.out)
    assert faults(document, "doctor") == []
    assert done.status == (1 if document["findings"] else 0)


def test_the_document_names_the_record_and_the_chain(shared: Path, run: Any) -> None:
    document = json.loads(run("doctor", case_log(shared, "B01"), "--json").out)
    (finding,) = document["findings"]
    assert (finding["code"], finding["severity"], finding["seq"]) == ("tool-update-rejected", "error", 22)
    assert finding["turns"] == [2, 3, 4]
    assert [turn["turn"] for turn in document["chain"]] == [2, 3, 4]
    assert document["chain"][0]["requests"][0]["request_id"] == "req_invented_0001"


@pytest.mark.parametrize("case", ["B13", "B16", "B17"])
@pytest.mark.parametrize("command", [("doctor",), ("doctor", "--json"), ("recover",)])
def test_hostile_sessions_give_no_orders_to_the_terminal(
    shared: Path, case: str, command: tuple[str, ...], run: Any
) -> None:
    done = run(command[0], case_log(shared, case), *command[1:])
    assert ORDERS.search(done.out) is None


def test_a_fall_back_that_works_is_told_beside_the_verdict(tmp_path: Path, run: Any) -> None:
    built = log().turn().user("go").tools("peek").answer("fine")
    record = {"provider": PROVIDER, "model": MODEL, "endpoint": "", "from": "addition-only", "to": "none"}
    built.event("plugin:dsh-tui/tool-update-downgrade", record, ignorable=True).end()
    path = built.write(tmp_path)
    done = run("doctor", path)
    assert done.status == 0
    assert f"Since event {built.last - 2} its route is sent full definitions" in done.out
    assert json.loads(run("doctor", path, "--json").out)["route"]["downgraded_seq"] == built.last - 2


# -- recover


def test_the_draft_tells_what_was_wanted_done_and_left(shared: Path, run: Any) -> None:
    done = run("recover", case_log(shared, "B01"))
    assert done.status == 0
    headings = [line[3:] for line in done.out.splitlines() if line.startswith("## ")]
    assert headings[:7] == [
        "Goal",
        "Done",
        "Open",
        "Changed files and key paths",
        "Test state",
        "Side effects that must not be repeated",
        "The latest answer",
    ]
    left = done.out.split("## Open")[1].split("##")[0]
    assert all(asked in left for asked in ("Let it cool a little.", "Did that work?", "Hello?"))
    assert "How hot is the kiln?" not in left
    assert "It reads 412." in done.out.split("## Done")[1].split("##")[0]


def test_the_draft_has_chinese_headings(shared: Path, run: Any) -> None:
    done = run("--lang", "zh", "recover", case_log(shared, "B01"))
    assert "## 目标" in done.out
    assert "## 禁止重复的副作用" in done.out


def test_the_draft_goes_into_a_file_but_never_into_a_home(shared: Path, tmp_path: Path, run: Any) -> None:
    log = case_log(shared, "B01")
    before = log.read_bytes()
    assert run("recover", log, "-o", tmp_path / "draft.md").status == 0
    assert (tmp_path / "draft.md").read_text(encoding="utf-8").startswith("# Resume: ")
    done = run("recover", log, "-o", log.parent / "draft.md")
    assert done.status == 2
    assert not (log.parent / "draft.md").exists()
    assert log.read_bytes() == before


# -- going on from a draft


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_draft_names_its_original_to_whoever_starts_from_it(lang: str, shared: Path, run: Any) -> None:
    from tui.export.recovery import origin_of

    log = case_log(shared, "B01")
    drafted = run("--lang", lang, "recover", log).out
    header = json.loads(log.read_bytes().splitlines()[0])
    last = json.loads(log.read_bytes().splitlines()[-1])["seq"]
    assert origin_of(drafted) == (header["id"], last, False)
    assert origin_of("Moss first.") == ("", None, False)
