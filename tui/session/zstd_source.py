"""The text of a zstd log: frames decoded in groups, kept as a table, read again on demand (spec §2.2)."""

from __future__ import annotations

import os
import tempfile
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, Literal, cast
from weakref import finalize

import zstandard

from tui.session.frames import FileWindow, Frame, FrameSearch, Shape, measure, pread
from tui.session.source import PIECE, Chunk, SourceFault
from tui.session.zstd_tail import find_tail

# Frames are decoded and cached by group: one call into the decoder for many small frames. A group ends at
# either of the first two bounds; its text never passes the third, which the block headers give in advance.
_GROUP_BYTES: Final = 48 * 1024
_GROUP_FRAMES: Final = 128
_GROUP_TEXT: Final = 8 * 1024 * 1024
_CACHE_TEXT: Final = 4 * 1024 * 1024
_SPILL_MAX: Final = 2 * 1024 * 1024 * 1024
_FAULTS_MAX: Final = 10_000


class ZstdSource:
    """A concatenation of zstd frames as one text; a frame that does not decode is left out and named."""

    encoding: Literal["none", "zstd"] = "zstd"

    def __init__(self, path: Path, fd: int, size: int, origin: int = 0, skip: int = 0) -> None:
        self.path = path
        self.faults: list[SourceFault] = []
        self.file_size = size
        self.consumed = origin
        self._fd = fd
        self._release = finalize(self, os.close, fd)
        self._origin = origin
        self._skip = skip
        self._joins = True
        self._bad: SourceFault | None = None
        self._text_end = 0
        self._starts = array("q")
        self._lengths = array("q")
        self._big = array("b")
        self._texts = array("q")
        self._reader = zstandard.ZstdDecompressor()
        self._lock = threading.Lock()
        self._cache: OrderedDict[int, bytes] = OrderedDict()
        self._cached = 0
        self._spills: dict[int, IO[bytes] | None] = {}

    def chunks(self) -> Iterator[Chunk]:
        """See `TextSource.chunks`."""
        for start, text, joins in self._pieces():
            if start >= self._skip:
                yield Chunk(start - self._skip, text, joins)
            elif start + len(text) > self._skip:
                yield Chunk(0, text[self._skip - start :], joins)

    def read(self, start: int, end: int) -> bytes:
        """See `TextSource.read`."""
        start = max(start, 0) + self._skip
        end = min(end + self._skip, self._text_end)
        parts: list[bytes] = []
        with self._lock:
            index = bisect_right(self._texts, start) - 1
            while 0 <= index < len(self._texts) and start < end:
                first = self._texts[index]
                last = self._texts[index + 1] if index + 1 < len(self._texts) else self._text_end
                want = min(end, last) - start
                if self._big[index]:
                    part = self._read_big(index, start - first, want)
                else:
                    part = self._decoded(index)[start - first : start - first + want]
                parts.append(part)
                if len(part) < want:
                    self._note_truncated(self._starts[index], start + len(part))
                    break
                start += want
                index += 1
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def tail(self, want: int) -> ZstdSource | None:
        """See `TextSource.tail`."""
        place = find_tail(self._fd, self.file_size, want)
        if place is None:
            return None
        return ZstdSource(self.path, os.dup(self._fd), self.file_size, place.frame_offset, place.skip)

    def close(self) -> None:
        """See `TextSource.close`."""
        if not self._release.alive:
            return
        self._release()
        for spill in self._spills.values():
            if spill is not None:
                spill.close()
        self._spills.clear()
        self._cache.clear()

    def _pieces(self) -> Iterator[tuple[int, bytes, bool]]:
        decoder = zstandard.ZstdDecompressor()
        window = FileWindow(self._fd, self.file_size)
        search = FrameSearch(window, lambda frame: self._decodes(decoder, frame))
        position = self._origin
        group: list[Frame] = []
        weight = 0
        while position < window.size:
            frame = measure(window, position)
            if frame.shape is Shape.FRAME:
                position = frame.end
                weight += frame.bound
                if frame.start and weight <= _GROUP_TEXT:
                    group.append(frame)
                    if len(group) < _GROUP_FRAMES and position - group[0].start < _GROUP_BYTES:
                        continue
                    frame = None
                if group:
                    yield from self._decode(decoder, group)
                group, weight = [], 0
                if frame is not None:
                    yield from self._alone(decoder, frame)
                continue
            if group:
                yield from self._decode(decoder, group)
                group, weight = [], 0
            if frame.shape is Shape.SKIPPABLE:
                position = self._skip_skippable(window, frame)
                continue
            next_position = self._resync(search, window, frame)
            if next_position is None:
                if frame.shape is Shape.TORN:
                    yield from self._torn(decoder, window, frame)
                break
            position = next_position
        if group:
            yield from self._decode(decoder, group)
        self._flush_bad()
        self.consumed = self.file_size
        if window.size < self.file_size:
            self._note_truncated(window.size, self._text_end)

    def _decode(
        self, decoder: zstandard.ZstdDecompressor, group: list[Frame]
    ) -> Iterator[tuple[int, bytes, bool]]:
        start, end = group[0].start, group[-1].end
        try:
            text = _decompress(decoder, pread(self._fd, end - start, start))
        except zstandard.ZstdError as error:
            if len(group) == 1:
                self._set_bad(start, end, str(error))
                return
            for frame in group:
                yield from self._decode(decoder, [frame])
            return
        self.consumed = end
        if not start:
            self._check_header(text, len(text), end)
        if not text:
            return
        self._add(start, end - start, False)
        for at in range(0, len(text), PIECE):
            yield self._piece(text[at : at + PIECE] if len(text) > PIECE else text)

    def _alone(self, decoder: zstandard.ZstdDecompressor, frame: Frame) -> Iterator[tuple[int, bytes, bool]]:
        if frame.bound <= _GROUP_TEXT:
            yield from self._decode(decoder, [frame])
            return
        yield from self._stream(decoder, frame)
        self.consumed = frame.end

    def _stream(self, decoder: zstandard.ZstdDecompressor, frame: Frame) -> Iterator[tuple[int, bytes, bool]]:
        # Too big to hold: its text is handed out while it is decoded, so an error late in the frame takes
        # nothing back of what came before it. The fault then names the place where the text ends.
        torn = frame.shape is Shape.TORN
        file_slice = _FileSlice(self._fd, frame.start, frame.end)
        first = b""
        total = 0
        try:
            with decoder.stream_reader(cast(IO[bytes], file_slice), read_across_frames=False) as reader:
                while piece := reader.read(PIECE):
                    if not total:
                        first = piece
                        self._add(frame.start, frame.end - frame.start, True)
                    total += len(piece)
                    self.consumed = file_slice.position
                    yield self._piece(piece)
        except zstandard.ZstdError as error:
            if not torn:
                self._set_bad(frame.start, frame.end, str(error))
        if not frame.start and not torn:
            self._check_header(first, total, frame.end)

    def _torn(
        self, decoder: zstandard.ZstdDecompressor, window: FileWindow, frame: Frame
    ) -> Iterator[tuple[int, bytes, bool]]:
        self._flush_bad()
        if frame.blocks:
            yield from self._stream(decoder, frame)
        if window.size == self.file_size:
            length = frame.end - frame.start
            self._fault("torn-tail", self._text_end, frame.start, length, frame.reason)

    def _resync(self, search: FrameSearch, window: FileWindow, frame: Frame) -> int | None:
        start = frame.start
        reason = frame.reason
        torn = frame.shape is Shape.TORN
        trailing = not torn and frame.end == start and start > self._origin
        if not torn and self._bad is not None and self._bad.frame_offset + self._bad.frame_length == start:
            # A frame that does not decode and ends where none begins: its own length is what is broken.
            start, reason, trailing = self._bad.frame_offset, self._bad.reason, False
            self._bad = None
        found = search.next_chain(start + 1)
        if found is None and torn:
            return None
        end = window.size if found is None else found
        self._flush_bad()
        code = "trailing-bytes" if found is None and trailing else "bad-frame"
        self._fault(code, self._text_end, start, end - start, reason)
        self._joins = False
        return found

    def _decodes(self, decoder: zstandard.ZstdDecompressor, frame: Frame) -> bool:
        if frame.bound > _GROUP_TEXT:
            return False
        try:
            _decompress(decoder, pread(self._fd, frame.end - frame.start, frame.start))
        except zstandard.ZstdError:
            return False
        return True

    def _skip_skippable(self, window: FileWindow, frame: Frame) -> int:
        self._flush_bad()
        start = frame.start
        while frame.shape is Shape.SKIPPABLE and frame.end < window.size:
            following = measure(window, frame.end)
            if following.shape is not Shape.SKIPPABLE:
                break
            frame = following
        self._fault("skippable-frame", self._text_end, start, frame.end - start, frame.reason)
        return frame.end

    def _piece(self, text: bytes) -> tuple[int, bytes, bool]:
        self._flush_bad()
        start, joins = self._text_end, self._joins
        self._text_end += len(text)
        self._joins = True
        return start, text, joins

    def _add(self, start: int, length: int, big: bool) -> None:
        self._starts.append(start)
        self._lengths.append(length)
        self._big.append(big)
        self._texts.append(self._text_end)

    def _check_header(self, first: bytes, total: int, length: int) -> None:
        newline = first.find(b"\n")
        if newline < 0 or newline != total - 1:
            self._fault("header-frame", 0, 0, length, "the first frame does not hold exactly the header line")

    def _set_bad(self, start: int, end: int, reason: str) -> None:
        self._flush_bad()
        self._joins = False
        self._bad = SourceFault("bad-frame", self._text_end, start, end - start, reason)

    def _flush_bad(self) -> None:
        if self._bad is not None:
            bad, self._bad = self._bad, None
            self._fault(bad.code, bad.text_offset, bad.frame_offset, bad.frame_length, bad.reason)

    def _fault(self, code: str, text: int, start: int, length: int, reason: str) -> None:
        if len(self.faults) < _FAULTS_MAX:
            self.faults.append(SourceFault(code, max(text - self._skip, 0), start, length, reason))

    def _note_truncated(self, position: int, text: int) -> None:
        if not any(fault.code == "truncated" for fault in self.faults):
            reason = f"the file had {self.file_size} bytes when opened and is shorter now"
            self._fault("truncated", text, position, self.file_size - position, reason)

    def _decoded(self, index: int) -> bytes:
        text = self._cache.get(index)
        if text is not None:
            self._cache.move_to_end(index)
            return text
        try:
            text = _decompress(self._reader, pread(self._fd, self._lengths[index], self._starts[index]))
        except zstandard.ZstdError:
            return b""
        self._cache[index] = text
        self._cached += len(text)
        while self._cached > _CACHE_TEXT and len(self._cache) > 1:
            self._cached -= len(self._cache.popitem(last=False)[1])
        return text

    def _read_big(self, index: int, start: int, count: int) -> bytes:
        if index not in self._spills:
            self._spills[index] = self._spill(index)
        spill = self._spills[index]
        if spill is not None:
            return pread(spill.fileno(), count, start)
        parts: list[bytes] = []
        for piece in self._decoded_big(index):
            if start < len(piece):
                parts.append(piece[start : start + count])
                count -= len(parts[-1])
            start = max(0, start - len(piece))
            if not count:
                break
        return b"".join(parts)

    def _spill(self, index: int) -> IO[bytes] | None:
        if _inside_home(self.path, Path(tempfile.gettempdir())):
            return None
        try:
            spill = tempfile.TemporaryFile(prefix="dsh-tui-")  # noqa: SIM115
        except OSError:
            return None
        try:
            for piece in self._decoded_big(index):
                spill.write(piece)
                if spill.tell() > _SPILL_MAX:
                    spill.close()
                    return None
            spill.flush()
        except OSError:
            spill.close()
            return None
        return spill

    def _decoded_big(self, index: int) -> Iterator[bytes]:
        start = self._starts[index]
        file_slice = _FileSlice(self._fd, start, start + self._lengths[index])
        try:
            with self._reader.stream_reader(cast(IO[bytes], file_slice), read_across_frames=False) as reader:
                while piece := reader.read(PIECE):
                    yield piece
        except zstandard.ZstdError:
            return


class _FileSlice:
    """A part of a file as the decoder's input, independent of the descriptor's own position."""

    def __init__(self, fd: int, start: int, end: int) -> None:
        self._fd = fd
        self.position = start
        self._end = end

    def read(self, size: int = -1) -> bytes:
        left = self._end - self.position
        data = pread(self._fd, left if size < 0 else min(size, left), self.position)
        self.position += len(data)
        return data


def _decompress(decoder: zstandard.ZstdDecompressor, data: bytes) -> bytes:
    return decoder.decompressobj(read_across_frames=True).decompress(data)


def _inside_home(log: Path, folder: Path) -> bool:
    for parent in log.resolve().parents:
        if parent.name == "sessions":
            return folder.resolve().is_relative_to(parent.parent)
    return False
