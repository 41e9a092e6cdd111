"""Text that arrives in pieces, cut anywhere."""

from __future__ import annotations

import msgspec

from tui.session.json_text import well_formed


class Pieces(msgspec.Struct):
    """Pieces of a text so far; well-formed, also where a host cuts a character in two."""

    texts: list[str] = msgspec.field(default_factory=list[str])
    half: str = ""
    """The first half of a character whose second half comes with the next piece."""

    def take(self, text: str) -> str:
        """Add a piece and return what of it can be shown."""
        text = self.half + text
        self.half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = well_formed(text[:-1] if self.half else text)
        self.texts.append(text)
        return text

    def whole(self) -> str:
        """Return the text so far."""
        return "".join(self.texts) + well_formed(self.half)
