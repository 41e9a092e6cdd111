"""The requests of a session on paper: a section each with what it kept, and why it kept no more."""

from __future__ import annotations

from collections.abc import Iterator

from tui.blocks.cells import cell_len
from tui.blocks.clean import clean_line
from tui.blocks.layout import Layout
from tui.blocks.requests_layout import columns_for, heading_line, request_line
from tui.blocks.text import Line, Span, line
from tui.blocks.wording_names import name_text, status_text
from tui.blocks.wording_requests import (
    cause_sentences,
    doubt_text,
    kept_text,
    mode_text,
    place_text,
    tools_text,
)
from tui.blocks.wording_tokens import cost_text, estimate_text, provider_text
from tui.export.sections import Item, Items, Section
from tui.i18n import Translator
from tui.llm.route_book import RouteBook
from tui.nodes.reading import Reading
from tui.nodes.request_diff import changes_tools
from tui.nodes.request_projection import doubts
from tui.nodes.request_table import RequestRow, RequestTable
from tui.nodes.requests import RecordedRequest, Requests

PICTURE_CELLS = 120


def requests_sections(
    reading: Reading, tr: Translator, book: RouteBook | None, first: int = 1
) -> Iterator[Section]:
    """Yield a section for each request from one on."""
    table = RequestTable(Requests(reading), book)
    start = max(first, 1)
    before = table.requests.request(start - 1) if 1 < start <= len(table) else None
    for request in table.requests.walk(start):
        row, sent = table.row(request.place.n), table.as_sent(request)
        role = "warning" if row.prefix.broken_at else ""
        told = [Item(role, sentence) for sentence in cause_sentences(tr, row.prefix)]
        told += _costs(table, row, before, request, tr)
        before = request
        for doubt in doubts(table.requests, sent, row.sent):
            told.append(Item("", tr.t("Approximate: {reason}.", reason=doubt_text(tr, doubt))))
        yield Section(
            glyph=row.status if row.status in ("failed", "interrupted", "truncated") else "assistant",
            title=place_text(tr, row.place),
            seq=row.place.seq,
            facts=_facts(row, tr),
            parts=(Items(tuple(told)),) if told else (),
        )


def _costs(
    table: RequestTable, row: RequestRow, before: RecordedRequest | None, now: RecordedRequest, tr: Translator
) -> list[Item]:
    """Estimates and the provider's count where the prefix broke; of a tool change what it costs."""
    changes = changes_tools(before, now)
    if before is None or (row.prefix.broken_at is None and not changes):
        return []
    found = table.lenses(row.place.n)
    tokens = found[row.mode].tokens
    told = [estimate_text(tr, tokens), provider_text(tr, row, tokens.kept)]
    if changes:
        told.append(cost_text(tr, row, found))
    return [Item("", sentence) for sentence in told]


def requests_picture(
    reading: Reading, tr: Translator, book: RouteBook | None, *, ascii_only: bool
) -> tuple[int, Iterator[list[Line]]]:
    """Return the width of a picture in cells and its blocks of rows: the list as the screen shows it."""
    return PICTURE_CELLS, _picture(reading, tr, book, ascii_only)


def _picture(
    reading: Reading, tr: Translator, book: RouteBook | None, ascii_only: bool
) -> Iterator[list[Line]]:
    table = RequestTable(Requests(reading), book)
    longest = max((cell_len(name_text(model)) for model in reading.models), default=0)
    columns = columns_for(PICTURE_CELLS, len(table), longest)
    layout = Layout(PICTURE_CELLS, tr, expanded=True, ascii=ascii_only, full=True)
    yield [heading_line(tr, columns, PICTURE_CELLS)]
    if not len(table):
        yield [line(Span(tr.t("No model request was made in this session."), "muted"))]
    for n in range(1, len(table) + 1):
        yield [request_line(table.row(n), layout, columns)]


def _facts(row: RequestRow, tr: Translator) -> tuple[str, ...]:
    facts = [clean_line(row.model), mode_text(tr, row.mode, row.source), tools_text(tr, row)]
    facts.append(tr.t("kept {kept}", kept=kept_text(tr, row.prefix, row.messages)))
    if row.cache_share is not None:
        facts.append(tr.t("cache {share}", share=tr.percent(row.cache_share)))
    if row.status not in ("ok", ""):
        facts.append(name_text(row.error_code) or status_text(tr, row.status))
    return tuple(fact for fact in facts if fact)
