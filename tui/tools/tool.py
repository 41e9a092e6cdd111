"""What a tool is, what a call of it is, and what comes back (loop-and-adapters §6.1, §6.3).

Arguments, values and content blocks are plain JSON. Nothing here knows how a call is admitted or run.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, TypeAlias

from tui.session.cancel import CancelSignal
from tui.session.json_text import compact
from tui.session.json_value import MAX_SAFE_INTEGER
from tui.session.tool_definition import ToolDefinition

if TYPE_CHECKING:
    from tui.tools.admission import ResolvedToolSet
    from tui.tools.hooks import Decision
    from tui.tools.scope import ToolScope

Block: TypeAlias = dict[str, Any]
ArgumentCheck: TypeAlias = Literal["schema", "object", "none"]
"""What is checked before a call: all of `parameters`, only that there is an object, or nothing."""
Origin: TypeAlias = Literal["model", "nested", "program"]


class ToolAgent(Protocol):
    """Whoever calls tools; its scope says what is visible to it, None stands for the global layer."""

    @property
    def tool_scope(self) -> ToolScope | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSelection:
    """The model a step is going to ask; conditions and the prompt see the same object."""

    provider: str
    model: str
    reasoning_effort: str | None = None


class ToolFailure(Exception):
    """A tool's own failure, told to the model as `Error: <message>`; the log keeps `name` and `code`."""

    def __init__(self, message: str, code: str, *, name: str = "ToolError") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.name = name


@dataclass(frozen=True, slots=True)
class ToolSuccess:
    """A value together with what it means for the turn; a body may return the bare value instead."""

    value: Any
    additional_contexts: tuple[dict[str, Any], ...] = ()
    """Messages for the `next-step` queue."""
    concludes_turn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputContract:
    """What a tool's value looks like and how the model and the screen are shown it."""

    schema: Any
    render: Callable[[Any], list[Block]]
    presentation_meta: Callable[[Any], Any] | None = None
    """Private display data for the log's `meta`; None for no `meta`."""


def text_block(text: str) -> Block:
    """Return a text block."""
    return {"type": "text", "text": text}


def _render_text(value: Any) -> list[Block]:
    # Providers refuse an empty text, an empty list they take.
    return [text_block(value)] if value else []


TEXT_OUTPUT = OutputContract(schema={"type": "string"}, render=_render_text)
"""The contract of a tool that returns a string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call: `arguments` is parsed JSON, or the raw string where that is no JSON."""

    call_id: str
    name: str
    arguments: Any
    signal: CancelSignal
    agent: ToolAgent | None = None
    origin: Origin = "program"
    parent_call_id: str | None = None
    root_call_id: str | None = None

    @classmethod
    def from_block(cls, block: Mapping[str, Any], signal: CancelSignal, agent: ToolAgent | None) -> ToolCall:
        """Return the call that a `tool-call` block of an assistant message asks for. §1.11 point 1."""
        return cls(
            call_id=block["id"],
            name=block["name"],
            arguments=parse_arguments(block["arguments"]),
            signal=signal,
            agent=agent,
            origin="model",
        )


def parse_arguments(raw: str) -> Any:
    """Return the arguments a model wrote: none are `{}`, and what is no JSON stays the string it is."""
    if not raw:
        return {}
    try:
        return json.loads(raw, parse_int=_whole, parse_float=_double, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return raw


def _whole(digits: str) -> int | float:
    # Beyond the safe integers a number is the double that JavaScript reads.
    return int(digits) if len(digits) <= 15 else _double(digits)


def _double(digits: str) -> int | float:
    double = float(digits)
    return int(double) if double.is_integer() and abs(double) <= MAX_SAFE_INTEGER else double


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class ToolContext:
    """What a body may know about the call it serves, and its way to call other tools."""

    __slots__ = ("_dispatch", "_nested", "call", "signal", "tool_set")

    def __init__(
        self,
        call: ToolCall,
        signal: CancelSignal,
        tool_set: ResolvedToolSet | None,
        dispatch: Callable[[ToolCall, ResolvedToolSet | None], Awaitable[ToolResult]],
    ) -> None:
        self.call = call
        self.signal = signal
        """Cancelled with the caller and when the tool's own time is up."""
        self.tool_set = tool_set
        self._dispatch = dispatch
        self._nested = 0

    async def call_tool(self, name: str, arguments: Any) -> ToolResult:
        """Run another tool for this call, admitted by the same set. §6.5, §6.6."""
        self._nested += 1
        call = ToolCall(
            call_id=f"{self.call.call_id}:ptc:{self._nested}",
            name=name,
            arguments=arguments,
            signal=self.signal,
            agent=self.call.agent,
            # A program's own calls stay a program's: without a set they meet the unconditional tools.
            origin="program" if self.call.origin == "program" else "nested",
            parent_call_id=self.call.call_id,
            root_call_id=self.call.root_call_id or self.call.call_id,
        )
        return await self._dispatch(call, self.tool_set)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """How a call ended; `error` has `name` and `code`, and is None for an error without a code."""

    call_id: str
    content: list[Block]
    is_error: bool = False
    error: dict[str, str] | None = None
    meta: Any = None
    value: Any = None
    """The body's own value, for programs; None for an error."""
    additional_contexts: tuple[dict[str, Any], ...] = ()
    concludes_turn: bool = False

    def event_data(self, turn: int, step: int, message_id: str) -> dict[str, Any]:
        """Return the payload of `tool/result`. §1.11 point 5, session-format `tool/result`."""
        message: dict[str, Any] = {
            "id": message_id,
            "role": "tool",
            "toolCallId": self.call_id,
            "source": {"kind": "tool", "callId": self.call_id},
            "content": self.content,
            "isError": self.is_error,
        }
        data: dict[str, Any] = {"turn": turn, "step": step, "message": message}
        if self.error is not None:
            data["error"] = self.error
        if self.meta is not None:
            data["meta"] = self.meta
        return data


Execute: TypeAlias = Callable[[Any, ToolContext], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """A tool as it is registered. Two registrations of equal tools are still two registrations."""

    name: str
    description: str
    parameters: Any
    """JSON schema of the arguments."""
    execute: Execute
    output: OutputContract = TEXT_OUTPUT
    defer_loading: bool = False
    timeout_ms: int | None = None
    is_concurrency_safe: Callable[[Any], bool] | None = None
    """Whether a call with these arguments may run beside others; only exactly True counts."""
    argument_check: ArgumentCheck = "schema"
    read_only: bool = False
    """Whether no call of it writes, sends or runs anything that leaves a trace."""
    policy: Callable[[Any], Decision] | None = None
    """The decision on a call with these arguments that nothing in the pre-execute chain decides."""
    project_content: Callable[[list[Block]], list[Block]] | None = None
    finalize_content: Callable[[list[Block]], list[Block]] | None = None
    """Has the last word on the content of every result of an admitted call, errors included."""
    declaration: ToolDefinition = field(init=False)

    def __post_init__(self) -> None:
        declared: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        if self.defer_loading:
            declared["deferLoading"] = True
        text = compact(declared)
        definition = ToolDefinition(
            name=self.name,
            description=self.description,
            parameters=json.loads(text)["parameters"],
            defer_loading=self.defer_loading,
            text=text,
        )
        object.__setattr__(self, "declaration", definition)
