"""The partial decode, and the second look at what it refuses."""

import json
from typing import Any

import msgspec
import pytest

from tests.support.log_builder import log, text
from tui.session import records as r
from tui.session.events import KNOWN_TYPES
from tui.session.irregular import RowFault, record_of
from tui.session.records import CODES, TYPE_NAMES, decode_record


def _user(content: Any, **envelope: Any) -> bytes:
    data = {"role": "user", "id": "m", "source": {"kind": "user"}, "content": content}
    row = {"type": "user/message", "seq": 3, "time": 5, "surfaceOp": "append", "data": data, **envelope}
    return json.dumps(row).encode()


def test_every_known_type_has_a_code_of_its_own() -> None:
    assert set(TYPE_NAMES) == KNOWN_TYPES
    assert [CODES[name] for name in TYPE_NAMES] == list(range(len(KNOWN_TYPES)))


def test_every_line_of_a_regular_log_is_decoded_at_once() -> None:
    built = log().turn().tools("a", "b").user("go").answer("on", usage=(1, 2, 3, 4)).tools("a").end()
    for line in built:
        assert decode_record(line).seq >= 0


@pytest.mark.parametrize("member", ["seq", "time"])
@pytest.mark.parametrize("number", ["9007199254740992", "9223372036854775808", "1" + "0" * 40, "1e300"])
def test_numbers_beyond_what_javascript_counts_are_no_numbers(member: str, number: str) -> None:
    members = {"seq": "3", "time": "5", member: number}
    numbers = f'"seq":{members["seq"]},"time":{members["time"]}'
    line = f'{{"type":"step/start",{numbers},"data":{{"turn":1,"step":1}}}}'
    with pytest.raises(msgspec.MsgspecError):
        decode_record(line.encode())
    if member == "seq":
        with pytest.raises(RowFault):
            record_of(line.encode())
    else:
        record, problem = record_of(line.encode())
        assert (record.time, problem) == (0, "its time is not a whole number")


def test_a_time_that_was_not_a_number_when_written_is_told() -> None:
    record, problem = record_of(b'{"type":"step/start","seq":3,"time":null,"data":{"turn":1,"step":1}}')
    assert isinstance(record, r.StepStart)
    assert "time" in problem


@pytest.mark.parametrize(
    "foreign",
    [
        {"type": "plugin:lantern/card", "text": 5, "id": {"a": 1}, "name": None},
        {"type": 7},
        "a bare text",
        {"type": "text", "text": None},
    ],
)
def test_a_foreign_block_does_not_make_its_message_unknown(foreign: Any) -> None:
    # Spec §2.4: unknown content-block types are tolerated.
    record, problem = record_of(_user([text("moss"), foreign]))
    assert isinstance(record, r.UserMessage)
    assert record.data.content[0].text == "moss"
    assert len(record.data.content) == 2
    assert problem == ""


def test_many_foreign_blocks_do_not_either() -> None:
    record, problem = record_of(_user([{"type": "x", "text": n} for n in range(500)]))
    assert isinstance(record, r.UserMessage)
    assert (len(record.data.content), problem) == (500, "")


def test_odd_usage_is_left_out_without_a_word() -> None:
    # Spec §3: usage is not checked at load.
    built = log().turn().answer("hi", usage=(1, 2, 3, 4))
    row = json.loads(built.lines[-1])
    row["data"]["usage"]["inputTokens"] = 1.5
    record, problem = record_of(json.dumps(row).encode())
    assert (record.data.usage.inputTokens, record.data.usage.outputTokens, problem) == (0, 2, "")


def test_a_payload_without_what_it_must_have_is_told_and_kept() -> None:
    record, problem = record_of(b'{"type":"turn/start","seq":3,"time":5,"data":{}}')
    assert (record.known, record.type_name) == (True, "turn/start")
    assert "turn/start" in problem


def test_a_key_that_does_not_belong_into_the_envelope_is_told() -> None:
    record, problem = record_of(_user([text("moss")], colour="green"))
    assert isinstance(record, r.UserMessage)
    assert "colour" in problem


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"null", b'{"seq":1}', b'{"type":"turn/start","seq":-1}'])
def test_a_line_that_is_no_event_is_a_fault(line: bytes) -> None:
    with pytest.raises(RowFault):
        record_of(line)


def test_an_unknown_type_keeps_its_name_and_whether_it_may_be_ignored() -> None:
    record, problem = record_of(b'{"type":"plugin:a","seq":1,"time":1,"data":[],"ignorable":true}')
    assert (record.type_name, record.ignorable, record.known, problem) == ("plugin:a", True, False, "")
