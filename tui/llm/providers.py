"""The providers of this run: built from the settings file, or from the environment alone (CONTRACT)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from tui.config import Config, ConfigError
from tui.i18n import N_
from tui.llm.adapter import Adapter, FailedCall, PreparedCall
from tui.llm.credentials import Credential
from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
from tui.llm.failure import NO_ADAPTER, LlmFailure
from tui.llm.openai_chat import ChatAdapter, ChatConnection, chat_model
from tui.llm.provider_settings import ModelSettings, ProviderSettings, RetrySettings, SettingsReader
from tui.llm.request import CallConfig
from tui.llm.retry import RETRYABLE_CODES, RetryPolicy
from tui.llm.route import (
    DEFAULT_BASE_URL,
    DEFAULT_MAX_OUTPUT,
    ModelEntry,
    catalogue,
    checked_url,
    deepseek_model,
    is_official,
)
from tui.llm.script import Script, ScriptedAnswer, Sent, answer
from tui.llm.scripted import MODELS, ScriptedAdapter

OFFICIAL: Final = "deepseek-official"
KEY_VARIABLE: Final = "DEEPSEEK_API_KEY"
BASE_URL_VARIABLE: Final = "DEEPSEEK_BASE_URL"

_ADDRESS: Final = N_("`{name}` must be an http or https address without credentials, query or fragment")


class Providers:
    """The adapters by provider id; `default` is what a new session talks to, if anything."""

    def __init__(self, adapters: Iterable[Adapter], default: CallConfig | None = None) -> None:
        self._adapters = {adapter.provider: adapter for adapter in adapters}
        self.default = default

    @property
    def ids(self) -> tuple[str, ...]:
        """The providers in their order."""
        return tuple(self._adapters)

    def get(self, provider: str) -> Adapter | None:
        """Return a provider's adapter."""
        return self._adapters.get(provider)

    def prepare(self, config: CallConfig) -> PreparedCall:
        """Return the call for these settings. Raises LlmFailure NO_ADAPTER and what the adapter raises."""
        adapter = self._adapters.get(config.provider)
        if adapter is None:
            raise LlmFailure(f'no provider "{config.provider}" is configured', NO_ADAPTER)
        return adapter.prepare(config)

    def prepare_or_fail_later(self, config: CallConfig) -> PreparedCall:
        """Return the call; a provider that is missing fails only when it is streamed (spec §1.4)."""
        try:
            return self.prepare(config)
        except LlmFailure as failure:
            if failure.code != NO_ADAPTER:
                raise
            return FailedCall(config, failure)

    def retry_policy(self, provider: str) -> RetryPolicy:
        """Return how a provider's calls are retried; the default policy for one that is missing."""
        adapter = self._adapters.get(provider)
        return RetryPolicy() if adapter is None else adapter.retry_policy

    async def aclose(self) -> None:
        """Close connections that are kept open."""
        for adapter in self._adapters.values():
            await adapter.aclose()


class Echo:
    """The script of a scripted provider that the settings file names: it repeats what it is told."""

    def answer(self, sent: Sent) -> ScriptedAnswer:
        """Return the last text of the user."""
        return answer(sent.last_text or "(nothing was said)")


def configured_providers(
    config: Config, source: Path, environ: Mapping[str, str], *, script: Script | None = None
) -> Providers:
    """Return the providers of a settings file; without any, DeepSeek if the environment holds its key.

    `source` is the file that errors name. `script` is what scripted providers play. Raises ConfigError.
    """
    reader = SettingsReader(config, source)
    settings = reader.providers()
    build = _Builder(reader, environ, tuple(settings), script or Echo())
    adapters = [build.adapter(name, provider) for name, provider in settings.items()]
    if not adapters and environ.get(KEY_VARIABLE):
        adapters.append(_from_environment(environ))
    return Providers(adapters, _default(reader, adapters))


def _default(reader: SettingsReader, adapters: list[Adapter]) -> CallConfig | None:
    chosen = reader.default()
    by_id = {adapter.provider: adapter for adapter in adapters}
    if chosen.provider is None:
        if not adapters:
            return None
        adapter = adapters[0]
    elif chosen.provider in by_id:
        adapter = by_id[chosen.provider]
    elif not adapters:
        return None  # nothing is configured at all: the caller says how to configure something
    else:
        raise reader.error(
            ("default", "provider"), N_("`{name}` names no provider: {provider}"), provider=chosen.provider
        )
    model = chosen.model or next((entry.id for entry in adapter.models()), None)
    if model is None:
        if chosen.provider is None:
            return None
        raise reader.error(("default", "model"), N_("`{name}` is missing, and the provider lists no model"))
    return CallConfig(provider=adapter.provider, model=model, reasoning_effort=chosen.effort)


def _from_environment(environ: Mapping[str, str]) -> DeepSeekAdapter:
    base_url = environ.get(BASE_URL_VARIABLE) or DEFAULT_BASE_URL
    credential = Credential(env=KEY_VARIABLE, environ=environ)
    # Behind another address the name of the default model is still the best guess; its abilities are not.
    models = catalogue(base_url) or {"deepseek-flash": deepseek_model("deepseek-flash")}
    try:
        return DeepSeekAdapter(
            DeepSeekConnection(provider=OFFICIAL, base_url=base_url, credential=credential, models=models)
        )
    except ValueError as error:
        raise ConfigError(Path(BASE_URL_VARIABLE), _ADDRESS, name=BASE_URL_VARIABLE) from error


class _Builder:
    """Builds the adapters of one settings file."""

    def __init__(
        self, reader: SettingsReader, environ: Mapping[str, str], names: tuple[str, ...], script: Script
    ) -> None:
        self._reader = reader
        self._environ = environ
        self._names = names
        self._script = script

    def adapter(self, name: str, settings: ProviderSettings) -> Adapter:
        """Return the adapter of one provider. Raises ConfigError."""
        match settings.kind:
            case "scripted":
                models = {model.id: _entry(model, deepseek_model(model.id)) for model in settings.models}
                return ScriptedAdapter(
                    self._script, provider=name, models=models or MODELS, retry_policy=_policy(settings.retry)
                )
            case "deepseek":
                return self._deepseek(name, settings)
            case "chat-completions":
                return self._chat(name, settings)

    def _deepseek(self, name: str, settings: ProviderSettings) -> DeepSeekAdapter:
        base_url = settings.base_url or self._environ.get(BASE_URL_VARIABLE) or DEFAULT_BASE_URL
        self._check_address(base_url, name)
        limit = settings.max_output or DEFAULT_MAX_OUTPUT
        known = catalogue(base_url)
        listed: dict[str, ModelEntry] = {}
        for model in settings.models:
            display = known[model.id].display if model.id in known else None
            base = replace(deepseek_model(model.id, display=display), max_output=limit)
            listed[model.id] = _entry(model, base)
        # The key of the official endpoint goes to no address that only the settings file names.
        own_key = settings.base_url is None or is_official(base_url)
        return DeepSeekAdapter(
            DeepSeekConnection(
                provider=name,
                base_url=base_url,
                credential=self._credential(name, settings, KEY_VARIABLE if own_key else None),
                models={**listed, **{key: entry for key, entry in known.items() if key not in listed}},
                retry_policy=_policy(settings.retry),
                default_effort=settings.effort,
                thinking=settings.thinking,
                max_output=limit,
                foreign=tuple(other for other in self._names if other != name),
                idle_timeout_s=settings.idle_timeout_s,
            )
        )

    def _chat(self, name: str, settings: ProviderSettings) -> ChatAdapter:
        if settings.base_url is None:
            raise self._reader.error(("providers", name, "base_url"), N_("`{name}` is missing"))
        self._check_address(settings.base_url, name)
        for at, model in enumerate(settings.models):
            for key in ("tool_update", "system_prompt_update"):
                if getattr(model, key) is not None:
                    raise self._reader.error(
                        ("providers", name, "models", at, key),
                        N_("`{name}` has no meaning for this kind of provider"),
                    )
        models: dict[str, ModelEntry] = {}
        for model in settings.models:
            base = chat_model(model.id)
            if settings.max_output is not None:
                base = replace(base, max_output=settings.max_output)
            models[model.id] = _entry(model, base)
        return ChatAdapter(
            ChatConnection(
                provider=name,
                base_url=settings.base_url,
                credential=self._credential(name, settings, None),
                models=models,
                retry_policy=_policy(settings.retry),
                default_effort=settings.effort,
                max_tokens_field=settings.max_tokens_field,
                capped=frozenset(
                    model.id for model in settings.models if model.max_output or settings.max_output
                ),
                idle_timeout_s=settings.idle_timeout_s,
            )
        )

    def _check_address(self, base_url: str, name: str) -> None:
        try:
            checked_url(base_url)
        except ValueError as error:
            raise self._reader.error(("providers", name, "base_url"), _ADDRESS) from error

    def _credential(self, name: str, settings: ProviderSettings, otherwise: str | None) -> Credential:
        command = settings.api_key_command
        place = ("providers", name, "api_key_command")
        if command is None:
            return Credential(env=settings.api_key_env or otherwise, environ=self._environ)
        if settings.api_key_env is not None:
            raise self._reader.error(place, N_("`{name}` and `api_key_env` exclude each other"))
        try:
            words = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError:
            words = []
        if not words:
            raise self._reader.error(place, N_("`{name}` is no command"))
        return Credential(command=tuple(words), environ=self._environ)


def _entry(settings: ModelSettings, base: ModelEntry) -> ModelEntry:
    efforts = base.efforts if settings.efforts is None else settings.efforts
    default = settings.default_effort or (base.default_effort if base.default_effort in efforts else None)
    return replace(
        base,
        display=settings.display or base.display,
        context_window=settings.context_window or base.context_window,
        max_output=settings.max_output or base.max_output,
        input=settings.input,
        tool_update=settings.tool_update,
        system_prompt_update=settings.system_prompt_update,
        efforts=efforts,
        default_effort=default or (efforts[0] if efforts and base.default_effort else None),
    )


def _policy(settings: RetrySettings) -> RetryPolicy:
    return RetryPolicy(
        mode=settings.mode,
        max_retries=settings.max_retries,
        retryable_codes=RETRYABLE_CODES if settings.codes is None else settings.codes,
        initial_ms=settings.initial_ms,
        max_ms=settings.max_ms,
        jitter=settings.jitter,
    )
