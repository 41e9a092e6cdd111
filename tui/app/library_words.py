"""Words of the library screen: the state of a session, what to do about it, where its work was done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import assert_never

from tui.blocks.cells import cell_len, graphemes
from tui.blocks.clean import clean_line
from tui.i18n import Translator
from tui.session.library import LibraryRow, State


def state_name(tr: Translator, state: State) -> str:
    """A state in one or two words."""
    match state:
        case "ok":
            return tr.p("state of a session", "ok")
        case "empty":
            return tr.p("state of a session", "empty")
        case "damaged":
            return tr.p("state of a session", "damaged")
        case "unreadable":
            return tr.p("state of a session", "unreadable")
        case "old-format":
            return tr.p("state of a session", "old format")
        case "newer-format":
            return tr.p("state of a session", "newer format")
        case _:
            assert_never(state)


def state_role(state: State) -> str:
    """The role that a state is written in."""
    match state:
        case "ok":
            return "ok"
        case "empty":
            return "muted"
        case "damaged" | "old-format" | "newer-format":
            return "warning"
        case "unreadable":
            return "error"
        case _:
            assert_never(state)


def advice(tr: Translator, row: LibraryRow) -> str:
    """What can be done about a session that is not sound, in one sentence; empty for a sound one."""
    match row.state:
        case "ok":
            return ""
        case "empty":
            return tr.t("Nothing has happened in it.")
        case "damaged":
            return tr.t("Everything that can be read is shown; each fault is marked where it is.")
        case "unreadable":
            if row.reason == "no-permission":
                return tr.t("Check the permissions of the file and its folder.")
            return tr.t("Opening it says more.")
        case "old-format":
            return tr.t("Open it in dsh once, which converts it.")
        case "newer-format":
            return tr.t("Update dsh-tui to read it.")
        case _:
            assert_never(row.state)


def workspace_name(tr: Translator, cwd: str | None, home: Path | None = None) -> str:
    """A working directory as a person writes it: the home folder as `~`; words where there is none."""
    if not cwd:
        return tr.t("no folder")
    base = str(home if home is not None else Path.home()).rstrip(os.sep)
    if base and (cwd == base or cwd.startswith(base + os.sep)):
        return clean_line("~" + cwd[len(base) :])
    return clean_line(cwd)


def shortened_path(path: str, cells: int) -> str:
    """A path that is too long without its beginning: the end tells folders apart."""
    if cell_len(path) <= cells:
        return path
    kept: list[str] = []
    room = cells - 1
    for grapheme in reversed(list(graphemes(path[-cells:]))):
        room -= cell_len(grapheme)
        if room < 0:
            break
        kept.append(grapheme)
    return "…" + "".join(reversed(kept)) if cells > 0 else ""
