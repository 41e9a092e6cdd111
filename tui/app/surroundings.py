"""What every screen is given: the reader's language, the keys in force, and whether only ASCII is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tui.app.actions import Keys, key_name
from tui.i18n import Translator


@dataclass(frozen=True, slots=True)
class Surroundings:
    """One value for all that a screen takes from outside; a change of language makes a new one."""

    tr: Translator
    keys: Mapping[str, Keys]
    ascii_only: bool = False

    def key(self, action: str) -> str:
        """The first key of an action as the reader's keyboard calls it; "" for one off the keyboard."""
        keys = self.keys[action]
        return key_name(keys[0], self.tr, ascii_only=self.ascii_only) if keys else ""

    def key_word(self, action: str) -> str:
        """The first key of an action as a sentence names it: Enter, not its sign."""
        keys = self.keys[action]
        return key_name(keys[0], self.tr, ascii_only=True) if keys else ""
