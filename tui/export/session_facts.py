"""What every export says about its session."""

from __future__ import annotations

from typing import Any

from tui.export.json_text import present
from tui.nodes.reading import Reading
from tui.session.damage import Damage
from tui.session.log import DAMAGE_CODE


def session_member(reading: Reading) -> dict[str, Any]:
    """Return the `session` member of a document; the whole log must have been read."""
    header = reading.log.header
    return present(
        id=header.id,
        format_version=header.version,
        cwd=header.cwd,
        title=reading.title or None,
        created_ms=header.created_ms or None,
        parent=header.parent_session,
        events=event_count(reading),
        damage=[damage_entry(damage) for damage in reading.log.damage],
    )


def event_count(reading: Reading) -> int:
    """Return how many event rows were read; faults that stand as rows do not count."""
    types = reading.log.index.types
    return len(types) - types.count(DAMAGE_CODE)


def damage_entry(damage: Damage) -> dict[str, Any]:
    """Return one entry of `session.damage`."""
    return present(
        code=damage.code,
        line=damage.line,
        offset=damage.offset,
        frame_offset=damage.frame_offset,
        reason=damage.reason,
    )
