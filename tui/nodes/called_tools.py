"""Which tool each recorded call named, for counting calls without decoding them again."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any

from tui.session import records as r


class CalledTools:
    """Fold of the calls of a log, nested ones included: ascending rows, each with a tool's number."""

    def __init__(self) -> None:
        self.rows = array("I")
        self.tools = array("I")
        self._numbers: dict[str, int] = {}
        self.names: list[str] = []
        """The names by number, in order of first use."""

    def handlers(self) -> dict[str, Any]:
        return {"tool/call": self._call, "tool/ptc-dispatch-start": self._call}

    def _call(self, row: int, record: r.ToolCall | r.NestedStart) -> None:
        name = record.data.name
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        self.rows.append(row)
        self.tools.append(number)

    def totals(self) -> dict[str, int]:
        """How often each tool was called."""
        return {self.names[number]: count for number, count in Counter(self.tools).items()}
