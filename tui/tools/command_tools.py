"""Tools that are external commands, kept in step with the file that declares them (CONTRACT, command tools).

The file is looked at before every step, so that nothing is missed, and watched in between, so that the screen
hears of it at once. What is equal in definition and command stays registered as it is: a running step can go
on calling it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tui.session.cancel import Cancelled, CancelSignal
from tui.session.json_text import compact
from tui.tools.command_file import (
    CommandConditions,
    CommandTool,
    ToolFileFault,
    parse_tool_file,
    read_tool_file,
)
from tui.tools.command_process import CommandNotStarted, CommandStopped, Finished, run_command
from tui.tools.hooks import Ask
from tui.tools.registry import ToolRegistry
from tui.tools.schema import schema_violations
from tui.tools.scope import ActivationContext, Condition, Disposer, ToolScope
from tui.tools.tool import ArgumentCheck, Tool, ToolContext, ToolFailure

_UNSETTLED_NS: Final = 100_000_000
"""A file written this shortly before it was read may be written again with the same times."""


@dataclass(frozen=True, slots=True)
class ToolFileReport:
    """What a look at the file brought; with a fault the tools of before are kept."""

    path: Path
    fault: ToolFileFault | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Registered:
    identity: tuple[object, ...]
    dispose: Disposer


class CommandTools:
    """The registrations that a `tools.json` stands for."""

    def __init__(
        self,
        registry: ToolRegistry,
        path: Path,
        workspace: Path,
        *,
        scope: ToolScope | None = None,
        optional: bool = False,
        withheld: Collection[str] = (),
        on_report: Callable[[ToolFileReport], object] | None = None,
    ) -> None:
        """Prepare; nothing is read before `refresh`, which every `resolve` of the registry calls.

        An `optional` file may be missing without a word until it has been there once. Commands get the
        environment without the `withheld` names, which is for keys of providers.
        """
        self.path = path
        self.workspace = workspace
        self.report = ToolFileReport(path)
        """The last report; its fault, if any, still holds."""
        self._registry = registry
        self._layer = registry.layer(scope)
        self._optional = optional
        self._withheld = frozenset(withheld)
        self._on_report = on_report
        self._registered: dict[str, _Registered] = {}
        self._content: bytes | None = None
        self._signature: tuple[int, ...] | None = None
        self._detach = registry.add_source(self.refresh)

    def refresh(self) -> ToolFileReport | None:
        """Look at the file and follow what changed; returns None if nothing did."""
        signature = _signature(self.path)
        if signature is not None and signature == self._signature:
            return None
        report = self._read()
        self._signature = None if _is_unsettled(signature) else signature
        if report is None:
            return None
        self.report = report
        if self._on_report is not None:
            self._on_report(report)
        return report

    async def watch(self, signal: CancelSignal) -> None:
        """Refresh as soon as the file changes, until the signal comes; where it cannot be watched, return."""
        from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]  # trio is not here

        stop = asyncio.Event()

        async def stop_with_signal() -> None:
            await signal.wait()
            stop.set()

        stopping = asyncio.create_task(stop_with_signal())
        name = self.path.name
        try:
            with contextlib.suppress(OSError):
                async for _ in awatch(
                    self.path.parent,
                    watch_filter=lambda _, changed: Path(changed).name == name,
                    stop_event=stop,
                    recursive=False,
                ):
                    self.refresh()
        finally:
            stopping.cancel()

    def close(self) -> None:
        """Remove every tool of the file and look at it no more."""
        self._detach()
        with self._registry.announced_together():
            for registered in self._registered.values():
                registered.dispose()
            self._registered.clear()

    def _read(self) -> ToolFileReport | None:
        try:
            content = read_tool_file(self.path)
            if content == self._content and self.report.fault is None:
                return None
            self._content = content
            return self._apply(parse_tool_file(self.path, content))
        except ToolFileFault as fault:
            before = self.report.fault
            if before is not None and str(before) == str(fault):
                return None
            if fault.code == "missing" and self._optional and self._content is None:
                return None
            return ToolFileReport(self.path, fault)

    def _apply(self, declared: tuple[CommandTool, ...]) -> ToolFileReport:
        for entry in declared:
            if entry.name not in self._registered and self._layer.own(entry.name) is not None:
                raise ToolFileFault(self.path, "taken-name", tool=entry.name, key="name")
        wanted = {entry.name: self._tool(entry) for entry in declared}
        conditions = {entry.name: entry.when for entry in declared}
        identities = {
            entry.name: (
                wanted[entry.name].declaration.text,
                entry.command,
                entry.timeout_ms,
                entry.when,
                entry.read_only,
            )
            for entry in declared
        }
        before = set(self._registered)
        gone = [name for name in self._registered if name not in wanted]
        changed = [
            name
            for name, registered in self._registered.items()
            if name in wanted and registered.identity != identities[name]
        ]
        added = [name for name in wanted if name not in before]
        with self._registry.announced_together():
            for name in (*gone, *changed):
                self._registered.pop(name).dispose()
            for name in (*changed, *added):
                dispose = self._layer.register(wanted[name], self._condition(conditions[name]))
                self._registered[name] = _Registered(identities[name], dispose)
        return ToolFileReport(self.path, None, tuple(added), tuple(gone), tuple(changed))

    def _tool(self, entry: CommandTool) -> Tool:
        command, workspace = entry.command, self.workspace
        ask = Ask(command=command, grant=compact([entry.name, list(command), str(workspace)]))
        outside_subset = next(schema_violations(entry.parameters), None) is not None
        check: ArgumentCheck = "object" if outside_subset else "schema"

        async def execute(arguments: Any, context: ToolContext) -> str:
            return await _call(entry, workspace, self._environ(), arguments, context.signal)

        return Tool(
            name=entry.name,
            description=entry.description,
            parameters=entry.parameters,
            execute=execute,
            defer_loading=entry.defer,
            timeout_ms=entry.timeout_ms,
            argument_check=check,
            read_only=entry.read_only,
            policy=lambda _: ask,
        )

    def _condition(self, conditions: CommandConditions | None) -> Condition | None:
        if conditions is None or (conditions.model is None and conditions.file is None):
            return None
        model, file, workspace = conditions.model, conditions.file, self.workspace

        def holds(context: ActivationContext) -> bool:
            if model is not None and context.model_selection.model not in model:
                return False
            return file is None or (workspace / file).exists()

        return holds

    def _environ(self) -> Mapping[str, str]:
        return {name: value for name, value in os.environ.items() if name not in self._withheld}


async def _call(
    entry: CommandTool, workspace: Path, environ: Mapping[str, str], arguments: Any, signal: CancelSignal
) -> str:
    stdin = compact(arguments).encode() + b"\n"
    try:
        finished = await run_command(
            entry.command, cwd=workspace, stdin=stdin, signal=signal, environ=environ
        )
    except CommandNotStarted as error:
        raise _failure(f'cannot run "{entry.command[0]}": {error}', "COMMAND_NOT_STARTED") from error
    except CommandStopped as stopped:
        if stopped.cause.get("kind") != "timeout":
            raise Cancelled(dict(stopped.cause)) from stopped
        told = _told(f'tool "{entry.name}" timed out after {entry.timeout_ms} ms', stopped.finished)
        raise ToolFailure(told, "TIMEOUT", name="ToolTimeoutError") from stopped
    if finished.status == 0:
        return finished.stdout
    how = (
        f"exited with status {finished.status}"
        if finished.status > 0
        else f"was ended by signal {-finished.status}"
    )
    raise _failure(_told(f"the command {how}", finished), "COMMAND_FAILED")


def _told(what: str, finished: Finished) -> str:
    output = finished.stderr or finished.stdout
    return f"{what}\n{output}" if output else what


def _failure(message: str, code: str) -> ToolFailure:
    return ToolFailure(message, code, name="CommandError")


def _signature(path: Path) -> tuple[int, ...] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def _is_unsettled(signature: tuple[int, ...] | None) -> bool:
    return signature is None or time.time_ns() - max(signature[3:]) < _UNSETTLED_NS
