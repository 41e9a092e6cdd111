"""Two texts as the lines that were removed and added, with the lines around them.

Signs tell what colour tells too: `+` an added line, `−` a removed one, `@@` the place of a group of changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from tui.blocks.clean import clean
from tui.blocks.text import Line, Span
from tui.blocks.wrap import wrap

CONTEXT = 3
"""Equal lines shown before and after each change."""
MAX_PRODUCT = 4_000_000
"""Removed times added lines up to which single equal lines are looked for between two texts."""


class _Change(NamedTuple):
    """Lines `old_start` to `old_end` of the old text stand for `new_start` to `new_end` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def diff_lines(
    old: str, new: str, width: int, *, context: int = CONTEXT, max_rows: int | None = None
) -> list[Line]:
    """What changed from one text to another, as lines of at most `width` cells; empty if nothing did.

    Lines are compared as they are and cleaned when they are drawn. Texts with very many changed lines are
    shown as one block of removed lines and one of added ones.
    """
    before, after = _rows(old), _rows(new)
    lines: list[Line] = []
    for group in _groups(_changes(before, after), context):
        for row in _group_rows(group, before, after, context):
            lines += _wrapped(row, width)
            if max_rows is not None and len(lines) >= max_rows:
                return lines[:max_rows]
    return lines


def count_changes(old: str, new: str) -> tuple[int, int]:
    """How many lines were added and how many removed, as `diff_lines` shows them."""
    changes = _changes(_rows(old), _rows(new))
    return sum(one.new_end - one.new_start for one in changes), sum(
        one.old_end - one.old_start for one in changes
    )


def _rows(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _changes(old: Sequence[str], new: Sequence[str]) -> list[_Change]:
    """The changes in order; the equal lines at both ends are found first, because most changes are small."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    old_end, new_end = len(old) - tail, len(new) - tail
    if start == old_end and start == new_end:
        return []
    if (old_end - start) * (new_end - start) > MAX_PRODUCT:
        return [_Change(start, old_end, start, new_end)]
    matcher = SequenceMatcher(None, old[start:old_end], new[start:new_end])
    return [
        _Change(start + low, start + high, start + new_low, start + new_high)
        for tag, low, high, new_low, new_high in matcher.get_opcodes()
        if tag != "equal"
    ]


def _groups(changes: Sequence[_Change], context: int) -> Iterator[list[_Change]]:
    group: list[_Change] = []
    for change in changes:
        if group and change.old_start - group[-1].old_end > 2 * context:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _group_rows(
    group: Sequence[_Change], old: Sequence[str], new: Sequence[str], context: int
) -> Iterator[tuple[Span, str]]:
    """The rows of a group of changes: the sign and role of each, and its text."""
    first, last = group[0], group[-1]
    start = max(first.old_start - context, 0)
    end = min(last.old_end + context, len(old))
    lead = first.old_start - start
    new_start = first.new_start - lead
    new_size = last.new_end + (end - last.old_end) - new_start
    yield (
        Span("", "diff-hunk"),
        f"@@ −{_place(start, end - start)} +{_place(new_start, new_size)} @@",
    )
    at = start
    for change in group:
        yield from ((Span("  ", "muted"), row) for row in old[at : change.old_start])
        yield from ((Span("− ", "diff-remove"), row) for row in old[change.old_start : change.old_end])
        yield from ((Span("+ ", "diff-add"), row) for row in new[change.new_start : change.new_end])
        at = change.old_end
    yield from ((Span("  ", "muted"), row) for row in old[at:end])


def _place(start: int, size: int) -> str:
    """A place as unified diffs write it: the first line, from 1 (the line before it for an empty place)."""
    return f"{start + 1 if size else start},{size}"


def _wrapped(row: tuple[Span, str], width: int) -> list[Line]:
    sign, text = row
    rest = Span(" " * len(sign.text), sign.role)
    return wrap([Span(clean(text), sign.role)], width, indent=[sign], subsequent_indent=[rest])
