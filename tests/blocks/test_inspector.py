"""The inspector: the tabs of a row, its facts, its events as recorded, what a header changed by tool."""

from __future__ import annotations

import pytest

from tests.support.nodes import RECORDINGS, reading_of
from tui.blocks.cells import cell_len
from tui.blocks.chat_layout import Layout
from tui.blocks.inspector import inspect, tabs_of
from tui.blocks.text import MODIFIERS, ROLES, plain
from tui.blocks.trajectory_layout import row_line
from tui.i18n import Translator, translator
from tui.nodes.reading import Reading
from tui.nodes.trajectory import trajectory_row

EN, ZH = translator("en"), translator("zh")


def at(reading: Reading, seq: int) -> int:
    row = reading.log.row_of_seq(seq)
    assert row is not None
    index = reading.trajectory.index.exactly(row)
    assert index is not None
    return index


def shown(reading: Reading, seq: int, tab: str, width: int = 80, tr=EN) -> list[str]:
    return [plain(row).rstrip() for row in inspect(reading, at(reading, seq), tab, Layout(width, tr, True))]


def fact(rows: list[str], label: str) -> str:
    return next((row[len(label) :].strip() for row in rows if row.startswith(f"{label} ")), "")


def test_tabs_are_only_where_they_say_something() -> None:
    reading = reading_of("many-tools-changed")
    assert tabs_of(reading, at(reading, 12)) == ("summary", "preview", "raw")
    assert tabs_of(reading, at(reading, 7)) == ("summary", "raw", "tools")
    assert tabs_of(reading, at(reading, 27)) == ("summary", "raw", "diff", "tools")
    assert tabs_of(reading, at(reading, 4)) == ("summary", "preview", "raw", "diff")
    assert tabs_of(reading, at(reading, 9)) == ("summary", "raw")


def test_the_summary_of_a_call_links_call_result_answer_and_availability() -> None:
    rows = shown(reading_of("many-tools-changed"), 31, "summary")
    assert fact(rows, "Seq") == "call 31 · result 32"
    assert fact(rows, "Name") == "mcp__saltmarsh__count_moths"
    assert fact(rows, "Tool") == "count_moths (saltmarsh)"
    assert fact(rows, "Asked for in") == "seq 30"
    assert fact(rows, "Availability") == "offered (seq 28)"


def test_the_summary_of_an_answer_splits_time_and_tokens() -> None:
    reading = reading_of("many-tools-changed")
    rows = shown(reading, 11, "summary")
    usage = reading.log.event(11).data["usage"]
    assert fact(rows, "Request") == "#1"
    assert fact(rows, "Uncached input") == str(usage["inputTokens"])
    assert fact(rows, "Cached input") == str(usage["cacheReadTokens"])
    assert fact(rows, "Output") == str(usage["outputTokens"])
    assert fact(rows, "Time").endswith(f"(Unix {reading.log.event(11).time})")
    assert f".{reading.log.event(11).time % 1000:03d} " in fact(rows, "Time")


def test_the_summary_of_a_failure_has_the_whole_message() -> None:
    rows = shown(reading_of("rejected-update"), 38, "summary", 200)
    assert (
        fact(rows, "Message") == "messages.7.content.0: tool_addition: unexpected block type for this model"
    )
    assert fact(rows, "HTTP status") == "400"
    assert fact(rows, "Code") == "INVALID_REQUEST"


def test_the_preview_of_a_call_has_pretty_arguments_and_the_result() -> None:
    rows = shown(reading_of("many-tools-changed"), 12, "preview")
    assert rows == [
        "arguments",
        "  {",
        '    "bed": "fern"',
        "  }",
        "",
        "result",
        '  read_gauge got {"bed": "fern"}',
    ]


def test_raw_shows_call_and_result_as_recorded() -> None:
    rows = shown(reading_of("many-tools-changed"), 12, "raw")
    heads = [row for row in rows if row.startswith("tool/")]
    assert [head.rsplit(" · ", 1)[0] for head in heads] == ["tool/call · seq 12", "tool/result · seq 13"]
    assert '  "type": "tool/result",' in rows


def test_a_diff_tells_added_and_removed_tools_one_by_one() -> None:
    rows = shown(reading_of("many-tools-changed"), 27, "diff")
    titles = [row.split("  ")[0] for row in rows if row.startswith(("+ ", "− ", "≠ "))]
    assert rows[0] == "compared with header 7"
    assert len([title for title in titles if title.startswith("+ ")]) == 12
    assert titles[-3:] == [
        "− saltmarsh · close_vent · removed",
        "− saltmarsh · mist_bed · removed",
        "− saltmarsh · open_vent · removed",
    ]
    assert "  lamp  string, required  lamp" in rows


def test_the_tools_of_a_header_mark_what_is_new() -> None:
    rows = shown(reading_of("many-tools-changed"), 27, "tools")
    titles = [row.split("  ")[0] for row in rows if "saltmarsh · " in row]
    assert rows[0] == "14 tools" and len(titles) == 14
    assert sum(title.endswith("· added") for title in titles) == 12
    assert "▪ saltmarsh · read_gauge" in titles


def test_the_first_prompt_has_nothing_before_it() -> None:
    rows = shown(reading_of("many-tools-changed"), 4, "diff")
    assert rows[0] == "There is no system prompt before this one."
    assert rows[2].startswith("+ You are Orrery")


@pytest.mark.parametrize("name", sorted(p.name for p in RECORDINGS.iterdir() if p.is_dir()))
def test_every_tab_of_every_row_fits_in_any_width(name: str) -> None:
    reading = reading_of(name)
    for index in range(len(reading.trajectory.index)):
        for tab in tabs_of(reading, index):
            for width in (9, 60):
                for row in inspect(reading, index, tab, Layout(width, ZH, True)):
                    assert row.cells == cell_len(plain(row)) <= width
                    assert {t for span in row.spans for t in span.role.split()} <= {*ROLES, *MODIFIERS}


@pytest.mark.parametrize(("tr", "word"), [(EN, "change"), (ZH, "工具变更")])
def test_the_inspector_calls_a_tool_change_what_the_ledger_calls_it(tr: Translator, word: str) -> None:
    reading = reading_of("many-tools-changed")
    index = at(reading, 28)
    around = Layout(width=80, tr=tr, expanded=True)
    assert plain(inspect(reading, index, "summary", around)[0]).split()[1] == word
    assert f" {word} " in plain(row_line(trajectory_row(reading, index), around))
