"""What is known of the routes that a log names: provider and model, rarely more (loop-and-adapters §4.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from tui.llm.failure import LlmFailure
from tui.llm.request import CallConfig
from tui.llm.route import CATALOGUE, ModelEntry, Route, ToolUpdateMode, deepseek_model

ModeSource = Literal["catalog", "assumed", "option"]
SCRIPTED: Final = "scripted"
"""The id of the built-in provider that plays scripts."""
OFFICIAL_PROVIDERS: Final = frozenset({"deepseek-official", "deepseek-account"})


class Prepared(Protocol):
    """The part of a prepared call that tells of its route."""

    @property
    def route(self) -> Route: ...


class KnownAdapter(Protocol):
    """The part of an adapter that is asked here."""

    def models(self) -> Sequence[ModelEntry]: ...


class KnownProviders(Protocol):
    """The part of the configured providers that is asked here."""

    def get(self, provider: str) -> KnownAdapter | None: ...

    def prepare(self, config: CallConfig) -> Prepared: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRoute:
    """A route and how its tool update mode is known: `assumed` also where nothing is and none is taken."""

    route: Route
    source: ModeSource

    @property
    def mode(self) -> ToolUpdateMode:
        """How the route takes tool changes in mid-session."""
        return self.route.model.tool_update


class RouteBook:
    """Answers from what the settings file lists, then from the built-in catalogue, then by assuming.

    The catalogue speaks for the official endpoint. A log names no endpoint, so another provider's model of
    a known name is taken to be that model, and said to be assumed.
    """

    def __init__(self, providers: KnownProviders | None = None) -> None:
        self._providers = providers
        self._known: dict[tuple[str, str], KnownRoute] = {}

    def route(self, provider: str, model: str) -> KnownRoute:
        """Return what is known of a provider's model."""
        key = (provider, model)
        if key not in self._known:
            self._known[key] = self._found(provider, model)
        return self._known[key]

    def _found(self, provider: str, model: str) -> KnownRoute:
        configured = self._configured(provider, model)
        if configured is not None:
            return KnownRoute(route=configured, source="catalog")
        scripted = _scripted(provider, model)
        if scripted is not None:
            return KnownRoute(route=scripted, source="catalog")
        entry = CATALOGUE.get(model)
        listed = entry is not None and provider in OFFICIAL_PROVIDERS
        return KnownRoute(
            route=_deepseek(provider, entry or deepseek_model(model)),
            source="catalog" if listed else "assumed",
        )

    def _configured(self, provider: str, model: str) -> Route | None:
        """Return the route of a model that the settings file lists."""
        adapter = self._providers.get(provider) if self._providers is not None else None
        if self._providers is None or adapter is None:
            return None
        if all(entry.id != model for entry in adapter.models()):
            return None
        try:
            return self._providers.prepare(CallConfig(provider=provider, model=model)).route
        except LlmFailure:
            return None  # What cannot be prepared is told when a request is sent; here it is just not known.


def _scripted(provider: str, model: str) -> Route | None:
    """Return the route of the built-in scripted provider, which `demo` talks to."""
    if provider != SCRIPTED:
        return None
    from tui.llm.scripted import MODELS

    entry = MODELS.get(model)
    return Route(provider=provider, kind="scripted", endpoint="", model=entry) if entry is not None else None


def _deepseek(provider: str, entry: ModelEntry) -> Route:
    return Route(provider=provider, kind="deepseek", endpoint="", model=entry)
