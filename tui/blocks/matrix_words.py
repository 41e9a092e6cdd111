"""Sentences about tools over time: what a cell says, what happened to a tool, why a series begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tui.blocks.clean import clean_line
from tui.blocks.glyphs import mark
from tui.blocks.text import Span
from tui.blocks.wording_names import name_text, series_text, status_text
from tui.blocks.wording_requests import mode_text
from tui.i18n import N_, Translator
from tui.nodes.tool_matrix import Column, Happening, Mark, RouteChoice, ToolMatrix
from tui.nodes.tool_offer import Series, ToolState
from tui.nodes.trajectory import trajectory_row

_STATES: Final[Mapping[ToolState, str]] = {
    ToolState.ABSENT: N_("absent"),
    ToolState.DECLARED: N_("declared"),
    ToolState.OFFERED: N_("declared as deferred, offered by an addition"),
    ToolState.REOFFERED: N_("declared, offered again by an addition"),
    ToolState.DEFERRED: N_("declared as deferred"),
    ToolState.INACTIVE: N_("declared but inactive"),
}
_ROUTES: Final[Mapping[RouteChoice, str]] = {
    "recorded": N_("each request as its own route"),
    "none": N_("all as a route without tool updates"),
    "addition-only": N_("all as an addition-only route"),
    "in-history": N_("all as an in-history route"),
}
_SHOWN_EVENTS: Final = 3

LEGEND: Final[tuple[tuple[str, str], ...]] = (
    ("tool-declared", N_("declared")),
    ("tool-offered", N_("deferred, offered")),
    ("tool-reoffered", N_("offered again")),
    ("tool-deferred", N_("deferred")),
    ("tool-inactive", N_("declared, inactive")),
    ("added", N_("added")),
    ("removed", N_("removed")),
    ("restored", N_("restored")),
    ("redefined", N_("redefined")),
    ("tool-called", N_("called")),
    ("failed", N_("call failed")),
    ("tool-absent", N_("absent")),
    ("series", N_("new series")),
)
"""Signs and their meaning, as the line below the matrix tells them."""


def legend(tr: Translator, *, ascii_only: bool = False) -> Iterator[tuple[Span, Span]]:
    """Every sign with its word."""
    for what, word in LEGEND:
        yield mark(what, ascii_only), Span(f" {tr.t(word)}", "muted")


def state_text(tr: Translator, state: ToolState) -> str:
    """What a request says of a tool."""
    return tr.t(_STATES[state])


def route_choice_text(tr: Translator, route: RouteChoice) -> str:
    """As which route the matrix is told."""
    return tr.t(_ROUTES[route])


def mark_text(tr: Translator, happened: Mark) -> str:
    """What happened to a tool, in words; empty for nothing."""
    words: list[str] = []
    if happened & Mark.REMOVED:
        words.append(tr.t("removed"))
    if happened & Mark.RESTORED:
        words.append(tr.t("restored"))
    if happened & Mark.ADDED:
        words.append(tr.t("added"))
    if happened & Mark.REDEFINED:
        words.append(tr.t("redefined"))
    return tr.join(words)


def column_text(tr: Translator, column: Column) -> str:
    """Which requests a column is: "request 7 · turn 3"."""
    if column.first == column.last:
        place = tr.t("request {n}", n=column.last)
    else:
        place = tr.t("requests {first} to {last}", first=column.first, last=column.last)
    if column.turn is None:
        return place
    return " · ".join([place, tr.t("turn {n}", n=column.turn)])


def failure_text(tr: Translator, matrix: ToolMatrix, at: int) -> str:
    """What became of a column's requests where one brought no whole answer; empty where all did."""
    column = matrix.column(at)
    if not column.failed:
        return ""
    if column.first != column.last:
        return tr.n("{n} request failed", "{n} requests failed", column.failed)
    row = trajectory_row(matrix.reading, column.item)
    return name_text(row.error_code) or status_text(tr, row.status)


def calls_text(tr: Translator, calls: int, failed: int) -> str:
    """How many calls, and how many of them failed; empty for none."""
    if not calls:
        return ""
    parts = [tr.n("{n} call", "{n} calls", calls)]
    if failed:
        parts.append(tr.n("{n} failed", "{n} failed", failed))
    return " · ".join(parts)


def cell_text(tr: Translator, matrix: ToolMatrix, name: str, at: int) -> str:
    """One cell in words."""
    cell = matrix.cell(name, at)
    parts = [mark_text(tr, cell.mark), state_text(tr, cell.state), calls_text(tr, cell.calls, cell.failed)]
    return " · ".join(part for part in parts if part)


def tool_note(tr: Translator, matrix: ToolMatrix, name: str) -> list[str]:
    """What is to be said of a tool at the right of its row, the longest form first."""
    happened = [event_text(tr, matrix, each) for each in matrix.happened(name)]
    shown = [each for each in happened if each]
    active = tr.n("{n} active", "{n} active", matrix.active_requests(name))
    calls = calls_text(tr, matrix.call_counts.get(name, 0), matrix.failed_counts.get(name, 0))
    if not shown:
        return [" · ".join([active, calls]) if calls else active, active]
    if len(shown) > _SHOWN_EVENTS:
        shown = [tr.n("{n} change", "{n} changes", len(shown)), *shown[-(_SHOWN_EVENTS - 1) :]]
    events = " · ".join(shown)
    return [*([" · ".join([events, calls])] if calls else []), events, shown[-1]]


def event_text(tr: Translator, matrix: ToolMatrix, happening: Happening) -> str:
    """One change and the column that shows it: "removed 7"; empty where no request followed it."""
    at = matrix.column_of(happening)
    if at is None:
        return ""
    column = matrix.column(at)
    number = column.first if matrix.zoom == "request" or column.turn is None else column.turn
    return tr.t("{change} {n}", change=mark_text(tr, happening.mark), n=number)


def boundary_text(tr: Translator, series: Series) -> list[str]:
    """What begins at a rule between columns, the longest form first."""
    number = tr.t("series {n}", n=tr.number(series.number))
    cause = {"initial": "", "redefined": tr.t("redefined")}.get(series.cause, tr.t("started again"))
    return [
        *([tr.t("{series}: {cause}", series=number, cause=cause)] if cause else []),
        number,
        str(series.number),
    ]


def series_cause_text(tr: Translator, series: Series) -> str:
    """The series of a column in a sentence of its own."""
    return f"{tr.t('series {n}', n=tr.number(series.number))} · {series_text(tr, series.cause)}"


def route_text(tr: Translator, column: Column) -> str:
    """Model and mode of a column."""
    return " · ".join(
        part
        for part in (name_text(clean_line(column.model)), mode_text(tr, column.mode, column.mode_from))
        if part
    )
