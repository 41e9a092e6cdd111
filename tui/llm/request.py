"""What a model is asked: the settings of the call and the frozen request (loop-and-adapters §1.5, §1.9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tui.session.json_value import as_array, as_count, as_object, as_text
from tui.session.tool_definition import ToolDefinition
from tui.session.tool_history import ToolHistory

Purpose: TypeAlias = Literal["loop", "compaction", "title"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallConfig:
    """Settings of a call as a request header records them."""

    provider: str
    model: str
    reasoning_effort: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the `config` of a request header; what is not set has no key."""
        fields: dict[str, Any] = {"provider": self.provider, "model": self.model}
        if self.reasoning_effort is not None:
            fields["reasoningEffort"] = self.reasoning_effort
        if self.temperature is not None:
            fields["temperature"] = self.temperature
        if self.max_tokens is not None:
            fields["maxTokens"] = self.max_tokens
        if self.stop is not None:
            fields["stop"] = list(self.stop)
        return fields

    @classmethod
    def from_json(cls, value: object) -> CallConfig:
        """Return the settings that a header's `config` tells; what is misshapen reads as not set."""
        fields = as_object(value)
        temperature = fields.get("temperature")
        return cls(
            provider=as_text(fields.get("provider")),
            model=as_text(fields.get("model")),
            reasoning_effort=as_text(fields.get("reasoningEffort")) or None,
            temperature=(
                temperature
                if isinstance(temperature, (int, float)) and not isinstance(temperature, bool)
                else None
            ),
            max_tokens=as_count(fields.get("maxTokens")),
            stop=tuple(as_text(item) for item in as_array(fields["stop"])) if "stop" in fields else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequest:
    """One request, independent of any route; nothing in it is changed once it is made."""

    config: CallConfig
    messages: list[dict[str, Any]]
    """Neutral messages as the surface derives them, developer messages included."""
    tools: tuple[ToolDefinition, ...] | None = None
    """The active tools; None if there are none."""
    tool_history: ToolHistory | None = None
    session_id: str | None = None
    purpose: Purpose = "loop"
    system: str | None = None
    """Text that stands before the history's own system prompt."""
