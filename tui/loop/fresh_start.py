"""A fresh session that goes on from a summary of another one: where it comes from, and its first check.

Both facts stand in the log as ignorable records of our own, so that a session which is resumed before its
first check was confirmed is still kept to reading.
"""

from __future__ import annotations

from dataclasses import dataclass

from tui.session.own_records import RECOVERED_FROM, RECOVERY_CHECKED, RecoveredFrom
from tui.session.writer import SessionWriter
from tui.tools.read_only import ReadOnlyGuard
from tui.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshStart:
    """What a fresh session begins with."""

    summary: str
    """Its first prompt."""
    session: str = ""
    """Id of the original; empty if the summary does not tell."""
    seq: int | None = None
    """The last event of the original that the summary knows of."""
    cwd: str = ""
    """The folder of the original; empty for the one the program runs in."""
    path: str = ""
    """The log of the original, where it is known."""
    provider: str = ""
    """Whom the fresh session asks; empty: whom every new session does."""
    model: str = ""
    checkpoint: bool = False
    """The original is sound and is left on purpose."""

    def record(self, writer: SessionWriter) -> None:
        """Write into a new log what it goes on from. Raises SessionWriteError."""
        origin = RecoveredFrom(session=self.session, seq=self.seq, path=self.path, checkpoint=self.checkpoint)
        writer.append(RECOVERED_FROM, origin.to_json(), ignorable=True)


class FirstCheck:
    """Keeps a session to tools that only read until its user confirms what a first check has found."""

    def __init__(self, writer: SessionWriter, tools: ToolRegistry) -> None:
        self._writer = writer
        self._guard = ReadOnlyGuard(tools.hooks)
        self.waits = True
        """Whether it is still to be confirmed."""

    @property
    def is_seen(self) -> bool:
        """Whether a turn has been answered since the start, so that there is something to confirm."""
        return any(
            event.type == "turn/end" and event.data["reason"]["kind"] == "completed"
            for event in self._writer.events
        )

    def confirm(self) -> None:
        """Record the user's word and let everything run again. Raises SessionWriteError."""
        if self.waits:
            self._writer.append(RECOVERY_CHECKED, {}, ignorable=True)
            self._guard.lift()
            self.waits = False


def first_check(writer: SessionWriter, tools: ToolRegistry) -> FirstCheck | None:
    """Return the check that a session still owes, None for one that owes none."""
    types = [event.type for event in writer.state.own_records]
    if RECOVERED_FROM not in types or RECOVERY_CHECKED in types:
        return None
    return FirstCheck(writer, tools)
