"""Tools over time on the screen: moving, filtering, zooming, opening a cell, and the ways there and back."""

from __future__ import annotations

from pathlib import Path

from tests.support.app_driver import NARROW, WIDE, Driver, recording, session_app
from tests.support.live_driver import talking
from tests.support.log_builder import log
from tests.support.loop_driver import tool
from tui.app.matrix_screen import MatrixScreen
from tui.app.matrix_view import MatrixView
from tui.app.palette import ActionCommands
from tui.app.session_screen import SessionScreen
from tui.llm.script import answer

RESTORE, MANY = "remove-and-restore", "many-tools-changed"


def matrix(driver: Driver) -> MatrixScreen:
    screen = driver.top
    assert isinstance(screen, MatrixScreen)
    return screen


def view(driver: Driver) -> MatrixView:
    return matrix(driver).matrix_view


def at_cursor(driver: Driver) -> tuple[str, int]:
    found = view(driver).cell_at_cursor
    assert found is not None
    name, column = found
    return name.rpartition("__")[2], matrix(driver).matrix.column(column).last


def cell_row(driver: Driver) -> str:
    return next(row for row in driver.rows() if "request " in row and " · turn " in row).strip()


async def test_the_key_opens_the_matrix_and_goes_back_to_where_one_was() -> None:
    async with session_app(recording(RESTORE)) as driver:
        before = driver.selected_seq()
        await driver.press("3")
        assert "saltmarsh · ring_bell" in driver.text()
        assert "Tools over time" in driver.head()
        await driver.press("escape")
        assert isinstance(driver.top, SessionScreen) and driver.selected_seq() == before


async def test_a_tool_change_in_the_trajectory_opens_at_the_request_that_saw_it() -> None:
    async with session_app(recording(RESTORE), view="trajectory", at=75) as driver:
        await driver.press("T", "3")
        name, request = at_cursor(driver)
        column = matrix(driver).matrix.column(view(driver).column)
        assert column.turn is not None and request > 1
        assert matrix(driver).matrix.cell(f"mcp__saltmarsh__{name}", view(driver).column).mark


async def test_a_call_leads_to_its_tool_and_the_cell_back_to_the_call() -> None:
    async with session_app(recording(MANY), view="trajectory") as driver:
        index = driver.reading.trajectory.index
        row = driver.reading.called.rows[0]
        call = index.exactly(row)
        assert call is not None
        driver.session.select_item(call)
        await driver.press("3")
        name, _ = at_cursor(driver)
        assert name == driver.reading.called.names[driver.reading.called.tools[0]].rpartition("__")[2]
        await driver.press("2")
        assert isinstance(driver.top, SessionScreen) and driver.session.pane == "trajectory"
        assert driver.session.item == call


async def test_a_change_leads_to_the_header_that_made_it() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "home", "t", "1")
        assert driver.session.pane == "chat"
        reading = driver.reading
        row = reading.trajectory.index.rows[driver.session.item]
        assert reading.log.type_name(row) == "request/header"
        assert reading.log.seq(row) == reading.tools.header_changes[0].seq


async def test_arrows_move_over_tools_and_requests_and_stop_at_the_edges() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "home", "pageup")
        assert at_cursor(driver) == ("mist_bed", 1)
        await driver.press("left", "up")
        assert at_cursor(driver) == ("mist_bed", 1)
        await driver.press("right", "l", "down", "j")
        assert at_cursor(driver) == ("read_gauge", 3)
        await driver.press("end", "pagedown", "right", "down")
        assert at_cursor(driver) == ("ring_bell", 14)
        assert "request 14 · turn 8" in cell_row(driver)


async def test_landmarks_are_changes_turns_and_failures() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "home")
        seen = []
        for _ in range(6):
            await driver.press("t")
            seen.append(at_cursor(driver)[1])
        assert seen == [3, 4, 6, 8, 10, 11]
        await driver.press("t")
        assert "No later tool change" in driver.foot()
        await driver.press("[")
        assert at_cursor(driver)[1] == 10
        await driver.press("e")
        assert "No later error." in driver.foot()


async def test_failed_calls_are_found(tmp_path: Path) -> None:
    made = log().turn().tools("a", "b").user("1").answer("x").ran("k", "b", error="E").user("2").answer("y")
    async with session_app(made.end().write(tmp_path)) as driver:
        await driver.press("3", "E")
        assert at_cursor(driver) == ("b", 1)


async def test_failed_requests_are_marked_found_and_told() -> None:
    async with session_app(recording("rejected-update")) as driver:
        await driver.press("3", "home")
        seen = []
        for _ in range(5):
            await driver.press("e")
            seen.append(at_cursor(driver)[1])
        # README of the recording: five prompts fail.
        assert seen == [4, 5, 6, 7, 8]
        assert "INVALID_REQUEST" in cell_row(driver)
        marked = next(row for row in driver.rows() if row.strip().startswith("failed"))
        numbers = next(row for row in driver.rows() if row.strip().startswith("request 1"))
        first = numbers.index("1")
        assert [at - first + 1 for at, sign in enumerate(marked) if sign == "✕"] == seen
        await driver.press("enter")
        assert "messages.7.content.0: tool_addition" in driver.text()


async def test_a_click_meets_its_cell_below_the_row_of_failures() -> None:
    async with session_app(recording("rejected-update")) as driver:
        await driver.press("3")
        rows = driver.rows()
        y = next(at for at, row in enumerate(rows) if "mist_bed" in row)
        await driver.pilot.click(offset=(rows[y].index("+"), y))
        assert at_cursor(driver) == ("mist_bed", 4)


async def test_only_changed_and_part_of_a_name_narrow_the_tools() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "f")
        assert "read_gauge" not in driver.text() and "3 of 4 tools" in driver.head()
        await driver.press("f", "/")
        await driver.press(*"gauge")
        await driver.until(lambda: len(view(driver).names) == 1)
        await driver.press("enter")
        assert at_cursor(driver)[0] == "read_gauge"
        await driver.press("escape")
        assert len(view(driver).names) == 4
        await driver.press("escape")
        assert isinstance(driver.top, SessionScreen)


async def test_a_filter_that_nothing_passes_says_so_and_breaks_nothing() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "/", *"zzz")
        await driver.until(lambda: not view(driver).names)
        assert "nothing found" in driver.text()
        await driver.press("enter", "t", "e", "right", "down", "i", "y", "2")
        assert isinstance(driver.top, SessionScreen)


async def test_turns_requests_and_calls_are_three_ways_to_draw_columns() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "z")
        assert len(matrix(driver).matrix) == 8 and at_cursor(driver)[1] == 14
        assert "requests 13 to 14 · turn 8" in driver.text()
        await driver.press("z", "Z")
        assert view(driver).cells == 2 and at_cursor(driver)[1] == 14
        assert "■1" in driver.text()


async def test_another_route_tells_the_same_session_another_way() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "M", "M", "M")
        assert "▨" in driver.text() and "in-history (chosen)" in driver.text()
        await driver.press("M")
        assert "each request as its own route" in driver.head()


async def test_a_cell_opens_with_the_definition_and_what_it_changed() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "home", "t", "t", "t", "enter")
        assert at_cursor(driver) == ("open_vent", 6)
        assert "Difference from the definition before" in driver.text()
        assert "Definition in force" in "\n".join(driver.rows()) or matrix(driver).detail.display
        await driver.press("left")
        assert "inactive" in driver.text() or "absent" in driver.text()
        await driver.press("escape")
        assert not matrix(driver).detail.display


async def test_the_whole_cell_goes_to_the_pager() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "v")
        assert "Definition in force" in driver.text()
        await driver.press("escape")
        assert isinstance(driver.top, MatrixScreen)


async def test_the_language_changes_at_once() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3", "L")
        assert "各请求的工具" in driver.head() or "工具" in driver.head()
        await driver.press("escape")
        assert "轨迹" in driver.text()


async def test_a_click_puts_the_cursor_on_a_cell_and_two_open_it() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3")
        rows = driver.rows()
        y = next(at for at, row in enumerate(rows) if "ring_bell" in row and "┆" in row)
        x = rows[y].index("□")
        await driver.pilot.click(offset=(x, y))
        assert at_cursor(driver) == ("ring_bell", 9)
        await driver.pilot.click(offset=(x, y), times=2)
        await driver.until(lambda: matrix(driver).detail.display)


async def test_a_narrow_and_a_tiny_terminal_show_what_they_can() -> None:
    async with session_app(recording(MANY), size=NARROW) as driver:
        await driver.press("3", "enter")
        driver.rows()
        await driver.resize(30, 8)
        driver.rows()
        await driver.press("down", "left", "escape")
        await driver.resize(*WIDE)
        assert "count_moths" in driver.text()


async def test_a_session_without_requests_says_so(tmp_path: Path) -> None:
    async with session_app(log().write(tmp_path)) as driver:
        await driver.press("3")
        assert "No request and no tool to show" in driver.text()
        await driver.press("t", "e", "[", "z", "Z", "f", "M", "enter", "y", "Y", "v", "1")
        assert isinstance(driver.top, SessionScreen)


async def test_opening_the_view_comes_straight_to_the_matrix() -> None:
    async with session_app(recording(RESTORE), over="tools") as driver:
        await driver.until(lambda: isinstance(driver.top, MatrixScreen))
        assert "saltmarsh · ring_bell" in driver.text()


async def test_a_running_session_adds_its_requests_and_tools_to_the_matrix(tmp_path: Path) -> None:
    script = [answer(text, pace_s=0) for text in ("One.", "Two.", "Three.")]
    async with talking(tmp_path, script, tools=[tool("peek")]) as talk:
        await talk.say("one?")
        talk.live.action_show_tools()
        await talk.until(lambda: isinstance(talk.top, MatrixScreen))
        shown = matrix(talk)
        await talk.until(lambda: len(shown.matrix) == 1)
        # No key is pressed: what was at the newest request stays there.
        talk.registry.register(tool("water"))
        talk.conversation.agent.followup("two?")
        await talk.until(lambda: len(shown.matrix) == 2)
        assert shown.matrix_view.column == 1
        assert "water" in talk.text() and "2 requests" in talk.head()
        # What looked at an earlier one goes on looking at it.
        await talk.press("left", "down")
        talk.conversation.agent.followup("three?")
        await talk.until(lambda: len(shown.matrix) == 3)
        assert at_cursor(talk) == ("water", 1)


async def test_an_open_cell_that_is_read_stays_where_it_is_while_the_session_grows(tmp_path: Path) -> None:
    script = [answer(text, pace_s=0) for text in ("One.", "Two.", "Three.")]
    long = tool("peek", properties={f"part_{number}": {"type": "string"} for number in range(60)})
    async with talking(tmp_path, script, tools=[long]) as talk:
        await talk.say("one?")
        await talk.say("two?")
        talk.live.action_show_tools()
        await talk.until(lambda: isinstance(talk.top, MatrixScreen))
        shown = matrix(talk)
        await talk.until(lambda: len(shown.matrix) == 2)
        await talk.press("home", "enter", "tab", "pagedown", "pagedown")
        rows = talk.rows()
        read = next(row for row in rows if '"part_' in row)
        top = rows.index(read)
        talk.conversation.agent.followup("three?")
        await talk.until(lambda: len(shown.matrix) == 3)
        assert talk.rows()[top] == read
        # Another cell begins at its top.
        await talk.press("tab", "right")
        assert "Definition in force" in talk.text()


async def test_help_and_palette_tell_the_keys_of_the_matrix() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("3")
        offered = [str(hit.display) async for hit in ActionCommands(matrix(driver)).discover()]
        for told in (
            "Shown as on another kind of route",
            "Only tools that changed, or all",
            "One request on",
        ):
            assert told in offered
        assert "Tools over time" not in offered
        (route,) = [hit async for hit in ActionCommands(matrix(driver)).search("switch-route")][:1]
        await route.command()
        assert matrix(driver).matrix.route == "none"
        await driver.press("?")
        text = driver.text()
        assert "Shown as on another kind of route" in text and "A column for each turn" in text
        assert "Show tool changes only" not in text


async def test_ascii_alone_draws_no_other_signs() -> None:
    async with session_app(recording(RESTORE), ascii_only=True) as driver:
        await driver.press("3", "home")
        for keys in ((), ("t",), ("enter",), ("escape", "z"), ("M",)):
            await driver.press(*keys)
            assert driver.text().isascii(), [row for row in driver.rows() if not row.isascii()]
