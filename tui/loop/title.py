"""The first title of a session: the first words of its first prompt (session-format §4.7)."""

from __future__ import annotations

import re
from typing import Final

MAX_WORDS: Final = 5
MAX_BYTES: Final = 40
MAX_TITLE_BYTES: Final = 80

_HEADING: Final = re.compile(r"\s*#{1,6}[ \t]+(?P<title>[^\r\n]*?)[ \t#]*(?:[\r\n]|$)")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


def one_line(text: str) -> str:
    """Return a title as a log may hold it: one line without control characters, at most 80 UTF-8 bytes."""
    return _cut(_words(text), MAX_TITLE_BYTES)


def first_words(text: str) -> str:
    """Return a title of at most 5 words and 40 UTF-8 bytes on one line; empty if the text has no words."""
    return _cut(_words(text)[:MAX_WORDS], MAX_BYTES)


def heading(text: str) -> str:
    """Return the Markdown heading that a text begins with, as a title; empty if it begins with none."""
    found = _HEADING.match(text[:1_000])
    return one_line(_ESCAPE.sub(r"\1", found["title"])) if found is not None else ""


def first_title(text: str) -> str:
    """Return what a session is called after its first prompt; empty if that has no words."""
    return heading(text) or first_words(text)


def _words(text: str) -> list[str]:
    return "".join(char if char.isprintable() else " " for char in text[:1_000]).split()


def _cut(words: list[str], size: int) -> str:
    return " ".join(words).encode("utf-8", "replace")[:size].decode("utf-8", "ignore").strip()
