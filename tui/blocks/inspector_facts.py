"""The Summary tab: the facts of a record, one a row, times to the millisecond as the log has them."""

from __future__ import annotations

from typing import Any

from tui.blocks.cells import cell_len, fit
from tui.blocks.glyphs import mark
from tui.blocks.layout import Layout, heading, text_rows
from tui.blocks.notice_body import notice_rows
from tui.blocks.text import EMPTY, Line, Span
from tui.blocks.trajectory_layout import row_kind_name, row_mark
from tui.blocks.wording import (
    cause_text,
    damage_text,
    row_gist,
    row_title,
    source_name,
    status_text,
    tool_text,
)
from tui.blocks.wording_names import name_text, series_text, setting_name
from tui.blocks.wording_own import own_facts
from tui.blocks.wrap import wrap
from tui.i18n import Translator
from tui.nodes.chat_nodes import message_of
from tui.nodes.notices import HeaderNotice, tool_name
from tui.nodes.reading import Reading
from tui.nodes.trajectory import RowUsage, TrajectoryRow
from tui.nodes.trajectory_index import RowKind
from tui.nodes.turns import cache_share
from tui.session.json_value import as_count, as_object, as_text
from tui.session.stream import expand

Fact = tuple[str, str, str]
"""Label, value, role."""


def summary_rows(reading: Reading, row: TrajectoryRow, layout: Layout) -> list[Line]:
    """All facts of a row."""
    tr = layout.tr
    sign = mark(row_mark(row), layout.ascii)
    title = [Span(row_kind_name(tr, row), f"{sign.role} bold"), Span("  "), Span(row_title(tr, row), "bold")]
    rows = heading(layout, [Span(f"{sign.text} ", sign.role)], title, wraps=True)
    facts = _place(reading, row, tr) + _times(reading, row, tr) + _model(reading, row, tr)
    facts += _tool(reading, row, tr) + _failure(reading, row, tr)
    if row.own is not None:
        facts += [(label, value, "") for label, value in own_facts(tr, row.own)]
    if row.header_notice is not None:
        facts += header_facts(row.header_notice, tr)
    rows += [EMPTY, *fact_rows(facts, layout)]
    if row.tool_notice is not None:
        rows += [EMPTY, *notice_rows(layout, row.tool_notice)]
    elif row.damage is not None:
        rows += [EMPTY, *text_rows(layout, damage_text(tr, row.damage), "damage", indent=())]
    elif row.kind in ("user", "context", "event", "unknown", "system", "assistant") and row.gist:
        rows += [EMPTY, *text_rows(layout, row_gist(tr, row), "muted", indent=(), rows=6)]
    return rows


def fact_rows(facts: list[Fact], layout: Layout) -> list[Line]:
    """Labels in a column, values beside them, wrapped."""
    kept = [fact for fact in facts if fact[1]]
    column = min(max((cell_len(label) for label, _, _ in kept), default=0) + 2, max(layout.width // 2, 1))
    rows: list[Line] = []
    for label, value, role in kept:
        lead = [Span(fit(label, column - 1) + " ", "muted")]
        rows += wrap([Span(value, role)], layout.width, indent=lead, subsequent_indent=[Span(" " * column)])
    return rows


def _place(reading: Reading, row: TrajectoryRow, tr: Translator) -> list[Fact]:
    seqs = "" if row.seq is None else str(row.seq)
    if row.end_seq is not None and row.end_seq >= 0:
        if row.kind == "tool":
            seqs = tr.t("call {start} · result {end}", start=seqs, end=row.end_seq)
        else:
            seqs = tr.t("{start} to {end}", start=seqs, end=row.end_seq)
    facts: list[Fact] = [
        (tr.t("Event"), name_text(row.type), "text"),
        (tr.t("Seq"), seqs, "text"),
        (tr.t("Turn"), str(row.turn) if row.turn is not None else tr.t("between turns"), "text"),
        (tr.t("Step"), str(row.step) if row.step is not None else "", "text"),
        (tr.t("Request"), f"#{row.request}" if row.request is not None else "", "text"),
    ]
    if row.status:
        role = "ok" if row.status == "ok" else "error" if row.status in ("error", "failed") else "warning"
        facts.append((tr.t("Outcome"), status_text(tr, row.status), role))
    if row.replaced:
        facts.append((tr.t("Context"), tr.t("replaced; the model no longer sees it"), "warning"))
    if row.kind == "context" and row.title:
        facts.append((tr.t("Source"), f"{source_name(tr, row.title)} ({name_text(row.title)})", "text"))
    return facts


def _times(reading: Reading, row: TrajectoryRow, tr: Translator) -> list[Fact]:
    facts: list[Fact] = []
    if row.started_ms is not None and row.started_ms != row.time_ms:
        facts.append((tr.t("Started"), _clock(tr, row.started_ms), "text"))
    if row.time_ms is not None:
        facts.append((tr.t("Time"), _clock(tr, row.time_ms), "text"))
    if row.duration_ms is not None:
        facts.append((tr.t("Duration"), _exact(tr, row.duration_ms), "text"))
    if row.ttft_ms is None:
        return facts
    facts.append((tr.t("First token after"), _exact(tr, row.ttft_ms), "text"))
    generation = row.duration_ms - row.ttft_ms if row.duration_ms is not None else 0
    if generation > 0:
        facts.append((tr.t("Generation"), _exact(tr, generation), "text"))
        if row.usage is not None and row.usage.output:
            speed = row.usage.output * 1000 / generation
            facts.append((tr.t("Throughput"), tr.t("{n} tok/s", n=tr.number(round(speed, 1))), "text"))
    return facts


def _clock(tr: Translator, ms: int) -> str:
    thousandths = f"{ms % 1000:03d}"
    return tr.t("{time}.{ms} (Unix {unix})", time=tr.date_time(ms), ms=thousandths, unix=ms)


def _exact(tr: Translator, ms: int) -> str:
    told = tr.duration(ms)
    exact = tr.t("{n} ms", n=tr.number(ms))
    return told if told == exact else tr.t("{time} ({exact})", time=told, exact=exact)


def _model(reading: Reading, row: TrajectoryRow, tr: Translator) -> list[Fact]:
    facts: list[Fact] = []
    if row.kind == "assistant":
        source = as_object(message_of(reading.log.event(row.row)).get("source"))
        route = " · ".join(
            part
            for part in (name_text(as_text(source.get("provider"))), name_text(as_text(source.get("model"))))
            if part
        )
        facts.append((tr.t("Model"), route, "text"))
        if row.calls:
            facts.append((tr.t("Tool calls"), tr.number(row.calls), "text"))
        facts += _stream(reading, row, tr)
    return facts + (_usage(row.usage, tr) if row.usage is not None else [])


def _stream(reading: Reading, row: TrajectoryRow, tr: Translator) -> list[Fact]:
    """Chunks of kinds that are not known are told, not dropped."""
    known = {
        "block-start",
        "block-end",
        "text-delta",
        "reasoning-delta",
        "tool-call-delta",
        "usage",
        "finish",
    }
    stream = as_object(reading.log.event(row.row).data).get("stream")
    kinds = {as_text(chunk.get("type")) for _, chunk in expand(stream)} - known
    if not kinds:
        return []
    return [
        (tr.t("Unknown stream records"), tr.join(sorted(name_text(kind) or "?" for kind in kinds)), "unknown")
    ]


def _usage(used: RowUsage, tr: Translator) -> list[Fact]:
    total = used.input + used.cache_read + used.cache_write + used.output
    output = tr.number(used.output)
    if used.reasoning:
        output = tr.t("{output} (reasoning {reasoning})", output=output, reasoning=tr.number(used.reasoning))
    share = cache_share(used.input, used.cache_read, used.cache_write)
    return [
        (tr.t("Tokens"), tr.number(total), "text"),
        (tr.t("Uncached input"), tr.number(used.input), "text"),
        (tr.t("Cached input"), tr.number(used.cache_read), "text"),
        (tr.t("Cache written"), tr.number(used.cache_write) if used.cache_write else "", "text"),
        (tr.t("Output"), output, "text"),
        (tr.t("Cache hit"), tr.percent(share) if share is not None else "", "text"),
    ]


def _tool(reading: Reading, row: TrajectoryRow, tr: Translator) -> list[Fact]:
    if row.kind != "tool":
        return []
    facts: list[Fact] = [
        (tr.t("Tool"), tool_text(tr, row.title), "tool"),
        (tr.t("Name"), name_text(row.title), "text"),
        (tr.t("Call"), name_text(row.call_id or ""), "text"),
        (tr.t("Called by"), name_text(row.parent_call_id or ""), "text"),
        (tr.t("Asked for in"), _asked_in(reading, row, tr), "text"),
    ]
    end = reading.trajectory.index.ends[row.index]
    error = as_object(as_object(reading.log.event(end).data).get("error")) if end >= 0 else {}
    told = " · ".join(
        name_text(as_text(error.get(key))) for key in ("name", "code") if as_text(error.get(key))
    )
    facts.append((tr.t("Error"), told, "error"))
    if row.parent_call_id is None and row.seq is not None:
        state, seq = reading.tools.availability(row.title, row.seq)
        place = "" if seq is None else f" ({tr.t('seq {seq}', seq=seq)})"
        words = {
            "active": (tr.t("offered") + place, "text"),
            "removed": (tr.t("had been removed") + place, "warning"),
            "not-yet": (tr.t("came only later") + place, "warning"),
            "unknown": (tr.t("never offered"), "warning"),
        }
        facts.append((tr.t("Availability"), *words[state]))
    return facts


def _asked_in(reading: Reading, row: TrajectoryRow, tr: Translator) -> str:
    """The answer that asked for a call, by its number."""
    columns = reading.trajectory.index
    for found in range(row.index - 1, max(-1, row.index - 500), -1):
        if columns.kinds[found] == RowKind.ASSISTANT:
            return tr.t("seq {seq}", seq=reading.log.seq(columns.rows[found]))
    return ""


def _failure(reading: Reading, row: TrajectoryRow, tr: Translator) -> list[Fact]:
    data = as_object(reading.log.event(row.row).data)
    reason = as_object(data.get("reason"))
    failure = as_object(data.get("failure")) or as_object(reason.get("error"))
    facts: list[Fact] = []
    if row.error_code and row.kind != "tool":
        facts.append((tr.t("Code"), name_text(row.error_code), "error"))
        facts.append((tr.t("Reason"), cause_text(tr, row.error_code), "text"))
    if row.kind not in ("retry", "failure"):
        return facts
    facts += [
        (tr.t("Message"), _line(failure.get("message")), "error"),
        (tr.t("HTTP status"), _count(failure.get("status")), "text"),
        (tr.t("Request id"), _line(failure.get("requestId")), "text"),
    ]
    if row.kind == "retry":
        limit = as_count(data.get("maxRetries"))
        retry = as_count(data.get("retry")) or 0
        told = tr.t("{n} of {max}", n=retry, max=limit) if limit is not None else str(retry)
        delay = data.get("delayMs")
        facts.append((tr.t("Retry"), told, "text"))
        facts.append((tr.t("Wait"), tr.duration(delay) if isinstance(delay, int | float) else "", "text"))
    return facts


def _line(value: Any) -> str:
    from tui.blocks.clean import clean_line

    return clean_line(as_text(value)[:20_000])


def _count(value: Any) -> str:
    count = as_count(value)
    return "" if count is None else str(count)


def header_facts(notice: HeaderNotice, tr: Translator) -> list[Fact]:
    """What a request header says and changes."""

    def names(found: tuple[str, ...]) -> str:
        by_server: dict[str, list[str]] = {}
        for name in found:
            server, own = tool_name(name)
            by_server.setdefault(server, []).append(name_text(own))
        told = [
            tr.t("{server}: {tools}", server=name_text(server), tools=tr.join(own))
            if server
            else tr.join(own)
            for server, own in by_server.items()
        ]
        return " · ".join(told)

    return [
        (tr.t("Route"), " · ".join(name_text(p) for p in (notice.provider, notice.model) if p), "text"),
        (tr.t("Written because"), name_text(notice.reason), "text"),
        (tr.t("Active tools"), tr.number(notice.tool_count), "text"),
        (tr.t("Added"), names(notice.added), "added"),
        (tr.t("Removed"), names(notice.removed), "removed"),
        (tr.t("Redefined"), names(tuple(line.name for line in notice.redefined)), "redefined"),
        (tr.t("Order"), tr.t("changed") if notice.reordered else "", "text"),
        (tr.t("Settings"), tr.join([setting_name(tr, key) for key in notice.config_changed]), "text"),
        (tr.t("Series"), series_text(tr, notice.series_cause) if notice.series_cause else "", "text"),
    ]
