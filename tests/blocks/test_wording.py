"""What the program says about tool changes, turns, faults and files, in both languages."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.nodes import PLACE, context, header, notice, reading_of, tool, tool_line
from tui.blocks.wording import (
    availability_text,
    damage_text,
    failure_title,
    header_summary,
    header_title,
    interruption_title,
    kind_name,
    node_text,
    notice_title,
    row_text,
    row_title,
    source_name,
    status_text,
)
from tui.blocks.wording_errors import error_text
from tui.blocks.wording_names import words
from tui.i18n import translator
from tui.nodes import chat as c
from tui.nodes.notices import HeaderNotice, ToolNotice
from tui.nodes.trajectory import trajectory_row
from tui.session.damage import Damage
from tui.session.errors import SessionAmbiguous, SessionNotFound, SessionUnreadable
from tui.session.reader import read_log
from tui.session.write_errors import SessionRefused, SessionWriteError

EN, ZH = translator("en"), translator("zh")
MIST, VENT = "mcp__saltmarsh__mist_bed", "mcp__saltmarsh__open_vent"


def many(count: int) -> tuple:
    return tuple(tool_line(f"mcp__saltmarsh__tool_{n}") for n in range(count))


@pytest.mark.parametrize(
    ("told", "en", "zh"),
    [
        (notice((tool_line(MIST),)), "Tool added: mist_bed (saltmarsh)", "新增工具：mist_bed（saltmarsh）"),
        (
            notice((), (tool_line(MIST),)),
            "Tool removed: mist_bed (saltmarsh)",
            "移除工具：mist_bed（saltmarsh）",
        ),
        (notice((tool_line("bash"),)), "Tool added: bash", "新增工具：bash"),
        (
            notice((tool_line(MIST, restored=True),)),
            "Tool restored: mist_bed (saltmarsh)",
            "恢复工具：mist_bed（saltmarsh）",
        ),
        (
            notice((tool_line(MIST, restored=True, redefined=True),)),
            "Tool restored, redefined: mist_bed (saltmarsh)",
            "恢复工具（定义变更）：mist_bed（saltmarsh）",
        ),
        (notice(many(2)), "Tools changed · 2 added", "工具变更 · 新增 2 个"),
        (notice((), many(2)), "Tools changed · 2 removed", "工具变更 · 移除 2 个"),
        (notice(many(1), many(1)), "Tools changed · 1 added, 1 removed", "工具变更 · 新增 1 个，移除 1 个"),
        (
            notice(many(12), many(3)),
            "Tools changed · 12 added, 3 removed",
            "工具变更 · 新增 12 个，移除 3 个",
        ),
        (
            notice((tool_line(MIST, restored=True), tool_line(VENT, restored=True, redefined=True))),
            "Tools changed · 2 added (2 restored, 1 redefined)",
            "工具变更 · 新增 2 个（含恢复 2 个、定义变更 1 个）",
        ),
        (
            notice(many(1200)),
            "Tools changed · 1,200 added",
            "工具变更 · 新增 1,200 个",
        ),
    ],
)
def test_a_notice_names_one_tool_and_counts_several(told: ToolNotice, en: str, zh: str) -> None:
    assert (notice_title(EN, told), notice_title(ZH, told)) == (en, zh)


@pytest.mark.parametrize(
    ("told", "en", "zh"),
    [
        (
            header(redefined=(tool_line(MIST),)),
            "Tool redefined: mist_bed (saltmarsh)",
            "工具定义变更：mist_bed（saltmarsh）",
        ),
        (
            header(redefined=(tool_line(MIST), tool_line("bash"))),
            "2 tools redefined: mist_bed (saltmarsh), bash",
            "2 个工具定义变更：mist_bed（saltmarsh）、bash",
        ),
        (
            header(added=("a", "b"), removed=("c",)),
            "Tools changed without a notice · 2 added, 1 removed",
            "工具已变更但没有通知 · 新增 2 个，移除 1 个",
        ),
        (header(config_changed=("model",), model="minnow-2"), "Model: minnow-2", "模型：minnow-2"),
        (header(config_changed=("temperature",)), "Settings changed: temperature", "设置已变更：温度"),
    ],
)
def test_a_header_tells_what_no_message_told(told: HeaderNotice, en: str, zh: str) -> None:
    assert (header_title(EN, told), header_title(ZH, told)) == (en, zh)


@pytest.mark.parametrize(
    ("told", "en", "zh"),
    [
        (
            header(tool_count=14, added=tuple("abcdefghijkl"), removed=tuple("xyz")),
            "tools 5 → 14 · +12 −3",
            "工具 5 → 14 · +12 −3",
        ),
        (header(tool_count=1, first=True), "first, 1 tool", "首个，1 个工具"),
        (header(tool_count=5, first=True), "first, 5 tools", "首个，5 个工具"),
        (header(tool_count=3, series_cause="series"), "3 tools · new series", "3 个工具 · 新系列"),
    ],
)
def test_the_trajectory_tells_a_header_by_how_many_tools_there_were_and_are(
    told: HeaderNotice, en: str, zh: str
) -> None:
    assert (header_summary(EN, told), header_summary(ZH, told)) == (en, zh)


@pytest.mark.parametrize("name", ["many-tools-changed", "single-tool-added", "remove-and-restore"])
@pytest.mark.parametrize("tr", [EN, ZH], ids=["en", "zh"])
def test_the_header_and_the_notice_of_one_change_read_differently(name: str, tr) -> None:
    reading = reading_of(name)
    rows = [trajectory_row(reading, n) for n in range(len(reading.trajectory.index))]
    pairs = [
        (before, after)
        for before, after in pairwise(rows)
        if before.kind == "header" and after.tool_notice is not None
    ]
    assert pairs
    for before, after in pairs:
        assert row_text(tr, before) != row_text(tr, after)
        assert kind_name(tr, "header") != kind_name(tr, "tool-change")


@pytest.mark.parametrize(
    ("source", "en", "zh"),
    [
        ("runtime-context", "runtime context", "运行时上下文"),
        ("subagent-settled", "subagent settled", "子智能体已结束"),
        ("hooks-codex", "hook output", "钩子输出"),
        ("plugin:lantern", "plugin:lantern", "plugin:lantern"),
        ("", "context", "上下文"),
    ],
)
def test_sources_have_human_names_and_unknown_ones_their_own(source: str, en: str, zh: str) -> None:
    assert (source_name(EN, source), source_name(ZH, source)) == (en, zh)


@pytest.mark.parametrize(
    ("code", "en"),
    [
        ("QUOTA", "This turn failed: the quota or balance is used up (QUOTA)"),
        ("HTTP_418", "This turn failed: the provider answered with HTTP status 418 (HTTP_418)"),
        ("NEW_CODE", "This turn failed (NEW_CODE)"),
        ("", "This turn failed"),
    ],
)
def test_a_failure_gives_the_plain_reason_and_the_code(code: str, en: str) -> None:
    assert failure_title(EN, code) == en


@pytest.mark.parametrize(
    ("reason", "cause", "en", "zh"),
    [
        ("aborted", "user", "Stopped by the user", "用户已停止"),
        ("aborted", "parent", "Stopped by the parent session", "已被父会话停止"),
        ("aborted", "a new cause", "Stopped (a new cause)", "已停止（a new cause）"),
        ("max-tokens", "", "The turn ended at the output token limit", "本轮达到输出 token 上限后结束"),
        ("blocked", "", "Blocked by a hook before the first step", "首个步骤前被钩子拦截"),
        ("postponed", "", "Ended: postponed", "结束：postponed"),
    ],
)
def test_an_interruption_says_who_stopped_and_unknown_reasons_stand_as_they_are(
    reason: str, cause: str, en: str, zh: str
) -> None:
    assert (interruption_title(EN, reason, cause), interruption_title(ZH, reason, cause)) == (en, zh)


@pytest.mark.parametrize(
    ("availability", "seq", "en", "zh"),
    [
        ("active", None, "", ""),
        ("fresh", 28, "new", "新增"),
        ("removed", 44, "tool was removed at 44", "该工具已在 44 移除"),
        ("not-yet", 44, "tool came only at 44", "该工具到 44 才新增"),
        ("unknown", None, "not offered", "未提供该工具"),
    ],
)
def test_a_call_tells_whether_its_tool_was_there(
    availability: str, seq: int | None, en: str, zh: str
) -> None:
    node = tool(availability=availability, availability_seq=seq)
    assert (availability_text(EN, node), availability_text(ZH, node)) == (en, zh)


@pytest.mark.parametrize(
    ("text", "en", "zh"),
    [
        ("One", "Thought for 0.3 s · 1 word", "思考 0.3 秒 · 1 字"),
        ("Two words", "Thought for 0.3 s · 2 words", "思考 0.3 秒 · 2 字"),
        ("苔藓湿了 and more", "Thought for 0.3 s · 6 words", "思考 0.3 秒 · 6 字"),
    ],
)
def test_reasoning_is_timed_and_counted_in_words_and_characters_of_chinese(
    text: str, en: str, zh: str
) -> None:
    from tui.blocks.wording import node_title

    node = c.ReasoningNode(**PLACE, text=text, duration_ms=300)
    assert (node_title(EN, node), node_title(ZH, node)) == (en, zh)


def test_damage_names_its_place_in_the_text_and_in_the_file() -> None:
    plain = Damage(code="bad-row", line=12, offset=3456, reason="not JSON")
    framed = Damage(code="torn-tail", line=9, offset=1, reason="cut", frame_offset=77)
    assert damage_text(EN, plain) == "A line is no event: not JSON. (line 12, byte 3,456)"
    assert damage_text(ZH, plain) == "有一行不是事件：not JSON。（第 12 行，字节 3,456）"
    assert damage_text(EN, framed).endswith("(line 9, frame at byte 77)")


@pytest.mark.parametrize(
    ("code", "found", "en", "zh"),
    [
        (
            "seq-hole",
            14,
            "A gap in the numbers: event 14 follows 10, 3 are missing. (line 3, byte 9)",
            "序号缺失：事件 10 之后是 14，缺少 3 个。（第 3 行，字节 9）",
        ),
        (
            "seq-hole",
            12,
            "A gap in the numbers: event 12 follows 10, 1 is missing. (line 3, byte 9)",
            "序号缺失：事件 10 之后是 12，缺少 1 个。（第 3 行，字节 9）",
        ),
        (
            "seq-rewind",
            4,
            "The numbers run back: event 4 follows 10. (line 3, byte 9)",
            "序号倒退：事件 10 之后是 4。（第 3 行，字节 9）",
        ),
        (
            "seq-repeat",
            10,
            "A number is used twice: event 10 follows 10. (line 3, byte 9)",
            "序号重复：事件 10 之后又是 10。（第 3 行，字节 9）",
        ),
    ],
)
def test_trouble_with_numbers_names_both_in_either_language(code: str, found: int, en: str, zh: str) -> None:
    fields: dict[str, int | str] = {"expected": 11, "found": found, "previous": 10}
    damage = Damage(code=code, line=3, offset=9, reason="told in English", fields=fields)
    assert (damage_text(EN, damage), damage_text(ZH, damage)) == (en, zh)


def test_a_broken_frame_is_told_with_its_bytes_and_why() -> None:
    damage = Damage(
        code="bad-frame",
        line=10,
        offset=2400,
        reason="zstd decompressor error: Restored data doesn't match checksum",
        frame_offset=1082,
        fields={"frame_offset": 1082, "bytes": 400},
    )
    place = "(line 10, bytes 1,082 to 1,481 of the file)"
    told = "A compressed frame is broken and its events are lost: its checksum does not match."
    assert damage_text(EN, damage) == f"{told} {place}"
    assert damage_text(ZH, damage) == (
        "一个压缩帧已损坏，其中的事件丢失：校验和不符。（第 10 行，文件字节 1,082 至 1,481）"
    )


def test_every_fault_of_the_damaged_recordings_is_told_in_chinese_without_english_sentences(
    shared: Path,
) -> None:
    told: set[str] = set()
    for folder in (shared / "recordings/torn", shared / "bugs/cases"):
        for log in sorted(folder.rglob("session.v4.jsonl*")):
            if log.suffix == ".tmp":
                continue
            try:
                found = read_log(log)
            except SessionUnreadable as error:
                told.add(error_text(ZH, error).rpartition("：")[2])
            else:
                told.update(damage_text(ZH, damage) for damage in found.damage)
    assert told
    # Three English words in a row are a sentence; names of types and keys are not.
    assert [text for text in told if re.search(r"(?:[A-Za-z]{2,} ){2}[A-Za-z]{2,}", text)] == []


def test_an_unknown_fault_is_told_with_its_code() -> None:
    damage = Damage(code="moon-phase", line=1, offset=0, reason="full")
    assert damage_text(EN, damage) == "The log is damaged (moon-phase): full. (line 1, byte 0)"


@pytest.mark.parametrize(
    "code",
    [
        "missing",
        "no-permission",
        "is-a-folder",
        "not-a-file",
        "read-failed",
        "no-log",
        "empty-file",
        "no-header",
        "not-a-session",
        "bad-header",
        "newer-format",
        "old-format",
    ],
)
def test_every_error_is_one_sentence_that_names_the_file(code: str) -> None:
    told = error_text(EN, SessionUnreadable(Path("/moss/log.jsonl"), code, "a detail", version=7))
    assert told.startswith("/moss/log.jsonl: ") and told.endswith(".") and "\n" not in told
    assert error_text(ZH, SessionUnreadable(Path("/moss/log.jsonl"), code, version=7)).endswith("。")


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (
            SessionWriteError,
            ("disk-full", "too-big", "no-permission", "read-only", "write-failed", "closed"),
        ),
        (
            SessionRefused,
            (
                "locked",
                "damaged",
                "unknown-events",
                "rule",
                "older-generation",
                "other-encoding",
                "mixed-encodings",
                "exists",
                "foreign-home",
            ),
        ),
    ],
)
def test_a_session_that_is_not_written_is_told_in_one_sentence_too(
    error: type, codes: tuple[str, ...]
) -> None:
    for code in codes:
        told = error_text(EN, error(Path("/moss/log.jsonl"), code, "a detail", type="moon/rise", seq=7))
        assert told.startswith("/moss/log.jsonl: ") and told.endswith(".") and "\n" not in told
        assert "cannot be read" not in told and "may not be read" not in told
        assert error_text(ZH, error(Path("/moss/log.jsonl"), code)).endswith("。")


def test_an_argument_that_names_none_or_several_sessions_is_repeated() -> None:
    assert "abc" in error_text(EN, SessionNotFound("abc"))
    told = error_text(EN, SessionAmbiguous("ab", [Path("/a/abc"), Path("/a/abd")]))
    assert told == "ab names 2 sessions; write more of the id: /a/abc, /a/abd"


def test_names_with_control_characters_are_told_without_them() -> None:
    told = notice_title(EN, notice((tool_line("mcp__salt\x1b[2J__mist\x07"),)))
    assert told == "Tool added: mist (salt)"


def test_the_text_of_prompts_answers_and_reasoning_is_whole() -> None:
    text = "moss " * 5000
    assert node_text(EN, c.UserNode(**PLACE, content=c.Content(text=text))) == text
    assert node_text(EN, c.ReasoningNode(**PLACE, text=text, duration_ms=None)) == text


def test_the_text_of_a_notice_is_its_collapsed_line() -> None:
    assert node_text(EN, context(told=notice(many(12), many(3)))) == "Tools changed · 12 added, 3 removed"


def test_states_that_are_not_known_stand_as_they_are() -> None:
    assert status_text(EN, "hibernating") == "hibernating"
    assert status_text(ZH, "running") == "运行中"


def test_a_row_of_a_call_names_server_and_tool_apart() -> None:
    reading = reading_of("tool-use")
    rows = [trajectory_row(reading, n) for n in range(len(reading.trajectory.index))]
    first = next(row for row in rows if row.kind == "tool")
    assert row_title(EN, first) == "saltmarsh · read_gauge"
    assert row_text(EN, first) == "saltmarsh · read_gauge  bed=fern"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("don't stop re-reading it", 4),
        ("先看水温,再看湿度", 8),
        ("用 mist_bed 看 v2.1 的湿度", 7),
        ("a漢-字b", 4),
        ("— … 🌿", 0),
    ],
)
def test_chinese_characters_count_as_words_of_their_own(text: str, count: int) -> None:
    assert words(EN, text) == f"{count} words"
