"""The doctor's findings as blocks of a view: each finding and each failed turn can be chosen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from tui.app.surroundings import Surroundings
from tui.blocks.doctor_layout import chain_title, finding_lines, turn_lines, verdict_lines
from tui.blocks.layout import Layout
from tui.blocks.text import Line
from tui.nodes.doctor import Examination

_GUTTER: Final = 2


class DoctorModel:
    """A model for `BlockView`: the verdict, the findings, the chain of failed requests."""

    def __init__(self, found: Examination, surroundings: Surroundings) -> None:
        self.found = found
        self._surroundings = surroundings
        self._blocks: list[tuple[str, int]] = [("verdict", 0)]
        self._blocks += [("finding", at) for at in range(len(found.findings))]
        if found.chain:
            self._blocks.append(("chain", 0))
            self._blocks += [("turn", at) for at in range(len(found.chain))]

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
            case _:
                return verdict_lines(self.found, layout)

    def selectable(self, index: int) -> bool:
        """Whether a block leads to an event."""
        return self.seq_of(index) is not None

    def seq_of(self, index: int) -> int | None:
        """The event that a block leads to: of a failed turn its first failed request."""
        what, at = self._blocks[index]
        if what == "finding":
            return self.found.findings[at].seq
        if what == "turn":
            return self.found.chain[at].attempts[0].seq
        return None
