"""Names of kinds, states, sources and causes in the reader's language.

What a log names and this program does not know is shown as it stands.
"""

from __future__ import annotations

from typing import Final

from tui.blocks.clean import clean, clean_line
from tui.i18n import N_, Translator
from tui.nodes.notices import tool_name

_SHOWN_NAME: Final = 200

_KINDS: Final = {
    "turn": N_("turn"),
    "note": N_("note"),
    "user": N_("user"),
    "assistant": N_("assistant"),
    "reasoning": N_("reasoning"),
    "tool": N_("tool"),
    "context": N_("context"),
    "tool-change": N_("change"),
    "header": N_("header"),
    "system": N_("system"),
    "compaction": N_("compaction"),
    "retry": N_("retry"),
    "failure": N_("failure"),
    "interrupted": N_("stopped"),
    "command": N_("command"),
    "plan": N_("plan"),
    "todo": N_("to-do"),
    "job": N_("job"),
    "approval": N_("approval"),
    "subagent": N_("subagent"),
    "title": N_("title"),
    "event": N_("event"),
    "unknown": N_("unknown"),
    "damage": N_("damage"),
}

_STATUS: Final = {
    "ok": N_("ok"),
    "error": N_("error"),
    "failed": N_("failed"),
    "running": N_("running"),
    "no-result": N_("no result recorded"),
    "not-started": N_("never started"),
    "interrupted": N_("interrupted"),
    "truncated": N_("cut off"),
    "unanswered": N_("no answer recorded"),
    "completed": N_("completed"),
    "killed": N_("killed"),
    "blocked": N_("blocked"),
    "aborted": N_("stopped"),
    "forked": N_("forked"),
    "max-tokens": N_("cut off"),
    "allowed-once": N_("allowed once"),
    "allowed-session": N_("allowed for this session"),
    "rejected": N_("rejected"),
    "unavailable": N_("nobody could be asked"),
    "cancelled": N_("cancelled"),
    "pending": N_("pending"),
    "in_progress": N_("in progress"),
}

_SOURCES: Final = {
    "user": N_("user"),
    "runtime-context": N_("runtime context"),
    "time-context": N_("time"),
    "tmux-context": N_("tmux context"),
    "agent-instructions": N_("instructions"),
    "skill-catalog": N_("skills"),
    "skill-invocation": N_("skill"),
    "agent-message": N_("message from another agent"),
    "team-message": N_("team message"),
    "subagent-settled": N_("subagent settled"),
    "subagent-report": N_("subagent report"),
    "coordinator": N_("coordinator"),
    "goal": N_("goal"),
    "tool-goal": N_("goal notice"),
    "tool-jobs": N_("background jobs"),
    "plan-mode": N_("plan mode"),
    "model-selection": N_("model selection"),
    "repeat-tool-reminder": N_("reminder of repeated calls"),
    "session-reference": N_("recall of another session"),
    "user-question-reply": N_("answer to a question"),
    "user-approval": N_("approval"),
    "webhook": N_("webhook"),
    "schedule": N_("schedule"),
    "working-directory": N_("working directory"),
    "ptc-mode": N_("programmatic calls"),
    "cordis-host-runner": N_("plugin host"),
    "tool-cordis": N_("plugins"),
    "hooks-codex": N_("hook output"),
    "hooks-claude-code": N_("hook output"),
    "compact-checkpoint": N_("summary of a compaction"),
    "tool-registry": N_("developer message"),
    "dsh-session-title-llm": N_("title request"),
    "system-prompt": N_("system prompt"),
}

_CAUSES: Final = {
    "AUTH": N_("the provider did not accept the key"),
    "QUOTA": N_("the quota or balance is used up"),
    "RATE_LIMIT": N_("too many requests"),
    "CONTEXT_WINDOW_EXCEEDED": N_("the prompt is longer than the context window"),
    "CONTEXT_OVERFLOW": N_("the prompt is longer than the context window"),
    "INVALID_REQUEST": N_("the provider rejected the request"),
    "SERVER": N_("the provider failed or is overloaded"),
    "OVERLOADED": N_("the provider is overloaded"),
    "TRANSPORT": N_("the connection failed"),
    "NETWORK": N_("the connection failed"),
    "TIMEOUT": N_("nothing came for too long"),
    "EMPTY_RESPONSE": N_("the answer had no content"),
    "STREAM_CLOSED": N_("the answer broke off before its end"),
    "MALFORMED_RESPONSE": N_("the answer could not be understood"),
    "ABORTED": N_("the request was stopped"),
    "TOOL_ACTIVATION_FAILED": N_("a tool's condition failed, so no request was made"),
    "REQUEST_EXTENSION": N_("a plugin's addition to the request failed; nothing was sent"),
    "NO_ADAPTER": N_("no adapter for this provider"),
    "ACCOUNT_QUOTA": N_("the account's quota is used up"),
    "ACCOUNT_TOKEN_INVALID": N_("the sign-in is no longer valid"),
    "ACCOUNT_SIGN_IN_REQUIRED": N_("nobody is signed in"),
    "CLIENT_UPGRADE_REQUIRED": N_("the provider wants a newer client"),
    "MODEL_UNSUPPORTED": N_("the provider does not offer this model"),
    "UNSUPPORTED_OPTION": N_("the route does not know a setting"),
    "INVALID_PREPARED_CALL": N_("the configuration changed while the request was prepared"),
}

_SERIES: Final = {
    "initial": N_("first series"),
    "series": N_("new series"),
    "starts-series": N_("new series"),
    "redefined": N_("new series: a tool was redefined"),
}

_CONFIG: Final = {
    "provider": N_("provider"),
    "model": N_("model"),
    "effort": N_("effort"),
    "reasoningEffort": N_("effort"),
    "maxTokens": N_("output limit"),
    "temperature": N_("temperature"),
    "adapterDefaults": N_("adapter defaults"),
}


def kind_name(tr: Translator, kind: str) -> str:
    """The name of a kind of node or row, lower case."""
    return _known(tr, _KINDS, kind)


def status_text(tr: Translator, status: str) -> str:
    """How something ended, in a word or two; empty for nothing to tell."""
    return _known(tr, _STATUS, status)


def source_name(tr: Translator, source: str) -> str:
    """Who put context in front of the model; kinds of other programs as they stand."""
    return _known(tr, _SOURCES, source) or tr.t("context")


def cause_text(tr: Translator, code: str) -> str:
    """Why a request failed, in plain words; empty for a code that is not known."""
    if code in _CAUSES:
        return tr.t(_CAUSES[code])
    if code.startswith("HTTP_"):
        return tr.t("the provider answered with HTTP status {status}", status=name_text(code[5:]))
    return ""


def series_text(tr: Translator, cause: str) -> str:
    """Why a request series starts."""
    return _known(tr, _SERIES, cause)


def setting_name(tr: Translator, key: str) -> str:
    """The name of a setting in a request header."""
    return _known(tr, _CONFIG, key)


def tool_text(tr: Translator, name: str) -> str:
    """A tool for a sentence: its own name, with its server in brackets where the name tells one."""
    server, own = tool_name(name)
    if not server:
        return name_text(own)
    return tr.t("{tool} ({server})", tool=name_text(own), server=name_text(server))


def tool_title(name: str) -> str:
    """A tool for a row: server and own name apart."""
    server, own = tool_name(name)
    return f"{name_text(server)} · {name_text(own)}" if server else name_text(own)


def name_text(name: str) -> str:
    """A name from the log, safe and in one row."""
    return clean_line(name[:_SHOWN_NAME] + ("…" if len(name) > _SHOWN_NAME else ""))


def words(tr: Translator, text: str) -> str:
    """How much text: words, of Chinese, Japanese and Korean each character; of huge texts characters."""
    if len(text) > _COUNTED:
        return tr.n("{n} character", "{n} characters", len(text))
    import re

    pieces = re.findall(r"\w+(?:['’\-.]\w+)*", clean(text))
    count = sum(1 if piece.isascii() else _words_in(piece) for piece in pieces)
    return tr.n("{n} word", "{n} words", count)


def _words_in(piece: str) -> int:
    """The words of a piece without spaces: each wide character is one, and so is what stands between them."""
    wide = sum(map(_is_wide, piece))
    between = "".join(" " if _is_wide(character) else character for character in piece)
    return wide + sum(run.strip("'’-.") != "" for run in between.split())


def _is_wide(character: str) -> bool:
    return any(first <= character <= last for first, last in _WIDE)


_WIDE: Final = (
    ("\u2e80", "\u2fff"),
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"),
    ("\uf900", "\ufaff"),
)
"""Characters that are words of their own: Chinese, Japanese and Korean."""
_COUNTED: Final = 200_000


def _known(tr: Translator, table: dict[str, str], key: str) -> str:
    return tr.t(table[key]) if key in table else name_text(key)
