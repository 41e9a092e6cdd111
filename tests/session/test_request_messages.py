"""Messages as requests are made of them: surface, open calls answered, empty texts left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.recorded_events import RECORDINGS
from tests.support.session_logs import (
    assistant,
    call,
    call_block,
    converse,
    replace,
    result,
    text,
    user,
)
from tui.session.events import Event
from tui.session.reader import read_log
from tui.session.request_messages import RequestMessages, mended, without_empty_text
from tui.session.surface import Surface, derive_messages
from tui.session.writer import SessionWriter


class Folded:
    """A surface and the messages derived from it, without any rule."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.surface = Surface()
        self.messages = RequestMessages(self.surface, self.events.__getitem__)

    def add(self, kind: str, data: Any, op: Any = "append") -> int:
        surface = op if kind.endswith("message") or kind == "tool/result" else None
        seq = len(self.events)
        event = Event(row=seq, type=kind, seq=seq, time=0, data=data, surface_op=surface)
        self.events.append(event)
        self.surface.apply(event)
        self.messages.observe(event)
        return seq

    def replay(self, path: Path) -> Folded:
        log = read_log(path)
        for event in log.events():
            self.events.append(event)
            self.surface.apply(event)
            self.messages.observe(event)
        return self


@pytest.mark.parametrize("path", sorted(RECORDINGS.rglob("*.jsonl*")), ids=lambda path: path.parent.name)
def test_a_healthy_log_gives_what_dsh_derives(path: Path) -> None:
    folded = Folded().replay(path)
    assert folded.messages.derive() == derive_messages(folded.surface, folded.events.__getitem__)


@pytest.mark.parametrize("path", sorted(RECORDINGS.rglob("*.jsonl")), ids=lambda path: path.parent.name)
def test_deriving_after_every_event_ends_in_the_same_messages(path: Path) -> None:
    whole = Folded().replay(path)
    step_by_step = Folded()
    for event in whole.events:
        step_by_step.events.append(event)
        step_by_step.surface.apply(event)
        step_by_step.messages.observe(event)
        step_by_step.messages.derive()
    assert step_by_step.messages.derive() == whole.messages.derive()


def test_compaction_and_offloading_are_followed(shared: Path) -> None:
    for path in sorted((shared / "recordings" / "compaction").rglob("session.v4.jsonl*")):
        folded = Folded().replay(path)
        assert folded.messages.derive() == derive_messages(folded.surface, folded.events.__getitem__)


def test_an_offloaded_image_is_marked_in_what_was_derived_before() -> None:
    image = {"type": "image", "attachment": {"attachmentId": "sha256:0"}}
    folded = Folded()
    folded.add("user/message", {**user("u1"), "content": [image, text("x"), image]})
    assert folded.messages.derive()[0]["content"][2] == image
    folded.add("image/offload", {"targets": [{"seq": 0, "imageIndexes": [1]}]})
    assert folded.messages.derive()[0]["content"] == [image, text("x"), {**image, "offloaded": True}]


def case(shared: Path, name: str) -> Folded:
    [path] = (shared / "bugs/cases/B12-orphan-calls/home" / name).rglob("session.v4.jsonl")
    return Folded().replay(path)


def test_each_asked_call_is_answered_once_right_after_the_asking_message(shared: Path) -> None:
    messages = case(shared, "crashed").messages.derive()
    asking = next(at for at, message in enumerate(messages) if message["role"] == "assistant")
    answers = messages[asking + 1 : asking + 3]
    assert [message["toolCallId"] for message in answers] == ["toolu_one", "toolu_two"]
    assert [message["isError"] for message in answers] == [False, True]
    assert "no result was recorded" in answers[1]["content"][0]["text"]
    assert [message["role"] for message in messages].count("tool") == 2
    assert messages[asking]["content"][0] == {"type": "reasoning", "text": "Two dials."}


def test_a_call_that_had_started_and_one_that_had_not_are_told_apart(shared: Path) -> None:
    messages = case(shared, "killed").messages.derive()
    texts = [message["content"][0]["text"] for message in messages if message["role"] == "tool"]
    assert ["outcome is unknown" in value for value in texts] == [True, False]
    assert ["never started" in value for value in texts] == [False, True]


def test_an_empty_text_is_left_out_and_the_thinking_beside_it_keeps_its_signature(shared: Path) -> None:
    folded = case(shared, "interrupted-empty")
    before = next(event for event in folded.events if event.type == "assistant/message").data["message"]
    message = next(message for message in folded.messages.derive() if message["role"] == "assistant")
    assert message["content"] == before["content"][:1] == [{"type": "reasoning", "text": "A story."}]
    replayed = message["source"]["replayState"]["blocks"]
    assert replayed == before["source"]["replayState"]["blocks"][:1]


def test_an_answer_with_nothing_left_is_not_sent() -> None:
    assert without_empty_text(assistant(1, 1, text(""))["message"]) is None
    assert without_empty_text(user("u", "")) == {**user("u", ""), "content": []}
    untouched = user("u", " ")
    assert without_empty_text(untouched) is untouched


def test_a_late_answer_is_sent_in_its_place_and_a_stray_one_not_at_all() -> None:
    folded = Folded()
    folded.add("assistant/message", assistant(1, 1, call_block("c1"), call_block("c2")))
    folded.add("user/message", user("u1"))
    folded.add("tool/result", result(1, 1, "c2", "late"))
    folded.add("tool/result", result(1, 1, "c9", "stray"))
    roles = [(message["role"], message.get("toolCallId")) for message in folded.messages.derive()]
    assert roles == [("assistant", None), ("tool", "c2"), ("tool", "c1"), ("user", None)]


BLOCKS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3, unique=True)
MESSAGES = st.lists(
    st.one_of(
        st.just(user("u")),
        BLOCKS.map(lambda ids: assistant(1, 1, text("x"), *map(call_block, ids))["message"]),
        st.sampled_from(["a", "b", "c"]).map(lambda call_id: result(1, 1, call_id)["message"]),
    ),
    max_size=14,
)


@given(MESSAGES)
def test_whatever_a_log_lacks_every_call_has_one_answer_right_after_it(
    messages: list[dict[str, Any]],
) -> None:
    fixed = mended(messages, set())
    at = 0
    while at < len(fixed):
        message = fixed[at]
        assert message["role"] != "tool"
        asked = {block["id"] for block in message["content"] if block["type"] == "tool-call"}
        answers = fixed[at + 1 : at + 1 + len(asked)]
        assert {answer.get("toolCallId") for answer in answers} == asked or not asked
        at += 1 + len(asked)
    assert [message for message in fixed if message["role"] != "tool"] == [
        message for message in messages if message["role"] != "tool"
    ]


async def test_only_what_changed_is_derived_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = SessionWriter.create(tmp_path, "/srv/moss")
    for turn in range(1, 60):
        converse(writer, turn)
    writer.derive_messages()
    cleaned: list[str] = []

    def noting(message: dict[str, Any]) -> dict[str, Any] | None:
        cleaned.append(message["id"])
        return without_empty_text(message)

    monkeypatch.setattr("tui.session.request_messages.without_empty_text", noting)
    writer.derive_messages()
    assert cleaned == []
    converse(writer, 60)
    messages = writer.derive_messages()
    assert cleaned == ["u60", "a60.1", "rcall_60_1"]
    nodes = writer.surface.nodes()
    writer.append(
        "user/message", user("all"), surface_op=replace(nodes[1], nodes[-1]), source_event_seqs=nodes[1:]
    )
    assert [message["id"] for message in writer.derive_messages()] == ["s1.1", "all"]
    assert len(messages) == 1 + 60 * 3
    await writer.close()


def test_an_unanswered_call_at_the_end_is_answered_in_the_request_only(tmp_path: Path) -> None:
    writer = SessionWriter.create(tmp_path, "/srv/moss")
    converse(writer, 1)
    writer.append("turn/start", {"turn": 2})
    writer.append("step/start", {"turn": 2, "step": 1})
    writer.append("assistant/message", assistant(2, 1, call_block("c1")))
    assert writer.derive_messages()[-1]["isError"] is True
    started = writer.append("tool/call", call(2, 1, "c1"))
    writer.append("tool/result", result(2, 1, "c1"), source_event_seqs=[started.seq])
    assert writer.derive_messages()[-1]["content"] == [text("moisture 37")]
    writer.close_now()
