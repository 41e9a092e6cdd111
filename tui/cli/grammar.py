"""The words of the command line: one table makes the parser, the help and the README.

Sentences are catalogue keys; they are translated where they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tui.i18n import LANGS, N_

PROGRAM: Final = "dsh-tui"
VIEWS: Final = ("chat", "trajectory", "tools", "requests")
MODES: Final = ("none", "addition-only", "in-history")
FORMATS: Final = ("text", "md", "json", "html", "svg")
SCENES: Final = ("one-tool-added", "twelve-added", "removed-and-restored", "redefined", "refused")


class Option(NamedTuple):
    """One option; without `metavar` and `choices` it takes no value."""

    flags: tuple[str, ...]
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    is_number: bool = False
    values: int = 1
    """How many values it takes; several come as a list."""

    @property
    def takes_value(self) -> bool:
        return bool(self.metavar or self.choices)

    @property
    def value_name(self) -> str:
        return self.metavar or "|".join(self.choices)

    @property
    def dest(self) -> str:
        return self.flags[-1].lstrip("-").replace("-", "_")


class Command(NamedTuple):
    """One command; `needs_session` is its only positional argument."""

    name: str
    help: str
    options: tuple[Option, ...] = ()
    needs_session: bool = False
    required: tuple[str, ...] = ()
    """Options (by dest) that must be given."""
    session_unless: str = ""
    """An option (by dest) that names sessions itself, so that SESSION may be left out."""
    needs_number: bool = False
    """A number N follows the session."""
    needs_task: bool = False
    """All its words together are what is to be done."""
    word: str = ""
    """The word that must follow the name and says what of several things the command does."""


GLOBAL_OPTIONS: Final[Sequence[Option]] = (
    Option(("--lang",), N_("language of everything that is shown"), choices=LANGS),
    Option(("--dsh-home",), N_("the dsh home to read (default: $DSH_HOME, then ~/.dsh)"), metavar="DIR"),
    Option(("--config",), N_("the settings file (default: $DSH_TUI_CONFIG)"), metavar="FILE"),
    Option(("--no-color",), N_("no colours; so does NO_COLOR in the environment")),
    Option(("--ascii",), N_("draw with ASCII characters only")),
    Option(("--plain",), N_("plain linear text instead of a screen")),
    Option(("--version",), N_("print the version")),
    Option(("-h", "--help"), N_("print this help; after a command, the help of that command")),
)

_AT: Final = Option(
    ("--at",), N_("the event to start from; SESSION@SEQ says the same"), metavar="SEQ", is_number=True
)
_JSON: Final = Option(("--json",), N_("print one JSON document"))
_COPY: Final = Option(
    ("--copy",), N_("with --resume: go on in a copy, which leaves out what is damaged in the original")
)
_STRICT: Final = Option(
    ("--strict",), N_("send tool changes as declared even to a route that refuses them; to test routes")
)

COMMANDS: Final[Sequence[Command]] = (
    Command(
        "demo",
        N_("talk to a built-in model while tools come and go; needs no key"),
        (Option(("--scene",), N_("the scene to play"), choices=SCENES),),
    ),
    Command(
        "chat",
        N_("talk to a model"),
        (
            Option(("--provider",), N_("the provider to ask (default: the settings file's)"), metavar="NAME"),
            Option(("--model",), N_("the model to ask"), metavar="MODEL"),
            Option(("--resume",), N_("the session to go on with, by its id"), metavar="ID"),
            _COPY,
            Option(
                ("--from",), N_("a summary that a fresh session goes on from (see `recover`)"), metavar="FILE"
            ),
            Option(("--cwd",), N_("the folder to work in (default: this one)"), metavar="DIR"),
            _STRICT,
        ),
    ),
    Command(
        "run",
        N_("do one task without a screen and print the answer"),
        (
            Option(("--json",), N_("print each event as one line, as it stands in the log")),
            Option(("--resume",), N_("the session to go on with, by its id"), metavar="ID"),
            _COPY,
            Option(("--approve",), N_("allow every call that would ask"), choices=("all",)),
            _STRICT,
        ),
        needs_task=True,
    ),
    Command(
        "open",
        N_("read a session: its chat and its trajectory"),
        (Option(("--view",), N_("the pane to begin with"), choices=VIEWS), _AT),
        needs_session=True,
    ),
    Command("sessions", N_("list the sessions of both homes"), (_JSON,)),
    Command(
        "export",
        N_("write a view of a session without a screen"),
        (
            Option(("--view",), N_("what to write"), choices=VIEWS),
            Option(("--format",), N_("how to write it"), choices=FORMATS),
            Option(("-o", "--output"), N_("the file to write (default: standard output)"), metavar="FILE"),
        ),
        needs_session=True,
        required=("view", "format"),
    ),
    Command(
        "request",
        N_("print the Nth model request as its route is sent it"),
        (
            Option(
                ("--mode",), N_("how the route takes tool changes (default: what is known)"), choices=MODES
            ),
            Option(("--wire",), N_("print the provider's JSON body")),
        ),
        needs_session=True,
        needs_number=True,
    ),
    Command(
        "tools",
        N_("list the tools that were active at a point of a session"),
        (
            Option(
                ("--at",),
                N_("the event to look at (default: the end); SESSION@SEQ says the same"),
                metavar="SEQ",
                is_number=True,
            ),
            Option(
                ("--diff",),
                N_("what differs between two points, each SEQ or SESSION[@SEQ]"),
                metavar="A B",
                values=2,
            ),
            _JSON,
        ),
        needs_session=True,
        session_unless="diff",
    ),
    Command(
        "doctor",
        N_("say what is wrong with a session, why, and what to do"),
        (
            Option(("--verify",), N_("try a fresh session too: one short message, one call that only reads")),
            _JSON,
        ),
        needs_session=True,
    ),
    Command(
        "route",
        N_("ask a route, with your consent, which tool and prompt changes it takes"),
        (
            Option(("--provider",), N_("the provider to ask (default: the settings file's)"), metavar="NAME"),
            Option(("--model",), N_("the model to ask"), metavar="MODEL"),
            Option(("--yes",), N_("agree to the requests without being asked")),
        ),
        word="check",
    ),
    Command(
        "recover",
        N_("draft a summary of a session, for a fresh one that goes on with the work"),
        (
            Option(("-o", "--output"), N_("the file to write (default: standard output)"), metavar="FILE"),
            Option(
                ("--improve",),
                N_("send the draft and the newest messages to the default model, which improves the draft"),
            ),
        ),
        needs_session=True,
    ),
)


def command(name: str) -> Command | None:
    """Return the command of this name."""
    return next((entry for entry in COMMANDS if entry.name == name), None)
