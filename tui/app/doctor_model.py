"""The doctor's findings as blocks of a view: each finding and each failed turn can be chosen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from tui.app.surroundings import Surroundings
from tui.blocks.doctor_layout import (
    chain_title,
    finding_lines,
    said_lines,
    turn_lines,
    verdict_lines,
    versions_copy,
    versions_lines,
)
from tui.blocks.layout import Layout
from tui.blocks.text import Line, plain
from tui.nodes.doctor import Examination

_GUTTER: Final = 2
_COPY_WIDTH: Final = 10_000
NOTE: Final = ("note", 0)
"""Key of what is said of the fresh session."""


@dataclass(frozen=True, slots=True)
class Note:
    """What is said of the fresh session: a question, what runs, what came of it."""

    title: str
    sentences: tuple[str, ...] = ()
    what: str = "note"
    """The entry of the glyph table that marks it."""


class DoctorModel:
    """A model for `BlockView`: the verdict, the findings, the chain of failed requests, the versions."""

    def __init__(self, found: Examination, surroundings: Surroundings, note: Note | None = None) -> None:
        self.found = found
        self.note = note
        self._surroundings = surroundings
        self._blocks: list[tuple[str, int]] = [("verdict", 0)]
        if note is not None:
            self._blocks.append(NOTE)
        self._blocks += [("finding", at) for at in range(len(found.findings))]
        if found.chain:
            self._blocks.append(("chain", 0))
            self._blocks += [("turn", at) for at in range(len(found.chain))]
        self._blocks.append(("versions", 0))

    def count(self) -> int:
        """Blocks in all."""
        return len(self._blocks)

    def key(self, index: int) -> Hashable:
        """What a block is."""
        return self._blocks[index]

    def index_of(self, key: Hashable) -> int | None:
        """Where a block is."""
        return next((at for at, block in enumerate(self._blocks) if block == key), None)

    def estimate(self, index: int, width: int) -> int:
        """The exact rows: there are few blocks."""
        return len(self.layout(index, width))

    def layout(self, index: int, width: int) -> Sequence[Line]:
        """The rows of a block."""
        around = self._surroundings
        layout = Layout(
            width=max(width - _GUTTER, 1), tr=around.tr, expanded=True, ascii=around.ascii_only, full=True
        )
        what, at = self._blocks[index]
        match what:
            case "finding":
                return finding_lines(self.found, at, layout)
            case "turn":
                return turn_lines(self.found.chain[at], layout)
            case "chain":
                return chain_title(layout)
            case "versions":
                return versions_lines(self.found, layout)
            case "note" if self.note is not None:
                return said_lines(self.note.title, self.note.sentences, self.note.what, layout)
            case _:
                return verdict_lines(self.found, layout)

    def selectable(self, index: int) -> bool:
        """Whether the cursor can stand on a block: it leads to an event, or there is something to copy."""
        return self._blocks[index][0] in ("note", "versions") or self.seq_of(index) is not None

    def seq_of(self, index: int) -> int | None:
        """The event that a block leads to: of a failed turn its first failed request."""
        what, at = self._blocks[index]
        if what == "finding":
            return self.found.findings[at].seq
        if what == "turn":
            return self.found.chain[at].attempts[0].seq
        return None

    def copy_text(self, index: int) -> str:
        """The text of a block, whatever the width of the screen."""
        if self._blocks[index][0] == "versions":
            return versions_copy(self.found, self._surroundings.tr)
        rows = [plain(row).rstrip() for row in self.layout(index, _COPY_WIDTH)]
        return "\n".join(row for row in rows if row) + "\n"
