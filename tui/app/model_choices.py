"""The models that can be asked, as a list to choose from: what each route takes and how much it reads."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from tui.app.conversation import Conversation
from tui.app.surroundings import Surroundings
from tui.blocks.cells import cell_len, fit
from tui.blocks.clean import clean_line
from tui.blocks.glyphs import mark
from tui.blocks.text import Line, Span, crop, line, pad
from tui.i18n import Translator
from tui.llm.failure import LlmFailure
from tui.llm.request import CallConfig
from tui.llm.route import ModelEntry

_GAP: Final = 2
_SIGN: Final = 2
_WINDOW: Final = 7
_NARROW: Final = 48
"""Below this width the context window has no column."""


class Choice(NamedTuple):
    """One model behind one provider."""

    provider: str
    model: str
    entry: ModelEntry | None
    """What the route takes; None: it is not listed, so that is known when it is asked."""
    is_asked: bool
    """The model that the next request goes to."""
    has_fallen_back: bool = False
    """The route refused tool changes and is sent full definitions."""

    @property
    def name(self) -> str:
        """What the command `/model` takes."""
        return f"{self.provider}/{self.model}"


def choices(conversation: Conversation) -> list[Choice]:
    """Every model that a provider lists, and the one that is asked if none does."""
    asked = conversation.agent.selection
    found: list[Choice] = []
    for provider in conversation.providers.ids:
        adapter = conversation.providers.get(provider)
        for entry in adapter.models() if adapter is not None else ():
            is_asked = (provider, entry.id) == (asked.provider, asked.model)
            found.append(_choice(conversation, provider, entry, is_asked=is_asked))
    if not any(choice.is_asked for choice in found):
        found.insert(0, Choice(asked.provider, asked.model, None, is_asked=True))
    return found


def _choice(conversation: Conversation, provider: str, entry: ModelEntry, *, is_asked: bool) -> Choice:
    try:
        route = conversation.providers.prepare(CallConfig(provider=provider, model=entry.id)).route
    except LlmFailure:
        return Choice(provider, entry.id, entry, is_asked)
    return Choice(provider, entry.id, route.model, is_asked, conversation.agent.has_fallen_back(route))


def meant(found: Sequence[Choice], typed: str, providers: Sequence[str], asked: str) -> Choice:
    """The choice that `[PROVIDER/]MODEL` names; a model that nobody lists is one too.

    A model without a provider belongs to the first that lists it, else to the one that is `asked` now.
    """
    provider, slash, model = typed.partition("/")
    if not slash or provider not in providers:
        model = typed
        provider = next((choice.provider for choice in found if choice.model == typed), asked)
    known = next((choice for choice in found if (choice.provider, choice.model) == (provider, model)), None)
    return known or Choice(provider, model, None, is_asked=False)


class ModelList:
    """The list that a filter narrows; a block a choice.

    Args:
        found: all there is to choose from.
        surroundings: language and glyphs.
        providers: the configured ones, for a model that is not listed.
    """

    def __init__(self, found: Sequence[Choice], surroundings: Surroundings, providers: Sequence[str]) -> None:
        self.surroundings = surroundings
        self._all = tuple(found)
        self._providers = tuple(providers)
        self._asked = next((choice.provider for choice in found if choice.is_asked), "")
        self.shown: list[Choice] = list(found)

    def filter(self, text: str) -> None:
        """Show the models that hold all the words; if none does, the one of that name that is not listed."""
        words = text.casefold().split()
        self.shown = [choice for choice in self._all if _holds(self.surroundings.tr, choice, words)]
        name = text.strip()
        if not self.shown and name and not any(part.isspace() for part in name):
            self.shown = [meant(self._all, name, self._providers, self._asked)]

    def asked(self) -> int | None:
        """Where the model stands that is asked now, if it is shown."""
        return next((at for at, choice in enumerate(self.shown) if choice.is_asked), None)

    # -- BlockModel --

    def count(self) -> int:
        """Choices that are shown."""
        return len(self.shown)

    def key(self, index: int) -> Hashable:
        """Its name."""
        return self.shown[index].name

    def index_of(self, key: Hashable) -> int | None:
        """Where a choice is."""
        return next((at for at, choice in enumerate(self.shown) if choice.name == key), None)

    def estimate(self, index: int, width: int) -> int:
        """One row each."""
        return 1

    def layout(self, index: int, width: int) -> Sequence[Line]:
        """The row of a choice."""
        return [self._row(self.shown[index], width)]

    def selectable(self, index: int) -> bool:
        """Every one."""
        return True

    # -- drawing --

    def heading(self, width: int) -> Line:
        """The names of the columns."""
        tr = self.surroundings.tr
        left = line(Span(" " * _SIGN + tr.t("Model"), "muted"))
        return self._joined(left, tr.t("Tool changes"), tr.t("Context"), width)

    def _row(self, choice: Choice, width: int) -> Line:
        around = self.surroundings
        sign = mark("ok", around.ascii_only).text if choice.is_asked else " "
        left = [Span(fit(sign, _SIGN), "ok"), Span(clean_line(choice.provider + "/"), "muted")]
        left.append(Span(clean_line(choice.model), "text bold" if choice.is_asked else "text"))
        size, more = "", ""
        if choice.entry is not None:
            size = around.tr.compact(choice.entry.context_window)
            more = clean_line(choice.entry.display) if choice.entry.display != choice.model else ""
        return self._joined(line(*left), mode_text(around.tr, choice), size, width, more=more)

    def _joined(self, left: Line, mode: str, window: str, width: int, *, more: str = "") -> Line:
        """A row whose last two columns stand at the right end; `more` is shown if all of it has room."""
        mode_cells, window_cells = self._columns(width)
        right = [Span(" " * _GAP), Span(fit(mode, mode_cells), "muted")]
        if window_cells:
            right += [Span(" " * (_GAP + window_cells - cell_len(window))), Span(window, "muted")]
        room = max(1, width - sum(cell_len(span.text) for span in right))
        if more and left.cells + _GAP + cell_len(more) <= room:
            left = line(*left.spans, Span(" " * _GAP + more, "faint"))
        return crop(line(*pad(crop(left, room), room).spans, *right), width)

    def _columns(self, width: int) -> tuple[int, int]:
        """Cells of the mode and of the context window; 0 for one without room."""
        tr = self.surroundings.tr
        told = [tr.t("Tool changes"), *(mode_text(tr, choice) for choice in self._all)]
        mode = min(max(cell_len(text) for text in told), max(8, width // 3))
        window = max(_WINDOW, cell_len(tr.t("Context"))) if width >= _NARROW else 0
        return mode, window


def mode_text(tr: Translator, choice: Choice) -> str:
    """How a route takes tool changes, in a word."""
    if choice.entry is None:
        return tr.t("not listed")
    if choice.has_fallen_back:
        return tr.t("refused them")
    return choice.entry.tool_update or tr.t("no tool updates")


def _holds(tr: Translator, choice: Choice, words: Sequence[str]) -> bool:
    display = choice.entry.display if choice.entry is not None else ""
    text = f"{choice.name} {display} {mode_text(tr, choice)}".casefold()
    return all(word in text for word in words)
