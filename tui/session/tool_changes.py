"""Tool changes for readers: who came, who went, who came back and who was redefined, and where it was said.

A request header is written before the developer message that tells its change (session-format §4.3, §6.2);
a header may also change definitions alone, and then no message follows.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec

from tui.session.fold import EventLike, Fault
from tui.session.json_text import compact
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.tool_definition import DefinitionPool, ToolDefinition, by_name
from tui.session.tool_history import SeriesCause, SeriesStart, ToolHistory, ToolHistoryFold


class ToolChange(msgspec.Struct, frozen=True):
    """The tool blocks of one developer message, in block order, each name once."""

    seq: int
    header_seq: int | None
    """The header that the additions are defined in, as recorded; None without additions."""
    turn: int | None
    step: int | None
    added: tuple[str, ...]
    removed: tuple[str, ...]
    restored: tuple[str, ...]
    """Those of `added` that were active before and had been removed."""
    redefined: tuple[str, ...]
    """Those of `added` whose definition differs from the last one known under that name."""
    definitions: Mapping[str, ToolDefinition | None]
    """Added tools as the header at `header_seq` defines them, removed ones as they were last defined."""


class HeaderChange(msgspec.Struct, frozen=True):
    """What a request header changed against the one before it."""

    seq: int
    reason: str
    turn: int | None
    step: int | None
    added: tuple[str, ...]
    removed: tuple[str, ...]
    redefined: tuple[str, ...]
    """Names that both headers have, with different definitions."""
    reordered: bool
    """True if the names that both headers have stand in another order."""
    cause: SeriesCause | None
    """Why a series starts with this header; None if none does."""
    config_changed: tuple[str, ...]
    """Keys of the config that differ, and `adapterDefaults` if that differs."""

    @property
    def series_start(self) -> bool:
        """True if declarations are rebuilt from this header on."""
        return self.cause is not None

    @property
    def redefinition_only(self) -> bool:
        """True for a change of definitions that no developer message tells."""
        return bool(self.redefined) and not self.added and not self.removed


class HeaderEntry(msgspec.Struct, frozen=True):
    """One request header of the log."""

    seq: int
    reason: str
    turn: int | None
    step: int | None
    provider: str
    model: str
    tools: tuple[ToolDefinition, ...]

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the active tools in header order, each once."""
        return tuple(by_name(self.tools))


class Availability(NamedTuple):
    """Whether a tool was active at a point of the log."""

    state: Literal["active", "removed", "not-yet", "unknown"]
    seq: int | None
    """The event that says so: the addition, the removal, the later first addition; None if unknown."""


class _Transition(msgspec.Struct):
    seq: int
    active: bool
    told_by: int


class _Arrival(NamedTuple):
    """What was known of a tool when it last became active."""

    restored: bool
    definition: ToolDefinition | None


class ToolChanges:
    """Incremental fold of everything that happened to the tools of a session; tolerant, never raises.

    Contains the fold of the tool history, so that one pass serves both. Codes of `faults` are those of
    ToolHistoryFold. Spec §4.3, §6.
    """

    __slots__ = (
        "_arrivals",
        "_changes_by_seq",
        "_config",
        "_header_changes_by_seq",
        "_known",
        "_present",
        "_step",
        "_transitions",
        "_turn",
        "changes",
        "header_changes",
        "headers",
        "history",
    )

    def __init__(self, *, pool: DefinitionPool | None = None) -> None:
        self.history: Final = ToolHistoryFold(pool=pool)
        self.changes: list[ToolChange] = []
        self.header_changes: list[HeaderChange] = []
        """One entry for every header after the first."""
        self.headers: list[HeaderEntry] = []
        self._changes_by_seq: dict[int, ToolChange] = {}
        self._header_changes_by_seq: dict[int, HeaderChange] = {}
        self._config: dict[str, str] = {}
        self._known: dict[str, ToolDefinition] = {}
        self._present: set[str] = set()
        self._arrivals: dict[str, _Arrival] = {}
        self._transitions: dict[str, list[_Transition]] = {}
        self._turn: int | None = None
        self._step: int | None = None

    @property
    def series(self) -> list[SeriesStart]:
        """Every start of a series so far, in order."""
        return self.history.series

    @property
    def faults(self) -> list[Fault]:
        """What of the tool blocks and headers contradicts the format."""
        return self.history.faults

    def apply(self, event: EventLike) -> ToolChange | HeaderChange | None:
        """Fold one event in and return the change that it makes, if any."""
        kind = event.type
        if kind == "request/header":
            return self.apply_header(event.seq, self._turn, self._step, event.data)
        if kind == "developer/message":
            fields = as_object(event.data)
            return self.apply_developer(
                event.seq, as_count(fields.get("turn")), as_count(fields.get("step")), fields
            )
        if kind in ("turn/start", "step/start"):
            self._turn = as_count(as_object(event.data).get("turn"))
            self._step = as_count(as_object(event.data).get("step")) if kind == "step/start" else None
        elif kind == "step/end":
            self._step = None
        elif kind == "turn/end":
            self._turn = self._step = None
        return None

    def apply_header(self, seq: int, turn: int | None, step: int | None, data: object) -> HeaderChange | None:
        """Fold a request header in; turn and step are those open at it. The first header is no change."""
        fields = as_object(data)
        header = as_object(fields.get("header"))
        before = by_name(self.history.active)
        cause = self.history.apply_header(seq, fields)
        tools = self.history.active
        now = by_name(tools)
        reason = as_text(fields.get("reason"))
        config = as_object(header.get("config"))
        self.headers.append(
            HeaderEntry(
                seq, reason, turn, step, as_text(config.get("provider")), as_text(config.get("model")), tools
            )
        )
        added = tuple(name for name in now if name not in before)
        removed = tuple(name for name in before if name not in now)
        self._note_presence(seq, now)
        config_changed = self._take_config(config, header.get("adapterDefaults"))
        self._known.update(now)
        if len(self.headers) == 1:
            return None
        kept_before = [name for name in before if name in now]
        kept_now = [name for name in now if name in before]
        change = HeaderChange(
            seq=seq,
            reason=reason,
            turn=turn,
            step=step,
            added=added,
            removed=removed,
            redefined=tuple(name for name in kept_now if before[name] != now[name]),
            reordered=kept_before != kept_now,
            cause=cause,
            config_changed=config_changed,
        )
        self.header_changes.append(change)
        self._header_changes_by_seq[seq] = change
        return change

    def apply_developer(
        self, seq: int, turn: int | None, step: int | None, data: object
    ) -> ToolChange | None:
        """Fold a developer message in; None if it has no tool block."""
        fields = as_object(data)
        self.history.apply_developer(seq, fields)
        content = as_array(as_object(fields.get("message")).get("content"))
        added = _named(content, "tool-addition")
        removed = _named(content, "tool-removal")
        if not added and not removed:
            return None
        header_seq = as_count(fields.get("headerSeq"))
        named = by_name(() if header_seq is None else self.history.tools_of(header_seq) or ())
        definitions: dict[str, ToolDefinition | None] = {name: self._known.get(name) for name in removed}
        restored: list[str] = []
        redefined: list[str] = []
        for name in added:
            definitions[name] = named.get(name)
            arrival = self._arrival_of(name)
            if arrival.restored:
                restored.append(name)
            if arrival.definition is not None and named.get(name, arrival.definition) != arrival.definition:
                redefined.append(name)
        for name in added:
            self._tell(name, seq, header_seq, active=True)
        for name in removed:
            self._tell(name, seq, header_seq, active=False)
        change = ToolChange(
            seq, header_seq, turn, step, added, removed, tuple(restored), tuple(redefined), definitions
        )
        self.changes.append(change)
        self._changes_by_seq[seq] = change
        return change

    def snapshot(self) -> ToolHistory:
        """Return the tool history as of now; the identical object while nothing changed."""
        return self.history.snapshot()

    def change_at(self, seq: int) -> ToolChange | None:
        """Return the change that the developer message at a seq tells."""
        return self._changes_by_seq.get(seq)

    def header_change_at(self, seq: int) -> HeaderChange | None:
        """Return what the request header at a seq changed; None at the first header."""
        return self._header_changes_by_seq.get(seq)

    def active_names(self) -> frozenset[str]:
        """Return the names that the latest header declares active."""
        return frozenset(tool.name for tool in self.history.active)

    def first_added(self, name: str) -> int | None:
        """Return the seq of the event that first made a tool active: developer message, else header."""
        return next((t.told_by for t in self._transitions.get(name, ()) if t.active), None)

    def last_removed(self, name: str) -> int | None:
        """Return the seq of the event that last removed a tool, whether or not it came back since."""
        return next((t.told_by for t in reversed(self._transitions.get(name, ())) if not t.active), None)

    def availability(self, name: str, seq: int) -> Availability:
        """Return whether a tool was active for a call at a seq, and which event says so."""
        transitions = self._transitions.get(name)
        if not transitions:
            return Availability("unknown", None)
        at = bisect_right(transitions, seq, key=lambda transition: transition.seq)
        if at == 0:
            return Availability("not-yet", transitions[0].told_by)
        last = transitions[at - 1]
        return Availability("active" if last.active else "removed", last.told_by)

    def _note_presence(self, seq: int, now: Mapping[str, ToolDefinition]) -> None:
        """Let a header decide who is active, also against what messages said where headers are missing."""
        for name in now:
            if name not in self._present:
                self._arrivals[name] = _Arrival(name in self._transitions, self._known.get(name))
                self._move(name, seq, active=True)
        for name in self._present.difference(now):
            self._move(name, seq, active=False)

    def _arrival_of(self, name: str) -> _Arrival:
        if name in self._present:
            return self._arrivals[name]
        # A message says that it is here, but no header: a log with a hole.
        return _Arrival(name in self._transitions, self._known.get(name))

    def _tell(self, name: str, seq: int, header_seq: int | None, *, active: bool) -> None:
        """Let the developer message stand for what its header did, or for itself where no header did it."""
        if active != (name in self._present):
            if active:
                self._arrivals[name] = self._arrival_of(name)
            self._move(name, seq, active=active)
            return
        last = self._transitions[name][-1] if name in self._transitions else None
        latest_header = self.headers[-1].seq if self.headers else None
        if last is not None and last.told_by == last.seq and last.seq in (header_seq, latest_header):
            last.told_by = seq

    def _move(self, name: str, seq: int, *, active: bool) -> None:
        if active:
            self._present.add(name)
        else:
            self._present.discard(name)
        self._transitions.setdefault(name, []).append(_Transition(seq, active, told_by=seq))

    def _take_config(self, config: Mapping[str, Any], defaults: object) -> tuple[str, ...]:
        texts = {key: compact(value) for key, value in config.items()}
        if defaults:
            texts["adapterDefaults"] = compact(defaults)
        before, self._config = self._config, texts
        return tuple(key for key in {**before, **texts} if before.get(key) != texts.get(key))


def _named(content: Sequence[Any], kind: str) -> tuple[str, ...]:
    """The tool names of the blocks of one kind, in order, each once."""
    names: dict[str, None] = {}
    for block in content:
        fields = as_object(block)
        if fields.get("type") == kind and isinstance(fields.get("toolName"), str):
            names[fields["toolName"]] = None
    return tuple(names)
