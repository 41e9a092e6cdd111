"""What is sent to the terminal when something is copied, and what is claimed afterwards."""

import base64
import sys

import pytest

from tui.app.clipboard import MAX_OSC52_BYTES, TOOLS, Copied, Tool, copy, desktop_tools, osc52
from tui.i18n import translator

# A program that keeps what it is given, as a clipboard tool does, and one that refuses.
TAKES = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
REFUSES = "import sys; sys.exit(3)"


def payload(sequence: str) -> str:
    return base64.b64decode(sequence.split(";")[2].split("\x07", maxsplit=1)[0]).decode()


def test_a_plain_terminal_gets_one_osc_52_sequence() -> None:
    sequence = osc52("湿度 ok", {"TERM": "xterm-256color"})
    assert sequence is not None
    assert sequence.startswith("\x1b]52;c;")
    assert sequence.endswith("\x07")
    assert payload(sequence) == "湿度 ok"


def test_inside_tmux_the_sequence_is_passed_through_with_doubled_escapes() -> None:
    plain = osc52("a", {})
    wrapped = osc52("a", {"TMUX": "/tmp/tmux-0/default,1,0"})
    assert wrapped == f"{plain}\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\"


def test_inside_screen_the_sequence_goes_in_short_pieces() -> None:
    sequence = osc52("x" * 3_000, {"TERM": "screen-256color"})
    assert sequence is not None
    pieces = [piece.removeprefix("\x1bP") for piece in sequence.split("\x1b\\") if piece]
    assert all(len(piece) <= 768 for piece in pieces)
    assert payload("".join(pieces)) == "x" * 3_000


def test_a_text_too_long_for_terminals_is_not_sent() -> None:
    assert osc52("x" * MAX_OSC52_BYTES, {}) is not None
    assert osc52("x" * (MAX_OSC52_BYTES + 1), {}) is None


def test_escapes_inside_the_text_never_reach_the_terminal() -> None:
    sequence = osc52("\x1b]0;evil\x07", {})
    assert sequence is not None
    assert sequence.count("\x1b") == 1


@pytest.mark.parametrize(
    ("environ", "present", "expected"),
    [
        ({"WAYLAND_DISPLAY": "w"}, {"wl-copy", "xclip"}, ["wl-copy"]),
        ({"DISPLAY": ":0"}, {"wl-copy", "xclip", "xsel"}, ["xclip", "xsel"]),
        ({}, {"wl-copy", "xclip"}, []),
        ({}, {"pbcopy"}, ["pbcopy"]),
        ({}, {"clip.exe"}, ["clip.exe"]),
    ],
)
def test_only_tools_whose_desktop_is_there_are_tried(
    environ: dict[str, str], present: set[str], expected: list[str]
) -> None:
    found = desktop_tools(environ, lambda name: name if name in present else None)
    assert [tool.command[0] for tool in found] == expected
    assert {tool.command[0] for tool in TOOLS} >= present


async def test_a_tool_that_ends_well_is_the_one_named(tmp_path) -> None:
    written: list[str] = []
    kept = tmp_path / "clipboard"
    tools = [
        Tool((str(tmp_path / "missing"),)),
        Tool((sys.executable, "-c", REFUSES)),
        Tool((sys.executable, "-c", TAKES, str(kept)), encoding="utf-16-le"),
    ]
    outcome = await copy("湿度", written.append, {}, tools=tools)
    assert outcome == Copied("tool", 2, sys.executable)
    assert kept.read_bytes().decode("utf-16-le") == "湿度"
    assert payload(written[0]) == "湿度"


async def test_without_a_tool_the_copy_is_only_called_sent() -> None:
    outcome = await copy("abc", lambda sequence: None, {}, tools=[])
    assert outcome == Copied("terminal", 3)
    sentence = outcome.sentence(translator("en"))
    assert sentence.startswith("Sent 3 characters")
    assert "opied" not in sentence


async def test_a_long_text_without_a_tool_is_told_as_not_copied() -> None:
    written: list[str] = []
    outcome = await copy("x" * 200_000, written.append, {}, tools=[])
    assert outcome.way == "none"
    assert written == []
    assert outcome.sentence(translator("en")).startswith("Not copied")
