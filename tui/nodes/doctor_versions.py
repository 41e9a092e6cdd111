"""What a log and its home tell of versions and routes: what a report about a session has to name.

Nothing is guessed: what neither of them says is left empty. The log never holds the version of dsh, the
profile or the endpoint of a route; only records of ours tell an endpoint.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from tui.nodes.doctor_home import Endpoint, Home, shown_address
from tui.nodes.notices import tool_name
from tui.nodes.reading import Reading
from tui.session.events import KNOWN_TYPES, Event
from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.own_records import TOOL_UPDATE_DOWNGRADE
from tui.session.store import SESSIONS, Homes

NotTold = Literal["dsh", "profile", "plugins", "endpoint"]

_LISTED: Final = 20
_LONGEST: Final = 120
_LONGEST_PATH: Final = 48
_OWN: Final = "dsh-tui"


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """Where requests went; empty is not told."""

    provider: str
    model: str
    effort: str = ""
    endpoint: str = ""
    """As a record of ours has it, without credentials and query."""


class Versions(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of who wrote the session and what it talks to; empty is not told."""

    session: str
    argument: str = ""
    """What a command line names the session by: its id where it is found by that, else a short path.

    `SESSION`, as the help has it, where only a long one would do: whoever came here knows it.
    """
    format_version: int
    encoding: str = "none"
    preset: str = ""
    provider: str = ""
    model: str = ""
    tools: int = 0
    downgraded_seq: int | None = None
    """The record since which the latest route is sent full definitions in place of change blocks."""
    routes: tuple[Route, ...] = ()
    """Every route that requests were made for, in order of first use."""
    adapter: str = ""
    """The kind of adapter that the latest answer says it came through, with its version."""
    uploads: int = 0
    """Parts of the log that dsh's DeepSeek adapter noted as uploaded."""
    search_endpoint: str = ""
    permission: str = ""
    sandbox: str = ""
    approval: str = ""
    pick_ups: int = 0
    """How often another process took the session up."""
    servers: tuple[str, ...] = ()
    """Servers of the active tools, as their names tell: a guess for sessions of other programs."""
    plugin_records: tuple[str, ...] = ()
    """Plugins that left records or messages of their own in the log."""
    wrote_here: bool = False
    """Whether dsh-tui itself left records in the log."""
    is_own: bool = False
    """Whether it is a session of dsh-tui alone: none of dsh, nor the copy of one."""
    home: Home | None = None
    configured: str = ""
    """The endpoint that the settings file here has for the latest route, without credentials and query."""

    @property
    def route(self) -> Route | None:
        """The latest route."""
        wanted = self.provider, self.model
        return next((route for route in self.routes if (route.provider, route.model) == wanted), None)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Addresses that the home's patch layers set."""
        return self.home.endpoints if self.home is not None else ()

    @property
    def not_told(self) -> tuple[NotTold, ...]:
        """What a report needs and neither the log nor the home tells."""
        profiles = self.home.profiles if self.home is not None else ()
        missing: list[NotTold] = []
        if not self.is_own:
            missing.append("dsh")
            if len(profiles) != 1:
                missing.append("profile")
            if not any(profile.has_manifest for profile in profiles) and not self.plugin_records:
                missing.append("plugins")
        route = self.route
        if (route is None or not route.endpoint) and not self.endpoints and not self.configured:
            missing.append("endpoint")
        return tuple(missing)


class VersionsFold:
    """Folds whole events; any shape of payload is taken."""

    def __init__(self) -> None:
        self._routes: dict[tuple[str, str], Route] = {}
        self._endpoints: dict[tuple[str, str], str] = {}
        self._settings: dict[str, str] = {}
        self._adapter = ""
        self._uploads = 0
        self._search = ""
        self._pick_ups = 0
        self._plugins: dict[str, None] = {}
        self._wrote_here = False

    def apply(self, event: Event) -> None:
        """Fold one event in."""
        kind = event.type
        if kind not in KNOWN_TYPES:
            self._foreign(event)
            return
        match kind:
            case "request/header":
                self._header(as_object(as_object(event.data).get("header")))
            case "assistant/message":
                self._answer(as_object(as_object(event.data).get("message")))
            case "user/message":
                self._source(as_object(event.data))
            case "session-log-deepseek/delivery-accepted":
                self._uploads += 1
            case "session/end-seed":
                self._pick_ups += as_object(event.data).get("inherited") is not True
            case "web/deepseek-search-llm-request":
                self._search = shown_address(as_text(as_object(event.data).get("endpoint")))
            case "agent-preset/selected":
                self._set(kind, event, "agentPreset")
            case "permission/preset":
                self._set(kind, event, "preset")
            case "sandbox/mode":
                self._set(kind, event, "mode")
            case "approval/policy":
                self._set(kind, event, "policy")
            case _:
                pass

    def versions(
        self,
        reading: Reading,
        home: Home | None,
        *,
        downgraded_seq: int | None,
        configured: str,
        homes: Homes | None,
    ) -> Versions:
        """Return what was found in a log that was read to its end."""
        header, active = reading.log.header, reading.tools.active_names()
        servers = dict.fromkeys(tool_name(name).server for name in active)
        routes = tuple(
            msgspec.structs.replace(route, endpoint=self._endpoints.get(key, ""))
            for key, route in self._routes.items()
        )
        return Versions(
            session=header.id,
            argument=_argument(header.id, reading.log.path, homes),
            format_version=header.version,
            encoding=reading.log.source.encoding,
            preset=self._settings.get("agent-preset/selected") or header.agent_preset or "",
            provider=reading.provider,
            model=reading.model,
            tools=len(active),
            downgraded_seq=downgraded_seq,
            routes=routes,
            adapter=self._adapter,
            uploads=self._uploads,
            search_endpoint=self._search,
            permission=self._settings.get("permission/preset", ""),
            sandbox=self._settings.get("sandbox/mode", ""),
            approval=self._settings.get("approval/policy", ""),
            pick_ups=self._pick_ups,
            servers=tuple(sorted(name for name in servers if name))[:_LISTED],
            plugin_records=tuple(self._plugins),
            wrote_here=self._wrote_here,
            is_own=_is_own(reading, homes),
            home=home,
            configured=configured,
        )

    def _header(self, header: dict[str, Any]) -> None:
        config = as_object(header.get("config"))
        route = Route(
            provider=as_text(config.get("provider"))[:_LONGEST],
            model=as_text(config.get("model"))[:_LONGEST],
            effort=as_text(config.get("reasoningEffort"))[:_LONGEST],
        )
        if (key := (route.provider, route.model)) in self._routes or len(self._routes) < _LISTED:
            self._routes[key] = route

    def _answer(self, message: dict[str, Any]) -> None:
        state = as_object(as_object(as_object(message.get("source")).get("replayState")).get("response"))
        kind, version = as_text(state.get("kind"))[:_LONGEST], as_count(state.get("version"))
        if kind:
            self._adapter = kind if version is None else f"{kind} {version}"
        self._source(message)

    def _source(self, message: dict[str, Any]) -> None:
        kind = as_text(as_object(message.get("source")).get("kind"))
        if kind.startswith("plugin:"):
            self._plugin(kind[7:])
        for block in map(as_object, as_array(message.get("content"))):
            if as_text(block.get("type")).startswith("plugin:"):
                self._plugin(as_text(block.get("type"))[7:])

    def _foreign(self, event: Event) -> None:
        name = event.type.removeprefix("plugin:").partition("/")[0]
        if name != _OWN:
            self._plugin(name)
            return
        self._wrote_here = True
        if event.type == TOOL_UPDATE_DOWNGRADE and event.ignorable:
            data = as_object(event.data)
            key = as_text(data.get("provider")), as_text(data.get("model"))
            self._endpoints[key] = shown_address(as_text(data.get("endpoint")))

    def _plugin(self, name: str) -> None:
        if name and len(self._plugins) < _LISTED:
            self._plugins[name[:_LONGEST]] = None

    def _set(self, kind: str, event: Event, key: str) -> None:
        self._settings[kind] = as_text(as_object(event.data).get(key))[:_LONGEST]


def _is_own(reading: Reading, homes: Homes | None) -> bool:
    if homes is None or reading.log.header.is_seeded:
        return False
    return reading.log.path.absolute().is_relative_to((homes.own / SESSIONS).absolute())


def _argument(session: str, path: Path, homes: Homes | None) -> str:
    place = path.absolute()
    if homes is None or any(place.is_relative_to(store.absolute()) for _, store in homes.stores()):
        return session
    if place.name.startswith("session."):
        place = place.parent  # A session's folder names its log.
    with suppress(OSError, ValueError):  # not below the folder that the program runs in, or that is gone
        place = place.relative_to(Path.cwd())
    argument = shlex.quote(str(place))
    return argument if len(argument) <= _LONGEST_PATH else "SESSION"
