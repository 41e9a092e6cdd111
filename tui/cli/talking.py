"""Putting a conversation together: log, providers, tools, approval, agent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tui.app.conversation import Conversation
from tui.app.live_hold import told_at_the_start
from tui.cli.run import NO_PROVIDER, WRONG_CALL, Refused, Run
from tui.cli.scenes import Scene, SceneGuide, ScenePlayer, first_selection, scenes
from tui.config import Config, ConfigError
from tui.i18n import N_, Translator
from tui.llm.learned import LearnedModes, cache_path
from tui.llm.providers import KEY_VARIABLE, Providers, configured_providers
from tui.llm.scripted import ScriptedAdapter
from tui.loop.agent import Agent
from tui.loop.fresh_start import FreshStart, first_check
from tui.loop.header import Selection
from tui.loop.prompt import Prompt, Section
from tui.loop.state import AgentOptions
from tui.session.cancel import CancelSignal
from tui.session.durable import Encoding
from tui.session.progress import Told
from tui.session.store import resolve_session
from tui.session.write_errors import SessionRefused
from tui.session.writer import SessionWriter
from tui.tools.approval import Answerer, ApprovalService
from tui.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tui.session.forking import Fork

_PROMPT = (
    "You are an assistant that a person talks to in a terminal. Answer in the person's language, briefly and "
    "in Markdown. Use the tools that are offered when they help; say plainly when one fails or is missing."
)


async def open_conversation(
    run: Run,
    *,
    provider: str | None = None,
    model: str | None = None,
    resume: str | None = None,
    cwd: str | None = None,
    fresh: FreshStart | None = None,
    answerer: Answerer | None = None,
    told: Told | None = None,
) -> Conversation:
    """Return a conversation over a new session, from a summary with `fresh`, or a stored one.

    `told` hears how far the reading of a stored one is. Raises Refused where no provider is configured,
    ConfigError, SessionError.
    """
    if run.options.get("copy") and run.options.get("resume") is None:
        raise Refused(
            run.tr.t("--copy says how to go on with --resume, so it needs that."), status=WRONG_CALL
        )
    known = scenes()
    player = ScenePlayer(known, run.tr.lang, pace_s=0.0)
    providers = configured_providers(run.config, run.config_path, os.environ, script=player)
    notices: list[str] = []
    if not providers.ids:
        raise Refused(no_provider(run.tr), status=NO_PROVIDER)
    workspace = _workspace(run.tr, cwd)
    writer = _resumed(run, resume, notices, told) if resume is not None else _created(run, workspace)
    try:
        selection = _selection(run, providers, writer, provider, model)
        registry, approvals = _registry(run, writer, answerer)
        prompt = _prompt(workspace)
        agent = Agent(writer, providers, registry, _options(run, selection), prompt=prompt)
        if fresh is not None:
            fresh.record(writer)
        check = first_check(writer, registry)
    except BaseException:
        writer.close_now()
        raise
    conversation = Conversation(
        agent=agent,
        writer=writer,
        providers=providers,
        approvals=approvals,
        notices=notices,
        opening=fresh.summary if fresh is not None else "",
        first_check=check,
    )
    adapter = providers.get(selection.provider)
    if isinstance(adapter, ScriptedAdapter):
        conversation.guide = SceneGuides(known, registry, agent, run.tr.lang)
    _add_command_tools(run, conversation, registry, workspace)
    if held := told_at_the_start(run.tr, agent):
        notices.append(held)
    return conversation


async def open_scene(
    run: Run, scene: Scene, folder: Path, *, answerer: Answerer | None, pace_s: float
) -> Conversation:
    """Return a conversation with the scripted provider, kept in a folder."""
    adapter = ScriptedAdapter(ScenePlayer([scene], run.tr.lang, pace_s))
    providers = Providers([adapter])
    writer = SessionWriter.create(folder, str(folder), preferred="none")
    approvals = ApprovalService("ask", answerer, writer.append)
    registry = ToolRegistry(approval=approvals)
    options = AgentOptions(selection=first_selection(scene, adapter.provider))
    agent = Agent(writer, providers, registry, options, prompt=_prompt(None))
    guide = SceneGuide(scene, registry, run.tr.lang)
    guide.agent = agent
    guide.begin()
    return Conversation(agent=agent, writer=writer, providers=providers, approvals=approvals, guide=guide)


class SceneGuides:
    """Follows whatever scene a prompt belongs to; offers nothing of its own."""

    def __init__(self, known: Sequence[Scene], registry: ToolRegistry, agent: Agent, lang: str) -> None:
        self._guides = [SceneGuide(scene, registry, lang) for scene in known]
        for guide in self._guides:
            guide.agent = agent

    def offered(self, tr: Translator) -> str | None:
        """Return nothing."""
        del tr

    def about_to_send(self, text: str) -> None:
        """Change the tools as the scene says that a prompt belongs to."""
        for guide in self._guides:
            guide.about_to_send(text)

    def farewell(self, tr: Translator, key: str) -> str:
        """Return nothing to say."""
        del tr, key
        return ""


def no_provider(tr: Translator) -> str:
    """Return how to configure a provider, in one sentence."""
    return tr.t(
        "No provider is configured: set DEEPSEEK_API_KEY, or describe one under [providers] in config.toml; "
        "`dsh-tui demo` needs neither."
    )


def unknown_provider(tr: Translator, providers: Providers, name: str) -> Refused:
    """Return what to raise for the name of a provider that is not configured."""
    known = tr.join(list(providers.ids))
    sentence = tr.t("There is no provider `{name}`, only: {known}", name=name, known=known)
    return Refused(sentence, status=NO_PROVIDER)


def _workspace(tr: Translator, cwd: str | None) -> Path:
    workspace = Path(cwd or ".").resolve()
    if not workspace.is_dir():
        raise Refused(tr.t("{folder} is no folder to work in.", folder=workspace))
    return workspace


def _created(run: Run, workspace: Path) -> SessionWriter:
    own = run.settings.homes.own
    return SessionWriter.create(own, str(workspace), preferred=_compression(run.config, run.config_path))


def _compression(config: Config, source: Path) -> Encoding:
    chosen = config.session.get("compression", "zstd")
    if chosen not in ("zstd", "none"):
        raise ConfigError(source, N_('`{name}` must be "zstd" or "none"'), name="session.compression")
    return chosen


def _resumed(run: Run, session: str, notices: list[str], told: Told | None) -> SessionWriter:
    """Continue a session of our own, or a copy of one of dsh's."""
    homes = run.settings.homes
    found = resolve_session(session, homes)
    wants_copy = bool(run.options.get("copy"))
    if not wants_copy and found.path.resolve().is_relative_to((homes.own / "sessions").resolve()):
        return SessionWriter.resume(found.path, told=told)
    copy = _copied(run, found.path, told, mends=wants_copy)
    notices.append(_told_of_copy(run.tr, copy))
    return copy.writer


def _told_of_copy(tr: Translator, copy: Fork) -> str:
    if not copy.dropped and not copy.added:
        return tr.t("This goes on in a copy, {id}; the original stays as it is.", id=copy.writer.id)
    mended = [
        tr.n("{n} event left out", "{n} events left out", copy.dropped) if copy.dropped else "",
        tr.n("{n} event put in", "{n} events put in", copy.added) if copy.added else "",
    ]
    return tr.t(
        "This goes on in a mended copy, {id}, with {what}; the original stays as it is.",
        id=copy.writer.id,
        what=tr.join([part for part in mended if part]),
    )


def _copied(run: Run, source: Path, told: Told | None, *, mends: bool) -> Fork:
    """Fork a session; only one that is damaged is numbered anew, and only if that is wanted."""
    from tui.session.forking import fork

    own, preferred = run.settings.homes.own, _compression(run.config, run.config_path)
    try:
        return fork(source, own, preferred=preferred, allow_unknown=mends, told=told)
    except SessionRefused as refused:
        if not mends or refused.code not in ("damaged", "rule"):
            raise
        return fork(source, own, preferred=preferred, mend=True, told=told)


def _selection(
    run: Run, providers: Providers, writer: SessionWriter, provider: str | None, model: str | None
) -> Selection:
    default = providers.default
    before: Any = writer.header_event.data["header"]["config"] if writer.header_event is not None else {}
    if provider is not None and provider not in providers.ids:
        raise unknown_provider(run.tr, providers, provider)
    if provider is None and model is None and before.get("provider") in providers.ids:
        return Selection(provider=before["provider"], model=before["model"])
    chosen = provider or (default.provider if default is not None else providers.ids[0])
    if model is None and default is not None and default.provider == chosen:
        return Selection(provider=chosen, model=default.model, reasoning_effort=default.reasoning_effort)
    adapter = providers.get(chosen)
    listed = [entry.id for entry in adapter.models()] if adapter is not None else []
    if model is None and not listed:
        raise Refused(run.tr.t("The provider `{name}` lists no model; name one with --model.", name=chosen))
    return Selection(provider=chosen, model=model or listed[0])


def _registry(
    run: Run, writer: SessionWriter, answerer: Answerer | None
) -> tuple[ToolRegistry, ApprovalService]:
    policy = run.config.approval.get("policy", "ask")
    if policy not in ("ask", "never"):
        raise ConfigError(run.config_path, N_('`{name}` must be "ask" or "never"'), name="approval.policy")
    approvals = ApprovalService(policy, answerer, writer.append)
    return ToolRegistry(approval=approvals), approvals


def _options(run: Run, selection: Selection) -> AgentOptions:
    approval = run.config.approval
    policy: Literal["ask", "never"] = "never" if approval.get("policy") == "never" else "ask"
    return AgentOptions(
        selection=selection,
        permission_preset=str(approval.get("preset", "workspace-write")),
        approval_policy=policy,
        learned=LearnedModes(cache_path(run.settings.homes.own)),
        strict=bool(run.options.get("strict")),
    )


def _prompt(workspace: Path | None) -> Prompt:
    prompt = Prompt()
    prompt.add(Section(name="assistant", text=_PROMPT, literal=True))
    if workspace is not None:
        prompt.add_context(
            Section(name="working-directory", text=f"Working directory: {workspace}", literal=True)
        )
    return prompt


def _add_command_tools(run: Run, conversation: Conversation, registry: ToolRegistry, workspace: Path) -> None:
    """Let the tools of the settings' tools file come and go with it."""
    from tui.tools.command_tools import CommandTools, ToolFileReport

    named = run.config.tools.get("file")
    path = run.config_path.parent / str(named or "tools.json")

    def report(found: ToolFileReport) -> None:
        if found.fault is not None:
            conversation.notices.append(str(found.fault))

    withheld = [
        str(settings["api_key_env"])
        for settings in run.config.providers.values()
        if "api_key_env" in settings
    ]
    tools = CommandTools(
        registry,
        path,
        workspace,
        optional=named is None,
        withheld=[KEY_VARIABLE, *withheld],
        on_report=report,
    )
    tools.refresh()
    signal = CancelSignal()
    task = asyncio.ensure_future(tools.watch(signal))

    async def stop() -> None:
        signal.cancel({"kind": "disposed"})
        await asyncio.gather(task, return_exceptions=True)

    conversation.closers.append(stop)
