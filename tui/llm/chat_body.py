"""Bodies of the chat-completions format, from projected requests (loop-and-adapters §5.2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from tui.llm.content import ImageSource, file_text, image_bytes, image_text, no_images
from tui.llm.deepseek_body import parse_arguments
from tui.llm.failure import LlmFailure
from tui.llm.request import CallConfig
from tui.llm.route import ModelEntry
from tui.session.json_text import clean_json
from tui.session.json_value import as_array, as_object, as_text
from tui.session.tool_definition import ToolDefinition

MaxTokensField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
Wire: TypeAlias = dict[str, Any]

EMPTY_RESULT: Final = "(no output)"


def build_body(
    config: CallConfig,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[ToolDefinition] | None,
    entry: ModelEntry,
    *,
    system: str | None = None,
    max_tokens_field: MaxTokensField = "max_tokens",
    images: ImageSource = no_images,
    own: Collection[str] = (),
) -> Wire:
    """Return the request body; every string in it is well-formed.

    The prompt is one leading message. Reasoning goes back only into answers of this model by a provider in
    `own`. Raises LlmFailure INVALID_REQUEST for calls and results that do not match.
    """
    builder = _Messages(config.model, frozenset(own), "image" in entry.input, images)
    for message in messages:
        builder.add(message)
    body: Wire = {
        "model": config.model,
        "messages": builder.finish(system),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in tools
        ]
    if config.max_tokens is not None:
        body[max_tokens_field] = config.max_tokens
    if config.reasoning_effort is not None and entry.efforts:
        body["reasoning_effort"] = config.reasoning_effort
    if config.temperature is not None:
        body["temperature"] = config.temperature
    if config.stop:
        body["stop"] = list(config.stop)
    return cast("Wire", clean_json(body))


class _Messages:
    """The wire's messages under construction."""

    def __init__(self, model: str, own: frozenset[str], reads_images: bool, images: ImageSource) -> None:
        self._model = model
        self._own = own
        self._reads_images = reads_images
        self._images = images
        self._wire: list[Wire] = []
        self._system = ""
        self._open: list[str] = []
        self._held: list[Wire] = []
        """User messages that wait until the results of a run of calls are complete."""
        self._pictures: list[Wire] = []

    def add(self, message: Mapping[str, Any]) -> None:
        blocks = [as_object(block) for block in as_array(message.get("content"))]
        match message.get("role"):
            case "system":
                self._system = "".join(as_text(block.get("text")) for block in blocks)
            case "user":
                if content := _joined(self._parts(blocks)):
                    self._later({"role": "user", "content": content})
            case "assistant":
                self._assistant(message, blocks)
            case "tool":
                self._result(message, blocks)
            case "developer":
                pass
            case role:
                raise LlmFailure(f"chat completions have no role {role}", "UNSUPPORTED_CONTENT")

    def finish(self, system: str | None) -> list[Wire]:
        """Return the messages with the prompt before them."""
        self._end_run("history ends with unresolved tools")
        prompt = "\n\n".join(text for text in (system, self._system) if text)
        return [{"role": "system", "content": prompt}, *self._wire] if prompt else self._wire

    def _later(self, message: Wire) -> None:
        (self._held if self._open else self._wire).append(message)

    def _assistant(self, message: Mapping[str, Any], blocks: list[Wire]) -> None:
        self._end_run("tool calls need immediate results")
        text = "".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text")
        calls = [
            {
                "id": as_text(block.get("id")),
                "type": "function",
                "function": {
                    "name": as_text(block.get("name")),
                    "arguments": _arguments(as_text(block.get("arguments"))),
                },
            }
            for block in blocks
            if block.get("type") == "tool-call"
        ]
        if not text and not calls:
            return
        sent: Wire = {"role": "assistant", "content": text or None}
        source = as_object(message.get("source"))
        if source.get("provider") in self._own and source.get("model") == self._model:
            thoughts = [as_text(block.get("text")) for block in blocks if block.get("type") == "reasoning"]
            if any(thoughts):
                sent["reasoning_content"] = "".join(thoughts)
        if calls:
            sent["tool_calls"] = calls
            self._open = [str(call["id"]) for call in calls]
        self._wire.append(sent)

    def _result(self, message: Mapping[str, Any], blocks: list[Wire]) -> None:
        call_id = as_text(message.get("toolCallId"))
        if call_id not in self._open:
            raise LlmFailure("a tool result has no matching call", "INVALID_REQUEST")
        self._open.remove(call_id)
        parts = self._parts(blocks)
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        self._wire.append({"role": "tool", "tool_call_id": call_id, "content": text or EMPTY_RESULT})
        self._pictures.extend(part for part in parts if part["type"] != "text")
        if not self._open:
            self._end_run("")

    def _end_run(self, complaint: str) -> None:
        """Put what waited behind a complete run of results. Raises if the run is not complete."""
        if self._open:
            raise LlmFailure(complaint, "INVALID_REQUEST")
        if self._pictures:
            self._wire.append({"role": "user", "content": self._pictures})
        self._wire.extend(self._held)
        self._pictures, self._held = [], []

    def _parts(self, blocks: list[Wire]) -> list[Wire]:
        parts: list[Wire] = []
        for block in blocks:
            match block.get("type"):
                case "text":
                    if text := as_text(block.get("text")):
                        parts.append({"type": "text", "text": text})
                case "image":
                    parts.extend(self._image(block))
                case "file":
                    parts.append({"type": "text", "text": file_text(block)})
                case "reasoning" | "tool-call":
                    pass
                case kind:
                    raise LlmFailure(
                        f"chat completions have no form for a {kind} block", "UNSUPPORTED_CONTENT"
                    )
        return parts

    def _image(self, block: Mapping[str, Any]) -> list[Wire]:
        found = image_bytes(block, self._images) if self._reads_images else None
        if found is None:
            note = "its content is not at hand" if self._reads_images else "this model reads no images"
            return [{"type": "text", "text": image_text(block, note=note)}]
        media_type, data = found
        url = f"data:{media_type};base64,{data}"
        return [{"type": "text", "text": image_text(block)}, {"type": "image_url", "image_url": {"url": url}}]


def _arguments(text: str) -> str:
    """Return arguments as they were given, unless no host could read them."""
    return text if parse_arguments(text) is not None else "{}"


def _joined(parts: list[Wire]) -> str | list[Wire]:
    """Return text alone as a string, which every host takes."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts
