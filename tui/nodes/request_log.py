"""What a log holds for making its requests again: messages, headers, contexts, tool history by row.

All of it is looked up, nothing is kept per request: a request costs the messages of its own surface.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import OrderedDict
from typing import Any, Final

import msgspec

from tui.nodes.dated import Dated
from tui.nodes.fallbacks import Fallbacks
from tui.nodes.reading import Reading
from tui.session.events import SURFACE_TYPES, Event
from tui.session.json_value import as_array, as_count, as_object
from tui.session.records import CODES
from tui.session.request_header import (
    RequestContext,
    RequestHeader,
    parse_request_context,
    parse_request_header,
)
from tui.session.surface import derived_message
from tui.session.tool_history import ToolHistory, ToolHistoryFold

Message = dict[str, Any]

_SURFACE: Final = frozenset(CODES[name] for name in SURFACE_TYPES)
_HEADER: Final = CODES["request/header"]
_DEVELOPER: Final = CODES["developer/message"]
_CONTEXT: Final = CODES["request/context"]
_OFFLOAD: Final = CODES["image/offload"]
_CALL: Final = CODES["tool/call"]
_SYSTEM: Final = CODES["system/message"]
_USER: Final = CODES["user/message"]
_CHECKPOINT: Final = "compact-checkpoint"
_KEPT_BYTES: Final = 32 << 20


class _Inner(msgspec.Struct):
    message: dict[str, Any]


class _Wrapped(msgspec.Struct):
    data: _Inner


class _Bare(msgspec.Struct):
    data: dict[str, Any]


class RequestLog:
    """Look-ups over one reading; takes in what a session that is being written has grown by."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._seen = 0
        self.surface_rows = array("L")
        """The row of each node in the order of adding (see `Surface.at`)."""
        self.headers: Dated[RequestHeader] = Dated()
        self.contexts: Dated[RequestContext] = Dated()
        self.histories: Dated[ToolHistory] = Dated()
        self.offloads: Dated[dict[int, frozenset[int]]] = Dated()
        """After each `image/offload` the indexes of offloaded images by seq of their message."""
        self.fallbacks = Fallbacks(reading.log)
        self._fold = ToolHistoryFold(pool=reading.tools.history.pool)
        self._messages: OrderedDict[int, Message] = OrderedDict()
        self._kept_bytes = 0
        self._calls: dict[str, int] | None = None

    def extend(self) -> None:
        """Take in the rows that were read since."""
        log, types = self._reading.log, self._reading.log.index.types
        for row in range(self._seen, len(types)):
            code = types[row]
            if code in _SURFACE:
                self.surface_rows.append(row)
                if code == _DEVELOPER:
                    event = log.event(row)
                    self._fold.apply_developer(event.seq, event.data)
                    self.histories.add(row, self._fold.snapshot())
            elif code == _HEADER:
                event = log.event(row)
                self._fold.apply_header(event.seq, event.data)
                self.headers.add(row, parse_request_header(event.seq, event.data, self._fold.pool))
                self.histories.add(row, self._fold.snapshot())
            elif code == _CONTEXT:
                event = log.event(row)
                self.contexts.add(row, parse_request_context(event.seq, event.data))
            elif code == _OFFLOAD:
                self._offload(log.event(row))
        self._seen = len(types)
        self.fallbacks.extend()

    def nodes_before(self, row: int) -> int:
        """Return how many nodes had been added before a row."""
        return bisect_left(self.surface_rows, row)

    def message(self, node: int, row: int) -> Message | None:
        """Return the message of a node as a request at `row` would have it; None if it gives none.

        One object is returned for a node as long as it is kept in memory and no image of it is offloaded.
        """
        at = self.surface_rows[node]
        message = self._kept(at)
        if not message:
            return None
        offloads = self.offloads.before(row)
        offloaded = offloads.get(self._reading.log.seq(at)) if offloads else None
        return derived_message(self._reading.log.type_name(at), message, offloaded or frozenset())

    def is_checkpoint(self, node: int) -> bool:
        """Tell whether a node is the summary of a compaction."""
        row = self.surface_rows[node]
        if self._reading.log.code(row) != _USER:
            return False
        return as_object((self._kept(row) or {}).get("source")).get("kind") == _CHECKPOINT

    def is_system(self, node: int) -> bool:
        """Tell whether a node is a system prompt."""
        return self._reading.log.code(self.surface_rows[node]) == _SYSTEM

    def started_before(self, row: int) -> set[str]:
        """Return the ids of the calls that were started before a row."""
        if self._calls is None or self._seen != len(self._reading.log):
            log = self._reading.log
            self._calls = {}
            for at, code in enumerate(log.index.types):
                if code == _CALL:
                    call_id = as_object(log.event(at).data).get("callId")
                    if isinstance(call_id, str):
                        self._calls.setdefault(call_id, at)
        return {call_id for call_id, at in self._calls.items() if at < row}

    def _kept(self, row: int) -> Message:
        message = self._messages.get(row)
        if message is not None:
            self._messages.move_to_end(row)
            return message
        message = self._decoded(row)
        self._messages[row] = message
        self._kept_bytes += self._reading.log.length(row)
        while self._kept_bytes > _KEPT_BYTES and len(self._messages) > 1:
            gone, _ = self._messages.popitem(last=False)
            self._kept_bytes -= self._reading.log.length(gone)
        return message

    def _decoded(self, row: int) -> Message:
        log = self._reading.log
        is_user = log.code(row) == _USER
        try:
            # Only the message: an answer's stream is several times as long.
            line = log.raw(row)
            if is_user:
                return msgspec.json.decode(line, type=_Bare).data
            return msgspec.json.decode(line, type=_Wrapped).data.message
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            data = as_object(log.event(row).data)
            return data if is_user else as_object(data.get("message"))

    def _offload(self, event: Event) -> None:
        known = dict(self.offloads.facts[-1]) if self.offloads.facts else {}
        for target in as_array(as_object(event.data).get("targets")):
            seq = as_count(as_object(target).get("seq"))
            indexes = [as_count(index) for index in as_array(as_object(target).get("imageIndexes"))]
            if seq is not None:
                added = frozenset(index for index in indexes if index is not None)
                known[seq] = known.get(seq, frozenset()) | added
        self.offloads.add(event.row, known)
