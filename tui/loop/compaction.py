"""Condensing the history (loop-and-adapters §7)."""

from __future__ import annotations

from typing import NamedTuple

from tui.loop.state import Loop
from tui.session.cancel import CancelSignal


class Compacted(NamedTuple):
    summary_seq: int


async def relieve_pressure(loop: Loop, turn: int, signal: CancelSignal) -> None:
    return


async def compact_now(loop: Loop, signal: CancelSignal, *, command_id: str | None) -> Compacted:
    raise NotImplementedError
