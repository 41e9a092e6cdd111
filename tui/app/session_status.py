"""What the lines above and below a session say: title, model, use, damage; keys or a notice."""

from __future__ import annotations

from tui.app.status_bar import Piece
from tui.blocks.clean import clean_line
from tui.blocks.text import Span
from tui.i18n import Translator
from tui.nodes.reading import Reading

_UNKNOWN = "…"
_TITLE_LEAST = 24
"""Cells of a title that tell it from others."""


def head_left(reading: Reading, title: str, tr: Translator) -> list[Piece]:
    """Title, and the faults of the file."""
    shown = clean_line(title) or clean_line(reading.log.header.id)
    pieces = [Piece((Span(shown, "title"),), keep=100, least=_TITLE_LEAST)]
    faults = len(reading.log.damage)
    if faults:
        pieces.append(Piece((Span(tr.n("{n} fault", "{n} faults", faults), "damage"),), keep=90))
    return pieces


def head_right(reading: Reading, tr: Translator, progress: float | None) -> list[Piece]:
    """Model and use; what needs the whole log is "…" until it is read."""
    known = progress is None
    totals = reading.totals()
    share = totals.cache_share if known else None
    turns = tr.n("{n} turn", "{n} turns", totals.turns)
    if known and not len(reading.log):
        empty = Piece((Span(tr.t("no events yet"), "muted"),), keep=75)
        return [Piece((Span(clean_line(reading.model), "accent"),), keep=80), empty]
    active = len(reading.tools.active_names()) if reading.tools.headers else None
    tools = tr.n("{n} tool", "{n} tools", active or 0) if known or active is not None else tr.t("… tools")
    pieces = [
        Piece((Span(clean_line(reading.model) or ("" if known else _UNKNOWN), "accent"),), keep=80),
        Piece((Span(clean_line(reading.provider), "muted"),), keep=20),
        Piece((Span(turns if known else tr.t("… turns"), "muted"),), keep=60),
        Piece((Span(tr.t("{n} tok", n=tr.compact(totals.tokens) if known else _UNKNOWN), "muted"),), keep=50),
        Piece((Span(tr.t("cache {share}", share=tr.percent(share)), "muted"),), keep=55)
        if share is not None
        else Piece((Span("" if known else tr.t("cache …"), "muted"),), keep=55),
        Piece((Span(tools, "muted"),), keep=70),
    ]
    if progress is not None:
        pieces.insert(
            0, Piece((Span(tr.t("reading {share}", share=tr.percent(progress)), "warning"),), keep=85)
        )
    return pieces
