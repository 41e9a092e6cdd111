"""Finds a row start near the end of a zstd log by touching only the end of the file."""

from __future__ import annotations

from typing import Final, NamedTuple

import zstandard

from tui.session.frames import FileWindow, Frame, Shape, magic_positions, measure, pread

_FIRST_SPAN: Final = 64 * 1024
_SPAN_MAX: Final = 16 * 1024 * 1024
_FRAME_TEXT_MAX: Final = 32 * 1024 * 1024
_CANDIDATES_MAX: Final = 64


class TailPlace(NamedTuple):
    """Where to begin: a frame's file offset and the text bytes to drop from there."""

    frame_offset: int
    skip: int


def find_tail(fd: int, size: int, want: int) -> TailPlace | None:
    """A place about `want` text bytes before the end at which a row begins, or None."""
    span = max(_FIRST_SPAN, want // 4)
    while span < size and span <= _SPAN_MAX:
        frames = _chain(fd, size - span, size)
        if frames:
            place = _choose(fd, frames, want)
            if place is not None:
                return place
        span *= 4
    return None


def _chain(fd: int, start: int, size: int) -> list[Frame]:
    """Frames that follow each other from somewhere after `start` to the file's end; the last may be torn."""
    window = FileWindow(fd, size)
    for tried, candidate in enumerate(magic_positions(fd, start, size)):
        if tried >= _CANDIDATES_MAX:
            break
        frames: list[Frame] = []
        position = candidate
        while position < size:
            frame = measure(window, position)
            if frame.shape is Shape.FRAME or (frame.shape is Shape.TORN and frames):
                frames.append(frame)
            elif frame.shape is not Shape.SKIPPABLE:
                break
            position = frame.end
        if position == size and frames and frames[-1].end == size:
            return frames
    return []


def _choose(fd: int, frames: list[Frame], want: int) -> TailPlace | None:
    """The last place with a known row start and `want` bytes of text behind it; None if there is none."""
    decoder = zstandard.ZstdDecompressor()
    total = 0
    for index in range(len(frames) - 1, -1, -1):
        frame = frames[index]
        if frame.bound > _FRAME_TEXT_MAX:
            return None
        text = _text(decoder, fd, frame)
        if total >= want and text.endswith(b"\n"):
            return TailPlace(frames[index + 1].start, 0)
        # Within a frame every line feed ends a row, whatever its neighbours hold.
        newline = text.find(b"\n", max(0, len(text) - (want - total) - 1) if total < want else 0)
        total += len(text)
        if total >= want and 0 <= newline < len(text) - 1:
            return TailPlace(frame.start, newline + 1)
    return None


def _text(decoder: zstandard.ZstdDecompressor, fd: int, frame: Frame) -> bytes:
    data = pread(fd, frame.end - frame.start, frame.start)
    try:
        return decoder.decompressobj().decompress(data)
    except zstandard.ZstdError:
        return b""
