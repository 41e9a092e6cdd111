"""The forms that people read: linear text, Markdown, HTML and pictures."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.exports import PANES, exported, recording
from tui.app.themes import DARK as DARK_THEME
from tui.app.themes import LIGHT as LIGHT_THEME
from tui.app.themes import PALETTES
from tui.blocks.cells import cell_len
from tui.blocks.text import ROLES
from tui.export import looks
from tui.export.html import markdown
from tui.export.markdown_export import escaped, fenced, is_active, write_markdown
from tui.export.sections import Front, Markup, Section
from tui.i18n import translator

SVG = "{http://www.w3.org/2000/svg}"


def drawn(path: Path, view: str, lang: str = "en") -> list[list[ElementTree.Element]]:
    """The texts of a picture, row by row."""
    rows: dict[str, list[ElementTree.Element]] = {}
    for element in ElementTree.fromstring(exported(path, view, "svg", lang)).iter(f"{SVG}text"):
        rows.setdefault(element.get("y", ""), []).append(element)
    return list(rows.values())


def shown(row: list[ElementTree.Element]) -> str:
    return " ".join(element.text or "" for element in row).replace("\u00a0", " ")


# -- text


@pytest.mark.parametrize(("lang", "turn"), [("en", "== Turn 2"), ("zh", "== 第 2 轮")])
def test_text_has_headings_for_turns_and_entries(lang: str, turn: str) -> None:
    written = exported(recording("many-tools-changed"), "chat", "text", lang)
    assert turn in written
    assert re.search(r"^\[28\] ", written, re.MULTILINE)


def test_text_shows_every_tool_of_a_change_with_its_description_added_and_removed_apart() -> None:
    for view in PANES:
        written = exported(recording("many-tools-changed"), view, "text")
        added, removed = written.split("  added:\n")[1].split("  removed:\n")
        assert len(re.findall(r"^    \+ mcp__saltmarsh__\w+  \S", added, re.MULTILINE)) == 12
        assert len(re.findall(r"^    − mcp__saltmarsh__\w+  \S", removed, re.MULTILINE)) == 3


def test_a_text_of_the_session_cannot_pass_for_a_heading(tmp_path: Path) -> None:
    written = exported(recording("tool-use"), "chat", "text")
    ours = [line for line in written.splitlines() if line.startswith(("[", "=="))]
    assert ours and all(re.match(r"\[\d+\] |== ", line) for line in ours)


def test_text_of_the_program_is_ascii_when_asked_and_the_session_stays_as_it_is() -> None:
    written = exported(recording("many-tools-changed"), "chat", "text", ascii_only=True)
    assert written.isascii()
    assert "羊歯" in exported(recording("plain-chat"), "chat", "text", ascii_only=True)


def test_the_trajectory_as_text_has_one_line_for_each_record() -> None:
    written = exported(recording("single-tool-added"), "trajectory", "text")
    numbers = [int(number) for number in re.findall(r"^\[(\d+)\] ", written, re.MULTILINE)]
    assert numbers == sorted(set(numbers)) and numbers[0] == 0


@pytest.mark.parametrize(
    ("lang", "told"),
    [("en", "2 lines end in “…” after 400 characters"), ("zh", "2 行在 400 个字符后以“…”截断")],
)
@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_a_line_that_is_cut_says_so_and_where_the_whole_stands(
    tmp_path: Path, form: str, lang: str, told: str
) -> None:
    log = _with_long_records(tmp_path)
    written = exported(log, "trajectory", form, lang)
    assert written.count("…") == 3 and written.count("moss " * 79 + "moss…") == 1
    assert told in written and "`export --format json`" in html.unescape(written.replace("\\", ""))
    assert "…" not in exported(recording("single-tool-added"), "trajectory", form, lang)


def test_the_trajectory_as_json_holds_what_its_lines_cut(tmp_path: Path) -> None:
    rows = json.loads(exported(_with_long_records(tmp_path), "trajectory", "json"))["rows"]
    assert next(row["text"] for row in rows if row["kind"] == "user") == "moss " * 400 + "end"
    found = next(row["text"] for row in rows if row["text"].startswith("turn/end"))
    assert found.endswith("z" * 5_000 + '"}')


def _with_long_records(folder: Path) -> Path:
    """A log with a prompt and a bookkeeping record that are longer than their lines."""
    log = folder / "session.v4.jsonl"
    events = [json.loads(text) for text in recording("single-tool-added").read_text("utf-8").splitlines()]
    prompt = next(event for event in events if event["type"] == "user/message")
    prompt["data"]["content"] = [{"type": "text", "text": "moss " * 400 + "end"}]
    end = next(event for event in events if event["type"] == "turn/end")
    end["data"]["reason"] = {"kind": "completed", "note": "z" * 5_000}
    log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return log


# -- Markdown


@pytest.mark.parametrize(
    "text", ["# no heading", "- no item", "1. no item", "*a* _b_ `c` [d](e) <f> ~g~ \\", "1.2 s"]
)
def test_escaped_text_is_only_text(text: str) -> None:
    from markdown_it import MarkdownIt

    rendered = MarkdownIt("commonmark").enable("strikethrough").render(escaped(text))
    from html import unescape

    assert unescape(re.sub(r"</?p>|\n", "", rendered)) == text


@pytest.mark.parametrize("inside", ["```", "````\nx\n````", "~~~~~~", "a ``` b"])
def test_a_fence_is_longer_than_any_inside(inside: str) -> None:
    fence = next(fenced(inside)).strip()
    assert len(fence) > max(len(run) for run in re.findall(r"`+|~+", inside))


@pytest.mark.parametrize(
    "text",
    [
        "<b>x</b>",
        "<!-- x",
        "<https://a.example>",
        "![x](y)",
        "[x](javascript:y)",
        "[x](&#106;)",
        "a\n[x]: https://y",
    ],
)
def test_answers_that_could_load_or_run_something_are_found(text: str) -> None:
    assert is_active(text)


def test_an_answer_that_could_load_something_stands_in_a_fence_and_an_open_fence_swallows_nothing() -> None:
    from markdown_it import MarkdownIt

    answers = ("see <img src=https://a.example/x>", "```\nnever closed", "<!-- never closed")
    sections = [Section(glyph="assistant", title="Answer", parts=(Markup(text),)) for text in answers]
    pieces: list[str] = []
    write_markdown(pieces.append, Front(title="t", facts=()), sections, translator("en"))
    tokens = MarkdownIt("commonmark", {"html": True}).parse("".join(pieces))
    inline = [child.type for token in tokens for child in token.children or []]
    assert not {"html_block", "html_inline"} & {*inline, *(token.type for token in tokens)}
    assert [token.content for token in tokens if token.type == "inline"] == ["t", *["Answer"] * 3]


def test_ordinary_answers_stay_markdown() -> None:
    assert not is_active("**bold** and `code`\n\n| a | b |\n|---|---|\n| 1 < 2 | [x](https://a.example) |")
    written = exported(recording("plain-chat"), "chat", "md")
    assert "\n> | " in written


# -- HTML


def test_html_is_one_file_with_both_themes() -> None:
    written = exported(recording("plain-chat"), "chat", "html")
    assert "prefers-color-scheme:dark" in written and "@media print" in written
    assert "<script" not in written and "src=" not in written and "@import" not in written
    assert looks.LIGHT["blue"] in written and looks.DARK["blue"] in written


def test_html_renders_the_markdown_of_answers() -> None:
    written = exported(recording("plain-chat"), "chat", "html")
    assert "<table>" in written and 'class="r-code-keyword"' in written


@pytest.mark.parametrize(
    "text",
    [
        "<script>x</script>",
        "![p](https://a.example/p.png)",
        "[x](javascript:alert)",
        "[x](file:///etc/passwd)",
        "[x](&#106;avascript:y)",
        '[x](https://a.example "\\"onclick=y")',
    ],
)
def test_markdown_of_answers_cannot_run_or_load_anything(text: str) -> None:
    made = markdown(text)
    assert not re.search(r"<(script|img)|href=\"(?!https)|\son\w+=", made)


def test_every_turn_and_number_is_an_address_of_the_page() -> None:
    written = exported(recording("many-tools-changed"), "chat", "html")
    assert 'id="seq-28"' in written and 'href="#seq-28"' in written
    assert len(re.findall(r'id="seq-\d+"', written)) == len(set(re.findall(r'id="seq-\d+"', written)))


# -- pictures and colours


@pytest.mark.parametrize("view", PANES)
def test_every_span_is_stretched_to_its_cells(view: str) -> None:
    for row in drawn(recording("plain-chat"), view):
        end = 0.0
        for element in row:
            left, length = float(element.get("x", "")), float(element.get("textLength", ""))
            assert left >= end - 0.11
            assert length == pytest.approx(cell_len(element.text or "") * 8.4, abs=0.06)
            end = left + length


@pytest.mark.parametrize(
    ("lang", "title"),
    [("en", "Tools changed · 12 added, 3 removed"), ("zh", "工具变更 · 新增 12 个，移除 3 个")],
)
@pytest.mark.parametrize("view", PANES)
def test_a_picture_shows_the_notice_and_every_tool(view: str, lang: str, title: str) -> None:
    text = "\n".join(shown(row) for row in drawn(recording("many-tools-changed"), view, lang))
    assert title in text
    assert "count_moths" in text and "close_vent" in text


@pytest.mark.parametrize(
    ("lang", "told"),
    [
        ("en", "{n} bookkeeping records are not in this picture"),
        ("zh", "{n} 条内部记录未画出"),
    ],
)
def test_a_picture_of_the_trajectory_says_how_many_records_it_leaves_out(lang: str, told: str) -> None:
    path = recording("many-tools-changed")
    written = exported(path, "trajectory", "text")
    hidden = len(re.findall(r"^\[\d+\] event: (?!session/title)", written, re.MULTILINE))
    rows = [shown(row) for row in drawn(path, "trajectory", lang)]
    assert rows[-1].startswith(told.format(n=hidden))
    assert not any(
        "bookkeeping" in shown(row) or "内部记录" in shown(row) for row in drawn(path, "chat", lang)
    )


def test_exports_wear_the_colours_of_the_screen() -> None:
    for tones, name in ((looks.DARK, DARK_THEME), (looks.LIGHT, LIGHT_THEME)):
        palette = PALETTES[name]
        assert dict(tones) == {tone: getattr(palette, tone) for tone in tones}


def test_every_role_has_a_tone() -> None:
    plain = {"text", "assistant", "code", "code-name", "todo", "title", "heading", "turn", "match", "cursor"}
    assert {role for role in ROLES if looks.tone(role) == "text"} == plain
