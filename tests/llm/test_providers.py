"""Providers from the settings file and the environment (CONTRACT, "Files and environment"; spec §4.8)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tui.config import ConfigError, load_config
from tui.llm.failure import NO_ADAPTER, LlmFailure, failure_of
from tui.llm.providers import Providers, configured_providers
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.route import ModelEntry
from tui.session.cancel import CancelSignal

CREEK = """\
[default]
provider = "creek"
model = "minnow-2"
effort = "low"

[providers.creek]
kind = "deepseek"
base_url = "http://127.0.0.1:8080/anthropic"
api_key_env = "CREEK_KEY"
[[providers.creek.models]]
id = "gnat-1"
[[providers.creek.models]]
id = "minnow-2"
context_window = 64000
max_output = 900
tool_update = "addition-only"
system_prompt_update = "in-history"

[providers.pond]
kind = "chat-completions"
base_url = "http://127.0.0.1:8081/v1/"
[[providers.pond.models]]
id = "carp"
efforts = ["low", "high"]
max_output = 512

[providers.stage]
kind = "scripted"
"""


def read(tmp_path: Path, text: str, environ: dict[str, str] | None = None) -> Providers:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return configured_providers(load_config(path, {}), path, environ or {})


def entry(providers: Providers, provider: str, model: str) -> ModelEntry:
    return providers.prepare(CallConfig(provider=provider, model=model)).route.model


def test_a_settings_file_gives_providers_models_and_the_default(tmp_path: Path) -> None:
    providers = read(tmp_path, CREEK)
    assert providers.ids == ("creek", "pond", "stage")
    assert providers.default == CallConfig(provider="creek", model="minnow-2", reasoning_effort="low")
    minnow = entry(providers, "creek", "minnow-2")
    assert (minnow.context_window, minnow.max_output) == (64_000, 900)
    assert (minnow.tool_update, minnow.system_prompt_update) == ("addition-only", "in-history")
    assert entry(providers, "creek", "gnat-1").tool_update is None
    call = providers.prepare(CallConfig(provider="pond", model="carp"))
    assert (call.route.kind, call.route.endpoint) == ("chat-completions", "http://127.0.0.1:8081/v1")
    assert call.config.max_tokens == 512
    assert providers.prepare(CallConfig(provider="pond", model="other")).config.max_tokens is None
    stage = providers.get("stage")
    assert stage is not None
    assert {model.tool_update for model in stage.models()} == {None, "addition-only", "in-history"}


@pytest.mark.parametrize(
    ("base_url", "mode"),
    [
        ("https://api.deepseek.com/anthropic", "addition-only"),
        ("https://api.deepseek.com/anthropic/v1/", "addition-only"),
        ("https://gateway.example/anthropic", None),
        ("http://api.deepseek.com/anthropic", None),
        ("https://api.deepseek.com.example/anthropic", None),
    ],
)
def test_the_catalogue_speaks_for_the_official_endpoint_only(
    tmp_path: Path, base_url: str, mode: str | None
) -> None:
    providers = read(tmp_path, f'[providers.x]\nkind = "deepseek"\nbase_url = "{base_url}"\n')
    flash = entry(providers, "x", "deepseek-flash")
    assert flash.tool_update == mode
    assert flash.system_prompt_update == ("in-history" if mode else None)
    assert entry(providers, "x", "deepseek-v4-pro").tool_update is None


def test_the_catalogue_is_the_one_of_the_specification(tmp_path: Path) -> None:
    providers = read(tmp_path, '[providers.x]\nkind = "deepseek"\n')
    efforts = ("off", "low", "high", "max")
    assert entry(providers, "x", "deepseek-flash") == ModelEntry(
        id="deepseek-flash",
        display="DeepSeek-V4.1-Flash",
        context_window=1_000_000,
        max_output=256_000,
        input=("text", "image"),
        tool_update="addition-only",
        system_prompt_update="in-history",
        efforts=efforts,
        default_effort="high",
    )
    assert entry(providers, "x", "deepseek-v4-pro") == ModelEntry(
        id="deepseek-v4-pro", display="DeepSeek-V4-Pro", efforts=efforts, default_effort="high"
    )
    assert entry(providers, "x", "any") == ModelEntry(
        id="any", display="any", efforts=efforts, default_effort="high"
    )


def test_an_entry_of_the_file_replaces_the_one_of_the_catalogue(tmp_path: Path) -> None:
    text = '[providers.x]\nkind = "deepseek"\n[[providers.x.models]]\nid = "deepseek-flash"\n'
    flash = entry(read(tmp_path, text), "x", "deepseek-flash")
    assert (flash.tool_update, flash.input, flash.display) == (None, ("text",), "DeepSeek-V4.1-Flash")


def test_without_a_configured_provider_the_key_of_the_environment_is_used(tmp_path: Path) -> None:
    assert read(tmp_path, "").ids == ()
    assert read(tmp_path, "").default is None
    providers = read(tmp_path, "", {"DEEPSEEK_API_KEY": "k"})
    assert providers.default == CallConfig(provider="deepseek-official", model="deepseek-flash")
    assert entry(providers, "deepseek-official", "deepseek-flash").tool_update == "addition-only"
    elsewhere = {"DEEPSEEK_API_KEY": "k", "DEEPSEEK_BASE_URL": "http://127.0.0.1:1/anthropic"}
    providers = read(tmp_path, "", elsewhere)
    assert providers.default == CallConfig(provider="deepseek-official", model="deepseek-flash")
    flash = providers.prepare(providers.default).route
    assert (flash.model.tool_update, flash.endpoint) == (None, "http://127.0.0.1:1/anthropic/v1")
    assert read(tmp_path, CREEK, {"DEEPSEEK_API_KEY": "k"}).ids == ("creek", "pond", "stage")


async def test_the_official_key_goes_to_no_other_address(tmp_path: Path) -> None:
    environ = {"DEEPSEEK_API_KEY": "k"}
    for base_url, key in (("https://gateway.example", None), ("https://api.deepseek.com/anthropic", "k")):
        text = f'[providers.x]\nkind = "deepseek"\nbase_url = "{base_url}"\n'
        adapter = read(tmp_path, text, environ).get("x")
        assert adapter is not None
        secret = await adapter.connection.credential.read()  # type: ignore[attr-defined]
        assert (None if secret is None else secret.reveal()) == key


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (('kind = "deepseek"', 'kind = "deepsick"'), 7, "`providers.creek.kind` must be one of"),
        (('kind = "deepseek"\n', ""), 6, "`providers.creek.kind` is missing"),
        (
            ('"addition-only"', '"additions"'),
            16,
            '`providers.creek.models[2].tool_update` must be one of "addition-only", "in-history"',
        ),
        (
            ('prompt_update = "in-history"', 'prompt_update = "addition-only"'),
            17,
            "system_prompt_update` must be",
        ),
        (("context_window = 64000", "context_window = 0"), 14, "`providers.creek.models[2].context_window`"),
        (("context_window = 64000", 'context_window = "big"'), 14, "context_window` must be a number"),
        (("context_window", "context_windw"), 14, "did you mean `providers.creek.models.context_window`"),
        (('id = "minnow-2"\n', ""), 12, "`providers.creek.models[2].id` is missing"),
        (('api_key_env = "CREEK_KEY"', 'api_key = "sk-1"'), 9, "`providers.creek.api_key` is not a setting"),
        (('api_key_env = "CREEK_KEY"', "api_key_env = 7"), 9, "`providers.creek.api_key_env` must be text"),
        (('api_key_env = "CREEK_KEY"', 'api_key_command = ""'), 9, "`providers.creek.api_key_command`"),
        (('api_key_env = "CREEK_KEY"', "api_key_command = 'a \"b'"), 9, "is no command"),
        (
            ("http://127.0.0.1:8080/", "http://u:p@127.0.0.1/"),
            8,
            "`providers.creek.base_url` must be an http",
        ),
        (("http://127.0.0.1:8080/", "ftp://127.0.0.1/"), 8, "`providers.creek.base_url` must be an http"),
        (('provider = "creek"', 'provider = "brook"'), 2, "`default.provider` names no provider: brook"),
        (('effort = "low"', 'efort = "low"'), 4, "did you mean `default.effort`"),
        (('id = "carp"', 'id = "carp"\ntool_update = "in-history"'), 24, "has no meaning for this kind"),
        (('base_url = "http://127.0.0.1:8081/v1/"\n', ""), 19, "`providers.pond.base_url` is missing"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_key(
    tmp_path: Path, change: tuple[str, str], line: int, words: str
) -> None:
    assert change[0] in CREEK
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, CREEK.replace(*change, 1))
    assert (raised.value.line, raised.value.path) == (line, tmp_path / "config.toml")
    assert words in str(raised.value)
    assert "sk-1" not in str(raised.value)
    assert "u:p@" not in str(raised.value)


def test_a_wrong_address_in_the_environment_is_named(tmp_path: Path) -> None:
    environ = {"DEEPSEEK_API_KEY": "k", "DEEPSEEK_BASE_URL": "nowhere"}
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, "", environ)
    assert "DEEPSEEK_BASE_URL" in str(raised.value)


def test_retries_are_set_for_each_provider(tmp_path: Path) -> None:
    text = (
        '[providers.x]\nkind = "scripted"\n[providers.x.retry]\nmode = "always"\ninitial_ms = 5\n'
        'max_ms = 7.5\njitter = 0\ncodes = ["SERVER"]\n'
    )
    policy = read(tmp_path, text).retry_policy("x")
    assert policy.key == '["always",["SERVER"],5,7.5,0]'
    assert read(tmp_path, text).retry_policy("nobody").max_retries == 5


async def test_a_missing_provider_fails_when_the_call_is_streamed(tmp_path: Path) -> None:
    providers = read(tmp_path, "")
    config = CallConfig(provider="brook", model="m")
    with pytest.raises(LlmFailure) as raised:
        providers.prepare(config)
    assert raised.value.code == NO_ADAPTER
    call = providers.prepare_or_fail_later(config)
    request = GenerateRequest(config=config, messages=[])
    chunks = [chunk async for chunk in call.stream(request, CancelSignal())]
    failure = failure_of(chunks[-1])
    assert failure is not None
    assert failure.code == NO_ADAPTER
    assert call.route.model.tool_update is None


def test_the_environment_of_the_tests_has_no_key() -> None:
    assert "DEEPSEEK_API_KEY" not in os.environ
