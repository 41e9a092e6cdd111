"""When a failed call is made again, and after what wait (loop-and-adapters §1.10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import random
from typing import Final, Literal, TypeAlias

from tui.llm.failure import LlmFailure
from tui.session.json_text import compact

RetryMode: TypeAlias = Literal["normal", "always"]
RETRYABLE_CODES: Final = ("EMPTY_RESPONSE", "RATE_LIMIT", "SERVER", "TIMEOUT", "TRANSPORT")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How a provider's calls are retried; times in milliseconds."""

    mode: RetryMode = "normal"
    """`normal` gives up after `max_retries` in a step; `always` goes on until it is stopped."""
    max_retries: int = 5
    retryable_codes: tuple[str, ...] = RETRYABLE_CODES
    initial_ms: float = 500
    max_ms: float = 10_000
    jitter: float = 0.1
    """Share of the delay by which it varies in either direction."""

    @property
    def key(self) -> str:
        """The `policyKey` under which a step counts its retries."""
        codes = sorted(self.retryable_codes)
        bound = [self.max_retries] if self.mode == "normal" else []
        return compact([self.mode, *bound, codes, self.initial_ms, self.max_ms, self.jitter])

    def delay_ms(self, failure: LlmFailure, retry: int, draw: Callable[[], float] = random) -> float | None:
        """Return how long to wait before the retry with number `retry` (from 1); None: give up.

        `draw` gives a number in [0, 1). A wait that the provider asks for counts if it is not above `max_ms`;
        a longer one ends the retries in mode `normal`. Spec §1.10.
        """
        if failure.code not in self.retryable_codes:
            return None
        if self.mode == "normal" and retry > self.max_retries:
            return None
        asked = failure.retry_after_ms
        if asked is not None and asked > 0:
            if asked <= self.max_ms:
                return asked
            if self.mode == "normal":
                return None
        # The exponent is bounded: 2.0**1100 is no float, and no wait needs it.
        growing = min(self.initial_ms * 2.0 ** min(retry - 1, 60), self.max_ms)
        factor = 1 - self.jitter + 2 * self.jitter * draw()
        return min(growing * factor, self.max_ms)
