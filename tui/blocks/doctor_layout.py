"""The doctor's page: findings with what to do, then the failed requests turn by turn."""

from __future__ import annotations

from collections.abc import Sequence

from tui.blocks.cells import cell_len
from tui.blocks.glyphs import GLYPHS
from tui.blocks.layout import Layout, finished, plain_signs
from tui.blocks.text import EMPTY, Line, Span, line
from tui.blocks.wording_doctor import (
    advice_text,
    attempt_text,
    downgrade_note,
    finding_text,
    finding_title,
    turn_text,
    verdict_text,
)
from tui.blocks.wording_versions import versions_rows, versions_title
from tui.blocks.wrap import wrap
from tui.i18n import Translator
from tui.nodes.doctor import Examination
from tui.nodes.doctor_failures import FailedTurn

_INDENT = 2


def verdict_lines(found: Examination, layout: Layout) -> list[Line]:
    """The examination in one sentence."""
    bad = any(finding.severity == "error" for finding in found.findings)
    what = "failure" if bad else "interrupted" if found.findings else "ok"
    role = "error" if bad else "warning" if found.findings else "ok"
    glyph = GLYPHS[what].text(layout.ascii)
    rows = _rows(layout, [Span(f"{glyph} ", role)], [Span(verdict_text(layout.tr, found), "heading")])
    note = downgrade_note(layout.tr, found.versions)
    if note:
        sign = GLYPHS["tool-change"]
        rows += _rows(layout, [Span(f"{sign.text(layout.ascii)} ", sign.role)], [Span(note, "text")])
    return rows


def finding_lines(found: Examination, number: int, layout: Layout) -> list[Line]:
    """One finding: what is wrong, how it is known, and the steps to take."""
    finding = found.findings[number]
    tr = layout.tr
    role = "error" if finding.severity == "error" else "warning"
    glyph = GLYPHS["failure" if role == "error" else "interrupted"].text(layout.ascii)
    title = [Span(finding_title(tr, finding), f"{role} bold")]
    if finding.seq is not None:
        title += [Span("  "), Span(tr.t("event {seq}", seq=finding.seq), "accent")]
    title += [Span("  "), Span(finding.code, "faint")]
    rows = [EMPTY, *_rows(layout, [Span(f"{glyph} ", role)], title)]
    rows += _rows(layout, [Span(" " * _INDENT)], [Span(finding_text(tr, finding), "text")])
    earlier = next((other for other in found.findings[:number] if other.advice == finding.advice), None)
    if earlier is not None and len(finding.advice) > 1:
        lead = [Span(" " * _INDENT), Span("→ ", "accent")]
        said = _same_steps(tr, earlier.seq)
        return finished(layout, rows + _rows(layout, lead, [Span(said, "text")]))
    for at, step in enumerate(finding.advice, 1):
        mark = f"{at}. " if len(finding.advice) > 1 else "→ "
        lead = [Span(" " * _INDENT), Span(mark, "accent")]
        rows += _rows(layout, lead, [Span(advice_text(tr, step, found.versions), "text")])
    return finished(layout, rows)


def _same_steps(tr: Translator, seq: int | None) -> str:
    if seq is None:
        return tr.t("What to do: the same steps as above.")
    return tr.t("What to do: the same steps as for event {seq} above.", seq=seq)


def chain_title(layout: Layout) -> list[Line]:
    """The heading above the failed requests."""
    return [EMPTY, *_rows(layout, [], [Span(layout.tr.t("Failed requests, turn by turn"), "heading")])]


def turn_lines(turn: FailedTurn, layout: Layout) -> list[Line]:
    """One turn of the chain with its failed requests."""
    tr = layout.tr
    is_over = turn.outcome in ("completed", "max-tokens")
    what, role = ("ok", "ok") if is_over else ("failure", "error")
    glyph = GLYPHS[what].text(layout.ascii)
    rows = _rows(layout, [Span(f"{glyph} ", role)], [Span(turn_text(tr, turn), "text")])
    for attempt in turn.attempts:
        rows += _rows(layout, [Span(" " * 2 * _INDENT)], [Span(attempt_text(tr, attempt), "muted")])
    return finished(layout, rows)


def doctor_lines(found: Examination, layout: Layout) -> list[Line]:
    """The whole page, for a terminal without a screen."""
    rows = verdict_lines(found, layout)
    for number in range(len(found.findings)):
        rows += finding_lines(found, number, layout)
    if found.chain:
        rows += chain_title(layout)
        for turn in found.chain:
            rows += turn_lines(turn, layout)
    return rows + versions_lines(found, layout)


def versions_lines(found: Examination, layout: Layout) -> list[Line]:
    """Versions and route, to paste into a report: a line for each fact."""
    tr = layout.tr
    facts = versions_rows(tr, found)
    widest = max(cell_len(label) for label, _ in facts)
    rows = [EMPTY, *_rows(layout, [], [Span(versions_title(tr), "heading")])]
    for label, value in facts:
        lead = [Span(" " * _INDENT), Span(label + " " * (widest - cell_len(label) + 2), "muted")]
        rows += _rows(layout, lead, [Span(value, "text")])
    return finished(layout, rows)


def said_lines(title: str, sentences: Sequence[str], what: str, layout: Layout) -> list[Line]:
    """A heading with its mark, and sentences below it."""
    sign = GLYPHS[what]
    lead = [Span(f"{sign.text(layout.ascii)} ", sign.role)]
    rows = [EMPTY, *_rows(layout, lead, [Span(title, f"{sign.role} bold")])]
    for sentence in sentences:
        rows += _rows(layout, [Span(" " * _INDENT)], [Span(sentence, "text")])
    return finished(layout, rows)


def versions_copy(found: Examination, tr: Translator) -> str:
    """The same block as text, a fact a line, whatever the width of the screen."""
    return "\n".join(f"{label}: {value}" for label, value in versions_rows(tr, found)) + "\n"


def _rows(layout: Layout, lead: list[Span], said: list[Span]) -> list[Line]:
    indent = " " * max((line(*lead)).cells, 0)
    shown = wrap(
        plain_signs(layout, said),
        layout.width,
        indent=plain_signs(layout, lead),
        subsequent_indent=[Span(indent)],
    )
    return finished(layout, shown)
