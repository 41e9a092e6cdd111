"""The lens: one request as three kinds of routes would be sent it, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tui.blocks.clean import clean_line
from tui.blocks.layout import Layout, plain_signs
from tui.blocks.tables import Column, table
from tui.blocks.text import EMPTY, Line, Span, line, to_ascii
from tui.blocks.wording_requests import (
    causes_text,
    doubt_text,
    kept_text,
    mode_name,
    mode_text,
    part_name,
    place_text,
    switch_text,
)
from tui.blocks.wording_tokens import cost_text, provider_text, surprise_text
from tui.blocks.wrap import wrap
from tui.i18n import Translator
from tui.llm.route import ToolUpdateMode
from tui.nodes.request_diff import Lens
from tui.nodes.request_projection import MODES, Doubt
from tui.nodes.request_table import RequestRow

Doubts = Mapping[ToolUpdateMode, Sequence[Doubt]]

_NARROW: Final = 66
"""Below this width the routes stand below each other."""
_NONE: Final = "–"


def lens_lines(
    row: RequestRow,
    lenses: Mapping[ToolUpdateMode, Lens],
    doubts: Doubts,
    layout: Layout,
    *,
    chosen: ToolUpdateMode,
    changes_tools: bool,
) -> list[Line]:
    """The request, a column for each kind of route, what the provider counted, what a tool change costs."""
    tr = layout.tr
    rows = [*_title(row, layout), EMPTY]
    facts = _facts(tr)
    if not any(_later_prompts(lens) for lens in lenses.values()):
        facts = [fact for fact in facts if fact[0] != tr.t("later prompts")]
    if layout.width < _NARROW:
        for mode in MODES:
            rows += wrap(_head(mode, row, chosen, doubts, layout), layout.width)
            rows += table(
                [[[Span(name, "muted")], told] for name, tell in facts if (told := tell(lenses[mode]))],
                [Column(), Column()],
                layout.width,
                border="none",
            )
            rows.append(EMPTY)
    else:
        titles = [Column("")] + [Column(_head(mode, row, chosen, doubts, layout)) for mode in MODES]
        body = [[[Span(name, "muted")], *(tell(lenses[mode]) for mode in MODES)] for name, tell in facts]
        rows += table(body, titles, layout.width, border="none")
        rows.append(EMPTY)
    rows += _provider(row, lenses, layout)
    if switch := switch_text(tr, row.prefix, lenses[row.mode].tokens.lost):
        rows += [EMPTY, *wrap([Span(switch, "warning")], layout.width)]
    if changes_tools:
        rows += [EMPTY, *_cost(row, lenses, layout)]
    rows += _notes(doubts, layout)
    return [to_ascii(line(*plain_signs(layout, each.spans))) for each in rows] if layout.ascii else rows


def _title(row: RequestRow, layout: Layout) -> list[Line]:
    tr = layout.tr
    spans = [
        Span(place_text(tr, row.place), "heading bold"),
        Span(f"  {clean_line(row.model)}", "accent"),
        Span(f"  {mode_text(tr, row.mode, row.source)}", "muted"),
    ]
    return wrap(plain_signs(layout, spans), layout.width)


def _head(
    mode: ToolUpdateMode, row: RequestRow, chosen: ToolUpdateMode, doubts: Doubts, layout: Layout
) -> list[Span]:
    """A column's title: the mode, marked if it is chosen, if it is the recorded one, and if it is a guess."""
    tr = layout.tr
    role = "accent bold underline" if mode == chosen else "bold"
    spans = [Span(mode_name(mode), role)]
    if mode == row.mode:
        told = tr.t("(assumed)") if row.source == "assumed" else tr.t("(recorded)")
        spans += [Span(" "), Span(told, "muted")]
    if doubts.get(mode):
        spans.append(Span(" ≈", "warning"))
    return spans


def _facts(tr: Translator) -> list[tuple[str, Callable[[Lens], list[Span]]]]:
    return [
        (tr.t("declarations"), lambda lens: _declarations(tr, lens)),
        (tr.t("change blocks"), _blocks),
        (tr.t("beta header"), _beta),
        (tr.t("later prompts"), lambda lens: _prompts(tr, lens)),
        (tr.t("kept prefix"), lambda lens: _kept(tr, lens)),
        (tr.t("broken by"), lambda lens: _broken(tr, lens)),
        (tr.t("kept (est.)"), lambda lens: _tokens(tr, lens.tokens.kept, "text")),
        (tr.t("sent again (est.)"), lambda lens: _tokens(tr, lens.tokens.rest, "text")),
    ]


def _declarations(tr: Translator, lens: Lens) -> list[Span]:
    plain, deferred = len(lens.projected.declared), len(lens.projected.deferred)
    if not plain and not deferred:
        return [Span(tr.t("none"), "muted")]
    told = tr.t("{n} plain", n=tr.number(plain))
    if deferred:
        told = tr.join([told, tr.t("{n} deferred", n=tr.number(deferred))])
    return [Span(told, "text")]


def _blocks(lens: Lens) -> list[Span]:
    added, removed = lens.projected.changes()
    spans = [Span(f"+{added}", "added")] if added else []
    if removed:
        spans.append(Span(f" −{removed}" if spans else f"−{removed}", "removed"))
    return spans or [Span(_NONE, "faint")]


def _beta(lens: Lens) -> list[Span]:
    return [Span("tool-changes", "text") if any(lens.projected.changes()) else Span(_NONE, "faint")]


def _prompts(tr: Translator, lens: Lens) -> list[Span]:
    later = _later_prompts(lens)
    if not later:
        return [Span(_NONE, "faint")]
    if lens.projected.in_history:
        return [Span(tr.t("{n} in the history", n=tr.number(later)), "text")]
    return [Span(tr.t("the last one counts"), "text")]


def _later_prompts(lens: Lens) -> int:
    roles = [message.get("role") for message in lens.projected.messages]
    first = next((at for at, role in enumerate(roles) if role != "system"), len(roles))
    return roles[first:].count("system")


def _kept(tr: Translator, lens: Lens) -> list[Span]:
    broken = lens.prefix.broken_at is not None
    told = tr.t("{kept} messages", kept=kept_text(tr, lens.prefix, len(lens.projected.messages)))
    return [Span(told, "warning" if broken else "ok")]


def _broken(tr: Translator, lens: Lens) -> list[Span]:
    if not lens.prefix.causes:
        return [Span(_NONE, "faint")]
    told = causes_text(tr, lens.prefix)
    if lens.prefix.broken_at is None:
        return [Span(told, "muted")]
    where = part_name(tr, lens.prefix.broken_at)
    return [Span(tr.t("{causes} (at {where})", causes=told, where=where), "warning")]


def _tokens(tr: Translator, count: int, role: str) -> list[Span]:
    return [Span(tr.t("{n} tok", n=tr.compact(count)), role)]


def _provider(row: RequestRow, lenses: Mapping[ToolUpdateMode, Lens], layout: Layout) -> list[Line]:
    """The provider's own counts beside the estimate for the recorded route."""
    tr, kept = layout.tr, lenses[row.mode].tokens.kept
    role = "text" if row.usage is not None else "muted"
    rows = wrap([Span(provider_text(tr, row, kept), role)], layout.width)
    if surprise := surprise_text(tr, row, kept):
        rows += wrap([Span(surprise, "warning")], layout.width)
    return rows


def _cost(row: RequestRow, lenses: Mapping[ToolUpdateMode, Lens], layout: Layout) -> list[Line]:
    """What the tool change costs on the recorded route and would have cost on the others."""
    sign = Span("⊕ ", "accent")
    text = Span(cost_text(layout.tr, row, lenses), "text")
    return wrap([text], layout.width, indent=[sign], subsequent_indent=[Span("  ")])


def doubt_lines(doubts: Sequence[Doubt], layout: Layout) -> list[Line]:
    """Why one request is approximate, after an empty row; nothing where it is exact."""
    rows = _notes(dict.fromkeys(MODES, doubts), layout)
    return [to_ascii(line(*plain_signs(layout, each.spans))) for each in rows] if layout.ascii else rows


def _notes(doubts: Doubts, layout: Layout) -> list[Line]:
    """Why columns are approximate; a reason that holds for all of them is told once."""
    tr = layout.tr
    reasons: dict[Doubt, list[ToolUpdateMode]] = {}
    for mode in MODES:
        for doubt in doubts.get(mode, ()):
            reasons.setdefault(doubt, []).append(mode)
    rows: list[Line] = []
    for doubt, modes in reasons.items():
        which = "" if len(modes) == len(MODES) else tr.join([mode_name(mode) for mode in modes])
        told = doubt_text(tr, doubt)
        text = (
            tr.t("Approximate for {modes}: {reason}.", modes=which, reason=told)
            if which
            else tr.t("Approximate: {reason}.", reason=told)
        )
        lead = Span("≈ ", "warning")
        rows += wrap([Span(text, "muted")], layout.width, indent=[lead], subsequent_indent=[Span("  ")])
    return [EMPTY, *rows] if rows else []
