"""The messages that a request is made of: the surface, with what a crash left open put right.

No provider takes a history in which an asked call has no answer, or a text is empty. The log stays as it is;
the repair happens here, whenever messages are derived, and is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tui.session.events import SURFACE_TYPES, Event
from tui.session.json_value import as_array, as_object
from tui.session.surface import Surface, derive_messages

NOT_RECORDED: Final = (
    "Error: no result was recorded for this call. It had started, so the outcome is unknown: "
    "part of its work may have been done. Look before you call it again."
)
NEVER_STARTED: Final = (
    "Error: no result was recorded for this call: it was never started. Call it again if needed."
)


class RequestMessages:
    """Derives the messages of a growing log; an append costs its own message, a replacement the surface.

    `lookup` gives an event by its seq.
    """

    def __init__(self, surface: Surface, lookup: Callable[[int], Event]) -> None:
        self._surface = surface
        self._lookup = lookup
        # None until somebody asks: a log that is only read back needs none of it.
        self._nodes: list[Event] | None = None
        self._generation = surface.content_generation
        self._repair = _Repair()
        self._started: set[str] = set()

    def observe(self, event: Event) -> None:
        """Take note of an event that the surface has folded in."""
        if event.type in SURFACE_TYPES:
            if self._nodes is not None and event.surface_op == "append":
                self._nodes.append(event)
            if event.type == "tool/result":
                self._started.discard(as_object(as_object(event.data).get("message")).get("toolCallId", ""))
        elif event.type == "tool/call":
            self._started.add(event.data["callId"])

    def derive(self) -> list[dict[str, Any]]:
        """Return the messages of a request made now; do not change them."""
        nodes = self._nodes
        if nodes is None or self._generation != self._surface.content_generation:
            self._generation = self._surface.content_generation
            known = {event.seq: event for event in nodes or ()}
            nodes = [known.get(seq) or self._lookup(seq) for seq in self._surface]
            self._nodes = nodes
            self._repair = _Repair()
        self._repair.feed(nodes, self._surface)
        return self._repair.messages(self._started)

    def derive_part(self, seqs: Iterable[int]) -> list[dict[str, Any]]:
        """Return the messages of some nodes of the surface in their order; do not change them."""
        return mended(_derived(map(self._lookup, seqs), self._surface), self._started)


class _Repair:
    """Feeds on surface nodes in order, keeping what is settled."""

    def __init__(self) -> None:
        self._fed = 0
        self._raw: list[dict[str, Any]] = []
        self._done: list[dict[str, Any]] = []
        # Unanswered calls of the newest asking message, by id.
        self._asked: dict[str, dict[str, Any]] = {}
        # Set once a message stood between a call and its answer, or an answer without a call: rare.
        self._irregular = False

    def feed(self, nodes: list[Event], surface: Surface) -> None:
        fresh = nodes[self._fed :]
        if not fresh:
            return
        self._fed = len(nodes)
        for message in _derived(fresh, surface):
            self._raw.append(message)
            self._add(message)

    def messages(self, started: set[str]) -> list[dict[str, Any]]:
        if self._irregular:
            return mended(self._raw, started)
        answers = [_answer(asking, call_id, started) for call_id, asking in self._asked.items()]
        return [*self._done, *answers]

    def _add(self, message: dict[str, Any]) -> None:
        if self._irregular:
            return
        if message.get("role") == "tool":
            if self._asked.pop(message.get("toolCallId", ""), None) is None:
                self._irregular = True
                return
        elif self._asked:
            self._irregular = True
            return
        else:
            self._asked = dict.fromkeys(_call_ids(message), message)
        self._done.append(message)


def _derived(events: Iterable[Event], surface: Surface) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for event in events:
        one = Surface()
        one.append(event.seq)
        offloaded = surface.offloaded(event.seq)
        if offloaded:
            one.offload(event.seq, [{"seq": event.seq, "imageIndexes": sorted(offloaded)}])
        for message in derive_messages(one, lambda _, event=event: event):
            cleaned = without_empty_text(message)
            if cleaned is not None:
                found.append(cleaned)
    return found


def is_settled(messages: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether every call is answered right after the message that asked for it, and nothing else is."""
    asked: set[str] = set()
    for message in messages:
        if message.get("role") == "tool":
            call_id = message.get("toolCallId", "")
            if call_id not in asked:
                return False
            asked.discard(call_id)
        elif asked:
            return False
        else:
            asked = set(_call_ids(message))
    return not asked


def mended(messages: Iterable[dict[str, Any]], started: set[str]) -> list[dict[str, Any]]:
    """Return the messages with every call answered once, right after the message that asked for it.

    A recorded answer is taken from where it stands, up to the next message that asks under the same id; a
    missing one is made up as an error. An answer that no message asked for is left out.
    """
    listed = list(messages)
    taken: set[int] = set()
    result: list[dict[str, Any]] = []
    for at, message in enumerate(listed):
        if message.get("role") == "tool":
            continue
        result.append(message)
        wanted = dict.fromkeys(_call_ids(message))
        if not wanted:
            continue
        for later in range(at + 1, len(listed)):
            other = listed[later]
            call_id = other.get("toolCallId")
            if other.get("role") == "tool" and call_id in wanted and later not in taken:
                taken.add(later)
                del wanted[call_id]
                result.append(other)
            elif other.get("role") == "assistant":
                for again in _call_ids(other):
                    if again in wanted:
                        result.append(_answer(message, again, started))
                        del wanted[again]
            if not wanted:
                break
        result.extend(_answer(message, call_id, started) for call_id in wanted)
    return result


def without_empty_text(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message without its empty text blocks; None for an assistant message that has nothing left.

    What the provider needs to replay the other blocks is kept in line with them.
    """
    content = as_array(message.get("content"))
    kept = [at for at, block in enumerate(content) if not _is_empty_text(as_object(block))]
    if len(kept) == len(content):
        return message
    if not kept and message.get("role") == "assistant":
        return None
    cleaned = {**message, "content": [content[at] for at in kept]}
    source = as_object(message.get("source"))
    replay = as_object(source.get("replayState"))
    blocks = as_array(replay.get("blocks"))
    if len(blocks) == len(content):
        fewer = {**replay, "blocks": [blocks[at] for at in kept]}
        cleaned["source"] = {**source, "replayState": fewer}
    return cleaned


def _is_empty_text(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text" and block.get("text") == ""


def _call_ids(message: Mapping[str, Any]) -> list[str]:
    if message.get("role") != "assistant":
        return []
    blocks = map(as_object, as_array(message.get("content")))
    return [str(block.get("id")) for block in blocks if block.get("type") == "tool-call"]


def _answer(asking: Mapping[str, Any], call_id: str, started: set[str]) -> dict[str, Any]:
    text = NOT_RECORDED if call_id in started else NEVER_STARTED
    return {
        "role": "tool",
        "source": {"kind": "tool", "callId": call_id},
        "toolCallId": call_id,
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "id": f"unanswered-{asking.get('id')}-{call_id}",
    }
