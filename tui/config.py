"""Settings from `config.toml` (CONTRACT, "Files and environment").

The file is read once at the start. pydantic checks it, and is imported only when there is a file to check.
Nothing is written back. Sections that other parts of the program own are accepted here as they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, cast

from tui.i18n import N_, Translator, translator
from tui.os_reasons import os_reason

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Theme: TypeAlias = Literal["dark", "light"]
KeyPath: TypeAlias = tuple[str, ...]

_STRICT: Final = {"extra": "forbid"}


@dataclass(frozen=True)
class Ui:
    """`[ui]`: how the screens look."""

    theme: Theme = "dark"

    __pydantic_config__: ClassVar = _STRICT


@dataclass(frozen=True)
class Config:
    """What the settings file says; a setting that it does not name has its default."""

    lang: Literal["en", "zh"] | None = None
    ui: Ui = field(default_factory=Ui)
    keys: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict[str, str | tuple[str, ...]])
    default: Mapping[str, Any] = field(default_factory=dict[str, Any])
    session: Mapping[str, Any] = field(default_factory=dict[str, Any])
    providers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tools: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mcp: Mapping[str, Any] = field(default_factory=dict[str, Any])
    approval: Mapping[str, Any] = field(default_factory=dict[str, Any])

    __pydantic_config__: ClassVar = _STRICT

    def keymap(self) -> dict[str, tuple[str, ...]]:
        """Return the keys that the reader gave to action ids."""
        return {action: (keys,) if isinstance(keys, str) else keys for action, keys in self.keys.items()}


class ConfigError(Exception):
    """A settings file that cannot be used. `sentence` says in the reader's language where and why."""

    def __init__(self, path: Path, message: str, *, line: int | None = None, **fields: str) -> None:
        self.path = path
        self.line = line
        self.message = message
        self.fields = fields
        super().__init__(self.sentence(translator("en")))

    def sentence(self, tr: Translator) -> str:
        """Return one sentence that names the file, the line and what to do."""
        fields = dict(self.fields)
        if "reason" in fields:
            fields["reason"] = os_reason(tr, fields["reason"])
        reason = tr.t(self.message, **fields)
        if self.line is None:
            return tr.t("{file}: {reason}", file=self.path, reason=reason)
        return tr.t("{file}, line {line}: {reason}", file=self.path, line=self.line, reason=reason)


def config_path(environ: Mapping[str, str]) -> Path:
    """Return the settings file to read when none is named: `$DSH_TUI_CONFIG`, then the platform's folder."""
    if named := environ.get("DSH_TUI_CONFIG"):
        return Path(named)
    import platformdirs

    return platformdirs.user_config_path("dsh-tui", appauthor=False) / "config.toml"


def load_config(path: Path | None, environ: Mapping[str, str]) -> Config:
    """Return the settings in `path` (`--config`), or else in `config_path(environ)`.

    Without a file at the platform's place every setting has its default; a file that was named must be there.
    Raises ConfigError.
    """
    must_exist = path is not None or bool(environ.get("DSH_TUI_CONFIG"))
    source = path or config_path(environ)
    try:
        text = source.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        if not must_exist:
            return Config()
        raise ConfigError(source, N_("there is no such file")) from error
    except UnicodeDecodeError as error:
        raise ConfigError(source, N_("not UTF-8 text")) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(source, N_("cannot be read ({reason})"), reason=reason) from error
    return _checked(source, text)


def unknown_setting(source: Path, text: str, key: KeyPath, known: Collection[str]) -> ConfigError:
    """Return the error for a key that is no setting, with the nearest of the `known` names beside it.

    `text` is the file's text, in which the line is looked for.
    """
    from difflib import get_close_matches

    line = line_of(text, key)
    near = get_close_matches(key[-1], known, n=1)
    name = ".".join(key)
    if not near:
        return ConfigError(source, N_("`{name}` is not a setting"), line=line, name=name)
    message = N_("`{name}` is not a setting; did you mean `{near}`?")
    return ConfigError(source, message, line=line, name=name, near=".".join((*key[:-1], near[0])))


def line_of(text: str, key: tuple[str | int, ...]) -> int | None:
    """Return the line (from 1) of a TOML text where a key is first given, or None.

    A number in the key is a place in a list, from 0.

    The shortest beginning of the text that parses and holds the key ends with it; what follows the last
    beginning that parses without the key begins with it. No grammar has to be known twice.
    """
    import tomllib

    lines = text.splitlines()
    # A key that is not spelled out (an escape in quotes) is looked for from the top.
    last = next((part for part in reversed(key) if isinstance(part, str)), "")
    first = next((number for number, line in enumerate(lines, 1) if last in line), 1)
    start = first
    for number in range(first, len(lines) + 1):
        try:
            document = tomllib.loads("\n".join(lines[:number]) + "\n")
        except tomllib.TOMLDecodeError:
            continue
        if _holds(document, key):
            return start
        start = number + 1
    return None


def _holds(document: object, key: tuple[str | int, ...]) -> bool:
    for part in key:
        if isinstance(part, int):
            items = cast("list[object]", document) if isinstance(document, list) else []
            if part >= len(items):
                return False
            document = items[part]
        elif isinstance(document, dict) and part in document:
            document = cast("dict[str, object]", document)[part]
        else:
            return False
    return True


def _checked(source: Path, text: str) -> Config:
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, line = _split_place(str(error), last=text.rstrip().count("\n") + 1)
        raise ConfigError(source, N_("not valid TOML: {reason}"), line=line, reason=reason) from error
    except RecursionError as error:
        raise ConfigError(source, N_("nested too deeply")) from error

    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Config).validate_python(document, strict=False)
    except ValidationError as error:
        raise _first_fault(source, text, error.errors(include_url=False)) from error


def _split_place(message: str, last: int) -> tuple[str, int | None]:
    """Take "(at line 3, column 5)" off a message of tomllib."""
    import re

    found = re.fullmatch(r"(.*?) \(at (?:line (\d+), column \d+|end of document)\)", message, re.DOTALL)
    if found is None:
        return message, None
    return found[1], int(found[2]) if found[2] else last


def _first_fault(source: Path, text: str, faults: Sequence[ErrorDetails]) -> ConfigError:
    fault = faults[0]
    # What pydantic names beyond the key is a place in its value or the branch of a union.
    depth = 2 if fault["loc"][0] in ("ui", "keys") else 1
    key = tuple(str(part) for part in fault["loc"][:depth])
    if fault["type"] == "unexpected_keyword_argument":
        owner = Ui if key[:-1] == ("ui",) else Config
        return unknown_setting(source, text, key, owner.__dataclass_fields__)
    name = ".".join(key)
    line = line_of(text, key)
    match key:
        case ("lang",):
            return ConfigError(source, N_('`{name}` must be "en" or "zh"'), line=line, name=name)
        case ("ui", "theme"):
            return ConfigError(source, N_('`{name}` must be "dark" or "light"'), line=line, name=name)
        case ("keys", _):
            return ConfigError(source, N_("`{name}` must be a key or a list of keys"), line=line, name=name)
        case _:
            return ConfigError(source, N_("`{name}` must be a table"), line=line, name=name)
