"""The file of command tools, `tools.json` (CONTRACT, "Files and environment").

A file is taken whole or not at all. What is wrong with it is a fault with a code, and the tool and the key it
is found at; whoever shows it makes the sentence.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NoReturn, TypeAlias, cast

from tui.session.json_value import as_array, as_object, as_text
from tui.tools.scope import ToolNameError, require_name

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_FILE_BYTES: Final = 4 * 1024 * 1024
DEFAULT_TIMEOUT_MS: Final = 120_000

FaultCode: TypeAlias = Literal[
    "missing",
    "unreadable",
    "not-a-file",
    "too-large",
    "not-utf8",
    "bad-json",
    "bad-value",
    "missing-key",
    "unknown-key",
    "bad-name",
    "reserved-name",
    "repeated-name",
    "taken-name",
]

_STRICT: Final = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class CommandConditions:
    """When a command tool exists: all that is given must hold."""

    model: tuple[str, ...] | None = None
    """Ids of models."""
    file: str | None = None
    """A path that exists in the workspace."""

    __pydantic_config__: ClassVar = _STRICT


@dataclass(frozen=True, slots=True)
class CommandTool:
    """One entry of the file."""

    name: str
    description: str
    parameters: dict[str, Any]
    command: tuple[str, ...]
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    when: CommandConditions | None = None
    defer: bool = False
    read_only: bool = False
    """What the file says of the command; nothing here can check it."""

    __pydantic_config__: ClassVar = _STRICT


@dataclass(frozen=True, slots=True)
class _File:
    tools: tuple[CommandTool, ...]

    __pydantic_config__: ClassVar = _STRICT


class ToolFileFault(Exception):
    """Why the file cannot be used, as facts; the message is one English sentence of them."""

    def __init__(
        self,
        path: Path,
        code: FaultCode,
        *,
        tool: str | None = None,
        key: str | None = None,
        line: int | None = None,
        detail: str = "",
    ) -> None:
        self.path = path
        self.code: FaultCode = code
        self.tool = tool
        """The tool's name, or its place from 0 as `#3` where it has none."""
        self.key = key
        """The key in the tool or the file, e.g. `when.file`."""
        self.line = line
        self.detail = detail
        place = [str(path) if line is None else f"{path}, line {line}"]
        place += [] if tool is None else [f'tool "{tool}"']
        place += [] if key is None else [f"`{key}`"]
        super().__init__(f"{', '.join(place)}: {code}" + (f" ({detail})" if detail else ""))


def read_tool_file(path: Path) -> bytes:
    """Return the bytes of the file. Raises ToolFileFault."""
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise ToolFileFault(path, "not-a-file")
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError as error:
        raise ToolFileFault(path, "missing") from error
    except OSError as error:
        raise ToolFileFault(path, "unreadable", detail=error.strerror or type(error).__name__) from error
    if len(text) > MAX_FILE_BYTES:
        raise ToolFileFault(path, "too-large", detail=f"more than {MAX_FILE_BYTES} bytes")
    return text


def parse_tool_file(path: Path, content: bytes) -> tuple[CommandTool, ...]:
    """Return the tools that the content of a file declares. Raises ToolFileFault for what is wrong first."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolFileFault(path, "not-utf8", line=content.count(b"\n", 0, error.start) + 1) from error
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ToolFileFault(path, "bad-json", line=error.lineno, detail=error.msg) from error
    except ValueError as error:
        raise ToolFileFault(path, "bad-json", detail=str(error)) from error
    except RecursionError as error:
        raise ToolFileFault(path, "bad-json", detail="nested too deeply") from error

    from pydantic import TypeAdapter, ValidationError

    try:
        # JSON mode takes arrays for tuples and converts nothing else.
        tools = TypeAdapter(_File).validate_json(text, strict=True).tools
    except ValidationError as error:
        raise _first_fault(path, document, error.errors(include_url=False)) from error
    _check_entries(path, tools)
    return tools


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _first_fault(path: Path, document: object, faults: Sequence[ErrorDetails]) -> ToolFileFault:
    fault = faults[0]
    loc = fault["loc"]
    place = list(loc[1:] if len(loc) > 1 else loc)
    tool = None
    if place and isinstance(place[0], int):
        entries = as_array(as_object(document).get("tools"))
        index = place.pop(0)
        entry = as_object(entries[cast("int", index)]) if cast("int", index) < len(entries) else {}
        tool = as_text(entry.get("name")) or f"#{index}"
    key = ".".join(map(str, place)) or None
    match fault["type"]:
        case "missing":
            code: FaultCode = "missing-key"
        case "unexpected_keyword_argument":
            code = "unknown-key"
        case _:
            code = "bad-value"
    return ToolFileFault(path, code, tool=tool, key=key, detail=fault["msg"])


def _check_entries(path: Path, tools: Sequence[CommandTool]) -> None:
    seen: set[str] = set()
    for tool in tools:
        try:
            require_name(tool.name)
        except ToolNameError as error:
            code: FaultCode = "reserved-name" if error.code == "reserved" else "bad-name"
            raise ToolFileFault(path, code, tool=tool.name, key="name", detail=str(error)) from error
        if tool.name in seen:
            raise ToolFileFault(path, "repeated-name", tool=tool.name, key="name")
        seen.add(tool.name)
        for key, wrong in _wrong_values(tool):
            raise ToolFileFault(path, "bad-value", tool=tool.name, key=key, detail=wrong)


def _wrong_values(tool: CommandTool) -> list[tuple[str, str]]:
    wrong: list[tuple[str, str]] = []
    if not tool.command or not tool.command[0]:
        wrong.append(("command", "names no program"))
    if any("\0" in part for part in tool.command):
        wrong.append(("command", "holds a NUL character"))
    if tool.timeout_ms <= 0:
        wrong.append(("timeout_ms", "must be more than 0 milliseconds"))
    if tool.when is not None:
        if tool.when.model is not None and not tool.when.model:
            wrong.append(("when.model", "names no model"))
        if tool.when.file is not None and not _is_inside(tool.when.file):
            wrong.append(("when.file", "must be a path in the workspace"))
    return wrong


def _is_inside(file: str) -> bool:
    path = PurePosixPath(file)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in file
