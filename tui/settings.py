"""What a run of the program was told: command line over settings file over environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.config import Theme
from tui.session.store import Homes

if TYPE_CHECKING:
    from tui.llm.route_book import RouteBook


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of one run; every screen and every command gets the same."""

    lang: str
    """"en" or "zh"."""
    theme: Theme
    ascii: bool
    """Glyphs in their ASCII form."""
    no_color: bool
    keys: Mapping[str, tuple[str, ...]]
    """Keys that the reader gave to action ids."""
    homes: Homes
    routes: Callable[[], RouteBook] | None = None
    """Tells what the settings file says of routes; None: nothing."""
