"""What is wrong with a file of command tools is told with its place (CONTRACT, command tools)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_shore import entry
from tui.tools.command_file import ToolFileFault, parse_tool_file

BROKEN: list[tuple[str, str, str | None, str | None, int | None]] = [
    ("{", "bad-json", None, None, 1),
    ('{"tools": [\n  {"name" "cast"}]}', "bad-json", None, None, 2),
    ('{"tools": [NaN]}', "bad-json", None, None, None),
    ("[" * 100_000, "bad-json", None, None, None),
    ("[]", "bad-value", None, None, None),
    ("{}", "missing-key", None, "tools", None),
    ('{"tools": {}}', "bad-value", None, "tools", None),
    ('{"tools": [], "more": 1}', "unknown-key", None, "more", None),
    ('{"tools": [3]}', "bad-value", "#0", None, None),
]


@pytest.mark.parametrize(("text", "code", "tool", "key", "line"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_is_told_with_its_place(
    text: str, code: str, tool: str | None, key: str | None, line: int | None
) -> None:
    with pytest.raises(ToolFileFault) as found:
        parse_tool_file(Path("tools.json"), text.encode())
    fault = found.value
    assert (fault.code, fault.tool, fault.key, fault.line) == (code, tool, key, line)
    assert str(fault).startswith("tools.json")


@pytest.mark.parametrize(
    ("change", "code", "key"),
    [
        ({"name": "a b"}, "bad-name", "name"),
        ({"name": "run_code"}, "reserved-name", "name"),
        ({"command": []}, "bad-value", "command"),
        ({"command": [""]}, "bad-value", "command"),
        ({"command": "cat"}, "bad-value", "command"),
        ({"command": ["cat", 1]}, "bad-value", "command.1"),
        ({"command": ["cat", "\0"]}, "bad-value", "command"),
        ({"parameters": []}, "bad-value", "parameters"),
        ({"timeout_ms": 0}, "bad-value", "timeout_ms"),
        ({"timeout_ms": "5"}, "bad-value", "timeout_ms"),
        ({"timeout_ms": True}, "bad-value", "timeout_ms"),
        ({"defer": "yes"}, "bad-value", "defer"),
        ({"read_only": "yes"}, "bad-value", "read_only"),
        ({"when": {"modell": []}}, "unknown-key", "when.modell"),
        ({"when": {"model": []}}, "bad-value", "when.model"),
        ({"when": {"model": "gnat-1"}}, "bad-value", "when.model"),
        ({"when": {"file": "../out"}}, "bad-value", "when.file"),
        ({"when": {"file": "/etc/passwd"}}, "bad-value", "when.file"),
        ({"when": {"file": ""}}, "bad-value", "when.file"),
        ({"comand": ["cat"]}, "unknown-key", "comand"),
    ],
    ids=str,
)
def test_a_wrong_entry_is_told_with_tool_and_key(change: dict[str, Any], code: str, key: str) -> None:
    wrong = {**entry("cast"), **change}
    with pytest.raises(ToolFileFault) as found:
        parse_tool_file(Path("tools.json"), json.dumps({"tools": [entry("fine"), wrong]}).encode())
    assert (found.value.code, found.value.tool, found.value.key) == (code, wrong["name"], key)


@pytest.mark.parametrize("missing", ["name", "description", "parameters", "command"])
def test_a_key_that_is_missing_is_named(missing: str) -> None:
    wrong = {key: value for key, value in entry("cast").items() if key != missing}
    with pytest.raises(ToolFileFault) as found:
        parse_tool_file(Path("tools.json"), json.dumps({"tools": [wrong]}).encode())
    named = "#0" if missing == "name" else "cast"
    assert (found.value.code, found.value.tool, found.value.key) == ("missing-key", named, missing)


def test_a_name_stands_once_in_the_file() -> None:
    with pytest.raises(ToolFileFault) as found:
        parse_tool_file(Path("tools.json"), json.dumps({"tools": [entry("cast"), entry("cast")]}).encode())
    assert (found.value.code, found.value.tool) == ("repeated-name", "cast")
