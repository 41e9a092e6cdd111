"""What the operating system says of files, in the reader's language.

The system says it in English whatever the language; what is not known here stands as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tui.i18n import N_, Translator

_REASONS: Final[Mapping[str, str]] = {
    "No such file or directory": N_("No such file or directory"),
    "Permission denied": N_("Permission denied"),
    "Operation not permitted": N_("Operation not permitted"),
    "Is a directory": N_("Is a directory"),
    "Not a directory": N_("Not a directory"),
    "Directory not empty": N_("Directory not empty"),
    "File exists": N_("File exists"),
    "File name too long": N_("File name too long"),
    "File too large": N_("File too large"),
    "Too many levels of symbolic links": N_("Too many levels of symbolic links"),
    "Too many open files": N_("Too many open files"),
    "No space left on device": N_("No space left on device"),
    "Disk quota exceeded": N_("Disk quota exceeded"),
    "Read-only file system": N_("Read-only file system"),
    "Input/output error": N_("Input/output error"),
    "Stale file handle": N_("Stale file handle"),
    "Device or resource busy": N_("Device or resource busy"),
    "Exec format error": N_("Exec format error"),
    "Broken pipe": N_("Broken pipe"),
    "Bad file descriptor": N_("Bad file descriptor"),
    "Invalid argument": N_("Invalid argument"),
}
"""By what `os.strerror` says."""


def os_reason(tr: Translator, said: OSError | str) -> str:
    """Why something failed, from the error or from what the system said."""
    text = said if isinstance(said, str) else said.strerror or type(said).__name__
    return tr.t(_REASONS[text]) if text in _REASONS else text


def os_sentence(tr: Translator, error: OSError, where: str = "dsh-tui") -> str:
    """The file and the reason, in one sentence; `where` stands for a file that the error does not name."""
    file = error.filename if error.filename is not None else where
    return tr.t("{file}: {reason}", file=file, reason=os_reason(tr, error))
