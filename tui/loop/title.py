"""The first title of a session: the first words of its first prompt (session-format §4.7)."""

from __future__ import annotations

from typing import Final

MAX_WORDS: Final = 5
MAX_BYTES: Final = 40


def first_words(text: str) -> str:
    """Return a title of at most 5 words and 40 UTF-8 bytes on one line; empty if the text has no words."""
    clean = "".join(char if char.isprintable() else " " for char in text[:1_000])
    title = " ".join(clean.split()[:MAX_WORDS])
    return title.encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore").strip()
