"""One call from its arguments to its result (loop-and-adapters §6.3, admission §6.6).

A call has three stages, so that a schedule can keep policy and commits in order while bodies overlap:
`decide` (arguments, admission, policy, approval), `run` (the body), `settle` (what follows it). Whatever a
tool or a hook raises becomes an error result; only a failing log or observer goes through.
"""

from __future__ import annotations

import asyncio
import copy
from typing import Any, Protocol

from tui.session.cancel import Cancelled
from tui.tools.admission import ResolvedToolSet
from tui.tools.approval import ApprovalService
from tui.tools.hooks import (
    Accept,
    Allow,
    Ask,
    BlockResult,
    CallContext,
    CancelCall,
    Decision,
    Deny,
    Review,
    SuccessContext,
    ToolHooks,
    waterfall,
)
from tui.tools.schema import argument_violations, is_lossless, value_violations
from tui.tools.tool import (
    Block,
    Tool,
    ToolAgent,
    ToolCall,
    ToolContext,
    ToolFailure,
    ToolResult,
    ToolSuccess,
    text_block,
)


class Executable(Protocol):
    """Finds the tool that a call starting now runs; None for an unknown one."""

    def __call__(
        self, name: str, agent: ToolAgent | None = None, tool_set: ResolvedToolSet | None = None
    ) -> Tool | None: ...


class ToolPipeline:
    """Runs calls; see the module."""

    def __init__(self, executable: Executable, hooks: ToolHooks, approval: ApprovalService | None) -> None:
        self.executable = executable
        self.hooks = hooks
        self.approval = approval

    def prepare(self, call: ToolCall, tool_set: ResolvedToolSet | None) -> PreparedCall:
        """Return the call in its stages; nothing has happened yet."""
        return PreparedCall(self, call, tool_set)

    async def execute(self, call: ToolCall, tool_set: ResolvedToolSet | None = None) -> ToolResult:
        """Take a call through all its stages."""
        prepared = self.prepare(call, tool_set)
        await prepared.decide()
        await prepared.run()
        return await prepared.settle()


class PreparedCall:
    """A call on its way. The stages are called once each, in order; a refused call passes them untouched."""

    __slots__ = (
        "_arguments",
        "_body_ran",
        "_outcome",
        "_pipeline",
        "_refused",
        "_result",
        "_tool",
        "_tool_set",
        "call",
    )

    def __init__(self, pipeline: ToolPipeline, call: ToolCall, tool_set: ResolvedToolSet | None) -> None:
        self.call = call
        self._pipeline = pipeline
        self._tool_set = tool_set
        self._tool = self._known_tool()
        self._arguments: Any = None
        self._body_ran = False
        self._outcome: ToolSuccess | None = None
        self._refused: ToolResult | None = None
        self._result: ToolResult | None = None

    def is_parallel(self) -> bool:
        """Tell whether the call may run beside others now: its tool says exactly True. §1.11 point 2."""
        tool = self._executable()
        if tool is None or tool.is_concurrency_safe is None:
            return False
        try:
            return tool.is_concurrency_safe(copy.deepcopy(self.call.arguments)) is True
        except Exception:
            return False

    async def decide(self) -> None:
        """Settle whether the body may run: arguments, cancelling, admission, policy, approval."""
        call = self.call
        if self._tool_set is not None and self._tool_set.disposed:
            self._result = unknown_tool(call)
            return
        try:
            self._arguments = _snapshot(call.arguments)
        except Exception as error:
            self._result = failed(call, error)
            return
        self._result = self._refusal()
        if self._result is not None or self._tool is None:
            return
        context = CallContext(call, self._tool, self._arguments)
        try:
            _check_arguments(self._tool, self._arguments)
            decision = await self._policy(context)
        except Exception as error:
            self._result = failed(call, error)
            return
        self._result = await self._answer(context, decision)
        if self._result is None:
            self._result = await self._guards(context)

    async def run(self) -> None:
        """Run the body, its wrappers around it, unless the call is refused; a started body is awaited."""
        if self._result is not None:
            return
        self._result = self._refusal()
        tool = self._tool
        if self._result is not None or tool is None:
            return
        context = CallContext(self.call, tool, self._arguments)
        try:
            value = await waterfall(self._pipeline.hooks.execute, context, self._body)
            self._outcome = value if isinstance(value, ToolSuccess) else ToolSuccess(value)
        except _Refused:
            pass  # told by what was refused
        except Cancelled as error:
            self._result = self._aborted() if self.call.signal.cancelled else failed(self.call, error)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            self._result = failed(self.call, error)
        except Exception as error:
            self._result = failed(self.call, error)
        if self._refused is not None:
            self._result = self._refused  # whatever a wrapper made of it

    async def settle(self) -> ToolResult:
        """Return the result: output contract, projection, review, finalizer; then observers are told."""
        result = self._result
        if result is None and self.call.signal.cancelled:
            result = self._aborted()
        if result is None:
            result = await self._succeed()
            if not result.is_error and self.call.signal.cancelled:
                result = self._aborted()
        result = self._finalized(result)
        for observer in tuple(self._pipeline.hooks.observers):
            observer(self.call, copy.deepcopy(result))
        return result

    def _known_tool(self) -> Tool | None:
        """The tool whose finalizer belongs to the call, even if the call comes to nothing."""
        if self._tool_set is None:
            return self._executable()
        registration = self._tool_set.admitted(self.call.name)
        return None if registration is None else registration.tool

    def _executable(self) -> Tool | None:
        call, tool_set = self.call, self._tool_set
        if tool_set is None and call.origin != "program":
            return None
        return self._pipeline.executable(call.name, call.agent, tool_set)

    def _refusal(self) -> ToolResult | None:
        """Return the result of a call that must not go on, looked at anew before each thing that starts."""
        if self._tool_set is not None and self._tool_set.disposed:
            return unknown_tool(self.call)
        if self.call.signal.cancelled:
            return self._aborted()
        tool = self._executable()
        if tool is not None and tool is self._tool:
            return None
        held = self._tool_set is not None and self._tool_set.is_held and self.call.name in self._tool_set
        return held_tool_gone(self.call) if held else unknown_tool(self.call)

    def _aborted(self) -> ToolResult:
        return aborted(self.call) if self._body_ran else aborted_before_dispatch(self.call)

    async def _policy(self, context: CallContext) -> Decision:
        policy = context.tool.policy

        async def innermost() -> Decision:
            return Allow() if policy is None else policy(copy.deepcopy(context.arguments))

        return await waterfall(self._pipeline.hooks.pre_execute, context, innermost)

    async def _answer(self, context: CallContext, decision: Decision) -> ToolResult | None:
        call = self.call
        match decision:
            case Allow():
                return None
            case Deny(reason):
                return error_result(call, reason)
            case CancelCall():
                return self._approval_cancelled()
            case Ask():
                pass
        approval = self._pipeline.approval
        if approval is None:
            return error_result(
                call, decision.reason or f'tool "{call.name}" requires approval (not yet supported)'
            )
        verdict = await approval.decide(
            tool_name=call.name,
            call_id=call.call_id,
            arguments=context.arguments,
            signal=call.signal,
            reason=decision.reason,
            command=decision.command,
            grant=decision.grant,
        )
        match verdict.outcome:
            case "allowed-once":
                return None
            case "rejected":
                because = f": {verdict.reason}" if verdict.reason else ""
                return error_result(call, f'the user rejected tool "{call.name}"{because}')
            case "cancelled":
                return self._approval_cancelled()
            case "unavailable":
                return error_result(
                    call, f'tool "{call.name}" requires approval, but no approval channel is available'
                )

    def _approval_cancelled(self) -> ToolResult:
        if self.call.signal.cancelled:
            return self._aborted()
        return error_result(self.call, f'approval for tool "{self.call.name}" was cancelled')

    async def _guards(self, context: CallContext) -> ToolResult | None:
        for guard in tuple(self._pipeline.hooks.guards):
            try:
                denied = await guard(context)
            except Exception as error:
                return failed(self.call, error)
            if denied is not None:
                return error_result(self.call, denied.reason)
        return None

    async def _body(self) -> Any:
        refusal = self._refusal()
        tool = self._tool
        if refusal is not None or tool is None:
            self._refused = refusal or unknown_tool(self.call)
            raise _Refused
        signal = self.call.signal.child()
        context = ToolContext(self.call, signal, self._tool_set, self._pipeline.execute)
        timer = None
        if tool.timeout_ms is not None:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(tool.timeout_ms / 1000, signal.cancel, {"kind": "timeout"})
        self._body_ran = True
        try:
            value = await tool.execute(copy.deepcopy(self._arguments), context)
        except Cancelled as error:
            raise (_timed_out(tool) if _is_timeout(signal.cause) else error) from error
        finally:
            if timer is not None:
                timer.cancel()
        if _is_timeout(signal.cause):
            raise _timed_out(tool)
        return value

    async def _succeed(self) -> ToolResult:
        tool, outcome = self._tool, self._outcome
        if tool is None or outcome is None:
            return unknown_tool(self.call)
        try:
            value, content = outcome.value, self._rendered(tool, outcome.value)
            context = SuccessContext(self.call, tool, copy.deepcopy(value), copy.deepcopy(content))
            review = await waterfall(self._pipeline.hooks.post_execute, context, _accept)
            if isinstance(review, BlockResult):
                return error_result(self.call, review.feedback)
            if review.replaces_value:
                value, content = review.value, self._rendered(tool, review.value)
            if review.content is not None:
                content = copy.deepcopy(review.content)
            meta = tool.output.presentation_meta
            return ToolResult(
                call_id=self.call.call_id,
                content=content,
                meta=None if meta is None else meta(value),
                value=value,
                additional_contexts=(*outcome.additional_contexts, *review.additional_contexts),
                concludes_turn=outcome.concludes_turn,
            )
        except Exception as error:
            return failed(self.call, error)

    def _rendered(self, tool: Tool, value: Any) -> list[Block]:
        violations = (
            value_violations(tool.output.schema, value)
            if is_lossless(value)
            else ['"value" is not lossless JSON']
        )
        if violations:
            told = "; ".join(violations)
            raise ToolFailure(
                f'tool "{tool.name}" returned invalid output: {told}',
                "INVALID_TOOL_OUTPUT",
                name="ToolOutputError",
            )
        content = tool.output.render(value)
        return content if tool.project_content is None else tool.project_content(content)

    def _finalized(self, result: ToolResult) -> ToolResult:
        if self._tool is None or self._tool.finalize_content is None or is_unknown_tool(result):
            return result
        try:
            content = self._tool.finalize_content(copy.deepcopy(result.content))
        except Exception as error:
            return failed(self.call, error)
        return ToolResult(
            call_id=result.call_id,
            content=content,
            is_error=result.is_error,
            error=result.error,
            meta=result.meta,
            value=result.value,
            additional_contexts=result.additional_contexts,
            concludes_turn=result.concludes_turn,
        )


class _Refused(Exception):
    """Tells the wrappers that the body does not run after all."""


def error_result(call: ToolCall, message: str, error: dict[str, str] | None = None) -> ToolResult:
    """Return an error result that tells the model `Error: <message>`."""
    return ToolResult(
        call_id=call.call_id, content=[text_block(f"Error: {message}")], is_error=True, error=error
    )


def failed(call: ToolCall, error: BaseException) -> ToolResult:
    """Return the result of a call that raised; only a coded error leaves its code. §6.3."""
    message = str(error) or type(error).__name__
    if isinstance(error, ToolFailure):
        return error_result(call, message, {"name": error.name, "code": error.code})
    code = getattr(error, "code", None)
    coded = {"name": type(error).__name__, "code": code} if isinstance(code, str) else None
    return error_result(call, message, coded)


def unknown_tool(call: ToolCall) -> ToolResult:
    """Return the result of a call that meets no tool. §6.4."""
    return error_result(
        call, f'unknown tool "{call.name}"', {"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"}
    )


def held_tool_gone(call: ToolCall) -> ToolResult:
    """Return the result of a call of a tool that is declared only because the session's tools are held."""
    message = (
        f'tool "{call.name}" is not available: the tools of this session are held as they were, and this one '
        "has been removed or changed since"
    )
    return error_result(call, message, {"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"})


def is_unknown_tool(result: ToolResult) -> bool:
    """Tell whether a result says that there is no such tool."""
    return result.error is not None and result.error["code"] == "UNKNOWN_TOOL"


def aborted(call: ToolCall) -> ToolResult:
    """Return the result of a call whose body ran when the step was cancelled. §1.11."""
    return error_result(call, "tool call aborted", {"name": "AbortError", "code": "ABORTED"})


def aborted_before_dispatch(call: ToolCall) -> ToolResult:
    """Return the result of a call whose body did not run when the step was cancelled. §1.11."""
    return error_result(
        call,
        "tool call aborted before dispatch",
        {"name": "AbortError", "code": "ABORTED_BEFORE_DISPATCH"},
    )


def _snapshot(arguments: Any) -> Any:
    if not is_lossless(arguments):
        raise _invalid_arguments(['"arguments" must be JSON'])
    return copy.deepcopy(arguments)


def _check_arguments(tool: Tool, arguments: Any) -> None:
    if tool.argument_check == "none":
        return
    schema: Any = tool.parameters if tool.argument_check == "schema" else {}
    if violations := argument_violations(schema, arguments):
        raise _invalid_arguments(violations)


def _invalid_arguments(violations: list[str]) -> ToolFailure:
    return ToolFailure(
        f"invalid arguments: {'; '.join(violations)}", "INVALID_ARGS", name="ToolArgumentsError"
    )


def _timed_out(tool: Tool) -> ToolFailure:
    return ToolFailure(
        f'tool "{tool.name}" timed out after {tool.timeout_ms} ms', "TIMEOUT", name="ToolTimeoutError"
    )


def _is_timeout(cause: dict[str, Any] | None) -> bool:
    return cause is not None and cause.get("kind") == "timeout"


async def _accept() -> Review:
    return Accept()
