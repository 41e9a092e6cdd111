"""What every command works with: settings, translator, output, and whether a person sits there."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tui.config import Config
from tui.i18n import Translator
from tui.settings import Settings

OK: Final = 0
TURN_FAILED: Final = 1
UNREADABLE: Final = 2
WRONG_CALL: Final = 64
NO_PROVIDER: Final = 64
INTERRUPTED: Final = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one command."""

    settings: Settings
    tr: Translator
    plain: bool
    options: Mapping[str, Any]
    """What the command was given, by dest."""
    config: Config = field(default_factory=Config)
    """The settings file."""
    config_path: Path = Path("config.toml")
    """Where it is, or would be."""

    @property
    def has_screen(self) -> bool:
        """Whether a screen can be opened: a terminal that shows it and one that keys come from."""
        if self.plain or os.environ.get("TERM") == "dumb":
            return False
        return is_terminal(sys.stdout) and is_terminal(sys.stdin)


class Refused(Exception):
    """Something that cannot be done although the call makes sense; the text is the sentence to say."""

    def __init__(self, sentence: str, *, status: int = UNREADABLE) -> None:
        super().__init__(sentence)
        self.status = status


def is_terminal(stream: Any) -> bool:
    """Whether a standard stream is a terminal; a missing or closed one is none."""
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:
        return False


def say(text: str) -> None:
    """Write a text to standard output."""
    sys.stdout.write(text)


def complain(sentence: str) -> None:
    """Write one line to standard error."""
    if sys.stderr is not None:
        sys.stderr.write(" ".join(sentence.split("\n")) + "\n")
