"""The screen of requests: list, lens, difference and body, and the ways between it and the other views."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.app_driver import NARROW, Driver, recording, session_app
from tests.support.live_driver import talking
from tests.support.log_builder import log
from tests.support.loop_driver import tool
from tui.app.matrix_screen import MatrixScreen
from tui.app.pager import Pager
from tui.app.palette import ActionCommands
from tui.app.requests_screen import RequestsScreen
from tui.app.session_screen import SessionScreen
from tui.llm.script import answer

MANY, RESTORE, REJECTED = "many-tools-changed", "remove-and-restore", "rejected-update"


def screen(driver: Driver) -> RequestsScreen:
    assert isinstance(driver.top, RequestsScreen)
    return driver.top


async def test_the_key_opens_the_request_of_the_selected_record() -> None:
    async with session_app(recording(MANY)) as driver:
        await driver.press("T", "4")
        assert screen(driver).number == 3
        row = next(row for row in driver.rows() if row.startswith("▌"))
        # SCREENS.md: two declared, twelve deferred; nothing is kept, because the head changed.
        assert row.split()[1:6] == ["3", "2.1", "deepseek-flash", "2", "+12"]
        assert "0 of 9" in row
        assert "tools changed" in row


async def test_the_lens_shows_three_routes_side_by_side() -> None:
    async with session_app(recording(MANY)) as driver:
        await driver.press("T", "4")
        rows = {row.strip().split("  ")[0]: row for row in driver.rows()}
        assert rows["none"].split() == ["none", "addition-only", "(recorded)", "in-history"]
        declared = rows["declarations"]
        for told in ("14 plain", "2 plain, 12 deferred", "5 plain, 12 deferred"):
            assert told in declared
        assert rows["change blocks"].split()[2:] == ["–", "+12", "+12", "−3"]
        assert "6 of 9 messages" in rows["kept prefix"]
        assert "Because of this tool change, about" in driver.text()


async def test_on_a_narrow_screen_nothing_of_the_lens_is_cut() -> None:
    async with session_app(recording(MANY), size=NARROW, lang="en") as driver:
        await driver.press("T", "4")
        text = driver.text()
        assert "14 plain" in text
        assert "in-history" in text
    async with session_app(recording(MANY), size=(50, 40)) as driver:
        await driver.press("T", "4", "tab", "G")
        assert "in-history" in driver.text()
        assert "6 of 9 messages" in driver.text()


async def test_the_difference_tells_the_first_one_and_what_is_new() -> None:
    async with session_app(recording(MANY)) as driver:
        await driver.press("T", "4", ">")
        text = driver.text()
        assert "request 3 · turn 2 · step 1 compared with request 2" in text
        assert "0 of 9 messages are kept; the first difference is in: declarations." in text
        assert "− saltmarsh · mist_bed" in text


async def test_the_body_is_the_one_that_was_sent(shared: Path) -> None:
    lines = (shared / "recordings" / MANY / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    sent = json.loads(lines[2])["body"]
    sent = {key: value for key, value in sent.items() if not key.startswith("dsh_")}
    async with session_app(recording(MANY)) as driver:
        await driver.press("T", "4", "r", "v")
        assert isinstance(driver.top, Pager)
        assert json.loads(driver.top._model.text) == sent


async def test_another_kind_of_route_is_told_by_a_key() -> None:
    async with session_app(recording(MANY)) as driver:
        await driver.press("T", "4", ">")
        assert screen(driver).mode == "addition-only"
        told = []
        for _ in range(4):
            await driver.press("M")
            told.append(screen(driver).mode)
        assert told == [None, "addition-only", "in-history", "addition-only"]
        await driver.press("M", "M", "M")
        assert "6 of 9 messages: " in driver.text() or "6 of 9" in driver.text()
        assert "as in-history" in driver.text()


async def test_keys_go_to_tool_changes_errors_and_turns() -> None:
    async with session_app(recording(REJECTED)) as driver:
        await driver.press("4", "g")
        assert screen(driver).number == 1
        await driver.press("t")
        # README of the recording: added before turn 3, again before 7, removed before 8.
        assert screen(driver).table.row(screen(driver).number).place.turn == 3
        await driver.press("t")
        assert screen(driver).table.row(screen(driver).number).place.turn == 7
        await driver.press("g", "e")
        assert screen(driver).table.row(screen(driver).number).status == "failed"
        await driver.press("g", "]")
        assert screen(driver).table.row(screen(driver).number).place.turn == 2
        await driver.press("G", "t")
        assert "No later tool change." in driver.foot()


async def test_going_on_to_the_trajectory_selects_the_answer_of_the_request() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("4", "g", "t")
        wanted = screen(driver).table.row(screen(driver).number).place.seq
        await driver.press("2")
        assert isinstance(driver.top, SessionScreen)
        assert driver.selected_seq() == wanted
        assert driver.session.pane == "trajectory"
        await driver.press("4")
        assert screen(driver).table.row(screen(driver).number).place.seq == wanted
        await driver.press("escape")
        assert isinstance(driver.top, SessionScreen)


async def test_the_other_language_comes_at_once() -> None:
    async with session_app(recording(MANY)) as driver:
        await driver.press("T", "4", "L")
        text = driver.text()
        assert "请求" in text
        for english in ("Three routes", "kept prefix", "(recorded)", "tools changed"):
            assert english not in text


async def test_a_session_without_a_request_says_so(tmp_path: Path) -> None:
    path = log().turn().user("hello").end().write(tmp_path)
    async with session_app(path) as driver:
        await driver.press("4")
        assert "No model request was made in this session." in driver.text()
        await driver.press("v", "t", "M", "Y", "2")
        assert isinstance(driver.top, SessionScreen)


async def test_ascii_alone_draws_no_other_signs() -> None:
    async with session_app(recording(MANY), ascii_only=True) as driver:
        for keys in (("T", "4"), (">",), (">",)):
            await driver.press(*keys)
            assert driver.text().isascii(), [row for row in driver.rows() if not row.isascii()]


async def test_any_two_requests_can_be_compared() -> None:
    async with session_app(recording(RESTORE)) as driver:
        await driver.press("4", "g", "=", "G")
        text = driver.text()
        assert "request 14 · turn 8 · step 2 compared with request 1" in text
        # README of the recording: vent and bell were given other schemas meanwhile.
        assert "≠ saltmarsh · open_vent" in text
        assert "from request 1" in text
        await driver.press("g", "=", "G")
        assert "request 14 · turn 8 · step 2 compared with request 13" in driver.text()


async def test_a_running_session_adds_its_requests_to_the_list(tmp_path: Path) -> None:
    script = [answer("One.", pace_s=0), answer("Two.", pace_s=0)]
    async with talking(tmp_path, script) as talk:
        await talk.say("one?")
        talk.live.action_show_requests()
        await talk.until(lambda: isinstance(talk.top, RequestsScreen))
        requests = screen(talk)
        await talk.until(lambda: (len(requests.table), requests.number) == (1, 1))
        talk.conversation.agent.followup("two?")
        await talk.until(lambda: requests.model.count() == 2)
        assert requests.number == 1
        await talk.press("down")
        assert requests.number == 2
        assert "2 requests" in talk.head()
        assert (requests.mode, requests.table.row(2).source) == ("in-history", "catalog")


async def test_a_running_session_tells_of_routes_what_it_is_sent_through(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("One.", pace_s=0)], tools=[tool("peek")]) as talk:
        await talk.say("one?")
        # What the settings file says now may not be what this session was started with.
        assert talk.live.routes is not talk.app.routes
        talk.live.action_show_requests()
        await talk.until(lambda: isinstance(talk.top, RequestsScreen))
        assert screen(talk).table.book is talk.live.routes
        await talk.press("3")
        await talk.until(lambda: isinstance(talk.top, MatrixScreen))
        assert "in-history (catalogue)" in talk.text()


async def test_help_and_palette_tell_the_keys_of_the_requests() -> None:
    async with session_app(recording(MANY)) as driver:
        await driver.press("4")
        offered = [str(hit.display) async for hit in ActionCommands(screen(driver)).discover()]
        for told in (
            "Shown as on another kind of route",
            "Compare requests with this one",
            "Next failed request",
        ):
            assert told in offered
        assert "Requests as they were sent" not in offered
        (route,) = [hit async for hit in ActionCommands(screen(driver)).search("switch-route")][:1]
        await route.command()
        assert screen(driver).mode is None
        await driver.press("?")
        text = driver.text()
        assert "Shown as on another kind of route" in text and "The body, or the three routes" in text
        assert "One request back" not in text


async def test_a_fall_back_is_told_in_list_lens_difference_and_body(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().user("two").tools("peek", "poke").attempt(code="INVALID_REQUEST", status=400).answer("b")
    builder.fell_back().end()
    builder.turn().user("three").tools("peek", "poke", "prod").answer("c").end()
    async with session_app(builder.write(tmp_path)) as driver:
        await driver.press("4", "g", "j", "j")
        row = next(row for row in driver.rows() if row.startswith("▌"))
        assert "fall-back to full definitions" in row and "tools changed" not in row
        assert "The route refused tool changes" in driver.text()
        assert "So about " in driver.text() and "read again." in driver.text()
        await driver.press(">")
        assert "0 of 4 messages are kept; the first difference is in: declarations." in driver.text()
        assert "The route refused tool changes" in driver.text()
        assert "added, removed" not in driver.text()
        await driver.press("j")
        assert "Tools were added, removed" in driver.text()
        assert "The route refused" not in driver.text()


async def test_an_approximate_request_says_why_in_every_tab(tmp_path: Path) -> None:
    builder = log().turn().user("one").tools("peek").line(b"{broken").answer("a").end()
    async with session_app(builder.write(tmp_path)) as driver:
        await driver.press("4")
        for _ in range(3):
            assert "Approximate: records before it are damaged or missing." in driver.text()
            await driver.press(">")
