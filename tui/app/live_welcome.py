"""What stands in Chat before anything was said: model, tool changes on its route, folder and tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from tui import __version__
from tui.app.conversation import Conversation
from tui.blocks.cells import cell_len
from tui.blocks.clean import clean_line
from tui.blocks.text import EMPTY, Line, Span, line
from tui.blocks.wording_names import tool_title
from tui.blocks.wrap import wrap
from tui.i18n import N_, Translator
from tui.llm.failure import LlmFailure
from tui.llm.route import Route, ToolUpdateMode

_NAMED_TOOLS: Final = 12
"""Tools whose names are listed; the others are counted."""
_GAP: Final = 3
_MODES: Final[dict[ToolUpdateMode, str]] = {
    None: N_("this route takes none: each one sends every definition again"),
    "addition-only": N_("additions are sent as changes; a removal sends every definition again"),
    "in-history": N_("additions and removals are sent as changes"),
}


class Welcome:
    """The page of a session without events, laid out anew when what it tells has changed.

    Args:
        conversation: what is talked to.
        language: gives the translator in force.
    """

    def __init__(self, conversation: Conversation, language: Callable[[], Translator]) -> None:
        self._conversation = conversation
        self._language = language
        self._told: tuple[int, list[tuple[str, str]]] = (0, [])
        self._lines: Sequence[Line] = ()

    def lines(self, width: int) -> Sequence[Line]:
        """The page at a width in cells."""
        told = (width, _facts(self._language(), self._conversation))
        if told != self._told:
            self._told, self._lines = told, _page(*told)
        return self._lines


def _page(width: int, facts: Sequence[tuple[str, str]]) -> Sequence[Line]:
    labels = max(cell_len(label) for label, _ in facts)
    lines = [line(Span(f"dsh-tui {__version__}", "heading")), EMPTY]
    for label, value in facts:
        lead = Span(label + " " * (labels - cell_len(label) + _GAP), "muted")
        hang = Span(" " * cell_len(lead.text))
        lines += wrap([Span(value, "text")], width, indent=[lead], subsequent_indent=[hang])
    return lines


def _facts(tr: Translator, conversation: Conversation) -> list[tuple[str, str]]:
    """Label and value of each row."""
    agent = conversation.agent
    selection = agent.selection
    facts = [(tr.t("model"), clean_line(f"{selection.model} · {selection.provider}"))]
    try:
        route = conversation.route
    except LlmFailure as failure:
        facts.append((tr.t("fault"), clean_line(failure.message)))
    else:
        facts.append((tr.t("tool changes"), _changes(tr, conversation, route)))
    facts.append((tr.t("folder"), _folder(conversation.writer.header.cwd)))
    facts.append((tr.t("tools"), _tools(tr, conversation)))
    return facts


def _changes(tr: Translator, conversation: Conversation, route: Route) -> str:
    if conversation.agent.has_fallen_back(route):
        return tr.t("this route refused them: each one sends every definition again")
    return tr.t(_MODES[route.model.tool_update])


def _folder(cwd: str | None) -> str:
    if not cwd:
        return "…"
    home = str(Path.home())
    return clean_line("~" + cwd[len(home) :] if cwd == home or cwd.startswith(home + "/") else cwd)


def _tools(tr: Translator, conversation: Conversation) -> str:
    agent = conversation.agent
    names = [each.tool.name for each in agent.tools.registrations(agent)]
    if not names:
        return tr.t("none")
    more = len(names) - _NAMED_TOOLS
    listed = [tool_title(name) for name in names[:_NAMED_TOOLS]]
    if more > 0:
        listed.append(tr.n("{n} more", "{n} more", more))
    return tr.join(listed)
