"""From the words of the command line to a `Call`.

argparse does the splitting; every sentence about a wrong call is ours, so that it is one line and in the
reader's language. Global options are taken out first, which lets them stand before or after the command.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from tui.cli.grammar import COMMANDS, GLOBAL_OPTIONS, PROGRAM, Command, Option, command
from tui.i18n import N_, Translator, detect_lang


class WrongCall(Exception):
    """Arguments that make no call; `sentence` says what is wrong with them."""

    def __init__(self, message: str, **fields: str) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def sentence(self, tr: Translator) -> str:
        """Return one sentence that ends with where to read on."""
        reason = tr.t(self.message, **self.fields)
        if "near" in self.fields:
            # The one word that was meant says more than the way to the help.
            return tr.t("{program}: {reason}", program=PROGRAM, reason=reason)
        return tr.t("{program}: {reason}; `{program} -h` shows the commands", program=PROGRAM, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What was asked for. `command` is None for the bare program."""

    command: Command | None
    options: Mapping[str, Any]
    """Options of the command that were given, by dest; and `session`."""
    lang: str | None = None
    dsh_home: str | None = None
    config: str | None = None
    no_color: bool = False
    ascii: bool = False
    plain: bool = False
    version: bool = False
    help: bool = False


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of printing and ending the program."""

    def __init__(self, options: Iterable[Option]) -> None:
        super().__init__(prog=PROGRAM, add_help=False, allow_abbrev=False, exit_on_error=False)
        for option in options:
            if option.values > 1:
                self.add_argument(
                    *option.flags, dest=option.dest, nargs=option.values, default=argparse.SUPPRESS
                )
            elif option.takes_value:
                self.add_argument(*option.flags, dest=option.dest, default=argparse.SUPPRESS)
            else:
                self.add_argument(
                    *option.flags, dest=option.dest, action="store_true", default=argparse.SUPPRESS
                )

    def error(self, message: str) -> NoReturn:
        raise WrongCall(N_("the arguments make no sense ({reason})"), reason=message)


def parse(arguments: Sequence[str]) -> Call:
    """Return the call that the arguments (without the program's name) make. Raises WrongCall."""
    given, rest = _taken(GLOBAL_OPTIONS, arguments)
    flags = {option.dest: given.get(option.dest) for option in GLOBAL_OPTIONS}
    settings: dict[str, Any] = {
        name: value if option.takes_value else bool(value)
        for option, (name, value) in zip(GLOBAL_OPTIONS, flags.items(), strict=True)
    }
    if not rest or (settings["help"] and rest[0].startswith("-")):
        return Call(command=None, options={}, **settings)
    name, *words = rest
    if name.startswith("-"):
        raise _unknown_option(name, GLOBAL_OPTIONS)
    found = command(name)
    if found is None:
        raise _unknown_command(name)
    options = {} if settings["help"] or settings["version"] else _command_options(found, words)
    return Call(command=found, options=options, **settings)


def language_of(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the language for sentences about arguments that cannot be parsed."""
    for at, word in enumerate(arguments):
        value = word[7:] if word.startswith("--lang=") else ""
        if word == "--lang" and at + 1 < len(arguments):
            value = arguments[at + 1]
        if value in ("en", "zh"):
            return value
    return detect_lang(environ)


def _command_options(found: Command, words: Sequence[str]) -> dict[str, Any]:
    options, rest = _taken(found.options, words)
    before = rest[: rest.index("--")] if "--" in rest else rest
    unknown = next((word for word in before if word.startswith("-") and word != "-"), None)
    if unknown is not None:
        raise _unknown_option(unknown, (*found.options, *GLOBAL_OPTIONS))
    sessions = [*before, *rest[len(before) + 1 :]]
    if found.word:
        if sessions[:1] != [found.word]:
            raise WrongCall(N_("`{command}` is followed by `{word}`"), command=found.name, word=found.word)
        sessions = sessions[1:]
    if found.needs_task:
        if not sessions:
            raise WrongCall(N_("`{command}` needs a TASK"), command=found.name)
        return {**options, "task": sessions}
    has_session = any(sessions) or found.session_unless not in options
    if found.needs_session and has_session and not any(sessions):
        raise WrongCall(N_("`{command}` needs a SESSION"), command=found.name)
    expected = int(found.needs_session) + int(found.needs_number)
    if found.needs_number and len(sessions) < expected:
        raise WrongCall(N_("`{command}` needs a SESSION and a number N"), command=found.name)
    if len(sessions) > expected:
        surplus = sessions[expected]
        raise WrongCall(N_("`{word}` is one argument too many"), word=surplus)
    for option in found.options:
        if option.dest in found.required and option.dest not in options:
            raise WrongCall(
                N_("`{command}` needs `{option}`"),
                command=found.name,
                option=f"{option.flags[-1]} {option.value_name}",
            )
    if found.needs_number:
        number = sessions[1]
        if not (number.isascii() and number.isdigit() and len(number) <= 16):
            raise WrongCall(N_("`{word}` is no number of a request"), word=number)
        options["number"] = int(number)
    return {**options, **({"session": sessions[0]} if found.needs_session and has_session else {})}


def _taken(options: Sequence[Option], words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Take known options out of words; returns their checked values and the words that are left."""
    try:
        found, rest = _Parser(options).parse_known_args(list(words))
    except argparse.ArgumentError as error:
        raise _wrong_value(options, error) from None
    values: dict[str, Any] = vars(found)
    for option in options:
        if option.takes_value and option.dest in values:
            given = values[option.dest]
            values[option.dest] = (
                [_checked(option, value) for value in given] if option.values > 1 else _checked(option, given)
            )
    return values, rest


def _checked(option: Option, value: str) -> str | int:
    flag = option.flags[-1]
    if option.choices and value not in option.choices:
        near = get_close_matches(value, option.choices, n=1)
        if near:
            raise WrongCall(
                N_("`{option}` cannot be `{value}`; did you mean `{near}`?"),
                option=flag,
                value=value,
                near=near[0],
            )
        choices = ", ".join(option.choices)
        raise WrongCall(
            N_("`{option}` cannot be `{value}`, only one of: {choices}"),
            option=flag,
            value=value,
            choices=choices,
        )
    if not option.is_number:
        if value == "":
            raise WrongCall(N_("`{option}` needs a value"), option=flag)
        return value
    if not (value.isascii() and value.isdigit() and len(value) <= 16):
        raise WrongCall(
            N_("`{option}` needs the number of an event, not `{value}`"), option=flag, value=value
        )
    return int(value)


def _wrong_value(options: Sequence[Option], error: argparse.ArgumentError) -> WrongCall:
    """The two faults that argparse itself finds in an option: no value, or one where none belongs."""
    flags = (error.argument_name or "").split("/")
    option = next((entry for entry in options if entry.flags[-1] in flags), None)
    name = option.flags[-1] if option is not None else flags[-1]
    if option is not None and not option.takes_value:
        return WrongCall(N_("`{option}` takes no value"), option=name)
    if option is not None and option.values > 1:
        return WrongCall(N_("`{option}` needs two values: {values}"), option=name, values=option.value_name)
    return WrongCall(N_("`{option}` needs a value"), option=name)


def _unknown_option(word: str, options: Iterable[Option]) -> WrongCall:
    name = word.partition("=")[0]
    return _unknown(N_("there is no option `{word}`"), name, [f for o in options for f in o.flags])


def _unknown_command(word: str) -> WrongCall:
    return _unknown(N_("there is no command `{word}`"), word, [entry.name for entry in COMMANDS])


def _unknown(message: str, word: str, known: Sequence[str]) -> WrongCall:
    near = get_close_matches(word, known, n=1)
    if near:
        return WrongCall(N_("`{word}` is not known; did you mean `{near}`?"), word=word, near=near[0])
    return WrongCall(message, word=word)
