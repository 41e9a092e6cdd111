"""Where a screen over a session's panes sends the reader when it closes."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

SessionView: TypeAlias = Literal["chat", "trajectory", "tools", "requests"]


class ViewJump(NamedTuple):
    """A view of the session, and what to select in it."""

    view: SessionView
    item: int
    """Trajectory row; -1 leaves the selection as it is."""
