"""The way through a run: arguments, settings, the command, and how it ends (CONTRACT, "Commands").

Modules that a command needs are imported when it runs, because starting must be quick.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui import __version__
from tui.cli.arguments import Call, WrongCall, language_of, parse
from tui.cli.run import INTERRUPTED, OK, UNREADABLE, WRONG_CALL, Refused, Run, complain, say
from tui.i18n import Translator, translator

if TYPE_CHECKING:
    from pathlib import Path

    from tui.config import Config
    from tui.llm.route_book import RouteBook
    from tui.loop.improvement import Improvement
    from tui.loop.verification import Verification


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit status: the command's own, or why it came to no end.

    That is 2 unreadable, 64 wrong call, 130 interrupted.
    """
    status = OK
    try:
        _prepare_streams()
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        _drop_output()
        return OK
    except OSError as error:
        if status != UNREADABLE:
            # Otherwise the command has said it.
            complain(f"dsh-tui: {error.strerror or type(error).__name__}")
        _drop_output()
        return UNREADABLE


def _run(arguments: Sequence[str]) -> int:
    tr = translator(language_of(arguments, os.environ))
    try:
        call = parse(arguments)
    except WrongCall as error:
        complain(error.sentence(tr))
        return WRONG_CALL
    if call.version:
        say(f"dsh-tui {__version__}\n")
        return OK
    if call.help:
        from tui.cli.help import help_text

        say(help_text(translator(call.lang) if call.lang else tr, call.command))
        return OK
    return _command(call, tr)


def _command(call: Call, tr: Translator) -> int:
    from tui.config import ConfigError
    from tui.session.errors import SessionError

    try:
        run = _prepared(call)
        tr = run.tr
        if not run.has_screen:
            # The start is over; the screen has a start of its own and does this after its first picture.
            gc.enable()
        return _dispatch(call)(run)
    except ConfigError as error:
        complain(_cleaned(error.sentence(tr)))
    except SessionError as error:
        from tui.blocks.wording_errors import error_text

        complain(_cleaned(error_text(tr, error)))
    except Refused as error:
        complain(_cleaned(str(error)))
        return error.status
    except BrokenPipeError:
        raise
    except OSError as error:
        from tui.os_reasons import os_sentence

        complain(_cleaned(os_sentence(tr, error)))
    except MemoryError:
        complain(tr.t("there is not enough memory for this session"))
    return UNREADABLE


def _check_keys(config: Config, path: Path) -> None:
    """Refuse a keymap that cannot be used, with its place. Raises ConfigError."""
    from tui.app.actions import KeymapError, effective_keys
    from tui.config import ConfigError, line_of

    try:
        effective_keys(config.keymap())
    except KeymapError as error:
        text = path.read_text(encoding="utf-8-sig")
        named = [error.fields[field] for field in ("action", "second", "first") if field in error.fields]
        line = next((line for action in named if (line := line_of(text, ("keys", action)))), None)
        raise ConfigError(path, error.message, line=line, **error.fields) from error


def _prepared(call: Call) -> Run:
    from pathlib import Path

    from tui.config import config_path, load_config
    from tui.i18n import detect_lang
    from tui.session.store import find_homes
    from tui.settings import Settings

    named = Path(call.config) if call.config is not None else None
    config = load_config(named, os.environ)
    lang = call.lang or config.lang or detect_lang(os.environ)
    path = named or config_path(os.environ)
    if config.keys:
        _check_keys(config, path)
    settings = Settings(
        lang=lang,
        theme=config.ui.theme,
        ascii=call.ascii,
        no_color=call.no_color or bool(os.environ.get("NO_COLOR")),
        keys=config.keymap(),
        homes=find_homes(os.environ, call.dsh_home),
        routes=lambda: _routes(config, path),
        verifier=lambda tr, provider, model: _ready_to_verify(run, tr, provider, model),
        improver=lambda tr: _improver(config, path, tr),
    )
    run = Run(
        settings=settings,
        tr=translator(lang),
        plain=call.plain,
        options=call.options,
        config=config,
        config_path=path,
    )
    return run


async def _ready_to_verify(run: Run, tr: Translator, provider: str, model: str) -> Verification | str:
    from tui.cli.verify import verifier

    return await verifier(run)(tr, provider, model)


def _routes(config: Config, path: Path) -> RouteBook:
    from tui.cli.routes import routes_of

    return routes_of(config, path)


def _improver(config: Config, path: Path, tr: Translator) -> Improvement | str:
    from tui.cli.fresh_start import improver

    return improver(config, path, tr)


def _dispatch(call: Call):
    """The function of a command."""
    name = call.command.name if call.command is not None else ""
    match name:
        case "sessions":
            from tui.cli.sessions import sessions

            return sessions
        case "export":
            from tui.cli.export import export

            return export
        case "request":
            from tui.cli.request import request

            return request
        case "tools":
            from tui.cli.tools import tools

            return tools
        case "doctor":
            from tui.cli.doctor import doctor

            return doctor
        case "route":
            from tui.cli.route import route_check

            return route_check
        case "recover":
            from tui.cli.recover import recover

            return recover
        case "open":
            from tui.cli.opening import open_one

            return open_one
        case "demo":
            from tui.cli.demo import demo

            return demo
        case "chat":
            from tui.cli.chat import chat

            return chat
        case "run":
            from tui.cli.task import run_task

            return run_task
        case _:
            from tui.cli.opening import library

            return library


def _cleaned(sentence: str) -> str:
    from tui.blocks.clean import clean_line

    return clean_line(sentence)


def _drop_output() -> None:
    """Let nothing that is still buffered be tried again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _prepare_streams() -> None:
    """Have all three streams, and let no character end the program.

    A stream that the caller closed goes nowhere, lest a log that is opened takes its place. What the encoding
    of a terminal lacks shows as a question mark.
    """
    # In the order of their descriptors: each open takes the first that is free.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
