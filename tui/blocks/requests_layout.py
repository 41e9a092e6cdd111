"""The list of requests: one line each, with a heading line above them."""

from __future__ import annotations

from typing import Final, NamedTuple

from tui.blocks.cells import fit
from tui.blocks.glyphs import GLYPHS, mark
from tui.blocks.layout import Layout, plain_signs
from tui.blocks.text import Line, Span, crop, line, pad
from tui.blocks.wording_names import name_text, status_text
from tui.blocks.wording_requests import causes_text, kept_text
from tui.i18n import Translator
from tui.nodes.request_table import RequestRow

_QUIET: Final = ("ok", "")


class Columns(NamedTuple):
    """Widths in cells; 0 leaves a column out."""

    n: int
    place: int
    model: int
    tools: int
    kept: int
    cache: int


def columns_for(width: int, count: int, model: int) -> Columns:
    """Return the columns for a width, a number of requests and the longest model name."""
    n = max(3, len(str(count)) + 1)
    if width < 66:
        return Columns(n, 6, 0, 7, 14 if width >= 44 else 0, 6)
    return Columns(n, 7, min(model, 16 if width < 100 else 28) + 2, 8, 14, 8)


def heading_line(tr: Translator, columns: Columns, width: int) -> Line:
    """The names of the columns."""
    parts = [
        fit("#", columns.n, "right"),
        " " + fit(tr.t("step"), columns.place),
        fit(tr.t("model"), columns.model) if columns.model else "",
        fit(tr.t("tools"), columns.tools),
        fit(tr.t("kept"), columns.kept) if columns.kept else "",
        fit(tr.t("cache"), columns.cache),
        tr.t("why not all"),
    ]
    return crop(line(Span("".join(parts), "muted")), width)


def request_line(row: RequestRow, layout: Layout, columns: Columns) -> Line:
    """One request: place, model, tools declared and deferred, what it kept, what the cache gave, why."""
    tr, place = layout.tr, row.place
    where = f"{place.turn or '–'}.{place.step or '–'}"
    if place.kind == "compaction":
        sign = mark("compaction", layout.ascii)
        where = f"{place.turn or '–'} {sign.text}"
    spans = [
        Span(fit(str(place.n), columns.n, "right") + " ", "faint"),
        Span(fit(where, columns.place), "compaction" if place.kind == "compaction" else "text"),
    ]
    if columns.model:
        spans.append(Span(fit(name_text(row.model), columns.model), "accent"))
    spans.append(Span(str(row.declared), "text"))
    deferred = f" +{row.deferred}" if row.deferred else ""
    spans.append(Span(fit(deferred, columns.tools - len(str(row.declared))), "muted"))
    broken = row.prefix.broken_at is not None
    if columns.kept:
        spans.append(
            Span(fit(kept_text(tr, row.prefix, row.messages), columns.kept), "warning" if broken else "muted")
        )
    share = row.cache_share
    told = tr.percent(share) if share is not None else ""
    spans.append(Span(fit(told, columns.cache), "muted"))
    left = line(*plain_signs(layout, spans))
    right = _outcome(row, layout)
    room = max(layout.width - left.cells - right.cells - 1, 0)
    why = Span(causes_text(tr, row.prefix), "warning" if broken else "muted")
    middle = pad(crop(line(why), room), room + 1)
    return crop(line(*left.spans, *middle.spans, *right.spans), layout.width)


def _outcome(row: RequestRow, layout: Layout) -> Line:
    sign = GLYPHS.get(row.status or "ok", GLYPHS["event"])
    mark_span = Span(sign.text(layout.ascii), sign.role)
    if row.status in _QUIET:
        return line(mark_span)
    words = name_text(row.error_code) or status_text(layout.tr, row.status)
    return line(Span(f"{words} ", sign.role), mark_span)
