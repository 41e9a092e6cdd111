"""Errors as a `turn/end` tells them (loop-and-adapters §1.2)."""

from __future__ import annotations

from typing import Any

from tui.llm.failure import UNKNOWN, LlmFailure, bounded


def error_json(error: BaseException) -> dict[str, Any]:
    """Return `{message, code, …}` for the log; an exception that brings no code is `UNKNOWN`."""
    if isinstance(error, LlmFailure):
        facts = error.to_json()
        # A provider may refuse without a word; the log wants one.
        return {**facts, "message": facts["message"] or facts["code"]}
    code = getattr(error, "code", None)
    message = bounded(str(error)) or type(error).__name__
    return {"message": message, "code": code if isinstance(code, str) and code else UNKNOWN}
