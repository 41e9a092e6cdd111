"""Bodies of the Messages wire format, from projected requests (loop-and-adapters §4.2 to §4.5)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from tui.llm.content import ImageSource, file_text, image_bytes, image_text, no_images, unsupported
from tui.llm.failure import LlmFailure
from tui.llm.request import CallConfig
from tui.llm.route import ModelEntry
from tui.session.json_text import clean_json
from tui.session.json_value import as_array, as_object, as_text
from tui.session.tool_definition import ToolDefinition

TOOL_CHANGES_BETA: Final = "mid-conversation-tool-changes-2026-07-01"
REPLAY_KIND: Final = "deepseek-messages"
REPLAY_VERSION: Final = 1

Block: TypeAlias = dict[str, Any]
Wire: TypeAlias = dict[str, Any]

_FIRST: Final = {"user": "tool_result", "assistant": "thinking"}
_CHANGES: Final = {"tool-addition": "tool_addition", "tool-removal": "tool_removal"}


def build_body(
    config: CallConfig,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[ToolDefinition] | None,
    entry: ModelEntry,
    *,
    system: str | None = None,
    images: ImageSource = no_images,
    foreign: Collection[str] = (),
) -> Wire:
    """Return the request body; every string in it is well-formed.

    `config` has its defaults filled in. `foreign` names providers of other adapters, whose signatures are
    not sent. Raises LlmFailure UNSUPPORTED_CONTENT or INVALID_REQUEST.
    """
    builder = _Messages(config, entry, images, frozenset(foreign))
    for message in messages:
        builder.add(message)
    wire, history_system = builder.finish()
    body: Wire = {"model": config.model, "stream": True, "messages": wire}
    body["max_tokens"] = entry.max_output if config.max_tokens is None else config.max_tokens
    effort = config.reasoning_effort or entry.default_effort or "off"
    body["thinking"] = {"type": "disabled" if effort == "off" else "enabled"}
    if effort != "off":
        body["output_config"] = {"effort": effort}
    if texts := [text for text in (system, history_system) if text]:
        body["system"] = "\n\n".join(texts)
    if config.temperature is not None:
        body["temperature"] = config.temperature
    if config.stop:
        body["stop_sequences"] = list(config.stop)
    if tools is not None:
        body["tools"] = [_declaration(tool) for tool in tools]
    return cast("Wire", clean_json(body))


def beta_header(body: Mapping[str, Any]) -> str | None:
    """Return the value of `anthropic-beta`: sent exactly when a message holds tool changes."""
    changes = any(
        block["type"] in _CHANGES.values()
        for message in body["messages"]
        if message["role"] == "system"
        for block in message["content"]
    )
    return TOOL_CHANGES_BETA if changes else None


def encode_body(body: Mapping[str, Any]) -> bytes:
    """Return a body as UTF-8 JSON.

    Raises LlmFailure INVALID_REQUEST for a number that JSON has no form for.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise LlmFailure(f"the request is no JSON: {error}", "INVALID_REQUEST") from error
    return text.encode("utf-8")


def parse_arguments(text: str) -> dict[str, Any] | None:
    """Return a tool call's arguments; None for what is no JSON object. A number too big for JSON is null."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if number - number == 0 else None


def _declaration(tool: ToolDefinition) -> Wire:
    fields: Wire = {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
    if tool.defer_loading:
        fields["defer_loading"] = True
    return fields


class _Messages:
    """The wire's messages under construction, with the system updates that wait for a place."""

    def __init__(
        self, config: CallConfig, entry: ModelEntry, images: ImageSource, foreign: frozenset[str]
    ) -> None:
        self._model = config.model
        self._reads_images = "image" in entry.input
        self._in_history = entry.system_prompt_update == "in-history"
        self._images = images
        self._foreign = foreign
        self._wire: list[Wire] = []
        self._pending: list[Wire] = []
        self._system = ""
        self._ids: set[str] = {""}
        self._renamed: dict[str, str] = {}

    def add(self, message: Mapping[str, Any]) -> None:
        match message.get("role"):
            case "system":
                self._add_system(message)
            case "developer":
                self._add_developer(message)
            case "user":
                self._append("user", self._contents(message, "user"))
            case "assistant":
                self._append("assistant", self._assistant(message))
            case "tool":
                self._append("user", [self._result(message)])
            case role:
                unsupported(f"a message of role {role}")

    def finish(self) -> tuple[list[Wire], str]:
        """Return the messages and the text of the leading system prompt."""
        self._flush()
        _order(self._wire)
        _check_pairs(self._wire)
        return self._wire, self._system

    def _append(self, role: str, blocks: list[Block]) -> None:
        if not blocks:
            return
        if role == "assistant":
            self._flush()
        if self._wire and self._wire[-1]["role"] == role:
            self._wire[-1]["content"].extend(blocks)
        else:
            self._wire.append({"role": role, "content": blocks})

    def _flush(self) -> None:
        if not self._pending:
            return
        if not self._wire or self._wire[-1]["role"] != "user":
            unsupported("system update without a preceding user or tool-result turn")
        self._wire.extend(self._pending)
        self._pending = []

    def _add_system(self, message: Mapping[str, Any]) -> None:
        blocks = _blocks(message)
        if any(block.get("type") != "text" for block in blocks):
            unsupported("non-text system message")
        text = "".join(as_text(block.get("text")) for block in blocks)
        if not self._in_history or not self._wire:
            self._system = text
            return
        if not text:
            unsupported("empty system update")
        self._pending.append({"role": "system", "content": [_text(text)]})

    def _add_developer(self, message: Mapping[str, Any]) -> None:
        content: list[Block] = []
        for block in _blocks(message):
            kind = block.get("type")
            if kind == "text":
                if text := as_text(block.get("text")):
                    content.append(_text(text))
            elif isinstance(kind, str) and kind in _CHANGES:
                reference = {"type": "tool_reference", "name": as_text(block.get("toolName"))}
                content.append({"type": _CHANGES[kind], "tool": reference})
            else:
                unsupported(f"{kind} block in developer message")
        if content:
            self._pending.append({"role": "system", "content": content})

    def _contents(self, message: Mapping[str, Any], role: str) -> list[Block]:
        """Return the blocks of a user message or a tool result."""
        content: list[Block] = []
        for block in _blocks(message):
            match block.get("type"):
                case "text":
                    if text := as_text(block.get("text")):
                        content.append(_text(text))
                case "image":
                    content.extend(self._image(block))
                case "file":
                    content.append(_text(file_text(block)))
                case "reasoning" | "tool-call":
                    pass
                case kind:
                    _refuse_block(kind, role)
        return content

    def _image(self, block: Mapping[str, Any]) -> list[Block]:
        if not self._reads_images:
            return [_text(image_text(block, note="this model reads no images"))]
        found = image_bytes(block, self._images)
        if found is None:
            return [_text(image_text(block, note="its content is not at hand"))]
        media_type, data = found
        source = {"type": "base64", "media_type": media_type, "data": data}
        return [_text(image_text(block)), {"type": "image", "source": source}]

    def _assistant(self, message: Mapping[str, Any]) -> list[Block]:
        signatures = self._signatures(message)
        self._renamed = {}
        asked: set[str] = set()
        content: list[Block] = []
        for at, block in enumerate(_blocks(message)):
            match block.get("type"):
                case "text":
                    if text := as_text(block.get("text")):
                        content.append(_text(text))
                case "reasoning":
                    thinking: Block = {"type": "thinking", "thinking": as_text(block.get("text"))}
                    if at in signatures:
                        thinking["signature"] = signatures[at]
                    content.append(thinking)
                case "tool-call":
                    call_id = as_text(block.get("id"))
                    if call_id in asked:
                        raise LlmFailure("DeepSeek Messages duplicate tool call id", "INVALID_REQUEST")
                    asked.add(call_id)
                    content.append(self._call(call_id, block))
                case kind:
                    _refuse_block(kind, "assistant")
        return content

    def _call(self, call_id: str, block: Mapping[str, Any]) -> Block:
        # Some hosts give the first call of every answer one id; the wire wants them unique in the request.
        unique, number = call_id, 2
        while unique in self._ids:
            unique, number = f"{call_id or 'call'}_{number}", number + 1
        self._ids.add(unique)
        self._renamed[call_id] = unique
        arguments = parse_arguments(as_text(block.get("arguments"))) or {}
        return {"type": "tool_use", "id": unique, "name": as_text(block.get("name")), "input": arguments}

    def _result(self, message: Mapping[str, Any]) -> Block:
        call_id = as_text(message.get("toolCallId"))
        content = self._contents(message, "tool")
        result: Block = {"type": "tool_result", "tool_use_id": self._renamed.get(call_id, call_id)}
        result["content"] = content
        if isinstance(message.get("isError"), bool):
            result["is_error"] = message["isError"]
        return result

    def _signatures(self, message: Mapping[str, Any]) -> dict[int, str]:
        """Return the signatures to send back, by block: those of this model, if they fit the content."""
        source = as_object(message.get("source"))
        replay = as_object(source.get("replayState"))
        response = as_object(replay.get("response"))
        if response.get("kind") != REPLAY_KIND or response.get("version") != REPLAY_VERSION:
            return {}
        if response.get("model") != self._model or source.get("provider") in self._foreign:
            return {}
        entries = [as_object(entry) for entry in as_array(replay.get("blocks"))]
        if [entry.get("type") for entry in entries] != [block.get("type") for block in _blocks(message)]:
            return {}
        return {
            at: entry["signature"]
            for at, entry in enumerate(entries)
            if isinstance(entry.get("signature"), str)
        }


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    return [as_object(block) for block in as_array(message.get("content"))]


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _refuse_block(kind: object, role: str) -> None:
    if kind in _CHANGES:
        unsupported("tool-change blocks outside developer messages")
    unsupported(f"{kind} block in {role} message")


def _order(wire: list[Wire]) -> None:
    """Put tool results first in user messages and thinking first in assistant messages, else as they are."""
    for message in wire:
        first = _FIRST.get(message["role"])
        blocks: list[Block] = message["content"]
        if first is not None and any(block["type"] == first for block in blocks[1:]):
            message["content"] = [
                *(block for block in blocks if block["type"] == first),
                *(block for block in blocks if block["type"] != first),
            ]


def _check_pairs(wire: list[Wire]) -> None:
    asked: list[str] = []
    for message in wire:
        if message["role"] == "system":
            continue
        blocks = message["content"]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        open_calls = set(asked)
        for call_id in answered:
            if call_id not in open_calls:
                raise LlmFailure("DeepSeek Messages tool result has no matching call", "INVALID_REQUEST")
            open_calls.discard(call_id)
        if open_calls:
            raise LlmFailure("DeepSeek Messages tool calls need immediate results", "INVALID_REQUEST")
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if asked:
        raise LlmFailure("DeepSeek Messages history ends with unresolved tools", "INVALID_REQUEST")
