"""The surface: which messages of a log a model would be sent, and in which order.

A fold of the five surface event types and of image offloads (session-format §5). A replacement keeps the
place of what it covers, so places never have to be renumbered: a node is found by its seq, its order by its
place, and a covered range is walked only over the nodes that are still there.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any, Final

from tui.session.events import SURFACE_TYPES
from tui.session.fold import EventLike, Fault
from tui.session.json_value import MAX_SAFE_INTEGER, as_array, as_count, as_object

_DROPPED_WHEN_EMPTY: Final = frozenset({"system/message", "developer/message", "assistant/message"})
_NOT_REPLACED: Final = -1
_MAX_NARROW_SEQ: Final = 2**31 - 1
_NO_OFFLOADS: Final[frozenset[int]] = frozenset()


class Surface:
    """Incremental fold of the surface; one event at a time, amortised constant cost.

    Seqs name nodes. A step that the format does not allow is kept as a `Fault` and never raises: the codes
    are `bad-seq`, `seq-repeat`, `no-surface-op`, `bad-surface-op`, `unknown-node`, `crossing-range`,
    `bad-offload`. Spec §5.
    """

    __slots__ = (
        "_by_seq",
        "_cells",
        "_offloaded",
        "_place",
        "_replaced_by",
        "_seqs",
        "content_generation",
        "faults",
    )

    def __init__(self) -> None:
        self.content_generation: int = 0
        """Raised by every replacement and every image offload, never by an append."""
        self.faults: list[Fault] = []
        # One slot per node ever added, in the order of adding; 'i' until a seq needs more than 32 bits.
        self._seqs: array[int] = array("i")
        self._place: array[int] = array("i")
        self._replaced_by: array[int] = array("i")
        # One cell per place: the slot of the node there, or -(next place to look at) - 1 if it was covered.
        self._cells: array[int] = array("i")
        # Only a log whose seqs do not increase needs a map; all others are searched by bisection.
        self._by_seq: dict[int, int] | None = None
        self._offloaded: dict[int, frozenset[int]] = {}

    def apply(self, event: EventLike) -> None:
        """Fold one event in; events that do not concern the surface are ignored."""
        kind = event.type
        if kind in SURFACE_TYPES:
            self._apply_message(event)
        elif kind == "image/offload":
            self.offload(event.seq, as_object(event.data).get("targets"))

    def append(self, seq: int) -> None:
        """Add a node at the end of the surface."""
        seqs = self._seqs
        if self._by_seq is None and seqs and seqs[-1] < seq <= _MAX_NARROW_SEQ:
            # The ordinary case, without the calls that the others need.
            self._cells.append(len(seqs))
            self._place.append(len(self._cells) - 1)
            self._replaced_by.append(_NOT_REPLACED)
            seqs.append(seq)
            return
        place = len(self._cells)
        slot = self._add_slot(seq, place)
        if slot is not None:
            self._cells.append(slot)

    def replace(self, seq: int, start_seq: int, end_seq: int) -> tuple[int, ...]:
        """Put a node in the place of the nodes from start_seq to end_seq and return the seqs that it covers.

        A range that is not on the surface is a fault; the node is then appended and covers nothing.
        """
        first = self._live_slot(start_seq)
        last = self._live_slot(end_seq)
        if first is None or last is None:
            missing = start_seq if first is None else end_seq
            self._fault(seq, "unknown-node", f"seq {missing} is not on the surface")
            self.append(seq)
            return ()
        place, end = self._place[first], self._place[last]
        if place > end:
            self._fault(seq, "crossing-range", f"seq {start_seq} stands after seq {end_seq} on the surface")
            self.append(seq)
            return ()
        slot = self._add_slot(seq, place)
        if slot is None:
            return ()
        covered: list[int] = []
        cells, at = self._cells, place
        while at <= end:
            shadowed = cells[at]
            if shadowed < 0:
                at = -shadowed - 1
                continue
            covered.append(self._seqs[shadowed])
            self._replaced_by[shadowed] = seq
            at += 1
        # `at` may lie behind `end`: the covered node at `end` can own an emptied range of its own.
        while at < len(cells) and cells[at] < 0:
            at = -cells[at] - 1
        cells[place] = slot
        if at > place + 1:
            cells[place + 1] = -at - 1
        self.content_generation += 1
        return tuple(covered)

    def between(self, start_seq: int, end_seq: int) -> tuple[int, ...] | None:
        """Return the nodes from start_seq to end_seq in order; None if these are no range of the surface."""
        first, last = self._live_slot(start_seq), self._live_slot(end_seq)
        if first is None or last is None or self._place[first] > self._place[last]:
            return None
        at, end = self._place[first], self._place[last]
        found: list[int] = []
        while at <= end:
            slot = self._cells[at]
            if slot < 0:
                at = -slot - 1
            else:
                found.append(self._seqs[slot])
                at += 1
        return tuple(found)

    def offload(self, seq: int, targets: object) -> None:
        """Mark images of current nodes as offloaded; `targets` is that of an `image/offload` event (§4.8)."""
        entries = as_array(targets)
        if not entries:
            self._fault(seq, "bad-offload", "there are no targets")
            return
        for target in entries:
            node = as_count(as_object(target).get("seq"))
            indexes = [as_count(index) for index in as_array(as_object(target).get("imageIndexes"))]
            if node is None or None in indexes:
                self._fault(seq, "bad-offload", "a target has no seq or a wrong image index")
            elif self._live_slot(node) is None:
                self._fault(seq, "unknown-node", f"seq {node} is not on the surface")
            else:
                known = self._offloaded.get(node, _NO_OFFLOADS)
                self._offloaded[node] = known.union(index for index in indexes if index is not None)
        self.content_generation += 1

    def nodes(self) -> list[int]:
        """Return the seqs of the surface in order; the cost is that of the surface's length."""
        return list(self)

    def __iter__(self) -> Iterator[int]:
        cells, at = self._cells, 0
        while at < len(cells):
            slot = cells[at]
            if slot < 0:
                at = -slot - 1
            else:
                yield self._seqs[slot]
                at += 1

    def __contains__(self, seq: int) -> bool:
        return self._live_slot(seq) is not None

    def replaced_by(self, seq: int) -> int | None:
        """Return the seq of the event that replaced this node, or None if none did or it never was a node."""
        slot = self._slot(seq)
        if slot is None or self._replaced_by[slot] == _NOT_REPLACED:
            return None
        return self._replaced_by[slot]

    def offloaded(self, seq: int) -> frozenset[int]:
        """Return the indexes of this node's offloaded images, counted over its image blocks from 0."""
        return self._offloaded.get(seq, _NO_OFFLOADS)

    def at(self, added: int) -> list[int]:
        """Return the surface as it was when so many nodes had been added, in order.

        Nodes are told by their position in the order of adding; the cost is that of all nodes added by then.
        """
        seqs, replaced, place = self._seqs, self._replaced_by, self._place
        if self._by_seq is None:
            # Numbers increase, so that what came later has a greater one.
            end = seqs[added] if added < len(seqs) else MAX_SAFE_INTEGER + 1
            found = [slot for slot in range(added) if not 0 <= replaced[slot] < end]
        else:
            found = [slot for slot in range(added) if not 0 <= self._replacing(slot) < added]
        found.sort(key=place.__getitem__)
        return found

    def replacements(self) -> dict[int, list[int]]:
        """Return which nodes each replacing node covered, in order; nodes are told as in `at`."""
        found: dict[int, list[int]] = {}
        for slot, by in enumerate(self._replaced_by):
            if by != _NOT_REPLACED:
                found.setdefault(self._replacing(slot), []).append(slot)
        for covered in found.values():
            covered.sort(key=self._place.__getitem__)
        return found

    def seq_at(self, slot: int) -> int:
        """Return the seq of a node by its position in the order of adding."""
        return self._seqs[slot]

    @property
    def added(self) -> int:
        """How many nodes were ever added."""
        return len(self._seqs)

    def _replacing(self, slot: int) -> int:
        by = self._replaced_by[slot]
        found = None if by == _NOT_REPLACED else self._slot(by)
        return -1 if found is None else found

    def _apply_message(self, event: EventLike) -> None:
        seq, operation = event.seq, event.surface_op
        if operation == "append":
            self.append(seq)
            return
        if operation is None:
            self._fault(seq, "no-surface-op", f"{event.type} has no surfaceOp")
            self.append(seq)
            return
        fields = as_object(operation)
        start, end = as_count(fields.get("startSeq")), as_count(fields.get("endSeq"))
        if fields.get("op") != "replace" or start is None or end is None:
            self._fault(seq, "bad-surface-op", "surfaceOp is neither append nor a replacement")
            self.append(seq)
            return
        self.replace(seq, start, end)

    def _add_slot(self, seq: int, place: int) -> int | None:
        """Add a node at a place and return its slot, or None if seq is no seq at all."""
        slot = len(self._seqs)
        if not 0 <= seq <= MAX_SAFE_INTEGER:
            self._fault(seq, "bad-seq", "seq is out of range")
            return None
        if self._by_seq is not None:
            if seq in self._by_seq:
                self._fault(seq, "seq-repeat", f"seq {seq} is on the log twice")
            self._by_seq[seq] = slot
        elif slot and seq <= self._seqs[-1]:
            self._by_seq = {known: at for at, known in enumerate(self._seqs)}
            if seq in self._by_seq:
                self._fault(seq, "seq-repeat", f"seq {seq} is on the log twice")
            self._by_seq[seq] = slot
        try:
            self._seqs.append(seq)
        except OverflowError:
            self._seqs = array("q", self._seqs)
            self._replaced_by = array("q", self._replaced_by)
            self._seqs.append(seq)
        self._place.append(place)
        self._replaced_by.append(_NOT_REPLACED)
        return slot

    def _slot(self, seq: int) -> int | None:
        if self._by_seq is not None:
            return self._by_seq.get(seq)
        slot = bisect_left(self._seqs, seq)
        return slot if slot < len(self._seqs) and self._seqs[slot] == seq else None

    def _live_slot(self, seq: int) -> int | None:
        slot = self._slot(seq)
        return slot if slot is not None and self._replaced_by[slot] == _NOT_REPLACED else None

    def _fault(self, seq: int, code: str, detail: str) -> None:
        self.faults.append(Fault(seq, code, detail))


def message_of(event: EventLike) -> dict[str, Any]:
    """Return the message that a surface event carries; an empty object if it carries none. Spec §4.3."""
    data = as_object(event.data)
    return data if event.type == "user/message" else as_object(data.get("message"))


def derive_messages(surface: Surface, lookup: Callable[[int], EventLike]) -> list[dict[str, Any]]:
    """Return the messages of the surface in order, as dsh derives them for a request.

    `lookup` gives the event of a seq; a seq that it raises LookupError for is left out. Empty system,
    developer and assistant messages give none. Messages are the events' own objects: do not change them.
    Spec §5.
    """
    messages: list[dict[str, Any]] = []
    for seq in surface:
        try:
            event = lookup(seq)
        except LookupError:
            continue
        message = derived_message(event.type, message_of(event), surface.offloaded(seq))
        if message is not None:
            messages.append(message)
    return messages


def derived_message(
    event_type: str, message: dict[str, Any], offloaded: frozenset[int] = _NO_OFFLOADS
) -> dict[str, Any] | None:
    """Return the message that a node gives a request; None for an empty one. Spec §5."""
    if not message or (event_type in _DROPPED_WHEN_EMPTY and not message.get("content")):
        return None
    return _with_offloads(message, offloaded) if offloaded else message


def _with_offloads(message: dict[str, Any], offloaded: frozenset[int]) -> dict[str, Any]:
    content: list[Any] = []
    images = 0
    for block in as_array(message.get("content")):
        if as_object(block).get("type") == "image":
            content.append({**block, "offloaded": True} if images in offloaded else block)
            images += 1
        else:
            content.append(block)
    return {**message, "content": content}
