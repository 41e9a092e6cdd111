"""The composer: sending, lines, history, pastes, keys of old terminals, the terminal's cursor."""

from __future__ import annotations

from pathlib import Path
from time import process_time

from textual import events
from textual._xterm_parser import XTermParser

from tests.support.live_driver import Talk, talking
from tui.app.composer import History, know_alt_enter
from tui.llm.script import answer
from tui.loop.messages import text_of


def sent(talk: Talk) -> list[str]:
    """What the user sent so far."""
    return [
        text_of(event.data)
        for event in talk.conversation.writer.events
        if event.type == "user/message" and event.data["source"]["kind"] == "user"
    ]


def test_the_history_goes_back_and_returns_to_what_was_being_written() -> None:
    history = History(["one", "two"])
    assert history.step(-1, "draft") == "two"
    assert history.step(-1, "two") == "one"
    assert history.step(-1, "one") is None
    assert history.step(1, "one") == "two"
    assert history.step(1, "two") == "draft"
    assert history.step(1, "draft") is None


async def test_enter_sends_and_the_composer_is_empty_then(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Moss.")]) as talk:
        await talk.say("How is the moss?")
        assert sent(talk) == ["How is the moss?"]
        assert talk.live.composer.text == ""


async def test_every_key_for_a_new_line_makes_one(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Moss.")]) as talk:
        await talk.press("a", "ctrl+j", "b", "shift+enter", "c", "alt+enter", "d")
        assert talk.live.composer.text == "a\nb\nc\nd"
        assert talk.live.composer.size.height == 4


async def test_alt_enter_of_an_old_terminal_comes_as_two_keys_and_makes_a_line(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Moss.")]) as talk:
        await talk.write("a")
        for key in ("escape", "enter"):
            talk.app.post_message(events.Key(key, None))
        await talk.until(lambda: talk.live.composer.text == "a\n")
        assert sent(talk) == [] and talk.live.composer.has_focus


def test_escape_and_a_carriage_return_at_once_are_alt_and_enter() -> None:
    know_alt_enter()
    parser = XTermParser()
    assert [event.key for event in parser.feed("\x1b\r") if isinstance(event, events.Key)] == ["alt+enter"]
    assert [event.key for event in parser.feed("\r") if isinstance(event, events.Key)] == ["enter"]


async def test_a_paste_of_ten_thousand_lines_is_quick_and_sent_whole(tmp_path: Path) -> None:
    text = "\n".join(f"line {number} of the log \x1b[31m" for number in range(10_000))
    async with talking(tmp_path, [answer("Long.")]) as talk:
        composer = talk.live.composer
        begun = process_time()
        composer.post_message(events.Paste(text))
        await talk.until(lambda: composer.text != "")
        assert process_time() - begun < 1.0
        assert composer.text == "[pasted 10,000 lines]"
        await talk.write(" what is that?")
        await talk.press("enter")
        await talk.idle()
        assert sent(talk) == [text + " what is that?"]


async def test_two_pastes_are_told_apart_and_a_short_one_stands_as_it_is(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("Yes.")]) as talk:
        composer = talk.live.composer
        composer.put("a\r\nb")
        composer.post_message(events.Paste("\r\n".join("xy" * 8)))
        composer.post_message(events.Paste("\r".join("z" * 16)))
        await talk.until(lambda: "#2" in composer.text)
        whole = composer.whole_text
        assert whole.endswith("\n".join("xy" * 8) + "\n".join("z" * 16))


async def test_up_and_down_at_the_edges_go_through_what_was_sent(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("1"), answer("2")]) as talk:
        await talk.say("first\nprompt")
        await talk.say("second")
        await talk.write("draft")
        await talk.press("up")
        assert talk.live.composer.text == "second"
        await talk.press("up")
        assert talk.live.composer.text == "first\nprompt"
        await talk.press("down")
        assert talk.live.composer.text == "second"
        await talk.press("down")
        assert talk.live.composer.text == "draft"


async def test_inside_a_text_up_and_down_only_move(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("1")]) as talk:
        await talk.say("sent before")
        await talk.write("one\ntwo\nthree")
        await talk.press("up")
        assert talk.live.composer.text == "one\ntwo\nthree"
        assert talk.live.composer.cursor_location[0] == 1


async def test_the_terminal_cursor_stands_where_the_next_letter_goes(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("1")]) as talk:
        await talk.write("苔藓")
        composer = talk.live.composer
        region = composer.content_region
        assert tuple(talk.app.cursor_position) == (region.x + 4, region.y)


async def test_two_slashes_send_a_prompt_and_an_unknown_command_is_not_sent(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("1")]) as talk:
        await talk.say("//etc is full")
        assert sent(talk) == ["/etc is full"]
        await talk.write("/compcat")
        await talk.press("enter")
        assert sent(talk) == ["/etc is full"]
        assert "/compact" in talk.foot()


async def test_what_a_command_can_be_is_offered_while_it_is_written(tmp_path: Path) -> None:
    async with talking(tmp_path, [answer("1")]) as talk:
        await talk.write("/co")
        assert "/compact" in talk.foot() and "/model" not in talk.foot()
