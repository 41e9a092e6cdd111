"""How far a long work is, on a terminal's standard error, before there is a screen or without one."""

from __future__ import annotations

import asyncio
import sys
from time import monotonic
from typing import Final, Self

from tui.blocks.cells import cell_len
from tui.cli.run import is_terminal
from tui.i18n import Translator

QUIET_SECONDS: Final = 0.4
"""So long nothing is said."""
_EVERY_SECONDS: Final = 0.1


class Progress:
    """Writes the share that is done over itself, and takes it away at the end; a context manager."""

    def __init__(self, tr: Translator) -> None:
        self._tr = tr
        self._is_shown = is_terminal(sys.stderr)
        self._next = monotonic() + QUIET_SECONDS
        self._cells = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._cells:
            sys.stderr.write("\r" + " " * self._cells + "\r")
            sys.stderr.flush()
            self._cells = 0

    def tell(self, share: float) -> None:
        """Say how much is done. Raises KeyboardInterrupt if the task around it was interrupted meanwhile."""
        if _is_interrupted():
            raise KeyboardInterrupt
        now = monotonic()
        if not self._is_shown or now < self._next:
            return
        self._next = now + _EVERY_SECONDS
        text = self._tr.t("reading {share}", share=self._tr.percent(share))
        cells = cell_len(text)
        sys.stderr.write("\r" + text + " " * max(0, self._cells - cells))
        sys.stderr.flush()
        self._cells = max(self._cells, cells)


def _is_interrupted() -> bool:
    """An event loop only takes note of Ctrl+C, until somebody waits again."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False
    return task is not None and task.cancelling() > 0
