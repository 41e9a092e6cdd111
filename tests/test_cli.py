"""The command line: what it says, what it ends with, never a traceback (CONTRACT, "Commands")."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tui
from tests.support.contract import faults
from tests.support.exports import case_log, recording
from tests.support.finished import Done
from tui.cli import main
from tui.cli.arguments import WrongCall, parse
from tui.cli.grammar import COMMANDS, GLOBAL_OPTIONS

ROOT = Path(__file__).resolve().parent.parent
CHAT_AS_TEXT = ("--view", "chat", "--format", "text")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str | Path) -> Done:
        status = main([str(argument) for argument in arguments])
        return Done(status, *capsys.readouterr())

    return call


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A dsh home with three recordings."""
    home = tmp_path / "home"
    for name in ("plain-chat", "remove-and-restore", "many-tools-changed"):
        log = recording(name)
        header = json.loads(log.read_text(encoding="utf-8").splitlines()[0])
        folder = home / "sessions" / "--srv-demo-project--" / header["id"]
        folder.mkdir(parents=True)
        shutil.copy(log, folder)
    return home


def process(*arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tui", *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


# -- wrong calls


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("open", "`open` needs a SESSION"),
        ("export x --format json", "`export` needs `--view chat|trajectory|tools"),
        ("export x --view chat", "`export` needs `--format text|md|json|html|svg`"),
        ("opne x", "did you mean `open`?"),
        ("frobnicate", "there is no command `frobnicate`"),
        ("--frob", "there is no option `--frob`"),
        ("sessions --jsno", "did you mean `--json`?"),
        ("open x --view cht", "did you mean `chat`?"),
        ("open x --view moss", "`--view` cannot be `moss`, only one of: chat, trajectory, tools"),
        ("open x --at four", "`--at` needs the number of an event, not `four`"),
        ("open x --at -3", "`--at` needs the number of an event, not `-3`"),
        ("open x --view", "`--view` needs a value"),
        ("open x --view=", "`--view` cannot be ``"),
        ("--lang", "`--lang` needs a value"),
        ("--lang fr sessions", "`--lang` cannot be `fr`, only one of: en, zh"),
        ("sessions --json=yes", "`--json` takes no value"),
        ("sessions one", "`one` is one argument too many"),
        ("open one two", "`two` is one argument too many"),
        ("request one", "`request` needs a SESSION and a number N"),
        ("request one first", "`first` is no number of a request"),
        ("request one 2 3", "`3` is one argument too many"),
        ("request one 2 --mode all", "`--mode` cannot be `all`"),
        ("tools x --diff 3", "`--diff` needs two values: A B"),
        ("export x --view chat --format json -o", "`--output` needs a value"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_in_one_line_and_ends_with_64(
    run: Any, words: str, says: str
) -> None:
    done = run(*words.split(" "))
    assert (done.status, done.out) == (64, "")
    assert says in done.err
    assert done.err.count("\n") == 1 and done.err.startswith("dsh-tui: ")


def test_a_wrong_call_is_told_in_the_language_asked_for(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "需要" in run("open", "--lang", "zh").err
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "需要" in run("open").err
    assert "needs" in run("open", "--lang=en").err


# -- sessions that cannot be had


@pytest.mark.parametrize("command", [["open"], ["tools"], ["export", *CHAT_AS_TEXT]])
def test_a_session_that_is_not_there_ends_with_2_and_one_sentence(run: Any, command: list[str]) -> None:
    done = run(*command, "nosuch")
    assert (done.status, done.out) == (2, "")
    assert "nosuch" in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("session.v4.jsonl", b"", "empty"),
        ("session.v4.jsonl", b'{"type":"session","version":4,"id":"sess', "first line"),
        ("session.v5.jsonl", b'{"type":"session","version":5,"id":"s","createdAt":1}\n', "newer"),
        ("session.jsonl", b'{"type":"session","version":0,"id":"s","createdAt":1}\n', "old format"),
        ("letter.jsonl", b"dear all\n", "not a session"),
        ("session.v4.jsonl.zstd", b"\x28\xb5\x2f\xfd\x00", "cut off"),
        ("session.v4.jsonl", b"\xff\xfe\x00[[[[", "not a session"),
    ],
)
def test_a_file_that_is_no_session_ends_with_2_and_names_the_file(
    run: Any, tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for command in (["open"], ["tools"], ["export", *CHAT_AS_TEXT]):
        done = run(*command, path)
        assert (done.status, done.out) == (2, "")
        assert str(path) in done.err and done.err.count("\n") == 1
    assert says or done.err


def test_a_log_with_faults_opens_and_ends_with_0(run: Any, shared: Path) -> None:
    done = run("open", case_log(shared, "B08", "bad-middle"))
    assert (done.status, done.err) == (0, "")
    assert "! " in done.out


def test_a_fault_of_the_settings_file_is_one_sentence(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('lang = "fr"\n')
    done = run("sessions", "--config", path)
    assert done.status == 2
    assert str(path) in done.err and "line 1" in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('sent = "x"', "did you mean “send”"),
        ('copy = "q"', "both “copy” and “quit”"),
        ('send = "a"', "“a” of the action “send” could no longer be typed"),
    ],
)
def test_a_keymap_that_cannot_be_used_is_one_sentence_with_its_line(
    run: Any, tmp_path: Path, entry: str, told: str
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"[keys]\n{entry}\n")
    done = run("sessions", "--config", path)
    assert done.status == 2 and done.err.count("\n") == 1
    assert str(path) in done.err and "line 2" in done.err and told.lower() in done.err.lower()


def test_an_ambiguous_prefix_lists_the_candidates(run: Any, home: Path) -> None:
    done = run("open", "session-", "--dsh-home", home)
    assert done.status == 2 and done.err.count("session-") >= 3 and done.err.count("\n") == 1


def test_interrupting_ends_with_130(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tui.cli.session_reading.Reading.open", interrupt)
    assert run("open", recording("plain-chat")).status == 130


# -- global options


@pytest.mark.parametrize("before", [True, False])
def test_global_options_stand_before_or_after_the_command(before: bool) -> None:
    options = ["--lang", "zh", "--dsh-home=/x", "--no-color", "--ascii", "--plain", "--config", "c.toml"]
    call = parse([*options, "open", "s"] if before else ["open", "s", *options])
    assert (call.lang, call.dsh_home, call.config) == ("zh", "/x", "c.toml")
    assert call.no_color and call.ascii and call.plain
    assert call.command is not None and call.options == {"session": "s"}


def test_a_session_that_begins_with_a_dash_stands_after_two_dashes() -> None:
    assert parse(["open", "--view", "chat", "--", "-x"]).options == {"view": "chat", "session": "-x"}
    with pytest.raises(WrongCall):
        parse(["open", "-x"])


def test_the_version_comes_whatever_else_is_said(run: Any) -> None:
    for words in (["--version"], ["open", "--version"], ["--lang", "zh", "--version", "export"]):
        done = run(*words)
        assert (done.status, done.out, done.err) == (0, f"dsh-tui {tui.__version__}\n", "")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_lists_every_command_and_option_and_only_those(run: Any, lang: str) -> None:
    done = run("-h", "--lang", lang)
    assert done.status == 0
    entries = [line for line in done.out.splitlines() if line.startswith("  ") and line[2] != " "]
    listed = {line.split()[0] for line in entries}
    flags = {", ".join(option.flags).split()[0] for option in GLOBAL_OPTIONS}
    assert listed == {entry.name for entry in COMMANDS} | flags
    for later in ("--follow",):
        assert later not in done.out
    assert ("Usage" in done.out) == (lang == "en")


@pytest.mark.parametrize("name", [entry.name for entry in COMMANDS])
def test_each_command_has_a_help_in_both_languages(run: Any, name: str) -> None:
    english, chinese = run(name, "--help"), run("--lang", "zh", name, "-h")
    assert (english.status, chinese.status) == (0, 0)
    assert f"dsh-tui {name}" in english.out and f"dsh-tui {name}" in chinese.out
    assert english.out != chinese.out
    from tui.blocks.cells import cell_len

    assert all(
        cell_len(line) <= 100
        for line in (english.out + chinese.out).splitlines()
        if not line.startswith(("Usage", "用法"))
    )


# -- without a terminal


def test_the_bare_program_without_a_terminal_lists_the_sessions(run: Any, home: Path) -> None:
    assert run("--dsh-home", home).out == run("sessions", "--dsh-home", home).out


def test_without_any_session_the_demo_is_pointed_at(run: Any) -> None:
    done = run()
    assert done.status == 0 and "dsh-tui demo" in done.out


def test_open_without_a_terminal_prints_the_linear_form(run: Any) -> None:
    path = recording("many-tools-changed")
    assert run("open", path).out == run("export", path, *CHAT_AS_TEXT).out
    trajectory = run("export", path, "--view", "trajectory", "--format", "text").out
    assert run("open", path, "--view", "trajectory").out == trajectory


def test_open_at_an_event_begins_there_and_says_so(run: Any) -> None:
    path = recording("many-tools-changed")
    for words in ([f"{path}@28"], [path, "--at", "28"]):
        out = run("open", *words).out
        assert out.startswith("From event 28 on")
        assert "[28] " in out and "[26] " not in out


def test_without_a_terminal_nothing_waits_and_no_colour_is_written(home: Path) -> None:
    for words in (["open", recording("plain-chat")], ["demo"], ["--dsh-home", home]):
        done = process(*words)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"\x1b" not in done.stdout


def test_a_locale_without_chinese_characters_ends_no_command() -> None:
    done = process(
        "open",
        recording("plain-chat"),
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
        PYTHONIOENCODING="ascii",
    )
    assert (done.returncode, done.stderr) == (0, b"")
    exported = process("export", recording("plain-chat"), *CHAT_AS_TEXT, PYTHONIOENCODING="ascii")
    assert "羊歯" in exported.stdout.decode("utf-8")


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [
        sys.executable,
        "-m",
        "tui",
        "export",
        str(recording("tool-use")),
        "--view",
        "trajectory",
        "--format",
    ]
    for form in ("json", "text", "html"):
        child = subprocess.Popen(
            [*command, form],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        assert child.stdout is not None and child.stderr is not None
        child.stdout.read(10)
        child.stdout.close()
        assert child.wait(30) == 0
        assert child.stderr.read() == b""
        child.stderr.close()


def test_a_missing_standard_error_ends_no_command() -> None:
    done = subprocess.run(
        f"{sys.executable} -m tui open nosuch 2>&-", shell=True, cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 2


# -- sessions


def test_sessions_as_json_keep_the_contract(run: Any, home: Path) -> None:
    document = json.loads(run("sessions", "--json", "--dsh-home", home).out)
    assert faults(document, "sessions") == []
    rows = {row["title"]: row for row in document["sessions"]}
    assert len(document["sessions"]) == 3
    changed = rows["Open vent v1 and mist"]
    assert (changed["state"], changed["store"], changed["tool_changes"]) == ("ok", "dsh", 6)
    assert changed["models"] == ["deepseek-flash"]
    assert changed["bytes"] == recording("remove-and-restore").stat().st_size


def test_sessions_as_a_table_tell_title_folder_and_state(run: Any, home: Path) -> None:
    lines = run("sessions", "--dsh-home", home).out.splitlines()
    assert len(lines) == 4
    (line,) = [line for line in lines if "Open vent v1" in line]
    for told in (
        "/srv/demo/project",
        "129",
        "deepseek-flash",
        "ok",
        "session-1134eb227e1a4ce59c71045125fbae90",
    ):
        assert told in line


def test_children_stand_below_their_parent(run: Any, shared: Path) -> None:
    home = shared / "recordings" / "subagent-plan-todo"
    lines = run("sessions", "--dsh-home", home).out.splitlines()[1:]
    assert [line.startswith("  ") for line in lines] == [False, True, True, True]
    rows = json.loads(run("sessions", "--json", "--dsh-home", home).out)["sessions"]
    assert [row.get("parent") for row in rows] == [None, *[rows[0]["id"]] * 3]


def test_every_folder_of_a_spoiled_home_is_a_row_with_its_reason(run: Any, shared: Path) -> None:
    case = shared / "bugs" / "cases" / "B09-session-list"
    expected = json.loads((case / "expected-rows.json").read_text(encoding="utf-8"))
    document = json.loads(run("sessions", "--json", "--dsh-home", case / "home").out)
    assert faults(document, "sessions") == []
    rows = document["sessions"]
    assert len(rows) == expected["rows"]
    assert sum("parent" in row for row in rows) == expected["children"]
    states = sorted((row["state"], row.get("reason", "")) for row in rows)
    assert states == [
        ("damaged", "header-frame"),
        ("empty", "empty-file"),
        ("empty", "no-events"),
        ("empty", "no-log"),
        *[("ok", "")] * 4,
        ("unreadable", "no-header"),
    ]
    table = run("sessions", "--dsh-home", case / "home").out
    assert "no folder" in table and ".tmp" not in table
    assert "dsh refuses it" in table
    assert len(table.splitlines()) == expected["rows"] + 1


# -- tools


def test_the_inventory_tells_state_and_since_when(run: Any) -> None:
    out = run("tools", recording("remove-and-restore")).out
    rows = {line.split()[1 if line[0] != " " else 0]: line for line in out.splitlines()[1:]}
    assert "since 39, restored" in rows["mcp__saltmarsh__mist_bed"]
    assert "since 56, restored, redefined" in rows["mcp__saltmarsh__open_vent"]
    assert "from the start" in rows["mcp__saltmarsh__read_gauge"]


def test_the_inventory_at_an_event_knows_nothing_of_later_ones(run: Any) -> None:
    path = recording("remove-and-restore")
    document = json.loads(run("tools", f"{path}@30", "--json").out)
    tools = {tool["name"].rpartition("__")[2]: tool for tool in document["tools"]}
    assert (document["at"], set(tools)) == (30, {"mist_bed", "open_vent", "read_gauge"})
    assert (tools["mist_bed"]["state"], tools["mist_bed"]["since_seq"]) == ("removed", 28)
    assert (tools["read_gauge"]["state"], tools["read_gauge"]["initial"]) == ("active", True)
    assert "open_vent" in run("tools", path, "--at", "10").out
    assert run("tools", path, "--at", "0").out.startswith("At event 0 no tools were declared yet")


def test_tools_as_json_keep_the_contract_of_their_view(run: Any) -> None:
    path = recording("remove-and-restore")
    document = json.loads(run("tools", path, "--json").out)
    assert faults(document, "tools") == []
    exported = json.loads(run("export", path, "--view", "tools", "--format", "json").out)
    assert {key: document[key] for key in exported} == exported


# -- files


def test_export_writes_a_file_and_says_nothing(run: Any, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    done = run("export", recording("plain-chat"), "--view", "chat", "--format", "html", "-o", target)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_export_writes_nothing_into_a_home_or_over_a_log(run: Any, home: Path) -> None:
    (log,) = home.glob("sessions/*/session-1134*/session.v4.jsonl")
    before = log.read_bytes()
    for target in (log, log.parent / "x.json", home / "x.json"):
        done = run("export", log, "--dsh-home", home, "--view", "chat", "--format", "json", "-o", target)
        assert done.status == 2 and str(target) in done.err
    assert log.read_bytes() == before
    assert not list(home.rglob("x.json"))


def test_export_into_a_folder_that_is_not_there_is_one_sentence(run: Any, tmp_path: Path) -> None:
    target = tmp_path / "no" / "out.md"
    done = run("export", recording("plain-chat"), "--view", "chat", "--format", "md", "-o", target)
    assert done.status == 2 and done.err == f"{target}: there is no folder {target.parent}.\n"


# -- a terminal


def test_on_a_terminal_open_and_the_bare_program_open_the_app(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import types

    opened: list[Any] = []
    app = types.SimpleNamespace(
        open_session=lambda path, **given: opened.append((path, given)) or 0,
        open_library=lambda homes, **given: opened.append((homes, given)) or 0,
    )
    monkeypatch.setitem(sys.modules, "tui.app.run", app)
    monkeypatch.setattr("tui.cli.run.is_terminal", lambda stream: True)
    path = recording("plain-chat")
    assert run("open", f"{path}@5", "--view", "trajectory", "--ascii", "--lang", "zh").status == 0
    assert run("--dsh-home", "/somewhere").status == 0
    (opened_path, given), (homes, library) = opened
    assert (opened_path, given["view"], given["at"]) == (path, "trajectory", 5)
    assert (given["settings"].lang, given["settings"].ascii) == ("zh", True)
    assert callable(library["demo"]) and str(homes.dsh) == "/somewhere"
    assert "[5]" in run("open", path, "--plain").out and len(opened) == 2


def test_a_dumb_terminal_gets_the_linear_form(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.cli.run.is_terminal", lambda stream: True)
    monkeypatch.setenv("TERM", "dumb")
    assert "== Turn 1" in run("open", recording("plain-chat")).out


def test_a_word_that_was_meant_stands_alone(run: Any) -> None:
    done = run("opne", "x")
    assert (done.status, done.err) == (64, "dsh-tui: `opne` is not known; did you mean `open`?\n")


def test_an_empty_session_is_none(run: Any) -> None:
    done = run("open", "")
    assert done.status == 64 and "needs a SESSION" in done.err


@pytest.mark.parametrize("command", ["open", "tools"])
def test_an_event_beyond_the_end_is_not_made_up(run: Any, command: str) -> None:
    done = run(command, recording("many-tools-changed"), "--at", "999")
    assert done.status == 0
    assert done.err == "There is no event 999; the last one is 49.\n"
    assert "999" not in done.out
