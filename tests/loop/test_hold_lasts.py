"""A session whose tools are held stays so after a restart; what became of them meanwhile is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.loop_driver import Driver, Recorded, driving, instantly, model, scripted, tool
from tui.llm.script import Call
from tui.session.forking import fork
from tui.session.hold_record import HOLD, Hold, hold_of

MODEL = model(mode="in-history")


def script(*answers: Any) -> Any:
    return scripted(Recorded(answers), MODEL)


async def held(home: Path) -> Path:
    """A turn with two tools, after which they are held."""
    async with driving(home, script(instantly("Damp.")), tools=[tool("peek"), tool("water")]) as driver:
        await driver.say("How wet?")
        driver.agent.hold_tools()
        return driver.writer.path


def declared(driver: Driver) -> list[str]:
    header = driver.events("request/header")[-1].data["header"]
    return [entry["name"] for entry in header.get("tools", ())]


def results(driver: Driver) -> list[dict[str, Any]]:
    return [event.data for event in driver.events("tool/result")]


async def test_the_log_takes_note_once_of_each_change(tmp_path: Path) -> None:
    async with driving(tmp_path, script(instantly("Damp.")), tools=[tool("peek")]) as driver:
        await driver.say("How wet?")
        driver.agent.hold_tools()
        driver.agent.hold_tools()
        driver.tools.register(tool("water"))
        driver.agent.release_tools()
        driver.agent.release_tools()
        told = [hold_of(event.type, event.data, ignorable=event.ignorable) for event in driver.events(HOLD)]
        header = driver.events("request/header")[-1].seq
    assert told == [
        Hold(held=True, header_seq=header, tools=1, waiting=0),
        Hold(held=False, waiting=1),
    ]


async def test_a_resumed_session_is_sent_what_it_held_whatever_is_there_now(tmp_path: Path) -> None:
    path = await held(tmp_path)
    now = [tool("peek"), tool("water", description="Waters more."), tool("sow")]
    async with driving(tmp_path, script(instantly("Still.")), tools=now, resume=path) as driver:
        assert driver.agent.holds_tools
        waiting = driver.tools.waiting(driver.agent)
        assert (waiting.added, waiting.removed, waiting.redefined) == (("sow",), (), ("water",))
        await driver.say("And now?")
        assert declared(driver) == ["peek", "water"]
        assert driver.events("request/header")[-1].data["header"]["tools"][1]["description"] == (
            "The water tool."
        )
        assert driver.events("developer/message") == []
        assert "hold" not in str(driver.agent.writer.derive_messages())


async def test_what_is_there_as_it_was_runs_and_what_is_not_fails_with_its_reason(tmp_path: Path) -> None:
    path = await held(tmp_path)
    asks = instantly(Call("peek", {}, id="c1"), Call("water", {}, id="c2"))
    changed = tool("water", description="Waters more.")
    async with driving(
        tmp_path, script(asks, instantly("So.")), tools=[tool("peek"), changed], resume=path
    ) as driver:
        await driver.say("Do both.")
        first, second = results(driver)
    assert first["message"]["content"][0]["text"] == "peek done"
    assert second["error"]["code"] == "UNKNOWN_TOOL"
    assert 'tool "water" is not available' in second["message"]["content"][0]["text"]


async def test_a_tool_that_comes_back_as_it_was_after_the_restart_runs_again(tmp_path: Path) -> None:
    path = await held(tmp_path)
    answers = [instantly(Call("water", {}, id=f"c{at}")) for at in (1, 2)]
    async with driving(
        tmp_path, script(answers[0], instantly("No."), answers[1], instantly("Yes.")), resume=path
    ) as driver:
        assert driver.tools.waiting(driver.agent).removed == ("peek", "water")
        await driver.say("Water.")
        driver.tools.register(tool("water"))
        assert driver.tools.waiting(driver.agent).removed == ("peek",)
        await driver.say("Again.")
        gone, back = results(driver)
    assert gone["error"]["code"] == "UNKNOWN_TOOL"
    assert back["message"]["content"][0]["text"] == "water done"


async def test_a_release_brings_what_waited_as_one_change_and_lasts_too(tmp_path: Path) -> None:
    path = await held(tmp_path)
    async with driving(
        tmp_path, script(instantly("Now.")), tools=[tool("peek"), tool("sow")], resume=path
    ) as driver:
        driver.agent.release_tools()
        await driver.say("And now?")
        (change,) = driver.events("developer/message")
        named = [(block["type"], block["toolName"]) for block in change.data["message"]["content"]]
        assert named == [("tool-addition", "sow"), ("tool-removal", "water")]
    async with driving(tmp_path, script(), tools=[tool("peek")], resume=path) as driver:
        assert not driver.agent.holds_tools


async def test_a_hold_right_after_a_restart_keeps_the_tools_of_the_log(tmp_path: Path) -> None:
    async with driving(tmp_path, script(instantly("Damp.")), tools=[tool("peek")]) as driver:
        await driver.say("How wet?")
        path = driver.writer.path
    async with driving(
        tmp_path, script(instantly("Still.")), tools=[tool("peek"), tool("sow")], resume=path
    ) as driver:
        driver.agent.hold_tools()
        assert driver.tools.waiting(driver.agent).added == ("sow",)
        await driver.say("And now?")
        assert declared(driver) == ["peek"]


async def test_a_hold_before_the_first_request_keeps_what_is_there(tmp_path: Path) -> None:
    async with driving(tmp_path, script(instantly("Damp.")), tools=[tool("peek")]) as driver:
        driver.agent.hold_tools()
        driver.tools.register(tool("sow"))
        await driver.say("How wet?")
        assert declared(driver) == ["peek"]
        assert "headerSeq" not in driver.events(HOLD)[0].data


async def test_a_hold_from_before_the_first_request_keeps_what_that_request_is_given(tmp_path: Path) -> None:
    async with driving(tmp_path, script()) as driver:
        driver.agent.hold_tools()
        path = driver.writer.path
    async with driving(tmp_path, script(instantly("Damp."), instantly("Still.")), resume=path) as driver:
        driver.tools.register(tool("peek"))
        assert driver.agent.holds_tools and not driver.tools.waiting(driver.agent)
        await driver.say("How wet?")
        driver.tools.register(tool("sow"))
        assert driver.tools.waiting(driver.agent).added == ("sow",)
        await driver.say("And now?")
        assert declared(driver) == ["peek"]


async def test_a_fork_begins_held_as_its_source_was_at_that_place(tmp_path: Path) -> None:
    path = await held(tmp_path / "a")
    copy = fork(path, tmp_path / "b", preferred="none").writer
    await copy.close()
    async with driving(
        tmp_path, script(instantly("Still.")), tools=[tool("peek"), tool("sow")], resume=copy.path
    ) as driver:
        assert driver.agent.holds_tools
        await driver.say("And now?")
        assert declared(driver) == ["peek", "water"]


async def test_a_condition_that_was_not_met_is_no_change_that_waits(tmp_path: Path) -> None:
    from tui.tools.registry import ToolRegistry

    path = await held(tmp_path)
    registry = ToolRegistry()
    registry.register(tool("tide"), when=lambda context: False)
    async with driving(
        tmp_path, script(), tools=[tool("peek"), tool("water")], resume=path, registry=registry
    ) as driver:
        assert not driver.tools.waiting(driver.agent)


def test_only_an_ignorable_record_with_a_literal_true_or_false_counts() -> None:
    assert hold_of(HOLD, {"held": True}, ignorable=False) is None
    assert hold_of("plugin:dsh-tui/else", {"held": True}, ignorable=True) is None
    for value in (1, "true", None, [True]):
        assert hold_of(HOLD, {"held": value}, ignorable=True) is None
    assert hold_of(HOLD, ["held"], ignorable=True) is None
    told = hold_of(HOLD, {"held": True, "cause": 7, "tools": -1, "headerSeq": "3"}, ignorable=True)
    assert told == Hold(held=True, cause="")
