"""A draft of what a session was about, from its log alone: for a fresh session that goes on with the work.

Facts with the events they come from; a person corrects them before anything is done. What a tool did
to the outside is not in a log, so every call that may have changed something is listed. What looks like a
secret is masked, because the draft is made to be handed on.
"""

from __future__ import annotations

import re
from time import monotonic
from typing import Any, Final, Literal

import msgspec

from tui.nodes.masking import masked
from tui.nodes.reading import Reading
from tui.session.events import Event
from tui.session.json_text import well_formed
from tui.session.json_value import as_array, as_object, as_text
from tui.session.surface import message_of

_TEXT: Final = 600
_MORE: Final = 200
"""Characters that are looked at beyond what is shown, so that no secret is cut in two before it is known."""
_LISTED: Final = 40
_EFFECTS: Final = 200
_FILES: Final = 60
_PATH_KEYS: Final = frozenset(
    (
        "path",
        "file",
        "file_path",
        "filepath",
        "filename",
        "notebook_path",
        "target",
        "destination",
        "paths",
        "files",
    )
)
_WRITES: Final = re.compile(
    r"(?:^|[_\-./])(?:write|edit|create|update|delete|remove|rename|move|patch|replace|insert|append|save|put"
    r"|make|mkdir|copy|format)",
    re.IGNORECASE,
)
_READS: Final = re.compile(
    r"(?:^|[_\-./])(?:read|get|list|ls|search|find|grep|glob|view|show|cat|count|stat|status|fetch|look|query"
    r"|check|describe|inspect|open_file|help|ask_user|todo|plan|exit_plan)",
    re.IGNORECASE,
)
_TESTS: Final = re.compile(
    r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|ctest|rspec|phpunit|(?:npm|pnpm|yarn|bun|cargo|go|make|mvn"
    r"|gradle|dotnet|swift|mix|deno|bazel)\s+(?:run\s+)?(?:test|check)s?)\b",
    re.IGNORECASE,
)
_TEST_TOOL: Final = re.compile(r"(?:^|[_\-./])(?:run_)?tests?(?:$|[_\-./])", re.IGNORECASE)

Outcome = Literal["done", "failed", "unknown"]


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One entry; `text` is raw text of the log, shortened."""

    text: str
    seq: int
    note: str = ""


class FileUse(msgspec.Struct, frozen=True, kw_only=True):
    """A path that calls named."""

    path: str
    changed: bool
    """Whether a call that may have written named it."""
    calls: int
    seq: int
    """The latest of them."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of one tool with the same arguments that may have changed something."""

    tool: str
    arguments: str
    outcome: Outcome
    calls: int
    seq: int


class RecoveryDraft(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of it; lists are in the order of the log, the newest of long ones kept."""

    session: str
    title: str
    cwd: str
    path: str
    last_seq: int
    provider: str
    model: str
    tools: tuple[str, ...]
    """Names of the tools that were active at the end."""
    goal: tuple[Item, ...]
    summary: Item | None
    """What an earlier compaction kept."""
    done: tuple[Item, ...]
    open: tuple[Item, ...]
    files: tuple[FileUse, ...]
    tests: tuple[Effect, ...]
    effects: tuple[Effect, ...]
    older_effects: int
    """How many more there are, older than those."""
    answer: Item | None
    """The latest answer."""


def draft(reading: Reading) -> RecoveryDraft:
    """Return the draft of a session that was read to its end."""
    drafter = Drafter(reading)
    while not drafter.step(60.0):
        pass
    return drafter.result()


class Drafter:
    """A draft that can be made in slices; `result` once `step` has said that it is done."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._fold = _Draft()
        self._row = 0

    def step(self, seconds: float) -> bool:
        """Read events for about this long; True when all have been read."""
        log, until = self._reading.log, monotonic() + seconds
        while self._row < len(log):
            self._fold.apply(log.event(self._row))
            self._row += 1
            if monotonic() > until:
                return False
        return True

    def result(self) -> RecoveryDraft:
        """Return the draft."""
        self._fold.end()
        return _read_out(self._reading, self._fold)


def _read_out(reading: Reading, fold: _Draft) -> RecoveryDraft:
    log = reading.log
    last = next((seq for row in range(len(log) - 1, -1, -1) if (seq := log.seq(row)) >= 0), -1)
    return RecoveryDraft(
        session=log.header.id,
        title=masked(reading.title),
        cwd=log.header.cwd or "",
        path=well_formed(str(log.path.absolute())),
        last_seq=last,
        provider=reading.provider,
        model=reading.model,
        tools=tuple(sorted(reading.tools.active_names())),
        goal=fold.goal(),
        summary=fold.summary,
        done=fold.done(),
        open=fold.open(),
        files=fold.files(),
        tests=tuple(fold.tests.values())[-_LISTED:],
        effects=tuple(fold.effects.values())[-_EFFECTS:],
        older_effects=max(0, len(fold.effects) - _EFFECTS),
        answer=fold.answer,
    )


class _Turn(msgspec.Struct):
    """One turn: what was asked and what came of it."""

    asked: list[Item] = msgspec.field(default_factory=list[Item])
    answer: Item | None = None
    outcome: str = ""


class _Draft:
    """Folds whole events in file order."""

    def __init__(self) -> None:
        self.summary: Item | None = None
        self.answer: Item | None = None
        self.tests: dict[tuple[str, str], Effect] = {}
        self.effects: dict[tuple[str, str], Effect] = {}
        self._turns: list[_Turn] = []
        self._todos: list[tuple[str, str]] = []
        self._todos_seq = -1
        self._objective: Item | None = None
        self._queue: dict[str, Item] = {}
        self._calls: dict[str, tuple[str, str, int]] = {}
        self._files: dict[str, FileUse] = {}

    def apply(self, event: Event) -> None:
        data = as_object(event.data)
        match event.type:
            case "turn/start":
                self._turns.append(_Turn())
            case "turn/end":
                if self._turns:
                    self._turns[-1].outcome = as_text(as_object(data.get("reason")).get("kind"))
                self._settle()
            case "user/message":
                self._prompt(event, data)
            case "assistant/message":
                self._answered(event)
            case "tool/call":
                name, arguments = as_text(data.get("name")), as_text(data.get("arguments"))
                self._calls[as_text(data.get("callId"))] = name, arguments, event.seq
            case "tool/result":
                self._result(event, data)
            case "todo/write":
                self._todos_seq = event.seq
                todos = map(as_object, as_array(data.get("todos")))
                self._todos = [(as_text(todo.get("content")), as_text(todo.get("status"))) for todo in todos]
            case "goal/change":
                self._goal(event, data)
            case "compaction/summary":
                texts = (as_text(as_object(block).get("text")) for block in as_array(data.get("summary")))
                self.summary = Item(text=masked("\n".join(texts)[: 8 * _TEXT]), seq=event.seq)
            case "agent/inbox/spliced":
                self._spliced(event, data)
            case _:
                pass

    def end(self) -> None:
        """The log is over: what still runs has no known outcome."""
        self._settle()

    # -- reading it out

    def goal(self) -> tuple[Item, ...]:
        """What the work is for: an objective that was set, else the first prompt, and the latest one."""
        asked = [item for turn in self._turns for item in turn.asked]
        found = [self._objective] if self._objective is not None else asked[:1]
        if len(asked) > 1 and asked[-1] not in found:
            found.append(asked[-1])
        return tuple(found)

    def done(self) -> tuple[Item, ...]:
        """Finished to-do items, else what was asked in turns that were answered."""
        items = [
            Item(text=_short(content), seq=self._todos_seq)
            for content, status in self._todos
            if status == "completed"
        ]
        for turn in self._turns:
            if turn.outcome == "completed" and turn.asked and turn.answer is not None:
                items.append(Item(text=turn.asked[0].text, seq=turn.asked[0].seq, note=turn.answer.text))
        return tuple(items[-_LISTED:])

    def open(self) -> tuple[Item, ...]:
        """To-do items that are not finished, prompts that were never answered, and those that wait."""
        items = [
            Item(text=_short(content), seq=self._todos_seq, note=status)
            for content, status in self._todos
            if status != "completed"
        ]
        for turn in self._turns:
            if turn.outcome != "completed":
                items += [msgspec.structs.replace(item, note=turn.outcome or "open") for item in turn.asked]
        items += [msgspec.structs.replace(item, note="queued") for item in self._queue.values()]
        return tuple(items[-_LISTED:])

    def files(self) -> tuple[FileUse, ...]:
        """The paths that calls named, changed ones first, the most used of the others."""
        found = sorted(self._files.values(), key=lambda use: (not use.changed, -use.calls, use.path))
        return tuple(found[:_FILES])

    # -- events

    def _prompt(self, event: Event, data: dict[str, Any]) -> None:
        self._queue.pop(as_text(data.get("id")), None)
        if as_object(data.get("source")).get("kind") != "user" or event.surface_op != "append":
            return
        text = _text(data)
        if not text:
            return
        if not self._turns:
            self._turns.append(_Turn())
        self._turns[-1].asked.append(Item(text=_short(text), seq=event.seq))

    def _answered(self, event: Event) -> None:
        text = _text(message_of(event))
        if not text:
            return
        self.answer = Item(text=masked(text[-8 * _TEXT - _MORE :])[-8 * _TEXT :], seq=event.seq)
        if self._turns:
            self._turns[-1].answer = Item(text=_short(text), seq=event.seq)

    def _result(self, event: Event, data: dict[str, Any]) -> None:
        message = as_object(data.get("message"))
        called = self._calls.pop(as_text(message.get("toolCallId")), None)
        if called is None or event.surface_op != "append":
            return
        code = as_object(data.get("error")).get("code")
        failed = message.get("isError") is True
        if code in ("ABORTED_BEFORE_DISPATCH", "TOOL_NOT_STARTED", "UNKNOWN_TOOL"):
            return
        unknown = code in ("TOOL_OUTCOME_UNKNOWN", "ABORTED")
        self._took(*called, "unknown" if unknown else "failed" if failed else "done")

    def _settle(self) -> None:
        for name, arguments, seq in self._calls.values():
            self._took(name, arguments, seq, "unknown")
        self._calls = {}

    def _took(self, name: str, arguments: str, seq: int, outcome: Outcome) -> None:
        """Take note of a call that ran."""
        values = _object(arguments)
        own = name.rsplit("__", 1)[-1]
        reads = _READS.search(own) is not None and _WRITES.search(own) is None
        for path in _paths(values):
            before = self._files.get(path)
            changed = (_WRITES.search(own) is not None and outcome != "failed") or (
                before is not None and before.changed
            )
            calls = 1 + (before.calls if before is not None else 0)
            self._files[path] = FileUse(path=path, changed=changed, calls=calls, seq=seq)
        shown = _short(arguments)
        is_test = _TEST_TOOL.search(own) is not None or _TESTS.search(arguments) is not None
        table = self.tests if is_test else None if reads else self.effects
        if table is not None:
            before_it = table.pop((name, shown), None)
            calls = 1 + (before_it.calls if before_it is not None else 0)
            table[name, shown] = Effect(tool=name, arguments=shown, outcome=outcome, calls=calls, seq=seq)

    def _goal(self, event: Event, data: dict[str, Any]) -> None:
        goal = as_object(data.get("goal"))
        objective = as_text(goal.get("objective"))
        active = goal.get("phase") != "complete"
        self._objective = Item(text=_short(objective), seq=event.seq) if objective and active else None

    def _spliced(self, event: Event, data: dict[str, Any]) -> None:
        for message in map(as_object, as_array(data.get("inserted"))):
            if as_object(message.get("source")).get("kind") == "user":
                self._queue[as_text(message.get("id"))] = Item(text=_short(_text(message)), seq=event.seq)
        if data.get("outcome") == "canceled":
            # Which ones is told by place alone; a discarded prompt is no work that is left.
            self._queue = {}


def _text(message: dict[str, Any]) -> str:
    blocks = map(as_object, as_array(message.get("content")))
    return "\n".join(as_text(block.get("text")) for block in blocks if block.get("type") == "text").strip()


def _short(text: str) -> str:
    shown = masked(text[: _TEXT + _MORE])
    if len(text) <= _TEXT + _MORE and len(shown) <= _TEXT:
        return shown
    return shown[: _TEXT - 1] + "…"


def _object(arguments: str) -> dict[str, Any]:
    try:
        return as_object(msgspec.json.decode(arguments.encode("utf-8", "replace")))
    except (msgspec.MsgspecError, RecursionError):
        return {}


def _paths(values: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for key, value in values.items():
        if key.lower() not in _PATH_KEYS:
            continue
        for path in as_array(value) or [value]:
            if isinstance(path, str) and 0 < len(path) <= 400 and "\n" not in path:
                found.append(path)
    return found
