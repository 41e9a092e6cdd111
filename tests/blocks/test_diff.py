"""Diffs read without colour, show what changed with the lines around it, and are bounded."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len as rich_cell_len

from tui.blocks.diff import count_changes, diff_lines
from tui.blocks.text import Span, plain

LINES = st.lists(st.sampled_from(["a", "b", "c", "漢字", "", "long line of many words"]), max_size=14)


def drawn(old: str, new: str, width: int = 40) -> list[str]:
    return [plain(row) for row in diff_lines(old, new, width)]


def test_changes_stand_between_three_lines_of_context() -> None:
    old = "\n".join("abcdefghijklmnop")
    assert drawn(old, old.replace("b", "B").replace("n", "N\nnn")) == [
        "@@ −1,5 +1,5 @@",
        "  a",
        "− b",
        "+ B",
        "  c",
        "  d",
        "  e",
        "@@ −11,6 +11,7 @@",
        "  k",
        "  l",
        "  m",
        "− n",
        "+ N",
        "+ nn",
        "  o",
        "  p",
    ]


def test_changes_close_together_share_one_place() -> None:
    old = "\n".join("abcdefgh")
    assert sum(row.startswith("@@") for row in drawn(old, old.replace("a", "A").replace("h", "H"))) == 1


def test_text_that_is_new_or_gone_is_all_added_or_removed() -> None:
    assert drawn("", "one\ntwo\n") == ["@@ −0,0 +1,2 @@", "+ one", "+ two"]
    assert drawn("one\n", "") == ["@@ −1,1 +0,0 @@", "− one"]


def test_equal_texts_have_no_diff() -> None:
    assert drawn("same\ntext", "same\ntext\n") == []


def test_signs_have_roles_and_long_lines_hang_below_their_text() -> None:
    rows = diff_lines("", "one two three", 12)
    assert [plain(row) for row in rows[-2:]] == ["+ one two", "  three"]
    assert rows[-2].spans == (Span("+ ", "diff-add"), Span("one two", "diff-add"))


def test_changes_are_counted_as_they_are_shown() -> None:
    assert count_changes("a\nb", "a\nc\nd") == (2, 1)


def test_rows_are_bounded() -> None:
    assert len(diff_lines("", "x\n" * 1000, 40, max_rows=5)) == 5


def test_texts_with_everything_changed_are_one_block_each() -> None:
    old = "\n".join(f"old {at}" for at in range(3000))
    new = "\n".join(f"new {at}" for at in range(3000))
    rows = diff_lines(old, new, 40, max_rows=3002)
    assert plain(rows[3000]) == "− old 2999"
    assert plain(rows[3001]) == "+ new 0"


def test_control_characters_never_reach_a_row() -> None:
    assert drawn("", "a\x1b[2Jb\rc")[1:] == ["+ ab␍", "  c"]


@settings(max_examples=400, deadline=None)
@given(LINES, LINES, st.integers(3, 30))
def test_a_diff_keeps_its_width_and_gives_both_texts_again(
    old: list[str], new: list[str], width: int
) -> None:
    for row in diff_lines("\n".join(old), "\n".join(new), width):
        assert row.cells == rich_cell_len(plain(row)) <= width
    before, after = "\n".join(old), "\n".join(new)
    rows = [plain(row) for row in diff_lines(before, after, 80, context=100)][1:]
    if rows:
        assert [row[2:] for row in rows if not row.startswith("+")] == before.removesuffix("\n").split(
            "\n"
        ) * bool(before)
        assert [row[2:] for row in rows if not row.startswith("−")] == after.removesuffix("\n").split(
            "\n"
        ) * bool(after)
    else:
        assert before.removesuffix("\n") == after.removesuffix("\n")
