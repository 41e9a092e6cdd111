"""Reading of a provider's errors into failures (loop-and-adapters §4.7)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

from tui.llm.failure import LlmFailure
from tui.session.json_value import MAX_SAFE_INTEGER, as_array, as_object, as_text

MAX_BODY: Final = 65_536
"""Bytes read of an error's body."""

_MAX_REQUEST_ID: Final = 200
_REQUEST_ID_HEADERS: Final = ("request-id", "x-request-id", "x-deepseek-request-id")

_QUOTA: Final = re.compile(
    r"insufficient (?:quota|balance|credits?)"
    r"|(?:quota|usage limits?) (?:(?:has|have) been |is |was )?(?:exceeded|exhausted|reached)"
    r"|exceed(?:s|ed)? (?:your |the )?(?:current )?quota"
    r"|(?:balance|credits?) (?:(?:has|have) been |is |are )?(?:exhausted|depleted)"
    r"|out of (?:credits?|budget)"
)
_THE_CONTEXT: Final = r"(?:(?:the |this )?model(?:'s)? |the )?(?:maximum )?context"
_THE_INPUT: Final = r"(?:request|prompt|input|messages?)"
_CONTEXT: Final = re.compile(
    r"context (?:length|window) (?:limit )?(?:(?:has been|is|was) )?(?:exceeded|overflow)"
    r"|maximum context (?:length|window)"
    rf"|{_THE_INPUT} (?:(?:is|are) )?too (?:large|long) for (?:{_THE_CONTEXT}|this model)"
    rf"|{_THE_INPUT} (?:exceed(?:s|ing|ed)?|(?:(?:is|are) )?larger than) {_THE_CONTEXT}"
    r"|prompt is too long: \d+ tokens"
)
_JOINERS: Final = re.compile(r"[\s_-]+")


class ErrorFacts(NamedTuple):
    """What an error body says; a part that it lacks is empty."""

    type: str
    code: str
    message: str


def classify(status: int | None, facts: ErrorFacts) -> str:
    """Return the failure code of an error answer, or of an error inside a stream (without status)."""
    words = _JOINERS.sub(" ", " ".join(facts)).lower()
    if status in (401, 403) or facts.type in ("authentication_error", "permission_error"):
        return "AUTH"
    if status == 402 or _QUOTA.search(words):
        return "QUOTA"
    if status == 429 or facts.type == "rate_limit_error":
        return "RATE_LIMIT"
    if _CONTEXT.search(words):
        return "CONTEXT_WINDOW_EXCEEDED"
    if status in (400, 413) or facts.type == "invalid_request_error":
        return "INVALID_REQUEST"
    if status is None or status >= 500 or facts.type in ("api_error", "overloaded_error"):
        return "SERVER"
    return f"HTTP_{status}"


def error_facts(value: object) -> ErrorFacts:
    """Return the facts of a parsed error body: `{error: {type, code, message}}`, or what is near it."""
    body = as_object(value)
    error = body.get("error")
    if isinstance(error, str):
        return ErrorFacts("", "", error)
    fields = as_object(error) or body
    code = fields.get("code")
    return ErrorFacts(
        as_text(fields.get("type")),
        str(code) if isinstance(code, int) and not isinstance(code, bool) else as_text(code),
        as_text(fields.get("message")) or _detail(fields.get("detail")),
    )


def _detail(value: object) -> str:
    """A `detail` as text; of a list of faults the first, with the place it names."""
    fault = as_object(next(iter(as_array(value)), None))
    if not fault:
        return as_text(value)
    place = ".".join(str(part) for part in as_array(fault.get("loc")) if isinstance(part, (str, int)))
    return ": ".join(part for part in (place, as_text(fault.get("msg"))) if part)


def http_failure(
    status: int, headers: Mapping[str, str], body: bytes, *, now_ms: int, secrets: Iterable[str] = ()
) -> LlmFailure:
    """Return the failure of an HTTP answer that is no success.

    `headers` has lower-case names. Whatever the provider repeats of `secrets` is taken out.
    """
    try:
        facts = error_facts(json.loads(body))
    except (ValueError, RecursionError):
        facts = ErrorFacts("", "", _plain_text(body, headers.get("content-type", "")))
    return LlmFailure(
        without_secrets(facts.message, secrets) or f"the provider answered with HTTP status {status}",
        classify(status, facts),
        status=status,
        retry_after_ms=retry_after_ms(headers.get("retry-after"), now_ms),
        request_id=request_id(headers),
    )


def stream_failure(error: object, secrets: Iterable[str] = ()) -> LlmFailure:
    """Return the failure of an error that arrives inside a stream."""
    facts = error_facts({"error": error})
    message = without_secrets(facts.message, secrets) or facts.type or "the provider reported an error"
    return LlmFailure(message, classify(None, facts))


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return text with every secret in it blotted out."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    return text


def retry_after_ms(value: str | None, now_ms: int) -> int | None:
    """Return the wait that a `retry-after` header asks for, in milliseconds.

    It gives seconds or a date; only what lies ahead counts.
    """
    if value is None:
        return None
    try:
        wait = float(value) * 1000
    except ValueError:
        try:
            wait = parsedate_to_datetime(value).timestamp() * 1000 - now_ms
        except (ValueError, OverflowError, OSError):
            return None
    return int(wait) if 1 <= wait <= MAX_SAFE_INTEGER else None


def request_id(headers: Mapping[str, str]) -> str | None:
    """Return the provider's id of the request, without what does not belong into one."""
    for name in _REQUEST_ID_HEADERS:
        if value := headers.get(name, "").strip():
            return "".join(char for char in value if "!" <= char <= "~")[:_MAX_REQUEST_ID] or None
    return None


def _plain_text(body: bytes, content_type: str) -> str:
    """Return the text of a body that is no JSON; of a page only its title."""
    text = body.decode("utf-8", "replace").strip()
    if "html" in content_type or text[:1] == "<":
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.DOTALL | re.IGNORECASE)
        text = title[1] if title else ""
    return " ".join(text.split())
