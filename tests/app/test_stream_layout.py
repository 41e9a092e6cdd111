"""Markdown that arrives in pieces stands there, at the end, as if it had come at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.app.stream_layout import LONG, StreamLayout
from tui.app.stream_text import CleanLines, PlainRows
from tui.blocks.clean import clean
from tui.blocks.code import highlight_code
from tui.blocks.markdown import render_markdown
from tui.blocks.text import Line, plain
from tui.blocks.wrap import wrap_bounded

BLOCKS = (
    "A paragraph with **bold**, `code`\nand a second line.\n\n",
    "# A heading\n\n",
    "- one\n- two\n  - three\n\n",
    "1. first\n\n2. second\n\n   more of it\n\n",
    "```python\ndef moss():\n    return 1\n\nfern = 2\n```\n\n",
    "> a quote\n> goes on\n\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "---\n\n",
    "    indented\n    code\n\n",
    "苔藓长得很慢。这一段没有换行，只有一句接一句。\n\n",
    "- item\n\n  ```js\n  let x = 1\n\n  y\n  ```\n- next\n\n",
    "heading\n===\n\n",
    "words\n- a list right after them\n",
    "\n\n",
    "~~~\n```\nstill the first fence\n~~~\n",
    "1. a list\n\n",
    "2. that goes on\n\n",
)
ENDS = ("", "```\nnever closed\n\nreally", "the last line has no end", "- ", "|---", "**open", "1")


def fed(text: str, width: int, sizes: list[int]) -> list[Line]:
    stream = StreamLayout(width)
    at = turn = 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        stream.feed(text[at : at + size])
        at, turn = at + size, turn + 1
        stream.rows()
    return stream.finish()


@given(
    st.lists(st.sampled_from(BLOCKS), max_size=8).map("".join),
    st.sampled_from(ENDS),
    st.sampled_from([20, 44, 100]),
    st.lists(st.integers(1, 17), min_size=1, max_size=5),
)
@settings(deadline=None, max_examples=150)
def test_what_stands_there_at_the_end_equals_a_fresh_layout(
    text: str, end: str, width: int, sizes: list[int]
) -> None:
    assert fed(text + end, width, sizes) == render_markdown(text + end, width)


@pytest.mark.parametrize(
    "text",
    [
        "some **bold** words and more " * 200,
        "春天的**院子**里，花慢慢开了。" * 300,
        "- an item with `code`\n" * 150,
        "> a quoted line\n" * 150,
        "| a | b |\n|---|---|\n" + "| some | thing |\n" * 150,
        "- item\n\n  ```python\n" + "  x = 1\n\n" * 400 + "  ```\n",
    ],
    ids=["paragraph", "cjk", "list", "quote", "table", "fence in a list"],
)
def test_a_block_that_grows_long_stands_there_whole_at_the_end(text: str) -> None:
    assert len(text) > LONG
    assert fed(text + "\n\nThe end.", 60, [40]) == render_markdown(text + "\n\nThe end.", 60)


def test_an_open_fence_is_plain_and_is_coloured_when_it_closes() -> None:
    stream = StreamLayout(40)
    stream.feed("```python\nreturn 1\n")
    roles = {span.role for row in stream.rows() for span in row.spans}
    assert "code-keyword" not in roles and "code" in roles
    stream.feed("```\n")
    assert "code-keyword" in {span.role for row in stream.rows() for span in row.spans}


def test_words_are_seen_as_soon_as_they_come() -> None:
    stream = StreamLayout(40, indent=2)
    seen: list[str] = []
    for piece in ("# He", "ad\n\nfir", "st words", "\n\n```\ncode", " here"):
        stream.feed(piece)
        seen.append("\n".join(map(plain, stream.rows())))
    assert "He" in seen[0] and "fir" in seen[1] and "first words" in seen[2]
    assert seen[3].endswith("code") and seen[4].endswith("code here")


def test_an_escape_sequence_that_comes_in_two_pieces_is_removed() -> None:
    stream = StreamLayout(40)
    for piece in ("red \x1b", "[31", "mmoss\x1b[0m\r", "\nnext\n"):
        stream.feed(piece)
    assert [plain(row) for row in stream.finish()] == ["red moss next"]


@given(st.text(alphabet="ab \n\t\r\x1b[m界", max_size=120), st.integers(1, 9))
@settings(deadline=None)
def test_lines_are_cleaned_as_if_they_had_come_at_once(text: str, size: int) -> None:
    gate = CleanLines()
    lines: list[str] = []
    for at in range(0, len(text), size):
        lines += gate.feed(text[at : at + size])
    whole = [clean(line) for line in text.split("\n")]
    assert "\n".join([*lines, gate.partial]) == "\n".join(whole)


@pytest.mark.parametrize("folds", [False, True])
def test_a_line_of_any_length_is_laid_out_as_one(folds: bool) -> None:
    text = "moss and fern 苔藓 " * 700
    rows = PlainRows(50, "code", folds=folds)
    for end in range(100, len(text), 97):
        rows.rows(text[:end])
    whole = (
        highlight_code(text, "", 50) if folds else wrap_bounded(text.rstrip(" "), "code", 50, 10_000).lines
    )
    assert [plain(row) for row in rows.rows(text)] == [plain(row) for row in whole]


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Keep the garbage of other tests out of what is measured."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize(
    "text",
    ["word " * 9_000, "```\n" + "x = 1\n" * 8_000, "苔藓长得很慢。" * 6_000],
    ids=["words", "code", "chinese"],
)
def test_the_second_half_costs_what_the_first_half_did(text: str) -> None:
    stream = StreamLayout(80)
    costs: list[float] = []
    for at in range(0, len(text), 120):
        stream.feed(text[at : at + 120])
        begun = process_time()
        stream.rows()
        costs.append(process_time() - begun)
    half = len(costs) // 2
    assert sum(costs[half:]) < 2.5 * sum(costs[:half])
