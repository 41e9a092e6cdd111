"""What opens a screen: the library, a session. Without a terminal each has a linear form."""

from __future__ import annotations

import sys
from contextlib import ExitStack

from tui.cli.fresh_start import starter
from tui.cli.run import OK, Run, say
from tui.cli.session_reading import found, reached, read
from tui.i18n import Translator
from tui.nodes.reading import Reading
from tui.session.store import ResolvedSession


def library(run: Run) -> int:
    """Open the library; without a terminal print the list of sessions."""
    if not run.has_screen:
        from tui.cli.sessions import sessions

        return sessions(run)
    from tui.app.run import open_library
    from tui.cli.demo import scene_starter

    starts = starter(run)
    with ExitStack() as folders:
        plays = scene_starter(run, folders)
        return open_library(run.settings.homes, settings=run.settings, demo=plays, starter=starts)


def open_one(run: Run) -> int:
    """Open a session; without a terminal print a view of it."""
    session, at = found(run)
    return _shown(run, session, run.options.get("view", "chat"), at)


def _shown(run: Run, session: ResolvedSession, view: str, at: int | None) -> int:
    if run.has_screen:
        from tui.app.run import open_session

        starts = starter(run)
        return open_session(session.path, view=view, at=at, settings=run.settings, starter=starts)
    reading = read(session, run)
    at = reached(reading, at, run)
    first = 0
    if at is not None and view == "requests":
        from tui.nodes.requests import Requests

        first = Requests(reading).number_of_seq(at) or 1
    elif at is not None and view != "tools":
        first = _position(reading, view, at)
        say(_beginning(run.tr, reading, view, first) + "\n\n")
    write = sys.stdout.write
    from tui.cli.routes import book_for
    from tui.export import Export, write_export

    wanted = Export(view, "text", ascii=run.settings.ascii, first=first, book=book_for(run, view))
    write_export(write, reading, run.tr, wanted)
    return OK


def _position(reading: Reading, view: str, at: int) -> int:
    """The node or row of an event, or the last one before it."""
    if not len(reading.log):
        return 0
    row = reading.log.nearest_row(at)
    if view == "chat":
        found_nodes = reading.chat.index.nodes_of_row(row)
        return max(0, found_nodes.start if found_nodes else reading.chat.index.node_before(row))
    return max(0, reading.trajectory.index.at_row(row))


def _beginning(tr: Translator, reading: Reading, view: str, first: int) -> str:
    index = reading.chat.index if view == "chat" else reading.trajectory.index
    seq = reading.log.seq(index.rows[first]) if len(index) else 0
    return tr.t("From event {seq} on; what is before it is left out.", seq=seq)
