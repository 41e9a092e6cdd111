"""Holding the tools of a live session: what is done and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tui.blocks.clean import clean_line
from tui.blocks.text import Span
from tui.i18n import Translator
from tui.loop.agent import Agent
from tui.tools.hold import WaitingChanges

if TYPE_CHECKING:
    from tui.app.status_bar import Piece

_NAMED: Final = 4
"""How many tools of a kind of change are named; the rest is counted."""


def turned(tr: Translator, agent: Agent) -> str:
    """Hold the tools, or release them; returns what to say."""
    tools = agent.tools
    if not agent.holds_tools:
        agent.hold_tools()
        if tools.waiting(agent):
            return told_of_change(tr, agent)
        return tr.t("The tools of this session stay as they are; changes wait until /hold is given again.")
    waiting = tools.waiting(agent)
    agent.release_tools()
    if not waiting:
        return tr.t("The tools follow their changes again; none waited.")
    return tr.n(
        "The next request brings {n} tool change that waited: {changes}",
        "The next request brings {n} tool changes that waited: {changes}",
        len(waiting),
        changes=told_changes(tr, waiting),
    )


def told_of_change(tr: Translator, agent: Agent) -> str:
    """What waits while the tools are held."""
    waiting = agent.tools.waiting(agent)
    if not waiting:
        return tr.t("The tools are held; no change waits.")
    return tr.n(
        "{n} tool change waits: {changes}; /hold lets it in.",
        "{n} tool changes wait: {changes}; /hold lets them in.",
        len(waiting),
        changes=told_changes(tr, waiting),
    )


def told_at_the_start(tr: Translator, agent: Agent) -> str:
    """That a session that goes on is held, and what waits meanwhile; empty if it is not held."""
    if not agent.holds_tools:
        return ""
    waiting = agent.tools.waiting(agent)
    if not waiting:
        return tr.t("The tools are still held; /hold lets changes in again.")
    return tr.n(
        "The tools are still held; {n} change waits: {changes}; /hold lets it in.",
        "The tools are still held; {n} changes wait: {changes}; /hold lets them in.",
        len(waiting),
        changes=told_changes(tr, waiting),
    )


def hold_piece(tr: Translator, agent: Agent) -> list[Piece]:
    """That the tools are held, for the head of the screen."""
    from tui.app.status_bar import Piece

    if not agent.holds_tools:
        return []
    count = len(agent.tools.waiting(agent))
    told = tr.n("tools held, {n} change waits", "tools held, {n} changes wait", count)
    return [Piece((Span(told if count else tr.t("tools held"), "warning"),), keep=80)]


def told_changes(tr: Translator, waiting: WaitingChanges) -> str:
    """The tools that came, went or changed, by their signs; of many some names and how many more."""
    parts = (("+", waiting.added), ("−", waiting.removed), ("~", waiting.redefined))
    return " ".join(f"{sign} {_names(tr, names)}" for sign, names in parts if names)


def _names(tr: Translator, names: Sequence[str]) -> str:
    shown = [clean_line(name) for name in names[:_NAMED]]
    more = len(names) - _NAMED
    told = tr.join(shown)
    return f"{told} (+{tr.number(more)})" if more > 0 else told
