"""The model requests of a session, made again from its log (CONTRACT, "requests").

A request is what the surface, the headers and the tool history were before the event that tells of it. What
a route makes of it is `request_projection`'s matter.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tui.nodes.fallbacks import NOTHING_TOLD, Told
from tui.nodes.reading import Reading
from tui.nodes.request_log import Message, RequestLog
from tui.nodes.request_shape import Shape
from tui.nodes.trajectory_index import RowFlag, RowKind
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.request_messages import is_settled, mended
from tui.session.tool_definition import ToolDefinition
from tui.session.tool_history import ToolHistory

Kind = Literal["answer", "attempt", "compaction", "unanswered"]
Lack = Literal["header", "context", "instruction", "limit", "range", "damage"]

INSTRUCTION: Final = "(The instruction to summarise the conversation above is not in the log.)"
"""Stands for the text at the end of a compaction's request that no log holds."""
COMPACTION_LIMIT: Final = 65_536
"""Tokens of a summary where the log does not tell; the default of §7.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPlace:
    """Where a request stands."""

    n: int
    """Counted from 1 over the whole log."""
    index: int
    """Position of its trajectory row."""
    row: int
    seq: int
    turn: int | None
    step: int | None
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request before any route has projected it; messages are shared, do not change them."""

    place: RequestPlace
    config: Mapping[str, Any]
    """Call settings as a request header has them."""
    messages: list[Message]
    tools: tuple[ToolDefinition, ...] | None
    """The active tools; None if there are none."""
    history: ToolHistory
    system_prompt_update: str | None
    """As `request/context` tells; None also where there is none."""
    lacks: tuple[Lack, ...]
    """What it needs and the log does not hold."""
    told: Told = NOTHING_TOLD
    """What records of ours and refusals tell of how it was sent."""
    shape: Shape
    """Where developer and system messages stand."""

    @property
    def provider(self) -> str:
        """The provider's name; empty if the log has none."""
        return as_text(self.config.get("provider"))

    @property
    def model(self) -> str:
        """The model's name; empty if the log has none."""
        return as_text(self.config.get("model"))


class Requests:
    """All requests of one reading; those of a session that is being written are followed."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.log = RequestLog(reading)
        self._indexes = array("L")
        self._counted = (-1, -1)
        self._replaced: dict[int, list[int]] = {}
        self._replaced_at = -1

    @property
    def replaced(self) -> Mapping[int, list[int]]:
        """What each replacing node covers; see `Surface.replacements`."""
        surface = self.reading.surface
        if self._replaced_at != surface.content_generation:
            self._replaced = surface.replacements()
            self._replaced_at = surface.content_generation
        return self._replaced

    def __len__(self) -> int:
        return len(self._positions())

    def number_at(self, index: int) -> int | None:
        """Return the number of the request that the trajectory row at or after a position belongs to."""
        positions = self._positions()
        if not positions:
            return None
        return min(bisect_left(positions, index), len(positions) - 1) + 1

    def number_of_seq(self, seq: int) -> int | None:
        """Return the number of the first request whose event is at or after a seq, else of the last one."""
        return self.number_after(seq) or len(self) or None

    def number_after(self, seq: int) -> int | None:
        """Return the number of the first request whose event is at or after a seq."""
        reading, positions = self.reading, self._positions()
        if not len(reading.log):
            return None
        item = max(0, reading.trajectory.index.at_row(reading.log.nearest_row(seq)))
        found = bisect_left(positions, item)
        return found + 1 if found < len(positions) else None

    def place(self, n: int) -> RequestPlace:
        """Return where a request stands. Raises IndexError for a number that there is not."""
        positions = self._positions()
        if not 1 <= n <= len(positions):
            raise IndexError(n)
        index, columns = positions[n - 1], self.reading.trajectory.index
        row = columns.rows[index]
        return RequestPlace(
            n=n,
            index=index,
            row=row,
            seq=self.reading.log.seq(row),
            turn=self.reading.turn_number(columns.turns[index]),
            step=columns.steps[index] or None,
            kind=_kind(columns.kinds[index], columns.flags[index]),
        )

    def request(self, n: int) -> RecordedRequest:
        """Return a request made again; costs its own messages. Raises IndexError."""
        place = self.place(n)
        self.log.extend()
        nodes = self.reading.surface.at(self.log.nodes_before(place.row))
        return self._made(place, nodes, None)

    def walk(self, first: int = 1) -> Iterator[RecordedRequest]:
        """Yield the requests from one on, each for the cost of what changed since the one before it."""
        self.log.extend()
        surface = _Surface(self.replaced, self.log)
        if 1 < first <= len(self):
            row = self.place(first).row
            surface.begin(self.reading.surface.at(self.log.nodes_before(row)), row)
        for n in range(first, len(self) + 1):
            place = self.place(n)
            surface.advance(place.row)
            yield self._made(place, surface.nodes, surface)

    def _positions(self) -> array[int]:
        columns = self.reading.trajectory.index
        counted = (len(columns), self.reading.trajectory.request_count)
        if counted != self._counted:
            self._indexes = array("L", (at for at, _ in columns.requests.items()))
            self._counted = counted
        return self._indexes

    def _made(self, place: RequestPlace, nodes: list[int], surface: _Surface | None) -> RecordedRequest:
        log, row = self.log, place.row
        header, context = log.headers.before(row), log.contexts.before(row)
        tools = header.tools if header is not None else ()
        config: Mapping[str, Any] = header.config if header is not None else {}
        lacks: list[Lack] = [] if header is not None else ["header"]
        if context is None:
            lacks.append("context")
        if self._is_damaged_before(row):
            lacks.append("damage")
        shape: Shape | None = None
        if place.kind == "compaction":
            config, part, missing = self._compaction(place, nodes, config)
            lacks += missing
            messages = [*self._derived(part, row), _instruction()]
        elif surface is not None:
            messages, shape = surface.messages(row)
        else:
            messages = self._derived(nodes, row)
        return RecordedRequest(
            place=place,
            config=config,
            messages=messages,
            tools=tools or None,
            history=log.histories.before(row) or _NO_HISTORY,
            system_prompt_update=context.system_prompt_update if context is not None else None,
            lacks=tuple(lacks),
            told=log.fallbacks.told(as_text(config.get("provider")), as_text(config.get("model")), row),
            shape=shape if shape is not None else Shape.of(messages),
        )

    def _derived(self, nodes: Sequence[int], row: int) -> list[Message]:
        found = [message for node in nodes if (message := self.log.message(node, row)) is not None]
        return found if is_settled(found) else mended(found, self.log.started_before(row))

    def _is_damaged_before(self, row: int) -> bool:
        return any(at < row for at in self.reading.log.index.damaged)

    def _compaction(
        self, place: RequestPlace, nodes: Sequence[int], config: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], list[int], list[Lack]]:
        """Return settings, nodes, and what is missing of the request for a summary (§7.3, §12)."""
        log, columns = self.reading.log, self.reading.trajectory.index
        start = as_object(log.event(place.row).data)
        mid = columns.mids[place.index]
        summary = as_object(log.event(mid).data) if mid >= 0 else {}
        lacks: list[Lack] = ["instruction"]
        limit = as_count(summary.get("maxTokens"))
        if limit is None:
            limit = COMPACTION_LIMIT
            lacks.append("limit")
        settings = {
            "provider": summary.get("provider") or config.get("provider", ""),
            "model": summary.get("model") or config.get("model", ""),
            "maxTokens": limit,
        }
        head = 1 if nodes and self.log.is_system(nodes[0]) else 0
        covered = set(map(as_count, as_array(summary.get("shadowedSeqs"))))
        surface = self.reading.surface
        part = [node for node in nodes[head:] if surface.seq_at(node) in covered]
        if not part:
            part = self._manual_range(nodes, head, place.row)
            if mid >= 0 or start.get("turn") is not None:
                lacks.append("range")
        return settings, [*nodes[:head], *part], lacks

    def _manual_range(self, nodes: Sequence[int], head: int, row: int) -> list[int]:
        """Return all nodes but head and last one, cut where no call is parted from its result (§7.2)."""
        cut, balance = head, 0
        for at in range(head, len(nodes) - 1):
            message = self.log.message(nodes[at], row) or {}
            if message.get("role") == "assistant":
                blocks = as_array(message.get("content"))
                balance += sum(as_object(block).get("type") == "tool-call" for block in blocks)
            elif message.get("role") == "tool":
                balance -= 1
            if balance == 0:
                cut = at + 1
        return list(nodes[head:cut])


_NO_HISTORY: Final = ToolHistory((), (), None, trusted=True)


def _kind(kind: int, flags: int) -> Kind:
    if kind == RowKind.COMPACTION:
        return "compaction"
    if kind == RowKind.ASSISTANT:
        return "attempt" if flags & RowFlag.ATTEMPT else "answer"
    return "unanswered"


def _instruction() -> Message:
    return {"role": "user", "content": [{"type": "text", "text": INSTRUCTION}], "source": {"kind": "user"}}


class _Surface:
    """The surface on its way through the log, with the messages that its nodes give."""

    def __init__(self, replaced: Mapping[int, list[int]], log: RequestLog) -> None:
        self.nodes: list[int] = []
        self._log = log
        self._replacements = replaced
        self._derived: list[Message | None] = []
        # What `_derived` comes to, while nothing but appending happened since.
        self._messages: list[Message] = []
        self._shape = Shape()
        self._asked: set[str] = set()
        self._is_settled = True
        self._is_stale = False
        self._added = 0
        self._offloads = 0

    def begin(self, nodes: Sequence[int], row: int) -> None:
        """Begin with the nodes that are there before a row."""
        self.nodes = list(nodes)
        self._derived = [self._log.message(node, row) for node in self.nodes]
        self._added = self._log.nodes_before(row)
        self._offloads = bisect_left(self._log.offloads.rows, row)
        self._is_stale = True

    def advance(self, row: int) -> None:
        """Take in everything before a row."""
        until = self._log.nodes_before(row)
        for node in range(self._added, until):
            covered = self._replacements.get(node)
            message = self._log.message(node, row)
            if covered is None:
                self.nodes.append(node)
                self._derived.append(message)
                if message is not None and not self._is_stale:
                    self._append(message)
            else:
                at = self.nodes.index(covered[0])
                end = at + len(covered)
                self.nodes[at:end] = [node]
                self._derived[at:end] = [message]
                self._is_stale = True
        self._added = until
        offloads = bisect_left(self._log.offloads.rows, row)
        if offloads != self._offloads:
            self._offloads = offloads
            self._derived = [self._log.message(node, row) for node in self.nodes]
            self._is_stale = True

    def messages(self, row: int) -> tuple[list[Message], Shape | None]:
        """Return the messages of a request at a row, in a list of their own, and the shape if it is known."""
        if self._is_stale:
            self._messages, self._shape, self._asked = [], Shape(), set()
            self._is_settled, self._is_stale = True, False
            for message in self._derived:
                if message is not None:
                    self._append(message)
        if self._is_settled and not self._asked:
            return list(self._messages), self._shape.copy()
        return mended(self._messages, self._log.started_before(row)), None

    def _append(self, message: Message) -> None:
        self._messages.append(message)
        self._shape.add(message)
        role = message.get("role")
        if role == "tool":
            call_id = as_text(message.get("toolCallId"))
            if call_id in self._asked:
                self._asked.discard(call_id)
            else:
                self._is_settled = False
        elif self._asked:
            self._is_settled = False
        elif role == "assistant":
            blocks = map(as_object, as_array(message.get("content")))
            self._asked = {as_text(block.get("id")) for block in blocks if block.get("type") == "tool-call"}
