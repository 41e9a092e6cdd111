"""`[providers.*]` and `[default]` of the settings file, checked when they are needed (CONTRACT, "Files")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeVar

from annotated_types import Ge, Gt, Le, MinLen

from tui.config import Config, ConfigError, line_of, unknown_setting
from tui.i18n import N_
from tui.llm.chat_body import MaxTokensField

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_STRICT: Final = {"extra": "forbid"}
_Settings = TypeVar("_Settings")

Name = Annotated[str, MinLen(1)]
Tokens = Annotated[int, Gt(0)]


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """One `[[providers.<id>.models]]`; sizes in tokens."""

    id: Name
    display: str | None = None
    context_window: Tokens | None = None
    max_output: Tokens | None = None
    input: tuple[Literal["text", "image"], ...] = ("text",)
    tool_update: Literal["addition-only", "in-history"] | None = None
    system_prompt_update: Literal["in-history"] | None = None
    efforts: tuple[Name, ...] | None = None
    default_effort: str | None = None

    __pydantic_config__: ClassVar = _STRICT


@dataclass(frozen=True, kw_only=True)
class RetrySettings:
    """`[providers.<id>.retry]`; times in milliseconds."""

    mode: Literal["normal", "always"] = "normal"
    max_retries: Annotated[int, Ge(0)] = 5
    codes: tuple[Name, ...] | None = None
    initial_ms: Annotated[float, Ge(0)] = 500
    max_ms: Annotated[float, Ge(0)] = 10_000
    jitter: Annotated[float, Ge(0), Le(1)] = 0.1

    __pydantic_config__: ClassVar = _STRICT


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """One `[providers.<id>]`."""

    kind: Literal["deepseek", "chat-completions", "scripted"]
    base_url: str | None = None
    api_key_env: Name | None = None
    api_key_command: Name | Annotated[tuple[Name, ...], MinLen(1)] | None = None
    models: tuple[ModelSettings, ...] = ()
    effort: Name | None = None
    thinking: bool = True
    max_output: Tokens | None = None
    max_tokens_field: MaxTokensField = "max_tokens"
    idle_timeout_s: Annotated[float, Gt(0)] = 300
    retry: RetrySettings = field(default_factory=RetrySettings)

    __pydantic_config__: ClassVar = _STRICT


@dataclass(frozen=True, kw_only=True)
class DefaultSettings:
    """`[default]`: what a new session talks to."""

    provider: Name | None = None
    model: Name | None = None
    effort: Name | None = None

    __pydantic_config__: ClassVar = _STRICT


class SettingsReader:
    """Checks the sections of one settings file; `source` is the file that errors name."""

    def __init__(self, config: Config, source: Path) -> None:
        self._config = config
        self._source = source

    def providers(self) -> Mapping[str, ProviderSettings]:
        """Return all providers by id, in their order. Raises ConfigError."""
        return {
            name: self._checked(ProviderSettings, value, ("providers", name))
            for name, value in self._config.providers.items()
        }

    def default(self) -> DefaultSettings:
        """Return the default selection. Raises ConfigError."""
        return self._checked(DefaultSettings, dict(self._config.default), ("default",))

    def error(self, key: tuple[str | int, ...], message: str, **facts: str) -> ConfigError:
        """Return the error for a key; `message` has `{name}` for it."""
        return ConfigError(self._source, message, line=self._line(key), name=_shown(key), **facts)

    def _checked(self, kind: type[_Settings], value: Any, place: tuple[str, ...]) -> _Settings:
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            raise self._fault(error.errors(include_url=False)[0], place) from error

    def _fault(self, fault: ErrorDetails, place: tuple[str, ...]) -> ConfigError:
        key = (*place, *_key(fault["loc"]))
        context = fault.get("ctx", {})
        match fault["type"]:
            case "unexpected_keyword_argument":
                names = tuple(str(part) for part in key if isinstance(part, str))
                error = unknown_setting(self._source, self._text(), names, _known(key))
                return ConfigError(error.path, error.message, line=self._line(key), **error.fields)
            case "missing" | "missing_argument" | "missing_keyword_only_argument":
                return self.error(key, N_("`{name}` is missing"))
            case "literal_error":
                choices = str(context.get("expected", "")).replace("'", '"').replace(" or ", ", ")
                return self.error(key, N_("`{name}` must be one of {choices}"), choices=choices)
            case "int_type" | "int_parsing" | "int_from_float" | "greater_than" | "greater_than_equal":
                return self.error(key, N_("`{name}` must be a number that is not too small"))
            case "float_type" | "float_parsing" | "less_than_equal":
                return self.error(key, N_("`{name}` must be a number in its bounds"))
            case "string_type" | "string_too_short":
                return self.error(key, N_("`{name}` must be text that is not empty"))
            case "bool_type" | "bool_parsing":
                return self.error(key, N_("`{name}` must be true or false"))
            case "tuple_type":
                return self.error(key, N_("`{name}` must be a list"))
            case "dataclass_type":
                return self.error(key, N_("`{name}` must be a table"))
            case _:
                return self.error(key, N_("`{name}` does not have a value that can be used"))

    def _line(self, key: tuple[str | int, ...]) -> int | None:
        """Return the line of a key, or of the nearest table that it is missing from."""
        text = self._text()
        for length in range(len(key), 0, -1):
            if (line := line_of(text, key[:length])) is not None:
                return line
        return None

    def _text(self) -> str:
        try:
            return self._source.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return ""


def _key(place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Return a place without the branches of unions that pydantic adds to it."""
    kept: list[int | str] = []
    for part in place:
        if isinstance(part, str) and ("[" in part or part in ("str", "constrained-str")):
            break
        kept.append(part)
    return tuple(kept)


def _known(key: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return the settings that may stand where an unknown one stands."""
    owner: type = DefaultSettings if key[0] == "default" else ProviderSettings
    if "models" in key[2:-1]:
        owner = ModelSettings
    elif "retry" in key[2:-1]:
        owner = RetrySettings
    return tuple(known.name for known in fields(owner))


def _shown(key: tuple[str | int, ...]) -> str:
    """Return a key as people write it; a place in a list counts from 1."""
    text = ""
    for part in key:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text
