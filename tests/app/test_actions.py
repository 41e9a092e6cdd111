"""The action registry: no two actions share a key, each is described, and a reader's keymap is checked."""

import inspect
import re

import pytest
from textual.binding import Binding

from tui.app.actions import (
    ACTIONS,
    TALKING,
    Group,
    KeymapError,
    clashes,
    effective_keys,
    grouped,
    is_key,
    key_name,
    keys_table,
)
from tui.app.approval_panel import ApprovalPanel
from tui.app.block_view import BlockView
from tui.app.keymap import bind, bindings, footer
from tui.app.live_screen import LiveScreen
from tui.app.queue_strip import QueueStrip
from tui.i18n import translator

EN = translator("en")


def test_no_two_actions_share_a_key() -> None:
    assert clashes({action.id: action.keys for action in ACTIONS}) == []


def test_every_action_has_an_id_a_key_a_label_and_a_group() -> None:
    assert len({action.id for action in ACTIONS}) == len(ACTIONS)
    for action in ACTIONS:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", action.id)
        assert action.keys
        assert action.label
        assert action.group in Group
        assert bool(action.short) == action.show_in_footer, action.id
    assert len({action.label for action in ACTIONS}) == len(ACTIONS)


def test_every_default_key_is_one_that_terminals_leave_to_programs() -> None:
    taken = {f"ctrl+{letter}" for letter in "bsqzcijmh"}
    # While one writes, the line feed is a new line, and what interrupts elsewhere copies or clears.
    ours = {"new-line": {"ctrl+j"}, "copy-or-clear": {"ctrl+c"}}
    for action in ACTIONS:
        for key in action.keys:
            assert is_key(key), key
            assert key not in taken - ours.get(action.id, set()), action.id


def test_every_action_of_the_view_is_a_method_of_the_view() -> None:
    for action in ACTIONS:
        if action.scope == "view":
            assert inspect.isfunction(getattr(BlockView, f"action_{action.method}", None)), action.id


def test_every_action_of_talking_is_done_by_the_widget_that_its_scope_names() -> None:
    places = {"live": LiveScreen, "queue": QueueStrip, "approval": ApprovalPanel}
    for action in ACTIONS:
        assert (action.scope in TALKING) == (action.group is Group.TALK), action.id
        if action.scope in places:
            place = places[action.scope]
            assert inspect.isfunction(getattr(place, f"action_{action.method}", None)), action.id


def test_a_field_may_repeat_a_key_of_the_panes_but_not_one_of_its_own() -> None:
    keys = effective_keys({"approve-once": "j", "question-down": "y", "waiting-prompts": "ctrl+l"})
    assert keys["approve-once"] == ("j",)
    with pytest.raises(KeymapError) as error:
        effective_keys({"approve-once": "n"})
    assert error.value.fields == {"key": "n", "first": "approve-once", "second": "reject"}


def test_a_key_of_the_live_screen_may_hide_none_of_the_panes_or_the_composer() -> None:
    for key, other in (("t", "next-tool-change"), ("alt+up", "waiting-prompts"), ("y", "copy")):
        with pytest.raises(KeymapError) as error:
            effective_keys({"talk-help": key})
        assert {error.value.fields["first"], error.value.fields["second"]} == {other, "talk-help"}


def test_a_readers_keys_take_the_place_of_the_default_ones() -> None:
    keys = effective_keys({"copy": "c", "search": ["ctrl+f", "/"], "raw": []})
    assert keys["copy"] == ("c",)
    assert keys["search"] == ("ctrl+f", "/")
    assert keys["raw"] == ()
    assert keys["quit"] == ("q",)


def test_an_unknown_action_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(KeymapError) as error:
        effective_keys({"next-tool-chang": "x"})
    assert error.value.fields == {"action": "next-tool-chang", "nearest": "next-tool-change"}
    assert "next-tool-change" in error.value.sentence(EN)


def test_a_key_given_twice_is_refused_and_both_actions_are_named() -> None:
    with pytest.raises(KeymapError) as error:
        effective_keys({"copy": "q"})
    assert error.value.fields == {"key": "q", "first": "copy", "second": "quit"}


def test_two_actions_may_exchange_their_keys() -> None:
    keys = effective_keys({"copy": "q", "quit": "y"})
    assert (keys["copy"], keys["quit"]) == (("q",), ("y",))


@pytest.mark.parametrize("key", ["", "strg+x", "ctrl+", "banana", "a b", "f99", "\x1b", "\u202e"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(KeymapError):
        effective_keys({"copy": key})


@pytest.mark.parametrize("key", ["a", "Q", "/", "é", "水", "space", "shift+a"])
@pytest.mark.parametrize("action", [action.id for action in ACTIONS if action.scope == "composer"])
def test_the_composer_gives_no_action_a_key_that_writes(action: str, key: str) -> None:
    with pytest.raises(KeymapError) as error:
        effective_keys({action: ["f9", key]})
    assert error.value.sentence(EN) == (
        f"“{key}” of the action “{action}” could no longer be typed. Write “ctrl+x” or “f5”."
    )


@pytest.mark.parametrize("key", ["f9", "ctrl+e", "alt+a", "ctrl+shift+a", "enter", "pagedown"])
def test_the_composer_takes_a_key_that_writes_nothing(key: str) -> None:
    keys = {action.id: () for action in ACTIONS if action.scope == "composer"}
    assert effective_keys(keys | {"stop": key})["stop"] == (key,)


def test_the_table_lists_every_action_once_under_its_group() -> None:
    table = keys_table(EN)
    rows = table.splitlines()
    assert len(rows) == 2 + len(Group) + len(ACTIONS)
    for action in ACTIONS:
        assert sum(row.endswith(f"| {EN.t(action.label)} |") for row in rows) == 1
    assert sum(len(actions) for _, actions in grouped()) == len(ACTIONS)


def test_keys_are_named_as_on_the_keyboard() -> None:
    assert [key_name(key, EN) for key in ("up", "pagedown", "ctrl+p", "f1", "G", "/", "escape")] == [
        "↑",
        "PgDn",
        "Ctrl+P",
        "F1",
        "G",
        "/",
        "Esc",
    ]
    assert key_name("up", EN, ascii_only=True) == "Up"


def test_bindings_follow_the_keys_in_force() -> None:
    keys = effective_keys({"quit": "x"})
    made = bindings(keys, EN, "app")
    assert [(b.key, b.action) for b in made if b.id == "quit"] == [("x", "quit")]
    assert all(isinstance(b, Binding) and b.tooltip for b in made)
    assert not [b for b in made if b.id == "cursor-down"]


def test_binding_anew_takes_the_old_keys_of_the_registry_away() -> None:
    from tests.support.fake_blocks import FakeBlocks

    view = BlockView(FakeBlocks(1))
    bind(view, effective_keys(), EN, "view")
    bind(view, effective_keys({"cursor-down": "x"}), EN, "view")
    found = {key for key, binding in view._bindings if binding.id == "cursor-down"}
    assert found == {"x"}


def test_the_footer_shows_pairs_as_one_piece_and_keeps_help_longest() -> None:
    pieces = footer(effective_keys(), EN)
    texts = ["".join(span.text for span in piece.spans) for piece in pieces]
    assert "[ ] turn" in texts
    assert "T t tool change" in texts
    assert max(pieces, key=lambda piece: piece.keep) is pieces[texts.index("? keys")]
