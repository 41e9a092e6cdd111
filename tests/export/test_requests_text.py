"""The requests of a session on paper: what was kept, why no more, and what a tool change costs."""

from __future__ import annotations

import io

import pytest

from tests.support.nodes import reading_of
from tui.export import Export, write_export
from tui.i18n import translator


def exported(name: str, lang: str = "en", first: int = 1) -> list[str]:
    out = io.StringIO()
    write_export(
        out.write, reading_of(name), translator(lang), Export("requests", "text", ascii=False, first=first)
    )
    return [row.strip() for row in out.getvalue().splitlines()]


def section(rows: list[str], title: str) -> list[str]:
    """The rows of one request."""
    start = next(at for at, row in enumerate(rows) if title in row)
    end = next((at for at in range(start + 1, len(rows)) if not rows[at]), len(rows))
    return rows[start:end]


@pytest.mark.parametrize("first", [1, 3])
def test_a_tool_change_says_what_it_costs_on_each_kind_of_route(first: int) -> None:
    rows = section(exported("many-tools-changed", first=first), "request 3 ")
    # On the recorded route nothing of the 767 tokens came from the cache (requests.jsonl of the recording).
    assert any("The provider counted 0 tok from its cache, of 767 tok of input" in row for row in rows)
    (cost,) = [row for row in rows if "Because of this tool change" in row]
    assert "on this route (addition-only)" in cost and "0 tok on in-history" in cost


def test_a_request_that_only_goes_on_says_no_more_than_what_it_kept() -> None:
    assert len(section(exported("many-tools-changed"), "request 2 ")) == 1


def test_it_is_told_in_chinese_too() -> None:
    rows = section(exported("many-tools-changed", "zh"), "请求 3 ")
    assert any("重新读取" in row for row in rows)
