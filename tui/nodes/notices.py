"""Tool-change notices: what a reader is told about a developer message or a header.

Facts only; counts, names and descriptions. Definitions are resolved through `headerSeq` (spec session-
format §4.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from tui.session.tool_changes import HeaderChange, ToolChange
from tui.session.tool_definition import ToolDefinition


class ToolName(NamedTuple):
    """A tool's name apart: the server (or plugin) that brings it and its own name."""

    server: str
    own: str


def tool_name(name: str) -> ToolName:
    """Take `mcp__server__tool` apart; any other name has no server.

    For sessions of other programs this is a guess, so exports keep names whole.
    """
    if name.startswith("mcp__"):
        server, separator, own = name[5:].partition("__")
        if separator and server and own:
            return ToolName(server, own)
    return ToolName("", name)


class ToolLine(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of a notice."""

    name: str
    description: str
    """First line of the definition's description; empty where the log holds no definition."""
    restored: bool = False
    redefined: bool = False
    definition: ToolDefinition | None = None


class ToolNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the active tools, as one developer message recorded it."""

    seq: int
    header_seq: int | None
    added: tuple[ToolLine, ...]
    removed: tuple[ToolLine, ...]

    @property
    def count(self) -> int:
        return len(self.added) + len(self.removed)

    @property
    def expandable(self) -> bool:
        """More than one tool: a count that opens to lists."""
        return self.count > 1

    @property
    def restored(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.added if tool.restored)

    @property
    def redefined(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.added if tool.redefined)

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers that the names tell of, each once."""
        names = [tool_name(tool.name).server for tool in (*self.added, *self.removed)]
        return tuple(dict.fromkeys(server for server in names if server))


class HeaderNotice(msgspec.Struct, frozen=True, kw_only=True):
    """What a request header changed against the one before it."""

    seq: int
    reason: str
    redefined: tuple[ToolLine, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    reordered: bool
    config_changed: tuple[str, ...]
    series_cause: str | None
    """Why a new request series starts here; None if none does."""
    tool_count: int
    model: str
    provider: str
    first: bool = False


def first_line(text: str) -> str:
    """The first non-blank line of a description."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def tool_notice(change: ToolChange) -> ToolNotice:
    """The notice of a change."""
    restored, redefined = set(change.restored), set(change.redefined)

    def lines(names: Iterable[str], *, added: bool) -> tuple[ToolLine, ...]:
        return tuple(
            ToolLine(
                name=name,
                description=_described(change.definitions.get(name)),
                restored=added and name in restored,
                redefined=added and name in redefined,
                definition=change.definitions.get(name),
            )
            for name in names
        )

    return ToolNotice(
        seq=change.seq,
        header_seq=change.header_seq,
        added=lines(change.added, added=True),
        removed=lines(change.removed, added=False),
    )


def header_notice(
    change: HeaderChange,
    definitions: dict[str, ToolDefinition],
    *,
    tool_count: int,
    provider: str,
    model: str,
) -> HeaderNotice:
    """The notice of a header; `definitions` are those of the header itself."""
    return HeaderNotice(
        seq=change.seq,
        reason=change.reason,
        redefined=tuple(
            ToolLine(
                name=name,
                description=_described(definitions.get(name)),
                redefined=True,
                definition=definitions.get(name),
            )
            for name in change.redefined
        ),
        added=change.added,
        removed=change.removed,
        reordered=change.reordered,
        config_changed=change.config_changed,
        series_cause=change.cause,
        tool_count=tool_count,
        model=model,
        provider=provider,
    )


def _described(definition: ToolDefinition | None) -> str:
    return first_line(definition.description) if definition is not None else ""
