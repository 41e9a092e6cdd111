"""A checkpoint of a session that is alive and well: when it is offered, and on which route it goes on."""

from __future__ import annotations

from dataclasses import replace

from tui.app.live_hold import told_changes
from tui.i18n import Translator
from tui.loop.agent import Agent
from tui.loop.fresh_start import FreshStart
from tui.tools.hold import WaitingChanges


def offered(tr: Translator, agent: Agent, told: str) -> str:
    """What is said of changes that wait, with the offer before it where the session is long."""
    if not agent.is_long:
        return told
    return tr.t("The session is long: /checkpoint first. {told}", told=told)


def told_of_coming(tr: Translator, agent: Agent) -> str:
    """The offer before tools change with the next request; empty where none do or the session is short."""
    coming = _coming(agent)
    if not len(coming) or not agent.is_long:
        return ""
    return tr.t(
        "The session is long: /checkpoint before its tools change, or /hold. Next: {changes}",
        changes=told_changes(tr, coming),
    )


def start_of(agent: Agent, fresh: FreshStart) -> FreshStart:
    """A start on the route that the session has now."""
    selection = agent.selection
    return replace(fresh, provider=selection.provider, model=selection.model)


def _coming(agent: Agent) -> WaitingChanges:
    """How what could be offered now differs from what the last request was offered, conditions aside."""
    writer = agent.writer
    if writer.header_event is None:
        return WaitingChanges()
    before = {tool.name: (tool.description, tool.parameters) for tool in writer.state.tools.active}
    visible = (found.tool.declaration for found in agent.tools.registrations(agent))
    now = {tool.name: (tool.description, tool.parameters) for tool in visible}
    return WaitingChanges(
        added=tuple(sorted(now.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - now.keys())),
        redefined=tuple(sorted(name for name in before.keys() & now.keys() if before[name] != now[name])),
    )
