"""What this run knows of the routes that logs name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tui.config import Config
from tui.llm.route_book import RouteBook

if TYPE_CHECKING:
    from tui.cli.run import Run


def routes_of(config: Config, source: Path) -> RouteBook:
    """Return a book that knows the providers of a settings file and the built-in catalogue.

    Raises ConfigError.
    """
    if not config.providers:
        return RouteBook()
    from tui.llm.providers import configured_providers

    return RouteBook(configured_providers(config, source, os.environ))


def route_book(run: Run) -> RouteBook:
    """Return what a run knows of routes. Raises ConfigError."""
    return routes_of(run.config, run.config_path)


def book_for(run: Run, view: str) -> RouteBook | None:
    """Return what a run knows of routes, for the views that tell of them. Raises ConfigError."""
    return route_book(run) if view in ("requests", "tools") else None
