"""Trajectory rows in one line each: columns, what gives way, what marks a row."""

from __future__ import annotations

import pytest

from tests.support.nodes import RECORDINGS, notice, reading_of, tool_line
from tui.blocks.cells import cell_len
from tui.blocks.chat_layout import Layout
from tui.blocks.text import MODIFIERS, ROLES, Line, plain
from tui.blocks.trajectory_layout import columns_of, row_line, row_mark, turn_rule
from tui.i18n import translator
from tui.nodes.trajectory import RowUsage, TrajectoryRow, trajectory_row
from tui.nodes.turns import Turn

EN, ZH = translator("en"), translator("zh")


def layout(width: int, tr=EN, **more) -> Layout:
    return Layout(width=width, tr=tr, expanded=False, **more)


def row(kind: str = "tool", title: str = "mcp__saltmarsh__read_gauge", **facts) -> TrajectoryRow:
    known = {"index": 4, "row": 12, "seq": 12, "turn": 1, "step": 1, "type": "tool/call", "status": "ok"}
    return TrajectoryRow(**{**known, "kind": kind, "title": title, **facts})


def drawn(one: TrajectoryRow, width: int = 80, tr=EN) -> str:
    return plain(row_line(one, layout(width, tr)))


def test_a_row_has_number_kind_title_outcome_duration_and_tokens() -> None:
    call = row(gist='{"bed": "fern"}', duration_ms=21)
    title = "   12 ▪ tool       saltmarsh · read_gauge  bed=fern"
    assert drawn(call) == title.ljust(59) + "✓" + "21 ms".rjust(9) + " " * 11
    used = RowUsage(5, 13, 128, 256)
    answer = row("assistant", "deepseek-flash", gist="Dry.", duration_ms=400, usage=used)
    assert drawn(answer) == "   12 ◆ assistant  Dry.".ljust(60) + "0.4 s".rjust(9) + "402 tok".rjust(11)


def test_numbers_stand_apart_where_the_unit_is_longer() -> None:
    used = RowUsage(0, 99_900, 0, 0)
    answer = row("assistant", "deepseek-flash", gist="Dry.", duration_ms=400, usage=used)
    assert drawn(answer, tr=ZH).endswith(" 99.9k token")
    assert "0.4 秒 " in drawn(answer, tr=ZH)


def test_a_row_without_end_and_numbers_has_the_whole_width_for_its_words() -> None:
    told = row("user", "", gist="word " * 40, status="")
    assert drawn(told).rstrip("…").rstrip()[-1] != " "
    assert len(drawn(told).rstrip()) >= 76


def test_columns_give_way_in_one_order() -> None:
    shown = [columns_of(width, EN) for width in (100, 71, 49, 43, 29)]
    assert [bool(columns.tokens) for columns in shown] == [True, False, False, False, False]
    assert [bool(columns.kind) for columns in shown] == [True, True, False, False, False]
    assert [bool(columns.duration) for columns in shown] == [True, True, True, False, False]
    assert [bool(columns.seq) for columns in shown] == [True, True, True, True, False]


def test_the_columns_of_all_rows_stand_under_each_other() -> None:
    reading = reading_of("many-tools-changed")
    lines = [
        row_line(trajectory_row(reading, n), layout(80, tr))
        for n in range(len(reading.trajectory.index))
        for tr in (EN, ZH)
    ]
    assert {line.cells for line in lines} == {80}


def test_header_and_notice_of_one_change_read_differently_in_both_languages() -> None:
    reading = reading_of("many-tools-changed")
    rows = [trajectory_row(reading, n) for n in range(len(reading.trajectory.index))]
    header = next(row for row in rows if row.seq == 27)
    told = next(row for row in rows if row.seq == 28)
    assert "◇ header     tools 5 → 14 · +12 −3" in drawn(header)
    assert "⊕ change     Tools changed · 12 added, 3 removed" in drawn(told)
    assert "◇ 请求头     工具 5 → 14 · +12 −3" in drawn(header, tr=ZH)
    assert "⊕ 工具变更   工具变更 · 新增 12 个，移除 3 个" in drawn(told, tr=ZH)


def test_a_tool_change_is_coloured_and_a_failed_row_red() -> None:
    changed = row("context", "tool-registry", tool_notice=notice((tool_line("a"),)))
    failed = row(status="error", error_code="UNKNOWN_TOOL", gist="{}")
    assert row_mark(changed) == "tool-change"
    assert any("accent" in span.role for span in row_line(changed, layout(80)).spans)
    assert "UNKNOWN_TOOL ✕" in drawn(failed)
    assert any(span.role == "error" for span in row_line(failed, layout(80)).spans)


def test_a_replaced_row_has_a_mark_and_is_dimmed() -> None:
    line = row_line(row(replaced=True), layout(80))
    assert "╎" in plain(line) and all("dim" in span.role for span in line.spans)


def test_a_nested_call_is_indented() -> None:
    assert "↳ saltmarsh · read_gauge" in drawn(row(parent_call_id="call_1"))


def test_an_answer_of_calls_alone_names_the_tools() -> None:
    told = row("assistant", "m", gist="mcp__saltmarsh__mist, bash", calls=2)
    assert "→ saltmarsh · mist, bash" in drawn(told)


def test_an_attempt_without_an_answer_says_so_with_its_code() -> None:
    told = row("assistant", "attempt", gist="slow down", status="failed", error_code="RATE_LIMIT")
    assert "no answer  slow down" in drawn(told) and "RATE_LIMIT ✕" in drawn(told)


def test_a_turn_rule_has_its_facts_at_the_right() -> None:
    turn = Turn(2, 23, 1000, end_row=30, end_ms=2200, reason="completed", input_tokens=700, output_tokens=300)
    rule = plain(turn_rule(turn, layout(60)))
    assert rule.startswith("─ Turn 2 ───") and rule.endswith("── 1.2 s · 1.0k tok · cache 0%")
    assert cell_len(rule) == 60
    assert plain(turn_rule(turn, layout(60, ZH))).endswith("1.2 秒 · 1.0k token · 缓存命中 0%")


def test_an_open_and_a_failed_turn_say_so_on_their_rule() -> None:
    failed = Turn(3, 1, 0, end_row=9, end_ms=5, reason="error", tool_changes=1)
    assert plain(turn_rule(Turn(3, 1, 0), layout(50))).endswith("not finished")
    assert plain(turn_rule(failed, layout(50))).endswith("⊕ 1 · failed")
    assert plain(turn_rule(failed, layout(22))).endswith(" failed")


def check(line: Line, width: int) -> None:
    assert line.cells == cell_len(plain(line)) <= width
    assert {token for span in line.spans for token in span.role.split()} <= {*ROLES, *MODIFIERS}


@pytest.mark.parametrize("name", sorted(p.name for p in RECORDINGS.iterdir() if p.is_dir()))
@pytest.mark.parametrize("width", [1, 12, 30, 58, 100, 200])
def test_every_row_of_every_recording_fits(name: str, width: int) -> None:
    reading = reading_of(name)
    for index in range(len(reading.trajectory.index)):
        for more in ({}, {"ascii": True}):
            check(row_line(trajectory_row(reading, index), layout(width, ZH, **more)), width)
    for turn in reading.turns.turns:
        check(turn_rule(turn, layout(width)), width)


@pytest.mark.parametrize("text", ["\x1b[2Jx\x07", "[/x][bold]", "漢字🙂" * 40, "\u202ex", "a\nb\rc", ""])
@pytest.mark.parametrize(
    "kind", ["user", "assistant", "tool", "context", "event", "unknown", "failure", "retry"]
)
def test_hostile_text_stays_in_its_row(kind: str, text: str) -> None:
    for status in ("ok", "error", "failed", ""):
        line = row_line(row(kind, text, gist=text, status=status, error_code=text), layout(58))
        check(line, 58)
        assert not any(ord(ch) < 32 or 127 <= ord(ch) < 160 for ch in plain(line))


def test_a_call_keeps_its_server_while_what_it_says_gives_way() -> None:
    call = row(gist='{"bed": "fern", "note": "the one at the north side of the house"}', duration_ms=21)
    assert "saltmarsh · read_gauge  bed=" in drawn(call, 66)
    assert "read_gauge" in drawn(call, 30) and "saltmarsh" not in drawn(call, 30)
