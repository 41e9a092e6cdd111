"""Sentences about model requests: routes, what broke a prefix, what makes a rebuilt request approximate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tui.blocks.clean import clean_line
from tui.i18n import N_, Translator
from tui.llm.route import ToolUpdateMode
from tui.llm.route_book import ModeSource
from tui.nodes.request_diff import Cause, Part, Prefix, Switch
from tui.nodes.request_projection import Doubt
from tui.nodes.request_table import RequestRow
from tui.nodes.requests import RequestPlace

_CAUSES: Final[Mapping[Cause, str]] = {
    "first": N_("first request"),
    "model": N_("another model"),
    "system-prompt": N_("another system prompt"),
    "tools-redefined": N_("tools redefined"),
    "tools-changed": N_("tools changed"),
    "series": N_("new series"),
    "surface": N_("history rewritten"),
    "compaction": N_("compaction"),
    "image-offload": N_("images offloaded"),
}
_CAUSE_SENTENCES: Final[Mapping[Cause, str]] = {
    "first": N_("It is the first request: there is nothing to keep."),
    "model": N_("It goes to another model, whose cache knows nothing of the requests before."),
    "system-prompt": N_("The text of the system prompt changed."),
    "tools-redefined": N_(
        "A tool kept its name and got another definition, so a new series of declarations begins."
    ),
    "tools-changed": N_("Tools were added, removed or put in another order."),
    "series": N_("A new series began: tools are declared again and earlier change blocks are left out."),
    "surface": N_("A message in the history was replaced, as when a long tool result is shortened."),
    "compaction": N_("The history was condensed: a summary stands in the place of earlier messages."),
    "image-offload": N_("Images in the history are sent as a text that names them."),
}
_SWITCHES: Final[Mapping[Switch, str]] = {
    "fallback": N_("fall-back to full definitions"),
    "again": N_("tool changes sent again"),
}
_SWITCH_SENTENCES: Final[Mapping[Switch, str]] = {
    "fallback": N_("The route refused tool changes, so all active tools are declared in full."),
    "again": N_("The route is sent tool changes again, as it declares."),
}
_PARTS: Final[Mapping[Part, str]] = {
    "model": N_("the model"),
    "declarations": N_("declarations"),
    "system": N_("system prompt"),
    "messages": N_("messages"),
}
_DOUBTS: Final[Mapping[Doubt, str]] = {
    "header": N_("the log holds no request header before it, so settings and tools are unknown"),
    "context": N_("the log does not tell how this route takes later prompts"),
    "instruction": N_("the log does not hold the instruction at the end of a compaction's request"),
    "limit": N_("the log does not hold the token limit of a compaction that gave no summary"),
    "range": N_("the log does not hold which messages this compaction was to condense"),
    "damage": N_("records before it are damaged or missing"),
    "image-bytes": N_("images are named, but the log does not hold their bytes"),
    "later-prompt": N_("later system prompts were written for the recorded kind of route"),
    "other-series": N_("a series began because of how the recorded kind of route changes its prompt"),
    "only-deferred": N_("all declarations are deferred, which providers refuse"),
    "another-try": N_(
        "it followed a refusal at once, as a try with full definitions does, "
        "and the log does not tell what it held"
    ),
}
_SOURCES: Final[Mapping[ModeSource, str]] = {
    "catalog": N_("{mode} (catalogue)"),
    "assumed": N_("{mode} (assumed)"),
    "option": N_("{mode} (chosen)"),
}


def mode_name(mode: ToolUpdateMode) -> str:
    """The name of a tool update mode, the same in every language."""
    return mode or "none"


def mode_text(tr: Translator, mode: ToolUpdateMode, source: ModeSource) -> str:
    """A mode and how it is known."""
    return tr.t(_SOURCES[source], mode=mode_name(mode))


def cause_name(tr: Translator, cause: Cause) -> str:
    """A cause in two words."""
    return tr.t(_CAUSES[cause])


def cause_sentences(tr: Translator, prefix: Prefix) -> list[str]:
    """All causes explained, a sentence each."""
    told = [tr.t(_CAUSE_SENTENCES[cause]) for cause in _own_causes(prefix)]
    if prefix.switch is not None:
        told.append(tr.t(_SWITCH_SENTENCES[prefix.switch]))
    return told


def _own_causes(prefix: Prefix) -> list[Cause]:
    """The causes without the one that stands for a switch, which is told in its own words."""
    left_out = "tools-changed" if prefix.stands_for_switch else None
    return [cause for cause in prefix.causes if cause != left_out]


def switch_text(tr: Translator, prefix: Prefix, lost: int) -> str:
    """That a route is sent tool changes in another way, and what that costs; empty where it is not."""
    if prefix.switch is None:
        return ""
    cost = tr.t("{n} tok", n=tr.compact(lost))
    sentence = tr.t(_SWITCH_SENTENCES[prefix.switch])
    return tr.t(
        "{sentence} So about {tokens} of the request before must be read again.",
        sentence=sentence,
        tokens=cost,
    )


def part_name(tr: Translator, part: Part) -> str:
    """A part of a request."""
    return tr.t(_PARTS[part])


def doubt_text(tr: Translator, doubt: Doubt) -> str:
    """Why a request is approximate."""
    return tr.t(_DOUBTS[doubt])


def causes_text(tr: Translator, prefix: Prefix) -> str:
    """All causes in a few words; empty where the request before is kept whole."""
    told = [cause_name(tr, cause) for cause in _own_causes(prefix)]
    if prefix.switch is not None:
        told.append(tr.t(_SWITCHES[prefix.switch]))
    return tr.join(told)


def kept_text(tr: Translator, prefix: Prefix, messages: int) -> str:
    """How much of a request was there before: `6 of 9`, or that all before it is kept."""
    return tr.t("{kept} of {n}", kept=tr.number(prefix.kept_messages), n=tr.number(messages))


def place_text(tr: Translator, place: RequestPlace) -> str:
    """Number, turn and step."""
    parts = [tr.t("request {n}", n=tr.number(place.n))]
    if place.kind == "compaction":
        parts.append(tr.t("compaction"))
    if place.turn is not None:
        parts.append(tr.t("turn {n}", n=place.turn))
    if place.step is not None and place.kind != "compaction":
        parts.append(tr.t("step {n}", n=place.step))
    return " · ".join(parts)


def request_text(tr: Translator, row: RequestRow) -> str:
    """One request in one line, for plain text."""
    facts = [place_text(tr, row.place), clean_line(row.model), mode_text(tr, row.mode, row.source)]
    facts.append(tools_text(tr, row))
    facts.append(tr.t("kept {kept}", kept=kept_text(tr, row.prefix, row.messages)))
    if row.prefix.causes:
        facts.append(causes_text(tr, row.prefix))
    if row.cache_share is not None:
        facts.append(tr.t("cache {share}", share=tr.percent(row.cache_share)))
    return " · ".join(fact for fact in facts if fact)


def tools_text(tr: Translator, row: RequestRow) -> str:
    """How many tools are declared, and how many of them deferred."""
    declared = tr.n("{n} tool", "{n} tools", row.declared)
    if not row.deferred:
        return declared
    return tr.t("{tools} + {n} deferred", tools=declared, n=tr.number(row.deferred))
