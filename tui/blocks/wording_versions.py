"""Versions and route of a session as one block that a person can paste into a report about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tui import __version__
from tui.blocks.clean import clean_line
from tui.blocks.wording_names import name_text
from tui.i18n import Translator
from tui.nodes.doctor import Examination
from tui.nodes.doctor_home import Endpoint, Plugin, Profile
from tui.nodes.doctor_versions import NotTold, Versions

_LISTED: Final = 12


def versions_title(tr: Translator) -> str:
    """The heading of the block."""
    return tr.t("Versions, to paste into a report")


def versions_rows(tr: Translator, found: Examination) -> list[tuple[str, str]]:
    """Label and value of every line of the block; what neither log nor home tells is said so."""
    versions = found.versions
    rows = [
        (tr.t("dsh-tui"), __version__),
        (tr.t("dsh"), _dsh(tr, versions)),
        (tr.t("session"), _session(tr, versions)),
        *([] if versions.is_own else _profiles(tr, versions)),
        *([] if versions.is_own else [(tr.t("plugins"), _plugins(tr, versions))]),
        *_routes(tr, versions),
        (tr.t("tools"), _tools(tr, versions)),
    ]
    if settings := _settings(tr, versions):
        rows.append((tr.t("permissions"), settings))
    if last := _last_failure(tr, found):
        rows.append((tr.t("last failure"), last))
    return rows


def missing_text(tr: Translator, versions: Versions) -> str:
    """What neither log nor home tells, as a list; empty if they tell everything."""
    words: dict[NotTold, str] = {
        "dsh": tr.t("the version of dsh"),
        "profile": tr.t("the profile"),
        "plugins": tr.t("the plugins"),
        "endpoint": tr.t("the route's endpoint"),
    }
    return tr.join([words[what] for what in versions.not_told])


def not_told(tr: Translator) -> str:
    """That neither the log nor its home tells something."""
    return tr.t("not in log or home")


def _dsh(tr: Translator, versions: Versions) -> str:
    if versions.is_own:
        return tr.t("not involved: a session of dsh-tui")
    return tr.t("not in log or home; `dsh --version` says it")


def _session(tr: Translator, versions: Versions) -> str:
    told = [
        name_text(versions.session),
        tr.t("log format {version}", version=versions.format_version),
        "zstd" if versions.encoding == "zstd" else tr.t("plain text"),
    ]
    if versions.preset:
        told.append(tr.t("preset {preset}", preset=name_text(versions.preset)))
    if versions.pick_ups:
        told.append(tr.n("picked up {n} time", "picked up {n} times", versions.pick_ups))
    if versions.wrote_here and not versions.is_own:
        told.append(tr.t("with records of dsh-tui"))
    return tr.join(told)


def _profiles(tr: Translator, versions: Versions) -> list[tuple[str, str]]:
    profiles = versions.home.profiles if versions.home is not None else ()
    if not profiles:
        return [(tr.t("profile"), not_told(tr))]
    if len(profiles) == 1:
        told = tr.t("{profile} (the only one in the home)", profile=_profile(tr, profiles[0]))
        return [(tr.t("profile"), told)]
    named = _many(tr, [_profile(tr, profile) for profile in profiles])
    return [(tr.t("profile"), tr.t("not known which; the home has {profiles}", profiles=named))]


def _profile(tr: Translator, profile: Profile) -> str:
    name = name_text(profile.name)
    if not profile.has_manifest:
        return tr.t("{name} (its package.json cannot be read)", name=name)
    installed = {plugin.name for plugin in profile.plugins}
    bundles = [bundle for bundle in profile.bundles if bundle not in installed]
    return f"{name} [{_many(tr, map(name_text, bundles))}]" if bundles else name


def _plugins(tr: Translator, versions: Versions) -> str:
    profiles = versions.home.profiles if versions.home is not None else ()
    readable = [profile for profile in profiles if profile.has_manifest]
    told: list[str] = []
    for profile in readable:
        named = _many(tr, [_plugin(tr, plugin) for plugin in profile.plugins])
        if named:
            told.append(f"{name_text(profile.name)}: {named}" if len(readable) > 1 else named)
    if readable and not told:
        told.append(tr.t("none installed"))
    if versions.plugin_records:
        left = _many(tr, map(name_text, versions.plugin_records))
        told.append(tr.t("records in the log by {plugins}", plugins=left))
    return "; ".join(told) or not_told(tr)


def _plugin(tr: Translator, plugin: Plugin) -> str:
    name = name_text(plugin.name)
    if plugin.version:
        return f"{name} {plugin.version}"
    if plugin.wanted:
        return tr.t("{name} ({wanted}, not installed)", name=name, wanted=plugin.wanted)
    return tr.t("{name} (no version given)", name=name)


def _routes(tr: Translator, versions: Versions) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    route = versions.route
    if route is None:
        rows.append((tr.t("route"), tr.t("no request was made")))
    else:
        told = " · ".join(filter(None, (name_text(route.provider), name_text(route.model))))
        if route.effort:
            told += " · " + tr.t("effort {effort}", effort=name_text(route.effort))
        rows.append((tr.t("route"), told))
    rows.append((tr.t("endpoint"), _endpoint(tr, versions)))
    if versions.adapter or versions.uploads:
        told = [name_text(versions.adapter)] if versions.adapter else []
        if versions.uploads:
            parts = tr.n(
                "log uploaded by dsh in {n} part", "log uploaded by dsh in {n} parts", versions.uploads
            )
            told.append(parts)
        rows.append((tr.t("adapter"), tr.join(told)))
    others = [
        f"{name_text(other.provider)} · {name_text(other.model)}"
        for other in versions.routes
        if other is not route
    ]
    if others:
        rows.append((tr.t("other routes"), _many(tr, others)))
    if versions.search_endpoint:
        rows.append((tr.t("web search"), clean_line(versions.search_endpoint)))
    return rows


def _endpoint(tr: Translator, versions: Versions) -> str:
    route = versions.route
    if route is not None and route.endpoint:
        return tr.t("{url} (by a record of dsh-tui)", url=clean_line(route.endpoint))
    if versions.endpoints:
        return tr.t("the home sets {endpoints}", endpoints=_many(tr, map(_set, versions.endpoints)))
    if versions.configured:
        return tr.t("{url} (by the settings file here)", url=clean_line(versions.configured))
    return not_told(tr)


def _set(endpoint: Endpoint) -> str:
    entry = f"{name_text(endpoint.entry)} → " if endpoint.entry else ""
    return f"{entry}{clean_line(endpoint.url)} ({name_text(endpoint.file)})"


def _tools(tr: Translator, versions: Versions) -> str:
    told = tr.n("{n} active at the end", "{n} active at the end", versions.tools)
    if versions.servers:
        servers = _many(tr, map(name_text, versions.servers))
        told = tr.t("{tools}; servers by their names: {servers}", tools=told, servers=servers)
    return told


def _settings(tr: Translator, versions: Versions) -> str:
    told = [
        tr.t("preset {preset}", preset=name_text(versions.permission)) if versions.permission else "",
        tr.t("sandbox {mode}", mode=name_text(versions.sandbox)) if versions.sandbox else "",
        tr.t("approval {policy}", policy=name_text(versions.approval)) if versions.approval else "",
    ]
    return tr.join([part for part in told if part])


def _last_failure(tr: Translator, found: Examination) -> str:
    if not found.chain:
        return ""
    last = found.chain[-1].attempts[-1]
    told = [tr.t("event {seq}", seq=last.seq)]
    if last.status is not None:
        told.append(tr.t("HTTP {status}", status=last.status))
    if last.code:
        told.append(name_text(last.code))
    if last.request_id:
        told.append(tr.t("request {request}", request=name_text(last.request_id)))
    return tr.join(told)


def _many(tr: Translator, names: Iterable[str]) -> str:
    """A list that does not grow without end."""
    listed = list(names)
    shown = listed[:_LISTED]
    if len(listed) > _LISTED:
        shown.append(tr.n("{n} more", "{n} more", len(listed) - _LISTED))
    return tr.join(shown)
