"""What routes were found not to accept, whatever their configuration declares (loop-and-adapters §8.2).

A route is provider, endpoint and model; a model's name alone proves nothing. Entries come from a request that
was refused with change blocks and accepted without, last a week, and are kept beside other caches, one file
for each home. The file is read again when another process has written it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from tui.llm.failure import LlmFailure, is_refusal
from tui.llm.projection import project_request
from tui.llm.request import GenerateRequest
from tui.llm.route import Route, ToolUpdateMode
from tui.llm.wire_places import WireMessage, error_path, wire_messages
from tui.session.cache_file import cache_folder, write_cache
from tui.session.json_value import as_array, as_count, as_object, as_text

LASTS_MS: Final = 7 * 24 * 3_600_000
ANY_MODEL: Final = "*"
"""In place of a model: every model of the provider at this endpoint."""

_MAX_FILE: Final = 1_000_000
_MAX_ENTRIES: Final = 1_000
_WORDS: Final = (
    "tool_addition",
    "tool_removal",
    "tool_reference",
    "defer_loading",
    "mid-conversation-tool-changes",
)


def is_fresh(at_ms: int, now_ms: int) -> bool:
    """Tell whether something found at a time still counts; a clock that was far ahead makes nothing last."""
    return abs(now_ms - at_ms) < LASTS_MS


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """A route that takes no tool changes; times in Unix milliseconds."""

    provider: str
    endpoint: str
    model: str
    """A model id, or ANY_MODEL."""
    declared: str
    """The mode that its configuration declared then; under another one the entry does not hold."""
    at_ms: int
    status: int | None = None
    code: str = ""
    request_id: str = ""
    strong: bool = False
    prompts_refused: bool = False
    """It takes no later prompts inside the history either."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells entries apart."""
        return self.provider, self.endpoint, self.model

    @property
    def is_of_all_models(self) -> bool:
        """Whether it speaks for every model of the provider at this endpoint."""
        return self.model == ANY_MODEL

    def holds(self, route: Route, now_ms: int) -> bool:
        """Whether it speaks for a route now."""
        return (
            (self.provider, self.endpoint) == (route.provider, route.endpoint)
            and self.model in (route.model.id, ANY_MODEL)
            and self.declared == route.model.tool_update
            and is_fresh(self.at_ms, now_ms)
        )


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A failed request that may have been refused for its change blocks."""

    failure: LlmFailure
    strong: bool
    """The provider's words or its error path name what tells of tool changes."""


def refusal_of(route: Route, request: GenerateRequest, failure: LlmFailure) -> Refusal | None:
    """Return the refusal if a failure that came before any content may be one, else None. §8.2."""
    if not is_refusal(failure.code, failure.status) or not carries_updates(route, request):
        return None
    return Refusal(failure=failure, strong=_names_updates(route, request, failure.message))


def prompt_refusal_of(route: Route, request: GenerateRequest, failure: LlmFailure) -> Refusal | None:
    """Return the refusal if one of a request without tool changes may be about its later prompts, else None.

    The second rung of §8.2.
    """
    if not is_refusal(failure.code, failure.status) or not carries_prompts(route, request):
        return None
    return Refusal(failure=failure, strong=_names_updates(route, request, failure.message))


def carries_prompts(route: Route, request: GenerateRequest) -> bool:
    """Tell whether a request without tool changes holds system prompts inside its history on a route."""
    model = route.model
    if model.tool_update is not None or model.system_prompt_update != "in-history":
        return False
    return any(message.role == "system" for message in _wire(route, request))


def carries_updates(route: Route, request: GenerateRequest) -> bool:
    """Tell whether a request holds a change block or a deferred declaration on a route."""
    mode = route.model.tool_update
    if mode is None:
        return False
    projected = project_request(request.messages, request.tools, mode, request.tool_history)
    if any(tool.defer_loading for tool in projected.tools or ()):
        return True
    return any(
        as_object(block).get("type") in ("tool-addition", "tool-removal")
        for message in projected.messages
        if message.get("role") == "developer"
        for block in as_array(message.get("content"))
    )


def _names_updates(route: Route, request: GenerateRequest, message: str) -> bool:
    told = message.lower()
    if any(word in told for word in _WORDS):
        return True
    path = error_path(message)
    if path is None:
        return False
    wire = _wire(route, request)
    return path.message < len(wire) and wire[path.message].role == "system"


def _wire(route: Route, request: GenerateRequest) -> list[WireMessage]:
    model = route.model
    projected = project_request(request.messages, request.tools, model.tool_update, request.tool_history)
    return wire_messages(projected.messages, prompts_in_history=model.system_prompt_update == "in-history")


def cache_path(home: Path) -> Path:
    """Return the file of a home among the caches of the platform."""
    name = hashlib.sha256(os.path.realpath(home).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache_folder() / f"tool-updates-{name}.json"


def declared_mode(mode: ToolUpdateMode) -> str:
    """Return how records name a mode."""
    return mode or "none"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class LearnedModes:
    """What was learned, in memory and, with a path, in a file that several processes share."""

    def __init__(self, path: Path | None = None, *, now_ms: Callable[[], int] = _now_ms) -> None:
        self._path = path
        self._now_ms = now_ms
        self._entries: dict[tuple[str, str, str], Learned] = {}
        self._resets: dict[tuple[str, str, str], int] = {}
        self._read_from: tuple[int, int] | None = None

    def now_ms(self) -> int:
        """The clock that entries expire by."""
        return self._now_ms()

    def entry(self, route: Route) -> Learned | None:
        """Return what speaks for a route now."""
        self._read()
        now = self._now_ms()
        provider, endpoint, model = route.key
        for key in ((provider, endpoint, model), (provider, endpoint, ANY_MODEL)):
            entry = self._entries.get(key)
            if entry is not None and entry.holds(route, now):
                return entry
        return None

    def entries(self) -> tuple[Learned, ...]:
        """Return all entries that have not expired."""
        self._read()
        now = self._now_ms()
        return tuple(entry for entry in self._entries.values() if is_fresh(entry.at_ms, now))

    def learn(self, route: Route, refusal: Refusal, *, prompts_refused: bool = False) -> Learned:
        """Take note that a route refused change blocks and took full definitions.

        `prompts_refused` tells that it took them only with one prompt before all messages. A second model of
        one provider and endpoint widens the entry to all of them.
        """
        self._read()
        failure = refusal.failure
        entry = Learned(
            provider=route.provider,
            endpoint=route.endpoint,
            model=route.model.id,
            declared=declared_mode(route.model.tool_update),
            at_ms=self._now_ms(),
            status=failure.status,
            code=failure.code,
            request_id=failure.request_id or "",
            strong=refusal.strong,
            prompts_refused=prompts_refused,
        )
        others = [
            known
            for known in self.entries()
            if (known.provider, known.endpoint) == (entry.provider, entry.endpoint)
            and known.model not in (entry.model, ANY_MODEL)
        ]
        self._put(entry)
        if others:
            both = prompts_refused and any(known.prompts_refused for known in others)
            self._put(msgspec.structs.replace(entry, model=ANY_MODEL, prompts_refused=both))
        self._write()
        return entry

    def reset(self, provider: str = "", endpoint: str = "", model: str = "") -> int:
        """Forget what was learned of a route, or of all where a part is empty; returns how many entries.

        Records in logs that are older count no more either.
        """
        self._read()
        wanted = provider, endpoint, model
        gone = [
            key
            for key in self._entries
            if all(not part or own in (part, ANY_MODEL) for part, own in zip(wanted, key, strict=True))
        ]
        for key in gone:
            del self._entries[key]
        self._resets[wanted] = self._now_ms()
        self._write()
        return len(gone)

    def reset_ms(self, route: Route) -> int:
        """Return when a route was last reset; 0 for never."""
        self._read()
        return max(
            (
                at
                for wanted, at in self._resets.items()
                if all(not part or part == own for part, own in zip(wanted, route.key, strict=True))
            ),
            default=0,
        )

    def _put(self, entry: Learned) -> None:
        self._entries[entry.key] = entry

    # -- the file

    def _read(self) -> None:
        """Take the file in if somebody has written it since."""
        if self._path is None:
            return
        try:
            status = self._path.stat()
            version = status.st_mtime_ns, status.st_size
            if version == self._read_from or status.st_size > _MAX_FILE:
                return
            content = as_object(json.loads(self._path.read_bytes()))
        except (OSError, ValueError, RecursionError):
            # A cache that is missing or broken is an empty one.
            return
        self._read_from = version
        self._entries = {entry.key: entry for entry in _entries(content.get("learned"))}
        self._resets = dict(_resets(content.get("resets")))

    def _write(self) -> None:
        if self._path is None:
            return
        now = self._now_ms()
        content: dict[str, Any] = {
            "version": 1,
            "learned": [
                msgspec.to_builtins(entry)
                for entry in list(self._entries.values())[-_MAX_ENTRIES:]
                if is_fresh(entry.at_ms, now)
            ],
            "resets": [
                {"route": list(wanted), "at_ms": at}
                for wanted, at in list(self._resets.items())[-_MAX_ENTRIES:]
                if is_fresh(at, now)
            ],
        }
        # What cannot be kept is learned again in the next process.
        with suppress(OSError):
            write_cache(self._path, json.dumps(content).encode("ascii"))
            status = self._path.stat()
            self._read_from = status.st_mtime_ns, status.st_size


def _entries(value: object) -> Iterable[Learned]:
    for item in as_array(value)[:_MAX_ENTRIES]:
        fields = as_object(item)
        at = as_count(fields.get("at_ms"))
        if at is None or not as_text(fields.get("provider")):
            continue
        yield Learned(
            provider=as_text(fields.get("provider")),
            endpoint=as_text(fields.get("endpoint")),
            model=as_text(fields.get("model")),
            declared=as_text(fields.get("declared")),
            at_ms=at,
            status=as_count(fields.get("status")),
            code=as_text(fields.get("code")),
            request_id=as_text(fields.get("request_id")),
            strong=fields.get("strong") is True,
            prompts_refused=fields.get("prompts_refused") is True,
        )


def _resets(value: object) -> Iterable[tuple[tuple[str, str, str], int]]:
    for item in as_array(value)[:_MAX_ENTRIES]:
        fields = as_object(item)
        route, at = [as_text(part) for part in as_array(fields.get("route"))], as_count(fields.get("at_ms"))
        if len(route) == 3 and at is not None:
            yield (route[0], route[1], route[2]), at
