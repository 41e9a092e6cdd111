"""What a person can do about a turn that failed."""

from __future__ import annotations

from tui.i18n import Translator


def way_out(tr: Translator, code: str) -> str:
    """How to go on after a failure, in one sentence; "" where nothing better is known than to send again."""
    match code:
        case "AUTH" | "INVALID_CREDENTIAL" | "ACCOUNT_TOKEN_INVALID":
            return tr.t("The provider refused the key: check the variable or command that gives it.")
        case "MISSING_CREDENTIAL":
            return tr.t("There is no key: set the variable that config.toml names and start again.")
        case "QUOTA" | "ACCOUNT_QUOTA":
            return tr.t("The account has nothing left: top it up, or choose another model with /model.")
        case "RATE_LIMIT":
            return tr.t("The provider wants fewer requests: wait a little and send again.")
        case "CONTEXT_WINDOW_EXCEEDED":
            return tr.t("The history is too long for this model: /compact condenses it.")
        case "NO_ADAPTER":
            return tr.t("The session's provider is not configured here: choose a model with /model.")
        case "UNSUPPORTED_REASONING_EFFORT":
            return tr.t("This model does not know that effort: change it in config.toml.")
        case "INVALID_REQUEST":
            return tr.t(
                "The provider refused the request; its message says why. /model chooses another route."
            )
        case "TRANSPORT" | "TIMEOUT" | "STREAM_CLOSED":
            return tr.t("The connection failed: check network and base_url, then send again.")
        case "SERVER" | "EMPTY_RESPONSE" | "MALFORMED_RESPONSE":
            return tr.t("The provider is in trouble: send again, or choose another model with /model.")
        case "TOOL_ACTIVATION_FAILED":
            return tr.t("A tool's condition failed: fix it in tools.json and send again.")
        case _:
            return ""
