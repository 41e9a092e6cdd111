"""Why a model call failed, in the form in which the log keeps it (loop-and-adapters §4.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tui.session.json_text import well_formed
from tui.session.json_value import as_count, as_object, as_text

ABORTED: Final = "ABORTED"
NO_ADAPTER: Final = "NO_ADAPTER"
UNKNOWN: Final = "UNKNOWN"

MAX_MESSAGE: Final = 2_000
"""Characters kept of a provider's message."""


_REFUSED: Final = (400, 415, 422)


def is_refusal(code: str, status: int | None) -> bool:
    """Tell whether a failure may be about what a request holds; other causes have their own codes. §8.2."""
    return status in _REFUSED and code in ("INVALID_REQUEST", f"HTTP_{status}")


class LlmFailure(Exception):
    """A model call that did not end well.

    `code` is one of the codes of §4.7; `status` the HTTP status if there was an answer. The message comes
    from the provider or from us and never holds a key. Times are in milliseconds.
    """

    def __init__(
        self,
        message: str,
        code: str,
        *,
        status: int | None = None,
        retry_after_ms: int | None = None,
        request_id: str | None = None,
        offload_images: int | None = None,
    ) -> None:
        self.message = bounded(message)
        super().__init__(self.message)
        self.code = code
        self.status = status
        self.retry_after_ms = retry_after_ms
        self.request_id = request_id
        self.offload_images = offload_images

    def to_json(self) -> dict[str, Any]:
        """Return the failure object of the log; absent facts have no key."""
        facts: dict[str, Any] = {"message": self.message, "code": self.code}
        if self.status is not None:
            facts["status"] = self.status
        if self.retry_after_ms is not None:
            facts["providerRetryAfterMs"] = self.retry_after_ms
        if self.request_id is not None:
            facts["requestId"] = self.request_id
        if self.offload_images is not None:
            facts["offloadImages"] = self.offload_images
        return facts

    @classmethod
    def from_json(cls, value: object) -> LlmFailure:
        """Return the failure that a failure object tells of; what is missing reads as unknown."""
        facts = as_object(value)
        return cls(
            as_text(facts.get("message")),
            as_text(facts.get("code")) or UNKNOWN,
            status=as_count(facts.get("status")),
            retry_after_ms=as_count(facts.get("providerRetryAfterMs")),
            request_id=as_text(facts.get("requestId")) or None,
            offload_images=as_count(facts.get("offloadImages")),
        )


def bounded(message: str) -> str:
    """Return a provider's message well-formed, without control characters, at most MAX_MESSAGE long."""
    text = "".join(
        char if char.isprintable() or char == "\n" else " "
        for char in well_formed(message[: 2 * MAX_MESSAGE])
    )
    text = text.strip()
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def failure_finish(failure: LlmFailure) -> dict[str, Any]:
    """Return the chunk with which a failed or cancelled stream ends."""
    kind = "aborted" if failure.code == ABORTED else "error"
    return {"type": "finish", "reason": {"kind": kind, "failure": failure.to_json()}}


def failure_of(chunk: Mapping[str, Any]) -> LlmFailure | None:
    """Return the failure of a `finish` chunk that tells of one, else None."""
    reason = as_object(chunk.get("reason"))
    if chunk.get("type") != "finish" or reason.get("kind") not in ("error", "aborted"):
        return None
    return LlmFailure.from_json(reason.get("failure"))
