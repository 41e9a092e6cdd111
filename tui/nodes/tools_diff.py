"""What differs between two tool inventories: added, removed, redefined, and probably renamed.

Inventories are those of two request headers, of one session or of two. A rename is never recorded, so it is
guessed from how alike the definitions are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from tui.nodes.notices import tool_name
from tui.session.json_text import compact
from tui.session.tool_definition import ToolDefinition, by_name

LIKENESS: Final = 0.7
"""From this likeness on a tool that went and one that came are called probably renamed."""
_SAME_SCHEMA: Final = 0.55
_COMPARED: Final = 200_000
"""Pairs that are compared at most; beyond it no rename is guessed."""
_MAX_DEPTH: Final = 60

ChangeKind: TypeAlias = Literal["added", "removed", "changed"]


class SchemaChange(NamedTuple):
    """One place of a definition where two versions differ."""

    kind: ChangeKind
    path: str
    """Members joined by dots, as `properties.seconds.maximum`."""
    before: Any = None
    after: Any = None


class Redefined(NamedTuple):
    """A tool whose definition differs, and where."""

    before: ToolDefinition
    after: ToolDefinition
    schema: tuple[SchemaChange, ...]
    """Differences of the parameters."""
    other: tuple[SchemaChange, ...]
    """Differences elsewhere but in the description: `deferLoading`, members that are not known."""

    @property
    def description_differs(self) -> bool:
        return self.before.description != self.after.description

    @property
    def only_order(self) -> bool:
        """Nothing differs but the order of members, which makes it another definition all the same."""
        return not (self.schema or self.other or self.description_differs)


class Renamed(NamedTuple):
    """A guess: a tool that went and one that came that are probably the same."""

    before: ToolDefinition
    after: ToolDefinition
    likeness: float
    """0 to 1, from schema and description."""
    same_schema: bool


class ToolsDiff(NamedTuple):
    """The difference of two inventories; renamed tools are also among the added and removed ones."""

    added: tuple[ToolDefinition, ...]
    removed: tuple[ToolDefinition, ...]
    redefined: tuple[Redefined, ...]
    renamed: tuple[Renamed, ...]
    unchanged: int

    @property
    def is_empty(self) -> bool:
        """Nothing differs."""
        return not (self.added or self.removed or self.redefined)


def tools_diff(before: Sequence[ToolDefinition], after: Sequence[ToolDefinition]) -> ToolsDiff:
    """Return what differs, each part in the order of its own inventory."""
    old, new = by_name(before), by_name(after)
    added = tuple(tool for name, tool in new.items() if name not in old)
    removed = tuple(tool for name, tool in old.items() if name not in new)
    kept = [(old[name], tool) for name, tool in new.items() if name in old]
    return ToolsDiff(
        added=added,
        removed=removed,
        redefined=tuple(_redefined(one, two) for one, two in kept if one != two),
        renamed=_renamed(removed, added),
        unchanged=sum(one == two for one, two in kept),
    )


def json_changes(before: Any, after: Any) -> tuple[SchemaChange, ...]:
    """Return where two JSON values differ; lists are compared as a whole."""
    return tuple(_changes(before, after, "", 0))


def _redefined(before: ToolDefinition, after: ToolDefinition) -> Redefined:
    old, new = before.to_json(), after.to_json()
    known = ("name", "description", "parameters")
    return Redefined(
        before,
        after,
        schema=json_changes(old.get("parameters"), new.get("parameters")),
        other=json_changes(
            {key: value for key, value in old.items() if key not in known},
            {key: value for key, value in new.items() if key not in known},
        ),
    )


def _changes(before: Any, after: Any, path: str, depth: int) -> Iterator[SchemaChange]:
    if compact(before) == compact(after):
        return
    if not isinstance(before, dict) or not isinstance(after, dict) or depth > _MAX_DEPTH:
        yield SchemaChange("changed", path, before, after)
        return
    old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
    for key in {**old, **new}:
        inner = f"{path}.{key}" if path else key
        if key not in new:
            yield SchemaChange("removed", inner, before=old[key])
        elif key not in old:
            yield SchemaChange("added", inner, after=new[key])
        else:
            yield from _changes(old[key], new[key], inner, depth + 1)


def _renamed(removed: Sequence[ToolDefinition], added: Sequence[ToolDefinition]) -> tuple[Renamed, ...]:
    """The most alike pairs first, each tool once."""
    if not removed or not added or len(removed) * len(added) > _COMPARED:
        return ()
    gone = [_Traits.of(tool) for tool in removed]
    come = [_Traits.of(tool) for tool in added]
    pairs: list[tuple[float, int, int]] = []
    for one, left in enumerate(gone):
        for two, right in enumerate(come):
            likeness = left.likeness(right)
            if likeness >= LIKENESS:
                pairs.append((-likeness, one, two))
    taken: set[tuple[str, int]] = set()
    found: list[Renamed] = []
    for negative, one, two in sorted(pairs):
        if ("-", one) in taken or ("+", two) in taken:
            continue
        taken |= {("-", one), ("+", two)}
        same = gone[one].schema == come[two].schema
        found.append(Renamed(removed[one], added[two], round(-negative, 2), same))
    return tuple(found)


class _Traits(NamedTuple):
    """What two definitions are compared by."""

    schema: str
    parts: frozenset[str]
    """Paths and plain values of the schema."""
    words: frozenset[str]
    """Words of the description, and of the tool's own name."""
    own: str

    @classmethod
    def of(cls, tool: ToolDefinition) -> _Traits:
        own = tool_name(tool.name).own
        return cls(
            compact(tool.parameters),
            frozenset(_parts(tool.parameters, "", 0)),
            frozenset(re.findall(r"\w+", f"{tool.description} {own.replace('_', ' ')}".casefold())),
            own,
        )

    def likeness(self, other: _Traits) -> float:
        """0 to 1: schema and description weigh about the same; one own name behind two servers is enough."""
        if self.own == other.own and self.schema == other.schema:
            return 1.0
        schema = 1.0 if self.schema == other.schema else _overlap(self.parts, other.parts)
        if not self.parts and not other.parts:
            # No parameters on both sides say nothing: the description decides.
            return _overlap(self.words, other.words)
        return schema * _SAME_SCHEMA + _overlap(self.words, other.words) * (1 - _SAME_SCHEMA)


def _parts(value: Any, path: str, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and depth <= _MAX_DEPTH:
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield from _parts(inner, f"{path}.{key}", depth + 1)
    elif path not in (".type", ".additionalProperties"):
        yield f"{path}={compact(value)}"


def _overlap(one: frozenset[str], two: frozenset[str]) -> float:
    both = len(one | two)
    return len(one & two) / both if both else 1.0
