"""Scenes of the demo: files that say what is offered, what is answered and which tools there are.

Every text stands in both languages; the player speaks the reader's. The same scene gives the same session.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from tui.i18n import Translator
from tui.llm.script import Call, Fail, Part, Pause, Say, ScriptedAnswer, Sent, Think, answer
from tui.loop.agent import Agent
from tui.loop.header import Selection
from tui.resources import shipped
from tui.session.json_value import as_array, as_object, as_text
from tui.tools.hooks import Ask
from tui.tools.registry import ToolRegistry
from tui.tools.scope import Disposer
from tui.tools.tool import Tool, ToolContext

PACE_SECONDS: Final = 0.02
"""Between two pieces of an answer, where a person watches."""

Text = Mapping[str, str]
"""One text in every language."""


@dataclass(frozen=True, slots=True)
class SceneTurn:
    """One prompt and what follows from it."""

    prompt: Text
    answers: tuple[tuple[Mapping[str, Any], ...], ...]
    tools: tuple[str, ...] | None
    """Names of the tools from here on; None: as before."""
    redefined: Mapping[str, Mapping[str, Any]]
    model: str | None


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene as its file tells it."""

    name: str
    order: int
    title: Text
    model: str
    tools: Mapping[str, Mapping[str, Any]]
    turns: tuple[SceneTurn, ...]


def scenes() -> list[Scene]:
    """Return the scenes that ship with the program, in their order."""
    found = (_read(path) for path in shipped("assets").glob("scenes/*.toml"))
    return sorted(found, key=lambda scene: scene.order)


def scene_after(scene: Scene) -> Scene | None:
    """Return the scene that follows one; None after the last."""
    return next((other for other in scenes() if other.order == scene.order + 1), None)


def scene_names() -> tuple[str, ...]:
    """Return the names of the scenes, in their order."""
    return tuple(scene.name for scene in scenes())


def _read(path: Path) -> Scene:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Scene(path.stem, data["order"], data["title"], data["model"], data["tools"], _turns(data["turns"]))


def _turns(entries: Sequence[Mapping[str, Any]]) -> tuple[SceneTurn, ...]:
    return tuple(
        SceneTurn(
            entry["prompt"],
            tuple(tuple(one["parts"]) for one in entry["answers"]),
            tuple(entry["tools"]) if "tools" in entry else None,
            entry.get("redefined", {}),
            entry.get("model"),
        )
        for entry in entries
    )


class ScenePlayer:
    """Answers requests as a scene says: by the prompt of the turn, one answer after the other.

    Args:
        known: the scenes that may be played.
        lang: the language of what is said.
        pace_s: seconds between two pieces.
    """

    def __init__(self, known: Sequence[Scene], lang: str, pace_s: float = PACE_SECONDS) -> None:
        self._known = known
        self._lang = lang
        self._pace_s = pace_s
        self._given: dict[str, int] = {}

    def answer(self, sent: Sent) -> ScriptedAnswer:
        """Return the next answer to the prompt of the running turn."""
        if sent.request.purpose == "title":
            return answer(self._say("Saltmarsh House", "盐沼温室"), pace_s=self._pace_s)
        if sent.request.purpose == "compaction":
            told = self._say("The glasshouse was looked after.", "照看了温室。")
            return answer(told, pace_s=self._pace_s)
        prompt, prompt_id = _last_prompt(sent.request.messages)
        turn = find_turn(self._known, prompt)
        given = self._given.get(prompt_id, 0)
        self._given[prompt_id] = given + 1
        if turn is None or given >= len(turn.answers):
            return answer(
                self._say(
                    "I play a scene and know only its own prompts; Enter sends the next one.",
                    "我在演一个场景，只认得其中的提示词；按 Enter 发送下一条。",
                ),
                pace_s=self._pace_s,
            )
        parts = tuple(self._part(entry) for entry in turn.answers[given])
        return ScriptedAnswer(parts, pace_s=self._pace_s)

    def _say(self, en: str, zh: str) -> str:
        return zh if self._lang == "zh" else en

    def _part(self, entry: Mapping[str, Any]) -> Part:
        text = partial(_in, self._lang)
        if "think" in entry:
            return Think(text(entry["think"]))
        if "say" in entry:
            return Say(text(entry["say"]).strip("\n"))
        if "call" in entry:
            return Call(entry["call"], entry.get("arguments", {}))
        if "pause" in entry:
            return Pause(entry["pause"] if self._pace_s else 0.0)
        return Fail(
            text(entry["fail"]),
            entry.get("code", "SERVER"),
            entry.get("status"),
            entry.get("retry_after_ms"),
            entry.get("request_id"),
        )


def find_turn(known: Sequence[Scene], prompt: str) -> SceneTurn | None:
    """Return the turn that begins with a prompt, in whatever language."""
    found = find_place(known, prompt)
    return found[0].turns[found[1]] if found is not None else None


def find_place(known: Sequence[Scene], prompt: str) -> tuple[Scene, int] | None:
    """Return the scene and the position of the turn that begins with a prompt."""
    for scene in known:
        for at, turn in enumerate(scene.turns):
            if prompt.strip() in turn.prompt.values():
                return scene, at
    return None


def _last_prompt(messages: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    for message in reversed(messages):
        if message.get("role") != "user" or as_object(message.get("source")).get("kind") != "user":
            continue
        blocks = map(as_object, as_array(message.get("content")))
        return "\n".join(as_text(block.get("text")) for block in blocks), as_text(message.get("id"))
    return "", ""


def _in(lang: str, text: Text | str) -> str:
    return text if isinstance(text, str) else text.get(lang) or text["en"]


class SceneGuide:
    """Leads through a scene: offers its prompts and changes the tools as they are sent.

    `agent` is to be set before the first prompt is sent.
    """

    def __init__(self, scene: Scene, registry: ToolRegistry, lang: str) -> None:
        self.agent: Agent | None = None
        self.scene = scene
        self._registry = registry
        self._lang = lang
        self._next = 0
        self._registered: dict[str, tuple[Mapping[str, Any], Disposer]] = {}

    def offered(self, tr: Translator) -> str | None:
        """Return the next prompt, None when the scene is over."""
        turns = self.scene.turns
        return _in(tr.lang, turns[self._next].prompt) if self._next < len(turns) else None

    def about_to_send(self, text: str) -> None:
        """Change the tools as the turn says that begins with a prompt."""
        found = find_place([self.scene], text)
        if found is None:
            return
        _, at = found
        self._next = max(self._next, at + 1)
        self._set_up(self.scene.turns[at])

    def begin(self) -> None:
        """Have the tools there that the scene begins with."""
        self._set_up(self.scene.turns[0])

    def _set_up(self, turn: SceneTurn) -> None:
        names = turn.tools if turn.tools is not None else tuple(self._registered)
        wanted = {name: {**self.scene.tools[name], **turn.redefined.get(name, {})} for name in names}
        with self._registry.announced_together():
            for name in [name for name in self._registered if wanted.get(name) != self._registered[name][0]]:
                self._registered.pop(name)[1]()
            for name, definition in wanted.items():
                if name not in self._registered:
                    disposer = self._registry.register(_tool(name, definition, self._lang))
                    self._registered[name] = (definition, disposer)
        if turn.model is not None and self.agent is not None and self.agent.selection.model != turn.model:
            self.agent.select(replace(self.agent.selection, model=turn.model))

    def farewell(self, tr: Translator, key: str) -> str:
        """Return what to say when the scene is over; `key` begins the next one."""
        following = scene_after(self.scene)
        if following is None:
            return tr.t("The scene is over. Look around with Tab, or leave with /quit.")
        return tr.t(
            "The scene is over. {key} begins the next one: {title}",
            key=key,
            title=_in(tr.lang, following.title),
        )


def first_selection(scene: Scene, provider: str) -> Selection:
    """Return the model that a scene begins with."""
    return Selection(provider=provider, model=scene.model)


def _tool(name: str, definition: Mapping[str, Any], lang: str) -> Tool:
    result = _in(lang, cast("Text", definition["result"]))

    async def execute(arguments: Any, context: ToolContext) -> str:
        del arguments, context
        return result

    reason = definition.get("asks")
    policy: Callable[[Any], Ask] | None = None
    if reason is not None:
        policy = partial(_ask, _in(lang, reason), name)
    return Tool(
        name=name,
        description=_in(lang, definition["description"]),
        parameters=json.loads(definition["parameters"]),
        execute=execute,
        policy=policy,
    )


def _ask(reason: str, name: str, arguments: Any) -> Ask:
    del arguments
    return Ask(reason=reason, grant=name)
