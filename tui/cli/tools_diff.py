"""`dsh-tui tools --diff A B`: what differs between the tools of two points, of one session or of two."""

from __future__ import annotations

import sys
from typing import NamedTuple

from tui.blocks.clean import clean_line
from tui.cli.run import OK, WRONG_CALL, Run, complain, say
from tui.cli.session_reading import reached, read
from tui.export.inventory import header_in_force
from tui.export.json_text import present, write_document
from tui.export.output import utf8_writer
from tui.export.session_facts import session_member
from tui.export.tools_diff import diff_json, diff_text
from tui.i18n import Translator
from tui.nodes.reading import Reading
from tui.nodes.tools_diff import tools_diff
from tui.session.store import resolve_address, resolve_session
from tui.session.tool_changes import HeaderEntry


class _Point(NamedTuple):
    """One side: a session and the event number it is looked at; None: its end."""

    reading: Reading
    at: int | None

    @property
    def header(self) -> HeaderEntry | None:
        return header_in_force(self.reading, self.at)


def diff_tools(run: Run) -> int:
    """Print the difference; a number alone is an event of SESSION."""
    first, second = run.options["diff"]
    if "session" not in run.options and (_is_seq(first) or _is_seq(second)):
        complain(run.tr.t("dsh-tui: a number in `--diff` is an event of SESSION, and none is named"))
        return WRONG_CALL
    opened: dict[str, Reading] = {}
    before, after = _point(first, run, opened), _point(second, run, opened)
    sides = [side.header.tools if side.header is not None else () for side in (before, after)]
    diff = tools_diff(sides[0], sides[1])
    if run.options.get("json"):
        head = {
            "session": session_member(before.reading),
            "before": _side(before),
            "after": _side(after),
            "unchanged": diff.unchanged,
        }
        lists = {name: iter(entries) for name, entries in diff_json(diff).items()}
        write_document(utf8_writer(sys.stdout), "tools-diff", head, lists)
        return OK
    ascii_only = run.settings.ascii
    arrow = "->" if ascii_only else "→"
    say(f"{_place(before, run.tr)} {arrow} {_place(after, run.tr)}\n")
    for line in diff_text(diff, run.tr, ascii_only=ascii_only):
        say(line + "\n")
    return OK


def _is_seq(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _point(word: str, run: Run, opened: dict[str, Reading]) -> _Point:
    homes = run.settings.homes
    if _is_seq(word) and "session" in run.options:
        session, seq = resolve_address(run.options["session"], homes)[0], int(word)
    elif _is_seq(word):
        session, seq = resolve_session(word, homes), None
    else:
        session, seq = resolve_address(word, homes)
    key = str(session.path)
    if key not in opened:
        opened[key] = read(session, run)
    return _Point(opened[key], reached(opened[key], seq, run))


def _place(point: _Point, tr: Translator) -> str:
    header = point.header
    count = tr.n("{n} tool", "{n} tools", len(header.active) if header is not None else 0)
    session = clean_line(point.reading.log.header.id)
    if point.at is None:
        return tr.t("{session} at its end ({tools})", session=session, tools=count)
    return tr.t("{session} at event {seq} ({tools})", session=session, seq=point.at, tools=count)


def _side(point: _Point) -> dict[str, object]:
    header = point.header
    return {
        "id": point.reading.log.header.id,
        **present(at=point.at, header_seq=header.seq if header is not None else None),
        "tools": len(header.active) if header is not None else 0,
    }
