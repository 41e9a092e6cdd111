"""Exports of the bug cases: nothing gives orders, nothing is lost, every file is well formed."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.support.contract import faults
from tests.support.exports import (
    FORMATS,
    ORDERS,
    PANES,
    TEXT_FORMATS,
    case_log,
    exported,
    logs_below,
)

# fmt: off
TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "section", "h1", "h2", "h3", "h4",
    "h5", "h6", "dl", "dt", "dd", "p", "div", "span", "small", "a", "pre", "code", "em", "strong", "s", "ul",
    "ol", "li", "i", "b", "table", "thead", "tbody", "tr", "th", "td", "blockquote", "br", "hr", "details",
    "summary",
}
# fmt: on
# fmt: off
ATTRIBUTES = {
    "class", "id", "href", "rel", "lang", "charset", "name", "content", "http-equiv", "start", "style",
    "title",
}
# fmt: on
VOID = {"meta", "br", "hr"}
CASES = ["B07", "B08", "B10", "B13", "B16", "B17"]


class Page(HTMLParser):
    """Notes what a page is made of, and whether its tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text)
        self.close()
        self.unbalanced += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def all_logs(shared: Path) -> list[Path]:
    folders = [next((shared / "bugs" / "cases").glob(f"{case}-*")) for case in CASES]
    return [log for folder in folders for log in logs_below(folder / "home")]


def marked(markdown: str) -> list[Any]:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown)


@pytest.mark.parametrize("form", TEXT_FORMATS)
@pytest.mark.parametrize("view", PANES)
def test_no_export_gives_orders_to_a_terminal(shared: Path, view: str, form: str) -> None:
    for log in all_logs(shared):
        found = ORDERS.search(exported(log, view, form))
        assert found is None, f"{log.parent.name}: {found!r}"


@pytest.mark.parametrize("view", PANES)
def test_a_json_export_holds_orders_only_as_escapes(shared: Path, view: str) -> None:
    log = case_log(shared, "B16")
    written = exported(log, view, "json")
    assert ORDERS.search(written) is None
    if view == "chat":
        results = [node["result"] for node in json.loads(written)["nodes"] if "result" in node]
        assert any("\x1b[2J" in result for result in results)
    for node in json.loads(written)["nodes" if view == "chat" else "rows"]:
        assert ORDERS.search(node["text"]) is None


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("view", PANES)
def test_every_export_is_valid_utf_8_and_half_an_emoji_is_a_replacement_character(
    shared: Path, view: str, form: str
) -> None:
    written = exported(case_log(shared, "B13"), view, form)
    assert "\ufffd" in written.encode("utf-8", "strict").decode("utf-8")
    if view == "chat":
        # A pair of halves stays one character.
        assert "\U0001f525" in written


@pytest.mark.parametrize("view", PANES)
def test_html_runs_and_loads_nothing(shared: Path, view: str) -> None:
    for log in all_logs(shared):
        page = Page(exported(log, view, "html"))
        assert page.tags <= TAGS
        assert {name for name, _ in page.attributes} <= ATTRIBUTES
        addresses = [value or "" for name, value in page.attributes if name == "href"]
        assert all(re.match(r"https?://|mailto:|#seq-\d+$", address) for address in addresses)
        assert page.unbalanced == []


def test_html_shows_markup_of_the_session_as_text(shared: Path) -> None:
    page = Page(exported(case_log(shared, "B16"), "chat", "html"))
    for shown in ("<script>alert(1)</script>", "[red]not red[/red]", "[@click=app.quit]press[/]"):
        assert shown in page.text


@pytest.mark.parametrize("view", PANES)
def test_svg_is_well_formed_and_has_only_shapes_and_text(shared: Path, view: str) -> None:
    for log in all_logs(shared):
        picture = ElementTree.fromstring(exported(log, view, "svg"))
        tags = {element.tag.rpartition("}")[2] for element in picture.iter()}
        assert tags == {"svg", "title", "style", "rect", "text"}


@pytest.mark.parametrize("view", PANES)
def test_markdown_holds_no_html_and_no_picture(shared: Path, view: str) -> None:
    for log in all_logs(shared):
        tokens = marked(exported(log, view, "md"))
        inside = [child for token in tokens for child in token.children or []]
        assert not [t.content for t in (*tokens, *inside) if t.type in ("html_block", "html_inline", "image")]


def test_fences_are_longer_than_any_fence_inside(shared: Path) -> None:
    payloads = json.loads((case_log(shared, "B16").parents[4] / "payloads.json").read_text(encoding="utf-8"))
    tokens = marked(exported(case_log(shared, "B16"), "chat", "md"))
    fenced = [token.content for token in tokens if token.type == "fence"]
    assert any(payloads["fence"] in content for content in fenced)
    # No heading of ours was swallowed: the last section stands outside of every fence.
    assert tokens[-1].type in ("fence", "paragraph_close", "bullet_list_close", "heading_close")
    assert not any("### `" in content for content in fenced)


def test_an_unterminated_sequence_hides_nothing(shared: Path) -> None:
    for form in TEXT_FORMATS:
        written = exported(case_log(shared, "B16"), "chat", form)
        if form != "svg":
            assert "rest of the line must stay readable" in written


@pytest.mark.parametrize("form", ["text", "md", "json", "html"])
def test_huge_texts_are_whole(shared: Path, form: str) -> None:
    written = exported(case_log(shared, "B17"), "chat", form)
    assert "NEEDLE-1" in written and "NEEDLE-2" in written
    assert len(written) > 2_000_000


def test_a_picture_says_what_it_leaves_out(shared: Path) -> None:
    written = exported(case_log(shared, "B17"), "chat", "svg")
    assert len(written) < 2_000_000
    text = "".join(ElementTree.fromstring(written).itertext()).replace("\u00a0", " ")
    assert "more rows are not in this picture" in text


@pytest.mark.parametrize("form", ["text", "md", "json", "html", "svg"])
@pytest.mark.parametrize("view", PANES)
def test_unknown_events_are_in_every_export_with_type_and_data(shared: Path, view: str, form: str) -> None:
    written = exported(case_log(shared, "B10"), view, form).replace("\u00a0", " ")
    if form == "svg":
        written = "".join(ElementTree.fromstring(written).itertext())
    plain = written.replace("\\_", "_")
    assert "lantern-plugin/verdict" in plain and "lantern-plugin/ping" in plain
    assert "ember" in plain and "verdict" in plain


def test_unknown_content_blocks_and_turn_reasons_are_shown_in_their_place(shared: Path) -> None:
    written = exported(case_log(shared, "B10"), "chat", "text")
    assert "plugin:lantern/card" in written and "postponed" in written


def test_an_unmarked_unknown_event_is_a_row_and_damage_and_a_marked_one_only_a_row(shared: Path) -> None:
    document = json.loads(exported(case_log(shared, "B10"), "chat", "json"))
    unknown = {node["type"]: node for node in document["nodes"] if node["kind"] == "unknown"}
    assert unknown["lantern-plugin/verdict"]["ignorable"] is False
    assert unknown["lantern-plugin/ping"]["ignorable"] is True
    assert unknown["lantern-plugin/verdict"]["data"] == {"turn": 2, "verdict": "ember", "score": 0.5}
    (damage,) = [d for d in document["session"]["damage"] if d["code"] == "unknown-event"]
    assert "lantern-plugin/verdict" in damage["reason"]


@pytest.mark.parametrize(
    ("home", "code"), [("closers-then-live", "seq-repeat"), ("replayed", "seq-rewind"), ("hole", "seq-hole")]
)
def test_numbers_out_of_order_are_named_with_line_and_numbers_and_nothing_is_dropped(
    shared: Path, home: str, code: str
) -> None:
    log = case_log(shared, "B07", home)
    document = json.loads(exported(log, "trajectory", "json"))
    lines = log.read_text(encoding="utf-8").splitlines()
    first = document["session"]["damage"][0]
    assert (
        first["code"] in (code, "seq-rewind", "seq-repeat") if code != "seq-hole" else first["code"] == code
    )
    # The place is the first line whose number is not the one after the line before.
    numbers = [json.loads(line)["seq"] for line in lines[1:]]
    at = next(at for at in range(1, len(numbers)) if numbers[at] != numbers[at - 1] + 1)
    assert first["line"] == at + 2
    assert str(numbers[at]) in first["reason"]
    assert document["session"]["events"] == len(numbers)
    for sentence in (exported(log, view, "text") for view in PANES):
        assert f"line {at + 2}" in sentence


@pytest.mark.parametrize("case", ["B07", "B08", "B10", "B13", "B16", "B17"])
def test_documents_of_damaged_and_hostile_logs_keep_the_contract(shared: Path, case: str) -> None:
    (folder,) = (shared / "bugs" / "cases").glob(f"{case}-*")
    for log in logs_below(folder / "home"):
        for view in ("chat", "trajectory", "tools"):
            assert faults(json.loads(exported(log, view, "json")), view) == []


@pytest.mark.parametrize(
    ("home", "code"),
    [
        ("zstd-cut", "torn-tail"),
        ("plain-cut", "torn-tail"),
        ("bad-middle", "bad-frame"),
        ("trailing-garbage", "trailing-bytes"),
    ],
)
def test_what_is_whole_of_a_cut_log_is_exported_and_the_cut_is_told(
    shared: Path, home: str, code: str
) -> None:
    log = case_log(shared, "B08", home)
    document = json.loads(exported(log, "chat", "json"))
    damage = [entry for entry in document["session"]["damage"] if entry["code"] == code]
    assert damage
    assert document["session"]["events"] > 0
    assert any(node["kind"] == "damage" for node in document["nodes"]) or code != "bad-frame"
    if log.suffix == ".zstd":
        assert all("frame_offset" in entry for entry in damage)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_torn_recordings_that_open_keep_the_contract(shared: Path, lang: str) -> None:
    from tui.session.errors import SessionUnreadable

    refused: set[str] = set()
    for log in logs_below(shared / "recordings" / "torn"):
        if "after-resume" in log.name:
            continue
        try:
            found = {view: faults(json.loads(exported(log, view, "json", lang)), view) for view in PANES}
        except SessionUnreadable as error:
            refused.add(error.code)
            continue
        assert found == {view: [] for view in PANES}, log
    assert refused <= {"empty-file", "no-header", "newer-format", "bad-header", "not-a-session"}
