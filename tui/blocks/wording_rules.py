"""The rules of the format that a log breaks, in the reader's language.

The session layer states them in plain English and knows no catalogue; what is not known here stands as it is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from tui.i18n import N_, Translator

_SENTENCES: Final[tuple[str, ...]] = (
    N_("a chain of retries has one retryId"),
    N_("a checkpoint stands outside its compaction"),
    N_("a child that can be continued has a label"),
    N_("a command of this id ran before"),
    N_("a compaction is open"),
    N_("a compaction without a summary ends with an error"),
    N_("a content block has no type"),
    N_("a failed command names no event"),
    N_("a log-only event cites no other events"),
    N_("a log-only event has no surfaceOp"),
    N_("a replacement covers earlier events only"),
    N_("a replacing tool result differs in more than its content"),
    N_("a system message holds text alone"),
    N_("a system prompt in a request header is retired"),
    N_("a title is asked for with one message"),
    N_("a tool result replaces exactly one tool result"),
    N_("a tool-result block is retired"),
    N_("an assistant message cites no other events"),
    N_("another compaction is open"),
    N_("headerSeq is there exactly when tools are added"),
    N_("headerSeq names no earlier request header"),
    N_("maxRetries belongs to the normal mode"),
    N_("messageSeqs is empty exactly for a title that the user gave"),
    N_("messageSeqs is empty"),
    N_("messageSeqs is no list of distinct events"),
    N_("no command of this id ran"),
    N_("no compaction is open"),
    N_("no such retry is scheduled"),
    N_("no turn is open"),
    N_("shadowedSeqs is not the shadowed range of the surface"),
    N_("sourceEventSeq names a command or no earlier event"),
    N_("sourceEventSeqs is empty"),
    N_("sourceEventSeqs names an event that is not earlier"),
    N_("sourceEventSeqs names an event twice"),
    N_("surfaceOp is missing"),
    N_("surfaceOp is neither append nor a replacement"),
    N_("the arguments of a tool-call block are not a string"),
    N_("the child's label is not a string"),
    N_("the compaction has a summary already"),
    N_("the head is replaced by another system message alone"),
    N_("the head of the surface is never shadowed"),
    N_("the header does not say that the log is seeded"),
    N_("the image indexes of a target do not increase"),
    N_("the inherited part has ended"),
    N_("the kind is neither success nor error"),
    N_("the log is seeded and no marker ends its seed"),
    N_("the mark names another session"),
    N_("the message has no id"),
    N_("the message that asks for a title has another source"),
    N_("the message that asks for a title holds one text"),
    N_("the message's content is not a list"),
    N_("the message's source has no kind"),
    N_("the mode is unknown"),
    N_("the payload is not an object"),
    N_("the provider is not that of the last request header"),
    N_("the reason of the header is unknown"),
    N_("the replaced range is not on the surface"),
    N_("the result has no isError or no content"),
    N_("the source of a tool result does not name its call"),
    N_("the surface does not begin with a system message, so none may follow"),
    N_("the time is out of range"),
    N_("the turn is not the open one"),
    N_("the type is empty"),
    N_("the type is unknown and not marked ignorable"),
    N_("the version or the mode of the child is unknown"),
    N_("there are no targets"),
    N_("this retryId belongs to another chain"),
    N_("this type is retired"),
    N_("throughSeq is not earlier"),
    N_("a {kind} block carries a definition"),
    N_("a {kind} block has no text"),
    N_("a {kind} block names no tool"),
    N_("a {kind} block stands outside a developer message"),
    N_("event {seq} is no tool result"),
    N_("event {seq} is neither a user message nor a tool result"),
    N_("event {seq} is no earlier prompt of the user"),
    N_("event {seq} is not on the surface"),
    N_("image {index} of event {seq} is missing or offloaded already"),
    N_("no assistant message waits for the call {call}"),
    N_("no call {call} waits for a result"),
    N_("no start of the sub call {call} with this parent, name and arguments"),
    N_("seq {seq} is a target twice"),
    N_("sourceEventSeqs lacks the replaced event {seq}"),
    N_("step {step} is open"),
    N_("step {step} is neither open nor the one just closed"),
    N_("step {step} is not open"),
    N_("the call {call} has started already"),
    N_("the call {call} was asked for with another name or other arguments"),
    N_("the call {call} has not started"),
    N_("the call {call} is open already"),
    N_("the call {call} has no result"),
    N_("the child {child} stands there already"),
    N_("the message's role is not {role}"),
    N_("the next retry of this chain is {wanted}, not {found}"),
    N_("the next seq is {seq}"),
    N_("the next step is {wanted}, not {found}"),
    N_("the next turn is {wanted}, not {found}"),
    N_("the parent {parent} is no known sub call"),
    N_("the sub call {call} has started already"),
    N_("tool history: missing definition for {tool}"),
    N_("turn {turn} is open"),
    N_("turn {turn} is not open"),
    N_("{key} is not that of the open compaction"),
    N_("event {seq} follows {previous}: {n} numbers are missing"),
    N_("event {seq} follows {previous}: the numbers run back"),
    N_("event {seq} stands twice"),
    N_("the first frame does not hold exactly the header line"),
    N_('"{key}" is not a count'),
    N_('"{key}" is not a positive integer'),
    N_('"{key}" is not a number of milliseconds'),
    N_('"{key}" is not a number'),
    N_('"{key}" is not a list of strings'),
    N_('"{key}" is not a list'),
    N_('"{key}" is not a non-empty string'),
    N_('"{key}" is not a string'),
    N_('"{key}" is neither true nor false'),
    N_('"{key}" of the tool "{tool}" is not true'),
    N_('"{key}" is not true'),
    N_('"{key}" is unknown'),
    N_('"{key}" is empty or no list'),
    N_('"{key}" is empty or marks what is no adapter default'),
    N_('"{key}" is missing'),
    N_('"{key}" without {other}'),
    N_('the source kind "{kind}" is retired'),
    N_('the tool "{tool}" has no description or no parameters'),
    N_('the request header has the tool "{tool}" {n} times'),
)
_FIELD: Final = re.compile(r"\\\{(\w+)\\\}")


def rule_text(tr: Translator, sentence: str) -> str | None:
    """Return a cleaned sentence of the session layer in the reader's language; None for one of others."""
    for pattern, message in _patterns():
        found = pattern.fullmatch(sentence)
        if found is not None:
            return tr.t(message, **found.groupdict())
    return None


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(_FIELD.sub(r"(?P<\1>.+)", re.escape(message))), message) for message in _SENTENCES
    )
