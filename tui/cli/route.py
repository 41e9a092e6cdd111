"""`dsh-tui route check`: asks a configured route what it takes, and prints the lines that say so."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from typing import Final

from tui.blocks.clean import clean_line
from tui.cli.run import NO_PROVIDER, OK, WRONG_CALL, Refused, Run, is_terminal, say
from tui.i18n import N_, Translator
from tui.llm.deepseek import DeepSeekAdapter, DeepSeekConnection
from tui.llm.learned import LearnedModes, cache_path
from tui.llm.providers import KEY_VARIABLE, Providers, configured_providers
from tui.llm.request import CallConfig
from tui.llm.route import ModelEntry, is_official
from tui.llm.route_check import MAX_TOKENS, MOST_REQUESTS, Answered, Feature, Finding, ask_route, finding_of
from tui.session.cancel import CancelSignal

UNDECIDED: Final = 1

_FEATURES: Final[dict[Feature, str]] = {
    "plain": N_("a plain request"),
    "additions": N_("tool additions"),
    "removals": N_("tool removals"),
    "prompts": N_("prompts inside the history"),
}


def route_check(run: Run) -> int:
    """Ask a route after the person agreed; returns 0 with a finding, 1 without, 64 if nobody can agree.

    Raises ConfigError, and Refused for a provider that is not there.
    """
    providers = configured_providers(run.config, run.config_path, os.environ)
    provider, model = _chosen(run, providers)
    adapter = providers.get(provider)
    if not isinstance(adapter, DeepSeekAdapter):
        raise Refused(
            run.tr.t(
                "Providers of this kind take no tool changes, so there is nothing to ask {name}.",
                name=provider,
            ),
            status=WRONG_CALL,
        )
    entry = next((entry for entry in adapter.models() if entry.id == model), None)
    _tell_what_is_sent(run, adapter, model)
    if not _agreed(run):
        sys.stderr.write(run.tr.t("Nothing was sent.") + "\n")
        return UNDECIDED
    answers = asyncio.run(_asked(run, adapter.connection, model))
    finding = finding_of(answers)
    if finding is None:
        say(run.tr.t("That decides nothing about the route; no setting is suggested.") + "\n")
        return UNDECIDED
    _tell_finding(run, adapter.connection, model, entry, finding)
    if finding.tool_update is not None:
        _tell_what_was_learned(run, adapter, model)
    return OK


def _chosen(run: Run, providers: Providers) -> tuple[str, str]:
    """The provider and the model to ask: those that were named, else the settings file's."""
    from tui.cli.talking import no_provider, unknown_provider

    tr, default = run.tr, providers.default
    if not providers.ids:
        raise Refused(no_provider(tr), status=NO_PROVIDER)
    provider: str = run.options.get("provider") or (default.provider if default else providers.ids[0])
    adapter = providers.get(provider)
    if adapter is None:
        raise unknown_provider(tr, providers, provider)
    model: str | None = run.options.get("model")
    if model is None and default is not None and default.provider == provider:
        model = default.model
    model = model or next((entry.id for entry in adapter.models()), None)
    if model is None:
        raise Refused(
            tr.t("The provider `{name}` lists no model; name one with --model.", name=provider),
            status=NO_PROVIDER,
        )
    return provider, model


def _tell_what_is_sent(run: Run, adapter: DeepSeekAdapter, model: str) -> None:
    tr = run.tr
    rows = (
        tr.t(
            "Route: {model} of {provider} at {endpoint}",
            model=clean_line(model),
            provider=clean_line(adapter.provider),
            endpoint=clean_line(adapter.endpoint),
        ),
        tr.t(
            "Up to {n} requests are sent there with your key: each holds a few made-up sentences and two "
            "made-up tools, nothing of your files or sessions, and asks for at most {tokens} tokens.",
            n=MOST_REQUESTS,
            tokens=MAX_TOKENS,
        ),
    )
    sys.stderr.write("\n".join(rows) + "\n")


def _agreed(run: Run) -> bool:
    """Whether the person agrees. Raises Refused where there is nobody to ask."""
    if run.options.get("yes"):
        return True
    if not is_terminal(sys.stdin):
        raise Refused(
            run.tr.t("Without a terminal nobody can agree to that; --yes agrees."), status=WRONG_CALL
        )
    sys.stderr.write(run.tr.t("Send them? [y/N]") + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes", "是")


async def _asked(run: Run, connection: DeepSeekConnection, model: str) -> list[Answered]:
    answers: list[Answered] = []
    async for answered in ask_route(connection, model, CancelSignal()):
        answers.append(answered)
        say(_told(run.tr, answered) + "\n")
        sys.stdout.flush()
    return answers


def _told(tr: Translator, answered: Answered) -> str:
    feature = tr.t(_FEATURES[answered.feature])
    failure = answered.failure
    if failure is None:
        return tr.t("{feature}: accepted", feature=feature)
    status = f"HTTP {failure.status}, " if failure.status is not None else ""
    reason = clean_line(f"{status}{failure.code}: {failure.message}")
    if answered.is_decided:
        return tr.t("{feature}: refused ({reason})", feature=feature, reason=reason)
    return tr.t("{feature}: failed ({reason})", feature=feature, reason=reason)


def _tell_finding(
    run: Run, connection: DeepSeekConnection, model: str, entry: ModelEntry | None, finding: Finding
) -> None:
    tr = run.tr
    found = (finding.tool_update, finding.system_prompt_update)
    if entry is not None and found == (entry.tool_update, entry.system_prompt_update):
        told = tr.t("The route is set up this way already; as lines of {file}:", file=run.config_path)
    else:
        told = tr.t("Put this into {file}, in place of what says otherwise:", file=run.config_path)
    note = tr.t("Accepted means that it was answered, not that the model heeds it.")
    lines = setting_lines(connection, model, finding, is_listed=connection.provider in run.config.providers)
    say("\n".join((note, told, "", *lines)) + "\n")


def _tell_what_was_learned(run: Run, adapter: DeepSeekAdapter, model: str) -> None:
    """Say it where sessions go on sending full definitions, because the route once refused tool changes."""
    learned = LearnedModes(cache_path(run.settings.homes.own))
    route = adapter.prepare(CallConfig(provider=adapter.provider, model=model, reasoning_effort="off")).route
    if learned.entry(route) is not None:
        say(
            "\n"
            + run.tr.t(
                "Sessions send this route full definitions for now, because it refused tool changes not long "
                "ago; `/tool-updates reset` in a session tries again."
            )
            + "\n"
        )


def setting_lines(
    connection: DeepSeekConnection, model: str, finding: Finding, *, is_listed: bool
) -> list[str]:
    """Return the lines of the settings file that tell what a route takes; what it refuses has no line."""
    name = connection.provider
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)
    lines: list[str] = []
    if not is_listed:
        lines += [f"[providers.{key}]", 'kind = "deepseek"']
        if not is_official(connection.base_url):
            # A key of the environment goes to an address of the settings file only if that says so.
            lines.append(f"base_url = {_quoted(connection.base_url)}")
            lines.append(f'api_key_env = "{KEY_VARIABLE}"')
        lines.append("")
    lines += [f"[[providers.{key}.models]]", f"id = {_quoted(model)}"]
    if finding.tool_update is not None:
        lines.append(f'tool_update = "{finding.tool_update}"')
    if finding.system_prompt_update is not None:
        lines.append(f'system_prompt_update = "{finding.system_prompt_update}"')
    return lines


def _quoted(text: str) -> str:
    """A string as TOML and JSON both write it."""
    return json.dumps(clean_line(text), ensure_ascii=False)
