"""The scripted provider: built in, deterministic, without network or key.

Its models differ in what they take in mid-session, so that one script can be seen on every kind of route.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tui.llm.clock import Clock, SystemClock
from tui.llm.deepseek_body import REPLAY_KIND, REPLAY_VERSION, build_body
from tui.llm.failure import LlmFailure
from tui.llm.http_stream import Race, aborted
from tui.llm.prepared import StreamedOnce, settled
from tui.llm.projection import project_request
from tui.llm.request import CallConfig, GenerateRequest
from tui.llm.retry import RetryPolicy
from tui.llm.route import ModelEntry, Route, ToolUpdateMode, deepseek_model
from tui.llm.route_book import SCRIPTED
from tui.llm.script import Call, CutOff, Fail, Pause, Say, Script, ScriptedAnswer, Sent, Think

if TYPE_CHECKING:
    from tui.session.cancel import CancelSignal

PROVIDER: Final = SCRIPTED
CHARACTERS_PER_TOKEN: Final = 4


def _model(model_id: str, display: str, mode: ToolUpdateMode) -> ModelEntry:
    return replace(
        deepseek_model(model_id, display=display),
        context_window=128_000,
        max_output=8_000,
        tool_update=mode,
        system_prompt_update="in-history" if mode else None,
    )


MODELS: Final[Mapping[str, ModelEntry]] = MappingProxyType(
    {
        entry.id: entry
        for entry in (
            _model("scripted-addition-only", "Scripted, takes additions", "addition-only"),
            _model("scripted-in-history", "Scripted, takes additions and removals", "in-history"),
            _model("scripted-none", "Scripted, takes no changes", None),
        )
    }
)
"""The first one is the default."""


class ScriptedAdapter:
    """Plays a script; every wait goes by the clock."""

    def __init__(
        self,
        script: Script,
        clock: Clock | None = None,
        *,
        provider: str = PROVIDER,
        models: Mapping[str, ModelEntry] = MODELS,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        self._provider = provider
        self._models = models
        self._policy = retry_policy or RetryPolicy()
        self.stage: Final = _Stage(script, clock or SystemClock())

    @property
    def provider(self) -> str:
        return self._provider

    @property
    def retry_policy(self) -> RetryPolicy:
        return self._policy

    def models(self) -> Sequence[ModelEntry]:
        return tuple(self._models.values())

    def prepare(self, config: CallConfig) -> ScriptedCall:
        """Return the call for these settings. Raises LlmFailure UNSUPPORTED_REASONING_EFFORT."""
        entry = self._models.get(config.model) or deepseek_model(config.model)
        effort = config.reasoning_effort or entry.default_effort
        if effort is not None and effort not in entry.efforts:
            raise LlmFailure(
                f"{entry.display} does not support reasoning effort {effort}", "UNSUPPORTED_REASONING_EFFORT"
            )
        limit = entry.max_output if config.max_tokens is None else config.max_tokens
        route = Route(provider=self._provider, kind="scripted", endpoint="", model=entry)
        return ScriptedCall(self.stage, route, *settled(config, effort=effort, max_tokens=limit))

    async def aclose(self) -> None:
        """Nothing is open."""


class ScriptedCall(StreamedOnce):
    """A prepared call; streamed once."""

    def __init__(
        self, stage: _Stage, route: Route, config: CallConfig, adapter_defaults: frozenset[str]
    ) -> None:
        super().__init__(route, config, adapter_defaults)
        self._stage = stage

    def body(self, request: GenerateRequest) -> dict[str, Any]:
        """Return the body that a Messages provider would be sent. Raises LlmFailure."""
        sent = self._sent(request)
        return build_body(self.config, sent.messages, sent.tools, self.route.model, system=request.system)

    async def _chunks(
        self, request: GenerateRequest, signal: CancelSignal
    ) -> AsyncGenerator[dict[str, Any], None]:
        if signal.cancelled:
            raise aborted()
        chunks = self._stage.play(self._sent(request), self.config.model, signal)
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk

    def _sent(self, request: GenerateRequest) -> Sent:
        mode = self.route.model.tool_update
        projected = project_request(request.messages, request.tools, mode, request.tool_history)
        return Sent(request, projected.messages, projected.tools)


class _Stage:
    """What the calls of one adapter share: the script, the clock, and what the cache would hold."""

    def __init__(self, script: Script, clock: Clock) -> None:
        self._script = script
        self._clock = clock
        self._cached: dict[str, list[tuple[str, int]]] = {}

    async def play(
        self, sent: Sent, model: str, signal: CancelSignal
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the chunks of the script's answer. Raises LlmFailure."""
        answer = self._script.answer(sent)
        replay: list[dict[str, Any]] = []
        produced = 0
        kind = "stop"
        async with Race(signal) as race:
            for at, part in enumerate(answer.parts):
                match part:
                    case Pause():
                        await race.run(self._clock.sleep(part.seconds))
                    case Fail():
                        raise part.failure()
                    case CutOff():
                        kind = "max-tokens"
                        break
                    case _:
                        block, entry = _block(part, sent, len(replay))
                        kind = "tool-calls" if isinstance(part, Call) else kind
                        # At the output cap the last call is left without its end.
                        cut = isinstance(part, Call) and answer.parts[at + 1 : at + 2] == (CutOff(),)
                        async for chunk in self._deltas(len(replay), block, answer, race, whole=not cut):
                            yield chunk
                        replay.append(entry)
                        produced += len(json.dumps(block, ensure_ascii=False))
        if not replay:
            raise LlmFailure("the script has no content for this answer", "EMPTY_RESPONSE")
        usage = dict(answer.usage) if answer.usage is not None else self._usage(sent, model, produced)
        yield {"type": "usage", "usage": usage}
        yield {
            "type": "finish",
            "reason": {"kind": kind},
            "replayState": {
                "response": {"kind": REPLAY_KIND, "version": REPLAY_VERSION, "model": model},
                "blocks": replay,
            },
        }

    async def _deltas(
        self, index: int, block: dict[str, Any], answer: ScriptedAnswer, race: Race, *, whole: bool
    ) -> AsyncIterator[dict[str, Any]]:
        kind = block["type"]
        yield {"type": "block-start", "index": index, "blockType": kind}
        if kind == "tool-call":
            head = {"type": "tool-call-delta", "index": index, "id": block["id"]}
            yield {**head, "name": block["name"], "argumentsDelta": ""}
            for piece in _pieces(block["arguments"], answer.piece):
                await race.run(self._clock.sleep(answer.pace_s))
                yield {**head, "argumentsDelta": piece}
        else:
            for piece in _pieces(block["text"], answer.piece):
                await race.run(self._clock.sleep(answer.pace_s))
                yield {"type": f"{kind}-delta", "index": index, "text": piece}
        if whole:
            yield {"type": "block-end", "index": index, "block": block}

    def _usage(self, sent: Sent, model: str, produced: int) -> dict[str, int]:
        """Reckon tokens as a provider with a prefix cache would: plain tools, prompt, then messages."""
        parts = list(_cached_order(sent))
        key = f"{sent.request.session_id or ''}\n{model}"
        before = self._cached.get(key, [])
        self._cached[key] = parts
        read = 0
        for part, known in zip(parts, before, strict=False):
            if part != known:
                break
            read += part[1]
        total = sum(size for _, size in parts)
        counts = {
            "inputTokens": 0,
            "outputTokens": max(produced // CHARACTERS_PER_TOKEN, 1),
            "cacheReadTokens": read,
            "cacheWriteTokens": total - read,
        }
        return {**counts, "totalTokens": sum(counts.values())}


def _block(part: Say | Think | Call, sent: Sent, index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a part's content block and its replay entry."""
    match part:
        case Say():
            return {"type": "text", "text": part.text}, {"type": "text"}
        case Think():
            signature = _digest(part.text) if part.signature is None else part.signature
            return {"type": "reasoning", "text": part.text}, {"type": "reasoning", "signature": signature}
        case Call():
            arguments = part.arguments
            if not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
            block = {"type": "tool-call", "id": part.id or _call_id(sent, index), "name": part.name}
            return {**block, "arguments": arguments}, {"type": "tool-call"}


def _call_id(sent: Sent, index: int) -> str:
    """Return an id that is the same for the same request, and that no other request of the session gives."""
    messages = sent.request.messages
    last = messages[-1].get("id") if messages else None
    return f"call_{_digest(f'{sent.request.session_id} {len(messages)} {last} {index}')}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _cached_order(sent: Sent) -> Iterator[tuple[str, int]]:
    """Yield digest and tokens of what a provider reads, in the order in which it caches it."""
    texts = [tool.text for tool in sent.tools or () if not tool.defer_loading]
    if sent.request.system:
        texts.append(sent.request.system)
    texts += [
        json.dumps([message.get("role"), message.get("content")], ensure_ascii=False)
        for message in sent.messages
    ]
    for text in texts:
        yield _digest(text), len(text) // CHARACTERS_PER_TOKEN + 1


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), max(size, 1))]
