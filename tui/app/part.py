"""Which part of a session is shown: filters and folds, the same in both panes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Part:
    """What is left out of the panes; a change makes a new value."""

    only_tool_changes: bool = False
    bookkeeping: bool = False
    """Trajectory also shows the records that only keep the program's books."""
    calls_folded: bool = False
    """Trajectory leaves tool calls out."""
    all_turns_folded: bool = False
    """Of every turn only the heading shows."""
    folded_turns: frozenset[int] = frozenset()
    """Numbers of turns of which only the heading shows."""

    @property
    def has_folds(self) -> bool:
        return self.all_turns_folded or bool(self.folded_turns)

    def folds(self, turn: int | None) -> bool:
        """Whether a turn is folded to its heading."""
        return self.all_turns_folded or turn in self.folded_turns

    def with_turn_toggled(self, turn: int, turns: Iterable[int]) -> Part:
        """A turn folded or opened; `turns` are all there are, for when all were folded at once."""
        folded = frozenset(turns) if self.all_turns_folded else self.folded_turns
        return replace(self, all_turns_folded=False, folded_turns=folded ^ {turn})

    def with_turns_toggled(self) -> Part:
        """All turns folded, or all open if any is folded."""
        return replace(self, all_turns_folded=not self.has_folds, folded_turns=frozenset())
