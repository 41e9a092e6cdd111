"""Sentences about what is wrong with a session, and what to do about it, in the order in which it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, assert_never

from tui.blocks.clean import clean_line
from tui.blocks.wording_faults import damage_text
from tui.blocks.wording_names import cause_text, name_text, tool_text
from tui.blocks.wording_reasons import reason_text
from tui.blocks.wording_versions import missing_text
from tui.i18n import Translator
from tui.nodes.doctor import Advice, Examination, Finding
from tui.nodes.doctor_failures import FailedAttempt, FailedTurn
from tui.nodes.doctor_versions import Versions

_NAMED = 4
_TOLD = 400


def finding_title(tr: Translator, finding: Finding) -> str:
    """What is wrong, in a few words."""
    match finding.code:
        case "tool-update-rejected":
            return tr.t("The provider refuses a tool change in the history")
        case "tool-update-suspected":
            return tr.t("The provider may be refusing a tool change in the history")
        case "all-tools-deferred":
            return tr.t("Every declared tool is deferred")
        case "half-characters":
            return tr.t("Half characters in the history")
        case "orphan-calls":
            return tr.t("Tool calls without a result")
        case "outcome-unknown":
            return tr.t("It is not known what a tool call did")
        case "request-extension":
            return tr.t("A plugin's addition to the request failed")
        case "plugin-crash":
            return tr.t("dsh or one of its plugins failed by itself")
        case "credentials":
            return tr.t("The key is missing or was refused")
        case "quota":
            return tr.t("Quota or balance is used up")
        case "rate-limit":
            return tr.t("Too many requests")
        case "context-overflow":
            return tr.t("The history is longer than the context window")
        case "provider-trouble":
            return tr.t("The provider or the connection failed")
        case "not-configured":
            return tr.t("The route is not configured")
        case "request-refused":
            return tr.t("The provider refused the request")
        case "turn-failed":
            return tr.t("A turn failed")
        case "refused-by-dsh":
            return tr.t("dsh would refuse this log")
        case "open-turn":
            return tr.t("The log ends inside a turn")
        case "damage-unknown-event":
            return tr.t("An event of an unknown type, which may matter")
        case _:
            return tr.t("The log is damaged")


def finding_text(tr: Translator, finding: Finding) -> str:
    """What is wrong and how it is known, in one to three sentences."""
    if finding.damage is not None:
        return damage_text(tr, finding.damage)
    fields = finding.fields
    said = [_what(tr, finding)]
    if fields.get("path"):
        said.append(_pointed(tr, fields))
    if fields.get("overcome"):
        said.append(tr.t("Later requests of this session were answered."))
    return _sentences(tr, [*said, *_told(tr, fields)])


def _pointed(tr: Translator, fields: dict[str, Any]) -> str:
    """Which record the place means that the provider's answer names."""
    if str(fields["path"]).startswith("tools."):
        return tr.t(
            "{path} in its answer means the tool {tool}, which event {seq} declares.",
            path=fields["path"],
            tool=_tools(tr, fields["tools"]),
            seq=fields["record"],
        )
    return tr.t("{path} in its answer means event {seq}.", path=fields["path"], seq=fields["record"])


def _what(tr: Translator, finding: Finding) -> str:
    fields = finding.fields
    tools = _tools(tr, fields.get("tools", ()))
    turns = _turns(tr, fields.get("turns", ()))
    match finding.code:
        case "tool-update-rejected":
            if fields["record"] is None:
                return tr.t(
                    "{turns}: the provider refused the blocks that tell of changed tools.", turns=turns
                )
            if fields["overcome"]:
                return tr.t(
                    "{turns}: the provider refused the tool change that event {seq} records, {tools}. The "
                    "record stays in the history and is refused again wherever it is sent again.",
                    turns=turns,
                    seq=fields["record"],
                    tools=tools,
                )
            return tr.t(
                "{turns}: the provider refused the tool change that event {seq} records, {tools}. It is "
                "sent again "
                "with every request, so sending again, a restart or compaction does not help.",
                turns=turns,
                seq=fields["record"],
                tools=tools,
            )
        case "tool-update-suspected":
            return tr.t(
                "{turns}: the refused requests were the first ones with the tool change of event {seq}, "
                "{tools}; no request that holds it was ever answered. The provider does not say so itself.",
                turns=turns,
                seq=fields["record"],
                tools=tools,
            )
        case "all-tools-deferred":
            return tr.t(
                "{turns}: no tool that was declared when the series began is left, so all that is declared "
                "came later and is deferred: {tools}. The provider wants at least one that is not.",
                turns=turns,
                tools=tools,
            )
        case "half-characters":
            if fields["turns"]:
                return tr.t(
                    "{turns}: half of a character stands in event {seq}, and the provider's reader refuses "
                    "every "
                    "request that holds it.",
                    turns=turns,
                    seq=finding.seq,
                )
            return tr.n(
                "{n} event holds half of a character (the first is {seq}); strict readers refuse a request "
                "with it.",
                "{n} events hold half of a character (the first is {seq}); strict readers refuse a request "
                "with it.",
                int(fields["events"]),
                seq=finding.seq,
            )
        case "orphan-calls":
            if fields["turns"]:
                return tr.t(
                    "{turns}: the message of event {seq} asks for calls that have no result, and the "
                    "provider "
                    "refuses such a history.",
                    turns=turns,
                    seq=finding.seq,
                )
            return _orphans(tr, finding, tools)
        case "outcome-unknown":
            return tr.t(
                "The process ended while these calls ran: {tools}. Part of their work may have been done.",
                tools=tools,
            )
        case "request-extension":
            return tr.t(
                "{turns}: failed before anything was sent, so no provider saw the request; this is not a "
                "refused "
                "tool change.",
                turns=turns,
            )
        case "plugin-crash":
            return tr.t("{turns}: failed inside the program, not at the provider.", turns=turns)
        case "credentials" if not any(attempt.was_sent for attempt in finding.attempts):
            return tr.t("{turns}: no usable key was there, so nothing was sent.", turns=turns)
        case "refused-by-dsh":
            return _refused(tr, finding)
        case "open-turn":
            return tr.t(
                "Turn {turn} has no end: the process was killed, or it is still at work.", turn=fields["turn"]
            )
        case _:
            cause = cause_text(tr, str(fields.get("code", "")))
            if fields.get("compaction"):
                return tr.t("A compaction failed.")
            return tr.t("{turns}: {cause}.", turns=turns, cause=cause or tr.t("the turn failed"))


def _orphans(tr: Translator, finding: Finding, tools: str) -> str:
    started = finding.fields["started"]
    if started:
        return tr.t(
            "The message of event {seq} asks for {tools}, and the log holds no result; {started} had "
            "started.",
            seq=finding.seq,
            tools=tools,
            started=_tools(tr, started),
        )
    return tr.t(
        "The message of event {seq} asks for {tools}, and the log holds no result; none had started.",
        seq=finding.seq,
        tools=tools,
    )


def _refused(tr: Translator, finding: Finding) -> str:
    fields = finding.fields
    reason = reason_text(tr, str(fields["reason"]))
    kind = name_text(str(fields["type"]))
    if not kind:
        return tr.t("dsh does not load this session: {reason}.", reason=reason)
    if not fields["rule"]:
        return tr.t(
            "dsh does not load this session: event {seq} ({type}): {reason}.",
            seq=finding.seq,
            type=kind,
            reason=reason,
        )
    return tr.t(
        "dsh does not load this session: event {seq} ({type}) breaks rule {rule} of the format: {reason}.",
        seq=finding.seq,
        type=kind,
        rule=fields["rule"],
        reason=reason,
    )


def _told(tr: Translator, fields: dict[str, Any]) -> list[str]:
    """What the provider said, with status and request id."""
    message = clean_line(str(fields.get("message") or "")[:_TOLD])
    if not message:
        return []
    status, request = fields.get("status"), name_text(str(fields.get("request_id") or ""))
    if status is None:
        return [tr.t("The error says: {message}", message=message)]
    if request:
        return [
            tr.t(
                "HTTP {status}, request {request}: {message}", status=status, request=request, message=message
            )
        ]
    return [tr.t("HTTP {status}: {message}", status=status, message=message)]


def _sentences(tr: Translator, said: Sequence[str]) -> str:
    """Sentences one after the other; only where the writing parts words is there a space between them."""
    return ("" if tr.lang == "zh" else " ").join(said)


def _tools(tr: Translator, names: Sequence[str]) -> str:
    counts, between = Counter(names), "" if tr.lang == "zh" else " "
    shown = [
        tool_text(tr, name) + (f"{between}×{tr.number(times)}" if times > 1 else "")
        for name, times in list(counts.items())[:_NAMED]
    ]
    if len(counts) > _NAMED:
        shown.append(tr.n("{n} more", "{n} more", len(counts) - _NAMED))
    return tr.join(shown) or tr.t("unnamed tools")


def _turns(tr: Translator, turns: Sequence[int]) -> str:
    if not turns:
        return tr.t("Outside any turn")
    if len(turns) == 1:
        return tr.t("Turn {turn}", turn=turns[0])
    if turns[-1] - turns[0] == len(turns) - 1:
        return tr.t("Turns {first} to {last}", first=turns[0], last=turns[-1])
    return tr.t("Turns {turns}", turns=tr.join([str(turn) for turn in turns]))


def advice_text(tr: Translator, advice: Advice, versions: Versions) -> str:
    """One step of what to do."""
    match advice:
        case "freeze":
            return tr.t(
                "Freeze: stop retries, and install, update or remove no further plugins; in a session of "
                "dsh-tui, /hold keeps its tools as they are."
            )
        case "versions" if not versions.not_told:
            return tr.t("Note the versions: they stand at the end, to paste into a report.")
        case "versions":
            return tr.t(
                "Note the versions: they stand at the end, to paste into a report. Add what neither log nor "
                "home says: {missing}.",
                missing=missing_text(tr, versions),
            )
        case "verify":
            return tr.t(
                "Verify with a fresh session: `dsh-tui doctor {session} --verify` sends one short message "
                "and makes one call of a tool that declares itself read-only, if there is one. If both work, "
                "the old history is likely at fault: a good sign, never a proof.",
                session=clean_line(versions.argument),
            )
        case "plain-route":
            return tr.t(
                "Go on in dsh-tui: it sends this route the full definitions in place of the refused "
                "blocks. In dsh, "
                "choose a model without tool updates, or put the changed tools back as they were."
            )
        case "series":
            return tr.t("Go on in dsh-tui: it starts a new series and declares the active tools plainly.")
        case "export":
            return tr.t(
                "Export what was reached: `dsh-tui export {session} --view chat --format md`.",
                session=clean_line(versions.argument),
            )
        case "resume":
            return tr.t(
                "Resume from a summary in a fresh session: `dsh-tui recover {session}` drafts it.",
                session=clean_line(versions.argument),
            )
        case "keep":
            return tr.t("Keep the original as it is; do not edit its log.")
        case "mend-key":
            return tr.t("Check the variable or command that gives the key, then send again.")
        case "top-up":
            return tr.t("Top the account up, or choose another model.")
        case "wait":
            return tr.t("Wait a little, then send again.")
        case "compact":
            return tr.t("Condense the history with /compact, or choose a model with a larger window.")
        case "send-again":
            return tr.t("Send again; dsh-tui mends what it can in each request and leaves the log as it is.")
        case "configure":
            return tr.t("Configure the provider, or choose another model.")
        case "plugin":
            return tr.t(
                "Find the plugin that failed: turn off what was installed last and try in a fresh session."
            )
        case "manifest":
            return tr.t("Check the plugins' manifests: one cannot be read, so the request was never made.")
        case "read-refusal":
            return tr.t("Read the provider's message: it says what in the request it does not take.")
        case "check-calls":
            return tr.t("Check by hand what those calls did before anything is repeated.")
        case "continue-copy":
            return tr.t(
                "Continue in a mended copy: `dsh-tui chat --resume {session} --copy` leaves out what does "
                "not fit.",
                session=clean_line(versions.argument),
            )
        case "cut-tail":
            return tr.t("Nothing need be done: whoever writes next cuts the torn end off.")
        case "update":
            return tr.t("Update dsh-tui, or see which plugin wrote the event.")
        case _:
            assert_never(advice)


def downgrade_note(tr: Translator, versions: Versions) -> str:
    """That the session's route is sent full definitions; empty if it is not."""
    if versions.downgraded_seq is None:
        return ""
    return tr.t(
        "Since event {seq} its route is sent full definitions in place of tool changes; the log keeps them "
        "all.",
        seq=versions.downgraded_seq,
    )


def verdict_text(tr: Translator, found: Examination) -> str:
    """The examination in one sentence."""
    if not found.findings:
        return tr.t("Nothing is wrong with this session.")
    errors = sum(finding.severity == "error" for finding in found.findings)
    if not errors:
        return tr.n(
            "This session works; {n} thing is worth knowing.",
            "This session works; {n} things are worth knowing.",
            len(found.findings),
        )
    return tr.n("{n} finding", "{n} findings", len(found.findings))


def severity_text(tr: Translator, finding: Finding) -> str:
    """How bad it is, in a word."""
    return tr.t("error") if finding.severity == "error" else tr.t("warning")


def turn_text(tr: Translator, turn: FailedTurn) -> str:
    """A failed turn's heading in the chain."""
    if turn.turn is None:
        return tr.t("Outside any turn")
    match turn.outcome:
        case "completed" | "max-tokens":
            return tr.t(
                "Turn {turn}: answered after {n}", turn=turn.turn, n=_failures(tr, len(turn.attempts))
            )
        case "aborted":
            return tr.t("Turn {turn}: stopped", turn=turn.turn)
        case "":
            return tr.t("Turn {turn}: no end", turn=turn.turn)
        case _:
            return tr.t("Turn {turn}: failed", turn=turn.turn)


def _failures(tr: Translator, count: int) -> str:
    return tr.n("{n} failed request", "{n} failed requests", count)


def attempt_text(tr: Translator, attempt: FailedAttempt) -> str:
    """One failed request of the chain: place, status, code, request id, message."""
    if attempt.is_compaction:
        head = tr.t("event {seq}, compaction", seq=attempt.seq)
    elif attempt.was_sent:
        head = tr.t("event {seq}", seq=attempt.seq)
    else:
        head = tr.t("event {seq}, before anything was sent", seq=attempt.seq)
    parts = [head]
    if attempt.status is not None:
        parts.append(tr.t("HTTP {status}", status=attempt.status))
    if attempt.code:
        parts.append(name_text(attempt.code))
    if attempt.request_id:
        parts.append(name_text(attempt.request_id))
    parts.append(clean_line(attempt.message[:_TOLD]))
    told = " · ".join(parts)
    if attempt.record_seq is None:
        return told
    if not attempt.tools:
        return told + " → " + tr.t("event {seq}", seq=attempt.record_seq)
    tools = _tools(tr, attempt.tools)
    return told + " → " + tr.t("event {seq}, {tools}", seq=attempt.record_seq, tools=tools)
