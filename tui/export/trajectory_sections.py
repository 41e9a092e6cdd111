"""Trajectory rows as sections: one for each record, under the headings of their turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tui.blocks import wording as w
from tui.blocks.clean import clean_line
from tui.export.chat_sections import change_lists, pretty_value
from tui.export.sections import HEADING, Code, Item, Items, Part, Prose, Section, turn_facts
from tui.i18n import Translator
from tui.nodes.reading import Reading
from tui.nodes.trajectory import GIST, TrajectoryRow, is_bookkeeping, trajectory_row


def trajectory_sections(reading: Reading, tr: Translator, first: int = 0) -> Iterator[Section]:
    """Yield the rows of the trajectory from the row at `first` on, and at the end how many are cut."""
    turns = reading.trajectory.index.turns
    before: int | None = None
    cut = 0
    for index in range(first, len(turns)):
        turn = turns[index]
        if turn != before:
            before = turn
            yield turn_section(reading, tr, turn)
        row = trajectory_row(reading, index)
        cut += is_cut(row, tr)
        made = row_section(row, tr, faint=row.replaced or is_bookkeeping(reading, index))
        if row.kind == "unknown":
            raw = Code(pretty_value(reading.log.event(row.row).data), language="json")
            made = replace(made, parts=(raw, *made.parts))
        yield made
    if cut:
        yield _cut_section(tr, cut)


def is_cut(row: TrajectoryRow, tr: Translator) -> bool:
    """Whether a row's line is only the beginning of what its record says."""
    return row.cut and bool(w.row_gist(tr, row))


def _cut_section(tr: Translator, cut: int) -> Section:
    told = tr.n(
        "{n} line ends in “…” after {most} characters; `export --format json` holds it whole, and the chat "
        "view every message",
        "{n} lines end in “…” after {most} characters; `export --format json` holds them whole, and the chat "
        "view every message",
        cut,
        most=tr.number(GIST),
    )
    return Section(glyph="event", title=told, faint=True)


def turn_section(reading: Reading, tr: Translator, turn: int) -> Section:
    """Return the heading of a turn by its position; -1 stands for what lies between turns."""
    found = reading.turns.turns[turn] if turn >= 0 else None
    return Section(
        glyph="turn",
        title=w.turn_name(tr, found.number if found is not None else None),
        level=HEADING,
        facts=turn_facts(tr, found) if found is not None else (),
    )


def row_section(row: TrajectoryRow, tr: Translator, *, faint: bool) -> Section:
    """Return the section of one row: its kind, what it says, how it went."""
    kind = "tool-change" if row.tool_notice is not None else row.kind
    gist = w.row_gist(tr, row)
    title = "" if gist and row.kind in ("user", "assistant") else w.row_title(tr, row)
    said = " ".join(part for part in (title, gist) if part)
    if is_cut(row, tr):
        said = said.rstrip() + "…"
    return Section(
        glyph=kind,
        title=clean_line(tr.t("{name}: {value}", name=w.kind_name(tr, kind), value=said)),
        seq=row.seq,
        facts=tuple(clean_line(fact) for fact in row_facts(row, tr)),
        parts=_parts(row, tr),
        nested=row.parent_call_id is not None,
        faint=faint,
    )


def row_facts(row: TrajectoryRow, tr: Translator) -> list[str]:
    """Return what a row's columns say."""
    facts: list[str] = []
    if row.step is not None:
        facts.append(tr.t("step {n}", n=row.step))
    outcome = w.row_outcome(tr, row)
    if outcome and row.kind not in ("failure", "damage"):
        facts.append(outcome)
    if row.duration_ms is not None:
        facts.append(tr.duration(row.duration_ms))
    if row.ttft_ms is not None:
        facts.append(tr.t("first token after {time}", time=tr.duration(row.ttft_ms)))
    if row.usage is not None:
        used = row.usage
        facts.append(
            tr.t(
                "{input} tok in, {output} tok out",
                input=tr.compact(used.input + used.cache_read + used.cache_write),
                output=tr.compact(used.output),
            )
        )
    if row.replaced:
        facts.append(tr.t("out of context"))
    if row.repeated:
        facts.append(tr.t("its number is used twice"))
    if row.shortened:
        facts.append(tr.t("shortened for the model"))
    return facts


def _parts(row: TrajectoryRow, tr: Translator) -> tuple[Part, ...]:
    fault: tuple[Part, ...] = ()
    if row.damage is not None and row.kind != "damage":
        fault = (Prose(w.damage_text(tr, row.damage)),)
    if row.tool_notice is not None:
        return (*(part for part in change_lists(tr, row.tool_notice) if part.items), *fault)
    if row.header_notice is not None and row.header_notice.redefined:
        tools = row.header_notice.redefined
        items = tuple(Item("redefined", tool.name, tool.description) for tool in tools)
        return (Items(items, tr.t("redefined")), *fault)
    return fault
