"""Errors of providers, and the waits before a call is made again (loop-and-adapters §4.7, §1.10)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tui.llm.errors import ErrorFacts, classify, http_failure, retry_after_ms, stream_failure
from tui.llm.failure import ABORTED, MAX_MESSAGE, LlmFailure, failure_finish, failure_of
from tui.llm.retry import RetryPolicy


@pytest.mark.parametrize(
    ("status", "kind", "code", "message", "expected"),
    [
        (401, "", "", "", "AUTH"),
        (403, "", "", "insufficient quota", "AUTH"),
        (400, "permission_error", "", "", "AUTH"),
        (None, "authentication_error", "", "", "AUTH"),
        (402, "", "", "", "QUOTA"),
        (429, "", "insufficient_quota", "", "QUOTA"),
        (429, "", "", "You exceeded your current quota, please check your plan.", "QUOTA"),
        (400, "", "", "Insufficient Balance", "QUOTA"),
        (400, "", "", "Usage limit reached for today", "QUOTA"),
        (400, "", "", "Your credits are exhausted", "QUOTA"),
        (500, "", "", "out of credits", "QUOTA"),
        (429, "", "", "Rate limit exceeded", "RATE_LIMIT"),
        (400, "rate_limit_error", "", "maximum context length", "RATE_LIMIT"),
        (400, "", "context_length_exceeded", "", "CONTEXT_WINDOW_EXCEEDED"),
        (400, "", "", "This model's maximum context length is 65536 tokens", "CONTEXT_WINDOW_EXCEEDED"),
        (413, "", "", "The input is too long for the model's context", "CONTEXT_WINDOW_EXCEEDED"),
        (400, "", "", "Prompt too large for this model", "CONTEXT_WINDOW_EXCEEDED"),
        (400, "", "", "messages exceed the model context", "CONTEXT_WINDOW_EXCEEDED"),
        (400, "", "", "context window overflow", "CONTEXT_WINDOW_EXCEEDED"),
        (400, "", "", "bad", "INVALID_REQUEST"),
        (413, "", "", "request too large", "INVALID_REQUEST"),
        (418, "invalid_request_error", "", "", "INVALID_REQUEST"),
        (500, "", "", "", "SERVER"),
        (529, "overloaded_error", "", "Overloaded", "SERVER"),
        (None, "overloaded_error", "", "Overloaded", "SERVER"),
        (None, "api_error", "", "", "SERVER"),
        (None, "", "", "", "SERVER"),
        (404, "", "", "", "HTTP_404"),
        (422, "", "", "", "HTTP_422"),
    ],
)
def test_the_table_of_errors_first_match_wins(
    status: int | None, kind: str, code: str, message: str, expected: str
) -> None:
    assert classify(status, ErrorFacts(kind, code, message)) == expected


def refused(status: int, body: bytes, **headers: str) -> LlmFailure:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return http_failure(status, names, body, now_ms=0, secrets=["sk-12345"])


def test_a_failure_keeps_status_wait_and_request_id() -> None:
    body = json.dumps({"error": {"type": "rate_limit_error", "message": "Slow down"}}).encode()
    failure = refused(429, body, retry_after="2", x_request_id="req_1")
    assert failure.to_json() == {
        "message": "Slow down",
        "code": "RATE_LIMIT",
        "status": 429,
        "providerRetryAfterMs": 2000,
        "requestId": "req_1",
    }


@pytest.mark.parametrize(
    ("body", "content_type", "message"),
    [
        (b"no such\r\n  route", "text/plain", "no such route"),
        (b"<html><head><title>Bad gateway</title></head><body>x</body></html>", "text/html", "Bad gateway"),
        (b'{"error": "plain words"}', "application/json", "plain words"),
        (b'{"detail": "not here"}', "application/json", "not here"),
        (b'{"error": {"message": "a\\u001b[31mb\\u0007"}}', "application/json", "a [31mb"),
        (b'{"error": {"message": "half \\ud83d"}}', "application/json", "half \ufffd"),
        (b"\xff\xfe", "text/plain", "\ufffd\ufffd"),
        (b"", "", "the provider answered with HTTP status 502"),
        (b"[1", "application/json", "[1"),
    ],
)
def test_any_body_of_an_error_gives_clean_words(body: bytes, content_type: str, message: str) -> None:
    assert refused(502, body, content_type=content_type).message == message


def test_a_long_message_is_cut() -> None:
    assert len(refused(500, b"x" * 50_000).message) == MAX_MESSAGE


def test_a_key_that_the_provider_repeats_is_blotted_out() -> None:
    body = json.dumps({"error": {"message": "bad key sk-12345 given"}}).encode()
    failure = refused(401, body)
    assert failure.message == "bad key [key] given"
    assert "sk-12345" not in repr(failure) + str(failure) + repr(failure.args)
    assert stream_failure({"message": "sk-12345"}, ["sk-12345"]).message == "[key]"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("request-id", "a"),
        ("x-request-id", "b"),
        ("x-deepseek-request-id", "c"),
    ],
)
def test_the_request_id_comes_from_the_first_header_that_has_one(header: str, expected: str) -> None:
    values = {"request-id": "a", "x-request-id": "b", "x-deepseek-request-id": "c"}
    names = list(values)
    headers = {name: values[name] for name in names[names.index(header) :]}
    assert http_failure(500, headers, b"", now_ms=0).request_id == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2000),
        ("0.5", 500),
        ("0", None),
        ("-3", None),
        ("inf", None),
        ("nan", None),
        ("soon", None),
        (None, None),
        ("Thu, 01 Jan 1970 00:00:12 GMT", 2000),
        ("Thu, 01 Jan 1970 00:00:09 GMT", None),
    ],
)
def test_a_wait_is_seconds_or_a_date_that_lies_ahead(value: str | None, expected: int | None) -> None:
    assert retry_after_ms(value, 10_000) == expected


def test_a_failure_survives_the_log() -> None:
    facts: dict[str, Any] = {
        "message": "m",
        "code": "IMAGE_OFFLOAD_REQUIRED",
        "status": 413,
        "providerRetryAfterMs": 5,
        "requestId": "r",
        "offloadImages": 20,
    }
    assert LlmFailure.from_json(facts).to_json() == facts
    assert LlmFailure.from_json(None).to_json() == {"message": "", "code": "UNKNOWN"}


def test_a_cancellation_ends_a_stream_as_aborted_and_anything_else_as_error() -> None:
    for code, kind in ((ABORTED, "aborted"), ("SERVER", "error")):
        chunk = failure_finish(LlmFailure("m", code))
        assert chunk["reason"]["kind"] == kind
        found = failure_of(chunk)
        assert found is not None
        assert found.code == code
    assert failure_of({"type": "finish", "reason": {"kind": "stop"}}) is None


SERVER = LlmFailure("m", "SERVER")


def test_waits_double_up_to_the_bound() -> None:
    policy = RetryPolicy(max_retries=9)
    waits = [policy.delay_ms(SERVER, retry, lambda: 0.5) for retry in range(1, 10)]
    assert waits == [500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000]


@pytest.mark.parametrize(("draw", "first", "late"), [(0.0, 450, 9000), (0.999999, 550, 10_000)])
def test_a_wait_varies_by_a_tenth_and_never_goes_above_the_bound(
    draw: float, first: float, late: float
) -> None:
    policy = RetryPolicy()
    assert policy.delay_ms(SERVER, 1, lambda: draw) == pytest.approx(first, rel=1e-4)
    assert policy.delay_ms(SERVER, 5, lambda: draw) == pytest.approx(
        min(late, 8000 * (0.9 + 0.2 * draw)), rel=1e-4
    )


@pytest.mark.parametrize(
    ("code", "again"),
    [
        ("EMPTY_RESPONSE", True),
        ("RATE_LIMIT", True),
        ("SERVER", True),
        ("TIMEOUT", True),
        ("TRANSPORT", True),
        ("STREAM_CLOSED", False),
        ("MALFORMED_RESPONSE", False),
        ("AUTH", False),
        ("QUOTA", False),
        ("INVALID_REQUEST", False),
        ("ABORTED", False),
    ],
)
def test_only_what_passes_is_tried_again(code: str, again: bool) -> None:
    assert (RetryPolicy().delay_ms(LlmFailure("m", code), 1) is not None) is again


def test_five_retries_are_made_and_no_sixth() -> None:
    assert RetryPolicy().delay_ms(SERVER, 5) is not None
    assert RetryPolicy().delay_ms(SERVER, 6) is None
    assert RetryPolicy(mode="always").delay_ms(SERVER, 5000) is not None


def test_the_wait_that_a_provider_asks_for_counts_if_it_is_not_too_long() -> None:
    asked = LlmFailure("m", "RATE_LIMIT", retry_after_ms=2000)
    too_long = LlmFailure("m", "RATE_LIMIT", retry_after_ms=60_000)
    assert RetryPolicy().delay_ms(asked, 1) == 2000
    assert RetryPolicy().delay_ms(too_long, 1) is None
    assert RetryPolicy(mode="always").delay_ms(too_long, 1, lambda: 0.5) == 500


def test_the_policy_key_is_the_one_that_dsh_writes() -> None:
    policy = RetryPolicy(max_retries=3, initial_ms=120, max_ms=3000)
    assert policy.key == (
        '["normal",3,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],120,3000,0.1]'
    )
