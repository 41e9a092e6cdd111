"""What a run of the program was told: command line over settings file over environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.config import Theme
from tui.session.store import Homes

if TYPE_CHECKING:
    from tui.i18n import Translator
    from tui.llm.route_book import RouteBook
    from tui.loop.improvement import Improvement
    from tui.loop.verification import Verifier


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
    verifier: Verifier | None = None
    """Makes a fresh session ready to be tried; None: none can be."""
    improver: Callable[[Translator], Improvement | str] | None = None
    """Asks the default route to reword a draft; a sentence says why it cannot, None: it never can."""
