"""The screen of a session as a reader uses it, key by key."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.command import CommandPalette

from tests.benchmarks.generate import LAST_ANSWER, write_log
from tests.support.app_driver import (
    NARROW,
    WIDE,
    Driver,
    log_under,
    recording,
    run_app,
    session_app,
    settings,
)
from tui.app import themes
from tui.app.actions import ACTIONS, TALKING, Group
from tui.app.block_view import BlockView
from tui.app.help_screen import HelpScreen
from tui.app.loader import open_reading
from tui.app.pager import Pager
from tui.app.session_screen import SessionScreen
from tui.blocks.text import plain
from tui.nodes.chat_index import NodeKind
from tui.nodes.reading import Reading
from tui.nodes.trajectory_index import RowKind

MANY = recording("many-tools-changed")
READING = tuple(action for action in ACTIONS if action.scope not in TALKING)


# -- opening and moving


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_session_opens_at_its_tail(size: tuple[int, int]) -> None:
    async with session_app(MANY, size=size) as driver:
        assert driver.chat_selected() == "Fourteen tools are on the shelf."
        assert "Fourteen tools are on the shelf." in driver.text()
        assert driver.session.chat.following
        assert driver.selected_seq() == 47


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_session_opens_in_the_pane_that_was_asked_for(size: tuple[int, int]) -> None:
    async with session_app(MANY, size=size, view="trajectory") as driver:
        assert driver.session.pane == "trajectory"
        assert driver.session.trajectory.has_focus
        assert driver.session.side_pane.display
        assert driver.trajectory_selected().startswith("47")


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_session_opens_at_the_seq_that_was_asked_for(size: tuple[int, int]) -> None:
    async with session_app(MANY, size=size, at=28) as driver:
        assert "Tools changed · 12 added, 3 removed" in driver.chat_selected()
        assert driver.selected_seq() == 28
        assert "Tools changed · 12 added, 3 removed" in driver.text()


async def test_the_head_tells_title_model_use_and_tools() -> None:
    async with session_app(MANY) as driver:
        head = driver.head()
        for told in (
            "Read the fern bed and",
            "deepseek-flash",
            "3 turns",
            "3.7k tok",
            "cache 54%",
            "14 tools",
        ):
            assert told in head


async def test_every_chat_node_selects_what_tells_of_it_in_the_trajectory() -> None:
    async with session_app(recording("single-tool-added")) as driver:
        session = driver.session
        await driver.press("g")
        for _ in range(session.chat_model.count() - 1):
            before = session.chat.cursor
            await driver.press("down")
            if session.chat.cursor == before:
                break
            node = session.chat_model.item_of(session.chat.cursor or 0)
            assert node is not None
            columns, rows = driver.reading.chat.index, driver.reading.trajectory.index
            if columns.kinds[node] == NodeKind.TOOL:
                assert rows.kinds[session.item] == RowKind.TOOL
                assert rows.rows[session.item] == columns.mids[node]
            assert session.trajectory.cursor == session.trajectory_model.nearest_block(session.item)


async def test_every_trajectory_row_selects_what_tells_of_it_in_the_chat() -> None:
    async with session_app(recording("single-tool-added"), view="trajectory") as driver:
        session = driver.session
        calls = 0
        await driver.press("g")
        for _ in range(session.trajectory_model.count() - 1):
            await driver.press("down")
            columns, rows = driver.reading.chat.index, driver.reading.trajectory.index
            node = session.chat_model.item_of(session.chat.cursor or 0)
            assert node is not None
            if rows.kinds[session.item] == RowKind.TOOL:
                calls += 1
                assert columns.kinds[node] == NodeKind.TOOL
                assert columns.mids[node] == rows.rows[session.item]
            else:
                assert columns.rows[node] <= rows.rows[session.item]
        assert calls == 2


async def walk(driver: Driver, key: str) -> list[int]:
    """The sequence numbers that a key goes to until there is no further place."""
    found: list[int] = []
    for _ in range(60):
        await driver.press(key)
        if driver.foot().startswith("No "):
            return found
        found.append(driver.selected_seq())
    raise AssertionError(f"{key} never came to an end")


@pytest.mark.parametrize("view", ["chat", "trajectory"])
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("single-tool-added", [26]),
        ("many-tools-changed", [28]),
        ("remove-and-restore", [28, 39, 56, 73, 90, 101]),
        ("rejected-update", [35, 69, 79]),
        ("tool-use", []),
    ],
)
async def test_t_walks_the_tool_changes(name: str, changes: list[int], view: str) -> None:
    async with session_app(recording(name), view="trajectory" if view == "trajectory" else "chat") as driver:
        assert await walk(driver, "T") == changes[::-1]
        assert driver.foot() == "No earlier tool change."
        await driver.press("g")
        assert await walk(driver, "t") == changes
        assert driver.foot() == "No later tool change."


@pytest.mark.parametrize("view", ["chat", "trajectory"])
async def test_brackets_walk_the_turns(view: str) -> None:
    async with session_app(MANY, view="trajectory" if view == "trajectory" else "chat") as driver:
        assert await walk(driver, "[") == [42, 23, 1]
        assert await walk(driver, "]") == [23, 42]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_e_walks_the_failed_turns(size: tuple[int, int]) -> None:
    async with session_app(recording("rejected-update"), size=size) as driver:
        assert await walk(driver, "E") == [72, 62, 54, 46, 38]
        assert "HTTP 400" in driver.text()
        assert await walk(driver, "e") == [46, 54, 62, 72]


# -- the tool change


@pytest.mark.parametrize("size", [NARROW, WIDE, (200, 50)])
async def test_a_single_tool_change_names_its_tool_without_opening_anything(size: tuple[int, int]) -> None:
    async with session_app(recording("single-tool-added"), size=size) as driver:
        await driver.press("T")
        assert "⊕ Tool added: mist_bed (saltmarsh)" in driver.text()
        await driver.press("L")
        assert "⊕ 新增工具：mist_bed（saltmarsh）" in driver.text()


async def test_enter_opens_the_notice_into_its_lists_and_folds_it_again() -> None:
    async with session_app(MANY) as driver:
        await driver.press("T")
        assert "weigh_crate" not in driver.text()
        await driver.press("enter")
        shown = driver.text()
        for name in ("count_moths", "weigh_crate", "open_vent", "close_vent", "mist_bed"):
            assert name in shown
        assert "Count the moths at a lamp." in shown
        assert "added" in shown
        assert "removed" in shown
        await driver.press("enter")
        assert "weigh_crate" not in driver.text()


async def test_restored_and_redefined_tools_are_told_apart() -> None:
    async with session_app(recording("remove-and-restore"), size=(140, 50)) as driver:
        told: list[str] = []
        for _ in range(6):
            await driver.press("T")
            told.append(driver.chat_selected().splitlines()[0])
        assert "ring_bell" in told[0] and "estored" in told[0]
        assert "removed" in told[1]
        assert "Tool added: ring_bell" in told[2]
        assert "open_vent" in told[3] and "estored" in told[3]
        assert "mist_bed" in told[4] and "estored" in told[4]
        assert told[0] != told[4].replace("mist_bed", "ring_bell")
        assert "2 removed" in told[5]


async def test_f_leaves_only_tool_changes_and_brings_everything_back() -> None:
    async with session_app(recording("remove-and-restore")) as driver:
        session = driver.session
        before = session.chat_model.count()
        await driver.press("f")
        assert session.chat_model.count() == 6
        assert "Chat · only tool changes" in driver.text()
        assert "Only tool changes are shown" in driver.foot()
        assert "You ·" not in driver.text()
        await driver.press("f")
        assert session.chat_model.count() == before
        assert "Everything is shown again." in driver.foot()


async def test_f_says_so_where_there_are_no_tool_changes() -> None:
    async with session_app(recording("tool-use")) as driver:
        await driver.press("f")
        assert driver.session.chat_model.count() == 0
        assert "no tool changes" in driver.foot()
        for key in ("down", "up", "t", "]", "enter", "y", "v", "i", "G", "g"):
            await driver.press(key)
        assert driver.app.is_running


# -- folding


async def test_z_folds_turns_in_both_panes_and_keeps_the_place() -> None:
    async with session_app(MANY) as driver:
        session = driver.session
        await driver.press("z")
        shown = driver.text()
        assert "Turn 1" in shown and "Turn 2" in shown and "Turn 3" in shown
        assert "Fourteen tools are on the shelf." not in shown
        assert "sow_tray" not in shown
        await driver.press("z")
        assert "Fourteen tools are on the shelf." in driver.text()
        assert driver.selected_seq() in (42, 47)
        assert not session.part.has_folds


@pytest.mark.parametrize("view", ["chat", "trajectory"])
async def test_enter_on_a_turn_folds_that_turn_in_both_panes(view: str) -> None:
    async with session_app(MANY, view="trajectory" if view == "trajectory" else "chat") as driver:
        await driver.press("[", "[")
        await driver.press("enter")
        shown = driver.text()
        assert "Counted and sown." not in shown
        assert "Gauge read, vent v1 open." in shown
        assert driver.session.part.folded_turns == frozenset({2})
        await driver.press("enter")
        assert "Counted and sown." in driver.text()


async def test_a_jump_into_a_folded_turn_opens_it() -> None:
    async with session_app(MANY) as driver:
        await driver.press("z", "T")
        assert "Tools changed · 12 added, 3 removed" in driver.chat_selected()
        assert not driver.session.part.folds(2)
        assert driver.session.part.folds(1)


async def test_the_dot_shows_bookkeeping_and_hides_it() -> None:
    async with session_app(MANY) as driver:
        model = driver.session.trajectory_model
        without = model.count()
        await driver.press(".")
        assert driver.session.trajectory_model.count() == len(driver.reading.trajectory.index) > without
        assert "bookkeeping" in driver.foot()
        await driver.press(".")
        assert driver.session.trajectory_model.count() == without


async def test_capital_z_leaves_tool_calls_out_of_the_trajectory() -> None:
    async with session_app(MANY) as driver:
        before = driver.session.trajectory_model.count()
        await driver.press("Z")
        assert driver.session.trajectory_model.count() == before - 4
        await driver.press("Z")
        assert driver.session.trajectory_model.count() == before


async def test_capital_o_opens_every_entry_and_capital_c_folds_them() -> None:
    async with session_app(MANY, size=(120, 50)) as driver:
        view = driver.session.chat
        start = view.total_lines
        await driver.press("O")
        opened = view.total_lines
        assert opened > start
        assert driver.selected_seq() == 47
        await driver.press("C")
        assert view.total_lines < opened


async def test_o_opens_what_is_on_screen_then_folds_it() -> None:
    async with session_app(MANY) as driver:
        before = driver.session.chat.total_lines
        await driver.press("o")
        opened = driver.session.chat.total_lines
        assert opened > before
        # What was opened may have pushed other entries out of sight.
        await driver.press("o")
        assert driver.session.chat.total_lines != opened


# -- search


async def test_search_counts_hits_and_n_goes_around_them() -> None:
    async with session_app(MANY) as driver:
        await driver.search("vent")
        row = driver.search_row()
        total = int(row.split(" of ")[1].split()[0].replace(",", ""))
        assert total >= 4
        await driver.press("enter")
        seen: list[int] = []
        for _ in range(total):
            seen.append(driver.session.item)
            await driver.press("n")
        assert driver.session.item == seen[0]
        assert len(seen) == total
        await driver.press("N")
        assert driver.session.item == seen[-1]
        await driver.press("escape")
        assert not driver.session.query("#search")
        assert driver.app.is_running


async def test_a_search_says_when_it_finds_nothing() -> None:
    async with session_app(MANY) as driver:
        await driver.search("wombat")
        assert "nothing found" in driver.search_row()
        await driver.press("enter", "n", "N", "escape")
        assert driver.selected_seq() == 47


async def test_a_hit_inside_a_folded_entry_is_opened() -> None:
    async with session_app(MANY) as driver:
        await driver.search("weigh_crate")
        await driver.until(lambda: driver.selected_seq() == 28 or "1 of" in driver.search_row())
        assert "weigh_crate" in driver.text()


async def test_a_search_in_another_language_finds_its_words() -> None:
    async with session_app(MANY, lang="zh") as driver:
        await driver.press("/")
        await driver.until(lambda: bool(driver.session.query("#search Input")))
        await driver.until(lambda: driver.session.focused is driver.session.query_one("#search Input"))
        driver.session.query_one("#search Input").value = "工具变更"
        await driver.until(lambda: driver.selected_seq() == 28)


# -- go to


async def go_to(driver: Driver, seq: str) -> None:
    await driver.press(":")
    await driver.until(lambda: driver.top is not driver.session)
    await driver.press(*seq, "enter")
    await driver.until(lambda: driver.top is driver.session)
    await driver.pilot.pause()


async def test_colon_goes_to_a_seq() -> None:
    async with session_app(MANY) as driver:
        await go_to(driver, "14")
        assert driver.selected_seq() == 14
        assert "open_vent" in driver.chat_selected()


async def test_the_prompt_refuses_a_seq_beyond_the_end() -> None:
    async with session_app(MANY) as driver:
        await driver.press(":")
        await driver.until(lambda: driver.top is not driver.session)
        await driver.press("9", "9", "9", "enter")
        assert "The last seq is 49." in driver.text()
        await driver.press("escape")
        await driver.until(lambda: driver.top is driver.session)
        assert driver.selected_seq() == 47


async def test_a_seq_that_two_records_carry_offers_both(shared: Path) -> None:
    log = log_under(shared / "bugs/cases/B07-seq-trouble/home/closers-then-live")
    async with session_app(log) as driver:
        rows = driver.reading.log.rows_of_seq(23)
        assert len(rows) == 2
        await go_to(driver, "23")
        assert "2 records carry the number 23" in driver.foot()
        first = driver.session.item
        await driver.press("n")
        second = driver.session.item
        await driver.press("N")
        assert driver.session.item == first
        assert {driver.reading.trajectory.index.rows[item] for item in (first, second)} != {first}
        assert first != second


async def test_a_seq_that_is_missing_is_said_to_be(shared: Path) -> None:
    log = log_under(shared / "bugs/cases/B07-seq-trouble/home/hole")
    async with session_app(log) as driver:
        await go_to(driver, "12")
        assert "There is no record 12" in driver.foot()


# -- language, theme, size


async def test_the_language_switches_everywhere_and_keeps_the_place() -> None:
    async with session_app(MANY) as driver:
        await driver.press("T", "enter", "i")
        cursor, first = driver.session.chat.cursor, driver.session.chat.visible_rows[0]
        await driver.press("L")
        shown = driver.text()
        for word in ("工具变更 · 新增 12 个，移除 3 个", "第 2 轮", "轨迹", "对话", "轮次", "14 个工具"):
            assert word in shown
        for word in ("Tools changed", "Turn 2", "Trajectory", "Chat", "turns", "search", "quit", "Summary"):
            assert word not in shown
        assert driver.session.chat.cursor == cursor
        assert driver.session.chat.visible_rows[0] == first
        assert driver.selected_seq() == 28
        await driver.press("L")
        assert "Tools changed · 12 added, 3 removed" in driver.text()


async def test_the_theme_switches() -> None:
    async with session_app(MANY) as driver:
        assert driver.app.theme == themes.DARK
        dark = driver.strips()[5]
        await driver.press("D")
        assert driver.app.theme == themes.LIGHT
        await driver.until(lambda: driver.strips()[5] != dark)
        backgrounds = {
            segment.style.bgcolor.name
            for strip in driver.strips()
            for segment in strip
            if segment.style is not None and segment.style.bgcolor is not None
        }
        assert themes.PALETTES[themes.LIGHT].background in backgrounds
        assert themes.PALETTES[themes.DARK].background not in backgrounds


async def test_a_narrow_terminal_shows_one_pane_at_a_time() -> None:
    async with session_app(MANY, size=NARROW) as driver:
        session = driver.session
        assert session.chat_pane.display and not session.side_pane.display
        assert "1 Chat" in driver.head() and "2 Trajectory" in driver.head()
        await driver.press("2")
        assert session.side_pane.display and not session.chat_pane.display
        assert driver.trajectory_selected().startswith("47")
        await driver.press("tab")
        assert session.chat_pane.display and not session.side_pane.display
        await driver.press("i")
        assert session.side_pane.display
        assert "Summary" in driver.text()


async def test_resizing_between_tabs_and_panes_keeps_the_place() -> None:
    async with session_app(MANY) as driver:
        await driver.press("T")
        for width, height in (NARROW, (200, 50), (99, 20), (100, 20), (40, 10), WIDE):
            await driver.resize(width, height)
            session = driver.session
            assert session.side_pane.display == (width >= 100)
            assert driver.selected_seq() == 28
            assert any("Tools changed" in row for row in driver.rows())


# -- inspector


async def test_the_inspector_shows_summary_preview_and_raw() -> None:
    async with session_app(MANY) as driver:
        await driver.press("T", "i")
        shown = driver.text()
        assert "Summary" in shown and "Raw" in shown
        assert "developer/message" in shown
        assert driver.session.inspector.tab == "summary"
        seen = [driver.session.inspector.tab]
        for _ in driver.session.inspector.tabs[1:]:
            await driver.press(">")
            seen.append(driver.session.inspector.tab)
        assert tuple(seen) == driver.session.inspector.tabs
        assert seen[-1] == "raw"
        assert '"tool-addition"' in driver.text() or "tool-addition" in driver.text()
        await driver.press("<")
        assert driver.session.inspector.tab == seen[-2]
        await driver.press("escape")
        assert not driver.session.inspector.display
        assert driver.app.is_running


async def test_the_inspector_of_a_header_has_a_diff() -> None:
    async with session_app(MANY, view="trajectory", size=(160, 50)) as driver:
        await go_to(driver, "27")
        await driver.press("i")
        assert "diff" in driver.session.inspector.tabs
        while driver.session.inspector.tab != "diff":
            await driver.press(">")
        view = driver.session.inspector.text_view
        told = "\n".join(plain(line) for line in view.model.layout(0, view.content_width))
        for name in ("count_moths", "weigh_crate", "open_vent", "close_vent", "mist_bed"):
            assert name in told


async def test_the_inspector_follows_the_selection() -> None:
    async with session_app(MANY) as driver:
        await driver.press("i", "T")
        assert "developer/message" in driver.text()
        await driver.press("[")
        assert "turn/start" in driver.text()


async def test_r_shows_the_raw_record_and_closes_again() -> None:
    async with session_app(MANY) as driver:
        await driver.press("r")
        assert driver.session.inspector.tab == "raw"
        assert '"Fourteen tools are on the shelf."' in driver.text()
        await driver.press("r")
        assert not driver.session.inspector.display


# -- pager, copying, help, palette


async def test_v_opens_the_whole_text_in_the_pager() -> None:
    async with session_app(recording("tool-use")) as driver:
        await go_to(driver, "39")
        await driver.press("v")
        await driver.until(lambda: isinstance(driver.top, Pager))
        await driver.press("G")
        assert "600" in driver.text()
        await driver.press("escape")
        await driver.until(lambda: driver.top is driver.session)


@pytest.mark.parametrize(("keys", "told"), [("f6", " · F6 opens the whole text"), ([], " more rows")])
async def test_a_row_that_tells_of_hidden_rows_names_the_key_in_force(
    tmp_path: Path, keys: str | list[str], told: str
) -> None:
    rows = "".join(f"row {number}\\n" for number in range(3_000))
    log = tmp_path / "session.v4.jsonl"
    text = recording("many-tools-changed").read_text(encoding="utf-8")
    log.write_text(text.replace("count_moths got", f"{rows}count_moths got", 1), encoding="utf-8")
    whole, tail = open_reading(log)
    chosen = replace(settings(), keys={"pager": keys})
    async with run_app(chosen, lambda app: SessionScreen(whole, tail, app.surroundings)) as driver:
        await driver.until(lambda: isinstance(driver.top, SessionScreen))
        await driver.search("row 17")
        await driver.press("enter")
        for view in (driver.session.chat, driver.session.inspector.text_view):
            await driver.until(lambda view=view: any(line.rstrip().endswith(told) for line in rows_of(view)))
            assert not any("v opens" in line for line in rows_of(view))
            await driver.press("i", ">")


def rows_of(view: BlockView) -> list[str]:
    """All rows of a view, on the screen or not."""
    blocks = range(view.model.count())
    return [plain(row) for block in blocks for row in view.model.layout(block, max(view.size.width, 40))]


async def test_copying_says_what_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Outcome:
        def sentence(self, _tr: object) -> str:
            return "Copied, says the clipboard."

    async def fake_copy(text: str, *_: object) -> Outcome:
        asked.append(text)
        return Outcome()

    monkeypatch.setattr("tui.app.clipboard.copy", fake_copy)
    async with session_app(MANY) as driver:
        await driver.press("y")
        await driver.until(lambda: driver.foot() == "Copied, says the clipboard.")
        assert asked == ["Fourteen tools are on the shelf."]
        await driver.press("T", "Y")
        await driver.until(lambda: len(asked) == 2)
        assert asked[1] == f"{driver.reading.log.header.id}@28"


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_help_lists_every_action(lang: str) -> None:
    async with session_app(MANY, lang=lang, size=(140, 60)) as driver:
        await driver.press("?")
        await driver.until(lambda: isinstance(driver.top, HelpScreen))
        tr = driver.app.surroundings.tr
        for group in Group:
            assert (tr.t(group) in driver.text()) == (group is not Group.TALK)
        for action in READING:
            # Long labels go on in a second row.
            assert tr.t(action.label)[:12] in driver.text(), action.id
        await driver.press("escape")
        await driver.until(lambda: driver.top is driver.session)


async def test_the_palette_runs_an_action_of_the_session() -> None:
    async with session_app(MANY) as driver:
        await driver.press("ctrl+p")
        await driver.until(lambda: isinstance(driver.top, CommandPalette))
        await driver.press(*"only")
        await driver.until(lambda: "Show tool changes only" in driver.text())
        await driver.press("enter")
        await driver.until(lambda: driver.top is driver.session and driver.session.part.only_tool_changes)


async def test_q_leaves() -> None:
    async with session_app(MANY) as driver:
        await driver.press("q")
        await driver.until(lambda: not driver.app.is_running)
        assert driver.app.return_code in (0, None)


@pytest.mark.parametrize("key", ["escape", "b"])
async def test_escape_with_nothing_open_and_nothing_behind_says_how_to_leave(key: str) -> None:
    async with session_app(MANY) as driver:
        await driver.press("i", key, key)
        assert driver.app.is_running
        assert "q leaves dsh-tui" in driver.foot()


async def test_the_timeline_is_there_on_the_usual_terminal_and_makes_room_for_the_inspector() -> None:
    async with session_app(MANY, size=NARROW, view="trajectory") as driver:
        timeline = driver.session.timeline
        assert timeline.display and "input" in driver.text()
        await driver.press("i")
        assert not timeline.display
        await driver.press("i")
        assert timeline.display
        await driver.resize(80, 12)
        assert not timeline.display


@pytest.mark.parametrize(("lang", "word"), [("en", "Tools changed"), ("zh", "工具变更")])
async def test_the_pager_speaks_the_readers_language(lang: str, word: str) -> None:
    async with session_app(MANY, lang=lang) as driver:
        await driver.press("T", "v")
        await driver.until(lambda: driver.top is not driver.session)
        assert word in driver.rows()[1]


@pytest.mark.parametrize("key", ["question_mark", "v"])
async def test_the_language_changes_in_what_lies_over_the_panes_too(key: str) -> None:
    async with session_app(MANY) as driver:
        await driver.press("T", key)
        await driver.until(lambda: driver.top is not driver.session)
        await driver.press("L")
        keys = "移动" if key == "question_mark" else "关闭"
        await driver.until(lambda: keys in driver.text())


async def test_sentences_name_the_keys_in_force() -> None:
    async with session_app(MANY) as driver:
        around = driver.session.surroundings
        mine = replace(around, keys={**around.keys, "filter-tool-changes": ("x",)})
        driver.session.surroundings = mine
        driver.session.action_filter_tool_changes()
        await driver.until(lambda: "x shows everything again" in driver.foot())


async def test_no_key_of_any_action_ends_the_program_by_mistake() -> None:
    async with session_app(recording("rejected-update"), size=NARROW) as driver:
        for action in READING:
            if action.id in ("quit", "back", "release-mouse"):
                continue
            for key in action.keys:
                await driver.press(key)
                while driver.top is not driver.session:
                    await driver.press("escape")
                if driver.session.query("#search"):
                    await driver.press("escape")
        assert driver.app.is_running


# -- glyphs and colours


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_ascii_mode_draws_none_of_our_glyphs(lang: str) -> None:
    async with session_app(
        recording("remove-and-restore"), ascii_only=True, lang=lang, size=(120, 45)
    ) as driver:
        for keys in (("G",), ("T", "enter"), ("i",), ("?",)):
            await driver.press(*keys)
            odd = {
                character
                for row in driver.rows()
                for character in row
                if ord(character) > 126 and not _is_chinese(character)
            }
            assert not odd, (keys, odd)


def _is_chinese(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff" or "\uff00" <= character <= "\uffef" or character in "、。“”《》"


async def test_without_colour_only_attributes_are_left() -> None:
    async with session_app(recording("rejected-update"), no_color=True) as driver:
        await driver.press("T", "enter", "i")
        for strip in driver.strips():
            for segment in strip:
                style = segment.style
                if style is not None:
                    assert style.color is None or style.color.is_default, segment
                    assert style.bgcolor is None or style.bgcolor.is_default, segment


# -- long logs


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("long") / "session.v4.jsonl", 5_000)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Holds the reading of the rest until it is set."""
    from tui.app import linked_panes

    held = asyncio.Event()
    read_rest = linked_panes.read_rest

    async def gated(reading: Reading, told: Callable[[float], None]) -> None:
        told(0.25)
        await held.wait()
        await read_rest(reading, told)

    monkeypatch.setattr(linked_panes, "read_rest", gated)
    return held


async def test_the_whole_log_takes_the_place_of_its_tail_without_moving_anything(
    long_log: Path, gate: asyncio.Event
) -> None:
    async with session_app(long_log) as driver:
        assert driver.reading.log.partial
        assert LAST_ANSWER.split(";")[0] in driver.text()
        assert "… turns" in driver.head()
        await driver.press("[", "[")
        seq, rows = driver.selected_seq(), driver.rows()[2:-1]
        gate.set()
        await driver.until(lambda: not driver.reading.log.partial)
        await driver.pilot.pause()
        assert driver.selected_seq() == seq
        assert [row[:58] for row in driver.rows()[2:-1]] == [row[:58] for row in rows]
        assert "…" not in driver.head().replace("…", "", 0) or "… turns" not in driver.head()
        assert len(driver.reading.log) == 5_000


async def test_a_jump_to_what_is_not_read_yet_is_done_when_it_is(long_log: Path, gate: asyncio.Event) -> None:
    async with session_app(long_log) as driver:
        await go_to(driver, "40")
        assert "Waiting until the whole log is read" in driver.foot()
        gate.set()
        await driver.until(lambda: not driver.reading.log.partial)
        await driver.until(lambda: driver.selected_seq() in (39, 40))


async def test_the_beginning_of_a_tail_says_that_earlier_records_are_being_read(
    long_log: Path, gate: asyncio.Event
) -> None:
    async with session_app(long_log) as driver:
        await driver.press("g")
        assert "earlier records are being read (25%)" in driver.text()
        gate.set()
        await driver.until(lambda: not driver.reading.log.partial)
        assert "earlier records are being read" not in driver.text()


async def test_the_screen_has_few_widgets_however_long_the_session_is(long_log: Path) -> None:
    async with session_app(long_log) as driver:
        await driver.until(lambda: driver.reading.complete and not driver.reading.log.partial)
        await driver.press("O", "i", "G")
        await driver.search("quince")
        assert len(list(driver.session.walk_children())) < 150


# -- damage


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("B07-seq-trouble/home/closers-then-live", ("23", "25")),
        ("B07-seq-trouble/home/replayed", ("15", "22")),
        ("B07-seq-trouble/home/hole", ("10", "14")),
    ],
)
async def test_trouble_with_numbers_is_a_row_that_tells_line_and_numbers(
    shared: Path, case: str, told: tuple[str, str]
) -> None:
    async with session_app(log_under(shared / "bugs/cases" / case), size=(140, 60)) as driver:
        assert "fault" in driver.head()
        damage = next(iter(driver.reading.log.damage))
        await driver.press("g", "e")
        found = [driver.chat_selected()]
        for _ in range(10):
            await driver.press("e")
            found.append(driver.chat_selected())
        every = " ".join(" ".join(found).split())
        assert f"line {damage.line}" in every
        assert all(number in every for number in told)


@pytest.mark.parametrize("case", ["zstd-cut", "plain-cut", "bad-middle", "trailing-garbage"])
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_torn_file_opens_and_shows_the_fault(shared: Path, case: str, lang: str) -> None:
    log = log_under(shared / "bugs/cases/B08-torn-tail/home" / case)
    async with session_app(log, size=(140, 60), lang=lang) as driver:
        assert driver.reading.log.damage
        assert ("fault" if lang == "en" else "处") in driver.head()
        columns = driver.reading.chat.index
        assert NodeKind.DAMAGE in columns.kinds
        await driver.press("G", "E")
        assert driver.chat_selected()


async def test_unknown_records_are_rows_with_their_type_and_data(shared: Path) -> None:
    log = log_under(shared / "bugs/cases/B10-unknown-events/home")
    async with session_app(log, size=(140, 60)) as driver:
        shown = driver.text()
        assert "lantern-plugin/verdict" in shown
        assert "lantern-plugin/ping" in shown
        assert "postponed" in shown
        await go_to(driver, "21")
        await driver.press("i")
        while driver.session.inspector.tab != "raw":
            await driver.press(">")
        assert "ember" in driver.text()


@pytest.mark.parametrize("case", ["crashed", "killed"])
async def test_a_call_without_result_says_so_in_its_place(shared: Path, case: str) -> None:
    log = log_under(shared / "bugs/cases/B12-orphan-calls/home" / case)
    async with session_app(log, size=(140, 60)) as driver:
        assert "no result recorded" in driver.text()


# -- the line at the top


async def test_a_title_of_any_length_leaves_room_for_the_rest_and_says_that_it_is_cut(tmp_path: Path) -> None:
    lines = MANY.read_text(encoding="utf-8").splitlines(keepends=True)
    words = "Read the fern bed and"
    assert any(words in line for line in lines if '"session/title"' in line)
    log = tmp_path / "session.v4.jsonl"
    log.write_text(
        "".join(lines).replace(f'"title":"{words}"', '"title":"' + "苔藓 moss " * 40 + '"'), "utf-8"
    )
    for size in (WIDE, NARROW, (20, 5)):
        async with session_app(log, size=size) as driver:
            assert "苔藓 moss" in driver.head() and "…" in driver.head()
            if size != (20, 5):
                assert "deepseek-flash" in driver.head() and "14 tools" in driver.head()


async def test_a_session_without_events_says_so(tmp_path: Path) -> None:
    log = tmp_path / "session.v4.jsonl"
    log.write_bytes(MANY.read_bytes().split(b"\n")[0] + b"\n")
    async with session_app(log) as driver:
        await driver.until(lambda: driver.reading.complete)
        assert "no events yet" in driver.head() and "…" not in driver.head()
