"""The system prompt: its sections, and how a change reaches the surface (loop-and-adapters §2)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from tui.loop.context import ContextText

if TYPE_CHECKING:
    from tui.session.cancel import CancelSignal
    from tui.tools.admission import ResolvedToolSet
    from tui.tools.tool import ModelSelection

_VARIABLE: Final = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_VARIABLE_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")

T = TypeVar("T")


class PromptError(Exception):
    """A prompt that cannot be put together; the turn ends with this code and message."""

    code: Final = "PROMPT_ASSEMBLY_FAILED"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContext:
    """What sections, contexts and variables may read; the tool set is that of the step."""

    selection: ModelSelection
    tool_set: ResolvedToolSet | None
    cwd: str | None


Text: TypeAlias = str | Callable[[PromptContext], "str | Awaitable[str | None] | None"]
"""A text, or what gives one for a step; None and blank stand for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the prompt."""

    name: str
    text: Text
    order: float = 0
    literal: bool = False
    """Whether `{{…}}` in it stays as it is."""
    complete: bool = False
    """Whether it stands for the whole prompt and all others are left out."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """What a listener of the assembly may change; tools are none of it."""

    sections: tuple[Section, ...]
    contexts: tuple[Section, ...]
    variables: Mapping[str, Text]


Transform: TypeAlias = Callable[[Presentation, PromptContext], "Presentation | Awaitable[Presentation]"]


class AssembledPrompt(NamedTuple):
    """The prompt of a step."""

    text: str
    contexts: tuple[Section, ...]
    """Rendered again for every request, see `render_contexts`."""


@dataclass(slots=True)
class Prompt:
    """Everything that is registered for the prompt; entries of a scope shadow those of its parent by name."""

    parent: Prompt | None = None
    sections: dict[str, Section] = field(default_factory=dict[str, Section])
    contexts: dict[str, Section] = field(default_factory=dict[str, Section])
    variables: dict[str, Text] = field(default_factory=dict[str, Text])
    transforms: list[Transform] = field(default_factory=list[Transform])

    def add(self, section: Section) -> Callable[[], None]:
        """Register a section of the system prompt; returns what takes it out again."""
        return _added(self.sections, section.name, section)

    def add_context(self, section: Section) -> Callable[[], None]:
        """Register a section of the runtime context; returns what takes it out again."""
        return _added(self.contexts, section.name, section)

    def add_variable(self, name: str, text: Text) -> Callable[[], None]:
        """Register a variable; raises ValueError for a name that no `{{…}}` can hold."""
        if not _VARIABLE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no variable's name")
        return _added(self.variables, name, text)

    def presentation(self) -> Presentation:
        """Return what is registered, parents included."""
        above = self.parent.presentation() if self.parent is not None else Presentation((), (), {})
        return Presentation(
            _shadowed(above.sections, self.sections),
            _shadowed(above.contexts, self.contexts),
            {**above.variables, **self.variables},
        )

    async def assemble(self, context: PromptContext, signal: CancelSignal) -> AssembledPrompt:
        """Return the prompt for a step. Raises Cancelled, or PromptError for a variable that has no value."""
        presentation = self.presentation()
        for transform in self._all_transforms():
            changed = transform(presentation, context)
            returned = await signal.guard(changed) if inspect.isawaitable(changed) else changed
            # Whatever else a listener hands back, tools above all, is not looked at (source 004).
            presentation = Presentation(returned.sections, returned.contexts, returned.variables)
        variables: dict[str, Text] = {
            "provider": context.selection.provider,
            "model": context.selection.model,
            **presentation.variables,
        }
        sections = _in_order(presentation.sections)
        whole = [section for section in sections if section.complete]
        parts = [
            part
            for section in (whole[:1] or sections)
            if (part := await _filled(section, variables, context, signal))
        ]
        return AssembledPrompt("\n\n".join(parts), _in_order(presentation.contexts))

    def _all_transforms(self) -> list[Transform]:
        above = [] if self.parent is None else self.parent._all_transforms()
        return [*above, *self.transforms]


async def render_contexts(
    contexts: Sequence[Section], context: PromptContext, signal: CancelSignal
) -> tuple[ContextText, ...]:
    """Return the named sections of the runtime context as they are now; empty ones are left out."""
    rendered: list[ContextText] = []
    for section in contexts:
        text = await _value(section.text, context, signal)
        if text:
            rendered.append(ContextText(section.name, text))
    return tuple(rendered)


class SystemNode(NamedTuple):
    """A system message on the surface."""

    seq: int
    text: str


class PromptChange(NamedTuple):
    """One system message to be written."""

    text: str
    replaces: int | None
    """Seq of the node whose place it takes; None: it is appended."""


def reconcile(
    nodes: Sequence[SystemNode], text: str, *, in_history: bool, breaks: bool
) -> list[PromptChange]:
    """Return what brings the surface to a prompt; `breaks` says that the prefix is lost anyway. §2.1."""
    if not nodes:
        return [PromptChange(text, None)]
    if in_history and not breaks and text:
        effective = next((node for node in reversed(nodes) if node.text), nodes[0])
        return [] if effective.text == text else [PromptChange(text, None)]
    changes = [PromptChange("", node.seq) for node in nodes[1:] if node.text]
    if nodes[0].text != text:
        changes.append(PromptChange(text, nodes[0].seq))
    return changes


def _in_order(sections: Sequence[Section]) -> tuple[Section, ...]:
    return tuple(sorted(sections, key=lambda section: (section.order, section.name)))


def _shadowed(above: Sequence[Section], own: Mapping[str, Section]) -> tuple[Section, ...]:
    return (*(section for section in above if section.name not in own), *own.values())


def _added(entries: dict[str, T], name: str, entry: T) -> Callable[[], None]:
    entries[name] = entry

    def remove() -> None:
        if entries.get(name) is entry:
            del entries[name]

    return remove


async def _filled(
    section: Section, variables: Mapping[str, Text], context: PromptContext, signal: CancelSignal
) -> str:
    text = await _value(section.text, context, signal)
    if section.literal or "{{" not in text:
        return text
    values: dict[str, str] = {}
    for name in dict.fromkeys(_VARIABLE.findall(text)):
        if name not in variables:
            raise PromptError(f'section "{section.name}" uses the unknown variable "{name}"')
        value = await _given(variables[name], context, signal)
        if value is None:
            raise PromptError(f'the variable "{name}" of section "{section.name}" has no value')
        values[name] = value
    return _VARIABLE.sub(lambda match: values[match[1]], text)


async def _value(text: Text, context: PromptContext, signal: CancelSignal) -> str:
    value = await _given(text, context, signal)
    return value if value is not None and value.strip() else ""


async def _given(text: Text, context: PromptContext, signal: CancelSignal) -> str | None:
    if isinstance(text, str):
        return text
    value = text(context)
    return await signal.guard(value) if inspect.isawaitable(value) else value


def with_text(section: Section, text: Text) -> Section:
    """Return a section with another text, for listeners of the assembly."""
    return replace(section, text=text)
