"""What is wrong with a session as JSON objects (CONTRACT, "JSON", view `doctor`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tui import __version__
from tui.blocks.wording_doctor import advice_text, finding_text
from tui.export.json_text import named, present
from tui.i18n import Translator
from tui.nodes.doctor import Examination, Finding
from tui.nodes.doctor_failures import FailedAttempt
from tui.nodes.doctor_home import Profile


def finding_entries(found: Examination, tr: Translator) -> Iterator[dict[str, Any]]:
    """Yield every finding, the worst first."""
    for finding in found.findings:
        yield {
            "code": finding.code,
            "severity": finding.severity,
            **present(seq=finding.seq),
            "text": finding_text(tr, finding),
            "advice": "\n".join(advice_text(tr, step, found.versions) for step in finding.advice),
            **named(steps=list(finding.advice), **_facts(finding)),
        }


def route_member(found: Examination) -> dict[str, Any]:
    """Return the route that the session talks to, and since when it is sent full definitions."""
    versions = found.versions
    return named(provider=versions.provider, model=versions.model, downgraded_seq=versions.downgraded_seq)


def versions_member(found: Examination) -> dict[str, Any]:
    """Return what log and home tell of versions, routes and settings, and what neither of them does."""
    versions = found.versions
    route = versions.route
    home = versions.home
    return named(
        dsh_tui=__version__,
        format_version=versions.format_version,
        encoding=versions.encoding,
        preset=versions.preset,
        routes=[
            named(provider=entry.provider, model=entry.model, effort=entry.effort, endpoint=entry.endpoint)
            for entry in versions.routes
        ],
        endpoint=route.endpoint if route is not None else "",
        configured_endpoint=versions.configured,
        adapter=versions.adapter,
        uploads=versions.uploads,
        search_endpoint=versions.search_endpoint,
        permission=versions.permission,
        sandbox=versions.sandbox,
        approval=versions.approval,
        pick_ups=versions.pick_ups,
        tools=versions.tools,
        servers=list(versions.servers),
        plugin_records=list(versions.plugin_records),
        profiles=[_profile(profile) for profile in home.profiles] if home is not None else [],
        endpoints=[named(entry=entry.entry, url=entry.url, file=entry.file) for entry in versions.endpoints],
        not_told=list(versions.not_told),
    )


def _profile(profile: Profile) -> dict[str, Any]:
    plugins = [
        named(name=plugin.name, version=plugin.version, wanted=plugin.wanted) for plugin in profile.plugins
    ]
    return named(name=profile.name, bundles=list(profile.bundles), plugins=plugins)


def chain_entries(found: Examination) -> Iterator[dict[str, Any]]:
    """Yield every turn with failed requests, those that a retry mended included."""
    for turn in found.chain:
        yield {
            **present(turn=turn.turn),
            **named(outcome=turn.outcome),
            "requests": [_attempt(attempt) for attempt in turn.attempts],
        }


def _facts(finding: Finding) -> dict[str, Any]:
    fields = finding.fields
    return {
        "turns": list(fields.get("turns", ())),
        "tools": list(fields.get("tools", ())),
        "record_seq": fields.get("record"),
        "path": fields.get("path"),
        "status": fields.get("status"),
        "request_id": fields.get("request_id"),
        "message": fields.get("message"),
        "rule": fields.get("rule"),
        "overcome": bool(fields.get("overcome")),
    }


def _attempt(attempt: FailedAttempt) -> dict[str, Any]:
    return {
        "seq": attempt.seq,
        "cause": attempt.cause,
        "sent": attempt.was_sent,
        **present(step=attempt.step, status=attempt.status, record_seq=attempt.record_seq),
        **named(
            code=attempt.code,
            request_id=attempt.request_id,
            message=attempt.message,
            path=attempt.path,
            compaction=attempt.is_compaction,
            tools=list(attempt.tools),
        ),
    }
