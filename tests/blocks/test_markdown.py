"""Markdown as lines: what CommonMark says is there, in terminal cells; hostile text stays text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.clean import clean
from tui.blocks.markdown import render_markdown
from tui.blocks.text import Line, Span, plain

PLAIN = st.sampled_from(["a", "bc ", "漢字", "\n", "\n\n", " ", ", ", "。", "   \n", "x."])
ROOT = Path(__file__).resolve().parents[2]
PIECES = st.sampled_from(
    [
        *(
            "# ",
            "> ",
            "- ",
            "1. ",
            "  ",
            "    ",
            "\n",
            "\n\n",
            "```",
            "~~~py\n",
            "|a|b|\n|-|-|\n",
            "|",
            "**",
            "*",
            "_",
        ),
        *(
            "`",
            "[x](y)",
            "![",
            "](",
            "<b>",
            "&#x202e;",
            "&zwj;",
            "\\",
            "---",
            "漢字",
            "👩\u200d",
            "👩",
            "\x1b[31m",
        ),
        *("text", "a b", "- [ ] ", "~~", "\t", "====", "&#10;", "\u0301", "<http://a.b>", "[x]: /y"),
    ]
)


def drawn(text: str, width: int = 40) -> list[str]:
    return [plain(row) for row in render_markdown(text, width)]


def spans(text: str) -> list[Span]:
    return [span for row in render_markdown(text, 80) for span in row.spans]


def test_a_heading_shows_its_level_and_one_blank_row_parts_blocks() -> None:
    assert drawn("# One\ntext\n\n\n## Two") == ["# One", "", "text", "", "## Two"]
    assert drawn("One\n===\nTwo\n---") == ["# One", "", "## Two"]


def test_lines_of_a_paragraph_are_joined_and_hard_breaks_kept() -> None:
    assert drawn("one\ntwo  \nthree\\\nfour") == ["one two", "three", "four"]


def test_ideographs_are_joined_without_a_space() -> None:
    assert drawn("漢字\nかな *x*") == ["漢字かな x"]
    assert drawn("plain\ntext\n\n漢字\nかな") == ["plain text", "", "漢字かな"]


def test_emphasis_is_told_by_modifiers() -> None:
    assert spans("a **b *c*** ~~d~~ `e`") == [
        Span("a "),
        Span("b ", "text bold"),
        Span("c", "text bold italic"),
        Span(" "),
        Span("d", "text strike"),
        Span(" "),
        Span("e", "code"),
    ]


def test_a_link_shows_where_it_leads_unless_its_text_says_so() -> None:
    assert drawn("[docs](https://a.example/x) <https://b.example>") == [
        "docs (https://a.example/x)",
        "https://b.example",
    ]
    assert drawn("<me@a.example>") == ["me@a.example"]
    assert drawn("![a lamp](lamp.png)") == ["▣ a lamp (lamp.png)"]


def test_a_tight_list_has_no_blank_rows_and_nested_lists_are_indented() -> None:
    assert drawn("- one\n- two\n  - three\n    1. four\n    2. five\n- six") == [
        "• one",
        "• two",
        "  ◦ three",
        "    1. four",
        "    2. five",
        "• six",
    ]


def test_a_loose_list_keeps_its_blank_rows_and_its_numbers() -> None:
    assert drawn("9. nine\n\n   more\n\n10) ten\n11) eleven") == [
        "9. nine",
        "",
        "   more",
        "",
        "10) ten",
        "11) eleven",
    ]


def test_items_wrap_below_their_text() -> None:
    assert drawn("10. one two three\n    - four five six", 15) == [
        "10. one two",
        "    three",
        "    ◦ four five",
        "      six",
    ]


def test_empty_items_keep_their_marks() -> None:
    assert drawn("-\n- a") == ["• ", "• a"]


def test_tasks_show_whether_they_are_done() -> None:
    assert drawn("- [ ] open\n- [x] done\n- [y] text") == ["☐ open", "☑ done", "• [y] text"]


def test_a_quote_has_a_bar_on_each_row() -> None:
    assert drawn("> one two\n>\n> > three\n>\n> - a\n> - b\n\nend", 12) == [
        "│ one two",
        "│",
        "│ │ three",
        "│",
        "│ • a",
        "│ • b",
        "",
        "end",
    ]


def test_a_list_in_a_quote_in_a_list_keeps_its_bars() -> None:
    assert drawn("- > quoted\n  > text\n- b") == ["• │ quoted text", "• b"]


def test_a_rule_is_as_wide_as_its_place() -> None:
    assert drawn("a\n\n---\n> ***", 10) == ["a", "", "─" * 10, "", "│ " + "─" * 8]


def test_a_table_is_drawn_in_boxes_with_its_alignment() -> None:
    assert drawn("| A | B | C |\n|:--|--:|:-:|\n| 漢字 | 1 | x |\n| c | `20` | xyz |") == [
        "┌──────┬────┬─────┐",
        "│ A    │  B │  C  │",
        "├──────┼────┼─────┤",
        "│ 漢字 │  1 │  x  │",
        "│ c    │ 20 │ xyz │",
        "└──────┴────┴─────┘",
    ]


def test_a_table_in_a_narrow_place_is_a_list() -> None:
    text = "| name | what |\n|-|-|\n| lantern | lights the way |"
    assert drawn(text, 14) == ["name: lantern", "what: lights", "  the way"]


def test_code_keeps_its_spaces_and_its_markup() -> None:
    text = "```python\ndef f():\n    return '**x**'\n\n```\n\n    indented *code*"
    assert drawn(text) == ["  def f():", "      return '**x**'", "", "", "  indented *code*"]
    assert Span("def ", "code-keyword") in spans(text)


def test_an_open_fence_shows_what_is_there() -> None:
    assert drawn("```\nnot closed") == ["  not closed"]


def test_code_in_an_item_stands_below_its_text() -> None:
    assert drawn("- run\n  ```\n  make\n  ```\n- b") == ["• run", "    make", "• b"]


def test_html_shows_as_it_was_written() -> None:
    assert drawn("<script>alert(1)</script>") == ["<script>alert(1)</script>"]
    assert drawn("a <b>*c*</b> <!-- d -->") == ["a <b>c</b> <!-- d -->"]


def test_square_brackets_are_no_markup() -> None:
    assert drawn("[red]not red[/red] [/] [@click=app.quit]press[/] [") == [
        "[red]not red[/red] [/]",
        "[@click=app.quit]press[/] [",
    ]


def test_entities_cannot_spell_what_the_gate_removes() -> None:
    assert drawn("a&#x202e;b &#x1b;[2J &#173;c &shy;d&#10;e&zwj;f") == ["ab \ufffd[2J c d ef"]


def test_definitions_alone_show_as_they_were_written() -> None:
    assert drawn("[lamp]: https://a.example") == ["[lamp]: https://a.example"]


def test_what_is_nested_too_deep_shows_as_plain_text() -> None:
    text = ">" * 300 + " the end"
    assert "".join(drawn(text)).replace(" ", "") == ">" * 300 + "theend"


def test_blank_text_is_no_lines() -> None:
    assert drawn(" \n\n \n") == []


def test_rows_are_bounded() -> None:
    text = "# a\n\n" + "- item\n" * 1000
    assert [plain(row) for row in render_markdown(text, 40, max_rows=3)] == ["# a", "", "• item"]


def test_the_role_of_plain_text_can_be_given() -> None:
    assert render_markdown("plain", 40, role="user") == [Line((Span("plain", "user"),), 5)]
    assert render_markdown("*a* b", 40, role="user")[0].spans == (
        Span("a", "user italic"),
        Span(" b", "user"),
    )


@settings(max_examples=600, deadline=None)
@given(
    st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=25).map("".join),
    st.integers(3, 50),
    st.integers(1, 4),
)
def test_any_text_is_drawn_within_its_width(text: str, width: int, max_rows: int) -> None:
    rows = render_markdown(text, width)
    for row in rows:
        assert (
            row.cells
            == rich_cell_len(plain(row))
            == sum(rich_cell_len(span.text) for span in row.spans)
            <= width
        )
        assert clean(plain(row)) == plain(row)
    assert render_markdown(text, width, max_rows=max_rows) == rows[:max_rows]
    assert bool(rows) == bool(clean(text).strip())


@settings(max_examples=400, deadline=None)
@given(
    st.lists(PLAIN, max_size=25).map("".join),
    st.integers(3, 50),
)
def test_text_without_markup_is_drawn_as_the_parser_would(text: str, width: int) -> None:
    by_parser = drawn(f"{text}\n\n*end*", width)[:-2]
    assert drawn(text, width) == by_parser


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "![",
        "*a ",
        "a**b",
        "`x ",
        ">",
        "> a\n",
        "- ",
        "|",
        "<a ",
        "&",
        "\\",
        "[a](b",
        "[a][b] ",
        "~~a",
        "1. a\n",
    ],
)
def test_markup_without_end_costs_no_more_than_its_length(piece: str) -> None:
    # Looking from each piece to the end needs minutes here; the suite's own time limit is what fails.
    text = piece * (60_000 // len(piece))
    assert render_markdown(text, 80, max_rows=40)
    assert render_markdown(text, 80)


def test_text_without_markup_never_loads_the_parser() -> None:
    program = (
        "import sys\n"
        "from tui.blocks.markdown import render_markdown\n"
        "render_markdown('plain words, over\\ntwo lines', 40)\n"
        "heavy = {'markdown_it', 'pygments', 'rich', 'textual'}\n"
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
