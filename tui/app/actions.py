"""The one table of what a reader can do: id, default keys, label and group of each action.

Key bindings, the footer, the help screen, the command palette, the README's table and the reader's own
keymap are all made from `ACTIONS`. An action `fold-turns` is done by the method `action_fold_turns` of the
widget its scope names. Labels are catalogue messages. Keys are named as Textual names them, single
characters as themselves. Control with b, s, q, z is left to terminals and multiplexers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from tui.i18n import N_, Translator

Scope: TypeAlias = Literal[
    "view", "session", "matrix", "requests", "draft", "app", "live", "composer", "queue", "approval"
]
"""Who does it: the block view in focus, the session's screen, the matrix in focus, the editor of a draft, or
the program; of a live session its screen, the composer, the waiting prompts or the open question, each while
it has the focus."""
TALKING: Final[frozenset[Scope]] = frozenset(("live", "composer", "queue", "approval"))
"""Scopes that only a live session has."""
KEYBOARDS: Final[tuple[tuple[Scope, ...], ...]] = (
    ("view", "session", "matrix", "requests", "app"),
    ("draft",),
    ("view", "session", "live"),
    ("live", "composer"),
    ("live", "queue"),
    ("live", "approval"),
)
"""Scopes among which a key may mean one thing only. The composer, the waiting prompts and the question hear
every key before the panes do, and only while they have the focus, so they may repeat keys of the panes; F1 of
a live session repeats the program's because it tells the same and more."""
Keys: TypeAlias = tuple[str, ...]


class Group(StrEnum):
    """Headings of the help screen, in its order."""

    MOVE = N_("Moving")
    FIND = N_("Finding")
    FOLD = N_("Opening and folding")
    PANES = N_("Panes and inspector")
    MATRIX = N_("Tools over time")
    REQUESTS = N_("Requests")
    DRAFT = N_("In the draft of a summary")
    COPY = N_("Copying")
    TALK = N_("Talking")
    PROGRAM = N_("Program")


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a reader can do.

    `label` is what help and palette say, `short` what the footer says; both are catalogue messages.
    """

    id: str
    keys: Keys
    label: str
    group: Group
    scope: Scope = "session"
    show_in_footer: bool = False
    short: str = ""

    @property
    def method(self) -> str:
        """The action's name for Textual; the widget has a method `action_` plus this."""
        return self.id.replace("-", "_")


ACTIONS: tuple[Action, ...] = (
    Action("cursor-up", ("up", "k"), N_("Previous entry; a long one row by row"), Group.MOVE, "view"),
    Action(
        "cursor-down",
        ("down", "j"),
        N_("Next entry; a long one row by row"),
        Group.MOVE,
        "view",
        show_in_footer=True,
        short=N_("move"),
    ),
    Action("page-up", ("pageup",), N_("One page up"), Group.MOVE, "view"),
    Action("page-down", ("pagedown",), N_("One page down"), Group.MOVE, "view"),
    Action("half-page-up", ("ctrl+u",), N_("Half a page up"), Group.MOVE, "view"),
    Action("half-page-down", ("ctrl+d",), N_("Half a page down"), Group.MOVE, "view"),
    Action("first", ("g", "home"), N_("First entry"), Group.MOVE, "view"),
    Action("last", ("G", "end"), N_("Last entry, and follow new ones"), Group.MOVE, "view"),
    Action("previous-turn", ("[",), N_("Previous turn"), Group.MOVE),
    Action("next-turn", ("]",), N_("Next turn"), Group.MOVE, show_in_footer=True, short=N_("turn")),
    Action("previous-tool-change", ("T",), N_("Previous tool change"), Group.FIND),
    Action(
        "next-tool-change",
        ("t",),
        N_("Next tool change"),
        Group.FIND,
        show_in_footer=True,
        short=N_("tool change"),
    ),
    Action("previous-error", ("E",), N_("Previous error"), Group.FIND),
    Action("next-error", ("e",), N_("Next error"), Group.FIND, show_in_footer=True, short=N_("error")),
    Action("search", ("/",), N_("Search this session"), Group.FIND, show_in_footer=True, short=N_("search")),
    Action("next-match", ("n",), N_("Next search hit"), Group.FIND),
    Action("previous-match", ("N",), N_("Previous search hit"), Group.FIND),
    Action("go-to-seq", (":",), N_("Go to a seq number"), Group.FIND),
    Action("filter-tool-changes", ("f",), N_("Show tool changes only"), Group.FIND),
    Action(
        "activate",
        ("enter", "space"),
        N_("Open or fold the entry"),
        Group.FOLD,
        "view",
        show_in_footer=True,
        short=N_("open"),
    ),
    Action("toggle-visible", ("o",), N_("Open or fold what is on screen"), Group.FOLD),
    Action("expand-all", ("O",), N_("Open all entries"), Group.FOLD),
    Action("collapse-all", ("C",), N_("Fold all entries"), Group.FOLD),
    Action("fold-turns", ("z",), N_("Fold or open turns"), Group.FOLD),
    Action("fold-calls", ("Z",), N_("Fold or open tool calls"), Group.FOLD),
    Action("toggle-bookkeeping", (".",), N_("Show or hide bookkeeping records"), Group.FOLD),
    Action("show-chat", ("1",), N_("Chat"), Group.PANES),
    Action("show-trajectory", ("2",), N_("Trajectory"), Group.PANES),
    Action("show-tools", ("3",), N_("Tools over time"), Group.PANES),
    Action("show-requests", ("4",), N_("Requests as they were sent"), Group.PANES),
    Action("next-pane", ("tab",), N_("The other pane"), Group.PANES, show_in_footer=True, short=N_("pane")),
    Action(
        "toggle-inspector",
        ("i",),
        N_("Show or hide the inspector"),
        Group.PANES,
        show_in_footer=True,
        short=N_("inspect"),
    ),
    Action("previous-inspector-tab", ("<",), N_("Previous inspector tab"), Group.PANES),
    Action("next-inspector-tab", (">",), N_("Next inspector tab"), Group.PANES),
    Action("raw", ("r",), N_("Raw record of the entry"), Group.PANES),
    Action("pager", ("v",), N_("Whole text of the entry in the pager"), Group.PANES),
    Action("doctor", ("d",), N_("Doctor: what is wrong with this session"), Group.PANES),
    Action("verify", ("V",), N_("Doctor: ask, then try a fresh session"), Group.PANES),
    Action("column-left", ("left", "h"), N_("One request back"), Group.MATRIX, "matrix"),
    Action("column-right", ("right", "l"), N_("One request on"), Group.MATRIX, "matrix"),
    Action("columns-left", ("shift+left", "H"), N_("One page of requests back"), Group.MATRIX, "matrix"),
    Action("columns-right", ("shift+right", "R"), N_("One page of requests on"), Group.MATRIX, "matrix"),
    Action("switch-route", ("M",), N_("Shown as on another kind of route"), Group.REQUESTS, "requests"),
    Action("compare-from", ("=",), N_("Compare requests with this one"), Group.REQUESTS, "requests"),
    Action("recover", ("s",), N_("Draft a summary for a fresh session"), Group.PANES),
    Action("open-original", ("U",), N_("Open the session it goes on from"), Group.PANES),
    Action("start-fresh", ("f5",), N_("Start a fresh session from the draft"), Group.DRAFT, "draft"),
    Action("copy-draft", ("f6",), N_("Copy the draft"), Group.DRAFT, "draft"),
    Action(
        "improve-draft",
        ("f7",),
        N_("Send it to a model to be improved"),
        Group.DRAFT,
        "draft",
    ),
    Action("other-draft", ("f8",), N_("The draft before or after the model"), Group.DRAFT, "draft"),
    Action("save-draft", ("f9",), N_("Save the draft as a file"), Group.DRAFT, "draft"),
    Action("close-draft", ("escape",), N_("Stop the model, else close the draft"), Group.DRAFT, "draft"),
    Action("draft-help", ("f1",), N_("All keys of the draft"), Group.DRAFT, "draft"),
    Action("copy", ("y",), N_("Copy the entry's text"), Group.COPY),
    Action("copy-address", ("Y",), N_("Copy the entry's address"), Group.COPY),
    Action("release-mouse", ("m",), N_("Hand the mouse over, or take it back"), Group.COPY, "app"),
    Action(
        "send", ("enter",), N_("Send; while a turn runs, steer it at its next step"), Group.TALK, "composer"
    ),
    Action(
        "new-line",
        ("alt+enter", "shift+enter", "ctrl+j", "ctrl+enter"),
        N_("New line"),
        Group.TALK,
        "composer",
    ),
    Action(
        "queue-prompt",
        ("tab",),
        N_("While a turn runs, queue what is written for a turn of its own; else the next pane"),
        Group.TALK,
        "composer",
    ),
    Action(
        "stop", ("escape",), N_("Stop the turn; without one, to the panes and back"), Group.TALK, "composer"
    ),
    Action("earlier-prompt", ("up",), N_("Earlier prompt, from the first row"), Group.TALK, "composer"),
    Action("later-prompt", ("down",), N_("Later prompt, from the last row"), Group.TALK, "composer"),
    Action("chat-page-up", ("pageup",), N_("Scroll the chat up"), Group.TALK, "composer"),
    Action("chat-page-down", ("pagedown",), N_("Scroll the chat down"), Group.TALK, "composer"),
    Action(
        "copy-or-clear",
        ("ctrl+c", "super+c"),
        N_("Copy what is selected, else clear, else leave"),
        Group.TALK,
        "composer",
    ),
    Action("leave-empty", ("ctrl+d",), N_("Leave, from an empty composer"), Group.TALK, "composer"),
    Action("waiting-prompts", ("alt+up",), N_("To the waiting prompts"), Group.TALK, "composer"),
    Action("previous-waiting", ("up", "k"), N_("Previous waiting prompt"), Group.TALK, "queue"),
    Action("next-waiting", ("down", "j"), N_("Next waiting prompt, or the composer"), Group.TALK, "queue"),
    Action("edit-waiting", ("enter", "e"), N_("Take a waiting prompt back and edit it"), Group.TALK, "queue"),
    Action(
        "remove-waiting", ("delete", "backspace", "x"), N_("Remove a waiting prompt"), Group.TALK, "queue"
    ),
    Action("approve-once", ("y",), N_("Allow the call, this once"), Group.TALK, "approval"),
    Action("approve-always", ("a",), N_("Allow such calls in this session"), Group.TALK, "approval"),
    Action("reject", ("n",), N_("Reject the call, with a reason"), Group.TALK, "approval"),
    Action("question-up", ("up", "k"), N_("Scroll the question up"), Group.TALK, "approval"),
    Action("question-down", ("down", "j"), N_("Scroll the question down"), Group.TALK, "approval"),
    Action("question-page-up", ("pageup",), N_("One page up in the question"), Group.TALK, "approval"),
    Action("question-page-down", ("pagedown",), N_("One page down in the question"), Group.TALK, "approval"),
    Action(
        "hold-tools",
        ("f4",),
        N_("Keep the tools of this session as they are, or let changes in again"),
        Group.TALK,
        "live",
    ),
    Action("talk-help", ("f1",), N_("All keys, and the commands of talking"), Group.TALK, "live"),
    Action("help", ("?", "f1"), N_("All keys"), Group.PROGRAM, "app", show_in_footer=True, short=N_("keys")),
    Action("palette", ("ctrl+p",), N_("Command palette"), Group.PROGRAM, "app"),
    Action("switch-language", ("L",), N_("English or Chinese"), Group.PROGRAM, "app"),
    Action("switch-theme", ("D",), N_("Dark or light"), Group.PROGRAM, "app"),
    Action("redraw", ("ctrl+l",), N_("Redraw the screen"), Group.PROGRAM, "app"),
    Action("back", ("escape", "b"), N_("Close, or back to the library"), Group.PROGRAM),
    Action("quit", ("q",), N_("Leave dsh-tui"), Group.PROGRAM, "app", show_in_footer=True, short=N_("quit")),
)


class KeymapError(Exception):
    """A keymap that cannot be used; `sentence` tells the reader which entry and what to do.

    Args:
        message: catalogue message with `{fields}`.
        fields: what the message names.
    """

    def __init__(self, message: str, **fields: str) -> None:
        self.message = message
        self.fields = fields
        super().__init__(message.format(**fields))

    def sentence(self, tr: Translator) -> str:
        """One sentence in the reader's language."""
        return tr.t(self.message, **self.fields)


def effective_keys(
    overrides: Mapping[str, str | Sequence[str]] | None = None, actions: Sequence[Action] = ACTIONS
) -> dict[str, Keys]:
    """The keys of every action, the reader's own in place of the default ones.

    Args:
        overrides: action id to a key, or to several; an empty list takes the action off the keyboard.
        actions: the registry.

    Raises:
        KeymapError: an id or a key that does not exist, a key that two actions would share, or one of the
            composer's that writes a character.
    """
    keys = {action.id: action.keys for action in actions}
    typed_beside = {action.id for action in actions if action.scope in ("composer", "draft")}
    for action_id, wanted in (overrides or {}).items():
        if action_id not in keys:
            raise _unknown_action(action_id, keys)
        chosen = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        for key in chosen:
            if not is_key(key):
                raise KeymapError(
                    N_("“{key}” of the action “{action}” is no key. Write “x”, “X”, “ctrl+x” or “f5”."),
                    key=key,
                    action=action_id,
                )
            if action_id in typed_beside and _is_typed(key):
                raise KeymapError(
                    N_("“{key}” of the action “{action}” could no longer be typed. Write “ctrl+x” or “f5”."),
                    key=key,
                    action=action_id,
                )
        keys[action_id] = chosen
    for key, first, second in clashes(keys, actions):
        raise KeymapError(
            N_("The key “{key}” belongs to both “{first}” and “{second}”. Give one of them another key."),
            key=key,
            first=first,
            second=second,
        )
    return keys


def clashes(keys: Mapping[str, Keys], actions: Sequence[Action] = ACTIONS) -> list[tuple[str, str, str]]:
    """Keys that two actions of one keyboard share: the key and both ids, in table order.

    The scopes of one of `KEYBOARDS` are heard together: a view's key would hide the screen's.
    """
    scopes = {action.id: action.scope for action in actions}
    found: dict[tuple[str, str, str], None] = {}
    for keyboard in KEYBOARDS:
        owners: dict[str, str] = {}
        for action_id, action_keys in keys.items():
            if scopes[action_id] not in keyboard:
                continue
            for key in action_keys:
                owner = owners.setdefault(key, action_id)
                if owner != action_id:
                    found[key, owner, action_id] = None
    return list(found)


_NAMED_KEYS = frozenset(
    (
        *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
        *("insert", "delete", "backspace", "enter", "escape", "space", "tab"),
    )
)
_KEY = re.compile(r"(?:(?:ctrl|alt|shift|super|meta)\+)*(?P<key>f(?:[1-9]|1\d|2[0-4])|[a-z]+|\S)")


def is_key(key: str) -> bool:
    """Whether a terminal could send this key, as far as its name tells."""
    match = _KEY.fullmatch(key)
    if match is None:
        return False
    name = match["key"]
    return (len(name) == 1 and name.isprintable()) or name in _NAMED_KEYS or name[1:].isdigit()


def _is_typed(key: str) -> bool:
    """Whether this key writes a character where one writes."""
    name = key.removeprefix("shift+")
    return len(name) == 1 or name == "space"


_KEY_SIGNS = {"up": "↑", "down": "↓", "left": "←", "right": "→", "enter": "⏎"}
_KEY_NAMES = {
    "up": N_("Up"),
    "down": N_("Down"),
    "left": N_("Left"),
    "right": N_("Right"),
    "home": N_("Home"),
    "end": N_("End"),
    "pageup": N_("PgUp"),
    "pagedown": N_("PgDn"),
    "insert": N_("Ins"),
    "delete": N_("Del"),
    "backspace": N_("Backspace"),
    "enter": N_("Enter"),
    "escape": N_("Esc"),
    "space": N_("Space"),
    "tab": N_("Tab"),
}


def key_name(key: str, tr: Translator, *, ascii_only: bool = False) -> str:
    """A key as the reader's keyboard calls it: ↑, PgUp, Ctrl+P, F1."""
    *modifiers, name = key.split("+") if len(key) > 1 else [key]
    if not ascii_only and name in _KEY_SIGNS:
        shown = _KEY_SIGNS[name]
    elif name in _KEY_NAMES:
        shown = tr.t(_KEY_NAMES[name])
    elif modifiers or len(name) > 1:
        shown = name.upper()
    else:
        shown = name
    return "+".join([*(modifier.capitalize() for modifier in modifiers), shown])


def key_names(keys: Iterable[str], tr: Translator, *, ascii_only: bool = False) -> str:
    """All keys of an action, apart by a space."""
    return " ".join(key_name(key, tr, ascii_only=ascii_only) for key in keys)


def grouped(actions: Sequence[Action] = ACTIONS) -> list[tuple[Group, list[Action]]]:
    """The actions under their headings, both in table order."""
    return [(group, [action for action in actions if action.group is group]) for group in Group]


def keys_table(tr: Translator, keys: Mapping[str, Keys] | None = None) -> str:
    """The Markdown table of all keys, as the README shows it."""
    keys = effective_keys() if keys is None else keys
    rows = [f"| {tr.t('Keys')} | {tr.t('What they do')} |", "|---|---|"]
    for group, actions in grouped():
        rows.append(f"| **{tr.t(group)}** | |")
        rows.extend(
            f"| {' '.join(_code(key_name(key, tr)) for key in keys[action.id])} | {tr.t(action.label)} |"
            for action in actions
        )
    return "\n".join(rows) + "\n"


def _code(key: str) -> str:
    return "`" + key.replace("|", "\\|") + "`"


def _unknown_action(action_id: str, known: Iterable[str]) -> KeymapError:
    nearest = get_close_matches(action_id, list(known), n=1, cutoff=0.0)
    return KeymapError(
        N_("There is no action “{action}” to give a key to. Did you mean “{nearest}”?"),
        action=action_id,
        nearest=nearest[0],
    )
