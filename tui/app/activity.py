"""What a running session is doing right now, in one line that moves only while something happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from textual.timer import Timer

from tui.app.status_bar import Piece, StatusBar
from tui.app.surroundings import Surroundings
from tui.blocks.clean import clean_line
from tui.blocks.glyphs import mark
from tui.blocks.text import Span
from tui.blocks.wording_names import name_text
from tui.i18n import Translator
from tui.loop.frames import AttemptChunk, AttemptEnded, AttemptStarted, LiveFrame, Waiting
from tui.nodes.notices import tool_name
from tui.session.events import Event
from tui.session.json_value import as_object, as_text

Phase: TypeAlias = Literal[
    "idle", "preparing", "waiting", "thinking", "writing", "calling", "tools", "retry", "asking", "condensing"
]
FRAMES_A_SECOND: Final = 8
_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_SPINNER: Final = "|/-\\"
_STREAMED: Final[dict[str, Phase]] = {
    "text-delta": "writing",
    "reasoning-delta": "thinking",
    "tool-call-delta": "calling",
}


class Activity:
    """Folds events and live frames into what is going on."""

    def __init__(self) -> None:
        self.phase: Phase = "idle"
        self.turn = self.step = 0
        self.begun_ms = 0
        """When the turn began."""
        self.retry = 0
        self.retry_at_ms = 0
        self.retry_code = ""
        self.is_stopping = False
        self.question = ""
        """Name of the tool that a call waits to be allowed for."""
        self._running: dict[str, str] = {}

    @property
    def running_tools(self) -> list[str]:
        """Names of the tools that run, in the order they were called."""
        return list(self._running.values())

    def note(self, event: Event) -> None:
        """Take note of an event."""
        data = as_object(event.data)
        match event.type:
            case "turn/start":
                self.phase, self.turn, self.step = "preparing", int(data.get("turn", 0)), 0
                self.begun_ms, self.is_stopping = event.time, False
                self._running = {}
            case "step/start":
                self.phase, self.step = "preparing", int(data.get("step", 0))
            case "tool/call":
                self._running[str(data.get("callId"))] = str(data.get("name"))
                self.phase = "tools"
            case "tool/result":
                self._running.pop(as_text(as_object(data.get("message")).get("toolCallId")), None)
            case "llm/retry":
                self.phase, self.retry = "retry", int(data.get("retry", 0))
                self.retry_code = as_text(as_object(data.get("failure")).get("code"))
                self.retry_at_ms = event.time + int(data.get("delayMs", 0))
            case "compaction/start":
                self.phase = "condensing"
                self.begun_ms = self.begun_ms if self.turn else event.time
            case "compaction/end":
                self.phase = "preparing" if self.turn else "idle"
            case "turn/end":
                self.phase, self.turn, self.is_stopping = "idle", 0, False
                self._running = {}
            case _:
                pass

    def see(self, frame: LiveFrame) -> None:
        """Take note of a live frame."""
        match frame:
            case AttemptStarted():
                self.phase = "waiting"
            case AttemptChunk():
                self.phase = _STREAMED.get(str(frame.chunk.get("type")), self.phase)
            case AttemptEnded():
                self.phase = "preparing"
            case Waiting():
                self.phase, self.retry_at_ms = "retry", frame.until_ms
            case _:
                pass

    def sentence(self, tr: Translator, now_ms: int) -> str:
        """What is going on."""
        if self.is_stopping:
            return tr.t("Stopping…")
        if self.question:
            return tr.t("{tool} waits for your answer", tool=_own_name(self.question))
        match self.phase:
            case "idle":
                return ""
            case "preparing":
                return tr.t("Working…")
            case "waiting":
                return tr.t("Waiting for the model…")
            case "thinking":
                return tr.t("The model is thinking…")
            case "writing":
                return tr.t("The model is writing…")
            case "calling":
                return tr.t("The model is writing a call…")
            case "tools":
                names = [_own_name(name) for name in self.running_tools]
                if len(names) == 1:
                    return tr.t("{tool} is running…", tool=names[0])
                return (
                    tr.n("{n} call is running…", "{n} calls are running…", len(names))
                    if names
                    else tr.t("Working…")
                )
            case "retry":
                left = max(0, self.retry_at_ms - now_ms)
                seconds = tr.duration(-(-left // 1000) * 1000)
                return tr.t(
                    "Failed ({code}); attempt {n} in {time}",
                    code=clean_line(self.retry_code),
                    n=self.retry + 1,
                    time=seconds,
                )
            case "asking":
                return tr.t("{tool} waits for your answer", tool=_own_name(self.question))
            case "condensing":
                return tr.t("Condensing the history…")


def _own_name(name: str) -> str:
    return name_text(tool_name(name)[1])


class ActivityLine(StatusBar):
    """The line between the panes and the composer.

    Args:
        activity: what it shows; `renew` after each change.
        surroundings: language and glyphs.
        now_ms: the clock, Unix milliseconds.
    """

    def __init__(
        self,
        activity: Activity,
        surroundings: Surroundings,
        now_ms: Callable[[], int],
    ) -> None:
        super().__init__(ascii_only=surroundings.ascii_only, id="activity")
        self._activity = activity
        self._surroundings = surroundings
        self._now_ms = now_ms
        self._timer: Timer | None = None
        self._rest: tuple[Span, ...] = ()
        """What is said while nothing runs."""

    def rest(self, *spans: Span) -> None:
        """Say something while nothing runs."""
        self._rest = spans
        self.update()

    def renew(self, surroundings: Surroundings) -> None:
        """Take another language."""
        self._surroundings = surroundings
        self.update()

    @property
    def is_moving(self) -> bool:
        """A timer draws it anew."""
        return self._timer is not None

    def update(self) -> None:
        """Show what is going on now; a timer runs exactly while something is."""
        runs = self._activity.phase != "idle"
        if runs and self._timer is None:
            self._timer = self.set_interval(1 / FRAMES_A_SECOND, self._draw)
        elif not runs and self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._draw()

    def _draw(self) -> None:
        activity, tr = self._activity, self._surroundings.tr
        now = self._now_ms()
        told = activity.sentence(tr, now)
        if not told:
            self.show([Piece(self._rest, keep=100)] if self._rest else [])
            return
        asks = bool(activity.question)
        signs = _ASCII_SPINNER if self._surroundings.ascii_only else _SPINNER
        sign = (
            mark("approval", self._surroundings.ascii_only).text
            if asks
            else signs[now * FRAMES_A_SECOND // 1000 % len(signs)]
        )
        role = "retry" if activity.phase == "retry" else "approval" if asks else "accent"
        left = [Piece((Span(f"{sign} ", role), Span(told, role)), keep=100)]
        place: list[str] = []
        if activity.turn:
            place.append(tr.t("turn {number}", number=activity.turn))
        if activity.step > 1:
            place.append(tr.t("step {number}", number=activity.step))
        seconds = max(0, now - activity.begun_ms) // 1000 if activity.begun_ms else 0
        if seconds:
            place.append(tr.duration(seconds * 1000))
        self.show(left, [Piece((Span(" · ".join(place), "muted"),), keep=50)])
