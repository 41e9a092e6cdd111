"""The slash commands of the composer: one table makes the parser and what is offered while one is written."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final, NamedTuple

from tui.i18n import N_, Translator


class SlashCommand(NamedTuple):
    """One command; `label` is a catalogue message."""

    name: str
    label: str
    argument: str = ""


COMMANDS: Final = (
    SlashCommand("compact", N_("condense the history now")),
    SlashCommand("model", N_("show the models, or choose another"), "[PROVIDER/]MODEL"),
    SlashCommand("tool-updates", N_("show the routes that refuse tool changes, or forget them"), "[reset]"),
    SlashCommand("hold", N_("keep the tools of this session as they are, or let changes in again")),
    SlashCommand("checkpoint", N_("note where the work stands: to save, or for a fresh session")),
    SlashCommand("checked", N_("after a first check: let a session from a summary write and run")),
    SlashCommand("help", N_("all keys and commands")),
    SlashCommand("quit", N_("leave; the session can be resumed")),
)


class Typed(NamedTuple):
    """A command as it was typed."""

    name: str
    argument: str


def parse(text: str) -> Typed | None:
    """The command that a text is, None for a prompt; two slashes begin a prompt with one."""
    if not text.startswith("/") or text.startswith("//") or "\n" in text.strip():
        return None
    name, _, argument = text[1:].strip().partition(" ")
    return Typed(name, argument.strip())


def matching(text: str) -> tuple[SlashCommand, ...]:
    """The commands that what is written so far can become; none if it is a prompt."""
    if not text.startswith("/") or "\n" in text or " " in text:
        return ()
    return tuple(entry for entry in COMMANDS if entry.name.startswith(text[1:]))


def is_command(name: str) -> bool:
    """Whether there is a command of this name."""
    return any(entry.name == name for entry in COMMANDS)


def unknown_sentence(tr: Translator, name: str) -> str:
    """What to say of a command that does not exist."""
    near = get_close_matches(name, [entry.name for entry in COMMANDS], n=1)
    if near:
        return tr.t("There is no command /{name}; did you mean /{near}?", name=name, near=near[0])
    return tr.t("There is no command /{name}; two slashes send it as a prompt.", name=name)
