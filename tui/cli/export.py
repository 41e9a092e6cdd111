"""`dsh-tui export`: a view of a session as a file or on standard output."""

from __future__ import annotations

import sys
from pathlib import Path

from tui.cli.routes import book_for
from tui.cli.run import OK, Refused, Run
from tui.cli.session_reading import found, read
from tui.export import Export, write_export
from tui.export.output import OutputRefused, check_place, utf8_writer, whole_file


def export(run: Run) -> int:
    """Write the view; raises Refused for a place that nothing is written to."""
    view, form = run.options["view"], run.options["format"]
    session, _ = found(run)
    wanted = Export(view, form, ascii=run.settings.ascii, book=book_for(run, view))
    output = run.options.get("output")
    if output is None or output == "-":
        write_export(utf8_writer(sys.stdout), read(session, run), run.tr, wanted)
        return OK
    place = Path(output)
    try:
        check_place(place, run.settings.homes, session.path)
    except OutputRefused as error:
        raise Refused(error.sentence(run.tr)) from None
    reading = read(session, run)
    with whole_file(place) as write:
        write_export(write, reading, run.tr, wanted)
    return OK
