"""The fold of the surface and the messages derived from it (session-format §5)."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recorded_events import (
    PlainEvent,
    own_recordings_with_verdicts,
    recorded_events,
    vector,
)
from tui.session.fold import Fault
from tui.session.surface import Surface, derive_messages

OWN = own_recordings_with_verdicts()


def fold(events: list[PlainEvent]) -> Surface:
    surface = Surface()
    for event in events:
        surface.apply(event)
    return surface


def derived(events: list[PlainEvent]) -> list[dict[str, Any]]:
    by_seq = {event.seq: event for event in events}
    return derive_messages(fold(events), by_seq.__getitem__)


def digest(messages: list[dict[str, Any]]) -> str:
    """The digest of the recorded verdicts: one message a line, keys sorted, ASCII only."""
    lines = (json.dumps(message, sort_keys=True, separators=(",", ":")) for message in messages)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def assert_verdict(events: list[PlainEvent], verdict: dict[str, Any]) -> None:
    surface = fold(events)
    messages = derived(events)
    assert surface.nodes() == verdict["surface"]
    assert len(messages) == verdict["messages"]
    assert digest(messages) == verdict["messages_sha256"]
    assert surface.faults == []


def message(seq: int, kind: str = "user/message", op: Any = "append", **fields: Any) -> PlainEvent:
    body = {"id": f"m{seq}", "content": [{"type": "text", "text": f"text {seq}"}], **fields}
    return PlainEvent(kind, seq, body if kind == "user/message" else {"message": body}, op)


def covering(start: int, end: int) -> dict[str, Any]:
    return {"op": "replace", "startSeq": start, "endSeq": end}


def image(name: str) -> dict[str, Any]:
    return {"type": "image", "attachment": {"attachmentId": f"sha256:{name}"}}


@pytest.mark.parametrize(("path", "verdict"), OWN, ids=lambda value: str(value)[-60:] if value else "")
def test_own_recordings_fold_as_dsh_folds_them(path: Path, verdict: dict[str, Any]) -> None:
    assert_verdict(recorded_events(path), verdict)


def test_the_repository_holds_the_recordings_it_tests_with() -> None:
    assert len(OWN) == 18


@pytest.mark.parametrize("place", sorted(vector("recordings-oracle.json")))
def test_every_recording_folds_as_dsh_folds_it(shared: Path, place: str) -> None:
    verdict = vector("recordings-oracle.json")[place]
    assert_verdict(recorded_events(shared / "recordings" / place), verdict)


def test_a_replacement_takes_the_place_of_its_range() -> None:
    surface = fold([message(1), message(2), message(3), message(4), message(9, op=covering(2, 3))])
    assert surface.nodes() == [1, 9, 4]
    assert [surface.replaced_by(seq) for seq in (1, 2, 3, 4, 9, 77)] == [None, 9, 9, None, None, None]
    assert (2 in surface, 9 in surface) == (False, True)
    assert surface.content_generation == 1


def test_the_surface_is_in_order_of_place_even_where_seqs_are_not() -> None:
    # A compaction, then a shortened result behind it: the range of the next compaction starts above its end.
    events = [message(seq) for seq in (8, 15, 24, 30)]
    events += [message(28, op=covering(8, 15)), message(34, op=covering(30, 30))]
    events += [message(40, op=covering(28, 34))]
    surface = Surface()
    for event in events[:-1]:
        surface.apply(event)
    assert surface.nodes() == [28, 24, 34]
    assert surface.replace(40, 28, 34) == (28, 24, 34)
    assert surface.nodes() == [40]


def test_a_replaced_range_inside_a_replaced_range_stays_gone() -> None:
    surface = Surface()
    for seq in range(10):
        surface.append(seq)
    assert surface.replace(10, 3, 5) == (3, 4, 5)
    assert surface.replace(11, 10, 10) == (10,)
    assert surface.nodes() == [0, 1, 2, 11, 6, 7, 8, 9]
    assert surface.replace(12, 2, 6) == (2, 11, 6)
    surface.append(13)
    assert surface.nodes() == [0, 1, 12, 7, 8, 9, 13]
    assert surface.replace(14, 0, 13) == (0, 1, 12, 7, 8, 9, 13)
    assert surface.nodes() == [14]
    assert (surface.replaced_by(3), surface.replaced_by(10), surface.replaced_by(11)) == (10, 11, 12)


def test_appends_do_not_raise_the_content_generation() -> None:
    assert fold([message(1), message(2)]).content_generation == 0


def test_empty_system_developer_and_assistant_messages_hold_a_place_but_give_no_message() -> None:
    kinds = ["system/message", "developer/message", "assistant/message", "user/message", "tool/result"]
    events = [message(seq, kind, content=[]) for seq, kind in enumerate(kinds)]
    assert fold(events).nodes() == [0, 1, 2, 3, 4]
    assert [body["id"] for body in derived(events)] == ["m3", "m4"]


def test_an_offloaded_image_is_marked_in_the_derived_message_only() -> None:
    blocks = [image("a"), {"type": "text", "text": "between"}, image("b"), image("c")]
    sent = message(3, content=blocks)
    offload = PlainEvent("image/offload", 4, {"targets": [{"seq": 3, "imageIndexes": [0, 2]}]})
    events = [sent, offload]
    surface = fold(events)
    assert surface.offloaded(3) == {0, 2}
    assert surface.content_generation == 1
    assert [block.get("offloaded") for block in derived(events)[0]["content"]] == [True, None, None, True]
    assert all("offloaded" not in block for block in blocks)


def test_offloads_of_one_message_add_up_and_vanish_with_a_replacement() -> None:
    events = [message(1, content=[image("a"), image("b")])]
    events += [
        PlainEvent("image/offload", 2 + index, {"targets": [{"seq": 1, "imageIndexes": [index]}]})
        for index in (0, 1)
    ]
    assert [block.get("offloaded") for block in derived(events)[0]["content"]] == [True, True]
    events.append(message(4, op=covering(1, 1), content=[image("a")]))
    assert derived(events) == [events[-1].data]
    assert fold(events).content_generation == 3


def test_messages_are_those_of_the_events_not_copies() -> None:
    events = [message(1), message(2, "assistant/message")]
    first, second = derived(events)
    assert first is events[0].data
    assert second is events[1].data["message"]


def test_log_only_and_unknown_events_do_not_touch_the_surface() -> None:
    events = [
        message(1),
        PlainEvent("assistant/attempt", 2, {}, "append"),
        PlainEvent("plugin:x", 3, {}, covering(1, 1)),
    ]
    assert fold(events).nodes() == [1]


@pytest.mark.parametrize(
    ("op", "code"),
    [
        (covering(7, 2), "unknown-node"),
        (covering(1, 7), "unknown-node"),
        (covering(5, 5), "unknown-node"),
        (covering(2, 1), "crossing-range"),
        ({"op": "replace", "startSeq": 1}, "bad-surface-op"),
        ({"op": "replace", "startSeq": "1", "endSeq": 2}, "bad-surface-op"),
        ("prepend", "bad-surface-op"),
        ([1], "bad-surface-op"),
        (None, "no-surface-op"),
    ],
)
def test_an_illegal_operation_is_a_fault_and_appends(op: Any, code: str) -> None:
    surface = fold([message(1), message(2), message(5, op=op)])
    assert surface.nodes() == [1, 2, 5]
    assert [(fault.seq, fault.code) for fault in surface.faults] == [(5, code)]
    assert surface.content_generation == 0


def test_a_node_that_was_replaced_cannot_be_replaced_again() -> None:
    surface = fold([message(1), message(2, op=covering(1, 1)), message(3, op=covering(1, 1))])
    assert surface.nodes() == [2, 3]
    assert surface.faults == [Fault(3, "unknown-node", "seq 1 is not on the surface")]


@pytest.mark.parametrize(
    "targets",
    [
        None,
        "x",
        [],
        [None],
        [{}],
        [{"seq": 1}, {"seq": 9, "imageIndexes": [0]}],
        [{"seq": 1, "imageIndexes": ["a"]}],
    ],
)
def test_a_misshapen_offload_never_raises(targets: Any) -> None:
    surface = fold([message(1), PlainEvent("image/offload", 2, {"targets": targets})])
    assert surface.nodes() == [1]
    assert surface.offloaded(1) == frozenset()


def test_an_offload_of_a_node_that_is_gone_is_a_fault() -> None:
    surface = fold([message(1), message(2, op=covering(1, 1))])
    surface.offload(3, [{"seq": 1, "imageIndexes": [0]}])
    assert [fault.code for fault in surface.faults] == ["unknown-node"]


def test_a_repeated_seq_is_a_fault_and_the_later_node_answers_to_it() -> None:
    surface = Surface()
    for seq in (1, 2, 2, 3):
        surface.append(seq)
    assert [fault.code for fault in surface.faults] == ["seq-repeat"]
    assert surface.replace(4, 2, 3) == (2, 3)
    assert surface.nodes() == [1, 2, 4]


def test_seqs_that_go_back_are_still_found() -> None:
    surface = Surface()
    for seq in (10, 20, 5, 6):
        surface.append(seq)
    assert surface.replace(7, 20, 5) == (20, 5)
    assert surface.nodes() == [10, 7, 6]
    assert surface.faults == []


def test_seqs_beyond_32_bits_are_kept_whole() -> None:
    surface = Surface()
    big = 2**53 - 1
    surface.append(1)
    surface.append(big - 1)
    assert surface.replace(big, big - 1, big - 1) == (big - 1,)
    assert surface.nodes() == [1, big]
    assert surface.replaced_by(big - 1) == big
    surface.append(2**60)
    surface.append(-1)
    assert surface.nodes() == [1, big]
    assert [fault.code for fault in surface.faults] == ["bad-seq", "bad-seq"]


def test_a_message_that_cannot_be_looked_up_is_left_out() -> None:
    surface = fold([message(1), message(2)])
    assert derive_messages(surface, {2: message(2)}.__getitem__) == [message(2).data]


class ListSurface:
    """The fold of the specification, on a plain list."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.generation = 0
        self.replaced_by: dict[int, int] = {}

    def apply(self, seq: int, span: tuple[int, int] | None) -> None:
        if span is None or not set(span) <= set(self.nodes):
            self.nodes.append(seq)
            return
        first, last = self.nodes.index(span[0]), self.nodes.index(span[1])
        if first > last:
            self.nodes.append(seq)
            return
        self.replaced_by.update(dict.fromkeys(self.nodes[first : last + 1], seq))
        self.nodes[first : last + 1] = [seq]
        self.generation += 1


@given(st.lists(st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1))), st.data())
def test_any_mix_of_appends_and_replacements_equals_the_specification(
    steps: list[tuple[float, float] | None], data: st.DataObject
) -> None:
    surface, reference = Surface(), ListSurface()
    for seq, step in enumerate(steps):
        if step is None:
            surface.append(seq)
            reference.apply(seq, None)
            continue
        # Half of the ends are live nodes, half are any number, so that legal and illegal ranges both occur.
        pool = reference.nodes if reference.nodes and data.draw(st.booleans()) else list(range(seq + 2))
        span = (pool[int(step[0] * (len(pool) - 1))], pool[int(step[1] * (len(pool) - 1))])
        surface.replace(seq, *span)
        reference.apply(seq, span)
        assert surface.nodes() == reference.nodes
    assert surface.nodes() == reference.nodes
    assert surface.content_generation == reference.generation
    assert {seq: surface.replaced_by(seq) for seq in range(len(steps))} == {
        seq: reference.replaced_by.get(seq) for seq in range(len(steps))
    }


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["op", "startSeq", "endSeq", "message", "content", "targets", "seq", "imageIndexes", "type"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(
        st.builds(
            PlainEvent,
            st.sampled_from(
                ["user/message", "tool/result", "developer/message", "image/offload", "turn/start"]
            ),
            st.integers(-2, 30),
            JUNK,
            JUNK | st.just("append") | st.builds(covering, st.integers(0, 30), st.integers(0, 30)),
        )
    )
)
def test_no_list_of_events_makes_the_fold_raise(events: list[PlainEvent]) -> None:
    surface = fold(events)
    assert len(surface.nodes()) <= len(events)
    derived(events)


def test_a_million_nodes_cost_less_than_twenty_bytes_each() -> None:
    surface = Surface()
    for seq in range(1_000_000):
        surface.append(seq)
    slots = [getattr(surface, name) for name in Surface.__slots__]
    assert sum(sys.getsizeof(value) for value in slots) < 20 * 1_000_000


def test_covering_a_growing_range_again_and_again_costs_no_more_per_event() -> None:
    surface = Surface()
    surface.append(0)
    surface.append(1)
    seq, last = 2, 1
    began = time.process_time()
    for _ in range(50_000):  # each replacement covers everything behind the head, as compactions do
        surface.append(seq)
        surface.replace(seq + 1, last, seq)
        last, seq = seq + 1, seq + 2
    assert surface.nodes() == [0, last]
    assert time.process_time() - began < 5  # a walk over all covered places would take minutes
