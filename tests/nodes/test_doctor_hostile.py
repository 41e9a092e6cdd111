"""No log ends the doctor or the draft, whatever stands where its texts and numbers should."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.exports import ORDERS
from tests.support.nodes import RECORDINGS
from tui.blocks.doctor_layout import doctor_lines
from tui.blocks.layout import Layout
from tui.blocks.text import plain
from tui.export.recovery import recovery_text
from tui.i18n import translator
from tui.nodes.doctor import examine
from tui.nodes.reading import Reading
from tui.nodes.recovery import draft

VALUES: list[Any] = [None, 0, -1, 1.5, "x", "\ud83d", [], {}, [1], {"a": 1}, True, 10**20, "a\x1b[2J\u202e"]


def spoilt(value: Any, chance: random.Random) -> Any:
    """The value with one place in it replaced or left out."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        if chance.random() < 0.1:
            return {other: kept for other, kept in value.items() if other != key}
        return {**value, key: spoilt(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return [*value[:at], spoilt(value[at], chance), *value[at + 1 :]]
    return chance.choice(VALUES)


@pytest.mark.parametrize("name", ["rejected-update", "retries", "tool-use", "cancel"])
def test_spoilt_recordings_are_examined_and_drafted(name: str, tmp_path: Path) -> None:
    lines = (RECORDINGS / name / "session.v4.jsonl").read_text(encoding="utf-8").splitlines()
    chance = random.Random(name)
    path = tmp_path / "session.v4.jsonl"
    tr = translator("zh")
    for _ in range(40):
        rows = list(lines)
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(1, len(rows))
            rows[at] = json.dumps(spoilt(json.loads(rows[at]), chance))
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        reading = Reading.open(path).read_all()
        shown = doctor_lines(examine(reading), Layout(width=60, tr=tr, expanded=True, full=True))
        assert all(row.cells <= 60 for row in shown)
        said = "\n".join(map(plain, shown)) + recovery_text(draft(reading), tr)
        assert ORDERS.search(said) is None


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("agent/inbox/spliced", {"target": ["next-turn"], "start": 0, "inserted": []}),
        ("request/header", {"reason": [1], "header": {"config": {"provider": "a", "model": "b"}}}),
    ],
)
def test_a_payload_that_no_set_can_hold_is_a_broken_rule(tmp_path: Path, kind: str, data: Any) -> None:
    from tests.support.log_builder import log

    reading = log().turn().event(kind, data).end().read(tmp_path)
    assert "refused-by-dsh" in [finding.code for finding in examine(reading).findings]
