"""The file that a command writes to."""

from __future__ import annotations

from pathlib import Path

from tui.cli.run import Refused, Run
from tui.export.output import OutputRefused, check_place
from tui.session.store import ResolvedSession


def place_for(session: ResolvedSession, run: Run) -> Path | None:
    """Return the file of `--output`; None for standard output. Raises Refused where nothing is written."""
    output = run.options.get("output")
    if output is None or output == "-":
        return None
    place = Path(output)
    try:
        check_place(place, run.settings.homes, session.path)
    except OutputRefused as error:
        raise Refused(error.sentence(run.tr)) from None
    return place
