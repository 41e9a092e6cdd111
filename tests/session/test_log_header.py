"""Header lines against spec §2.3 and what the recorded damaged logs need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.session.errors import SessionUnreadable
from tui.session.log_header import LogHeader, parse_header, read_header
from tui.session.source import open_source

PATH = Path("sessions/--root--/session-a/session.v4.jsonl")
FULL: dict[str, Any] = {
    "type": "session",
    "version": 4,
    "id": "session-a",
    "createdAt": 1_800_000_000_000,
    "cwd": "/home/ana/moss",
    "parentSession": "session-b",
    "isSeeded": True,
    "origin": "subagent",
    "delegationDepth": 2,
    "agentPreset": "ptc",
}


def line(**changes: Any) -> bytes:
    fields = {**FULL, **changes}
    return json.dumps({key: value for key, value in fields.items() if value is not ...}).encode() + b"\n"


def reasons(data: bytes, path: Path = PATH) -> list[str]:
    return [damage.reason for damage in parse_header(data, path)[1]]


def failure(data: bytes, path: Path = PATH) -> SessionUnreadable:
    with pytest.raises(SessionUnreadable) as caught:
        parse_header(data, path)
    return caught.value


def test_a_full_header_is_read_without_damage() -> None:
    assert parse_header(line(), PATH) == (
        LogHeader(
            id="session-a",
            version=4,
            created_ms=1_800_000_000_000,
            is_seeded=True,
            delegation_depth=2,
            cwd="/home/ana/moss",
            parent_session="session-b",
            origin="subagent",
            agent_preset="ptc",
        ),
        [],
    )


def test_optional_keys_may_be_absent() -> None:
    header, damage = parse_header(line(cwd=..., parentSession=..., origin=..., agentPreset=...), PATH)
    assert (header.cwd, header.parent_session, header.origin, header.agent_preset) == (None,) * 4
    assert damage == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"colour": "green"}, 'the header has an unknown key "colour"'),
        ({"createdAt": ...}, '"createdAt" in the header is missing'),
        ({"createdAt": -1}, '"createdAt" in the header is not a count'),
        ({"isSeeded": 1}, '"isSeeded" in the header is not true or false'),
        ({"delegationDepth": True}, '"delegationDepth" in the header is not a count'),
        ({"cwd": "moss"}, '"cwd" in the header is not an absolute path'),
        ({"cwd": None}, '"cwd" in the header is not a string'),
        ({"origin": "human"}, '"origin" in the header is not "subagent"'),
        ({"id": ...}, "the header has no session id"),
        ({"id": ""}, "the header has no session id"),
    ],
)
def test_a_header_that_dsh_refuses_but_that_can_be_read_opens_with_damage(
    changes: dict[str, Any], reason: str
) -> None:
    header, damage = parse_header(line(**changes), PATH)
    assert header.id == "session-a"
    assert [(item.code, item.line, item.offset, item.reason) for item in damage] == [
        ("bad-header", 1, 0, reason)
    ]


def test_a_windows_folder_is_an_absolute_path() -> None:
    assert reasons(line(cwd="C:\\Users\\x")) == []


def test_a_byte_order_mark_is_damage_and_no_obstacle() -> None:
    assert reasons(b"\xef\xbb\xbf" + line()) == ["the file begins with a byte order mark"]


def test_name_and_header_that_disagree_are_damage_with_both_numbers() -> None:
    _, damage = parse_header(line(), PATH.with_name("session.v3.jsonl"))
    assert [(item.code, item.fields) for item in damage] == [("version-mismatch", {"named": 3, "version": 4})]
    assert reasons(line(), Path("copy-of-my-session.jsonl")) == []


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_older_format_is_named_with_what_its_header_tells(version: int) -> None:
    error = failure(line(version=version), PATH.with_name("session.v3.jsonl"))
    assert error.code == "old-format"
    facts = {key: error.fields[key] for key in ("version", "id", "cwd", "created_ms")}
    assert facts == {
        "version": version,
        "id": "session-a",
        "cwd": "/home/ana/moss",
        "created_ms": 1_800_000_000_000,
    }


def test_a_newer_format_is_named_by_header_or_by_file_name() -> None:
    assert (failure(line(version=5)).code, failure(line(version=5)).fields["version"]) == ("newer-format", 5)
    error = failure(b'{"kind":"session-log","v":7}\n', PATH.with_name("session.v7.jsonl"))
    assert (error.code, error.fields["version"]) == ("newer-format", 7)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (line()[:-1], "no-header"),
        (line()[:40], "no-header"),
        (b"\x1f\x8b\x08\x00 gzip \n", "not-a-session"),
        (b"hello", "not-a-session"),
        (b"[1]\n", "not-a-session"),
        (b'{"type":"other"}\n', "not-a-session"),
        (b'{"type":"turn/start","seq":0,"time":1,"data":{}}\n', "no-header"),
        (line(version="4"), "bad-header"),
        (line(version=...), "bad-header"),
        (line(version=True), "bad-header"),
        (line()[:60] + b"\n", "bad-header"),
        (b'{"a":' + b"[" * 200_000 + b"\n", "not-a-session"),
    ],
)
def test_a_line_that_is_no_header_says_why(data: bytes, code: str) -> None:
    assert failure(data).code == code


def test_an_empty_file_and_a_file_without_a_readable_header_are_told_apart(tmp_path: Path) -> None:
    empty, torn = tmp_path / "empty.jsonl", tmp_path / "torn.jsonl.zstd"
    empty.write_bytes(b"")
    torn.write_bytes(b"\x28\xb5\x2f\xfd")
    assert failure(b"", empty).code == "empty-file"
    assert failure(b"", torn).code == "no-header"


def test_half_a_character_in_a_header_becomes_a_replacement_character() -> None:
    header, _ = parse_header(line(cwd="/moss/\ud83d", id="\ud83d\udca7"), PATH)
    assert (header.cwd, header.id) == ("/moss/\ufffd", "💧")
    header, _ = parse_header(line(cwd="/moss/X").replace(b"X", b"\xff"), PATH)
    assert header.cwd == "/moss/\ufffd"


@given(st.binary(max_size=80))
def test_any_bytes_give_a_header_or_a_typed_refusal(data: bytes) -> None:
    try:
        parse_header(b'{"type":"session",' + data + b"\n", PATH)
    except SessionUnreadable as error:
        assert error.fields["path"] == str(PATH)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("plain-cut-inside-header", "no-header"),
        ("plain-empty-file", "empty-file"),
        ("plain-header-version-5", "newer-format"),
        ("zstd-cut-in-header-frame", "no-header"),
        ("plain-header-unknown-key", ["bad-header"]),
        ("plain-bom", ["bad-header"]),
        ("plain-flip-in-json", []),
        ("zstd-one-big-frame", []),
    ],
)
def test_the_recorded_damaged_logs_open_unless_their_header_is_gone(
    shared: Path, case: str, expected: str | list[str]
) -> None:
    (path,) = (shared / "recordings" / "torn" / case / "sessions").rglob("session.v4.jsonl*")
    source = open_source(path)
    if isinstance(expected, str):
        with pytest.raises(SessionUnreadable) as caught:
            read_header(source)
        assert caught.value.code == expected
    else:
        header, damage, whole = read_header(source)
        assert header.id == path.parent.name
        assert [item.code for item in damage] == expected
        assert not whole
    source.close()


def test_a_header_is_read_over_frame_borders_and_alone_is_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "session.v4.jsonl"
    path.write_bytes(line())
    source = open_source(path)
    assert read_header(source) == (*parse_header(line(), PATH), True)
    source.close()
