"""Tools that are external commands: the file, its changes and real processes (CONTRACT, command tools)."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_shore import Shore, entry, gone, python, written
from tests.support.tool_calls import GNAT, MINNOW, USER, FakeTool, outcome, resolved, told
from tui.session.cancel import CancelSignal
from tui.tools import command_process
from tui.tools.approval import AllowAlways
from tui.tools.command_tools import CommandTools, ToolFileReport


@pytest.fixture
def shore(tmp_path: Path) -> Shore:
    return Shore(tmp_path)


# --- calls -------------------------------------------------------------------------------------------


async def test_a_command_gets_the_arguments_as_json_in_the_workspace_and_its_stdout_is_the_result(
    shore: Shore,
) -> None:
    code = "import sys, os, json; print(os.getcwd(), json.load(sys.stdin))"
    shore.write(entry("cast", *python(code)))
    result = await shore.call(arguments={"far": 3, "鱼": "潮"})
    assert (outcome(result), told(result)) == ("ok", f"{shore.folder} {{'far': 3, '鱼': '潮'}}\n")


async def test_a_command_is_looked_for_in_the_workspace_when_it_is_a_path(shore: Shore) -> None:
    script = shore.folder / "cast.sh"
    script.write_text("#!/bin/sh\necho here\n", encoding="utf-8")
    script.chmod(0o755)
    shore.write(entry("cast", "./cast.sh"))
    assert told(await shore.call()) == "here\n"


async def test_output_is_kept_as_it_is(shore: Shore) -> None:
    shore.write(entry("cast", "printf", "\\033[31mred\\007\\377 \\n\\n"))
    assert told(await shore.call()) == "\x1b[31mred\x07\ufffd \n\n"


async def test_a_non_zero_exit_is_an_error_with_stderr(shore: Shore) -> None:
    shore.write(entry("cast", "sh", "-c", "echo out; echo no bait >&2; exit 3"))
    result = await shore.call()
    assert told(result) == "Error: the command exited with status 3\nno bait\n"
    assert result.error == {"name": "CommandError", "code": "COMMAND_FAILED"}


async def test_a_command_that_a_signal_ended_says_so(shore: Shore) -> None:
    shore.write(entry("cast", "sh", "-c", "kill -9 $$"))
    assert told(await shore.call()) == "Error: the command was ended by signal 9"


async def test_a_command_that_is_not_there_is_an_error(shore: Shore) -> None:
    shore.write(entry("cast", "no-such-program-anywhere"))
    result = await shore.call()
    assert outcome(result) == "COMMAND_NOT_STARTED"
    assert told(result) == 'Error: cannot run "no-such-program-anywhere": No such file or directory'


async def test_a_command_that_reads_nothing_is_no_error(shore: Shore) -> None:
    shore.write(entry("cast", "true"))
    result = await shore.call(arguments={"far": 1, "long": "x" * 1_000_000})
    assert (outcome(result), result.content) == ("ok", [])


async def test_much_output_is_kept_at_both_ends_and_the_gap_is_told(shore: Shore) -> None:
    code = "import sys; sys.stdout.write('first ' + '潮' * 1_000_000 + ' last')"
    shore.write(entry("cast", *python(code)))
    text = told(await shore.call())
    assert text.startswith("first 潮")
    assert text.endswith("潮 last")
    assert "\ufffd" not in text
    kept = command_process.KEPT_BYTES
    whole = 3_000_000 + len("first ") + len(" last")
    assert f"\n[… {whole - kept} bytes left out …]\n" in text
    assert len(text.encode()) < kept + 100


async def test_arguments_outside_the_schema_start_nothing_and_ask_nobody(shore: Shore) -> None:
    shore.write(entry())
    result = await shore.call(arguments={"far": "x"})
    assert told(result) == 'Error: invalid arguments: "far" must be a number'
    assert shore.user.asked == []


async def test_a_schema_beyond_the_subset_is_the_commands_own_affair(shore: Shore) -> None:
    shore.write(entry(parameters={"type": "object", "patternProperties": {}}))
    assert outcome(await shore.call(arguments={"far": "x"})) == "ok"
    assert outcome(await shore.call(arguments="no object")) == "INVALID_ARGS"


async def test_the_user_is_shown_the_whole_command_and_its_arguments(shore: Shore) -> None:
    shore.write(entry("cast", "cat", "-u"))
    await shore.call(arguments={"far": 1})
    (asked,) = shore.user.asked
    assert (asked.tool_name, asked.command, asked.arguments) == ("cast", ("cat", "-u"), {"far": 1})


async def test_always_does_not_outlive_a_change_of_the_command(tmp_path: Path) -> None:
    shore = Shore(tmp_path, answer=AllowAlways())
    shore.write(entry("cast", "cat"))
    await shore.call()
    await shore.call(arguments={"far": 2})
    assert len(shore.user.asked) == 1
    shore.write(entry("cast", "cat", "-u"))
    await shore.call()
    assert len(shore.user.asked) == 2


async def test_withheld_names_are_not_in_the_environment_of_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREEK_KEY", "the key")
    monkeypatch.setenv("CREEK_BOAT", "the boat")
    shore = Shore(tmp_path, withheld=["CREEK_KEY"])
    shore.write(entry("cast", "sh", "-c", 'echo "$CREEK_KEY/$CREEK_BOAT"'))
    assert told(await shore.call()) == "/the boat\n"


def pid_writer(shore: Shore, then: str) -> list[str]:
    return ["sh", "-c", f"sleep 600 & echo $$ $! > {shore.folder}/pids; {then}"]


async def pids(shore: Shore) -> list[int]:
    return [int(pid) for pid in (await written(shore.folder / "pids")).split()]


async def test_time_that_is_up_ends_the_whole_process_group(shore: Shore) -> None:
    shore.write(entry("cast", *pid_writer(shore, "echo so far; wait"), timeout_ms=1000))
    result = await shore.call()
    assert told(result) == 'Error: tool "cast" timed out after 1000 ms\nso far\n'
    assert outcome(result) == "TIMEOUT"
    for pid in await pids(shore):
        await gone(pid)


async def test_a_cancel_ends_the_whole_process_group_and_the_call_is_aborted(shore: Shore) -> None:
    shore.write(entry("cast", *pid_writer(shore, "wait")))
    signal = CancelSignal()
    running = asyncio.create_task(shore.call(signal=signal))
    started = await pids(shore)
    signal.cancel(USER)
    assert outcome(await running) == "ABORTED"
    for pid in started:
        await gone(pid)


async def test_a_command_that_does_not_listen_is_ended_all_the_same(
    shore: Shore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_process, "GRACE_SECONDS", 0.05)
    deaf = ["sh", "-c", f"trap '' TERM; echo $$ > {shore.folder}/pids; while :; do sleep 1; done"]
    shore.write(entry("cast", *deaf))
    signal = CancelSignal()
    running = asyncio.create_task(shore.call(signal=signal))
    started = await pids(shore)
    signal.cancel(USER)
    assert outcome(await running) == "ABORTED"
    for pid in started:
        await gone(pid)


async def test_a_command_may_tidy_up_when_it_is_cancelled(shore: Shore) -> None:
    tidy = f"trap 'echo tidy > {shore.folder}/tidy; exit 0' TERM"
    shore.write(entry("cast", "sh", "-c", f"{tidy}; echo $$ > {shore.folder}/pids; sleep 600 & wait"))
    signal = CancelSignal()
    running = asyncio.create_task(shore.call(signal=signal))
    await pids(shore)
    signal.cancel(USER)
    await running
    assert (shore.folder / "tidy").read_text(encoding="utf-8") == "tidy\n"


async def test_what_a_command_leaves_behind_does_not_hold_its_result_and_is_ended(
    shore: Shore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_process, "LAST_WORDS_SECONDS", 0.05)
    shore.write(entry("cast", *pid_writer(shore, "echo done")))
    assert told(await shore.call()) == "done\n"
    for pid in await pids(shore):
        await gone(pid)


async def test_a_call_whose_task_is_cancelled_leaves_no_process_behind(shore: Shore) -> None:
    shore.write(entry("cast", *pid_writer(shore, "wait")))
    running = asyncio.create_task(shore.call())
    started = await pids(shore)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    for pid in started:
        await gone(pid)


async def test_a_call_that_is_cancelled_while_its_command_starts_leaves_no_process_behind(
    shore: Shore,
) -> None:
    running = asyncio.create_task(
        command_process.run_command(
            pid_writer(shore, "wait"), cwd=shore.folder, stdin=b"", signal=CancelSignal(), environ=os.environ
        )
    )
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    file = shore.folder / "pids"
    # The loop stands still meanwhile: the command runs, and its start is not heard of.
    deadline = time.monotonic() + 10
    while not (file.exists() and file.read_text(encoding="utf-8").endswith("\n")):
        assert time.monotonic() < deadline
        os.sched_yield()
    running.cancel()
    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await running
        for pid in await pids(shore):
            await gone(pid)


async def test_a_command_that_is_stopped_by_job_control_still_ends_with_its_time(
    shore: Shore, monkeypatch: pytest.MonkeyPatch
) -> None:
    shore.write(entry("cast", "sh", "-c", "kill -STOP $$; echo never", timeout_ms=200))
    monkeypatch.setattr(command_process, "GRACE_SECONDS", 0.05)
    assert outcome(await shore.call()) == "TIMEOUT"


# --- conditions ---------------------------------------------------------------------------------------


async def test_a_condition_on_the_model_holds_for_its_models_only(shore: Shore) -> None:
    shore.write(entry("cast", when={"model": ["minnow-2", "pike"]}), entry("tide"))
    assert await shore.names(selection=MINNOW) == ("cast", "tide")
    assert await shore.names(selection=GNAT) == ("tide",)


async def test_a_condition_on_a_file_follows_the_workspace(shore: Shore) -> None:
    shore.write(entry("cast", when={"file": "boats/net"}))
    assert await shore.names() == ()
    (shore.folder / "boats").mkdir()
    (shore.folder / "boats" / "net").touch()
    assert await shore.names() == ("cast",)


async def test_all_conditions_must_hold(shore: Shore) -> None:
    (shore.folder / "net").touch()
    shore.write(entry("cast", when={"model": ["gnat-1"], "file": "net"}))
    assert await shore.names(selection=GNAT) == ("cast",)
    assert await shore.names(selection=MINNOW) == ()


async def test_a_deferred_tool_is_declared_deferred(shore: Shore) -> None:
    shore.write(entry("cast", defer=True))
    (declaration,) = (await resolved(shore.registry)).declarations
    assert declaration.defer_loading
    assert declaration.to_json()["deferLoading"] is True


async def test_only_an_entry_that_says_so_is_read_only_and_one_that_comes_to_say_so_too(shore: Shore) -> None:
    def readers() -> set[str]:
        shore.tools.refresh()
        tools = [shore.registry.executable(name) for name in ("cast", "peer")]
        return {tool.name for tool in tools if tool is not None and tool.read_only}

    shore.write(entry("cast"), entry("peer", read_only=True))
    assert readers() == {"peer"}
    shore.write(entry("cast", read_only=True), entry("peer"))
    assert readers() == {"cast"}


# --- the file -----------------------------------------------------------------------------------------


async def test_what_changes_in_the_file_is_there_at_the_next_step(shore: Shore) -> None:
    shore.write(entry("cast"), entry("tide"))
    assert await shore.names() == ("cast", "tide")
    shore.write(entry("tide"), entry("reel"))
    assert await shore.names() == ("reel", "tide")
    assert shore.reports[-1] == ToolFileReport(shore.file, None, ("reel",), ("cast",), ())


async def test_a_change_right_after_a_look_with_the_same_size_is_seen(shore: Shore) -> None:
    for number in range(10):
        shore.write(entry(f"cast{number}"))
        assert await shore.names() == (f"cast{number}",)


async def test_only_what_differs_is_registered_anew(shore: Shore) -> None:
    shore.write(entry("kept"), entry("slower"), entry("other"))
    tool_set = await resolved(shore.registry)
    shore.write(entry("other", "cat", "-u"), entry("kept"), entry("slower", timeout_ms=5))
    shore.tools.refresh()
    states = {name: shore.registry.executable(name, None, tool_set) is not None for name in tool_set.names}
    assert states == {"kept": True, "other": False, "slower": False}
    assert shore.reports[-1].replaced == ("slower", "other")


async def test_a_file_that_says_the_same_in_other_words_changes_nothing(shore: Shore) -> None:
    heard: list[Any] = []
    shore.write(entry("cast"))
    tool_set = await resolved(shore.registry)
    shore.registry.subscribe(heard.append)
    shore.file.write_text(json.dumps({"tools": [entry("cast")]}, indent=3), encoding="utf-8")
    shore.tools.refresh()
    assert shore.registry.executable("cast", None, tool_set) is not None
    assert heard == []


async def test_a_file_that_cannot_be_read_keeps_the_tools_of_before_and_says_why_once(shore: Shore) -> None:
    shore.write(entry("cast"))
    tool_set = await resolved(shore.registry)
    shore.file.write_text('{"tools": [', encoding="utf-8")
    for _ in range(3):
        assert await shore.names() == ("cast",)
    assert shore.registry.executable("cast", None, tool_set) is not None
    (fault,) = [report.fault for report in shore.reports if report.fault is not None]
    assert (fault.code, fault.path) == ("bad-json", shore.file)


async def test_a_file_that_is_gone_keeps_the_tools_of_before_until_it_is_back(shore: Shore) -> None:
    shore.write(entry("cast"))
    await shore.names()
    content = shore.file.read_bytes()
    shore.file.unlink()
    assert await shore.names() == ("cast",)
    assert shore.tools.report.fault is not None
    assert shore.tools.report.fault.code == "missing"
    shore.file.write_bytes(content)
    assert await shore.names() == ("cast",)
    assert shore.tools.report.fault is None


@pytest.mark.parametrize(("optional", "codes"), [(True, []), (False, ["missing"])])
async def test_a_file_that_was_never_there_is_told_if_it_was_asked_for(
    tmp_path: Path, optional: bool, codes: list[str]
) -> None:
    shore = Shore(tmp_path, optional=optional)
    assert await shore.names() == ()
    assert await shore.names() == ()
    assert [report.fault.code for report in shore.reports if report.fault is not None] == codes
    shore.write(entry("cast"))
    assert await shore.names() == ("cast",)


async def test_a_pipe_is_not_read(shore: Shore) -> None:
    os.mkfifo(shore.file)
    assert await shore.names() == ()
    assert [report.fault.code for report in shore.reports if report.fault is not None] == ["not-a-file"]


async def test_text_in_another_encoding_is_told_with_its_line(shore: Shore) -> None:
    shore.file.write_bytes(b'{\n"tools": "\xff"}')
    await shore.names()
    (fault,) = [report.fault for report in shore.reports if report.fault is not None]
    assert (fault.code, fault.line) == ("not-utf8", 2)


async def test_a_name_that_somebody_else_has_keeps_the_tools_of_before(shore: Shore) -> None:
    shore.registry.register(FakeTool("tide").tool())
    shore.write(entry("cast"))
    await shore.names()
    shore.write(entry("tide"), entry("reel"))
    assert await shore.names() == ("cast", "tide")
    fault = shore.tools.report.fault
    assert fault is not None
    assert (fault.code, fault.tool, fault.key) == ("taken-name", "tide", "name")


async def test_changes_of_one_file_are_announced_at_once(shore: Shore) -> None:
    heard: list[tuple[str, ...]] = []
    shore.registry.subscribe(heard.append)
    shore.write(entry("cast"), entry("tide"))
    shore.tools.refresh()
    shore.write(entry("reel"))
    shore.tools.refresh()
    assert heard == [("cast", "tide"), ("cast", "tide", "reel")]


async def test_the_watched_file_is_followed_without_a_step(shore: Shore) -> None:
    shore.write(entry("cast"))
    shore.tools.refresh()
    changed, signal = asyncio.Event(), CancelSignal()
    shore.registry.subscribe(lambda _: changed.set())
    watching = asyncio.create_task(shore.tools.watch(signal))
    number = 0
    while not changed.is_set():  # a change before the watch began is nobody's to hear
        number += 1
        shore.write(entry(f"reel{number}"))
        try:
            await asyncio.wait_for(changed.wait(), 0.5)
        except TimeoutError:
            continue
    assert next(one.tool.name for one in shore.registry.registrations()).startswith("reel")
    signal.cancel(USER)
    await watching


async def test_a_file_in_no_folder_cannot_be_watched_and_says_nothing(tmp_path: Path) -> None:
    shore = Shore(tmp_path)
    tools = CommandTools(shore.registry, tmp_path / "nowhere" / "tools.json", tmp_path)
    await tools.watch(CancelSignal())


async def test_a_closed_file_is_followed_no_more(shore: Shore) -> None:
    shore.write(entry("cast"))
    assert await shore.names() == ("cast",)
    shore.tools.close()
    shore.write(entry("tide"))
    assert await shore.names() == ()
