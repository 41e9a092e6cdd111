"""Copying text: to the terminal by OSC 52, and to the desktop by its own tool where there is one.

A terminal does not answer OSC 52, so that way is only ever "sent". A desktop tool that ends well is a copy
that is known to have worked. Both are done, and the outcome names the surest that worked.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from shutil import which
from typing import Literal, TypeAlias

from tui.i18n import Translator

MAX_OSC52_BYTES = 74_994
"""Bytes of text in one sequence; xterm and others throw away sequences above 100,000 characters."""
TOOL_SECONDS = 2.0

Way: TypeAlias = Literal["tool", "terminal", "none"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that puts its input on a desktop's clipboard.

    `needs` is the environment variable that tells of that desktop, "" for none.
    """

    command: tuple[str, ...]
    needs: str = ""
    encoding: str = "utf-8"


TOOLS: tuple[Tool, ...] = (
    Tool(("wl-copy",), needs="WAYLAND_DISPLAY"),
    Tool(("xclip", "-selection", "clipboard", "-in"), needs="DISPLAY"),
    Tool(("xsel", "--clipboard", "--input"), needs="DISPLAY"),
    Tool(("pbcopy",)),
    # Without a byte order it takes its input for the console's code page.
    Tool(("clip.exe",), encoding="utf-16-le"),
)


@dataclass(frozen=True, slots=True)
class Copied:
    """How a copy went.

    `way` is "tool" when a desktop tool confirmed it, "terminal" when it was sent without an answer, "none"
    when nothing could take it; `tool` names the tool.
    """

    way: Way
    characters: int
    tool: str = ""

    def sentence(self, tr: Translator) -> str:
        """What to tell the reader; nothing is called copied that is not known to be."""
        if self.way == "tool":
            return tr.n(
                "Copied {n} character with {tool}.",
                "Copied {n} characters with {tool}.",
                self.characters,
                tool=self.tool,
            )
        if self.way == "terminal":
            return tr.n(
                "Sent {n} character to the terminal's clipboard.",
                "Sent {n} characters to the terminal's clipboard.",
                self.characters,
            )
        return tr.n(
            "Not copied: {n} character is too long for the terminal, and no clipboard tool was found.",
            "Not copied: {n} characters are too long for the terminal, and no clipboard tool was found.",
            self.characters,
        )


def osc52(text: str, environ: Mapping[str, str]) -> str | None:
    """The sequence that asks the terminal to copy, passed through tmux or screen; None for too long a text.

    tmux passes it on with `set -g allow-passthrough on` or `set-clipboard on`.
    """
    payload = text.encode("utf-8", "replace")
    if len(payload) > MAX_OSC52_BYTES:
        return None
    sequence = f"\x1b]52;c;{b64encode(payload).decode('ascii')}\x07"
    if environ.get("TMUX"):
        # Inside the passthrough each escape is doubled. The plain sequence serves set-clipboard.
        return sequence + "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if environ.get("TERM", "").startswith("screen"):
        # screen passes at most 768 bytes of one string on, so it goes in pieces.
        pieces = [sequence[at : at + 700] for at in range(0, len(sequence), 700)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return sequence


def desktop_tools(environ: Mapping[str, str], find: Callable[[str], str | None] = which) -> list[Tool]:
    """The tools that this machine has and whose desktop is there, in the order to try them."""
    return [tool for tool in TOOLS if (not tool.needs or environ.get(tool.needs)) and find(tool.command[0])]


async def copy(
    text: str,
    write: Callable[[str], None],
    environ: Mapping[str, str],
    *,
    tools: list[Tool] | None = None,
) -> Copied:
    """Copy a text by every way there is and say which one worked.

    Args:
        text: the logical text, as it shall be pasted.
        write: puts a sequence on the terminal, past everything that counts cells.
        environ: tells tmux, screen and the desktop.
        tools: the desktop's tools, found when None.
    """
    sequence = osc52(text, environ)
    if sequence is not None:
        write(sequence)
    for tool in desktop_tools(environ) if tools is None else tools:
        if await _run(tool, text):
            return Copied("tool", len(text), tool.command[0])
    return Copied("terminal" if sequence is not None else "none", len(text))


async def _run(tool: Tool, text: str) -> bool:
    """Whether the tool took the text; one that does not end in two seconds has not."""
    devnull = asyncio.subprocess.DEVNULL
    try:
        # xclip stays behind to serve the selection and would hold an open pipe, so its outputs go nowhere.
        process = await asyncio.create_subprocess_exec(
            *tool.command, stdin=asyncio.subprocess.PIPE, stdout=devnull, stderr=devnull
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(text.encode(tool.encoding, "replace")), TOOL_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        return False
    return process.returncode == 0
