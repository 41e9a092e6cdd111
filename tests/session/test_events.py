"""Decoding one line whole, as tolerant as the parser of dsh."""

import pytest

from tui.session.events import KNOWN_TYPES, event_of, expand_seqs, top_level_members


def _line(data: bytes, **members: bytes) -> bytes:
    known = {"seq": b"3", "time": b"5", **members}
    rest = b"".join(b',"%b":%b' % (key.encode(), value) for key, value in known.items())
    return b'{"type":"plugin:x"%b,"data":%b}' % (rest, data)


def test_there_are_as_many_types_as_the_format_knows() -> None:
    # Spec §4.11: five of the surface and 57 of the log alone.
    assert len(KNOWN_TYPES) == 62


@pytest.mark.parametrize(
    ("cited", "expanded"), [([3, [7, 9]], [3, 7, 8, 9]), ([4, 2], [4, 2]), ([[5, 4]], None)]
)
def test_cited_events_are_expanded(cited: list[object], expanded: list[int] | None) -> None:
    assert expand_seqs(cited) == expanded


@pytest.mark.parametrize("cited", [None, "3", [[1]], [[1, 2, 3]], [True], [[0, 10**9]], [{}]])
def test_a_citation_of_another_shape_is_none(cited: object) -> None:
    assert expand_seqs(cited) is None


def test_half_an_emoji_becomes_the_replacement_character_in_keys_too() -> None:
    event = event_of(_line(rb'{"\ud83d":"a\ude00b","whole":"\ud83c\udf3f"}'), 0)
    assert event.data == {"\ufffd": "a\ufffdb", "whole": "\U0001f33f"}


def test_bytes_that_are_no_utf8_become_the_replacement_character() -> None:
    assert event_of(_line(b'"a\xffb"'), 0).data == "a\ufffdb"


@pytest.mark.parametrize(
    ("number", "seq"), [(b"1e3", 1000), (b"7.0", 7), (b"true", -1), (b'"7"', -1), (b"7.5", -1)]
)
def test_a_number_is_read_as_javascript_would(number: bytes, seq: int) -> None:
    assert event_of(_line(b"{}", seq=number), 0).seq == seq


@pytest.mark.parametrize("brackets", [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_payload_of_a_hundred_thousand_levels_keeps_its_text(brackets: tuple[bytes, bytes]) -> None:
    deep = brackets[0] * 100_000 + b"1" + brackets[1] * 100_000
    event = event_of(_line(deep), 4)
    assert (event.row, event.type, event.seq) == (4, "plugin:x", 3)
    assert event.data == deep.decode()


def test_members_of_a_deep_row_are_found_whatever_its_texts_hold() -> None:
    line = rb'{ "a" : "}]\"," , "b":[{"c":"{"},[1]] ,"d":null }'
    assert top_level_members(line) == {"a": r'"}]\","', "b": '[{"c":"{"},[1]]', "d": "null"}


@pytest.mark.parametrize("line", [b"[1]", b'{"a":1', b'{"a":1}}', b"{1:2}", b"", b'{"a":NaN}'])
def test_what_is_no_object_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        event_of(line, 0)
