"""Routes: provider, endpoint and model, and what they are known to accept (loop-and-adapters §4.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

ToolUpdateMode: TypeAlias = Literal["addition-only", "in-history"] | None
SystemPromptUpdate: TypeAlias = Literal["in-history"] | None
RouteKind: TypeAlias = Literal["deepseek", "chat-completions", "scripted"]

DEFAULT_BASE_URL: Final = "https://api.deepseek.com/anthropic"
DEFAULT_CONTEXT_WINDOW: Final = 1_000_000
DEFAULT_MAX_OUTPUT: Final = 256_000
DEEPSEEK_EFFORTS: Final = ("off", "low", "high", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One model behind one provider; sizes in tokens."""

    id: str
    display: str
    context_window: int = DEFAULT_CONTEXT_WINDOW
    max_output: int = DEFAULT_MAX_OUTPUT
    input: tuple[str, ...] = ("text",)
    """What it reads: `text`, `image`."""
    tool_update: ToolUpdateMode = None
    """How it takes tool changes in mid-session; None: it does not, or nobody said so."""
    system_prompt_update: SystemPromptUpdate = None
    """`in-history` if it takes later system messages inside the history."""
    efforts: tuple[str, ...] = ()
    """Reasoning efforts that may be chosen; none: the model has no such setting."""
    default_effort: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a request is sent through; its model entry says what may be sent."""

    provider: str
    kind: RouteKind
    endpoint: str
    """Root of the provider's addresses, without trailing slash; empty where there is no network."""
    model: ModelEntry

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells routes apart: provider, endpoint root and model id; never the model's name alone."""
        return self.provider, self.endpoint, self.model.id

    def with_tool_update(self, mode: ToolUpdateMode) -> Route:
        """Return the route with another tool update mode in force."""
        return replace(self, model=replace(self.model, tool_update=mode))

    def with_system_prompt_update(self, mode: SystemPromptUpdate) -> Route:
        """Return the route with another way of changing the system prompt in force."""
        return replace(self, model=replace(self.model, system_prompt_update=mode))


def endpoint_root(base_url: str) -> str:
    """Return the root of a Messages endpoint: no trailing slash, `/v1` at its end.

    Raises ValueError, with the reason as its text, for what is no plain http(s) address. Spec §4.1.
    """
    base = checked_url(base_url)
    return base if urlsplit(base).path.endswith("/v1") else base + "/v1"


def checked_url(url: str) -> str:
    """Return a base address without trailing slashes.

    Raises ValueError for another scheme than http(s), credentials, a query or a fragment; its text does not
    repeat the address, which may hold a secret.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("not an http or https address")
    _ = parts.port  # raises ValueError for what is no port
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address must not hold credentials")
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ValueError("an address must not have a query or a fragment")
    return url.strip().rstrip("/")


def is_official(base_url: str) -> bool:
    """Tell whether an address is the endpoint that the built-in catalogue speaks for."""
    try:
        return endpoint_root(base_url) == endpoint_root(DEFAULT_BASE_URL)
    except ValueError:
        return False


def deepseek_model(model_id: str, *, display: str | None = None) -> ModelEntry:
    """Return the entry of a model that no catalogue knows: no update mode, text only."""
    return ModelEntry(
        id=model_id, display=display or model_id, efforts=DEEPSEEK_EFFORTS, default_effort="high"
    )


CATALOGUE: Final[Mapping[str, ModelEntry]] = MappingProxyType(
    {
        "deepseek-flash": replace(
            deepseek_model("deepseek-flash", display="DeepSeek-V4.1-Flash"),
            input=("text", "image"),
            system_prompt_update="in-history",
            tool_update="addition-only",
        ),
        "deepseek-v4-pro": deepseek_model("deepseek-v4-pro", display="DeepSeek-V4-Pro"),
    }
)
"""The official endpoint's models. Behind any other address nothing is known: a name proves nothing."""


def catalogue(base_url: str) -> Mapping[str, ModelEntry]:
    """Return the models that are known behind an address without any configuration."""
    return CATALOGUE if is_official(base_url) else MappingProxyType({})
