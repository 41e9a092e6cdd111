"""Exports made in the process, and where the logs to export lie."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from tui.export import Export, write_export
from tui.i18n import translator
from tui.nodes.reading import Reading

RECORDINGS = Path(__file__).resolve().parent.parent / "recordings"
TEXT_FORMATS = ("text", "md", "html", "svg")
FORMATS = (*TEXT_FORMATS, "json")
PANES = ("chat", "trajectory")

# C0 but the line end, DEL, C1, marks that turn the reading direction, separators, halves of surrogate pairs.
ORDERS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


@lru_cache(maxsize=4)
def reading(path: Path) -> Reading:
    """The log, read to its end."""
    return Reading.open(path).read_all()


def exported(path: Path, view: str, form: str, lang: str = "en", *, ascii_only: bool = False) -> str:
    """A view of a log in a format."""
    pieces: list[str] = []
    wanted = Export(view, form, ascii=ascii_only)
    write_export(pieces.append, reading(path), translator(lang), wanted)
    return "".join(pieces)


def recording(name: str) -> Path:
    """One of the repository's own recordings."""
    return RECORDINGS / name / "session.v4.jsonl"


def logs_below(folder: Path) -> list[Path]:
    """Every V4 log below a folder, plain and compressed."""
    return sorted(path for path in folder.rglob("session.v4.jsonl*") if path.suffix in (".jsonl", ".zstd"))


def case_log(shared: Path, case: str, home: str = "") -> Path:
    """The one log of a case (of one of its homes)."""
    (folder,) = (shared / "bugs" / "cases").glob(f"{case}-*")
    (log,) = logs_below(folder / "home" / home)
    return log
