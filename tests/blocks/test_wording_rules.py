"""Every rule of the format that a log can break has a sentence in both languages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tui.blocks.wording_reasons import reason_text
from tui.i18n import translator

EN, ZH = translator("en"), translator("zh")
MODULES = sorted((ROOT / "tui" / "session").glob("rule*.py"))


def sentences(module: Path) -> Iterator[str]:
    """The sentences that a module refuses events with; what is filled in stands as a number."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in {"refuse", "LogRuleError"}:
            continue
        for argument in node.args:
            if isinstance(argument, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "7" for part in argument.values)
                yield "".join(map(str, parts))
            elif isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_every_sentence_of_a_rule_is_told_in_chinese(module: Path) -> None:
    told = {sentence: reason_text(ZH, sentence) for sentence in sentences(module) if " " in sentence}
    assert [sentence for sentence, chinese in told.items() if chinese == sentence] == []


def test_there_are_rules_to_look_at() -> None:
    assert sum(len(list(sentences(module))) for module in MODULES) > 60


def test_what_a_sentence_names_is_kept() -> None:
    assert reason_text(ZH, "the call c-{1} has no result") == "调用 c-{1} 没有结果"
    assert reason_text(ZH, "event 14 follows 10: 3 numbers are missing") == "事件 10 之后是 14：缺少 3 个序号"
    assert reason_text(EN, "step 1.2 is not open") == "step 1.2 is not open"
    assert reason_text(ZH, "something else entirely") == "something else entirely"
