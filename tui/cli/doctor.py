"""`dsh-tui doctor`: what is wrong with a session, why, and what to do."""

from __future__ import annotations

import shutil
import sys
from typing import Final

from tui.blocks.doctor_layout import doctor_lines
from tui.blocks.layout import Layout
from tui.blocks.text import plain
from tui.cli.routes import route_book
from tui.cli.run import OK, Run, complain, is_terminal, say
from tui.cli.session_reading import found, read
from tui.export.doctor_json import chain_entries, finding_entries, route_member, versions_member
from tui.export.json_text import write_document
from tui.export.output import utf8_writer
from tui.export.session_facts import session_member
from tui.nodes.doctor import examine
from tui.nodes.doctor_versions import Versions

FINDINGS: Final = 1
_WIDTH = 100


def doctor(run: Run) -> int:
    """Print the findings; returns 0 for a sound session, 1 with findings or if a fresh one fails too.

    With --json what a fresh session told goes to standard error. Raises Refused without a provider to ask.
    """
    session, _ = found(run)
    reading = read(session, run)
    examined = examine(reading, route_book(run), run.settings.homes)
    if run.options.get("json"):
        head = {
            "session": session_member(reading),
            "route": route_member(examined),
            "versions": versions_member(examined),
        }
        lists = {"findings": finding_entries(examined, run.tr), "chain": chain_entries(examined)}
        write_document(utf8_writer(sys.stdout), "doctor", head, lists)
    else:
        width = min(shutil.get_terminal_size().columns, 120) if is_terminal(sys.stdout) else _WIDTH
        layout = Layout(width=width, tr=run.tr, expanded=True, ascii=run.settings.ascii, full=True)
        for row in doctor_lines(examined, layout):
            say(plain(row).rstrip() + "\n")
    fails = run.options.get("verify") and not _verified(run, examined.versions)
    return FINDINGS if examined.findings or fails else OK


def _verified(run: Run, versions: Versions) -> bool:
    """Try a fresh session and tell what came of it; whether nothing of it failed."""
    from tui.cli.verify import verify
    from tui.loop.verification import sentences

    sys.stdout.flush()
    verified = verify(run, versions.provider, versions.model)
    for sentence in sentences(run.tr, verified):
        (complain if run.options.get("json") else _say_line)(sentence)
    return not verified.failure


def _say_line(sentence: str) -> None:
    say(sentence + "\n")
