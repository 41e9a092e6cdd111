"""The help texts, made from the table of the grammar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tui.blocks.cells import cell_len, fit
from tui.blocks.wrap import row_ranges
from tui.cli.grammar import COMMANDS, GLOBAL_OPTIONS, PROGRAM, Command, Option
from tui.i18n import Translator

_WIDTH = 90
_INDENT = "  "


def help_text(tr: Translator, command: Command | None) -> str:
    """Return the help of a command, or of the program."""
    return _program_help(tr) if command is None else _command_help(tr, command)


def _program_help(tr: Translator) -> str:
    commands = [(" ".join((entry.name, *_positional(entry))), entry.help) for entry in COMMANDS]
    options, command = tr.t("options"), tr.t("command")
    usage = f"{PROGRAM} [{options}] [{command} …]"
    parts = [
        tr.t("Usage: {usage}", usage=usage),
        tr.t(
            "Reads sessions of DeepSeek Harness (dsh) and talks to models."
            " Without a command it opens the session library."
        ),
        _section(tr.t("Commands"), ((name, tr.t(text)) for name, text in commands)),
        _options(tr, tr.t("Options, before or after a command"), GLOBAL_OPTIONS),
        tr.t(
            "SESSION is an id, the beginning of one, a session folder or a log file; "
            "SESSION@SEQ is an event in it."
        ),
    ]
    return "\n\n".join(_wrapped(part) if "\n" not in part else part for part in parts) + "\n"


def _command_help(tr: Translator, command: Command) -> str:
    words = [PROGRAM, command.name]
    if command.word:
        words.append(command.word)
    if command.needs_session:
        words.append("SESSION")
    if command.needs_number:
        words.append("N")
    for option in command.options:
        word = f"{option.flags[0]} {option.value_name}".rstrip()
        words.append(word if option.dest in command.required else f"[{word}]")
    words += _positional(command) if command.needs_task else []
    parts = [tr.t("Usage: {usage}", usage=" ".join(words)), _sentence(tr.t(command.help))]
    if command.options:
        parts.append(_options(tr, tr.t("Options of this command"), command.options))
    parts.append(_options(tr, tr.t("Options of every command"), GLOBAL_OPTIONS))
    return "\n\n".join(parts) + "\n"


def _positional(command: Command) -> list[str]:
    numbered = ["SESSION"] * command.needs_session + ["N"] * command.needs_number
    return [command.word] * bool(command.word) + numbered + ["TASK…"] * command.needs_task


def _options(tr: Translator, title: str, options: Sequence[Option]) -> str:
    rows = (
        (f"{', '.join(option.flags)} {option.value_name}".rstrip(), tr.t(option.help)) for option in options
    )
    return _section(title, rows)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _section(title: str, rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    room = max(cell_len(name) for name, _ in rows) + 2
    lines = [title]
    for name, text in rows:
        first, *more = _rows(text, _WIDTH - len(_INDENT) - room)
        lines.append(f"{_INDENT}{fit(name, room)}{first}")
        lines += [f"{_INDENT}{' ' * room}{line}" for line in more]
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return "\n".join(_rows(text, _WIDTH))


def _rows(text: str, width: int) -> list[str]:
    return [text[row.start : row.end] for row in row_ranges(text, width)]
