"""What a live screen says around its panes: keys, hints, the route, how the last turn ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from tui.app.conversation import Conversation
from tui.app.live_commands import SlashCommand
from tui.app.status_bar import Piece
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.glyphs import mark
from tui.blocks.text import Span
from tui.blocks.wording_errors import error_text
from tui.blocks.wording_faults import interruption_title
from tui.blocks.wording_ways_out import way_out
from tui.i18n import Translator
from tui.llm.failure import LlmFailure
from tui.nodes.reading import Reading
from tui.session.json_value import as_object, as_text
from tui.session.write_errors import SessionWriteError

LiveKeys: TypeAlias = Literal["idle", "running", "asked", "answering"]
_COMMANDS: Final = "commands"
"""What begins a command is written, not pressed, so it is no action."""


def live_keys(surroundings: Surroundings, state: LiveKeys, *, has_text: bool) -> list[Piece]:
    """The keys of the composer, those that matter most first to stay."""
    tr = surroundings.tr
    if state == "answering":
        keys = [("next-pane", tr.t("panes"))]
    elif state == "asked":
        keys = [("next-pane", tr.t("to the question")), ("stop", tr.t("stop"))]
    elif state == "running":
        tab = ("queue-prompt", tr.t("queue")) if has_text else ("next-pane", tr.t("panes"))
        keys = [("send", tr.t("steer")), tab, ("stop", tr.t("stop"))]
        keys.append(("waiting-prompts", tr.t("waiting prompts")))
    else:
        keys = [("send", tr.t("send")), ("new-line", tr.t("new line")), ("next-pane", tr.t("panes"))]
        keys.append(("earlier-prompt", tr.t("earlier prompts")))
    keys += [(_COMMANDS, tr.t("commands")), ("talk-help", tr.t("keys"))]
    order = {"stop": 99, "talk-help": 40, _COMMANDS: 60}
    named = [
        (surroundings.key(action) if action != _COMMANDS else "/", action, text) for action, text in keys
    ]
    return [
        Piece((Span(key, "key"), Span(f" {text}", "muted")), keep=order.get(action, 90 - at))
        for at, (key, action, text) in enumerate(named)
        if key
    ]


def command_pieces(tr: Translator, commands: Sequence[SlashCommand]) -> list[Piece]:
    """The commands that can be meant."""
    return [
        Piece((Span(f"/{entry.name}", "key"), Span(f" {tr.t(entry.label)}", "muted")), keep=90 - at)
        for at, entry in enumerate(commands)
    ]


def composer_hint(surroundings: Surroundings, *, runs: bool) -> str:
    """What stands in an empty composer."""
    tr = surroundings.tr
    if runs:
        key = surroundings.key_word("queue-prompt")
        return tr.t("Steer the running turn, or queue a prompt with {key}", key=key)
    return tr.t("Write a prompt; / for commands")


def route_piece(tr: Translator, conversation: Conversation) -> list[Piece]:
    """How the route takes tool changes; nothing where there is no route."""
    try:
        route = conversation.route
    except LlmFailure:
        return []
    if conversation.agent.has_fallen_back(route):
        return [Piece((Span(tr.t("full definitions"), "warning"),), keep=30)]
    mode = route.model.tool_update or tr.t("no tool updates")
    return [Piece((Span(mode, "muted"),), keep=30)]


def outcome_spans(tr: Translator, reading: Reading, *, ascii_only: bool) -> tuple[Span, ...]:
    """How the last turn ended, and what to do if it failed."""
    turns = reading.turns.turns
    if not turns or turns[-1].is_open:
        return ()
    turn = turns[-1]
    if turn.reason == "completed":
        sign = mark("ok", ascii_only)
        took = tr.duration(turn.duration_ms) if turn.duration_ms is not None else ""
        told = tr.t("turn {number}", number=turn.number) + (f" · {took}" if took else "")
        return (Span(f"{sign.text} ", sign.role), Span(told, "muted"))
    reason = as_object(as_object(reading.log.event(turn.end_row).data).get("reason"))
    if turn.reason == "error":
        code = as_text(as_object(reason.get("error")).get("code"))
        sign = mark("failure", ascii_only)
        out = way_out(tr, code) or tr.t("Send it again, or change the model with /model.")
        return (Span(f"{sign.text} {clean_line(code)}  ", "error"), Span(out, "warning"))
    cause = as_text(as_object(reason.get("reason")).get("kind"))
    sign = mark("interrupted", ascii_only)
    return (Span(f"{sign.text} ", sign.role), Span(interruption_title(tr, turn.reason, cause), "warning"))


def unwritable_sentence(tr: Translator, error: SessionWriteError) -> str:
    """What to say when the log cannot be written any more."""
    told = error_text(tr, error)
    return tr.t("Nothing more can be saved, so the session stops here: {reason}", reason=told)
