"""Chat nodes in rows: what is seen folded, what opens, and that nothing leaves its width."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.nodes import (
    PLACE,
    RECORDINGS,
    context,
    every_kind,
    header,
    notice,
    reading_of,
    tool,
    tool_line,
    turn,
)
from tui.blocks.cells import cell_len
from tui.blocks.chat_layout import (
    Layout,
    chat_lines,
    estimate_rows,
    gap_before,
    is_expandable,
    is_notice,
    starts_expanded,
)
from tui.blocks.glyphs import GLYPHS
from tui.blocks.text import MODIFIERS, ROLES, plain
from tui.i18n import translator
from tui.nodes import chat as c
from tui.nodes.chat_index import NodeKind
from tui.nodes.chat_nodes import chat_node

EN, ZH = translator("en"), translator("zh")
WIDTHS = (1, 7, 20, 40, 80, 200)
HOSTILE = (
    "before\x1b[2J\x1b[10;1Hafter",
    "\x1b]0;owned\x07text",
    "\x1b]0;never closed",
    "\x9b31mred\x9d0;t\x9c",
    "[red]not red[/red] [/] [@click=app.quit]press[/]",
    "PASSED\rFAILED",
    "\u202eevil\u2066\u200b\ufeff",
    "half \ud83d of an emoji",
    "漢字かな 🙂 👨‍👩‍👧 Z̵̡͢a̸̷l é",
    "\t\n\n  \n",
    "",
)


def shown(node: c.ChatNode, width: int = 80, *, tr=EN, expanded: bool = False, **more) -> list[str]:
    layout = Layout(width=width, tr=tr, expanded=expanded, **more)
    return [plain(row).rstrip() for row in chat_lines(node, layout)]


def notices(name: str) -> list[c.ContextNode]:
    reading = reading_of(name)
    nodes = (chat_node(reading, n) for n in range(len(reading.chat.index)))
    return [node for node in nodes if isinstance(node, c.ContextNode) and node.notice is not None]


def test_a_single_added_tool_is_named_without_opening_anything() -> None:
    (node,) = notices("single-tool-added")
    assert shown(node, tr=EN) == [
        "⊕ Tool added: mist_bed (saltmarsh)  Mist one bed for a number of seconds.      ▸"
    ]
    assert shown(node, tr=ZH)[0].startswith("⊕ 新增工具：mist_bed（saltmarsh）")


def test_a_single_tool_opens_to_its_description_and_parameters() -> None:
    (node,) = notices("single-tool-added")
    rows = shown(node, expanded=True)
    title, facts = "⊕ Tool added: mist_bed (saltmarsh)", "header 25 · turn 2 · saltmarsh ▾"
    assert rows[0] == title + facts.rjust(80 - len(title))
    assert rows[1:3] == ["  Mist one bed for a number of seconds.", "  parameters"]
    assert '      "bed": {' in rows


def test_many_changed_tools_are_counted_and_the_row_says_that_it_opens() -> None:
    (node,) = notices("many-tools-changed")
    assert shown(node) == ["⊕ Tools changed · 12 added, 3 removed                                     ▸ open"]
    assert shown(node, tr=ZH)[0].startswith("⊕ 工具变更 · 新增 12 个，移除 3 个")


def test_many_changed_tools_stand_side_by_side_on_a_wide_pane() -> None:
    (node,) = notices("many-tools-changed")
    assert shown(node, 100, expanded=True) == [
        "⊕ Tools changed · 12 added, 3 removed".ljust(68) + "header 27 · turn 2 · saltmarsh ▾",
        "  added                                             removed",
        "  + count_moths   Count the moths at a lamp.        − close_vent  Close a roof vent.",
        "  + fill_trough   Fill a water trough.              − mist_bed    Mist one bed.",
        "  + find_label    Find a lost label.                − open_vent   Open a roof vent.",
        "  + label_pot     Print a label for a pot.",
        "  + lift_sash     Lift a sash window.",
        "  + log_frost     Write a frost note.",
        "  + ring_bell     Ring the closing bell.",
        "  + shade_bench   Draw the shade over a bench.",
        "  + sow_tray      Sow a seed tray.",
        "  + turn_compost  Turn one compost bay.",
        "  + warm_frame    Warm a cold frame.",
        "  + weigh_crate   Weigh a harvest crate.",
    ]


def test_many_changed_tools_stand_below_each_other_on_a_narrow_pane() -> None:
    (node,) = notices("many-tools-changed")
    rows = shown(node, 60, expanded=True)
    assert (
        rows.index("  added")
        < rows.index("  + weigh_crate   Weigh a harvest crate.")
        < rows.index("  removed")
    )
    assert rows[-3:] == [
        "  − close_vent  Close a roof vent.",
        "  − mist_bed    Mist one bed.",
        "  − open_vent   Open a roof vent.",
    ]


def test_removed_restored_and_redefined_tools_read_differently() -> None:
    titles = [row[0].split("  ")[0] for row in (shown(node, 120) for node in notices("remove-and-restore"))]
    assert titles == [
        "⊕ Tools changed · 2 removed",
        "⊕ Tool restored: mist_bed (saltmarsh)",
        "⊕ Tool restored, redefined: open_vent (saltmarsh)",
        "⊕ Tool added: ring_bell (saltmarsh)",
        "⊕ Tool removed: ring_bell (saltmarsh)",
        "⊕ Tool restored, redefined: ring_bell (saltmarsh)",
    ]


def test_restored_and_redefined_tools_of_a_list_have_a_mark_and_a_word() -> None:
    told = notice(
        (
            tool_line("mcp__s__a", "One."),
            tool_line("mcp__s__b", "Two.", restored=True),
            tool_line("mcp__s__c", "Three.", redefined=True),
        )
    )
    rows = shown(context(told=told), expanded=True)
    assert rows[2] == "  + a              One."
    assert rows[3] == "  ↺ b · restored   Two."
    assert rows[4] == "  ≠ c · redefined  Three."


def test_tools_of_several_servers_are_grouped_by_server() -> None:
    told = notice((tool_line("mcp__loom__weave"), tool_line("mcp__saltmarsh__mist"), tool_line("bash")))
    assert shown(context(told=told), expanded=True)[1:] == [
        "  added",
        "  loom",
        "  + weave",
        "  saltmarsh",
        "  + mist",
        "  without a server",
        "  + bash",
    ]


def test_a_list_longer_than_the_bound_says_how_much_is_hidden() -> None:
    told = notice(tuple(tool_line(f"mcp__s__t{n}") for n in range(900)))
    rows = shown(context(told=told), expanded=True)
    assert len(rows) == 400
    assert rows[-1] == "  … 503 more rows"
    assert len(shown(context(told=told), expanded=True, full=True)) == 902


def test_other_blocks_of_a_developer_message_are_shown_folded_and_open() -> None:
    told = notice((tool_line("a"), tool_line("b")))
    content = c.Content(text="A word more.", foreign=(c.ForeignBlock(type="moon", data={"phase": 3}),))
    for expanded in (False, True):
        rows = shown(context(told=told, content=content), expanded=expanded)
        assert "  A word more." in rows
        assert "  Unknown content block: moon" in rows
        assert '    "phase": 3' in rows


def test_a_redefinition_without_a_message_has_a_row_of_its_own() -> None:
    node = c.HeaderNode(**PLACE, notice=header(redefined=(tool_line("mcp__s__mist", "Mist it."),)))
    assert shown(node)[0].startswith("≠ Tool redefined: mist (s)")
    assert shown(node, expanded=True)[1:] == ["  redefined", "  ≠ mist  Mist it."]


def test_the_rule_of_a_turn_tells_the_facts_that_exist() -> None:
    assert shown(turn(), 90)[-1].startswith(
        "── Turn 2 ── 14:35:36 · 1.2 s · 1.0k tok · cache 54% · 2 calls ──"
    )
    bare = turn(duration_ms=None, tokens=0, cache_share=None, calls=0, time_ms=None, is_open=True, reason="")
    assert shown(bare, 40)[-1] == "── Turn 2 ── not finished ──────────────"
    assert shown(turn(), 90, tr=ZH)[-1].startswith(
        "── 第 2 轮 ── 14:35:36 · 1.2 秒 · 1.0k token · 缓存命中 54%"
    )


def test_a_narrow_rule_keeps_the_outcome_and_the_tool_changes() -> None:
    row = shown(turn(reason="error", tool_changes=2), 50)[-1]
    assert "⊕ 2 tool changes · failed" in row and "cache" not in row


def test_a_call_is_one_row_with_arguments_and_duration() -> None:
    assert shown(tool(), 70) == ["✓ saltmarsh · count_moths  lamp=north                          12 ms ▸"]


@pytest.mark.parametrize(
    ("facts", "start", "end"),
    [
        ({"state": "error", "error_code": "UNKNOWN_TOOL"}, "✕ ", "UNKNOWN_TOOL  12 ms ▸"),
        ({"state": "no-result", "duration_ms": None}, "○ ", "no result recorded ▸"),
        ({"state": "not-started", "duration_ms": None}, "○ ", "never started ▸"),
        ({"state": "running", "duration_ms": None}, "… ", "running ▸"),
        ({"nested": True}, "  ↳ ✓ ", "12 ms ▸"),
        ({"availability": "fresh"}, "✓ saltmarsh · count_moths · new  ", "12 ms ▸"),
        (
            {"availability": "removed", "availability_seq": 44},
            "✓ saltmarsh · count_moths · tool was removed at 44",
            "12 ms ▸",
        ),
    ],
)
def test_a_call_tells_how_it_ended_and_whether_its_tool_was_there(facts: dict, start: str, end: str) -> None:
    (row,) = shown(tool(**facts))
    assert row.startswith(start) and row.endswith(end)


def test_a_narrow_call_keeps_its_error_code_before_its_duration() -> None:
    (row,) = shown(tool(state="error", error_code="UNKNOWN_TOOL"), 45)
    assert row == "✕ saltmarsh · count_moths      UNKNOWN_TOOL ▸"


def test_an_open_call_shows_whole_name_pretty_arguments_and_result() -> None:
    rows = shown(tool(state="error", error_name="Oops", error_code="E_CODE"), expanded=True)
    assert rows[1:] == [
        "  mcp__saltmarsh__count_moths · call_1 · seq 3",
        "  Oops · E_CODE",
        "  arguments",
        "  {",
        '    "lamp": "north"',
        "  }",
        "  result",
        "  12 moths",
    ]


def test_a_long_result_is_bounded_and_says_how_much_is_hidden() -> None:
    node = tool(result=c.Content(text="\n".join(f"row {n}" for n in range(600))))
    assert shown(node, expanded=True)[-2:] == ["  row 38", "  … 561 more rows"]


def test_what_is_hidden_is_opened_by_the_key_in_force() -> None:
    node = tool(result=c.Content(text="\n".join(f"row {n}" for n in range(600))))
    for tr, told in (
        (EN, "… 561 more rows · F6 opens the whole text"),
        (ZH, "… 还有 561 行 · 按 F6 查看全文"),
    ):
        assert shown(node, tr=tr, expanded=True, pager="F6")[-1].strip() == told


def test_reasoning_is_folded_to_one_row_and_opens_to_its_text() -> None:
    node = c.ReasoningNode(**PLACE, text="Twelve new tools,\nthree gone.", duration_ms=300)
    assert shown(node) == ["", "▸ Thought for 0.3 s · 5 words  Twelve new tools, three gone."]
    assert shown(node, expanded=True) == [
        "",
        "▾ Thought for 0.3 s · 5 words",
        "  Twelve new tools,",
        "  three gone.",
    ]


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"text": "Half a", "truncated": True}, "Cut off: output token limit reached"),
        ({"text": "Half a", "interrupted": True}, "Interrupted: the answer is not complete"),
        ({"text": "", "empty": True}, "The answer has no content"),
        ({"text": "  \n"}, "The answer has no content"),
    ],
)
def test_an_answer_that_is_not_whole_says_so(facts: dict, said: str) -> None:
    rows = shown(c.AssistantNode(**PLACE, provider="p", model="m", **facts))
    assert rows[-1].endswith(said)


def test_a_failure_shows_the_whole_message_its_status_and_request_id() -> None:
    message = " ".join(f"messages.{n}.content" for n in range(60))
    node = c.FailureNode(
        **PLACE, code="INVALID_REQUEST", message=message, status=400, request_id="req_1", details={}
    )
    rows = shown(node)
    assert rows[1].startswith("✕ This turn failed: the provider rejected the request (INVALID_REQUEST)")
    assert any(row.endswith("HTTP 400") for row in rows)
    assert " ".join(" ".join(rows[2:-1]).split()).endswith(message.split()[-1])
    assert all(word in " ".join(rows) for word in message.split())
    assert rows[-1] == "  request id req_1"


def test_retries_are_one_row_that_opens_to_every_attempt() -> None:
    attempts = tuple(
        c.RetryAttempt(
            seq=n,
            retry=n,
            max_retries=3,
            delay_ms=750,
            code="SERVER",
            message="Overloaded.",
            status=529,
            request_id=f"req_{n}",
            started=True,
            partial="Almost" if n == 2 else "",
        )
        for n in (1, 2)
    )
    node = c.RetryNode(**PLACE, attempts=attempts)
    assert shown(node) == ["⟳ Retried 2 of 3 times · 1.5 s waited · SERVER 529  Overloaded.                ▸"]
    opened = shown(node, 120, expanded=True)
    assert [row.split()[0] for row in opened[1:3]] == ["1", "2"]
    assert all(f"req_{n}" in " ".join(opened) for n in (1, 2)) and opened[-1].strip() == "Almost"


def test_what_the_model_no_longer_sees_says_so() -> None:
    node = c.UserNode(**PLACE, content=c.Content(text="Mist it."), replaced=True)
    rows = shown(node)
    assert rows[1].endswith("out of context")
    assert rows[2] == "▌╎Mist it."


def test_steering_and_withdrawn_prompts_are_told_apart() -> None:
    assert "steering" in shown(c.UserNode(**PLACE, content=c.Content(text="x"), steering=True))[1]
    assert "never sent" in shown(c.UserNode(**PLACE, content=c.Content(text="x"), discarded=True))[1]


def test_a_todo_list_shows_its_items_from_the_start() -> None:
    items = (
        c.TodoItem(content="Read the gauges", status="completed"),
        c.TodoItem(content="Mist the moss", status="in_progress"),
        c.TodoItem(content="Write the note", status="pending"),
    )
    node = c.TodoNode(**PLACE, items=items)
    assert starts_expanded(node)
    rows = shown(node, expanded=True)
    assert rows[0].startswith("▤ To-do list · 1 of 3 done")
    assert rows[1:] == ["  ☑ Read the gauges", "  ◐ Mist the moss", "  ☐ Write the note"]


def test_an_unknown_event_shows_type_and_data_and_dims_only_what_may_be_ignored() -> None:
    loud = c.UnknownNode(**PLACE, type="moon/phase", ignorable=False, known=False, data={"n": 1})
    quiet = c.UnknownNode(**PLACE, type="moon/ping", ignorable=True, known=False, data={"n": 1})
    assert "may not show the whole story" in shown(loud, 100)[0] and '{"n":1}' in shown(loud, 100)[1]
    assert '{"n":1}' in shown(quiet)[0]
    first = chat_lines(quiet, Layout(80, EN, False))[0]
    assert all("dim" in span.role or not span.text.strip() for span in first.spans[:2])
    assert '    "n": 1' not in shown(loud) and '    "n": 1' in shown(loud, expanded=True)


def test_damage_is_a_whole_sentence_however_narrow_the_pane() -> None:
    node = next(node for node in every_kind("x" * 90) if isinstance(node, c.DamageNode))
    assert "".join("".join(shown(node, 30)).split()).count("x") == 90


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_row_of_any_kind_is_wider_than_the_pane_or_holds_a_control_character(
    width: int, text: str
) -> None:
    for node in every_kind(text):
        for expanded in (False, True):
            for more in ({}, {"ascii": True}, {"raw": True}, {"full": True}, {"previous": "user"}):
                rows = chat_lines(node, Layout(width=width, tr=ZH, expanded=expanded, **more))
                assert rows
                for row in rows:
                    said = plain(row)
                    assert row.cells == cell_len(said) <= width, (node.kind, said)
                    assert not any(ord(ch) < 32 or 127 <= ord(ch) < 160 for ch in said), (node.kind, said)
                    assert not any(0xD800 <= ord(ch) < 0xE000 for ch in said)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.integers(1, 120), st.booleans())
def test_any_text_in_any_node_stays_within_the_width(text: str, width: int, expanded: bool) -> None:
    for node in every_kind(text):
        for row in chat_lines(node, Layout(width=width, tr=EN, expanded=expanded)):
            assert row.cells == cell_len(plain(row)) <= width


def test_every_role_of_a_layout_is_one_that_drawers_know() -> None:
    known = {*ROLES, *MODIFIERS}
    for node in every_kind("# moss\n\n```python\nx = 1\n```"):
        for expanded in (False, True):
            for row in chat_lines(node, Layout(80, EN, expanded)):
                assert {token for span in row.spans for token in span.role.split()} <= known, node.kind


def test_every_glyph_takes_one_cell_and_has_an_ascii_form() -> None:
    for what, glyph in GLYPHS.items():
        assert cell_len(glyph.glyph) == 1 == len(glyph.ascii), what
        assert glyph.ascii.isascii() and glyph.role in ROLES, what


def test_only_ascii_is_drawn_of_our_own_where_only_ascii_can_be() -> None:
    for node in every_kind("moss"):
        for expanded in (False, True):
            for row in shown(node, expanded=expanded, ascii=True):
                assert row.isascii(), row


def test_a_node_never_lays_out_more_rows_than_its_bound() -> None:
    for node in every_kind("moss bed\n" * 20_000):
        assert len(chat_lines(node, Layout(80, EN, True))) <= 401, node.kind


def test_a_progress_bar_of_carriage_returns_shows_its_last_state() -> None:
    text = "".join(f"\rstep {n} of 5001" for n in range(1, 5002))
    rows = shown(tool(result=c.Content(text=text)), expanded=True)
    assert "step 5001 of 5001" in rows[-1] and len(rows) < 15


@pytest.mark.parametrize("name", sorted(p.name for p in RECORDINGS.iterdir() if p.is_dir()))
@pytest.mark.parametrize("width", [40, 81, 200])
def test_every_recording_is_laid_out_within_its_width(name: str, width: int) -> None:
    reading = reading_of(name)
    previous = None
    for index in range(len(reading.chat.index)):
        node = chat_node(reading, index)
        for expanded in (False, True) if is_expandable(node) else (False,):
            layout = Layout(width=width, tr=ZH, expanded=expanded, previous=previous)
            assert all(row.cells <= width for row in chat_lines(node, layout))
        previous = node.kind


def test_one_row_nodes_stand_tight_and_prompts_and_answers_apart() -> None:
    assert not gap_before("tool", "tool")
    assert not gap_before("context", "context")
    assert gap_before("user", "turn") and gap_before("assistant", "tool") and gap_before("tool", "assistant")
    assert shown(turn(index=0))[0] != ""


def test_estimates_are_positive_for_every_kind_and_bounded() -> None:
    for kind in NodeKind:
        for expanded in (False, True):
            assert 1 <= estimate_rows(int(kind), 10_000_000, 0, 0, 80, expanded) <= 400
            assert estimate_rows(int(kind), 0, 0, 0, 1, expanded) >= 1


def test_notices_are_known_as_such() -> None:
    assert is_notice(context(told=notice((tool_line("a"),)))) and not is_notice(context("text"))
