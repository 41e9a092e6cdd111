"""Trying a fresh session on a session's route: what is asked, what came of it, and how both are told.

A good sign when it works, never a proof: what is wrong may need the long history that a fresh session lacks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from tui.blocks.clean import clean_line
from tui.i18n import Translator

FailedAt: TypeAlias = Literal["", "message", "call"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is going to be sent, and where."""

    provider: str
    model: str
    endpoint: str = ""
    """Without credentials and query; empty where the provider has none."""
    tool: str = ""
    """The tool that is to be called; empty where none declares itself read-only."""
    is_own_route: bool = True
    """Whether it is the route of the session; else that is not configured here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What came of it."""

    plan: Plan
    called: bool = False
    """The tool was called and gave a result that is no error."""
    failed_at: FailedAt = ""
    """Which of the two prompts failed; empty: neither."""
    failure: str = ""
    """Why."""


class Verification(Protocol):
    """A fresh session that is ready, and of which nothing was sent yet."""

    @property
    def plan(self) -> Plan: ...

    async def run(self) -> Verified:
        """Send the short message, then ask for the call; can be cancelled."""
        ...

    async def close(self) -> None:
        """Stop what runs and throw the session away."""
        ...


Verifier: TypeAlias = Callable[[Translator, str, str], Awaitable[Verification | str]]
"""Makes a fresh session ready for a provider and a model; a sentence says why it cannot."""


def question(tr: Translator, plan: Plan) -> list[str]:
    """What is going to be sent, for whoever is to agree."""
    names = {"model": clean_line(plan.model), "provider": clean_line(plan.provider)}
    if plan.endpoint:
        where = tr.t("To {model} at {provider}, {endpoint}:", endpoint=clean_line(plan.endpoint), **names)
    else:
        where = tr.t("To {model} at {provider}:", **names)
    told = [where] if plan.is_own_route else [_other_route(tr), where]
    if plan.tool:
        told.append(
            tr.t(
                "two short prompts from a session that is thrown away, and the one call of {tool}, which "
                "declares that it only reads.",
                tool=clean_line(plan.tool),
            )
        )
    else:
        told.append(tr.t("one short prompt from a session that is thrown away; no tool is called."))
    told.append(tr.t("Nothing of the session that is open is sent."))
    return told


def sentences(tr: Translator, verified: Verified) -> list[str]:
    """What to tell of it."""
    plan = verified.plan
    route = {"model": clean_line(plan.model), "provider": clean_line(plan.provider)}
    told = [] if plan.is_own_route else [_other_route(tr)]
    reason = clean_line(verified.failure)
    if verified.failed_at == "message":
        told.append(
            tr.t("A fresh session on {model} at {provider} fails too: {reason}", reason=reason, **route)
        )
        told.append(
            tr.t("So look at plugins, route and settings first; it is too early to give the history up.")
        )
        return told
    if plan.is_own_route:
        told.append(
            tr.t("A fresh session on {model} at {provider} was answered: a good sign, not a proof.", **route)
        )
    else:
        told.append(
            tr.t(
                "A fresh session on {model} at {provider} was answered, which says little about the "
                "session's own route.",
                **route,
            )
        )
    tool = clean_line(plan.tool)
    if not tool:
        told.append(tr.t("No tool declares itself read-only, so none was called."))
    elif verified.failed_at == "call":
        told.append(tr.t("With the call of {tool} it fails: {reason}", tool=tool, reason=reason))
    elif verified.called:
        told.append(tr.t("The tool {tool} was called and gave its result.", tool=tool))
    else:
        told.append(tr.t("The tool {tool} gave no result: it was not called, or it failed.", tool=tool))
    return told


def _other_route(tr: Translator) -> str:
    return tr.t("The session's own route is not configured here, so another one is tried.")
