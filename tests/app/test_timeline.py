"""The overview timeline: what stands in its lanes, the mark of the selection, picking."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from time import process_time
from typing import cast

import pytest
from textual.pilot import Pilot

from tests.support.fake_app import DressedApp, surroundings, until
from tui.app.timeline import Timeline
from tui.app.timeline_columns import (
    ASCII_BARS,
    BARS,
    INPUT,
    MODEL,
    TOOLS,
    Column,
    FirstTokens,
    column_at,
    columns_of,
    sampled,
)
from tui.nodes.reading import Reading
from tui.nodes.trajectory import trajectory_row
from tui.nodes.trajectory_index import RowFlag, RowKind

RECORDINGS = Path(__file__).parent.parent / "recordings"


def recording(name: str) -> Reading:
    return Reading.open(RECORDINGS / name / "session.v4.jsonl").read_all()


def columns(reading: Reading, width: int) -> list[Column]:
    """The columns with every first token known."""
    tokens = FirstTokens(reading)
    for at in sampled(columns_of(reading, width, tokens.get), reading.trajectory.index):
        tokens.look(at)
    return columns_of(reading, width, tokens.get)


def lane(found: list[Column], which: int) -> str:
    return "".join(
        "┊" if column.parts_turns else cell.glyph if (cell := column.lanes[which]) else " "
        for column in found
    )


def records(reading: Reading) -> list[int]:
    """Rows that are no bookkeeping."""
    return [
        at for at, kind in enumerate(reading.trajectory.index.kinds) if RowKind(kind).public_name != "event"
    ]


# -- columns


def test_every_record_of_a_short_session_has_a_place_in_its_lane() -> None:
    reading = recording("many-tools-changed")
    found = columns(reading, 60)
    picks = list(dict.fromkeys(column.pick for column in found if not column.parts_turns))
    assert picks == records(reading)
    lanes = {RowKind.USER: INPUT, RowKind.ASSISTANT: MODEL, RowKind.TOOL: TOOLS}
    for column in found:
        if column.parts_turns or (kind := reading.trajectory.index.kinds[column.pick]) not in lanes:
            continue
        lit = [at for at, cell in enumerate(column.lanes) if cell is not None]
        assert lit == [lanes[RowKind(kind)]]


def test_a_tool_change_stands_once_with_its_own_sign() -> None:
    reading = recording("many-tools-changed")
    assert len(reading.tools.changes) == 1
    for width in (36, 60, 120):
        assert lane(columns(reading, width), INPUT).count("⊕") == 1


def test_turns_are_parted_while_they_are_few() -> None:
    reading = recording("rejected-update")
    turns = len(reading.turns.turns)
    assert lane(columns(reading, 100), MODEL).count("┊") == turns - 1
    assert "┊" not in lane(columns(reading, turns * 3), MODEL)


def test_failed_requests_are_seen_where_they_failed() -> None:
    reading = recording("rejected-update")
    found = columns(reading, 60)
    turn, failed = 1, set[int]()
    for column in found:
        turn += column.parts_turns
        cell = column.lanes[MODEL]
        if cell is not None and cell.role == "lane-error":
            assert cell.glyph == "✕"
            failed.add(turn)
    expected = {at + 1 for at, told in enumerate(reading.turns.turns) if told.reason == "error"}
    assert failed == expected and len(expected) == 5


def test_an_answer_shows_the_share_of_waiting_for_its_first_token() -> None:
    reading = recording("tool-use")
    shown = 0
    for column in columns(reading, 120):
        cell = column.lanes[MODEL]
        if cell is None or cell.role != "lane-model":
            continue
        row = trajectory_row(reading, column.pick)
        assert row.ttft_ms is not None and row.duration_ms
        written = 1 - row.ttft_ms / row.duration_ms
        assert cell.above == "lane-ttft"
        assert abs((BARS.index(cell.glyph) + 1) / 8 - written) <= 1 / 8
        shown += 1
    assert shown > 3


def test_an_unknown_first_token_makes_a_plain_full_bar() -> None:
    reading = recording("plain-chat")
    cells = [column.lanes[MODEL] for column in columns_of(reading, 80, lambda at: None)]
    assert {(cell.glyph, cell.above) for cell in cells if cell} == {("█", "")}


@pytest.mark.parametrize("width", [1, 2, 3, 10, 33, 40, 57, 100, 200])
@pytest.mark.parametrize("name", ["retries", "cancel", "plain-chat", "remove-and-restore"])
def test_the_columns_never_exceed_the_width_and_cover_all_rows(name: str, width: int) -> None:
    reading = recording(name)
    found = [column for column in columns(reading, width)]
    assert 0 < len(found) <= width
    covered = {at for column in found for at in range(column.first, column.last)}
    assert covered == set(range(len(reading.trajectory.index)))
    firsts = [column.first for column in found]
    assert firsts == sorted(firsts)


def test_every_glyph_has_an_ascii_form() -> None:
    assert len(ASCII_BARS) == len(BARS)
    for name in ("tool-use", "retries", "cancel", "remove-and-restore"):
        for column in columns(recording(name), 50):
            for cell in column.lanes:
                assert cell is None or (cell.ascii.isascii() and len(cell.ascii) == 1)


def test_a_row_is_found_in_the_column_that_holds_it() -> None:
    reading = recording("retries")
    for width in (40, 60, 200):
        found = columns(reading, width)
        for at in range(len(reading.trajectory.index)):
            place = column_at(found, at)
            assert place is not None
            column = found[place]
            assert not column.parts_turns
            assert column.first <= at < column.last


def test_a_bucket_picks_the_tool_change_in_it() -> None:
    reading = recording("remove-and-restore")
    index = reading.trajectory.index
    changes = [at for at in range(len(index)) if index.flags[at] & RowFlag.TOOL_CHANGE]
    picks = [column.pick for column in columns(reading, 20)]
    assert set(changes) <= set(picks)


def test_a_long_session_is_cut_into_columns_in_a_few_milliseconds(shared: Path) -> None:
    (log,) = (shared / "recordings" / "long" / "sessions").rglob("*.jsonl")
    reading = Reading.open(log).read_all()
    spent: list[float] = []
    for _ in range(5):
        started = process_time()
        found = columns_of(reading, 200, lambda at: None)
        spent.append(process_time() - started)
    assert len(found) == 200
    assert lane(found, INPUT).count("⊕") >= 10
    assert min(spent) < 0.02


# -- the widget


class TimelineApp(DressedApp):
    CSS = DressedApp.CSS + files("tui.app").joinpath("timeline.tcss").read_text("utf-8")

    def on_timeline_picked(self, message: Timeline.Picked) -> None:
        self.heard.append(message.index)


def app_of(reading: Reading, lang: str = "en", *, ascii_only: bool = False) -> TimelineApp:
    def make() -> Timeline:
        timeline = Timeline(surroundings(lang, ascii_only=ascii_only))
        timeline.show(reading)
        return timeline

    return TimelineApp(make)


def texts(app: TimelineApp) -> list[str]:
    timeline = app.query_one(Timeline)
    return [timeline.render_line(y).text for y in range(3)]


def settled(app: TimelineApp) -> Callable[[], bool]:
    """Whether every first token is looked up."""
    return lambda: app.query_one(Timeline)._timer is None


async def test_the_lanes_have_names_and_the_widgets_width() -> None:
    reading = recording("tool-use")
    for lang, names in (("en", ("input", "model", "tools")), ("zh", ("输入", "模型", "工具"))):
        app = app_of(reading, lang)
        async with app.run_test(size=(60, 8)) as pilot:
            await until(pilot, settled(app))
            timeline = app.query_one(Timeline)
            assert timeline.size.height == 3
            for y, name in enumerate(names):
                strip = timeline.render_line(y)
                assert strip.text.startswith(name)
                assert strip.cell_length == 60


async def test_the_selected_record_is_marked_in_its_column() -> None:
    reading = recording("many-tools-changed")
    app = app_of(reading)
    async with app.run_test(size=(66, 8)) as pilot:
        await until(pilot, settled(app))
        timeline = app.query_one(Timeline)
        assert "│" not in "".join(texts(app))
        call = next(at for at, kind in enumerate(reading.trajectory.index.kinds) if kind == RowKind.TOOL)
        timeline.select(call)
        marked = texts(app)
        assert marked[0].count("│") == marked[1].count("│") == 1 and "│" not in marked[2]
        assert marked[2][marked[0].index("│")] in BARS
        assert app.heard == [], "a selection from outside is not told back"


async def test_a_click_picks_the_record_under_the_pointer() -> None:
    reading = recording("many-tools-changed")
    app = app_of(reading)
    async with app.run_test(size=(66, 8)) as pilot:
        await until(pilot, settled(app))
        place = texts(app)[0].index("⊕")
        await pilot.click(Timeline, offset=(place, 2))
        (picked,) = app.heard
        assert reading.trajectory.index.flags[cast("int", picked)] & RowFlag.TOOL_CHANGE
        assert app.query_one(Timeline).selected == picked


async def test_the_arrows_walk_from_record_to_record() -> None:
    reading = recording("plain-chat")
    app = app_of(reading)
    async with app.run_test(size=(80, 8)) as pilot:
        await focus(app, pilot)
        first, second, *_ = records(reading)
        await pilot.press("right", "right", "left", "left")
        assert app.heard == [first, second, first], "there is nothing before the first record"
        app.query_one(Timeline).select(None)
        await pilot.press("left")
        assert app.heard[-1] == records(reading)[-1]


async def focus(app: TimelineApp, pilot: Pilot[None]) -> None:
    app.query_one(Timeline).focus()
    await until(pilot, lambda: app.query_one(Timeline).has_focus)


async def test_ascii_only_draws_only_ascii() -> None:
    app = app_of(recording("retries"), ascii_only=True)
    async with app.run_test(size=(90, 8)) as pilot:
        await until(pilot, settled(app))
        app.query_one(Timeline).select(30)
        assert all(text.isascii() for text in texts(app))
        assert "x" in texts(app)[1]


async def test_a_session_still_being_read_says_that_more_comes() -> None:
    reading = Reading.open(RECORDINGS / "retries" / "session.v4.jsonl")
    app = app_of(reading)
    async with app.run_test(size=(60, 8)):
        assert texts(app)[0].rstrip().endswith("…")
        reading.read_all()
        timeline = app.query_one(Timeline)
        timeline.show(reading)
        assert "…" not in texts(app)[0]
        assert len(timeline.columns) > 10


async def test_nothing_ticks_once_the_first_tokens_are_known() -> None:
    app = app_of(recording("tool-use"))
    async with app.run_test(size=(60, 8)) as pilot:
        await until(pilot, settled(app))
        before = texts(app)
        assert any(glyph in before[1] for glyph in BARS[:7])
        app.query_one(Timeline).select(3)
        texts(app)
        assert settled(app)()
