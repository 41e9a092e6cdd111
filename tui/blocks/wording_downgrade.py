"""Sentences about a route that is sent full definitions in place of tool changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.blocks.wording_names import name_text
from tui.i18n import Translator
from tui.session.own_records import Downgrade

if TYPE_CHECKING:
    from tui.llm.learned import Learned


def downgrade_title(tr: Translator, record: Downgrade) -> str:
    """What was found and what is done, in one line."""
    route = _route(tr, record)
    if not record.is_on:
        match record.reason:
            case "expired":
                return tr.t("Tool changes are tried again on {route}: the finding is a week old", route=route)
            case "changed":
                return tr.t("Tool changes are tried again on {route}: its settings changed", route=route)
            case _:
                return tr.t("Tool changes are tried again on {route}: the finding was reset", route=route)
    if record.prompts_refused:
        said = tr.t(
            "{route} accepts neither tool changes nor later prompts in mid-session; sending full definitions "
            "and one prompt",
            route=route,
        )
    else:
        said = tr.t(
            "{route} does not accept tool changes in mid-session; sending full definitions", route=route
        )
    if record.reason == "known":
        return tr.t("{said} (known from another session)", said=said)
    if record.request_id:
        return tr.t("{said} (request {request})", said=said, request=name_text(record.request_id))
    return said


def downgrade_facts(tr: Translator, record: Downgrade) -> list[tuple[str, str]]:
    """Label and value of everything that the record tells."""
    facts = [
        (tr.t("Provider"), name_text(record.provider)),
        (tr.t("Model"), name_text(record.model)),
        (tr.t("Endpoint"), name_text(record.endpoint)),
        (tr.t("Tool updates before"), name_text(record.before)),
        (tr.t("Tool updates now"), name_text(record.now)),
    ]
    if record.prompts_refused:
        facts.append((tr.t("Later prompts now"), tr.t("the last one alone, before all messages")))
    if record.status is not None:
        facts.append((tr.t("Refused with"), tr.t("HTTP {status}", status=record.status)))
    if record.request_id:
        facts.append((tr.t("Request id"), name_text(record.request_id)))
    if record.is_on:
        named = (
            tr.t("yes: its answer names the change blocks")
            if record.strong
            else tr.t("no: found by trying without them")
        )
        facts.append((tr.t("Said so itself"), named))
    return [(label, value) for label, value in facts if value]


def learned_route(tr: Translator, entry: Learned) -> str:
    """The route, or the routes of one provider, that an entry of the cache speaks for."""
    if entry.is_of_all_models:
        return tr.t("every model at {provider}", provider=name_text(entry.provider))
    return tr.t("{model} at {provider}", model=name_text(entry.model), provider=name_text(entry.provider))


def _route(tr: Translator, record: Downgrade) -> str:
    model, provider = name_text(record.model), name_text(record.provider)
    return tr.t("{model} at {provider}", model=model, provider=provider) if provider else model
