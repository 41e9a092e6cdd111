"""Keeping tools to those that only read, until somebody lifts it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tui.tools.hooks import CallContext, Decision, Deny, ToolHooks


class ReadOnlyGuard:
    """Denies calls of tools that are not declared read-only, nested ones too, before the user is asked."""

    def __init__(self, hooks: ToolHooks) -> None:
        self._hooks = hooks
        # Outermost: whoever comes after it might allow a call by itself.
        hooks.pre_execute.insert(0, self._before)

    def lift(self) -> None:
        """Let every call go its way again; a second time does nothing."""
        if self._before in self._hooks.pre_execute:
            self._hooks.pre_execute.remove(self._before)

    async def _before(self, context: CallContext, following: Callable[[], Awaitable[Decision]]) -> Decision:
        if context.tool.read_only:
            return await following()
        return Deny(
            f'tool "{context.tool.name}" is not declared read-only, and until the user has confirmed a first '
            "read-only check nothing that writes or runs is allowed; check with what only reads, say what "
            "was found, and wait for the user"
        )
