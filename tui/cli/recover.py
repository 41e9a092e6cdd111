"""`dsh-tui recover`: a draft summary of a session for a fresh one; the original is only read."""

from __future__ import annotations

import sys
from pathlib import Path

from tui.cli.export import refusal
from tui.cli.run import OK, Refused, Run
from tui.cli.session_reading import found, read
from tui.export.output import OutputRefused, check_place, utf8_writer, whole_file
from tui.export.recovery import write_recovery
from tui.nodes.doctor import examine
from tui.nodes.recovery import draft


def recover(run: Run) -> int:
    """Write the draft; raises Refused for a place that nothing is written to."""
    session, _ = found(run)
    output = run.options.get("output")
    place = None if output is None or output == "-" else Path(output)
    if place is not None:
        try:
            check_place(place, run.settings.homes, session.path)
        except OutputRefused as error:
            raise Refused(refusal(run.tr, error)) from None
    reading = read(session, run)
    drafted, examined = draft(reading), examine(reading)
    if place is None:
        write_recovery(utf8_writer(sys.stdout), drafted, examined, run.tr)
        return OK
    with whole_file(place) as write:
        write_recovery(write, drafted, examined, run.tr)
    return OK
