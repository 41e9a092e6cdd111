"""The program on a real terminal: started as a person starts it, seen as a person sees it."""

from __future__ import annotations

import os
import re
import signal
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import copytree

import pytest

from tests.benchmarks.generate import LAST_ANSWER, write_log
from tests.support.terminal import Terminal, clean_environ

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = Path(__file__).parent / "recordings"
TIMEOUT = 20.0

Start = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `dsh-tui` with arguments on a terminal; it is ended when the test is over."""
    with ExitStack() as stack:

        def run(*arguments: str | Path, columns: int = 80, rows: int = 24, **environ: str) -> Terminal:
            command = [sys.executable, "-m", "tui", *arguments]
            surroundings = clean_environ(tmp_path / "home", **environ)
            terminal = Terminal(command, surroundings, columns=columns, rows=rows, folder=ROOT)
            return stack.enter_context(terminal)

        yield run


def recording(name: str, folder: Path) -> Path:
    """A copy of a recorded session."""
    copytree(RECORDINGS / name, folder / name)
    return folder / name / "session.v4.jsonl"


def shows(*texts: str) -> Callable[[Terminal], bool]:
    return lambda terminal: all(text in terminal.text for text in texts)


def shows_not(text: str) -> Callable[[Terminal], bool]:
    return lambda terminal: text not in terminal.text


def is_put_back(terminal: Terminal) -> bool:
    """Whether what was switched on at the start has been switched off, and the cursor on."""
    output = bytes(terminal.output)
    return all(
        -1 < output.rfind(b"\x1b[" + on) < output.rfind(b"\x1b[" + off)
        for on, off in (
            (b"?1049h", b"?1049l"),
            (b"?25l", b"?25h"),
            (b"?1003h", b"?1003l"),
            (b"?2004h", b"?2004l"),
        )
    )


# -- starting and leaving


def test_open_shows_the_end_of_the_session_and_leaves_the_terminal_as_it_was(
    start: Start, tmp_path: Path
) -> None:
    terminal = start("open", recording("plain-chat", tmp_path))
    before = terminal.attributes()
    terminal.wait_until(shows("A short farewell.", "Good night, keeper."), TIMEOUT)
    terminal.press("q")
    assert terminal.wait_end(TIMEOUT) == 0
    assert is_put_back(terminal)
    assert terminal.attributes() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_leaves_the_terminal_as_it_was(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    terminal = start("open", recording("plain-chat", tmp_path))
    before = terminal.attributes()
    terminal.wait_until(shows("A short farewell.", "Good night, keeper."), TIMEOUT)
    os.kill(terminal.pid, number)
    assert terminal.wait_end(TIMEOUT) == 128 + number
    assert is_put_back(terminal)
    assert terminal.attributes() == before


def test_keys_after_the_one_that_leaves_do_nothing(start: Start, tmp_path: Path) -> None:
    terminal = start("open", recording("plain-chat", tmp_path))
    terminal.wait_until(shows("A short farewell.", "Good night, keeper."), TIMEOUT)
    terminal.write(b"qj??\x1b[A/abc\r")
    assert terminal.wait_end(TIMEOUT) == 0
    assert b"Traceback" not in terminal.output
    assert is_put_back(terminal)


def test_a_session_that_is_read_in_the_background_stays_at_its_end(start: Start, tmp_path: Path) -> None:
    """The log is read so soon after the first paint that messages about the tail are still under way."""
    path = write_log(tmp_path / "session.v4.jsonl", 1_000)
    for _ in range(3):
        terminal = start("open", path, columns=120, rows=40)
        terminal.wait_until(shows(LAST_ANSWER), TIMEOUT)
        terminal.wait_quiet()
        assert LAST_ANSWER in terminal.region(0, 60)
        terminal.press("q")
        assert terminal.wait_end(TIMEOUT) == 0


def test_markup_like_text_is_shown_as_it_stands(start: Start, tmp_path: Path) -> None:
    terminal = start("open", recording("plain-chat", tmp_path))
    terminal.wait_for("<b>No HTML is meant here</b>", TIMEOUT)


def test_help_lists_the_keys_and_closes_again(start: Start, tmp_path: Path) -> None:
    terminal = start("open", recording("tool-use", tmp_path), columns=100, rows=40)
    terminal.wait_for("Trajectory", TIMEOUT)
    terminal.press("?")
    terminal.wait_for("Next tool change", TIMEOUT)
    terminal.press("escape")
    terminal.wait_until(shows_not("Next tool change"), TIMEOUT)
    terminal.press("q")
    assert terminal.wait_end(TIMEOUT) == 0


def test_chinese_where_the_environment_says_so_and_english_by_a_key(start: Start, tmp_path: Path) -> None:
    path = recording("single-tool-added", tmp_path)
    terminal = start("open", path, columns=120, rows=40, LANG="zh_CN.UTF-8")
    terminal.wait_for("新增工具", TIMEOUT)
    terminal.press("L")
    terminal.wait_for("Tool added", TIMEOUT)
    assert "新增工具" not in terminal.text


def test_a_tool_change_is_seen_without_opening_anything(start: Start, tmp_path: Path) -> None:
    terminal = start("open", recording("many-tools-changed", tmp_path), columns=120, rows=40)
    terminal.wait_for("Trajectory", TIMEOUT)
    terminal.press("g", "t")

    def told_in_both(terminal: Terminal) -> bool:
        chat, trajectory = terminal.region(0, 60), terminal.region(60, 120)
        return "12 added, 3 removed" in chat and "Tools changed · 12 added" in trajectory

    terminal.wait_until(told_in_both, TIMEOUT, "the change in both panes")


def test_a_file_that_is_no_session_ends_with_one_sentence_and_2(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "session.v4.jsonl"
    path.write_text("", encoding="utf-8")
    terminal = start("open", path, columns=200)
    assert terminal.wait_end(TIMEOUT) == 2
    assert b"\x1b[?1049h" not in terminal.output
    said = [row.strip() for row in terminal.rows if row.strip()]
    assert len(said) == 1
    assert path.name in said[0]


def test_reading_changes_nothing_in_the_folder_of_the_session(start: Start, tmp_path: Path) -> None:
    path = recording("tool-use", tmp_path)

    def state() -> list[tuple[str, int, int]]:
        found = sorted(path.parent.rglob("*"))
        return [(str(each), each.stat().st_mtime_ns, each.stat().st_size) for each in found]

    before = state()
    terminal = start("open", path)
    terminal.wait_for("Chat", TIMEOUT)
    terminal.press("g", "i", "q")
    assert terminal.wait_end(TIMEOUT) == 0
    assert state() == before


# -- sizes and colours


def test_a_wider_terminal_shows_both_panes_and_a_narrow_one_one(start: Start, tmp_path: Path) -> None:
    terminal = start("open", recording("tool-use", tmp_path))
    terminal.wait_until(shows("1 Chat", "2 Trajectory"), TIMEOUT)
    terminal.resize(120, 40)

    def fills_the_room(terminal: Terminal) -> bool:
        side = "Trajectory" in terminal.region(60, 120) and "1 Chat" not in terminal.text
        return side and bool(terminal.rows[-1].strip())

    terminal.wait_until(fills_the_room, TIMEOUT, "both panes down to the last row")
    terminal.resize(80, 24)
    terminal.wait_until(shows("1 Chat", "2 Trajectory"), TIMEOUT)
    terminal.press("q")
    assert terminal.wait_end(TIMEOUT) == 0


_SGR = re.compile(rb"\x1b\[([0-9;:]*)m")


def colours(output: bytearray) -> set[int]:
    """The colour parameters among the SGR sequences."""
    found: set[int] = set()
    for match in _SGR.finditer(output):
        parameters = [int(part or 0) for part in re.split(rb"[;:]", match[1])]
        found.update(p for p in parameters[:1] if p in (38, 48))
        found.update(p for p in parameters if 30 <= p <= 49 or 90 <= p <= 107)
    return found - {39, 49}


def test_colour_is_used_where_nobody_forbids_it(start: Start, tmp_path: Path) -> None:
    terminal = start("open", recording("tool-use", tmp_path), columns=120, rows=40)
    terminal.wait_for("Trajectory", TIMEOUT)
    terminal.wait_quiet()
    assert colours(terminal.output)


def test_no_color_takes_every_colour_away(start: Start, tmp_path: Path) -> None:
    terminal = start("open", recording("tool-use", tmp_path), columns=120, rows=40, NO_COLOR="1")
    terminal.wait_for("Trajectory", TIMEOUT)
    terminal.press("g", "O", "i")
    terminal.wait_quiet()
    assert colours(terminal.output) == set()


def test_ascii_draws_no_other_character_than_the_session_holds(start: Start, tmp_path: Path) -> None:
    terminal = start("--ascii", "open", recording("retries", tmp_path), columns=120, rows=40)
    terminal.wait_for("Trajectory", TIMEOUT)
    terminal.press("g")
    terminal.wait_quiet()
    drawn = {character for character in terminal.text if ord(character) > 126}
    held = set((RECORDINGS / "retries" / "session.v4.jsonl").read_text(encoding="utf-8"))
    assert drawn - held == set()


# -- hostile text

_ORDERS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*[0-~]|[\x00-\x1f\x7f-\x9f]"
)
_PLAIN_ORDERS = re.compile(r"\x1b\[[0-9;]*[mH]|[\r\n]")


def orders(output: bytearray) -> Counter[str]:
    """What a program told the terminal besides colours, cursor places and line ends."""
    found = _ORDERS.findall(output.decode("utf-8", "replace"))
    return Counter(order for order in found if not _PLAIN_ORDERS.fullmatch(order))


def walk(*terminals: Terminal) -> list[str]:
    """Look at everything that sessions show, in both panes; returns what was on each screen."""
    seen = [""] * len(terminals)
    for keys in (
        ("1", "O", "g"),
        *[("pagedown",)] * 10,
        ("2", "g"),
        ("i", ">", ">"),
        *[("down", "down")] * 8,
    ):
        for terminal in terminals:
            terminal.press(*keys)
        for place, terminal in enumerate(terminals):
            terminal.wait_answer(0.2)
            terminal.wait_quiet(0.02)
            seen[place] += terminal.text + "\n"
    return seen


def test_text_of_a_session_gives_the_terminal_no_orders(start: Start, tmp_path: Path, shared: Path) -> None:
    """B16: what reaches the terminal is what a harmless session makes Textual send, and nothing else."""
    hostile = start("open", shared / "bugs/cases/B16-control-text/home/sessions/--srv-lantern-works--"
                    "/session-0b4e45f56b23522c9ed27b99e4dac625", columns=120, rows=40)  # fmt: skip
    harmless = start("open", recording("tool-use", tmp_path), columns=120, rows=40)
    for terminal in (hostile, harmless):
        terminal.wait_for("Trajectory", TIMEOUT)
    seen, _ = walk(hostile, harmless)
    for terminal in (hostile, harmless):
        terminal.press("q")
        assert terminal.wait_end(TIMEOUT) == 0
    assert set(orders(hostile.output)) <= set(orders(harmless.output))
    # Modes that a payload asks for too are switched as often as without it.
    modes = [
        {k: n for k, n in orders(t.output).items() if k.endswith(("h", "l"))} for t in (hostile, harmless)
    ]
    assert modes[0] == modes[1]
    assert b"\x1b[8m" not in hostile.output
    for text in ("[red]not red[/red]", "never closed, rest of the line must stay readable", "[/nothing] [b"):
        assert text in seen
    assert not any(unicodedata.category(c) == "Cc" and c != "\n" for c in seen)


@pytest.mark.parametrize("drawn", ["nothing", "the empty screen", "the page"])
def test_what_is_typed_while_a_conversation_opens_is_in_its_composer(start: Start, drawn: str) -> None:
    terminal = start("demo", "--lang", "en", columns=100, rows=30)
    if drawn == "the page":
        terminal.wait_for("Enter sends", TIMEOUT)
    elif drawn == "the empty screen":
        terminal.wait_until(lambda seen: b"?1049h" in seen.output, TIMEOUT, "the screen")
    terminal.press(*"going")
    terminal.wait_for("❯ going", TIMEOUT)
