"""Server-sent events: bytes in pieces of any size to complete frames (loop-and-adapters §4.6)."""

from __future__ import annotations

import codecs
import re
from typing import Final, NamedTuple

from tui.llm.failure import LlmFailure

MAX_FRAME: Final = 64 * 1024 * 1024
"""Characters that a frame, or a line that never ends, may have."""

_LINE_END: Final = re.compile(r"\r\n|\n|\r")


class SseFrame(NamedTuple):
    """One complete event."""

    event: str
    """The event's name; empty if none was given."""
    data: str


class SseDecoder:
    """Decodes a stream of events; what a stream ends with before its blank line is dropped.

    Lines end with LF, CR or CRLF. Bytes that are no UTF-8 become U+FFFD.
    """

    __slots__ = ("_after_cr", "_data", "_decode", "_event", "_line", "_size", "activity")

    def __init__(self) -> None:
        self.activity = 0
        """Frames and comments so far: signs of life."""
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._line: list[str] = []
        self._after_cr = False
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[SseFrame]:
        """Return the frames that a piece completes.

        Raises LlmFailure MALFORMED_RESPONSE when a frame grows beyond MAX_FRAME.
        """
        text = self._decode(piece)
        if not text:
            return []
        if self._after_cr:
            # The line has ended with the CR; its LF comes only now.
            self._after_cr = False
            text = text.removeprefix("\n")
        frames: list[SseFrame] = []
        done = 0
        for end in _LINE_END.finditer(text):
            self._line.append(text[done : end.start()])
            done = end.end()
            frame = self._take_line("".join(self._line))
            self._line.clear()
            if frame is not None:
                frames.append(frame)
        if text.endswith("\r"):
            self._after_cr = True
        if done < len(text):
            self._line.append(text[done:])
            self._grow(len(text) - done)
        return frames

    def _take_line(self, line: str) -> SseFrame | None:
        if not line:
            return self._end_frame()
        if line[0] == ":":
            self.activity += 1
            return None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._grow(len(value))
            self._data.append(value)
        elif name == "event":
            self._event = value
        return None

    def _end_frame(self) -> SseFrame | None:
        self._size = 0
        event, self._event = self._event, ""
        if not self._data:
            return None
        self.activity += 1
        data = "\n".join(self._data)
        self._data.clear()
        return SseFrame(event, data)

    def _grow(self, characters: int) -> None:
        self._size += characters
        if self._size > MAX_FRAME:
            raise LlmFailure("an event of the stream is too big", "MALFORMED_RESPONSE")
