"""`dsh-tui export`: a view of a session as a file or on standard output."""

from __future__ import annotations

import sys

from tui.cli.output_place import place_for
from tui.cli.routes import book_for
from tui.cli.run import OK, Run
from tui.cli.session_reading import found, read
from tui.export import Export, write_export
from tui.export.output import utf8_writer, whole_file


def export(run: Run) -> int:
    """Write the view; raises Refused for a place that nothing is written to."""
    view, form = run.options["view"], run.options["format"]
    session, _ = found(run)
    wanted = Export(view, form, ascii=run.settings.ascii, book=book_for(run, view))
    place = place_for(session, run)
    if place is None:
        write_export(utf8_writer(sys.stdout), read(session, run), run.tr, wanted)
        return OK
    reading = read(session, run)
    with whole_file(place) as write:
        write_export(write, reading, run.tr, wanted)
    return OK
