"""From a SESSION argument to a session that has been read."""

from __future__ import annotations

from tui.cli.progress import Progress
from tui.cli.run import Run, complain
from tui.nodes.reading import Reading
from tui.session.store import ResolvedSession, resolve_address

_SLICE = 0.1


def found(run: Run) -> tuple[ResolvedSession, int | None]:
    """Return the log that SESSION names, and the number of `--at` or `SESSION@SEQ`. Raises SessionError."""
    session, seq = resolve_address(run.options["session"], run.settings.homes)
    at: int | None = run.options.get("at", seq)
    return session, at


def read(session: ResolvedSession, run: Run) -> Reading:
    """Return the session read to its end; how far it is stands on a terminal's standard error meanwhile."""
    reading = Reading.open(session.path)
    with Progress(run.tr) as progress:
        while not reading.step(_SLICE):
            progress.tell(reading.progress)
    return reading


def reached(reading: Reading, at: int | None, run: Run) -> int | None:
    """The number that was asked for; the last one there is, with a word about it, if it is beyond that."""
    log = reading.log
    if at is None or log.rows_of_seq(at):
        return at
    last = next((log.seq(row) for row in range(len(log) - 1, -1, -1) if log.seq(row) >= 0), -1)
    if at <= last or last < 0:
        return at
    complain(run.tr.t("There is no event {seq}; the last one is {last}.", seq=at, last=last))
    return last
