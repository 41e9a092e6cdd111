"""What follows a failed request: another try after a wait, or the end (loop-and-adapters §1.10)."""

from __future__ import annotations

from tui.loop.errors import error_json
from tui.loop.hooks import Recovery, RequestFailed
from tui.loop.messages import new_id
from tui.loop.state import Loop
from tui.tools.hooks import waterfall


class RetryCount:
    """The retries of one step, counted for each provider and policy."""

    def __init__(self) -> None:
        self._chains: dict[tuple[str, str], tuple[str, int]] = {}

    def next(self, provider: str, policy_key: str) -> tuple[str, int]:
        """Return the chain's id and the number of its next retry."""
        retry_id, last = self._chains.get((provider, policy_key), ("", 0))
        return retry_id or new_id(), last + 1

    def scheduled(self, provider: str, policy_key: str, retry_id: str, number: int) -> None:
        """Take note of a retry that will be made."""
        self._chains[provider, policy_key] = retry_id, number


async def recover(loop: Loop, failed: RequestFailed, count: RetryCount) -> Recovery:
    """Return `retry` after the wait, or None if the failure ends the turn. Raises Cancelled."""

    async def by_policy() -> Recovery:
        return await _wait(loop, failed, count)

    recovery = await waterfall(loop.hooks.request_error, failed, by_policy)
    failed.signal.raise_if_cancelled()
    return recovery


async def _wait(loop: Loop, failed: RequestFailed, count: RetryCount) -> Recovery:
    policy = failed.policy
    retry_id, number = count.next(failed.provider, policy.key)
    delay = policy.delay_ms(failed.failure, number, loop.options.draw)
    if delay is None:
        return None
    at = {"turn": failed.turn, "step": failed.step}
    data = {"retryId": retry_id, **at, "provider": failed.provider, "mode": policy.mode}
    data |= {"policyKey": policy.key, "retry": number}
    if policy.mode == "normal":
        data["maxRetries"] = policy.max_retries
    data |= {"delayMs": delay, "failure": error_json(failed.failure)}
    loop.writer.append("llm/retry", data)
    count.scheduled(failed.provider, policy.key, retry_id, number)
    loop.frames.waiting(number, loop.clock.now_ms() + round(delay))
    await failed.signal.guard(loop.clock.sleep(delay / 1000))
    loop.writer.append("llm/retry-started", {"retryId": retry_id, **at, "retry": number})
    return "retry"
