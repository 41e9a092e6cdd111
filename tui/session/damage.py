"""What is wrong with a log, as facts: a code, a place, a reason."""

from __future__ import annotations

import msgspec


class Damage(msgspec.Struct, frozen=True):
    """One fault found while reading a log.

    `line` counts physical lines from 1 (the header); `offset` is a byte offset in the decoded text;
    `frame_offset` is a byte offset in the file, set for zstd logs only. `reason` is a technical fact without
    advice; the numbers a localised sentence needs are in `fields`.
    """

    code: str
    line: int
    offset: int
    reason: str
    frame_offset: int | None = None
    fields: dict[str, int | str] = {}
