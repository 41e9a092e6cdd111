"""A session as plain sections: what the text, Markdown and HTML writers set each in their own way.

A section is a heading, a few facts and parts; everything is expanded and whole. Its texts are not cleaned
yet, headings and facts are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tui.blocks.clean import clean_line
from tui.blocks.wording import damage_text
from tui.export.session_facts import event_count
from tui.i18n import Translator
from tui.nodes.reading import Reading
from tui.nodes.turns import Turn


@dataclass(frozen=True, slots=True)
class Prose:
    """Text as it was written."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Markup:
    """Markdown of a model."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text with a language of its own: arguments, results, raw data."""

    text: str
    label: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a list: a mark (a key of the glyph table), a text and what else is to say."""

    mark: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, each entry on a line of its own."""

    items: tuple[Item, ...]
    label: str = ""


Part: TypeAlias = Prose | Markup | Code | Items

HEADING: Final = 1
ENTRY: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One node or row, or the heading of a turn."""

    glyph: str
    """Key of the glyph table; gives mark and role."""
    title: str
    level: int = ENTRY
    seq: int | None = None
    facts: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    nested: bool = False
    faint: bool = False
    """Replaced, discarded or of little interest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What stands before the sections."""

    title: str
    facts: tuple[tuple[str, str], ...]
    damage: tuple[str, ...] = field(default=())


def front(reading: Reading, tr: Translator) -> Front:
    """Return the front of a session that has been read."""
    header = reading.log.header
    totals = reading.totals()
    facts = [(tr.t("Session"), header.id)]
    if header.cwd:
        facts.append((tr.t("Workspace"), header.cwd))
    if header.created_ms:
        facts.append((tr.t("Created"), tr.date_time(header.created_ms)))
    if reading.models:
        facts.append((tr.t("Models"), tr.join(list(reading.models))))
    size = [
        tr.n("{n} event", "{n} events", event_count(reading)),
        tr.n("{n} turn", "{n} turns", totals.turns),
    ]
    facts.append((tr.t("Size"), " · ".join([*size, *token_facts(tr, totals.tokens, totals.cache_share)])))
    return Front(
        title=clean_line(reading.title) or clean_line(header.id),
        facts=tuple((name, clean_line(value)) for name, value in facts),
        damage=tuple(damage_text(tr, damage) for damage in reading.log.damage),
    )


def token_facts(tr: Translator, tokens: int, cache_share: float | None) -> list[str]:
    """Return tokens and the share that came from the cache, where there are any."""
    if not tokens:
        return []
    facts = [tr.t("{n} tok", n=tr.compact(tokens))]
    if cache_share is not None:
        facts.append(tr.t("cache {share}", share=tr.percent(cache_share)))
    return facts


def turn_facts(tr: Translator, turn: Turn) -> tuple[str, ...]:
    """Return what a turn took and did."""
    facts: list[str] = []
    if turn.start_ms:
        facts.append(tr.clock(turn.start_ms))
    if turn.duration_ms is not None:
        facts.append(tr.duration(turn.duration_ms))
    facts += token_facts(tr, turn.tokens, turn.cache_share)
    if turn.calls:
        facts.append(tr.n("{n} call", "{n} calls", turn.calls))
    if turn.failed_calls:
        facts.append(tr.n("{n} failed", "{n} failed", turn.failed_calls))
    return tuple(facts)
