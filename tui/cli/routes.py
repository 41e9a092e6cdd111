"""What this run knows of the routes that logs name."""

from __future__ import annotations

import os

from tui.cli.run import Run
from tui.llm.route_book import RouteBook


def route_book(run: Run) -> RouteBook:
    """Return a book that knows the configured providers and the built-in catalogue. Raises ConfigError."""
    if not run.config.providers:
        return RouteBook()
    from tui.llm.providers import configured_providers

    return RouteBook(configured_providers(run.config, run.config_path, os.environ))
