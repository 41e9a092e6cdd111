"""Rules 8 to 12: what may stand on the surface, replace what, and add which tools (session-format §3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tui.session.events import SURFACE_TYPES, Event
from tui.session.json_value import as_array, as_object
from tui.session.rule_error import SHAPE, refuse
from tui.session.rule_shapes import count
from tui.session.surface import Surface, message_of


class SurfaceRules:
    """The surface, its protected head, and the tools of every request header.

    `lookup` gives an earlier event by its seq; it is asked about replaced tool results and offloaded images.
    """

    def __init__(self, lookup: Callable[[int], Event]) -> None:
        self.surface: Final = Surface()
        self._lookup = lookup
        self._first: int | None = None
        self._first_is_system = False
        self._headers: dict[int, list[Any]] = {}
        self.checks: Final = {
            **dict.fromkeys(SURFACE_TYPES, self._check_node),
            "image/offload": self._check_offload,
        }
        self.advances: Final = {
            **dict.fromkeys(SURFACE_TYPES, self._node),
            "image/offload": self.surface.apply,
            "request/header": self._header,
        }

    @property
    def head(self) -> int | None:
        """Seq of the protected head: the first node if it is a system message."""
        return self._first if self._first_is_system else None

    def covered(self, event: Event) -> tuple[int, ...] | None:
        """Return the nodes that a replacement covers; None for an append or a range not on the surface."""
        operation = event.surface_op
        if not isinstance(operation, dict):
            return None
        return self.surface.between(int(operation["startSeq"]), int(operation["endSeq"]))

    def _check_node(self, event: Event) -> None:
        if event.type == "developer/message":
            self._check_additions(event)
        if event.surface_op == "append":
            if event.type == "system/message" and self._first is not None and not self._first_is_system:
                refuse(event, 8, "the surface does not begin with a system message, so none may follow")
            return
        covered = self.covered(event)
        if covered is None:
            refuse(event, 10, "the replaced range is not on the surface")
        if self.head in covered and (event.type != "system/message" or len(covered) != 1):
            refuse(event, 9, "the head is replaced by another system message alone")
        missing = set(covered).difference(event.source_event_seqs or ())
        if missing:
            refuse(event, 10, f"sourceEventSeqs lacks the replaced event {min(missing)}")
        if event.type == "tool/result":
            self._check_shortened(event, covered)

    def _check_shortened(self, event: Event, covered: tuple[int, ...]) -> None:
        if len(covered) != 1:
            refuse(event, 11, "a tool result replaces exactly one tool result")
        before = self._lookup(covered[0])
        if before.type != "tool/result":
            refuse(event, 11, f"event {before.seq} is no tool result")
        if _without_content(before) != _without_content(event):
            refuse(event, 11, "a replacing tool result differs in more than its content")

    def _check_additions(self, event: Event) -> None:
        data = as_object(event.data)
        added = [
            as_object(block)["toolName"]
            for block in as_array(message_of(event).get("content"))
            if as_object(block).get("type") == "tool-addition"
        ]
        if ("headerSeq" in data) != bool(added):
            refuse(event, 12, "headerSeq is there exactly when tools are added")
        if not added:
            return
        header_seq = count(data["headerSeq"])
        tools = None if header_seq is None else self._headers.get(header_seq)
        if tools is None:
            refuse(event, 12, "headerSeq names no earlier request header")
        for name in added:
            found = [tool for tool in map(as_object, tools) if tool.get("name") == name]
            if len(found) != 1:
                refuse(event, 12, f'the request header has the tool "{name}" {len(found)} times')

    def _check_offload(self, event: Event) -> None:
        for target in as_array(as_object(event.data).get("targets")):
            seq = int(as_object(target)["seq"])
            if seq not in self.surface:
                refuse(event, SHAPE, f"event {seq} is not on the surface")
            node = self._lookup(seq)
            if node.type not in ("user/message", "tool/result"):
                refuse(event, SHAPE, f"event {seq} is neither a user message nor a tool result")
            blocks = as_array(message_of(node).get("content"))
            images = sum(as_object(block).get("type") == "image" for block in blocks)
            gone = self.surface.offloaded(seq)
            for index in as_array(as_object(target)["imageIndexes"]):
                if index >= images or index in gone:
                    refuse(event, SHAPE, f"image {index} of event {seq} is missing or offloaded already")

    def _node(self, event: Event) -> None:
        operation = event.surface_op
        is_first = self._first is None
        if isinstance(operation, dict):
            is_first = int(operation["startSeq"]) == self._first
        if is_first:
            self._first, self._first_is_system = event.seq, event.type == "system/message"
        self.surface.apply(event)

    def _header(self, event: Event) -> None:
        self._headers[event.seq] = as_array(as_object(as_object(event.data).get("header")).get("tools"))


def _without_content(event: Event) -> dict[str, Any]:
    data = as_object(event.data)
    message = {key: value for key, value in as_object(data.get("message")).items() if key != "content"}
    return {**data, "message": message}
