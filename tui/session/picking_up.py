"""Reading a stored session for writing: the folds over it, and how its torn tail is to be cut back.

What dsh would refuse, and what readers can show but nobody should build on, is refused (session-format §2.5,
§7.1, §9.3): the file is then left as it is, and a copy may go on.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Final, NamedTuple

from tui.session.damage import Damage
from tui.session.durable import Cut, Encoding
from tui.session.event_list import EventList
from tui.session.events import event_of
from tui.session.frames import pread
from tui.session.log import SessionLog
from tui.session.naming import parse_log_name
from tui.session.progress import Told, counted, part
from tui.session.reader import read_log
from tui.session.rule_error import LogRuleError
from tui.session.session_state import SessionState
from tui.session.source import PIECE
from tui.session.store import generations
from tui.session.write_errors import SessionRefused

_READ: Final = 0.3
"""Share of the time that reading takes, before the folds."""


class PickedUp(NamedTuple):
    """A stored session ready to be continued."""

    log: SessionLog
    encoding: Encoding
    state: SessionState
    events: EventList
    cut: Cut | None


def check_generation(path: Path) -> Encoding:
    """Return the encoding by a log's name; raises SessionRefused unless it is the folder's newest V4 log."""
    name = parse_log_name(path.name)
    if name is None:
        raise SessionRefused(path, "older-generation", "the file is not named as a session's log")
    newest = generations(path.parent)
    if newest and newest[0].path.name != path.name:
        other = newest[0]
        code = "mixed-encodings" if other.name.version == name.version else "older-generation"
        raise SessionRefused(path, code, f"{other.path.name} stands beside it")
    if len(newest) > 1 and newest[1].name.version == name.version:
        raise SessionRefused(path, "mixed-encodings", f"{newest[1].path.name} stands beside it")
    return name.encoding


def pick_up(path: Path, *, unknown_allowed: bool = False, told: Told | None = None) -> PickedUp:
    """Read a log whole and fold it; `told` hears how far that is.

    Raises SessionUnreadable, or SessionRefused `damaged`, `unknown-events`, `rule`.
    """
    encoding = check_generation(path)
    log = read_log(path, told=part(told, 0.0, _READ))
    try:
        return _fold(log, encoding, unknown_allowed, part(told, _READ, 1.0))
    except BaseException:
        log.close()
        raise


def _fold(log: SessionLog, encoding: Encoding, unknown_allowed: bool, told: Told | None) -> PickedUp:
    rows, cut, recovered = sound_rows(log)
    if not unknown_allowed:
        refuse_unknown(log, rows)
    events = EventList(log, rows - len(recovered))
    state = SessionState(log.header, events.event, unknown_allowed=unknown_allowed)
    try:
        for row in counted(range(rows - len(recovered)), told):
            state.apply(event_of(log.raw(row), row))
        for at, line in enumerate(recovered):
            event = event_of(line, rows - len(recovered) + at)
            state.apply(event)
            events.append(event)
        state.rules.finish()
    except LogRuleError as error:
        raise refused_by_rule(log.path, error) from error
    return PickedUp(log, encoding, state, events, cut)


def refuse_unknown(log: SessionLog, rows: int) -> None:
    """Raise SessionRefused `unknown-events` if one of the first rows is unknown and not ignorable."""
    for row, record in log.index.unknown.items():
        if row < rows and not record.ignorable and not record.known:
            raise SessionRefused(
                log.path,
                "unknown-events",
                f"event {record.seq} is of the unknown type {record.type_name}",
                type=record.type_name,
                seq=record.seq,
            )


def refused_by_rule(path: Path, error: LogRuleError) -> SessionRefused:
    """Return the refusal of a log that breaks a rule."""
    return SessionRefused(path, "rule", error.sentence, rule=error.rule, type=error.event_type, seq=error.seq)


def sound_rows(log: SessionLog) -> tuple[int, Cut | None, list[bytes]]:
    """Return how many rows count, how to cut what follows them, and the whole lines of a torn frame.

    Raises SessionRefused `damaged` for any other damage.
    """
    faults = [damage for damage in log.damage if damage.code not in ("unknown-event", "bad-event")]
    if not faults:
        return len(log), None, []
    first = faults[0]
    row = next(row for row, at in log.index.damaged.items() if log.damage[at] is first)
    if first.code == "torn-tail" and len(faults) == 1 and row == len(log) - 1:
        if log.source.encoding == "none":
            return row, Cut(first.offset, ()), []
        return _torn_frame(log, first, row)
    if first.code == "bad-row" and log.source.encoding == "none" and _is_uncommitted(log, faults, row):
        return row, Cut(log.index.offsets[row], ()), []
    raise _damaged(log, first)


def _torn_frame(log: SessionLog, damage: Damage, row: int) -> tuple[int, Cut | None, list[bytes]]:
    start = damage.frame_offset
    if start is None:
        raise _damaged(log, damage)
    lines = _whole_lines(_fragment(log, start))
    kept = row - len(lines)
    if kept < 0 or any(log.raw(kept + at) != line for at, line in enumerate(lines)):
        # A row that began in the frame before: its first half would stay behind.
        raise _damaged(log, damage)
    return row, Cut(start, tuple(line + b"\n" for line in lines)), lines


def _fragment(log: SessionLog, start: int) -> bytes:
    import zstandard

    with open(log.path, "rb") as file:
        data = pread(file.fileno(), log.source.file_size - start, start)
    pieces: list[bytes] = []
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)) as reader:
            while piece := reader.read(PIECE):
                pieces.append(piece)
    except zstandard.ZstdError:
        # A fragment gives what it gives.
        return b"".join(pieces)
    return b"".join(pieces)


def _whole_lines(text: bytes) -> list[bytes]:
    return text.split(b"\n")[:-1]


def _is_uncommitted(log: SessionLog, faults: list[Damage], row: int) -> bool:
    """Whether a bad row has no end of a turn after it, so that dsh drops it and what follows (§2.5)."""
    if any(fault.code not in ("bad-row", "torn-tail", "seq-hole") for fault in faults):
        return False
    return all(log.type_name(later) != "turn/end" for later in range(row + 1, len(log)))


def _damaged(log: SessionLog, damage: Damage) -> SessionRefused:
    return SessionRefused(
        log.path, "damaged", damage.reason, damage=damage.code, line=damage.line, offset=damage.offset
    )
