"""Tool definitions as request headers declare them, compared the way dsh compares them."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from tui.session.json_text import compact
from tui.session.json_value import as_array, as_object, as_text


class ToolDefinition(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One tool of a request header; two definitions are equal if their JSON texts are. Spec §4.3, §6.1."""

    name: str
    description: str
    parameters: Any
    """The JSON schema as it stands in the log, normally an object."""
    defer_loading: bool
    text: str
    """The whole definition as compact JSON, key order kept."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolDefinition) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def to_json(self) -> dict[str, Any]:
        """Return the definition as a fresh JSON object, with every key that the log has."""
        return msgspec.json.decode(self.text, type=dict[str, Any])

    @cached_property
    def deferred(self) -> "ToolDefinition":
        """The definition with `deferLoading`, always the same object; itself if it is deferred."""
        if self.defer_loading:
            return self
        if '"deferLoading"' in self.text:
            text = compact({**self.to_json(), "deferLoading": True})
        else:
            text = self.text[:-1] + ',"deferLoading":true}'
        return ToolDefinition(self.name, self.description, self.parameters, True, text)


class DefinitionPool:
    """Keeps one object per distinct definition of a log, so that a thousand equal headers cost one."""

    __slots__ = ("_by_raw", "_by_text", "_last_raw", "_last_tools")

    def __init__(self) -> None:
        self._by_text: dict[str, ToolDefinition] = {}
        self._by_raw: dict[bytes, ToolDefinition] = {}
        self._last_raw: list[Any] = []
        self._last_tools: tuple[ToolDefinition, ...] = ()

    def tools(self, header: object, refuse: Callable[[str], None]) -> tuple[ToolDefinition, ...]:
        """Return the definitions of a request header (`data.header`) in order.

        What is no definition is left out and described to `refuse`. The tuple of the header before is
        returned again if nothing differs.
        """
        raw = as_object(header).get("tools")
        if raw is None:
            return ()
        if raw is self._last_raw:
            return self._last_tools
        entries = as_array(raw)
        if entries is not raw:
            refuse("tools is not a list")
            return ()
        read: list[ToolDefinition] = []
        for at, value in enumerate(entries):
            fields = as_object(value)
            if not isinstance(fields.get("name"), str):
                refuse(f"tool {at} has no name")
                continue
            read.append(self._intern(fields))
        tools = tuple(read)
        if tools == self._last_tools:
            tools = self._last_tools
        self._last_raw, self._last_tools = entries, tools
        return tools

    def _intern(self, fields: dict[str, Any]) -> ToolDefinition:
        try:
            # Equal bytes mean equal definitions, and this is twenty times as fast as dsh's form of the text.
            raw = msgspec.json.encode(fields)
        except (TypeError, ValueError, OverflowError, RecursionError):
            return self._by_its_text(fields)
        known = self._by_raw.get(raw)
        if known is None:
            known = self._by_raw[raw] = self._by_its_text(fields)
        return known

    def _by_its_text(self, fields: dict[str, Any]) -> ToolDefinition:
        text = compact(fields)
        known = self._by_text.get(text)
        if known is None:
            known = ToolDefinition(
                name=fields["name"],
                description=as_text(fields.get("description")),
                parameters=fields.get("parameters"),
                defer_loading=fields.get("deferLoading") is True,
                text=text,
            )
            self._by_text[text] = known
        return known


def by_name(tools: Iterable[ToolDefinition]) -> Mapping[str, ToolDefinition]:
    """Return the definitions by name; of several with one name the last, as in dsh."""
    return {tool.name: tool for tool in tools}
