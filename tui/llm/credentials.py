"""Keys: where they come from, and how they stay out of everything that is shown or stored (§4.1)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from tui.llm.failure import LlmFailure

COMMAND_TIMEOUT_S = 60.0
"""How long a command that gives a key may take."""


class Secret:
    """A key that shows itself nowhere but where it is asked for."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not stored")


@dataclass(frozen=True, slots=True)
class Credential:
    """Where a provider's key comes from: an environment variable, or what a command prints, or nowhere."""

    env: str | None = None
    command: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    @property
    def needed(self) -> bool:
        """Tell whether calls need a key at all."""
        return self.env is not None or bool(self.command)

    async def read(self) -> Secret | None:
        """Return the key, None where none is needed.

        Raises LlmFailure MISSING_CREDENTIAL or INVALID_CREDENTIAL; neither repeats what was found.
        """
        if self.command:
            return _checked(await _output(self.command), f"the key command {self.command[0]}")
        if self.env is not None:
            return _checked(self.environ.get(self.env, ""), f"the environment variable {self.env}")
        return None


def _checked(text: str, origin: str) -> Secret:
    key = text.strip()
    if not key:
        raise LlmFailure(f"{origin} holds no key", "MISSING_CREDENTIAL")
    if not all("!" <= char <= "~" for char in key):
        raise LlmFailure(f"{origin} holds characters that no key has", "INVALID_CREDENTIAL")
    return Secret(key)


async def _output(command: tuple[str, ...]) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LlmFailure(
            f"the key command {command[0]} cannot be run ({reason})", "MISSING_CREDENTIAL"
        ) from None
    try:
        async with asyncio.timeout(COMMAND_TIMEOUT_S):
            output, _ = await process.communicate()
    except TimeoutError:
        raise LlmFailure(f"the key command {command[0]} does not end", "MISSING_CREDENTIAL") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise LlmFailure(
            f"the key command {command[0]} failed with exit status {process.returncode}", "MISSING_CREDENTIAL"
        )
    return output.decode("utf-8", "replace")
